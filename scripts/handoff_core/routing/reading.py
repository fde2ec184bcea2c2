"""Reads records leniently: what a field holds when it may be missing or of any type (route.md 5).

Imports `gates` and `text`.
"""

from __future__ import annotations

from handoff_core.gates import names_human
from handoff_core.text import clean, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

APPROVED = "approved"
TRUNCATION = "truncation"
ESCALATE = "escalate"


def field(entry: Entry | None, name: str) -> Any:
    """Return a field of a record as it is, None where the field or the record is missing."""
    return None if entry is None else entry[1].get(name)


def is_text(value: object) -> bool:
    """Say whether a value is a non-empty string."""
    return isinstance(value, str) and value != ""


def is_usable(name: object) -> bool:
    """Say whether a name can be dispatched: a non-empty string that does not name the human (route.md 2)."""
    return is_text(name) and not names_human(name)


def listed(entry: Entry, name: str) -> list[Any]:
    """Return a list field; a field that holds no list reads as empty."""
    value = entry[1].get(name)
    return value if isinstance(value, list) else []


def findings(entry: Entry) -> list[Record]:
    """Return the findings of a review-feedback; items that are no objects are skipped."""
    return [item for item in listed(entry, "findings") if isinstance(item, dict)]


def count_tagged(entry: Entry, tag: str) -> int:
    """Return how many findings carry a tag."""
    return sum(finding.get("tag") == tag for finding in findings(entry))


def dissents(entry: Entry) -> bool:
    """Say whether a review-feedback dissents: its verdict is not `approved`; no verdict is dissent too."""
    return bool(entry[1].get("verdict") != APPROVED)


def dissents_substantively(entry: Entry) -> bool:
    """Say whether it is dissent with at least one finding whose tag is not `truncation`."""
    return dissents(entry) and any(finding.get("tag") != TRUNCATION for finding in findings(entry))


def in_key_order(value: Any) -> Any:
    """Return a JSON value with the keys of its objects sorted, so that their order in a record changes no error."""
    if isinstance(value, dict):
        return {key: in_key_order(value[key]) for key in sorted(value)}
    return list(map(in_key_order, value)) if isinstance(value, list) else value


def shown(value: object) -> str:
    """Return a value as errors quote it."""
    return quote(in_key_order(value))


def cleaned(errors: Iterable[str]) -> list[str]:
    """Return errors without the characters of records that steer a terminal (route.md 2)."""
    return list(map(clean, errors))


def after(entries: Iterable[Entry], line: int) -> list[Entry]:
    """Return the entries on lines above `line`."""
    return [entry for entry in entries if entry[0] > line]


def by(entries: Iterable[Entry], author: str) -> list[Entry]:
    """Return the entries of an author."""
    return [entry for entry in entries if entry[1].get("author") == author]


def last_of(entries: list[Entry]) -> Entry | None:
    """Return the entry on the highest line, None if there is none."""
    return entries[-1] if entries else None


def line_of(entry: Entry | None) -> int:
    """Return an entry's line, 0 where there is none."""
    return 0 if entry is None else entry[0]
