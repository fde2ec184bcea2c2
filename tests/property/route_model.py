"""A second reading of route.md: the decision in plain steps, written from the specification and from nothing else.

It shares no line with the engine; what both are handed is the gate (record -> errors) and the scope delta. Speed and
explanations are no aim. An error is given as the words which it must mention (13.1), for its wording is free.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Record = dict[str, Any]
    Entry = tuple[int, Record]
    Errors = list[tuple[str, ...]]
    Answer = dict[str, Any]

PRODUCT = "product-requirements-expert"
DESIGNER = "system-design-expert"
IMPLEMENTER = "feature-implementer"
ROUTINE = "feature-implementer-routine"
PLANNER = "review-planner"
GRADER = "change-grader"
ENGINE = "review-plan-engine"
FLOOR = ["code-quality-reviewer", "test-reviewer", "security-reviewer", "doc-reviewer"]
SUBSTANTIVE = ["build-pass", "build-failure", "review-feedback", "review-plan", "prd-entry", "design-block",
               "consultation-response", "intake-decision"]  # fmt: skip
BREAKS_SILENCE = [*SUBSTANTIVE, "consultation-request", "grader-features", "grader-verdict"]
NOTE = (
    "Review round {}: critical-only. A defect that must not merge is a finding with severity critical; leftover polish "
    "goes to recommendations on an approved verdict, a question is a clarify finding, and a decision only the human "
    "can take is an escalate finding."
)


# The four outcomes (2)


def dispatch(rule: str, agents: Iterable[str], **context: Any) -> Answer:
    return {"decision": "dispatch", "next": list(agents), "rule": rule, "context": context}


def blocked(rule: str, errors: Errors | None = None, **context: Any) -> Answer:
    return {"decision": "blocked", "rule": rule, "errors": errors or [], "context": context}


def escalate(rule: str, **context: Any) -> Answer:
    return {"decision": "escalate", "rule": rule, "context": context}


def bounce(rule: str, agent: Any, errors: Errors, **context: Any) -> Answer:
    if usable(agent):
        return dispatch(rule, [agent], errors=errors, **context)
    return blocked(rule, errors, **context)


# Words (2, 5)


def is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def names_human(value: object) -> bool:
    return isinstance(value, str) and value.strip().casefold() == "human"


def usable(value: object) -> bool:
    return is_text(value) and not names_human(value)


def listed(record: Record, field: str) -> list[Any]:
    value = record.get(field)
    return value if isinstance(value, list) else []


def findings_of(record: Record) -> list[Record]:
    return [finding for finding in listed(record, "findings") if isinstance(finding, dict)]


def tags_of(record: Record) -> list[Any]:
    return [finding.get("tag") for finding in findings_of(record)]


def dissents(record: Record) -> bool:
    return bool(record.get("verdict") != "approved")


def dissents_substantively(record: Record) -> bool:
    return dissents(record) and any(tag != "truncation" for tag in tags_of(record))


def owner_of(finding: Record) -> str:
    location = finding.get("location")
    path = location.split(":")[0] if isinstance(location, str) else ""
    if path.startswith("docs/prd.md"):
        return PRODUCT
    if path.startswith(("docs/system-design.md", "docs/adr/")):
        return DESIGNER
    return IMPLEMENTER


def below_the_bar(record: Record) -> bool:
    for finding in findings_of(record):
        if finding.get("tag") in ("autofix", "blocked") and finding.get("severity") == "critical":
            return False
        if finding.get("tag") in ("clarify", "escalate", "truncation"):
            return False
    return len(listed(record, "findings")) > 0


def looked_up(layout: Any, *keys: str) -> Any:
    for key in keys:
        layout = layout.get(key) if isinstance(layout, dict) else None
    return layout


class Model:
    """The slice that a decision is about, and the decision."""

    def __init__(
        self,
        log: list[Record],
        layout: Any,
        req_id: str | None,
        gate: Callable[[Record], list[str]],
        delta: Callable[[], list[str] | None],
    ) -> None:
        self.log = list(enumerate(log, 1))
        self.layout = layout
        self.req_id: Any = req_id or (log[-1].get("req_id") if log else None)
        self.gate = gate
        self.delta = delta
        self.slice = [entry for entry in self.log if entry[1].get("req_id") == self.req_id]
        extras = looked_up(layout, "harness", "extra_reviewers")
        self.extras_are_good = extras is None or (isinstance(extras, list) and all(map(is_text, extras)))
        self.roster = list(dict.fromkeys([*FLOOR, *(extras or [])])) if self.extras_are_good else []

    # Finding records

    def every(self, kind: str, after: int = 0) -> list[Entry]:
        return [(line, record) for line, record in self.slice if record.get("type") == kind and line > after]

    def latest(self, kind: str) -> Entry | None:
        found = self.every(kind)
        return found[-1] if found else None

    def schema_errors(self, record: Record) -> Errors:
        return [(text,) for text in self.gate(record)]

    # Choosing the slice (6), the human pause (8.3)

    def decide(self) -> Answer:
        if not self.log:
            return escalate("no-active-slice")
        if not is_text(self.req_id):
            return blocked("missing-req-id")
        answer = self.decide_slice()
        answer.setdefault("req_id", self.req_id)
        return answer

    def decide_slice(self) -> Answer:
        if not self.slice:
            return blocked("unknown-req-id")
        if not self.extras_are_good:
            return blocked("layout-invalid")
        held = self.held()
        if held is not None and held[0] != self.slice[-1][0]:
            asked = held[1]
            answer = blocked("human-consultation", requester=asked.get("author"), question=asked.get("question"))
            answer["req_id"] = asked["req_id"]
            return answer
        return self.by_state()

    def held(self) -> Entry | None:
        pending: dict[str, Entry | None] = {}
        for line, record in self.log:
            slice_id = record.get("req_id")
            if not isinstance(slice_id, str) or not slice_id:
                continue
            if record.get("type") == "consultation-request":
                pending[slice_id] = (line, record) if names_human(record.get("target")) else None
            elif record.get("type") == "consultation-response":
                pending[slice_id] = None
        return min((entry for entry in pending.values() if entry), key=lambda entry: entry[0], default=None)

    # What decides (7)

    def by_state(self) -> Answer:
        last = self.slice[-1][1]
        if last.get("type") == "grader-verdict":
            return self.graded(last)
        if last.get("type") == "grader-features":
            return dispatch("grade-continue", [GRADER])
        start = self.latest("dispatch-start")
        if start and not any(line > start[0] and record.get("type") in BREAKS_SILENCE for line, record in self.slice):
            author = start[1].get("author")
            if author == IMPLEMENTER:
                return self.silent_implementer()
            if author == PLANNER or author in self.roster:
                return self.review()
            return escalate("truncation-undefined", author=author)
        return self.by_substance()

    def by_substance(self) -> Answer:
        substantive = [entry for entry in self.slice if entry[1].get("type") in SUBSTANTIVE]
        request = self.latest("consultation-request")
        if request and (not substantive or request[0] > substantive[-1][0]):
            return self.request(request[1])
        if not substantive:
            return escalate("no-substantive-record")
        line, record = substantive[-1]
        kind = record["type"]
        if kind == "build-failure":
            return self.failure(record)
        if kind == "design-block":
            return self.design(line, record)
        if kind == "prd-entry":
            return self.entry(record)
        if kind == "intake-decision":
            return self.intake(record)
        if kind == "consultation-response":
            return self.response(record)
        return self.review()

    # Consultations (8)

    def request(self, record: Record) -> Answer:
        author, target = record.get("author"), record.get("target")
        errors = self.schema_errors(record)
        if not is_text(target):
            errors.append(("target",))
        if not errors and names_human(target) and target != "human" and not names_human(author):
            errors.append(("human",))
        if errors:
            return bounce("consultation-invalid", author, errors)
        if names_human(target) and names_human(author):
            return blocked("consultation-invalid")
        if target == "human":
            return blocked("human-consultation", requester=author, question=record.get("question"))
        return dispatch("consultation-dispatch", [str(target)], requester=author)

    def response(self, record: Record) -> Answer:
        pointer = record.get("in_response_to")
        asked: Record | None = None
        if isinstance(pointer, (int, float)) and not isinstance(pointer, bool):
            asked = next((other for line, other in self.slice if line == pointer), None)
        errors = self.schema_errors(record)
        author = record.get("author")
        if asked is None or asked.get("type") != "consultation-request":
            errors.append(("in_response_to",))
        elif not isinstance(author, str) or author != asked.get("target"):
            errors.append(("target",))
        elif not is_text(asked.get("author")):
            errors.append(("author",))
        if errors or asked is None:
            return bounce("consultation-invalid", asked and asked.get("target"), errors)
        if names_human(asked.get("author")):
            return blocked("consultation-invalid")
        return dispatch("consultation-return", [asked["author"]], resume=True)

    # Before review (9)

    def silent_implementer(self) -> Answer:
        design = self.latest("design-block")
        if design is None:
            return escalate("truncation-before-design")
        run = 0
        for line, record in self.slice:
            if line > design[0] and record.get("author") == IMPLEMENTER:
                run = run + 1 if record.get("type") == "dispatch-start" else 0
        if run >= 3:
            return dispatch("truncation-non-convergence", [DESIGNER], continuations=run)
        return dispatch("truncation-continue", [IMPLEMENTER], continuation=run, tier_reason="recovery")

    def failure(self, record: Record) -> Answer:
        errors = self.schema_errors(record)
        if errors:
            return bounce("build-record-invalid", IMPLEMENTER, errors)
        reason = record.get("abort_reason")
        if reason:
            aborts = {
                "wrong-shape-slice": dispatch("abort-wrong-shape", [PRODUCT]),
                "design-mismatch": dispatch("abort-design-mismatch", [DESIGNER]),
                "prd-mismatch": dispatch("abort-prd-mismatch", [PRODUCT]),
                "prerequisite-missing": blocked("abort-prerequisite"),
            }
            return aborts.get(reason if isinstance(reason, str) else "", escalate("abort-unknown"))
        design = self.latest("design-block")
        if design is None:
            return escalate("failure-without-design")
        count = len(self.every("build-failure", after=design[0]))
        if count >= 3:
            return dispatch("build-non-convergence", [DESIGNER], failures=count)
        return dispatch(
            "build-retry", [IMPLEMENTER], retry=count, partial=record.get("partial") is True, tier_reason=self.tier()[1]
        )

    def intake(self, record: Record) -> Answer:
        errors = self.schema_errors(record)
        return blocked("intake-record-invalid", errors) if errors else dispatch("intake-ready", [PRODUCT])

    def entry(self, record: Record) -> Answer:
        if record.get("author") == DESIGNER:
            return escalate("refactor-first")
        errors = self.schema_errors(record) or self.scope_errors(record)
        return bounce("prd-gate-failed", PRODUCT, errors) if errors else dispatch("prd-approved", [DESIGNER])

    def scope_errors(self, record: Record) -> Errors:
        delta = self.delta()
        if delta is None:
            return [("docs/prd.md",)]
        errors: Errors = []
        covered = []
        for place, item in enumerate(listed(record, "scope_overrides"), 1):
            named = item.get("non_goal_id") if isinstance(item, dict) else None
            if not isinstance(named, str) or not named:
                errors.append((str(place),))
                continue
            covered.append(named)
            quote = item.get("owner_decision")
            if named not in delta or not isinstance(quote, str) or not quote.strip():
                errors.append((named,))
            elif not self.source_holds(item.get("source"), quote.strip()):
                errors.append((named, *([item["source"]] if isinstance(item.get("source"), str) else [])))
        return errors + [(row,) for row in sorted(delta) if row not in covered]

    def source_holds(self, source: object, quote: str) -> bool:
        if source == "dispatch":
            return not any(r.get("type") == "intake-decision" and r.get("author") == "human" for _, r in self.log)
        found = re.fullmatch("(intake|consultation):([1-9][0-9]{0,8})", source) if isinstance(source, str) else None
        record = dict(self.slice).get(int(found[2])) if found else None
        if not found or record is None or record.get("author") != "human":
            return False
        if found[1] == "intake":
            said = listed(record, "decisions")
            return record.get("type") == "intake-decision" and any(
                isinstance(one, str) and quote in one for one in said
            )
        answer = record.get("answer")
        return record.get("type") == "consultation-response" and isinstance(answer, str) and quote in answer

    def supersedes(self, line: int, record: Record) -> bool:
        pointer = record.get("supersedes_record_at")
        blocks = [other for other, _ in self.every("design-block")]
        return isinstance(pointer, int) and pointer is not True and pointer < line and pointer in blocks

    def design(self, line: int, record: Record) -> Answer:
        verdict = record.get("verdict")
        if verdict == "conflicting":
            escalations = record.get("escalations", [])
            errors: Errors = [] if escalations else [("escalations",)]
            return blocked("design-conflict", errors, escalations=escalations)
        if verdict == "refactor-first":
            return escalate("refactor-first")
        errors = self.schema_errors(record)
        if record.get("supersedes_record_at") is not None and not self.supersedes(line, record):
            errors.append(("supersedes_record_at",))
        if not errors and verdict not in ("covered", "minor", "new", "foundational"):
            errors.append(("verdict",))
        if errors:
            return bounce("design-gate-failed", DESIGNER, errors)
        agent, reason = self.tier()
        return dispatch("design-approved", [agent], verdict=verdict, tier_reason=reason)

    # Effort tier (11)

    def tier(self) -> tuple[str, str]:
        fold = Tier()
        for _, record in self.slice:
            fold.take(record)
        return fold.choose()

    # Review (10)

    def review(self) -> Answer:
        passes = self.every("build-pass")
        if not passes:
            return escalate("review-without-build-pass")
        built, build = passes[-1]
        before = passes[-2][0] if len(passes) > 1 else 0
        errors = self.schema_errors(build)
        if errors:
            return bounce("build-record-invalid", IMPLEMENTER, errors)
        undecided = any(line < built and "escalate" in tags_of(r) for line, r in self.every("review-feedback", before))
        if undecided and not self.every("review-feedback", after=built):
            return blocked("escalate-finding-halt")
        return self.planned(built)

    def planned(self, built: int) -> Answer:
        plans = self.every("review-plan", after=built)
        if not plans:
            return self.reviewed(built, self.roster)
        line, plan = plans[-1]
        author = plan.get("author")
        if plan.get("risk") == "gray":
            return self.gray(line, author)
        roster = listed(plan, "roster")
        trusted = author == ENGINE
        if author == PLANNER:
            earlier = [other for _, other in plans[:-1]]
            trusted = any(other.get("risk") == "gray" and other.get("author") == ENGINE for other in earlier)
            twice = any(other.get("author") == PLANNER and not listed(other, "roster") for other in earlier)
            if trusted and not roster and not twice:
                return bounce("plan-roster-invalid", PLANNER, [("roster",)])
        if not trusted or not roster or any(name not in self.roster for name in roster):
            return self.reviewed(built, self.roster)
        return self.reviewed(built, [name for name in self.roster if name in roster])

    def gray(self, line: int, author: object) -> Answer:
        if author != ENGINE:
            return bounce("plan-gray-invalid", PLANNER, [("gray",)])
        starts = sum(record.get("author") == PLANNER for _, record in self.every("dispatch-start", after=line))
        if starts == 0:
            return dispatch("plan-gray", [PLANNER])
        return dispatch("planner-stall-retry", [PLANNER]) if starts == 1 else blocked("planner-stalled")

    def cycle_start(self) -> int:
        return max((line for line, record in self.every("design-block") if self.supersedes(line, record)), default=0)

    def windows(self, built: int) -> list[list[Record]]:
        """Return the latest feedback of each full-roster reviewer in each window, oldest window first (10.3)."""
        passes = [line for line, _ in self.every("build-pass", after=self.cycle_start()) if line <= built]
        return [self.current(self.roster, start, end) for start, end in itertools.pairwise(passes)]

    def current(self, roster: list[str], after: int, before: float = float("inf")) -> list[Record]:
        latest: dict[str, Record] = {}
        for line, record in self.every("review-feedback", after=after):
            if line < before and record.get("author") in roster:
                latest[record["author"]] = record
        return [latest[name] for name in roster if name in latest]

    def reviewed(self, built: int, roster: list[str]) -> Answer:
        windows = self.windows(built)
        number = 1 + sum(any(map(dissents_substantively, window)) for window in windows)
        context: Record = {"round": number, "prompt_note": f"Review round {number}."}
        if number >= 3:
            context = {"round": number, "finding_bar": "critical-only", "prompt_note": NOTE.format(number)}
        owed = self.owed(built, roster, context)
        if owed:
            return owed
        refused = self.refused(built, roster, context)
        if refused:
            return refused
        current = self.current(roster, built)
        dissent = [record["author"] for record in current if dissents(record)]
        empty = [record["author"] for record in current if dissents(record) and not findings_of(record)]
        if empty:
            return dispatch("reviewer-empty-findings", empty, **context)
        return self.ceiling(built, windows, current, number) or (
            self.split(current, number) if dissent else self.approved(built, roster, current, number)
        )

    def owed(self, built: int, roster: list[str], context: Record) -> Answer | None:
        silent: dict[str, int] = {}
        fed_back = set()
        for line, record in self.slice:
            author = record.get("author")
            if line <= built or author not in roster:
                continue
            if record.get("type") == "review-feedback":
                fed_back.add(author)
                silent[author] = 0
            elif record.get("type") == "dispatch-start":
                silent[author] = silent.get(author, 0) + 1
        stalled = [name for name in roster if silent.get(name, 0) >= 2]
        retry = [name for name in roster if silent.get(name, 0) == 1]
        undispatched = [name for name in roster if not silent.get(name) and name not in fed_back]
        if stalled:
            return blocked("reviewer-stalled", stalled=stalled)
        if retry:
            return dispatch("reviewer-stall-retry", retry + undispatched, **context)
        return dispatch("reviews-needed", undispatched, **context) if undispatched else None

    def refused(self, built: int, roster: list[str], context: Record) -> Answer | None:
        number = context["round"]
        for record in self.current(roster, built):
            name = record["author"]
            errors = self.schema_errors(record) + self.finding_errors(record)
            low = record.get("verdict") in ("changes_requested", "blocked") and below_the_bar(record)
            if number >= 3 and low:
                mine = [other for _, other in self.every("review-feedback", built) if other.get("author") == name]
                if any(dissents(other) and below_the_bar(other) for other in mine[:-1]):
                    return blocked("review-non-convergence", cause="bounce-repeat", reviewer=name, round=number)
                errors.append(("critical-only", str(number)))
            if errors:
                return bounce("review-record-invalid", name, errors, **context)
        return None

    @staticmethod
    def finding_errors(record: Record) -> Errors:
        errors: Errors = []
        for place, finding in enumerate(listed(record, "findings"), 1):
            if not isinstance(finding, dict):
                continue
            tag = finding.get("tag")
            if tag == "clarify" and not is_text(finding.get("clarify_target")):
                errors.append(("clarify_target", str(place)))
            if tag in ("autofix", "blocked") and not is_text(finding.get("severity")):
                errors.append(("severity", str(place)))
            if tag in ("autofix", "blocked") and not dissents(record):
                errors.append(("approved", str(place)))
        return errors

    def ceiling(self, built: int, windows: list[list[Record]], current: list[Record], number: int) -> Answer | None:
        rule = "review-non-convergence"
        counts = dict.fromkeys(self.roster, 0)
        for _, record in self.every("review-feedback", after=built):
            if record.get("author") in self.roster and dissents_substantively(record):
                counts[record["author"]] += 1
        churners = sorted(name for name, count in counts.items() if count >= 3)
        if churners:
            return blocked(rule, cause="pass-churn", round=number, dissenters=churners)
        substantive = sorted(record["author"] for record in current if dissents_substantively(record))
        escalations = self.escalations(current)
        if number > 3 and substantive:
            extra: dict[str, Any] = {"escalate_findings": escalations} if escalations else {}
            return blocked(rule, cause="round-cap", round=number, dissenters=substantive, **extra)
        dissent = sorted(record["author"] for record in current if dissents(record))
        if not dissent or substantive:
            return None
        run = 1
        for window in reversed(windows):
            if not any(map(dissents, window)) or any(map(dissents_substantively, window)):
                break
            run += 1
        return blocked(rule, cause="truncation-run", round=number, dissenters=dissent) if run >= 3 else None

    @staticmethod
    def escalations(current: list[Record]) -> int:
        return sum(tags_of(record).count("escalate") for record in current)

    def split(self, current: list[Record], number: int) -> Answer:
        escalations = self.escalations(current)
        owners = {IMPLEMENTER} if escalations else set()
        autofixes = 0
        for record in current:
            for finding in findings_of(record):
                owner, tag = owner_of(finding), finding.get("tag")
                if dissents(record) and tag == "autofix" and owner != IMPLEMENTER:
                    autofixes += 1
                elif dissents(record) or tag == "escalate":
                    owners.add(owner)
        if not owners:
            return escalate("autofix-only-round", root_autofix=autofixes)
        agent, reason = self.tier()
        context: Record = {
            "reviewers": sorted(record["author"] for record in current if dissents(record)),
            "escalate_findings": escalations,
            "root_autofix": autofixes,
            "round": number,
        }
        if escalations:
            context["halt_after"] = True
        if IMPLEMENTER in owners:
            context["tier_reason"] = reason
        ordered = [name for name in (IMPLEMENTER, PRODUCT, DESIGNER) if name in owners]
        return dispatch("process-findings", [agent if name == IMPLEMENTER else name for name in ordered], **context)

    def approved(self, built: int, roster: list[str], current: list[Record], number: int) -> Answer:
        escalations = self.escalations(current)
        if escalations:
            return blocked("escalate-on-approved", escalate_findings=escalations)
        dropped = [name for name in self.roster if name not in roster]
        outstanding = [r["author"] for r in self.current(dropped, self.cycle_start()) if dissents(r)]
        stalled = [name for name in outstanding if self.starts_since_feedback(name) >= 2]
        if stalled:
            return blocked("reviewer-stalled", stalled=stalled)
        if outstanding:
            return dispatch("outstanding-dissent", outstanding, round=number, prompt_note=f"Review round {number}.")
        grades = self.every("grader-verdict", after=built)
        if grades:
            return self.graded(grades[-1][1])
        waiting = self.waiting()
        if looked_up(self.layout, "harness", "auto_grade") is not False:
            return dispatch("grade", [GRADER])
        if waiting:
            return dispatch("refactor-resume", [DESIGNER], original_req_id=waiting[0])
        return blocked("feature-complete")

    def starts_since_feedback(self, name: str) -> int:
        line = max(line for line, record in self.every("review-feedback") if record.get("author") == name)
        return sum(record.get("author") == name for _, record in self.every("dispatch-start", after=line))

    # Completion (12)

    def graded(self, grade: Record) -> Answer:
        waiting = self.waiting()
        verdict = grade.get("verdict")
        if waiting:
            return dispatch("refactor-resume", [DESIGNER], original_req_id=waiting[0], verdict=verdict)
        return blocked("feature-complete", verdict=verdict)

    def waiting(self) -> list[str]:
        verdicts: dict[str, Any] = {}
        for _, record in self.log:
            if record.get("type") == "design-block" and is_text(record.get("req_id")):
                verdicts[record["req_id"]] = record.get("verdict")
        return sorted(name for name, verdict in verdicts.items() if verdict == "refactor-first" and name != self.req_id)


class Tier:
    """The fold of section 11, a method for each kind of record."""

    def __init__(self) -> None:
        self.retired = self.active = self.open_initial = self.closed_initial = False
        self.rating: str | None = None
        self.open: str | None = None
        self.closed: str | None = None
        self.ok: bool | None = None
        self.mode = "fresh"

    def settle(self) -> None:
        if self.mode == "fix" and self.closed == ROUTINE and self.closed_initial and self.ok is False:
            self.retired = True

    def choose(self) -> tuple[str, str]:
        self.settle()
        if not self.active:
            return IMPLEMENTER, "effort:unrated"
        if self.retired:
            return IMPLEMENTER, "routine-retired"
        if self.mode == "fix":
            return (ROUTINE, "fix-round:all-autofix") if self.ok else (IMPLEMENTER, "fix-round:mixed")
        if self.mode == "fresh" and self.rating == "routine":
            return ROUTINE, "initial:rated-routine"
        reasons = {"fresh": "initial", "reviewed": "no-substantive-dissent", "retry": "recovery"}
        return IMPLEMENTER, reasons[self.mode]

    def take(self, record: Record) -> None:
        kind = record.get("type")
        if kind == "design-block":
            self.take_design(record.get("implementation_effort"))
        elif kind == "dispatch-start" and record.get("author") == IMPLEMENTER and self.open is None:
            self.open_initial = self.mode == "fresh"
            self.open = self.choose()[0]
        elif kind == "build-failure":
            self.retired = self.retired or self.open != IMPLEMENTER
            self.mode = "retry"
        elif kind == "build-pass":
            self.closed, self.closed_initial = self.open, self.open_initial
            self.open, self.open_initial, self.ok, self.mode = None, False, None, "reviewed"
        elif kind == "review-feedback":
            self.take_feedback(record)

    def take_design(self, effort: object) -> None:
        self.settle()
        self.rating = effort if isinstance(effort, str) else None
        self.active = self.active or self.rating is not None
        self.mode, self.ok, self.open, self.open_initial = "fresh", None, None, False

    def take_feedback(self, record: Record) -> None:
        written, findings, tags = record.get("findings"), findings_of(record), tags_of(record)
        if self.ok is None:
            self.ok = True
        if not isinstance(written, list) or len(findings) < len(written) or "escalate" in tags:
            self.ok = False
        if not dissents(record) or (tags and all(tag == "truncation" for tag in tags)):
            return
        if not findings:
            self.ok = False
        if self.closed != IMPLEMENTER and not self.closed_initial:
            self.retired = True
        self.mode = "fix"
        if any(owner_of(finding) == IMPLEMENTER and finding.get("tag") != "autofix" for finding in findings):
            self.ok = False
