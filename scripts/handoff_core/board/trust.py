"""Trust marks: what about the records of a slice does not fit together.

Follows view.md 5.13: a table of marks with a function beside each. Imports `records`, `text` and the board's parts.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.clock import Seconds
from handoff_core.board.dispatches import NEVER_OWNED, SILENT
from handoff_core.board.findings import supersedes
from handoff_core.board.forms import duration
from handoff_core.board.rows import AUTOFIXES, is_int, items, members
from handoff_core.board.words import is_reviewer, label
from handoff_core.text import quote
from handoff_core.text_view import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from handoff_core.board.dispatches import Dispatch
    from handoff_core.board.rows import Row, Slice
    from handoff_core.board.times import Fault

    Marked = Iterator[tuple[Row, str]]


class Evidence:
    """What the marks of a slice are judged by, besides its own rows.

    `faults` are those of its clock, `violations` schema errors by line, `known` the record types there are, `readable`
    the lines of the whole log that can be read; `raw`, `unsealed` and `first_bad` are lines of the seal.
    """

    __slots__ = (
        "dispatches",
        "faults",
        "first_bad",
        "group",
        "known",
        "owned",
        "raw",
        "readable",
        "unsealed",
        "violations",
    )

    def __init__(  # noqa: PLR0913 - each fact is handed in by its name
        self,
        group: Slice,
        dispatches: list[Dispatch],
        *,
        faults: list[Fault],
        violations: dict[int, list[str]],
        known: frozenset[str],
        readable: frozenset[int],
        raw: frozenset[int],
        unsealed: frozenset[int],
        first_bad: int | None,
    ) -> None:
        self.group = group
        self.dispatches = {dispatch.start.line: dispatch for dispatch in dispatches}
        self.owned = {row.line for dispatch in dispatches for row in dispatch.owned}
        self.faults = faults
        self.violations = violations
        self.known = known
        self.readable = readable
        self.raw = raw
        self.unsealed = unsealed
        self.first_bad = first_bad

    def rows_at(self, lines: frozenset[int]) -> list[Row]:
        """Return the rows of the slice that stand at some lines of the log."""
        return [row for row in self.group.rows if row.line in lines] if lines else []

    def above(self, row: Row, kind: str) -> Row | None:
        """Return the latest row of a type above another."""
        return next((other for other in reversed(self.group.of(kind)) if other.line < row.line), None)


def marks(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the trust marks of a slice by line, those of one line in the order of the table."""
    found = [(row.line, place, text) for place, (_, judge) in enumerate(MARKS) for row, text in judge(evidence)]
    found.sort(key=lambda each: each[:2])
    return [{"line": line, "kind": MARKS[place][0], "text": clean(text)} for line, place, text in found]


