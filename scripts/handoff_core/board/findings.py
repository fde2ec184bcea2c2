"""Findings: what the reviewers raised, who owns it, which records fix it, and what became of it.

Follows view.md 5.7. Imports `records`, `board.rows`, `board.reviews`, `board.dispatches`.
"""

from __future__ import annotations

from bisect import bisect_left

from handoff_core import records as r
from handoff_core.board.dispatches import OPEN, SILENT
from handoff_core.board.reviews import reviewer_of
from handoff_core.board.rows import AUTOFIXES, block, is_int, items, members, text
from handoff_core.board.words import is_reviewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.dispatches import Dispatch
    from handoff_core.board.reviews import Reviews, Round
    from handoff_core.board.rows import Row, Slice

OPEN_STATUSES = ("open", "fixing", "fixed")
CLOSED_STATUSES = ("closed", "void")
PATH_ENDS = " :#("


class Fix:
    """A record or a dispatch that answers a finding; `line` is None while it is open."""

    __slots__ = ("agent", "how", "line", "start", "type")

    def __init__(self, how: str, agent: str | None, line: int | None, start: int | None, kind: str | None) -> None:
        self.how = how
        self.agent = agent
        self.line = line
        self.start = start
        self.type = kind

    def json(self) -> dict[str, Any]:
        """Return the fix as the Board holds it."""
        return {
            "line": self.line,
            "start": self.start,
            "agent": text(self.agent),
            "type": self.type,
            "how": self.how,
            "open": self.line is None,
        }


class Finding:
    """One finding of a feedback, with its status and its fixes."""

    __slots__ = (
        "closed_at",
        "closed_round",
        "continued_as",
        "continues",
        "feedback",
        "fixes",
        "following",
        "id",
        "index",
        "item",
        "location",
        "owner",
        "path",
        "replaced",
        "reviewer",
        "round",
        "round_again",
        "severity",
        "status",
        "tag",
    )

    def __init__(self, feedback: Row, index: int, item: dict[str, Any], number: int) -> None:
        self.feedback = feedback
        self.index = index
        self.item = item
        self.id = f"L{feedback.line}.{index}"
        self.round = number
        self.reviewer = reviewer_of(feedback)
        self.tag = text(item.get("tag"))
        self.severity = text(item.get("severity"))
        self.location = text(item.get("location"))
        self.path = None if self.location is None else path_of(self.location)
        self.owner = _owner(item, self.tag)
        self.following: Round | None = None
        self.replaced = False
        self.continues: str | None = None
        self.continued_as: str | None = None
        self.round_again: int | None = None
        self.fixes: list[Fix] = []
        self.status = "open"
        self.closed_at: int | None = None
        self.closed_round: int | None = None

    @property
    def line(self) -> int:
        """Return the line of the feedback."""
        return self.feedback.line

    @property
    def next_answer(self) -> Row | None:
        """Return what the reviewer said in the next round in which they spoke, None if they did not."""
        return self.following.answer(self.reviewer) if self.following else None

    @property
    def counts(self) -> bool:
        """Say whether this is a defect at all: no note, and not taken back."""
        return self.status not in ("note", "replaced")

    @property
    def is_new(self) -> bool:
        """Say whether the finding counts as raised: it repeats no earlier one."""
        return self.counts and self.continues is None

    def same_defect(self, other: Finding) -> bool:
        """Say whether another finding names the same path and the same place or the same words."""
        if self.path != other.path:
            return False
        if self.location is not None and self.location == other.location:
            return True
        mine = self.item.get("description")
        return isinstance(mine, str) and mine == other.item.get("description")

    def json(self) -> dict[str, Any]:
        """Return the finding as the Board holds it."""
        return {
            "id": self.id,
            "line": self.line,
            "index": self.index,
            "round": self.round,
            "reviewer": text(self.feedback.author),
            "tag": self.tag,
            "severity": self.severity,
            "bar_clause": text(self.item.get("bar_clause")),
            "location": self.location,
            "path": self.path,
            "description": block(self.item.get("description")),
            "fix": block(self.item.get("fix")),
            "clarify_target": text(self.item.get("clarify_target")),
            "owner": text(self.owner),
            "fixes": [fix.json() for fix in self.fixes],
            "closed_at": self.closed_at,
            "closed_round": self.closed_round,
            "continued_as": self.continued_as,
            "continues": self.continues,
            "status": self.status,
        }


def path_of(location: str) -> str:
    """Return a location up to the first blank, `:`, `#` or `(`."""
    end = next((index for index, sign in enumerate(location) if sign in PATH_ENDS), len(location))
    return location[:end]


def artifact_owner(location: object) -> str:
    """Return who owns the artifact at a finding's location (route.md 10.7)."""
    path = location.split(":", 1)[0] if isinstance(location, str) else ""
    if path.startswith(r.PRD_PATH):
        return r.PRODUCT
    return r.DESIGNER if path.startswith((r.DESIGN_PATH, r.ADR_FOLDER)) else r.IMPLEMENTER


def _owner(item: dict[str, Any], tag: str | None) -> str:
    if tag == "escalate":
        return r.HUMAN
    target = item.get("clarify_target")
    if tag == "clarify" and isinstance(target, str) and target:
        return target
    return artifact_owner(item.get("location"))


