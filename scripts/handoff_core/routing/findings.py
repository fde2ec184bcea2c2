"""Judges findings: the bar of late rounds, who owns what, and what root applies itself (route.md 10.5, 10.7).

Imports `gates`, `records` and `routing.reading`.
"""

from __future__ import annotations

from handoff_core.gates import finding_problems
from handoff_core.records import ADR_FOLDER, DESIGN_PATH, DESIGNER, IMPLEMENTER, PRD_PATH, PRODUCT
from handoff_core.routing.reading import ESCALATE, TRUNCATION, dissents, field, findings, listed
from handoff_core.routing.rounds import CRITICAL_ONLY, ROUND_CAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

AUTOFIX = "autofix"
_ABOVE_THE_BAR = ("clarify", ESCALATE, TRUNCATION)
_DISSENTING_VERDICTS = ("changes_requested", "blocked")
OWNERS = (IMPLEMENTER, PRODUCT, DESIGNER)
"""Who can own a finding, in the order in which they are dispatched."""


# 10.5: the gate and the bar


def is_below_the_bar(entry: Entry) -> bool:
    """Say whether a feedback has findings and none of them may still be raised from round 3 on."""
    return bool(listed(entry, "findings")) and not any(map(_passes_the_bar, findings(entry)))


def _passes_the_bar(finding: Record) -> bool:
    tag = finding.get("tag")
    return tag in _ABOVE_THE_BAR or (tag in (AUTOFIX, "blocked") and finding.get("severity") == "critical")


def refusal(
    reviewer: str, current: Entry, earlier: Iterable[Entry], number: int, gate: Callable[[Entry], list[str]]
) -> dict[str, Any] | None:
    """Return why a current feedback is refused in a round: `reviewer`, `errors`, `repeats`; None if it is not.

    `earlier` is the reviewer's older feedback of this pass. It repeats when it is below the bar and an earlier
    dissent is, too.
    """
    errors = gate(current) + finding_problems(current[1])
    barred = number >= ROUND_CAP and field(current, "verdict") in _DISSENTING_VERDICTS and is_below_the_bar(current)
    if barred:
        errors.append(
            f"no finding may still be raised: review round {number} is {CRITICAL_ONLY}, and none of these is critical"
        )
    if not errors:
        return None
    repeats = barred and any(dissents(entry) and is_below_the_bar(entry) for entry in earlier)
    return {"reviewer": reviewer, "errors": errors, "repeats": repeats}


# 10.7: the split


def owner_of(finding: Record) -> str:
    """Return who owns the artifact at a finding's location: PRODUCT, DESIGNER or IMPLEMENTER.

    The path before the first `:` is taken as written; a location that is no string is the empty path.
    """
    location = finding.get("location")
    path = location.split(":", 1)[0] if isinstance(location, str) else ""
    if path.startswith(PRD_PATH):
        return PRODUCT
    return DESIGNER if path.startswith((DESIGN_PATH, ADR_FOLDER)) else IMPLEMENTER


def is_for_root(finding: Record) -> bool:
    """Say whether root applies a finding itself: an autofix of a document."""
    return finding.get("tag") == AUTOFIX and owner_of(finding) != IMPLEMENTER


def owners_of(answers: Iterable[Entry]) -> list[str]:
    """Return the owners of the open findings of a pass in dispatch order (route.md 10.7).

    A dissent opens all its findings but those for root, an approval its escalations; with an escalation anywhere the
    implementer is an owner too.
    """
    owners = set()
    for entry in answers:
        for finding in findings(entry):
            escalates = finding.get("tag") == ESCALATE
            if escalates:
                owners.add(IMPLEMENTER)
            if escalates or (dissents(entry) and not is_for_root(finding)):
                owners.add(owner_of(finding))
    return [name for name in OWNERS if name in owners]


def count_for_root(dissent: Iterable[Entry]) -> int:
    """Return how many findings of the dissenting records root applies itself."""
    return sum(is_for_root(finding) for entry in dissent for finding in findings(entry))
