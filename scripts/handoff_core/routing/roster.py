"""Who reviews: the full roster of a project and the roster that the plan of one pass names (route.md 5, 10.2).

Imports `records` and `routing.reading`.
"""

from __future__ import annotations

from handoff_core.records import ENGINE, FLOOR, PLANNER
from handoff_core.routing.reading import by, field, is_text, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

GRAY = "gray"
NO_PLAN, UNAUTHORED_PLAN, INVALID_PLAN = "no-plan", "unauthored-plan", "invalid-plan"


def extras_problem(extras: object) -> str | None:
    """Return why `harness.extra_reviewers` is malformed, None if it is not; absent is well formed (route.md 4)."""
    if extras is None:
        return None
    if not isinstance(extras, list):
        return f"it is a {type(extras).__name__}, not a list"
    for number, name in enumerate(extras, 1):
        if not is_text(name):
            return f"item {number} is not a non-empty string"
    return None


def whole_roster(extras: object) -> list[str]:
    """Return the floor, then the extra reviewers in declared order, each name once (route.md 5)."""
    named = extras if isinstance(extras, list) and extras_problem(extras) is None else []
    return list(dict.fromkeys((*FLOOR, *named)))


def names_nobody(plan: Entry, earlier: list[Entry]) -> bool:
    """Say whether an invited planner's plan is its first without a roster, and so to be bounced (route.md 10.2).

    `earlier` are the other plans of the pass, before this one.
    """
    if field(plan, "risk") == GRAY or field(plan, "author") != PLANNER or listed(plan, "roster"):
        return False
    return _is_invited(earlier) and all(listed(other, "roster") for other in by(earlier, PLANNER))


def gap_of(plan: Entry | None, earlier: list[Entry], full: list[str]) -> str | None:
    """Return why the full roster reviews in place of the plan's, None where the plan's does (route.md 10.2)."""
    if plan is None:
        return NO_PLAN
    author = field(plan, "author")
    if author not in (PLANNER, ENGINE) or (author == PLANNER and not _is_invited(earlier)):
        return UNAUTHORED_PLAN
    named = listed(plan, "roster")
    if not named or any(name not in full for name in named):
        return INVALID_PLAN
    return None


def _is_invited(earlier: list[Entry]) -> bool:
    """Say whether one of the earlier plans is the engine's gray one, which asks the planner."""
    return any(field(plan, "risk") == GRAY for plan in by(earlier, ENGINE))
