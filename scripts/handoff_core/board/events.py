"""One line about each record: its glyph, its head, its text, and the fields that the Board keeps of it.

Follows view.md 5.9 and 8.8: a table by record type with functions beside it. Imports the board's vocabulary.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.forms import count
from handoff_core.board.rows import block, is_int, items, members, text, texts
from handoff_core.board.words import CALM_GRADES, CELLS, UNTITLED, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from handoff_core.board.rows import Row

    Fields = dict[str, Any]
    Said = tuple[str, Fields, str]

OTHER_GLYPH = "•"


def event(row: Row, unused_plans: Container[int]) -> Fields:
    """Return what the Board keeps of a record that a step shows."""
    make = EVENTS.get(row.type or "")
    glyph, fields, said = make(row) if make else (OTHER_GLYPH, {}, "")
    if row.type == r.REVIEW_PLAN:
        fields["unused"] = row.line in unused_plans
    base = {"line": row.line, "type": text(row.type), "author": text(row.author)}
    return {**base, **fields, "glyph": glyph, "text": said}


def _intake(row: Row) -> Said:
    fields: Fields = {"decisions": texts(row.record.get("decisions"), block)}
    return "◇", fields, text(row.record.get("request")) or ""


def _prd(row: Row) -> Said:
    fields: Fields = {
        "summary": block(row.record.get("summary")),
        "scope_overrides": len(items(row.record.get("scope_overrides"))),
    }
    return "◇", fields, text(row.record.get("title")) or UNTITLED


def _design(row: Row) -> Said:
    record = row.record
    supersedes = record.get("supersedes_record_at")
    fields: Fields = {
        "verdict": text(record.get("verdict")),
        "effort": text(record.get("implementation_effort")),
        "supersedes": supersedes if is_int(supersedes) else None,
        "escalations": texts(record.get("escalations"), block),
        "fit": block(record.get("architectural_fit")),
    }
    replaces = f"replaces line {supersedes}" if is_int(supersedes) else None
    return "◈", fields, ", ".join(filter(None, (fields["verdict"], fields["effort"], replaces)))


def _build_pass(row: Row) -> Said:
    checks = texts(row.record.get("gate_checks_run"))
    return "▲", {"checks": checks}, " ".join(checks)


def _build_failure(row: Row) -> Said:
    record = row.record
    retry = record.get("retry")
    fields: Fields = {
        "failed_check": text(record.get("failed_check")),
        "retry": retry if is_int(retry) else None,
        "abort_reason": text(record.get("abort_reason")),
        "partial": record.get("partial") is True,
        "error": block(record.get("error_output")),
        "attempted": block(record.get("attempted")),
    }
    check, number = fields["failed_check"] or "?", fields["retry"] if is_int(retry) else "?"
    if fields["abort_reason"]:
        return "▲", fields, f"{fields['abort_reason']} after {check}"
    if fields["partial"]:
        return "▲", fields, f"stopped after {check}, retry {number}"
    return "▲", fields, f"{check}, retry {number} of 3"


def _feedback(row: Row) -> Said:
    record = row.record
    verdict = text(record.get("verdict"))
    ids = [f"L{row.line}.{n}" for n, item in enumerate(items(record.get("findings")), 1) if isinstance(item, dict)]
    fields: Fields = {
        "verdict": verdict,
        "findings": ids,
        "recommendations": texts(record.get("recommendations"), block),
        "approved_aspects": len(items(record.get("approved_aspects"))),
    }
    return verdict_cell(verdict)[0], fields, " ".join(ids)


def verdict_cell(verdict: str | None) -> tuple[str, str]:
    """Return the glyph and the word of a reviewer's verdict; an unknown one is shown as it is."""
    if verdict in ("approved", "changes_requested", "blocked"):
        return CELLS[verdict]
    return CELLS["other"][0], verdict or "no verdict"


def _plan(row: Row) -> Said:
    record = row.record
    fields: Fields = {
        "risk": text(record.get("risk")),
        "scope": text(record.get("scope")),
        "roster": texts(record.get("roster")),
        "why": block(record.get("rationale")),
        "unused": False,
    }
    about = ", ".join(filter(None, (fields["risk"], fields["scope"])))
    whom = "planner decides" if fields["risk"] == "gray" else " ".join(map(label, texts(record.get("roster"))))
    return "▤", fields, f"{about} → {whom or 'nobody'}".strip()


def _request(row: Row) -> Said:
    return "↳", {"to": text(row.record.get("target"))}, text(row.record.get("question")) or ""


def _response(row: Row) -> Said:
    asked = row.record.get("in_response_to")
    return "↲", {"in_response_to": asked if is_int(asked) else None}, text(row.record.get("answer")) or ""


