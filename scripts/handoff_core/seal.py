r"""The seal: a chain of digests beside the log that shows where history was changed.

Follows ledger.md 5. Imports `errors` and `ledger` alone; the digest is the interpreter's own, since OpenSSL's
costs milliseconds at every start.
"""

from __future__ import annotations

import os

from handoff_core.errors import HandoffError, os_text
from handoff_core.ledger import not_regular, own_mode, read_exactly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handoff_core.layout import Project
    from handoff_core.ledger import OpenLog

END_BYTES = 4096
"""Bytes of the seal's end that an append reads; one seal line takes about a hundred."""

LINE_LIMIT = 200
"""Bytes of the longest seal line: two numbers of twenty digits and the words around them take fewer."""

START = bytes(32)
"""The chain value before line 1."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


class SealEntry:
    """One line of the seal: a log line's number, the offset behind it, its chain value, and whether it is raw."""

    __slots__ = ("chain", "end", "line", "raw")

    def __init__(self, line: int, end: int, chain: bytes, *, raw: bool = False) -> None:
        self.line = line
        self.end = end
        self.chain = chain
        self.raw = raw


def parse_entry(line: bytes) -> SealEntry | None:
    """Return a seal line, given without its line feed, as an entry; None if it is not in the exact form."""
    import re

    exact = rb'\{"line":([1-9][0-9]*),"end":([1-9][0-9]*),"chain":"([0-9a-f]{64})"(,"raw":true)?\}'
    found = re.fullmatch(exact, line)
    if not found or len(line) > LINE_LIMIT:
        return None
    return SealEntry(int(found[1]), int(found[2]), bytes.fromhex(found[3].decode()), raw=bool(found[4]))


def render_entry(line: int, end: int, chain: bytes, *, raw: bool = False) -> bytes:
    """Return a seal line with its line feed."""
    mark = ',"raw":true' if raw else ""
    return f'{{"line":{line},"end":{end},"chain":"{chain.hex()}"{mark}}}\n'.encode()


def extend(project: Project, log: OpenLog, base: int) -> tuple[int | None, str]:
    """Seal the log up to the record that was just written at offset `base` (ledger.md 5.1).

    Returns the new record's line number if the seal could be extended, and a note for stderr, empty if all is well.
    It never raises: the record stands, whatever becomes of its seal.
    """
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NO_FOLLOW | _PLAIN
        descriptor = os.open(project.seal, flags, 0o644)
    except OSError as error:
        return None, _not_extended(project, os_text(error))
    try:
        return _extend_open(project, descriptor, log, base)
    except OSError as error:
        return None, _not_extended(project, os_text(error))
    except (_StopError, HandoffError) as stop:
        return None, _not_extended(project, str(stop))
    finally:
        os.close(descriptor)


class _StopError(Exception):
    """Say why the seal is left as it is."""


def _extend_open(project: Project, descriptor: int, log: OpenLog, base: int) -> tuple[int, str]:
    status = os.fstat(descriptor)
    kind = not_regular(status.st_mode)
    if kind:
        raise _StopError(kind)
    if status.st_size == 0:
        own_mode(descriptor)
    size, last_line = _last_line(descriptor, status.st_size)
    note = ""
    if size != status.st_size:
        os.ftruncate(descriptor, size)
        note = f"{project.seal_shown} had a torn last line; cut off and re-sealed"
    last = SealEntry(0, 0, START) if size == 0 else parse_entry(last_line)
    if last is None:
        raise _StopError("its last line is not a seal entry — run validate")
    if last.end > base:
        raise _StopError(f"it covers {last.end} bytes, the log had {base} — run validate")
    unsealed = log.read_from(max(last.end - 1, 0))
    if last.end:
        if unsealed[:1] != b"\n":
            raise _StopError("it does not fit the log — run validate")
        unsealed = unsealed[1:]
    addition, line = _seal_lines(unsealed, last, base)
    _write_or_cut(descriptor, addition, size)
    return line, note


def _seal_lines(unsealed: bytes, last: SealEntry, base: int) -> tuple[bytes, int]:
    """Return the seal lines for the log's bytes after entry `last`, and the number of the last line."""
    sha256 = quick_sha256()
    line, end, chain = last.line, last.end, last.chain
    made = []
    for piece in unsealed.split(b"\n")[:-1]:
        line, end = line + 1, end + len(piece) + 1
        chain = sha256(chain + piece + b"\n").digest()
        made.append(render_entry(line, end, chain, raw=end <= base))
    return b"".join(made), line


