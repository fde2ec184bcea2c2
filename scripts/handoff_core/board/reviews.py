"""Review rounds: who was asked by which plan, who answered what, and what was left open after each.

Follows view.md 5.6. Imports `records`, `board.rows`, `board.dispatches`, `board.clock`, `board.words`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from handoff_core import records as r
from handoff_core.board.clock import Doubtful
from handoff_core.board.rows import AUTOFIXES, block, cleaned, items, members, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.clock import Seconds
    from handoff_core.board.dispatches import Dispatch
    from handoff_core.board.findings import Finding
    from handoff_core.board.rows import Row, Slice

REOPENERS = (*AUTOFIXES, r.PRD_ENTRY, r.DESIGN_BLOCK, r.BUILD_FAILURE)
"""Records after which a second feedback of a reviewer is a new review, not a correction."""

NOBODY = "?"
"""Stands for the reviewer of a feedback that names no author."""


class Plan:
    """A review-plan of a round's window; `gap` says why its roster does not count, `earlier` lists older plans."""

    __slots__ = ("earlier", "gap", "row")

    def __init__(self, row: Row, earlier: list[int], gap: str | None) -> None:
        self.row = row
        self.earlier = earlier
        self.gap = gap


class Round:
    """One review round; `said` holds each reviewer's feedbacks in it, the last of which counts."""

    __slots__ = ("asked", "build_pass", "current", "feedbacks", "gap", "n", "plan", "said")

    def __init__(self, n: int, build_pass: Row | None) -> None:
        self.n = n
        self.build_pass = build_pass
        self.feedbacks: list[Row] = []
        self.said: dict[str, list[Row]] = {}
        self.plan: Plan | None = None
        self.gap: str | None = None
        self.asked: list[str] = []
        self.current = False

    def add(self, row: Row) -> None:
        """Note a feedback."""
        self.feedbacks.append(row)
        self.said.setdefault(reviewer_of(row), []).append(row)

    def answer(self, reviewer: str) -> Row | None:
        """Return the feedback of a reviewer that counts in this round, None if there is none."""
        rows = self.said.get(reviewer)
        return rows[-1] if rows else None

    @property
    def first(self) -> int | None:
        """Return the line of the first feedback."""
        return self.feedbacks[0].line if self.feedbacks else None

    @property
    def build_line(self) -> int:
        """Return the line of the build-pass, 0 without one."""
        return self.build_pass.line if self.build_pass else 0


class Reviews:
    """The rounds of a slice, with the reviewers in matrix order and the lines of plans that nobody used."""

    __slots__ = ("firsts", "reviewers", "rounds", "unused")

    def __init__(self, rounds: list[Round], reviewers: list[str], unused: set[int]) -> None:
        self.rounds = rounds
        self.reviewers = reviewers
        self.unused = unused
        self.firsts = [each.first for each in rounds if each.first is not None]

    def begun(self, line: int) -> int:
        """Return the number of rounds whose first feedback stands before a line."""
        return bisect_left(self.firsts, line)

    def next_of(self, after: Round, reviewer: str) -> Round | None:
        """Return the next round in which a reviewer speaks, None without one."""
        return next((each for each in self.rounds[after.n :] if reviewer in each.said), None)


def reviewer_of(row: Row) -> str:
    """Return the reviewer of a feedback."""
    return row.author or NOBODY


def full_roster(extras: list[str]) -> list[str]:
    """Return the floor, then the extra reviewers of the layout, each once (route.md 5)."""
    return list(dict.fromkeys([*r.FLOOR, *extras]))


def reviews(group: Slice, extras: list[str], *, complete: bool) -> Reviews:
    """Return the review rounds of a slice (view.md 5.6)."""
    rounds = _rounds(group)
    builds = group.of(r.BUILD_PASS)
    if builds and not complete and (not rounds or builds[-1].line > rounds[-1].feedbacks[0].line):
        rounds.append(Round(len(rounds) + 1, builds[-1]))
    if rounds:
        rounds[-1].current = not complete
    roster = full_roster(extras)
    unused = _unused_plans(group)
    for index, each in enumerate(rounds):
        _set_plan(each, rounds[index - 1] if index else None, rounds[index + 1 :], group, roster, unused)
    speakers = [reviewer for each in rounds for reviewer in each.said]
    return Reviews(rounds, list(dict.fromkeys([*roster, *speakers])), unused)


