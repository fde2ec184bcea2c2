"""Unpacks zstd files: by the standard library where it can, else by the program `zstd` (capture.md 2.1).

It starts the one process of this program that is not git. Python before 3.14 has no decoder, and a decoder of our own
would be slower by orders of magnitude; arguments are fixed, and data goes through pipes, so no name is ever passed.
"""

from __future__ import annotations

import os

from handoff_core.errors import HandoffError, os_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any, BinaryIO

CHUNK = 1 << 18
_TORN = ("premature end", "unexpected end", "unfinished")
"""What `zstd` says of a last frame that breaks off."""


def unpack(path: str, file: BinaryIO) -> None:
    """Write the unpacked bytes of `path` to `file`; a last frame that breaks off gives what it holds.

    Raises HandoffError if the file cannot be unpacked here or is damaged.
    """
    shown = os.path.basename(path)
    try:
        with open(path, "rb") as packed:
            file.writelines(_unpacked(packed, shown))
    except OSError as error:
        raise HandoffError(f"cannot unpack {shown}: {os_text(error)}") from None


def beginning(path: str, limit: int) -> bytes:
    """Return at most the first `limit` unpacked bytes; raise HandoffError as `unpack` does."""
    shown = os.path.basename(path)
    found = b""
    try:
        with open(path, "rb") as packed:
            blocks = _unpacked(packed, shown)
            while len(found) < limit and (block := next(blocks, b"")):
                found += block
            blocks.close()
    except OSError as error:
        raise HandoffError(f"cannot unpack {shown}: {os_text(error)}") from None
    return found[:limit]


def _unpacked(packed: BinaryIO, shown: str) -> Generator[bytes, None, None]:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return _by_program(packed, shown)
    return _by_library(zstd, packed, shown)


def _by_library(zstd: Any, packed: BinaryIO, shown: str) -> Generator[bytes, None, None]:
    decoder, waiting = zstd.ZstdDecompressor(), b""
    try:
        while True:
            if decoder.eof:
                waiting = decoder.unused_data
                decoder = zstd.ZstdDecompressor()
            if not waiting:
                waiting = packed.read(CHUNK)
            if not waiting and decoder.needs_input:
                return
            yield decoder.decompress(waiting, CHUNK)
            waiting = b""
    except zstd.ZstdError as error:
        raise _damaged(shown, str(error)) from None


def _by_program(packed: BinaryIO, shown: str) -> Generator[bytes, None, None]:
    import subprocess

    try:
        process = subprocess.Popen(
            ["zstd", "-dcq"],  # noqa: S607 - zstd is found on the person's own PATH
            stdin=packed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except (OSError, ValueError):
        fix = f"unpack it first: zstd -d {shown}"
        raise HandoffError(
            f"{shown} is compressed, and neither Python nor a program `zstd` unpacks it here", fix
        ) from None
    said = None
    with process:
        if process.stdout is None or process.stderr is None:
            return
        try:
            while block := process.stdout.read(CHUNK):
                yield block
            said = process.stderr.read().decode("utf-8", "replace").strip()
        finally:
            if said is None:  # whoever needs the beginning alone stops here
                process.kill()
    if process.returncode and not any(word in (said or "").lower() for word in _TORN):
        raise _damaged(shown, (said or "").rpartition("\n")[2] or f"zstd ended with status {process.returncode}")


def _damaged(shown: str, why: str) -> HandoffError:
    return HandoffError(f"cannot unpack {shown}: {why}", "the file is damaged; take another copy")
