"""Which variant of the implementer takes the next step, and why: a fold over the records of a slice (route.md 11).

Imports `records`, `routing.findings`, `routing.reading`.
"""

from __future__ import annotations

from handoff_core.records import (
    BUILD_FAILURE,
    BUILD_PASS,
    DESIGN_BLOCK,
    DISPATCH_START,
    IMPLEMENTER,
    REVIEW_FEEDBACK,
    ROUTINE,
)
from handoff_core.routing.findings import AUTOFIX, owner_of
from handoff_core.routing.reading import APPROVED, ESCALATE, TRUNCATION, findings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

FRESH, FIX, REVIEWED, RETRY = "fresh", "fix", "reviewed", "retry"
_REASONS = {FRESH: "initial", REVIEWED: "no-substantive-dissent", RETRY: "recovery"}


class Tier:
    """The state of the fold; `mode` is what the next window of the implementer is for."""

    __slots__ = (
        "active",
        "closed",
        "closed_initial",
        "mode",
        "only_autofixes",
        "open",
        "open_initial",
        "rating",
        "retired",
    )

    def __init__(self) -> None:
        self.retired = self.active = False
        self.rating: str | None = None
        self.mode = FRESH
        self.only_autofixes: bool | None = None
        self.open: str | None = None
        self.open_initial = False
        self.closed: str | None = None
        self.closed_initial = False

    def settle(self) -> None:
        """Retire ROUTINE when the fix round of its own first build turned out to be more than autofixes."""
        if self.mode == FIX and self.closed == ROUTINE and self.closed_initial and self.only_autofixes is False:
            self.retired = True

    def choose(self) -> tuple[str, str]:
        """Return the agent for the state at hand and the reason."""
        self.settle()
        if not self.active:
            return IMPLEMENTER, "effort:unrated"
        if self.retired:
            return IMPLEMENTER, "routine-retired"
        if self.mode == FIX:
            return (ROUTINE, "fix-round:all-autofix") if self.only_autofixes else (IMPLEMENTER, "fix-round:mixed")
        if self.mode == FRESH and self.rating == "routine":
            return ROUTINE, "initial:rated-routine"
        return IMPLEMENTER, _REASONS[self.mode]

    def design(self, record: Record) -> None:
        """Take a design-block: its rating, and a fresh start."""
        self.settle()
        effort = record.get("implementation_effort")
        self.rating = effort if isinstance(effort, str) else None
        self.active = self.active or self.rating is not None
        self.mode = FRESH
        self.only_autofixes = None
        self.open = None
        self.open_initial = False

    def start(self, record: Record) -> None:
        """Take a dispatch-start: the implementer's opens its window if none is open."""
        if record.get("author") == IMPLEMENTER and self.open is None:
            self.open_initial = self.mode == FRESH
            self.open = self.choose()[0]

    def fail(self, _record: Record) -> None:
        """Take a build-failure: ROUTINE is not tried again."""
        if self.open != IMPLEMENTER:
            self.retired = True
        self.mode = RETRY

    def build(self, _record: Record) -> None:
        """Take a build-pass: the open window is closed, review begins."""
        self.closed, self.closed_initial = self.open, self.open_initial
        self.open = None
        self.open_initial = False
        self.only_autofixes = None
        self.mode = REVIEWED

    def review(self, record: Record) -> None:
        """Take a review-feedback of any author: substantive dissent makes it a fix round."""
        if self.only_autofixes is None:
            self.only_autofixes = True
        raised = findings((0, record))
        if raised != record.get("findings") or any(finding.get("tag") == ESCALATE for finding in raised):
            self.only_autofixes = False
        truncated = bool(raised) and all(finding.get("tag") == TRUNCATION for finding in raised)
        if record.get("verdict") == APPROVED or truncated:
            return
        if not raised:
            self.only_autofixes = False
        if self.closed != IMPLEMENTER and not self.closed_initial:
            self.retired = True
        self.mode = FIX
        if any(owner_of(finding) == IMPLEMENTER and finding.get("tag") != AUTOFIX for finding in raised):
            self.only_autofixes = False


EFFECTS: dict[str, Callable[[Tier, Record], None]] = {
    DESIGN_BLOCK: Tier.design,
    DISPATCH_START: Tier.start,
    BUILD_FAILURE: Tier.fail,
    BUILD_PASS: Tier.build,
    REVIEW_FEEDBACK: Tier.review,
}


def choose_tier(entries: Iterable[Entry]) -> tuple[str, str]:
    """Return the implementer's variant after these records of a slice, and the reason."""
    tier = Tier()
    for _, record in entries:
        kind = record.get("type")
        effect = EFFECTS.get(kind) if isinstance(kind, str) else None
        if effect is not None:
            effect(tier, record)
    return tier.choose()