def _last_line(descriptor: int, size: int) -> tuple[int, bytes]:
    """Return the seal's length without a torn last line, and its last whole line without the line feed."""
    reach = END_BYTES
    while True:
        start = max(size - reach, 0)
        os.lseek(descriptor, start, os.SEEK_SET)
        block = read_exactly(descriptor, size - start)
        end = block.rfind(b"\n")
        before = block.rfind(b"\n", 0, max(end, 0))
        if start == 0 or before >= 0:
            return start + end + 1, block[before + 1 : max(end, 0)]
        reach *= 16


def _write_or_cut(descriptor: int, addition: bytes, size: int) -> None:
    """Write the new seal lines with one write; cut the seal back and raise OSError if they did not all go in."""
    try:
        written = os.write(descriptor, addition)
        if written != len(addition):
            raise OSError(5, f"short write ({written} of {len(addition)} bytes)")
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _not_extended(project: Project, reason: str) -> str:
    return f"the record is written, but {project.seal_shown} was not extended: {reason}"


def quick_sha256() -> Callable[[bytes], _Digest]:
    """Return the interpreter's own SHA-256, which starts faster than hashlib's; hashlib's where there is none."""
    try:
        module = __import__("_sha2")  # Python 3.12 and later
    except ImportError:
        try:
            module = __import__("_sha256")
        except ImportError:
            module = __import__("hashlib")
    sha256: Callable[[bytes], _Digest] = module.sha256
    return sha256


if TYPE_CHECKING:
    from typing import Protocol

    class _Digest(Protocol):
        def digest(self) -> bytes: ...


class SealReport:
    """What a seal says of its log (ledger.md 5.2).

    `problems` are `(code, line, text)` errors, `torn` says that the seal's last line is cut short, `sealed` counts
    the leading log lines that agree, `raw` lists the lines that append did not write; `chain` is the last chain value
    in hexadecimal if the whole seal agrees, else None.
    """

    __slots__ = ("chain", "problems", "raw", "sealed", "torn")

    def __init__(self) -> None:
        self.problems: list[tuple[str, int | None, str]] = []
        self.torn = False
        self.sealed = 0
        self.raw: list[int] = []
        self.chain: str | None = None


DIFFERS = "differs from its seal: the log was edited, reordered or cut here after it was written"


def check(log: bytes, seal: bytes, shown: str) -> SealReport:
    """Compare the log's bytes with a seal that is not empty; `shown` is the seal's name in messages."""
    report = SealReport()
    seal_lines = seal.split(b"\n")
    report.torn = bool(seal_lines.pop())
    log_lines = log.split(b"\n")
    log_lines.pop()
    chain, differs = _walk(report, log_lines, seal_lines)
    good, bad = _well_formed(seal_lines, report.sealed)
    if differs and report.sealed < good:
        report.problems.append(("seal-mismatch", report.sealed + 1, DIFFERS))
    if bad:
        report.problems.insert(0, ("seal-invalid", None, f"{shown}: line {good + 1} is not a seal entry"))
    elif not report.problems and good > len(log_lines):
        cut = f"log is truncated: the seal covers {good} line(s), the log has {len(log_lines)}"
        report.problems.append(("log-truncated", None, cut))
    if not report.problems and report.sealed:
        report.chain = chain.hex()
    if any(code != "log-truncated" for code, _, _ in report.problems):
        report.raw = []
    else:
        report.raw += range(report.sealed + 1, len(log_lines) + 1)
    return report


def _walk(report: SealReport, log_lines: list[bytes], seal_lines: list[bytes]) -> tuple[bytes, bool]:
    """Count the leading lines on which log and seal agree; return the last chain value and whether they part."""
    from hashlib import sha256

    chain, end, line = START, 0, 0
    for piece, sealed in zip(log_lines, seal_lines, strict=False):
        following = sha256(b"%b%b\n" % (chain, piece)).digest()
        line, end = line + 1, end + len(piece) + 1
        expected = b'{"line":%d,"end":%d,"chain":"%b"' % (line, end, following.hex().encode())
        if sealed == expected + b',"raw":true}':
            report.raw.append(line)
        elif sealed != expected + b"}":
            return chain, True
        chain = following
        report.sealed = line
    return chain, False


def _well_formed(seal_lines: list[bytes], known: int) -> tuple[int, bool]:
    """Return how many leading seal lines are entries, and whether another one follows; the first `known` are."""
    last = parse_entry(seal_lines[known - 1]) if known else None
    end = last.end if last else 0
    for index in range(known, len(seal_lines)):
        entry = parse_entry(seal_lines[index])
        if entry is None or entry.line != index + 1 or entry.end <= end:
            return index, True
        end = entry.end
    return len(seal_lines), False
