"""The guards of the route table: named pure functions of a situation, each with the facts it reads (route.md 15.3).

A guard's docstring is its condition in words; `route --rules` prints it. Imports `gates`, `records` and
`routing.designing`, `history`, `roster`, `rounds` for their words.
"""

# ruff: noqa: D401 - a guard's docstring is its condition, which `route --rules` prints

from __future__ import annotations

from handoff_core.gates import names_human
from handoff_core.records import DESIGNER, ENGINE, HUMAN
from handoff_core.routing.designing import CONFLICTING
from handoff_core.routing.history import REFACTOR_FIRST
from handoff_core.routing.roster import GRAY
from handoff_core.routing.rounds import ROUND_CAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handoff_core.routing.situation import Situation

RETRY_CAP = 3
"""Builds, continuations and truncated passes in a row before somebody else is asked (route.md 14.2)."""


class Guard:
    """A condition: `name`, the facts it `reads`, its `sentence`, and the function that says whether it holds."""

    __slots__ = ("holds", "name", "reads", "sentence")

    def __init__(self, holds: Callable[[Situation], bool], reads: tuple[str, ...]) -> None:
        self.holds = holds
        self.reads = reads
        self.name = holds.__name__
        self.sentence = holds.__doc__ or ""


def reads(*facts: str) -> Callable[[Callable[[Situation], bool]], Guard]:
    """Return the decorator that makes a guard of a function and declares the facts it reads."""
    return lambda holds: Guard(holds, facts)


@reads()
def always(_at: Situation) -> bool:
    """Always."""
    return True


@reads("log_absent")
def no_log(at: Situation) -> bool:
    """The log does not exist."""
    return at.log_absent


@reads("problems")
def log_is_dirty(at: Situation) -> bool:
    """The strict reader finds a problem, also in its second reading."""
    return bool(at.problems)


@reads("layout_problem")
def layout_is_unreadable(at: Situation) -> bool:
    """The layout is there and cannot be read or parsed."""
    return at.layout_problem is not None


@reads("records")
def no_records(at: Situation) -> bool:
    """The log holds no record."""
    return at.records == 0


@reads("req_id")
def no_req_id(at: Situation) -> bool:
    """There is no --req-id, and the last line has no non-empty string req_id."""
    return at.req_id is None


@reads("slice_size")
def no_such_slice(at: Situation) -> bool:
    """No record belongs to the slice."""
    return at.slice_size == 0


@reads("roster_problem")
def extras_are_malformed(at: Situation) -> bool:
    """The layout's harness.extra_reviewers is no list of non-empty strings."""
    return at.roster_problem is not None


@reads("held")
def held_by_a_question(at: Situation) -> bool:
    """A pending question to the human holds the log, and is not the slice's own last record."""
    return at.held is not None


@reads("request_errors", "requester")
def request_fails_unsigned(at: Situation) -> bool:
    """The open request has errors, and its author is not usable."""
    return bool(at.request_errors) and at.requester is None


@reads("request_errors")
def request_fails(at: Situation) -> bool:
    """The open request has errors."""
    return bool(at.request_errors)


@reads("request_target", "request_author")
def human_asks_human(at: Situation) -> bool:
    """Target and author of the request both name the human."""
    return names_human(at.request_target) and names_human(at.request_author)


@reads("request_target")
def asks_the_human(at: Situation) -> bool:
    """The target of the request is exactly human."""
    return bool(at.request_target == HUMAN)


@reads("response_errors", "responder")
def response_fails_unaddressed(at: Situation) -> bool:
    """The response has errors, and the target of the request it points at is not usable."""
    return bool(at.response_errors) and at.responder is None


@reads("response_errors")
def response_fails(at: Situation) -> bool:
    """The response has errors."""
    return bool(at.response_errors)


@reads("asked_by")
def answers_the_human(at: Situation) -> bool:
    """The request that was answered is the human's own."""
    return names_human(at.asked_by)


