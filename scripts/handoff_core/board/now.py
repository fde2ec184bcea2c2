"""What happens now and what a person must do: route's decision set against the agents at work.

Follows view.md 5.4, 5.5 and 6. Imports `records`, `jsonl` when a command is shown, and the board's parts.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.clock import age
from handoff_core.board.dispatches import RETURNED
from handoff_core.board.forms import duration, listed
from handoff_core.board.rows import block, cleaned, items, line_numbers, text, texts
from handoff_core.board.words import PERSON, at_work, gone_quiet, label, sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from handoff_core.board.dispatches import Dispatch, Limits
    from handoff_core.board.findings import Finding
    from handoff_core.board.rows import Row, Slice
    from handoff_core.board.steps import Step

ESCALATION_RULES = ("escalate-finding-halt", "escalate-on-approved")
HALT_NOTE = " After this dispatch the pipeline halts: a finding was escalated to you."
GRADER_NOTE = " The grader writes no start record; it may be at work already."

LONGEST_MINUTES = 1_000_000_000
"""More minutes than this in a layout count as this many; whole numbers there know no bound."""

NO_NAME_DECISION = {
    "decision": "blocked",
    "rule": "missing-req-id",
    "reason": "these records name no slice",
}
"""The decision on records without a req_id, which route cannot be asked about (view.md 2)."""


class Decision:
    """Route's decision on a slice, and, when lines are bad, the one on the readable records alone."""

    __slots__ = ("made", "readable")

    def __init__(self, made: Mapping[str, Any], readable: Mapping[str, Any] | None) -> None:
        self.made = made
        self.readable = readable

    @property
    def basis(self) -> Mapping[str, Any]:
        """Return the decision that says where the slice stands."""
        return self.made if self.readable is None else self.readable

    @property
    def complete(self) -> bool:
        """Say whether the slice is done."""
        return is_complete(self.basis)


def is_complete(decision: Mapping[str, Any]) -> bool:
    """Say whether a decision is that the slice is done."""
    return bool(decision["decision"] == "blocked" and decision["rule"] == "feature-complete")


class Scene:
    """A slice at this moment: its decision, its open dispatches and findings, and the limits of the layout."""

    __slots__ = ("decision", "findings", "group", "limits", "open", "questions")

    def __init__(
        self,
        group: Slice,
        decision: Decision,
        opened: list[Dispatch],
        findings: list[Finding],
        limits: Limits,
        questions: Mapping[str | None, Row],
    ) -> None:
        self.group = group
        self.decision = decision
        self.open = opened
        self.findings = findings
        self.limits = limits
        self.questions = questions

    @property
    def quiet(self) -> list[Dispatch]:
        """Return the open dispatches nobody seems to work on."""
        return [each for each in self.open if each.quiet]

    @property
    def running(self) -> list[Dispatch]:
        """Return the open dispatches that may be at work."""
        return [each for each in self.open if each.running]

    @property
    def age(self) -> float | None:
        """Return the seconds since the last record."""
        return age(self.group.clock, self.group.rows[-1].moment)

    @property
    def halts(self) -> bool:
        """Say whether the pipeline stops after the dispatch that is due."""
        made = self.decision.made
        return made["rule"] == "process-findings" and bool((made.get("context") or {}).get("halt_after"))


def state(scene: Scene) -> str:
    """Return the state of a slice, the first of view.md 5.5 that holds."""
    basis, kind = scene.decision.basis, scene.decision.basis["decision"]
    if scene.decision.complete:
        return "done"
    if scene.decision.readable is not None:
        return "held"
    if kind == "blocked":
        elsewhere = basis["rule"] == "human-consultation" and basis.get("req_id") != scene.group.req_id
        return "paused" if elsewhere else "needs-you"
    if scene.open:
        return "working" if scene.running else "stalled"
    if kind == "escalate":
        return "escalated"
    quiet_for = scene.age
    return "idle" if quiet_for is not None and quiet_for >= scene.limits.idle else "ready"


def _labels(dispatches: list[Dispatch]) -> list[str]:
    return [label(each.agent) for each in dispatches]


def headline(scene: Scene, named: str) -> str:
    """Return the one sentence that says what happens now."""
    if named == "held":
        return "Route stops here until the log is repaired."
    if named == "working":
        quiet = f"; {gone_quiet(_labels(scene.quiet))}" if scene.quiet else ""
        return f"{at_work(_labels(scene.running))}{quiet}."
    if named == "stalled":
        if _all_returned(scene):
            return f"{listed(_labels(scene.quiet))} ended without a record."
        return f"{gone_quiet(_labels(scene.quiet))}."
    said = sentence(scene.decision.basis)
    return f"Paused by {_asking_slice(scene)}: {said}" if named == "paused" else said


def _asking_slice(scene: Scene) -> str:
    return text(scene.decision.basis.get("req_id")) or "?"


def _all_returned(scene: Scene) -> bool:
    return all(each.health == RETURNED for each in scene.quiet)


def person(scene: Scene, named: str) -> dict[str, Any]:
    """Return whether a person is needed, for what kind of thing, and the words for it."""
    needed, kind, said = _person(scene, named)
    if scene.halts and named in ("ready", "working", "idle"):
        said += HALT_NOTE
    return {"needed": needed, "kind": kind, "text": said}