def findings(group: Slice, reviews: Reviews, dispatches: list[Dispatch]) -> list[Finding]:
    """Return every finding of a slice in the order of lines, each with its fixes and its status (view.md 5.7)."""
    found: list[Finding] = []
    for each in reviews.rounds:
        for feedback in each.feedbacks:
            found += _raised(feedback, each)
    found.sort(key=lambda finding: (finding.line, finding.index))
    by_line: dict[int, list[Finding]] = {}
    for finding in found:
        by_line.setdefault(finding.line, []).append(finding)
    for finding in found:
        finding.following = reviews.next_of(reviews.rounds[finding.round - 1], finding.reviewer)
    _link_repeated(found, by_line)
    fixers = [each for each in dispatches if _may_fix(each)]
    autofixes = group.of(*AUTOFIXES)
    for finding in found:
        _settle(finding, group, fixers, autofixes)
    return found


def _raised(feedback: Row, each: Round) -> list[Finding]:
    raised = []
    for index, item in enumerate(items(feedback.record.get("findings")), 1):
        if isinstance(item, dict):
            finding = Finding(feedback, index, item, each.n)
            finding.replaced = each.answer(finding.reviewer) is not feedback
            raised.append(finding)
    return raised


def _link_repeated(found: list[Finding], by_line: dict[int, list[Finding]]) -> None:
    """Tie each finding to the one of the reviewer's next round that raises it again."""
    for finding in found:
        answer = None if finding.replaced else finding.next_answer
        if answer is None or finding.tag == "truncation":
            continue
        again = [other for other in by_line.get(answer.line, ()) if other.tag != "truncation"]
        same = [other for other in again if finding.same_defect(other)]
        fresh = [other for other in same if other.continues is None]
        if same:
            heir = (fresh or same)[0]
            finding.continued_as, finding.round_again = heir.id, heir.round
            heir.continues = heir.continues or finding.id


def _may_fix(dispatch: Dispatch) -> bool:
    return not (is_reviewer(dispatch.agent) or dispatch.agent == r.PLANNER or dispatch.state == SILENT)


def _settle(finding: Finding, group: Slice, fixers: list[Dispatch], autofixes: list[Row]) -> None:
    """Find the fixes of a finding and its status."""
    following, answer = finding.following, finding.next_answer
    if finding.tag not in ("escalate", "truncation") and not finding.replaced:
        end = following.said[finding.reviewer][0].line if following else None
        finding.fixes = _fixes(finding, end, fixers, autofixes)
    if finding.tag == "truncation":
        finding.status = "note"
    elif finding.replaced:
        finding.status = "replaced"
    elif finding.continued_as is not None:
        finding.status = "repeated"
    elif following is not None and answer is not None:
        finding.status = "closed"
        finding.closed_at, finding.closed_round = answer.line, following.n
    else:
        _settle_unconfirmed(finding, group)


def _settle_unconfirmed(finding: Finding, group: Slice) -> None:
    void = next((row.line for row in group.of(r.DESIGN_BLOCK) if row.line > finding.line and supersedes(row, group)), 0)
    if void:
        finding.status, finding.closed_at = "void", void
    elif any(fix.line is not None for fix in finding.fixes):
        finding.status = "fixed"
    elif finding.fixes:
        finding.status = "fixing"


def supersedes(row: Row, group: Slice) -> bool:
    """Say whether a design-block validly replaces an earlier one of its slice (route.md 5)."""
    target = row.record.get("supersedes_record_at")
    if not is_int(target) or target >= row.line:
        return False
    older = group.by_line.get(target)
    return older is not None and older.type == r.DESIGN_BLOCK


def _fixes(finding: Finding, end: int | None, fixers: list[Dispatch], autofixes: list[Row]) -> list[Fix]:
    """Return what fixes a finding before line `end`: autofixes and answers, else the likeliest dispatch (5.7)."""

    def inside(line: int) -> bool:
        return line > finding.line and (end is None or line < end)

    window = fixers[bisect_left(fixers, finding.line, key=_start) :]
    if end is not None:
        window = window[: bisect_left(window, end, key=_start)]
    answering = [each for each in window if finding.line in each.answers]
    owners = [each for each in window if each.agent == finding.owner]
    found = [
        Fix("autofix", row.author, row.line, None, row.type)
        for row in autofixes
        if inside(row.line) and names_finding(row, finding)
    ]
    found += [_dispatched(each, "answers") for each in answering if each.agent == finding.owner]
    if not found and owners:
        found = [_dispatched(owners[0], "owner")]
    if not found and answering:
        found = [_dispatched(answering[0], "answers")]
    return found


def _start(dispatch: Dispatch) -> int:
    return dispatch.start.line


def _dispatched(dispatch: Dispatch, how: str) -> Fix:
    closed = None if dispatch.state == OPEN else dispatch.closed
    line, kind = (closed.line, closed.type) if closed else (None, None)
    return Fix(how, dispatch.agent, line, dispatch.start.line, kind)


def names_finding(row: Row, finding: Finding) -> bool:
    """Say whether an autofix record's `source_finding` is this finding."""
    source = members(row.record.get("source_finding"))
    item = finding.item
    same = all(source.get(key) == item.get(key) for key in ("tag", "location"))
    words = any(isinstance(source.get(key), str) and source[key] == item.get(key) for key in ("fix", "description"))
    return same and words and source.get("review_feedback_author") == finding.feedback.author