@reads("waiting_refactors")
def a_refactor_waits(at: Situation) -> bool:
    """The latest design-block of another slice says refactor-first."""
    return bool(at.waiting_refactors)


@reads("design")
def no_design(at: Situation) -> bool:
    """The slice has no design-block."""
    return at.design is None


@reads("silent_run")
def at_silence_cap(at: Situation) -> bool:
    """The implementer started three times or more since the latest design-block and fell silent each time."""
    return at.silent_run >= RETRY_CAP


@reads("failure_errors")
def failure_fails_gate(at: Situation) -> bool:
    """The build-failure fails its gate."""
    return bool(at.failure_errors)


@reads("abort_reason")
def aborts_as_wrong_shape(at: Situation) -> bool:
    """The abort_reason is wrong-shape-slice."""
    return bool(at.abort_reason == "wrong-shape-slice")


@reads("abort_reason")
def aborts_on_the_design(at: Situation) -> bool:
    """The abort_reason is design-mismatch."""
    return bool(at.abort_reason == "design-mismatch")


@reads("abort_reason")
def aborts_on_the_prd(at: Situation) -> bool:
    """The abort_reason is prd-mismatch."""
    return bool(at.abort_reason == "prd-mismatch")


@reads("abort_reason")
def aborts_on_a_prerequisite(at: Situation) -> bool:
    """The abort_reason is prerequisite-missing."""
    return bool(at.abort_reason == "prerequisite-missing")


@reads("abort_reason")
def aborts(at: Situation) -> bool:
    """The abort_reason is not unset: something other than null, false, 0 or empty."""
    return bool(at.abort_reason)


@reads("failures")
def at_retry_cap(at: Situation) -> bool:
    """Three builds or more failed since the latest design-block."""
    return at.failures >= RETRY_CAP


@reads("design_verdict")
def design_conflicts(at: Situation) -> bool:
    """The verdict is conflicting."""
    return bool(at.design_verdict == CONFLICTING)


@reads("design_verdict")
def refactor_comes_first(at: Situation) -> bool:
    """The verdict is refactor-first."""
    return bool(at.design_verdict == REFACTOR_FIRST)


@reads("design_errors")
def design_fails_gate(at: Situation) -> bool:
    """The design-block's schema, pointer or verdict is at fault."""
    return bool(at.design_errors)


@reads("entry_author")
def entry_is_the_designers(at: Situation) -> bool:
    """The author of the prd-entry is system-design-expert."""
    return bool(at.entry_author == DESIGNER)


@reads("entry_errors")
def entry_fails_gate(at: Situation) -> bool:
    """The prd-entry's schema or the scope lock is at fault."""
    return bool(at.entry_errors)


@reads("intake_errors")
def intake_fails_gate(at: Situation) -> bool:
    """The intake-decision fails its gate."""
    return bool(at.intake_errors)


@reads("build_pass")
def no_build_pass(at: Situation) -> bool:
    """The slice has no build-pass."""
    return at.build_pass is None


@reads("build_pass_errors")
def build_pass_fails_gate(at: Situation) -> bool:
    """The latest build-pass fails its gate."""
    return bool(at.build_pass_errors)


@reads("undecided")
def an_escalation_is_undecided(at: Situation) -> bool:
    """A finding was escalated between the last two builds, and no review-feedback follows the latest."""
    return at.undecided is not None


@reads("plan_risk", "plan_author")
def gray_plan_is_not_the_engines(at: Situation) -> bool:
    """The plan is gray, and its author is not review-plan-engine."""
    return bool(at.plan_risk == GRAY and at.plan_author != ENGINE)


@reads("plan_risk", "planner_starts")
def planner_is_undispatched(at: Situation) -> bool:
    """The plan is gray, and the planner has not started since."""
    return bool(at.plan_risk == GRAY and at.planner_starts == 0)


