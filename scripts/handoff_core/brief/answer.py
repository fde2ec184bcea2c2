"""Prints the verdict on a brief as text, JSON, GitHub annotations or SARIF (gate.md 8).

Imports `text`, `jsonl` and the gate.
"""

from __future__ import annotations

from handoff_core.brief.gate import FAIL, NO, PASS, YES
from handoff_core.brief.words import LABELS
from handoff_core.jsonl import dump_ascii
from handoff_core.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handoff_core.brief.gate import Finding, Verdict

DETAIL_LIMIT = 200
"""Characters of a detail, the mark of a cut included."""

_LABEL_WIDTH = 16


def as_text(verdict: Verdict, _target: str) -> str:
    """Return the answer that people and agents read; its shape is fixed."""
    rows = [f"  {label + ':':<{_LABEL_WIDTH}}{verdict.result(label)} - {detail(verdict, label)}" for label in LABELS]
    blockers = _blockers(verdict)
    end = ["BLOCKERS:", *(f"  {number}. {text}" for number, text in enumerate(blockers, 1))]
    lines = [f"VALID: {verdict.valid()}", "CHECKS:", *rows, f"SUMMARY: {summary(verdict)}"]
    lines += end if blockers else ["BLOCKERS: none"]
    return "".join(f"{line}\n" for line in lines)


def as_json(verdict: Verdict, target: str) -> str:
    """Return the answer as one line of ASCII JSON."""
    checks = {label: _json_check(verdict, label) for label in LABELS}
    answer = {
        "file": target,
        "valid": verdict.valid(),
        "checks": checks,
        "summary": summary(verdict),
        "blockers": _blockers(verdict),
    }
    return dump_ascii(answer) + "\n"


def as_github(verdict: Verdict, target: str) -> str:
    """Return one annotation for each finding, nothing where there is none."""
    return "".join(_annotation(finding, target) for finding in verdict.findings)


def as_sarif(verdict: Verdict, target: str) -> str:
    """Return the findings as one SARIF 2.1.0 document on one line."""
    rules = [{"id": _rule(label), "shortDescription": {"text": f"{label} of a brief"}} for label in LABELS]
    run = {
        "tool": {"driver": {"name": "handoff", "rules": rules}},
        "results": [_sarif_result(finding, target) for finding in verdict.findings],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return dump_ascii({"$schema": schema, "version": "2.1.0", "runs": [run]}) + "\n"


FORMATS: dict[str, Callable[[Verdict, str], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}
"""The forms of an answer by the value of `--format`."""


def detail(verdict: Verdict, label: str) -> str:
    """Return the one line that says why a line of the answer passed or did not."""
    texts = [finding.text for finding in verdict.findings if finding.label == label]
    return _one_line("; ".join(texts) or verdict.passed[label])


def summary(verdict: Verdict) -> str:
    """Return one sentence about the whole answer."""
    failed = [label for label in LABELS if verdict.result(label) == FAIL]
    warned = [label for label in LABELS if verdict.result(label) not in (FAIL, PASS)]
    if verdict.valid() == YES:
        return "The brief passes all twelve points."
    if verdict.valid() == NO:
        return f"The run stops: {len(failed)} of {len(LABELS)} checks failed ({', '.join(failed)})."
    return f"The run stops until somebody has looked: {len(warned)} of {len(LABELS)} checks warn ({', '.join(warned)})."


def _blockers(verdict: Verdict) -> list[str]:
    return [_one_line(f"{found.label}: {found.text}") for found in verdict.findings if found.level == FAIL]


def _json_check(verdict: Verdict, label: str) -> dict[str, object]:
    findings = [
        {"level": finding.level, "point": finding.point, "text": _one_line(finding.text)}
        for finding in verdict.findings
        if finding.label == label
    ]
    return {"result": verdict.result(label), "detail": detail(verdict, label), "findings": findings}


def _annotation(finding: Finding, target: str) -> str:
    level = "error" if finding.level == FAIL else "warning"
    place = f"file={_escaped(target).replace(':', '%3A').replace(',', '%2C')},line={finding.line}"
    return f"::{level} {place}::{_escaped(f'{finding.label}: {_one_line(finding.text)}')}\n"


def _escaped(text: str) -> str:
    """Return `text` as one line of a workflow command; the percent sign begins its escapes."""
    return clean(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _sarif_result(finding: Finding, target: str) -> dict[str, object]:
    from urllib.parse import quote

    artifact = {"uri": quote(target, errors="surrogatepass")}
    place = {"artifactLocation": artifact, "region": {"startLine": finding.line}}
    return {
        "ruleId": _rule(finding.label),
        "level": "error" if finding.level == FAIL else "warning",
        "message": {"text": _one_line(finding.text)},
        "locations": [{"physicalLocation": place}],
    }


def _rule(label: str) -> str:
    return f"gate/{label}"


def _one_line(text: str) -> str:
    """Return `text` without anything that acts on a terminal, cut with a visible mark."""
    one_line = clean(text)
    return one_line if len(one_line) <= DETAIL_LIMIT else one_line[: DETAIL_LIMIT - 1] + "…"
