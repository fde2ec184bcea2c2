"""The Board: where every slice of a ledger stands, as one value that four renderers print.

Follows view.md 5. A pure function of the ledger, the decisions, the layout's values, the costs and a clock that is
handed in: no file, environment, clock or process is touched here. A key that begins with `_` is for the drawings: the
JSON form leaves it out.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board import dispatches as dispatching
from handoff_core.board.clock import age
from handoff_core.board.dispatches import Limits
from handoff_core.board.events import event
from handoff_core.board.findings import OPEN_STATUSES, findings
from handoff_core.board.now import Decision, Scene, fixed_by, now_json, working_json
from handoff_core.board.reviews import reviews, reviews_json
from handoff_core.board.rows import AUTOFIXES, block, cleaned, is_int, items, line_numbers, members, name, slices, text
from handoff_core.board.steps import GRADE, answered_dissent, steps
from handoff_core.board.times import Times
from handoff_core.board.trust import Evidence, kinds, marks
from handoff_core.board.words import STATE_ORDER, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from handoff_core.board.clock import Moment, Zone
    from handoff_core.board.costs import Costs
    from handoff_core.board.dispatches import Dispatch
    from handoff_core.board.findings import Finding
    from handoff_core.board.reviews import Reviews
    from handoff_core.board.rows import Row, Slice
    from handoff_core.board.steps import Step
    from handoff_core.ledger import Entry

    Board = dict[str, Any]

SCHEMA_VERSION = "1.0"


class Filters:
    """What of a board is listed; every filter that is given must hold (view.md 1).

    `since` is a line (`("line", n)`) or an instant (`("moment", m)`), None without one.
    """

    __slots__ = ("agents", "open", "since", "since_given", "types")

    def __init__(
        self,
        agents: Sequence[str] = (),
        types: Sequence[str] = (),
        since: tuple[str, int] | None = None,
        since_given: str = "",
        *,
        open_only: bool = False,
    ) -> None:
        self.agents = list(agents)
        self.types = list(types)
        self.since = since
        self.since_given = since_given
        self.open = open_only

    def __bool__(self) -> bool:
        """Say whether anything is narrowed."""
        return bool(self.agents or self.types or self.since or self.open)

    def json(self) -> dict[str, Any]:
        """Return the filters that are given."""
        given = {"agent": cleaned(self.agents), "type": cleaned(self.types), "since": cleaned(self.since_given)}
        return {**{key: value for key, value in given.items() if value}, **({"open": True} if self.open else {})}

    def keep_step(self, step: Step) -> bool:
        """Say whether a step is listed."""
        if self.agents and not any(_is_agent(step.agent, wanted) for wanted in self.agents):
            return False
        if self.types and not any(row.type in self.types for row in step.all_rows):
            return False
        if self.open and not (step.dispatch is not None and step.dispatch.state == dispatching.OPEN):
            return False
        return self._is_recent(step.first)

    def keep_finding(self, finding: Finding) -> bool:
        """Say whether a finding is listed."""
        involved = (finding.feedback.author, finding.owner)
        if self.agents and not any(_is_agent(agent, wanted) for wanted in self.agents for agent in involved):
            return False
        if self.types and r.REVIEW_FEEDBACK not in self.types:
            return False
        if self.open and finding.status not in OPEN_STATUSES:
            return False
        return self._is_recent(finding.feedback)

    def _is_recent(self, row: Row) -> bool:
        if self.since is None:
            return True
        kind, bound = self.since
        if kind == "line":
            return row.line > bound
        return row.moment is not None and row.moment >= bound


def _is_agent(agent: str | None, wanted: str) -> bool:
    return agent is not None and wanted in (agent, label(agent))


class Facts:
    """What a Board is made from besides the ledger.

    `decisions` are route's by slice; `violations` schema errors by line; `known` the record types there are; `seal`
    and `log` the parts of the Board of that name; `chosen` says of which slices there is a board, by their ids in
    list order and the active one.
    """

    __slots__ = (
        "at_line",
        "chosen",
        "clock",
        "costs",
        "decisions",
        "extras",
        "filters",
        "known",
        "limits",
        "notes",
        "path",
        "seal",
        "state",
        "violations",
        "zone",
    )

    def __init__(  # noqa: PLR0913 - each fact is handed in by its name
        self,
        clock: Moment,
        zone: Zone,
        *,
        decisions: Mapping[str | None, Decision],
        state: str,
        path: str,
        seal: dict[str, Any],
        violations: dict[int, list[str]] | None = None,
        known: frozenset[str] = r.TYPES,
        limits: Limits | None = None,
        extras: Sequence[str] = (),
        filters: Filters | None = None,
        costs: Costs | None = None,
        notes: Sequence[str] = (),
        at_line: int | None = None,
        chosen: Callable[[list[str | None], str | None], list[str | None]] | None = None,
    ) -> None:
        self.clock = clock
        self.zone = zone
        self.decisions = decisions
        self.state = state
        self.path = path
        self.seal = seal
        self.violations = violations or {}
        self.known = known
        self.limits = limits or Limits()
        self.extras = list(extras)
        self.filters = filters or Filters()
        self.costs = costs
        self.notes = list(notes)
        self.at_line = at_line
        self.chosen = chosen or (lambda listed, _active: listed)


def board(entries: Sequence[Entry], problems: Sequence[Mapping[str, Any]], line_count: int, facts: Facts) -> Board:
    """Return the Board of a ledger (view.md 5); instants in it are `Moment`s, lengths of time `Seconds`.

    `entries` are the lines that can be read, `problems` `{line, kind, text}` of the others. The same arguments give
    the same Board, and neither is changed.
    """
    groups = slices(entries, facts.clock)
    log = _Log(facts, frozenset(line for line, _ in entries), _questions(groups))
    models = {group.req_id: _SliceModel(group, log) for group in groups}
    active = name(entries[-1][1].get("req_id")) if entries else None
    ordered = sorted(models.values(), key=_list_order)
    chosen = facts.chosen([model.group.req_id for model in ordered], active) if models else []
    listed = [model for model in ordered if not (facts.filters.open and model.state == "done")]
    return {
        "schema_version": SCHEMA_VERSION,
        "generated": {
            "at": facts.clock,
            "tz": facts.zone.name,
            "at_line": facts.at_line,
            "filters": facts.filters.json(),
        },
        "log": {
            "path": cleaned(facts.path),
            "state": facts.state,
            "lines": line_count,
            "records": len(entries),
            "slices": len(groups),
            "active": text(active),
        },
        "problems": [dict(problem) for problem in problems],
        "seal": facts.seal,
        "notes": [cleaned(note) for note in facts.notes],
        "slices": [model.summary() for model in listed],
        "boards": [models[req_id].json() for req_id in chosen],
        "_names": [text(group.req_id) for group in groups if group.req_id is not None],
    }


def _list_order(model: _SliceModel) -> tuple[bool, int, int]:
    """Return what the slice list is sorted by: the nameless slice last, then by state, then the later line."""
    return model.group.req_id is None, STATE_ORDER[model.state], -model.group.rows[-1].line


def _questions(groups: list[Slice]) -> dict[str | None, Row]:
    """Return the last consultation-request of each slice: if one waits for the human, it is that one."""
    found = {group.req_id: group.latest(r.CONSULTATION_REQUEST) for group in groups}
    return {req_id: row for req_id, row in found.items() if row is not None}


class _Log:
    """What all slices of a log share."""

    def __init__(self, facts: Facts, readable: frozenset[int], questions: Mapping[str | None, Row]) -> None:
        self.facts = facts
        self.readable = readable
        self.questions = questions
        self.raw = frozenset(facts.seal["raw_lines"])
        self.unsealed = frozenset(facts.seal["unsealed_lines"])
        self.signs = facts.costs.signs if facts.costs else {}


class _SliceModel:
    """Everything that is worked out about one slice; a part that only its own board shows is made when asked for."""

    def __init__(self, group: Slice, log: _Log) -> None:
        facts = log.facts
        self.group = group
        self.log = log
        decision = facts.decisions[group.req_id]
        self.dispatches: list[Dispatch] = dispatching.dispatches(group)
        opened = dispatching.judge(group, self.dispatches, facts.limits, log.signs, complete=decision.complete)
        self.reviews: Reviews = reviews(group, facts.extras, complete=decision.complete)
        self.findings: list[Finding] = findings(group, self.reviews, self.dispatches)
        self.scene = Scene(group, decision, opened, self.findings, facts.limits, log.questions)
        self.steps: list[Step] = steps(group, self.dispatches, self.reviews)
        self.now = now_json(self.scene)
        self.times = Times(group, self.steps)
        self.marks = marks(
            Evidence(
                group,
                self.dispatches,
                violations=facts.violations,
                known=facts.known,
                readable=log.readable,
                faults=self.times.faults,
                raw=log.raw,
                unsealed=log.unsealed,
                first_bad=facts.seal["first_bad"],
            )
        )

    @property
    def state(self) -> str:
        """Return the state of the slice."""
        return str(self.now["state"])

    def summary(self) -> dict[str, Any]:
        """Return the line of the slice list (view.md 5.14)."""
        grade = self.grade()
        counts = self.counts()
        money = self.money()
        basis = self.now["readable"] or self.now
        return {
            "req_id": text(self.group.req_id),
            "title": self.title(),
            "state": self.state,
            "lines": self.lines(),
            "headline": self.now["headline"],
            "next": basis["next"],
            "rule": self.now["rule"],
            "person": self.now["person"]["needed"],
            "working": [text(each.agent) or "?" for each in self.scene.open],
            "rounds": counts["rounds"],
            "findings_open": counts["findings_open"],
            "findings_critical_open": counts["findings_critical_open"],
            "grade": grade["verdict"] if grade else None,
            "age_seconds": self.now["age_seconds"],
            "wall_seconds": self.times.json()["wall_seconds"],
            "usd": money["total"]["usd"] if money else None,
            "marks": len(self.marks),
        }

    def json(self) -> dict[str, Any]:
        """Return the slice's board (view.md 5.2 to 5.13)."""
        filters = self.log.facts.filters
        kept_steps = [step for step in self.steps if filters.keep_step(step)]
        kept_findings = [finding for finding in self.findings if filters.keep_finding(finding)]
        return {
            "req_id": text(self.group.req_id),
            "title": self.title(),
            "state": self.state,
            "lines": self.lines(),
            "counts": self.counts(),
            "now": self.now,
            "working": working_json(self.scene, self.steps),
            "reviews": reviews_json(self.reviews, self.findings, self.dispatches, self.group),
            "findings": [finding.json() for finding in kept_findings],
            "steps": self.step_list(kept_steps),
            "lanes": self.lanes(),
            "time": self.times.json(),
            "consultations": self.consultations(),
            "grade": self.grade(),
            "money": self.money(),
            "trust": {"marks": self.marks, "kinds": kinds(self.marks)},
            "shown": {
                "steps": [len(kept_steps), len(self.steps)],
                "findings": [len(kept_findings), len(self.findings)],
            }
            if filters
            else None,
            "_stages": self.stage_starts(),
        }

    def stage_starts(self) -> list[tuple[str, Moment]]:
        """Return each stage with the first usable stamp of a step of it; filters don't narrow the timeline."""
        found: dict[str, Moment] = {}
        for step in self.steps:
            if step.first.usable is not None:
                found.setdefault(step.stage, step.first.usable)
        return list(found.items())

    def lines(self) -> list[int]:
        """Return the first and the last line of the slice."""
        return [self.group.rows[0].line, self.group.rows[-1].line]

    def title(self) -> str | None:
        """Return the title of the latest prd-entry with one, else the first sentence of the request."""
        for row in reversed(self.group.of(r.PRD_ENTRY)):
            if title := text(row.record.get("title")):
                return title
        intake = next(iter(self.group.of(r.INTAKE_DECISION)), None)
        request = block(intake.record.get("request")) if intake else None
        return first_sentence(request) if request else None

    def counts(self) -> dict[str, int]:
        """Return the numbers of the head (view.md 5.2)."""
        group = self.group
        opened = [finding for finding in self.findings if finding.status in OPEN_STATUSES]
        feedbacks = group.of(r.REVIEW_FEEDBACK)
        said = (item for row in feedbacks for item in items(row.record.get("recommendations")))
        return {
            "records": len(group.rows),
            "rounds": sum(each.first is not None for each in self.reviews.rounds),
            "build_passes": len(group.of(r.BUILD_PASS)),
            "build_failures": len(group.of(r.BUILD_FAILURE)),
            "dispatches": len(self.dispatches),
            "findings": sum(finding.is_new for finding in self.findings),
            "findings_open": len(opened),
            "findings_critical_open": sum(finding.severity == "critical" for finding in opened),
            "consultations": len(group.of(r.CONSULTATION_REQUEST)),
            "autofixes": len(group.of(*AUTOFIXES)),
            "recommendations": sum(isinstance(item, str) for item in said),
        }

    def money(self) -> dict[str, Any] | None:
        """Return what the slice cost, None where no transcript tells."""
        costs = self.log.facts.costs
        if costs is None or self.group.req_id not in costs.slices:
            return None
        from handoff_core.board.money import money_json

        return money_json(costs.slices[self.group.req_id], costs.prices, self.steps)

    def grade(self) -> dict[str, Any] | None:
        """Return the latest grade (view.md 5.12), None without one."""
        row = self.group.latest(r.GRADER_VERDICT)
        if row is None:
            return None
        build = self.group.latest(r.BUILD_PASS)
        facets = members(row.record.get("facets")).items()
        return {
            "line": row.line,
            "verdict": text(row.record.get("verdict")),
            "summary": block(row.record.get("summary")),
            "rationale": block(row.record.get("rationale")),
            "facets": [
                {"name": cleaned(facet), "verdict": text(judged.get("verdict")), "note": block(judged.get("note"))}
                for facet, judged in facets
                if isinstance(judged, dict)
            ],
            "stale": build is not None and build.line > row.line,
        }

    def consultations(self) -> list[dict[str, Any]]:
        """Return each question with its answer (view.md 5.11)."""
        answers: dict[int, Row] = {}
        for row in self.group.of(r.CONSULTATION_RESPONSE):
            asked = row.record.get("in_response_to")
            if is_int(asked) and asked < row.line:
                answers.setdefault(asked, row)
        return [self._consultation(row, answers.get(row.line)) for row in self.group.of(r.CONSULTATION_REQUEST)]

    def _consultation(self, row: Row, answer: Row | None) -> dict[str, Any]:
        return {
            "line": row.line,
            "from": text(row.author),
            "to": text(row.record.get("target")),
            "question": block(row.record.get("question")),
            "answer_line": answer.line if answer else None,
            "answer": block(answer.record.get("answer")) if answer else None,
            "seconds": self.group.duration(row, answer)[0] if answer else None,
        }

    def step_list(self, kept: list[Step]) -> list[dict[str, Any]]:
        """Return steps as the Board holds them (view.md 5.9)."""
        flags: dict[int, list[str]] = {}
        for mark in self.marks:
            flags.setdefault(mark["line"], []).append(mark["kind"])
        costs = self.log.facts.costs
        money: dict[int, dict[str, Any]] = {}
        if costs is not None and self.group.req_id in costs.slices:
            from handoff_core.board.money import step_money

            money = step_money(costs.slices[self.group.req_id], costs.prices)
        fixed = fixed_by(self.findings)
        return [self._step(step, flags, money.get(step.line), fixed.get(step.line, [])) for step in kept]

    def _step(
        self, step: Step, flags: dict[int, list[str]], money: dict[str, Any] | None, fixes: list[str]
    ) -> dict[str, Any]:
        dispatch = step.dispatch
        seconds, reliable = step.duration(self.group)
        responding_to = step.first.record.get("responding_to")
        opened = dispatch is not None and dispatch.state == dispatching.OPEN
        kinds_here = [kind for row in step.all_rows for kind in flags.get(row.line, [])]
        return {
            "id": f"s{step.line}",
            "line": step.line,
            "lines": [row.line for row in step.all_rows],
            "kind": "dispatch" if dispatch else "record",
            "agent": text(step.agent),
            "label": label(step.agent),
            "stage": step.stage,
            "state": dispatch.state if dispatch else dispatching.ANSWERED if step.graded else None,
            "start": step.first.moment,
            "end": step.last.moment if step.timed or dispatch is None else None,
            "seconds": seconds,
            "reliable": reliable,
            "responding_to": line_numbers(responding_to) if isinstance(responding_to, list) else None,
            "answers": answered_dissent(step, self.group),
            "fixes": fixes,
            "records": [event(row, self.reviews.unused) for row in step.rows],
            "flags": list(dict.fromkeys(kinds_here)),
            "money": money,
            "health": dispatch.health if dispatch else None,
            "quiet_seconds": age(self.group.clock, dispatch.last_sign) if opened and dispatch else None,
        }

    def lanes(self) -> list[dict[str, Any]]:
        """Return one lane per agent in the order of first dispatch, with its bars (view.md 5.10)."""
        lanes: dict[str | None, list[Step]] = {}
        for step in self.steps:
            if step.dispatch is not None or step.stage == GRADE:
                lanes.setdefault(step.agent, []).append(step)
        return [
            {"agent": text(agent), "label": label(agent), "bars": [self._bar(step) for step in found]}
            for agent, found in lanes.items()
        ]

    def _bar(self, step: Step) -> dict[str, Any]:
        dispatch = step.dispatch
        state = dispatch.state if dispatch else dispatching.ANSWERED
        end = step.last.usable if state == dispatching.ANSWERED else None
        if state == dispatching.OPEN:
            end = self.log.facts.clock
        return {
            "step": f"s{step.line}",
            "start": step.first.usable,
            "end": end,
            "state": state,
            "stage": step.stage,
            "quiet_from": step.quiet_from(),
        }


def first_sentence(words: str) -> str:
    """Return the first sentence of a text, or its first line if that ends earlier."""
    line = words.split("\n", 1)[0]
    for index, character in enumerate(line[:-1]):
        if character in ".!?" and line[index + 1] == " ":
            return line[: index + 1]
    return line