def _rounds(group: Slice) -> list[Round]:
    rounds: list[Round] = []
    build: Row | None = None
    reopened = 0
    for row in group.rows:
        if row.type == r.BUILD_PASS:
            build = row
        elif row.type in REOPENERS:
            reopened = row.line
        elif row.type == r.REVIEW_FEEDBACK:
            if not rounds or _opens_round(rounds[-1], row, build, reopened):
                rounds.append(Round(len(rounds) + 1, build))
            rounds[-1].add(row)
    return rounds


def _opens_round(current: Round, row: Row, build: Row | None, reopened: int) -> bool:
    if build is not None and build.line > current.feedbacks[0].line:
        return True
    before = current.answer(reviewer_of(row))
    return before is not None and reopened > before.line


def _unused_plans(group: Slice) -> set[int]:
    """Return the lines of plans that a build-pass follows before any feedback."""
    unused: set[int] = set()
    waiting: list[int] = []
    for row in group.of(r.REVIEW_PLAN, r.BUILD_PASS, r.REVIEW_FEEDBACK):
        if row.type == r.REVIEW_PLAN:
            waiting.append(row.line)
            continue
        if row.type == r.BUILD_PASS:
            unused.update(waiting)
        waiting = []
    return unused


def _set_plan(
    each: Round, before: Round | None, later: list[Round], group: Slice, roster: list[str], unused: set[int]
) -> None:
    """Find the plan of a round and whom it asked."""
    if before is not None and before.build_pass is each.build_pass:
        return  # a re-review after a document fix has no plan of its own
    if each.build_pass is None:
        each.asked = list(roster)
        return
    end = next((other.build_line for other in later if other.build_pass is not each.build_pass), None)
    window = [row for row in group.of(r.REVIEW_PLAN) if row.line > each.build_line and (end is None or row.line < end)]
    used = [row for row in window if row.line not in unused]
    if not used:
        each.gap, each.asked = "no-plan", list(roster)
        return
    plan = used[-1]
    older = [row for row in window if row.line < plan.line]
    each.gap = _gap(plan, older, roster)
    each.plan = Plan(plan, [row.line for row in older], each.gap)
    named = items(plan.record.get("roster"))
    if each.gap is None:
        each.asked = [name for name in roster if name in named]
    elif each.gap != "undecided":
        each.asked = list(roster)


def _gap(plan: Row, older: list[Row], roster: list[str]) -> str | None:
    """Return why a plan's roster does not count, None if it does."""
    if plan.record.get("risk") == "gray":
        return "undecided"
    invited = any(row.author == r.ENGINE and row.record.get("risk") == "gray" for row in older)
    if plan.author != r.ENGINE and not (plan.author == r.PLANNER and invited):
        return "unauthored"
    named = items(plan.record.get("roster"))
    return None if named and all(name in roster for name in named) else "invalid"


def plan_json(plan: Plan | None) -> dict[str, Any] | None:
    """Return a round's plan as the Board holds it."""
    if plan is None:
        return None
    record = plan.row.record
    basis = members(record.get("basis"))
    surface = members(basis.get("security_surface"))
    return {
        "line": plan.row.line,
        "author": text(record.get("author")),
        "risk": text(record.get("risk")),
        "scope": text(record.get("scope")),
        "roster": texts(record.get("roster")),
        "why": block(record.get("rationale")),
        "pass": text(basis.get("pass")),
        "triggers": [str(cleaned(item)) for item in items(basis.get("triggers"))],
        "files": _length(basis.get("files")),
        "size": cleaned(basis["size"]) if isinstance(basis.get("size"), dict) else None,
        "open_findings": _length(basis.get("open_findings")),
        "security_paths": _length(surface.get("paths")),
        "gap": plan.gap,
        "earlier": plan.earlier,
    }


def _length(value: object) -> int | None:
    return len(value) if isinstance(value, list) else None


