"""Walks the route table for a situation and words the reason (route.md 2, 15.1).

Imports `routing.states`, `routing.table`.
"""

from __future__ import annotations

from handoff_core.routing.reading import line_of
from handoff_core.routing.roster import INVALID_PLAN, NO_PLAN, UNAUTHORED_PLAN
from handoff_core.routing.states import ANY
from handoff_core.routing.table import ROUTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from handoff_core.routing.situation import Situation
    from handoff_core.routing.table import Row

    Decision = dict[str, Any]

GAPS = {
    NO_PLAN: "no plan names a roster",
    UNAUTHORED_PLAN: "the plan is nobody's who may name a roster",
    INVALID_PLAN: "the plan's roster cannot be used",
}
"""Why the full roster reviews, in words (route.md 10.2)."""


def decide(at: Situation, tried: list[tuple[Row, bool]] | None = None, *, rows: Sequence[Row] = ROUTE) -> Decision:
    """Return the decision of the first row whose state and guard hold; each row tried is added to `tried`.

    Raises LookupError if no row does, which ROUTE's last row rules out.
    """
    for row in rows:
        state = ANY if row.at == ANY else at.state  # which is not computed before a row needs it
        if row.at != state:
            continue
        holds = row.when.holds(at)
        if tried is not None:
            tried.append((row, holds))
        if holds:
            return row.then.build(row.rule, reason_of(row, at), at)
    raise LookupError("no row holds")


def reason_of(row: Row, at: Situation) -> str:
    """Return the row's reason, filled out with the cause or the line it rests on."""
    detail = _detail(row, at)
    return f"{row.because} ({detail})" if detail else row.because


def _detail(row: Row, at: Situation) -> str:
    if row.at == ANY:
        cause = CAUSES.get(row.rule)
        return (cause(at) or "") if cause else ""
    line = f"line {getattr(at, at.entered.fact)[0]}"
    gap = at.roster_gap if row.rule == "reviews-needed" and at.ladder.is_untouched() else None
    return f"{line}; {GAPS[gap]}" if gap else line


CAUSES: dict[str, Callable[[Situation], str | None]] = {
    "layout-unreadable": lambda at: at.layout_problem,
    "layout-invalid": lambda at: at.roster_problem,
    "unknown-req-id": lambda at: at.req_id,
    "human-consultation": lambda at: f"line {line_of(at.held)}",
}
"""What fills out the reason of a row that is tried in every state."""
