"""Puts a block of lines between two marks into a text file and takes it out again (hooks.md 8.2, Blocks)."""

from __future__ import annotations

BEGIN = b"# handoff: begin"
END = b"# handoff: end"


class BlockError(Exception):
    """Say why a file's block cannot be told from the rest."""


def put_in(data: bytes, lines: list[str]) -> bytes:
    """Return the file with the block in it: renewed where it stands, else at the end; the other lines stay.

    A file whose last line has no line end keeps it so. Raises BlockError where the marks do not pair.
    """
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    block = newline.join([BEGIN, *(line.encode() for line in lines), END])
    place = _place(data)
    if place:
        return data[: place[0]] + block + data[place[1] :]
    if data and not data.endswith(b"\n"):
        return data + newline + block
    return data + block + newline


def take_out(data: bytes) -> bytes:
    """Return the file without the block; the same bytes where it has none. Raises BlockError as `put_in`."""
    place = _place(data)
    if place is None:
        return data
    before, after = data[: place[0]], data[place[1] :]
    for newline in (b"\r\n", b"\n"):
        if after.startswith(newline):
            return before + after.removeprefix(newline)
    for newline in (b"\r\n", b"\n"):
        if not after and before.endswith(newline):
            return before.removesuffix(newline)
    return before + after


def _place(data: bytes) -> tuple[int, int] | None:
    """Return where the block begins and ends, its last line end left out; None where there is none."""
    begins, ends, at = [], [], 0
    for line in data.split(b"\n"):
        bare = line.rstrip(b"\r")
        if bare == BEGIN:
            begins.append(at)
        if bare == END:
            ends.append(at + len(bare))
        at += len(line) + 1
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise BlockError("the marks `# handoff: begin` and `# handoff: end` do not pair")
    return begins[0], ends[0]