@reads("plan_risk", "planner_starts")
def planner_fell_silent(at: Situation) -> bool:
    """The plan is gray, and the planner started once since."""
    return bool(at.plan_risk == GRAY and at.planner_starts == 1)


@reads("plan_risk")
def plan_is_gray(at: Situation) -> bool:
    """The plan is gray."""
    return bool(at.plan_risk == GRAY)


@reads("nameless_plan")
def planner_named_nobody(at: Situation) -> bool:
    """The invited planner's plan is its first without a roster."""
    return at.nameless_plan


@reads("stalled")
def a_reviewer_stalled(at: Situation) -> bool:
    """A reviewer of the pass started twice or more and wrote no feedback since."""
    return bool(at.stalled)


@reads("retry")
def a_reviewer_fell_silent(at: Situation) -> bool:
    """A reviewer of the pass started once and wrote no feedback since."""
    return bool(at.retry)


@reads("undispatched")
def a_reviewer_is_undispatched(at: Situation) -> bool:
    """A reviewer of the pass neither started nor answered since the build-pass."""
    return bool(at.undispatched)


@reads("refused")
def feedback_repeats_below_the_bar(at: Situation) -> bool:
    """The first failing feedback is below the bar for the second time in this pass."""
    return at.refused is not None and bool(at.refused["repeats"])


@reads("refused")
def feedback_fails_gate(at: Situation) -> bool:
    """A current feedback fails its gate or the bar."""
    return at.refused is not None


@reads("empty_dissent")
def a_dissent_is_empty(at: Situation) -> bool:
    """A reviewer of the pass dissents without a finding."""
    return bool(at.empty_dissent)


@reads("churners")
def a_pass_churns(at: Situation) -> bool:
    """A full-roster reviewer dissented substantively three times or more since the build-pass."""
    return bool(at.churners)


@reads("round", "substantive_dissent")
def past_the_round_cap(at: Situation) -> bool:
    """The round is above three, and a reviewer of the pass dissents substantively."""
    return at.round > ROUND_CAP and bool(at.substantive_dissent)


@reads("truncation_run")
def truncations_run_on(at: Situation) -> bool:
    """Three passes or more in a row, this one included, drew nothing but truncated dissent."""
    return at.truncation_run >= RETRY_CAP


@reads("dissent", "escalate_findings")
def an_approval_escalates(at: Situation) -> bool:
    """All reviewers of the pass approve, and a finding is tagged escalate."""
    return not at.dissent and at.escalate_findings > 0


@reads("dissent", "owners")
def nobody_owns_a_finding(at: Situation) -> bool:
    """A reviewer of the pass dissents, and no finding has an owner."""
    return bool(at.dissent) and not at.owners


@reads("dissent")
def a_reviewer_dissents(at: Situation) -> bool:
    """A reviewer of the pass dissents."""
    return bool(at.dissent)


@reads("outstanding_stalled")
def a_dropped_dissenter_stalled(at: Situation) -> bool:
    """A dissenter from outside the pass started twice or more since its feedback."""
    return bool(at.outstanding_stalled)


@reads("outstanding")
def a_dropped_reviewer_dissents(at: Situation) -> bool:
    """The latest feedback of a reviewer from outside the pass is dissent of this design cycle."""
    return bool(at.outstanding)


@reads("grade", "waiting_refactors")
def graded_and_a_refactor_waits(at: Situation) -> bool:
    """This build is graded, and another slice waits for this one."""
    return at.grade is not None and bool(at.waiting_refactors)


@reads("grade")
def graded(at: Situation) -> bool:
    """This build is graded."""
    return at.grade is not None


@reads("grading_off", "waiting_refactors")
def ungraded_and_a_refactor_waits(at: Situation) -> bool:
    """The layout's harness.auto_grade is false, and another slice waits for this one."""
    return at.grading_off and bool(at.waiting_refactors)


@reads("grading_off")
def grading_is_off(at: Situation) -> bool:
    """The layout's harness.auto_grade is false."""
    return at.grading_off
