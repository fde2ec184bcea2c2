"""The board's own words: labels of agents, states, verdict cells, and a sentence for every rule of route.

Follows view.md 5.1, 5.6, 6 and 7. Imports `records`, `text_view` and `board.forms`.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.forms import listed
from handoff_core.text_view import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LABEL_LIMIT = 24
COORDINATOR = "pipeline-coordinator"
REVIEWER_SUFFIX = "-reviewer"
NAMELESS = "(no req_id)"
UNTITLED = "(untitled)"

LABELS = {
    r.PRODUCT: "prd-expert",
    r.DESIGNER: "design",
    r.IMPLEMENTER: "implementer",
    r.ROUTINE: "implementer",
    r.PLANNER: "planner",
    r.ENGINE: "plan-engine",
    r.GRADER: "grader",
    COORDINATOR: "coord",
}


def label(agent: object) -> str:
    """Return the short name of an agent, `?` for what is no name (view.md 5.1)."""
    if not isinstance(agent, str) or not agent:
        return "?"
    known = LABELS.get(agent)
    if known is None:
        known = clean(agent.removesuffix(REVIEWER_SUFFIX)) or clean(agent) or "?"
    return known if len(known) <= LABEL_LIMIT else known[: LABEL_LIMIT - 1] + "…"


def is_reviewer(agent: object) -> bool:
    """Say whether an agent's name is a reviewer's."""
    return isinstance(agent, str) and agent.endswith(REVIEWER_SUFFIX)


STATES = {
    "needs-you": ("NEEDS YOU", "1;31"),
    "held": ("HELD", "1;31"),
    "stalled": ("STALLED", "1;33"),
    "escalated": ("ESCALATED", "1;33"),
    "idle": ("IDLE", "1;33"),
    "working": ("WORKING", "1;36"),
    "ready": ("READY", "1;36"),
    "paused": ("PAUSED", "1;33"),
    "done": ("DONE", "1;32"),
}
"""State: its word and its colour, in the order of the slice list (view.md 5.14 and 7)."""

STATE_ORDER = {state: place for place, state in enumerate(STATES)}

CELLS = {
    "approved": ("✔", "approved"),
    "changes_requested": ("✎", "changes requested"),
    "blocked": ("✖", "blocked"),
    "other": ("•", "other verdict"),
    "open": ("◌", "at work"),
    "quiet": ("!", "gone quiet"),
    "awaited": ("○", "awaited"),
    "silent": ("·", "no answer"),
    "not-asked": ("–", "not asked"),
}
"""State of a cell of the review matrix: its glyph and its word, in the order of the legend."""

GAP_NOTES = {
    "unauthored": "(ignored: not invited by the engine; full roster)",
    "invalid": "(ignored: no usable roster; full roster)",
    "undecided": "(undecided)",
}

CALM_GRADES = ("skim", "clear")

SENTENCES = {
    "intake-ready": "The request is recorded; scope it.",
    "prd-approved": "The scope is written; triage the design.",
    "design-approved": "The design passed; implement it.",
    "reviews-needed": "The build passed; review it.",
    "process-findings": "Reviewers asked for changes; fix them.",
    "grade": "Every reviewer approved; grade the change.",
    "grade-continue": "The features are extracted; finish the grade.",
    "consultation-dispatch": "{requester} asked {next} a question.",
    "consultation-return": "The answer is in; {next} resumes.",
    "plan-gray": "The engine left the roster open; the planner chooses it.",
    "refactor-resume": "The refactoring is done; return to {original_req_id}.",
    "outstanding-dissent": "A reviewer outside this plan still disagrees; ask again.",
    "build-retry": "The gate failed, attempt {retry} of 3; try again.",
    "build-non-convergence": "The gate failed {failures} times; triage the design again.",
    "truncation-continue": "The implementer stopped without a result, {continuation} of 3; continue.",
    "truncation-non-convergence": "The implementer stopped {continuations} times without a result; triage again.",
    "planner-stall-retry": "The planner was started and has not answered; ask once more.",
    "reviewer-stall-retry": "A reviewer was started and has not answered; ask once more.",
    "reviewer-empty-findings": "A reviewer disagreed without naming a finding; ask again.",
    "abort-wrong-shape": "The slice has the wrong shape; split it again.",
    "abort-design-mismatch": "The design does not fit; triage it again.",
    "abort-prd-mismatch": "The requirement does not fit; reconcile it.",
    "prd-gate-failed": "The prd-entry failed its gate; write it again.",
    "design-gate-failed": "The design-block failed its gate; write it again.",
    "build-record-invalid": "The build record failed its gate; write it again.",
    "review-record-invalid": "A review failed its gate; write it again.",
    "plan-gray-invalid": "Only the engine may leave a roster open; plan again.",
    "plan-roster-invalid": "The plan names no reviewers; plan again.",
    "consultation-invalid": "A consultation record is not usable; write it again.",
    "no-active-slice": "Nothing is recorded yet.",
    "no-substantive-record": "No record says where this slice stands.",
    "refactor-first": "A refactoring must come first.",
    "truncation-before-design": "The implementer started before a design exists.",
    "truncation-undefined": "{author} was started and has not answered.",
    "failure-without-design": "A build failed and no design exists.",
    "abort-unknown": "The implementer aborted for a reason the rules do not know.",
    "review-without-build-pass": "Reviews exist, but no build passed.",
    "autofix-only-round": "Only document autofixes are left.",
    "unroutable-state": "No rule matches.",
    "dirty-log": "The log is damaged; route stops every slice.",
    "layout-unreadable": "scripts/layout.toml cannot be read; route stops every slice.",
    "layout-invalid": "extra_reviewers in scripts/layout.toml is not a list of names.",
    "missing-req-id": "The last record names no slice.",
    "unknown-req-id": "The log holds no record of this slice.",
    "intake-record-invalid": "The recorded request failed its gate.",
    "design-conflict": "The design conflicts with what exists.",
    "abort-prerequisite": "The implementer needs something from outside.",
    "human-consultation": "{requester} asks you a question.",
    "escalate-finding-halt": "A reviewer escalated a finding to you.",
    "escalate-on-approved": "Approved, but with a finding escalated to you.",
    "planner-stalled": "The planner was started twice and never answered.",
    "reviewer-stalled": "{stalled} was started twice and never answered.",
    "review-non-convergence": "The reviews do not converge ({cause}).",
    "feature-complete": "Every reviewer approved; the slice is complete.",
}
"""What happens now, by rule (view.md 6)."""

_SHOW_LAST = "See the last line: `show --last 1`. A record with a req_id must follow it."
_REPAIR_LINES = (
    "Repair the lines named below; `validate` lists them, `validate --repair-tail` removes a torn last line."
)
_DECIDE_FINDING = "Decide the finding; a reviewer must then review again."
_ANSWER = "Answer it in the root session, which records your words, or record the answer yourself."

PERSON = {
    "dirty-log": ("repair", _REPAIR_LINES),
    "layout-unreadable": ("repair", "Correct scripts/layout.toml."),
    "layout-invalid": ("repair", "Correct [harness] extra_reviewers in scripts/layout.toml."),
    "missing-req-id": ("repair", _SHOW_LAST),
    "unknown-req-id": ("repair", "Check the name of the slice."),
    "intake-record-invalid": ("decide", "Record the request again: append intake-decision."),
    "design-conflict": (
        "decide",
        "Decide each point below; the designer then appends a superseding design-block.",
    ),
    "abort-prerequisite": (
        "decide",
        "Provide what the build-failure names, then have the implementer dispatched again.",
    ),
    "human-consultation": ("answer", _ANSWER),
    "escalate-finding-halt": ("decide", _DECIDE_FINDING),
    "escalate-on-approved": ("decide", _DECIDE_FINDING),
    "planner-stalled": ("decide", "Look at its session, then choose the reviewers by hand."),
    "reviewer-stalled": (
        "decide",
        "Look at its session, then decide: start it again or settle the review by hand.",
    ),
    "review-non-convergence": ("decide", "Read the open findings and settle what blocks the merge."),
    "consultation-invalid": (
        "repair",
        "Correct the consultation: append a response that names the request.",
    ),
    "feature-complete": ("merge", "Read the change, then merge it or send it back."),
}
"""What a person must do when a rule blocks: kind and text (view.md 6)."""


def sentence(decision: Mapping[str, Any]) -> str:
    """Return the sentence of a decision's rule with its names and numbers filled in (view.md 6)."""
    rule = decision["rule"]
    pattern = SENTENCES.get(rule)
    if pattern is None:
        return clean(rule)
    if "{" not in pattern:
        return pattern
    return pattern.format_map(_Facts(decision))


class _Facts(dict[str, str]):
    """The fields a sentence may name, looked up in the decision and its context; what is missing is `?`."""

    def __init__(self, decision: Mapping[str, Any]) -> None:
        super().__init__()
        self._context = decision.get("context") or {}
        self._next = decision.get("next") or []

    def __missing__(self, name: str) -> str:
        if name == "next":
            return " and ".join(map(label, self._next)) or "?"
        value = self._context.get(name)
        if name in ("requester", "author"):
            return label(value)
        if name == "stalled":
            return ", ".join(map(label, value or [])) or "?"
        return "?" if value is None or value == "" else clean(str(value))


def at_work(labels: list[str]) -> str:
    """Return `a is at work`, `a and b are at work`."""
    return f"{listed(labels)} {'is' if len(labels) == 1 else 'are'} at work"


def gone_quiet(labels: list[str]) -> str:
    """Return `a has gone quiet`, `a and b have gone quiet`."""
    return f"{listed(labels)} {'has' if len(labels) == 1 else 'have'} gone quiet"
