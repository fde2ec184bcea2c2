"""Builders of records: each states only what matters to a test, the rest is the least that the schema admits."""

from __future__ import annotations

import json
from typing import Any

REQ = "REQ-LOAN-001"
TS = "2026-01-02T03:04:05.000006+00:00"

Record = dict[str, Any]


def _record(kind: str, author: str, fields: Record, given: Record) -> Record:
    return {"type": kind, "req_id": REQ, "ts": TS, "author": author, **fields, **given}


def an_intake(**given: Any) -> Record:
    return _record("intake-decision", "human", {"request": "Renew a loan once.", "decisions": ["Once."]}, given)


def a_prd_entry(**given: Any) -> Record:
    fields = {
        "title": "Renew a loan",
        "summary": "A borrower can renew a loan once.",
        "acceptance_criteria": ["A second renewal is refused."],
        "file_targets": ["src/loans.py"],
        "test_names": ["refusesSecondRenewal"],
    }
    return _record("prd-entry", "product-requirements-expert", fields, given)


def a_design_block(**given: Any) -> Record:
    fields = {"verdict": "covered", "architectural_fit": "The loan table has it.", "primary_paths": ["src/loans.py"]}
    return _record("design-block", "system-design-expert", fields, given)


def a_start(author: str = "feature-implementer", **given: Any) -> Record:
    return _record("dispatch-start", author, {"responding_to": [0]}, given)


def a_build_failure(**given: Any) -> Record:
    fields = {"retry": 1, "failed_check": "test", "error_output": "1 failed", "attempted": "the renewal"}
    return _record("build-failure", "feature-implementer", fields, given)


def a_build_pass(**given: Any) -> Record:
    return _record("build-pass", "feature-implementer", {"gate_checks_run": ["test"]}, given)


def a_request(**given: Any) -> Record:
    fields = {"target": "system-design-expert", "context": "Loans.", "question": "Where is the limit?"}
    return _record("consultation-request", "feature-implementer", fields, given)


def a_feedback(author: str = "test-reviewer", **given: Any) -> Record:
    return _record("review-feedback", author, {"verdict": "approved", "findings": []}, given)


def a_finding(**given: Any) -> Record:
    return {
        "tag": "blocked",
        "severity": "critical",
        "location": "src/loans.py:1",
        "description": "Off by one.",
        **given,
    }


def a_plan(**given: Any) -> Record:
    fields = {
        "risk": "low",
        "roster": ["test-reviewer"],
        "scope": "full-diff",
        "basis": {"tree_sha": "a" * 40, "pass": "first"},
        "rationale": "Small.",
    }
    return _record("review-plan", "review-plan-engine", fields, given)


def lines(*records: Record) -> bytes:
    """Return a log that holds these records."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
