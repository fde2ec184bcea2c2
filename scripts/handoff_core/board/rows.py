"""The records of one slice as the board reads them: leniently, with their stamps read once.

Follows view.md 2 and route.md 5. Imports `records`, `text_view`, `board.clock`.
"""

from __future__ import annotations

from bisect import bisect_right

from handoff_core import records as r
from handoff_core.board.clock import BACK_SECONDS, FUTURE_SECONDS, SECOND, between, read_stamp
from handoff_core.text_view import clean, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeGuard

    from handoff_core.board.clock import Moment, Seconds, Stamp
    from handoff_core.ledger import Entry, Record

GRADES = (r.GRADER_FEATURES, r.GRADER_VERDICT)
AUTOFIXES = (r.DESIGN_AUTOFIX, r.PRD_AUTOFIX)


class Row:
    """One record: its line, the record, its type and author (None where they are no names), its stamp.

    `usable` is the instant if it is neither missing nor in the future; `back` is the row above whose stamp is later
    by more than two seconds.
    """

    __slots__ = ("author", "back", "line", "record", "stamp", "type", "usable")

    def __init__(self, line: int, record: Record) -> None:
        self.line = line
        self.record = record
        self.type = name(record.get("type"))
        self.author = name(record.get("author"))
        self.stamp: Stamp = read_stamp(record.get("ts"))
        self.usable: Moment | None = None
        self.back: Row | None = None

    @property
    def moment(self) -> Moment | None:
        """Return the instant of the stamp, usable or not."""
        return self.stamp.moment


class Slice:
    """All records of one `req_id` (None for the nameless ones) in line order, indexed by line and by type."""

    __slots__ = ("_back_lines", "by_line", "by_type", "clock", "req_id", "rows")

    def __init__(self, req_id: str | None, entries: Iterable[Entry], clock: int) -> None:
        self.req_id = req_id
        self.clock = clock
        self.rows = [Row(line, record) for line, record in entries]
        self.by_line = {row.line: row for row in self.rows}
        self.by_type: dict[str | None, list[Row]] = {}
        above: Row | None = None
        for row in self.rows:
            self.by_type.setdefault(row.type, []).append(row)
            moment = row.moment
            if moment is None:
                continue
            if moment <= clock + FUTURE_SECONDS * SECOND:
                row.usable = moment
            if above is not None and above.moment - moment > BACK_SECONDS * SECOND:  # type: ignore[operator]
                row.back = above
            above = row
        self._back_lines = [row.line for row in self.rows if row.back is not None]

    def of(self, *kinds: str) -> list[Row]:
        """Return the rows of some types in line order."""
        if len(kinds) == 1:
            return self.by_type.get(kinds[0], [])
        found = [row for kind in kinds for row in self.by_type.get(kind, [])]
        return sorted(found, key=by_line)

    def latest(self, kind: str) -> Row | None:
        """Return the last row of a type, None without one."""
        rows = self.by_type.get(kind)
        return rows[-1] if rows else None

    def duration(self, start: Row, end: Row) -> tuple[Seconds | None, bool]:
        """Return the seconds from one row to a later one, None if there are none, and whether they can be trusted."""
        if start.moment is None or end.moment is None:
            return None, False
        length = between(start.moment, end.moment)
        if length < 0:
            length = between(0, 0) if length >= -BACK_SECONDS else None  # type: ignore[assignment]
        sound = start.usable is not None and end.usable is not None
        return length, sound and length is not None and not self.steps_back(start, end)

    def steps_back(self, start: Row, end: Row) -> bool:
        """Say whether the clock went back behind row `start` and no later than row `end`."""
        return bisect_right(self._back_lines, start.line) < bisect_right(self._back_lines, end.line)


def by_line(row: Row) -> int:
    """Return a row's line, to sort by."""
    return row.line


def slices(entries: Iterable[Entry], clock: int) -> list[Slice]:
    """Return the slices in the order of their first records; the nameless one comes last (view.md 2)."""
    groups: dict[str | None, list[Entry]] = {}
    for line, record in entries:
        groups.setdefault(name(record.get("req_id")), []).append((line, record))
    nameless = groups.pop(None, None)
    found = [Slice(req_id, group, clock) for req_id, group in groups.items()]
    return found if nameless is None else [*found, Slice(None, nameless, clock)]


def name(value: object) -> str | None:
    """Return a value that is a non-empty string, else None: what is no string equals no name."""
    return value if isinstance(value, str) and value else None


def text(value: object) -> str | None:
    """Return a string on one line, cleaned; None if it is no string or nothing is left of it."""
    return clean(value) or None if isinstance(value, str) else None


def block(value: object) -> str | None:
    """Return a string cleaned with its line breaks; None if it is no string or nothing is left of it."""
    return lines(value) or None if isinstance(value, str) else None


def items(value: object) -> list[Any]:
    """Return a list field; a field that holds no list reads as empty."""
    return value if isinstance(value, list) else []


def texts(value: object, clean_item: Callable[[object], str | None] = text) -> list[str]:
    """Return the strings of a list field, cleaned; others and empty ones are left out."""
    found = (clean_item(item) for item in items(value))
    return [item for item in found if item]


def members(value: object) -> dict[str, Any]:
    """Return an object field; a field that holds no object reads as empty."""
    return value if isinstance(value, dict) else {}


def line_numbers(value: object) -> list[int]:
    """Return the whole numbers of a list field; a boolean is none."""
    return [item for item in items(value) if is_int(item)]


def is_int(value: object) -> TypeGuard[int]:
    """Say whether a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def cleaned(value: object) -> Any:
    """Return any JSON value with every string in it cleaned, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): cleaned(item) for key, item in value.items()}
    return value
