"""Steps: what happened, in the order of lines, each with its stage of the work.

Follows view.md 5.9 to 5.11. Imports `records`, `board.rows`, `board.dispatches`, `board.reviews`, `board.words`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from handoff_core import records as r
from handoff_core.board.dispatches import ANSWERED, OPEN
from handoff_core.board.rows import GRADES, is_int, line_numbers
from handoff_core.board.words import is_reviewer, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handoff_core.board.clock import Moment, Seconds
    from handoff_core.board.dispatches import Dispatch
    from handoff_core.board.reviews import Reviews
    from handoff_core.board.rows import Row, Slice

FIRST_STAGE = {r.PRODUCT: "scope", r.DESIGNER: "design", r.IMPLEMENTER: "build", r.ROUTINE: "build"}
GRADE = "grade"
UNATTRIBUTED = "unattributed"


class Step:
    """A dispatch with the rows it owns, or a row of its own; a grade's verdict joins its features.

    `rows` are the rows shown, `all_rows` those plus the dispatch-start.
    """

    __slots__ = ("all_rows", "dispatch", "rows", "stage")

    def __init__(self, rows: list[Row], dispatch: Dispatch | None = None) -> None:
        self.dispatch = dispatch
        self.rows = rows
        self.all_rows = [dispatch.start, *rows] if dispatch else rows
        self.stage = ""

    @property
    def first(self) -> Row:
        """Return the row the step begins with."""
        return self.all_rows[0]

    @property
    def last(self) -> Row:
        """Return the step's last row."""
        return self.all_rows[-1]

    @property
    def line(self) -> int:
        """Return the line the step begins at."""
        return self.all_rows[0].line

    @property
    def agent(self) -> str | None:
        """Return who did it."""
        return self.all_rows[0].author

    @property
    def graded(self) -> bool:
        """Say whether this is the grader's step."""
        return self.dispatch is None and self.rows[0].type in GRADES

    @property
    def timed(self) -> bool:
        """Say whether the step has a length: an answered dispatch, or a grade of two records."""
        if self.dispatch is not None:
            return self.dispatch.state == ANSWERED
        return len(self.rows) > 1

    def duration(self, group: Slice) -> tuple[Seconds | None, bool]:
        """Return how long the step took, None if that is not known, and whether its clock can be trusted."""
        if self.timed:
            return group.duration(self.first, self.last)
        return None, self.first.usable is not None

    def interval(self, group: Slice) -> tuple[int, int] | None:
        """Return the time that counts as work, in microseconds; None where the clock cannot be trusted."""
        start = self.first.usable
        if start is None:
            return None
        if self.dispatch is not None and self.dispatch.state == OPEN:
            end = self.dispatch.last_sign if self.dispatch.quiet else group.clock
            return None if end is None or end < start else (start, end)
        seconds, reliable = self.duration(group)
        end = self.last.usable
        if seconds is None or not reliable or end is None:
            return None
        return start, max(start, end)

    def quiet_from(self) -> Moment | None:
        """Return when a quiet dispatch was last seen alive."""
        return self.dispatch.last_sign if self.dispatch is not None and self.dispatch.quiet else None


def steps(group: Slice, dispatches: list[Dispatch], reviews: Reviews) -> list[Step]:
    """Return the steps of a slice in line order, with their stages (view.md 5.9)."""
    found = split(group, dispatches)
    _Stages(found, reviews, group).set()
    return found


def split(group: Slice, dispatches: list[Dispatch]) -> list[Step]:
    """Return the steps of a slice in line order, without stages: each record is in exactly one."""
    started = {dispatch.start.line: dispatch for dispatch in dispatches}
    owned = {row.line for dispatch in dispatches for row in dispatch.owned}
    found: list[Step] = []
    above: Row | None = None
    for row in group.rows:
        if row.line in started:
            dispatch = started[row.line]
            found.append(Step(list(dispatch.owned), dispatch))
        elif row.line not in owned:
            if row.type == r.GRADER_VERDICT and _is_features(above) and found[-1].rows[-1] is above:
                found[-1].rows.append(row)
            else:
                found.append(Step([row]))
        above = row
    return found


def _is_features(row: Row | None) -> bool:
    return row is not None and row.type == r.GRADER_FEATURES


def stages(found: list[Step]) -> list[str]:
    """Return the stages in the order in which they first occur."""
    return list(dict.fromkeys(step.stage for step in found))


def is_rework(stage: str) -> bool:
    """Say whether a stage is rework: every fix, and every review but the first."""
    return stage.startswith(("fix ", "review ")) and stage != "review 1"


class _Stages:
    """Gives each step its stage; the rules are tried in the order of view.md 5.9."""

    def __init__(self, found: list[Step], reviews: Reviews, group: Slice) -> None:
        self.steps = found
        self.reviews = reviews
        self.builds = [row.line for row in group.of(r.BUILD_PASS)]
        self.group = group
        self.round_of = {row.line: each.n for each in reviews.rounds for row in each.feedbacks}
        self.step_of = {row.line: step for step in found for row in step.all_rows}

    def set(self) -> None:
        """Set the stage of every step."""
        before = "scope"
        for step in self.steps:
            step.stage = before = self._stage(step, before)

    def _stage(self, step: Step, before: str) -> str:
        agent, rows = step.agent, step.rows
        if agent == r.GRADER or step.graded:
            return GRADE
        for row in rows:
            if row.line in self.round_of:
                return f"review {self.round_of[row.line]}"
        begun = self.reviews.begun(step.line)
        plans = [row for row in rows if row.type == r.REVIEW_PLAN]
        if plans and all(row.line in self.reviews.unused for row in plans):
            return before
        if plans or is_reviewer(agent) or agent == r.PLANNER:
            return self._review_stage(step, begun)
        return self._asking_stage(step) or self._work_stage(step, begun, before)

    def _review_stage(self, step: Step, begun: int) -> str:
        if not begun:
            return "review 1"
        first = self.reviews.firsts[begun - 1]
        newer = bisect_right(self.builds, first) < bisect_left(self.builds, step.line)
        return f"review {begun + newer}"

    def _asking_stage(self, step: Step) -> str | None:
        """Return the stage of the step that asked, if this one only answers consultations."""
        if not step.rows or any(row.type != r.CONSULTATION_RESPONSE for row in step.rows):
            return None
        asked = step.rows[0].record.get("in_response_to")
        asking = self.step_of.get(asked) if is_int(asked) else None
        return asking.stage if asking is not None and asking.line < step.line else None

    @staticmethod
    def _work_stage(step: Step, begun: int, before: str) -> str:
        if begun:
            return f"fix {begun}"
        if step.agent in FIRST_STAGE:
            return FIRST_STAGE[step.agent]
        return "scope" if step.first.type == r.INTAKE_DECISION else before


def answered_dissent(step: Step, group: Slice) -> list[str]:
    """Return the labels of the dissenting reviewers whose feedback a dispatch responds to."""
    if step.dispatch is None:
        return []
    rows = (group.by_line.get(line) for line in line_numbers(step.first.record.get("responding_to")))
    dissent = (
        row.author
        for row in rows
        if row is not None and row.type == r.REVIEW_FEEDBACK and row.record.get("verdict") != "approved"
    )
    return list(dict.fromkeys(map(label, dissent)))