def reviews_json(found: Reviews, findings: list[Finding], dispatches: list[Dispatch], group: Slice) -> dict[str, Any]:
    """Return the review matrix as the Board holds it."""
    owner = {row.line: dispatch for dispatch in dispatches for row in dispatch.owned}
    awaited = {dispatch.agent: dispatch for dispatch in dispatches if dispatch.running or dispatch.quiet}
    sums = round_sums(found, findings)
    names = {reviewer: text(reviewer) or NOBODY for reviewer in found.reviewers}
    rounds = []
    for each, summed in zip(found.rounds, sums, strict=True):
        cells = {shown: _cell(each, name, owner, awaited, group) for name, shown in names.items()}
        rounds.append({**_round_json(each), "cells": cells, **summed})
    return {"reviewers": list(names.values()), "rounds": rounds}


def round_sums(found: Reviews, findings: list[Finding]) -> list[dict[str, int]]:
    """Return for each round how many findings it raised and closed, and how many were open when it was over."""
    length = len(found.rounds)
    opened, closed = [0] * length, [0] * length
    change, critical = [0] * (length + 1), [0] * (length + 1)
    for finding in findings:
        if finding.is_new:
            opened[finding.round - 1] += 1
        if finding.closed_round is not None:
            closed[finding.closed_round - 1] += 1
        if finding.counts:
            for changes in (change, critical) if finding.severity == "critical" else (change,):
                changes[finding.round - 1] += 1
                changes[_round_over(finding, found) - 1] -= 1
    left = zip(accumulate(change), accumulate(critical), strict=True)
    keys = ("opened", "closed", "open", "critical_open")
    rows = zip(opened, closed, left, strict=False)
    return [dict(zip(keys, (new, old, *rest), strict=True)) for new, old, rest in rows]


def _round_over(finding: Finding, found: Reviews) -> int:
    """Return the first round after which a finding is no longer open, one past the last if it still is."""
    if finding.status == "repeated" and finding.round_again is not None:
        return finding.round_again
    if finding.status == "closed" and finding.closed_round is not None:
        return finding.closed_round
    if finding.status == "void" and finding.closed_at is not None:
        # A round is over when the first feedback of the next one comes.
        return max(bisect_right(found.firsts, finding.closed_at), finding.round)
    return len(found.rounds) + 1


def _round_json(each: Round) -> dict[str, Any]:
    return {
        "n": each.n,
        "build_pass": each.build_pass.line if each.build_pass else None,
        "first": each.first,
        "last": each.feedbacks[-1].line if each.feedbacks else None,
        "current": each.current,
        "plan": plan_json(each.plan),
        "gap": each.gap,
        "roster": [text(name) or NOBODY for name in each.asked],
    }


def _cell(
    each: Round,
    reviewer: str,
    owner: dict[int, Dispatch],
    awaited: dict[str | None, Dispatch],
    group: Slice,
) -> dict[str, Any]:
    answer = each.answer(reviewer)
    if answer is not None:
        return _answer_cell(answer, owner.get(answer.line), group)
    return _waiting_cell(each, reviewer, awaited.get(reviewer))


def _answer_cell(answer: Row, dispatch: Dispatch | None, group: Slice) -> dict[str, Any]:
    verdict = answer.record.get("verdict")
    raised = [item for item in items(answer.record.get("findings")) if isinstance(item, dict)]
    seconds: Seconds | None = None
    if dispatch is not None:
        seconds, reliable = group.duration(dispatch.start, answer)
        if seconds is not None and not reliable:
            seconds = Doubtful(seconds)
    return {
        "state": verdict if verdict in ("approved", "changes_requested", "blocked") else "other",
        "findings": len(raised),
        "critical": sum(item.get("severity") == "critical" for item in raised),
        "line": answer.line,
        "seconds": seconds,
    }


def _waiting_cell(each: Round, reviewer: str, dispatch: Dispatch | None) -> dict[str, Any]:
    if each.current and dispatch is not None:
        state, line = ("quiet" if dispatch.quiet else "open"), dispatch.start.line
    else:
        asked = "awaited" if each.current else "silent"
        state, line = (asked if reviewer in each.asked else "not-asked"), None
    return {"state": state, "findings": 0, "critical": 0, "line": line, "seconds": None}