def _person(scene: Scene, named: str) -> tuple[bool, str, str]:
    basis = scene.decision.basis
    if named == "held":
        return True, "repair", "Repair the log first."
    if named == "paused":
        return True, "answer", f"Answer the question of {_asking_slice(scene)} first."
    if named in ("done", "needs-you"):
        return (True, *PERSON.get(basis["rule"], ("decide", "Decide.")))
    if named == "stalled" and _all_returned(scene):
        return True, "check", "Root should run `route`; it asks again."
    if named in ("working", "stalled"):
        if not scene.quiet:
            return False, "none", "Nothing to decide."
        over = f"Look at the session of {listed(_labels(scene.quiet))}; it is over its limit."
        return True, "check", f"{over} When it has ended, root runs `route`."
    if named == "escalated":
        return False, "none", "The rules do not decide this; root asks the pipeline-coordinator."
    if named == "idle":
        alive = "See that the root session is alive; it should run `route`."
        return True, "check", f"Nothing has happened for {duration(scene.age)}. {alive}"
    grader = GRADER_NOTE if basis.get("next") == [r.GRADER] else ""
    return False, "none", f"Nothing to decide. Root dispatches next.{grader}"


def points(scene: Scene) -> list[str]:
    """Return what a person must decide, point by point."""
    made = scene.decision.made
    rule = made["rule"]
    if rule == "design-conflict":
        return texts((made.get("context") or {}).get("escalations"))
    if rule in ESCALATION_RULES or scene.halts:
        return [_escalation(each) for each in scene.findings if each.tag == "escalate" and each.status == "open"]
    failure = scene.group.latest(r.BUILD_FAILURE) if rule == "abort-prerequisite" else None
    if failure is None:
        return []
    written = (block(failure.record.get(field)) for field in ("error_output", "attempted"))
    return [words.split("\n", 1)[0] for words in written if words]


def _escalation(finding: Finding) -> str:
    place = " ".join(filter(None, (finding.id, finding.location)))
    return f"{place}: {text(finding.item.get('description')) or '?'}"


def question(scene: Scene) -> tuple[dict[str, Any] | None, str | None]:
    """Return the question that waits for the human and the command that answers it, None without one."""
    made = scene.decision.made
    asked = scene.questions.get(made.get("req_id")) if made["rule"] == "human-consultation" else None
    if asked is None:
        return None, None
    record = asked.record
    shown = {
        "line": asked.line,
        "req_id": text(record.get("req_id")),
        "from": text(record.get("author")),
        "question": block(record.get("question")),
        "context": block(record.get("context")),
        "stop_state": block(record.get("stop_state")),
        "age_seconds": age(scene.group.clock, asked.moment),
    }
    return shown, answer_command(record.get("req_id"), asked.line)


def answer_command(req_id: object, line: int) -> str:
    """Return the shell command that records an answer; the id is JSON, so nothing in it ends the text early."""
    from handoff_core.jsonl import dump_ascii

    return (
        "python3 scripts/handoff.py append consultation-response <<'EOF'\n"
        f'{{"type": "consultation-response", "req_id": {dump_ascii(req_id)},\n'
        f' "author": "human", "in_response_to": {line}, "answer": "…"}}\n'
        "EOF"
    )


def now_json(scene: Scene) -> dict[str, Any]:
    """Return what happens now as the Board holds it (view.md 5.5)."""
    made, readable = scene.decision.made, scene.decision.readable
    named = state(scene)
    asked, command = question(scene)
    context = made.get("context") or {}
    errors = [*items(made.get("errors")), *items(context.get("errors"))]
    return {
        "state": named,
        "decision": made["decision"],
        "rule": text(made["rule"]),
        "next": texts(made.get("next")),
        "req_id": text(made.get("req_id")),
        "reason": text(made.get("reason")),
        "context": cleaned(context),
        "errors": texts(errors),
        "headline": headline(scene, named),
        "person": person(scene, named),
        "points": points(scene),
        "question": asked,
        "command": command,
        "line": scene.group.rows[-1].line,
        "age_seconds": scene.age,
        "readable": readable
        and {"decision": readable["decision"], "rule": text(readable["rule"]), "next": texts(readable.get("next"))},
    }


def working_json(scene: Scene, steps: list[Step]) -> list[dict[str, Any]]:
    """Return the open dispatches in line order as the Board holds them (view.md 5.4)."""
    stage_of = {step.line: step.stage for step in steps}
    fixed = fixed_by(scene.findings) if scene.open else {}
    return [
        _working_json(each, scene, stage_of[each.start.line], fixed.get(each.start.line, [])) for each in scene.open
    ]


def _working_json(dispatch: Dispatch, scene: Scene, stage: str, fixes: list[str]) -> dict[str, Any]:
    start, clock = dispatch.start, scene.group.clock
    responding_to = start.record.get("responding_to")
    limit = dispatch.limit
    return {
        "agent": text(start.author),
        "label": label(start.author),
        "line": start.line,
        "stage": stage,
        "started": start.moment,
        "age_seconds": age(clock, start.moment),
        "quiet_seconds": age(clock, dispatch.last_sign),
        "limit_seconds": int(limit) if limit == int(limit) else limit,
        "sign": dispatch.sign,
        "health": dispatch.health,
        "fixes": fixes,
        "responding_to": line_numbers(responding_to) if isinstance(responding_to, list) else None,
    }


def fixed_by(findings: list[Finding]) -> dict[int, list[str]]:
    """Return, by the line at which a dispatch starts, the ids of the findings it fixes."""
    found: dict[int, list[str]] = {}
    for each in findings:
        for line in {fix.start for fix in each.fixes if fix.start is not None}:
            found.setdefault(line, []).append(each.id)
    return found


def limit_seconds(value: object) -> float | None:
    """Return a layout's minutes as seconds, None if it is no number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return min(value, LONGEST_MINUTES) * 60.0 if value > 0 else None
