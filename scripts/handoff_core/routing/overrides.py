"""The scope lock: whether a prd-entry has the owner's word for each Non-Goal it changes (route.md 9.4.1).

Imports `records`, `routing.reading`.
"""

from __future__ import annotations

from handoff_core.records import CONSULTATION_RESPONSE, HUMAN, INTAKE_DECISION, PRD_PATH
from handoff_core.routing.reading import field, is_text, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

POINTER_DIGITS = 9
"""Digits of a line number in a `source` at most."""


def scope_errors(
    entry: Entry, delta: Sequence[str] | None, lines: Mapping[int, Entry], *, owner_spoke: bool
) -> list[str]:
    """Return what the scope lock holds against a prd-entry.

    `delta` are the ids of the Non-Goals that were reworded or removed, None if that is unknown: then the gate fails
    closed. `lines` are the slice's entries by line; `owner_spoke` says that the log holds an intake by the human.
    """
    if delta is None:
        return [f"{PRD_PATH}: its Non-Goals cannot be compared with git HEAD; the scope lock fails closed"]
    errors: list[str] = []
    covered = set()
    for number, item in enumerate(listed(entry, "scope_overrides"), 1):
        non_goal = item.get("non_goal_id") if isinstance(item, dict) else None
        if not is_text(non_goal):
            errors.append(f"scope_overrides item {number}: non_goal_id is missing")
            continue
        covered.add(non_goal)
        faults = _item_faults(item, delta, lines, owner_spoke=owner_spoke)
        errors += [f"scope_overrides item {number} ({non_goal}): {fault}" for fault in faults]
    errors += [
        f"{PRD_PATH}: {non_goal} was reworded or removed and no scope_overrides item covers it"
        for non_goal in delta
        if non_goal not in covered
    ]
    return errors


def _item_faults(item: Record, delta: Sequence[str], lines: Mapping[int, Entry], *, owner_spoke: bool) -> Iterator[str]:
    """Yield what is wrong with one override that names a Non-Goal."""
    if item["non_goal_id"] not in delta:
        yield f"this row of {PRD_PATH} is as it is at HEAD"
    quoted = item.get("owner_decision")
    quoted = quoted.strip() if isinstance(quoted, str) else ""
    if not quoted:
        yield "owner_decision does not quote the owner"
    source = item.get("source")
    if source == "dispatch":
        if owner_spoke:
            yield 'source "dispatch" does not count: the log holds an intake-decision by human'
        return
    kind, line = _pointer(source)
    if kind is None:
        yield f"source {shown(source)} is not dispatch, intake:<line> or consultation:<line>"
    elif not any(quoted in text for text in _sayings(kind, lines.get(line))):
        yield f"source {shown(source)} does not hold the quote, said by human in this slice"


def _pointer(source: object) -> tuple[str | None, int]:
    """Return kind and line of `intake:L` or `consultation:L`, None for anything else."""
    kind, colon, digits = source.partition(":") if isinstance(source, str) else ("", "", "")
    plain = digits.isascii() and digits.isdigit() and not digits.startswith("0") and len(digits) <= POINTER_DIGITS
    if not colon or not plain or kind not in ("intake", "consultation"):
        return None, 0
    return kind, int(digits)


def _sayings(kind: str, entry: Entry | None) -> list[str]:
    """Return the texts on a line in which the owner may be quoted; none if it is not the human's word."""
    if entry is None or field(entry, "author") != HUMAN:
        return []
    if kind == "intake" and field(entry, "type") == INTAKE_DECISION:
        said = listed(entry, "decisions")
    elif kind == "consultation" and field(entry, "type") == CONSULTATION_RESPONSE:
        said = [field(entry, "answer")]
    else:
        said = []
    return [text for text in said if isinstance(text, str)]
