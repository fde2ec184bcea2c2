"""Checks design-blocks: what a block may supersede and which verdicts can be implemented (route.md 5, 9.5).

Imports `gates`, `routing.reading`.
"""

from __future__ import annotations

from handoff_core.gates import NO_ESCALATIONS
from handoff_core.routing.reading import field, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

CONFLICTING = "conflicting"
IMPLEMENTABLE = ("covered", "minor", "new", "foundational")


def valid_supersedes(designs: list[Entry]) -> list[Entry]:
    """Return the design-blocks of a slice whose `supersedes_record_at` is valid, in order.

    Valid is an integer smaller than the block's own line that is the line of a design-block of the slice.
    """
    earlier: set[int] = set()
    found = []
    for entry in designs:
        pointer = field(entry, "supersedes_record_at")
        if isinstance(pointer, int) and not isinstance(pointer, bool) and pointer in earlier:
            found.append(entry)
        earlier.add(entry[0])
    return found


def gate_errors(design: Entry, schema_errors: list[str], *, supersedes: bool) -> list[str]:
    """Return what is wrong with a design-block: its schema, its pointer, else a verdict nobody can implement.

    `supersedes` says that its pointer is valid.
    """
    pointer, verdict = field(design, "supersedes_record_at"), field(design, "verdict")
    errors = list(schema_errors)
    if pointer is not None and not supersedes:
        errors.append(
            f"$.supersedes_record_at: {shown(pointer)} is not the line of an earlier design-block of this slice"
        )
    if not errors and verdict not in IMPLEMENTABLE:
        errors.append(f"$.verdict: {shown(verdict)} cannot be implemented")
    return errors


def missing_escalations(escalations: object) -> list[str]:
    """Return the one error of a conflict that names nothing for the human to decide, else none."""
    return [] if escalations else [NO_ESCALATIONS]