def _autofix(row: Row) -> Said:
    source = members(row.record.get("source_finding"))
    fields: Fields = {"category": text(row.record.get("category")), "location": text(source.get("location"))}
    return "✚", fields, ", ".join(filter(None, (text(row.record.get("file")), fields["category"])))


def _features(_row: Row) -> Said:
    return "◆", {}, ""


def _grade(row: Row) -> Said:
    fields: Fields = {"verdict": text(row.record.get("verdict")), "summary": block(row.record.get("summary"))}
    return "◆", fields, text(row.record.get("summary")) or ""


EVENTS: dict[str, Callable[[Row], Said]] = {
    r.INTAKE_DECISION: _intake,
    r.PRD_ENTRY: _prd,
    r.DESIGN_BLOCK: _design,
    r.BUILD_PASS: _build_pass,
    r.BUILD_FAILURE: _build_failure,
    r.REVIEW_FEEDBACK: _feedback,
    r.REVIEW_PLAN: _plan,
    r.CONSULTATION_REQUEST: _request,
    r.CONSULTATION_RESPONSE: _response,
    r.DESIGN_AUTOFIX: _autofix,
    r.PRD_AUTOFIX: _autofix,
    r.GRADER_FEATURES: _features,
    r.GRADER_VERDICT: _grade,
}
"""Record type: what gives its glyph, its fields and its text."""


def head(shown: Fields) -> str:
    """Return the first words about a record that `event` made: what kind of thing happened."""
    kind = shown["type"]
    if kind == r.BUILD_FAILURE:
        aborted = "build aborted" if shown["abort_reason"] else "checkpoint"
        return aborted if shown["abort_reason"] or shown["partial"] else "build failed"
    if kind == r.REVIEW_FEEDBACK:
        return verdict_cell(shown["verdict"])[1]
    if kind == r.CONSULTATION_REQUEST:
        return f"asks {'you' if shown['to'] == r.HUMAN else label(shown['to'])}"
    if kind == r.CONSULTATION_RESPONSE:
        return "answers" if shown["in_response_to"] is None else f"answers line {shown['in_response_to']}"
    if kind == r.GRADER_VERDICT:
        return f"grade {(shown['verdict'] or '?').upper()}"
    return HEADS.get(kind, kind or "?")


HEADS = {
    r.INTAKE_DECISION: "intake",
    r.BUILD_PASS: "build passed",
    r.REVIEW_PLAN: "plan",
    r.GRADER_FEATURES: "features extracted",
}


def note(shown: Fields) -> str:
    """Return what stands behind the text of a record, in brackets or after a mark; empty if nothing does."""
    if shown.get("decisions"):
        return f"({count(len(shown['decisions']), 'decision')})"
    if shown.get("scope_overrides"):
        return f"(overrides {count(shown['scope_overrides'], 'non-goal')})"
    if shown.get("recommendations"):
        return f"▹ {count(len(shown['recommendations']), 'recommendation')}"
    return "(unused)" if shown.get("unused") else ""


def colour(shown: Fields) -> str:
    """Return the colour of a record's glyph and head (view.md 7)."""
    kind = shown["type"]
    if kind == r.BUILD_FAILURE:
        return "1;31" if shown["abort_reason"] else "33" if shown["partial"] else "31"
    if kind == r.REVIEW_FEEDBACK:
        return VERDICT_COLOURS.get(shown["verdict"] or "", "33")
    if kind == r.GRADER_VERDICT:
        return grade_colour(shown["verdict"])
    if kind == r.REVIEW_PLAN:
        return "31" if shown["risk"] == "high" else ""
    return TYPE_COLOURS.get(kind or "", "")


VERDICT_COLOURS = {"approved": "32", "changes_requested": "33", "blocked": "31"}
TYPE_COLOURS = {
    r.BUILD_PASS: "32",
    r.CONSULTATION_REQUEST: "36",
    r.CONSULTATION_RESPONSE: "36",
    r.DESIGN_AUTOFIX: "33",
    r.PRD_AUTOFIX: "33",
}


def grade_colour(word: str | None) -> str:
    """Return the colour of a grade word: green for the calm ones, yellow for every other."""
    return "32" if word in CALM_GRADES else "33"


def details(shown: Fields) -> list[str]:
    """Return the longer texts of a record, one a paragraph, each with its mark (view.md 8.8, `--verbose`)."""
    found = [f"▹ {words}" for words in shown.get("recommendations") or []]
    found += [f"{mark} {shown[field]}" for field, mark in _MARKED if shown.get(field)]
    found += [shown[field] for field in ("summary", "fit") if shown.get(field) and shown["type"] != r.GRADER_VERDICT]
    found += [f"decision: {words}" for words in shown.get("decisions") or []]
    found += [f"escalation: {words}" for words in shown.get("escalations") or []]
    return found


_MARKED = (("error", "error:"), ("attempted", "tried:"), ("why", "why:"))
