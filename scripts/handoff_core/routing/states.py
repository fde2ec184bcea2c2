"""The states of a slice, as a table read from top to bottom (route.md 7, 15.2).

Imports `records` alone.
"""

from __future__ import annotations

from handoff_core.records import (
    BUILD_FAILURE,
    BUILD_PASS,
    CONSULTATION_RESPONSE,
    DESIGN_BLOCK,
    GRADER_FEATURES,
    GRADER_VERDICT,
    IMPLEMENTER,
    INTAKE_DECISION,
    PLANNER,
    PRD_ENTRY,
    REVIEW_FEEDBACK,
    REVIEW_PLAN,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handoff_core.routing.slice import Slice

ANY = "any"
"""Where a row stands that is tried in every state."""


class State:
    """One row of STATES: a name, when it is entered, the fact whose record says so, and the test of a slice."""

    __slots__ = ("entered", "fact", "holds", "name")

    def __init__(self, name: str, entered: str, fact: str, holds: Callable[[Slice], bool]) -> None:
        self.name = name
        self.entered = entered
        self.fact = fact
        self.holds = holds


def _ends_in(kind: str) -> Callable[[Slice], bool]:
    return lambda at: at.last is not None and at.last[1].get("type") == kind


def _is_silent(at: Slice) -> bool:
    return at.silent_start is not None


def _implementer_is_silent(at: Slice) -> bool:
    return at.silent_start is not None and at.silent_start[1].get("author") == IMPLEMENTER


def _reviewer_is_silent(at: Slice) -> bool:
    return at.silent_start is not None and at.silent_start[1].get("author") in (PLANNER, *at.full_roster)


def _stands_on(*kinds: str) -> Callable[[Slice], bool]:
    return lambda at: at.substantive is not None and at.substantive[1]["type"] in kinds


# fmt: off
STATES = (
    State("graded",   "the last record is a grader-verdict", "last", _ends_in(GRADER_VERDICT)),
    State("features", "the last record is grader-features", "last", _ends_in(GRADER_FEATURES)),
    State("silent",   "the implementer started and nothing was heard since", "silent_start", _implementer_is_silent),
    State("review",   "the planner or a reviewer started and nothing was heard since", "silent_start",
          _reviewer_is_silent),
    State("stray",    "somebody else started and nothing was heard since", "silent_start", _is_silent),
    State("request",  "a consultation-request is open", "open_request", lambda at: at.open_request is not None),
    State("idle",     "the slice holds no substantive record", "last", lambda at: at.substantive is None),
    State("review",   "the latest substantive record is a build-pass, review-feedback or review-plan", "substantive",
          _stands_on(BUILD_PASS, REVIEW_FEEDBACK, REVIEW_PLAN)),
    State("failure",  "the latest substantive record is a build-failure", "substantive", _stands_on(BUILD_FAILURE)),
    State("design",   "the latest substantive record is a design-block", "substantive", _stands_on(DESIGN_BLOCK)),
    State("prd",      "the latest substantive record is a prd-entry", "substantive", _stands_on(PRD_ENTRY)),
    State("intake",   "the latest substantive record is an intake-decision", "substantive",
          _stands_on(INTAKE_DECISION)),
    State("response", "the latest substantive record is a consultation-response", "substantive",
          _stands_on(CONSULTATION_RESPONSE)),
)
# fmt: on


def state_of(at: Slice) -> State:
    """Return the first state that holds; the last rows cover every substantive type."""
    return next(state for state in STATES if state.holds(at))