def kinds(found: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many marks there are of each kind."""
    numbers: dict[str, int] = {}
    for mark in found:
        numbers[mark["kind"]] = numbers.get(mark["kind"], 0) + 1
    return numbers


def _type(evidence: Evidence) -> Marked:
    for kind, rows in evidence.group.by_type.items():
        if kind is None:
            yield from ((row, "no string type") for row in rows)
        elif kind not in evidence.known:
            yield from ((row, f"unknown record type '{kind}'") for row in rows)


def _schema(evidence: Evidence) -> Marked:
    if not evidence.violations:
        return
    for row in evidence.group.rows:
        errors = evidence.violations.get(row.line)
        if errors and row.type in evidence.known:
            yield row, errors[0] + (f" (+{len(errors) - 1} more)" if len(errors) > 1 else "")


def _no_start(evidence: Evidence) -> Marked:
    for row in evidence.group.rows:
        if row.line not in evidence.owned and row.type in r.SUBSTANTIVE and row.author not in NEVER_OWNED:
            yield row, _without_start(row, evidence)


def _without_start(row: Row, evidence: Evidence) -> str:
    text = f"{row.type} by {label(row.author)} has no dispatch-start"
    started = any(
        line < row.line and dispatch.agent == row.author is not None for line, dispatch in evidence.dispatches.items()
    )
    build = evidence.above(row, r.BUILD_PASS)
    return f"{text} since the build-pass at line {build.line}" if started and build else text


def _clock(evidence: Evidence) -> Marked:
    for fault in evidence.faults:
        words = CLOCK_TEXTS[fault.kind].format(d=duration(Seconds(fault.seconds or 0)), n=fault.above)
        yield evidence.group.by_line[fault.line], words


CLOCK_TEXTS = {
    "missing": "no ts",
    "unparseable": "ts is not a date and time",
    "no-offset": "ts has no zone; read as UTC",
    "future": "ts is {d} ahead of the clock",
    "back-step": "ts is {d} before that of line {n}",
}


def _silent(evidence: Evidence) -> Marked:
    for dispatch in evidence.dispatches.values():
        if dispatch.state == SILENT:
            again = f", started again at line {dispatch.again.line}" if dispatch.again else ""
            yield dispatch.start, f"{label(dispatch.agent)} was started and left no record{again}"


def _raw(evidence: Evidence) -> Marked:
    for row in evidence.rows_at(evidence.raw):
        engine = row.type == r.GRADER_FEATURES or (row.type == r.REVIEW_PLAN and row.author == r.ENGINE)
        if not engine:
            yield row, "written past append"


def _unsealed(evidence: Evidence) -> Marked:
    yield from ((row, "not sealed yet") for row in evidence.rows_at(evidence.unsealed))


def _edited(evidence: Evidence) -> Marked:
    row = evidence.group.by_line.get(evidence.first_bad or 0)
    if row is not None:
        yield row, "differs from what was sealed"


def _pointer(evidence: Evidence) -> Marked:
    for kind, judge in POINTERS.items():
        for row in evidence.group.of(kind):
            if text := judge(row, evidence):
                yield row, text


def _start_pointer(row: Row, evidence: Evidence) -> str | None:
    listed = row.record.get("responding_to")
    if not isinstance(listed, list) or not all(is_int(line) and line >= 0 for line in listed):
        return "responding_to is not a list of lines"
    named = [line for line in listed if line]
    for line in named:
        if line >= row.line:
            return f"responding_to names line {line}, which is not an earlier line"
        if line not in evidence.readable:
            return f"responding_to names line {line}, which cannot be read"
        if line not in evidence.group.by_line:
            return f"responding_to names line {line}, which is of another slice"
    build = evidence.above(row, r.BUILD_PASS) if is_reviewer(row.author) else None
    if not named:
        return _names_nothing(row, evidence, build) if listed else None
    if build is not None and max(named) < build.line:
        return f"responding_to names line {max(named)}, older than the build-pass at line {build.line}"
    if all(evidence.group.by_line[line].type == r.DISPATCH_START for line in named):
        return f"responding_to names line {max(named)}, a dispatch-start, not a result"
    return None


def _names_nothing(row: Row, evidence: Evidence, build: Row | None) -> str | None:
    if evidence.group.rows[0].line == row.line:
        return None
    hint = f" (the build passed at line {build.line})" if build else ""
    return f"responding_to names no record{hint}"


def _answer_pointer(row: Row, evidence: Evidence) -> str | None:
    line = row.record.get("in_response_to")
    asked = evidence.group.by_line.get(line) if is_int(line) and line < row.line else None
    if asked is None:
        return f"in_response_to {quote(line)} names no earlier record of this slice"
    if asked.type != r.CONSULTATION_REQUEST:
        return f"in_response_to names line {line}, {_a(asked.type)}, not a consultation-request"
    target = asked.record.get("target")
    if row.record.get("author") != target:
        return f"answered by {label(row.author)}, but line {line} asked {label(target)}"
    return None


def _a(kind: str | None) -> str:
    return f"a {kind}" if kind else "a record without a type"


def _design_pointer(row: Row, evidence: Evidence) -> str | None:
    target = row.record.get("supersedes_record_at")
    if target is None or supersedes(row, evidence.group):
        return None
    return f"supersedes_record_at {quote(target)} names no earlier design-block"


def _grade_pointer(row: Row, evidence: Evidence) -> str | None:
    named = [line for line in items(row.record.get("responding_to")) if is_int(line) and line < row.line]
    rows = [evidence.group.by_line.get(line) for line in named]
    if any(other is not None and other.type == r.GRADER_FEATURES for other in rows):
        return None
    return "responding_to names no grader-features record"


def _autofix_pointer(row: Row, evidence: Evidence) -> str | None:
    source = members(row.record.get("source_finding"))
    for feedback in evidence.group.of(r.REVIEW_FEEDBACK):
        if feedback.line > row.line or feedback.author != source.get("review_feedback_author"):
            continue
        for item in items(feedback.record.get("findings")):
            if isinstance(item, dict) and all(item.get(key) == source.get(key) for key in ("tag", "location", "fix")):
                return None
    return "source_finding matches no earlier finding"


def _retry_pointer(row: Row, evidence: Evidence) -> str | None:
    design = evidence.above(row, r.DESIGN_BLOCK)
    retry = row.record.get("retry")
    if design is None or retry is None:
        return None
    counted = sum(design.line < other.line <= row.line for other in evidence.group.of(r.BUILD_FAILURE))
    return None if is_int(retry) and retry == counted else f"retry says {quote(retry)}, the log counts {counted}"


POINTERS: dict[str, Callable[[Row, Evidence], str | None]] = {
    r.DISPATCH_START: _start_pointer,
    r.CONSULTATION_RESPONSE: _answer_pointer,
    r.DESIGN_BLOCK: _design_pointer,
    r.GRADER_VERDICT: _grade_pointer,
    r.BUILD_FAILURE: _retry_pointer,
    **dict.fromkeys(AUTOFIXES, _autofix_pointer),
}

MARKS: tuple[tuple[str, Callable[[Evidence], Marked]], ...] = (
    ("type", _type),
    ("schema", _schema),
    ("no-start", _no_start),
    ("pointer", _pointer),
    ("clock", _clock),
    ("silent", _silent),
    ("raw", _raw),
    ("unsealed", _unsealed),
    ("edited", _edited),
)
