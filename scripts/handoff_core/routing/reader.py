"""Reads the bytes of a log into a history in one strict pass, keeping no record that no decision needs.

The verdict on a line is that of the strict reader (ledger.md 2.1, 2.2); here it is only reached faster. Imports
`jsonl`, `ledger`, `routing.history`.
"""

from __future__ import annotations

from handoff_core import jsonl
from handoff_core.ledger import scan
from handoff_core.routing.history import CROSSING, History

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from handoff_core.ledger import Problem

    Record = dict[str, Any]
    Entry = tuple[int, Record]

_BRACKETS = b"[{\n"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_SURROGATE = "lone surrogate"

_scan_value = jsonl._scan  # noqa: SLF001 - the scanner below `jsonl.parse`, whose other checks are made here in bulk


class DirtyLogError(Exception):
    """Leave the fast pass: a line is no record."""


def read_history(data: bytes, wanted: str | None, *, every_slice: bool) -> tuple[History, list[Problem]]:
    """Return what a log holds and the strict reader's problems with it; with a problem the history is empty.

    Only the records of the slice `wanted`, by default that of the last line, are kept, unless `every_slice`. Half
    surrogate pairs are no problem here (route.md 3).
    """
    if not data:
        return History(()), []
    lines = data.split(b"\n")
    try:
        if lines.pop():
            raise DirtyLogError
        only = None if every_slice else wanted or req_id_of(lines[-1])
        entries = _entries(lines, _is_doubtful if _holds_doubtful_lines(data) else None, only)
        return History(entries, only=only, records=len(lines)), []
    except DirtyLogError:
        problems = [problem for problem in scan(data)[1] if problem.text != f"invalid JSON ({_SURROGATE})"]
        return History(()), problems


def _entries(lines: list[bytes], is_doubtful: Callable[[str], bool] | None, only: str | None = None) -> Iterator[Entry]:
    """Yield an entry for every line, with `only` for those that can matter to that slice and for the last one.

    Raises DirtyLogError at a line that is no record. `is_doubtful` tells the lines which the scanner alone cannot
    judge; None if there are none.
    """
    scan_value: Callable[[str, int], tuple[Any, int]] = _scan_value
    last = len(lines)
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode()
            record, end = scan_value(text, 0)
            whole = end == len(text) and record.__class__ is dict
        except (StopIteration, ValueError, RecursionError, SystemError):
            whole = False
        if not whole or (is_doubtful is not None and is_doubtful(text)):
            record = _strict_record(line)
        if only is None or record.get("req_id") == only or record.get("type") in CROSSING or number == last:
            yield number, record


def _holds_doubtful_lines(data: bytes) -> bool:
    """Say whether any line may be doubtful; made on all of them at once."""
    if b"\\ud" in data or b"\\uD" in data:
        return True
    brackets = data.translate(None, _NO_BRACKETS)
    return max(map(len, brackets.split(b"\n"))) > jsonl.NESTING_LIMIT


def _is_doubtful(text: str) -> bool:
    """Say whether a line may nest too deep or hold half a surrogate pair."""
    return text.count("[") + text.count("{") > jsonl.NESTING_LIMIT or "\\ud" in text or "\\uD" in text


def _strict_record(line: bytes) -> Record:
    """Return the record on a line, read by the book; raise DirtyLogError if it is none."""
    try:
        text = jsonl.decode(line)
        record = jsonl.parse(text)
    except jsonl.JsonError as error:
        if error.reason != _SURROGATE:
            raise DirtyLogError from None
        record = _scan_value(text.strip(" \t\r"), 0)[0]
    if not isinstance(record, dict):
        raise DirtyLogError
    return record


def entry_of(line: bytes) -> Record:
    """Return the record on one line; raise DirtyLogError if it is none."""
    return next(_entries([line], _is_doubtful))[1]


def req_id_of(line: bytes) -> str | None:
    """Return the req_id of the record on a line, None where it has none; raise DirtyLogError if it is no record."""
    req_id = entry_of(line).get("req_id")
    return req_id if isinstance(req_id, str) else None
