"""Situations for tests of the routing table: from records, and from the route vectors, without touching a file."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from handoff_core import scope
from handoff_core.records import FLOOR
from handoff_core.routing.reader import read_history
from handoff_core.routing.router import decide
from handoff_core.routing.situation import Situation
from handoff_core.routing.slice import Log
from handoff_core.schema import SchemaSet

from tests.records import (
    REQ,
    TS,
    a_build_failure,
    a_build_pass,
    a_design_block,
    a_feedback,
    a_finding,
    a_plan,
    a_start,
)
from tests.support import vectors

Record = dict[str, Any]
Decision = dict[str, Any]
SHIPPED: dict[str, SchemaSet] = {}


def bytes_of(records: list[Record]) -> bytes:
    """Return the log that holds these records."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def a_situation(
    log: list[Record] | bytes | None,
    *,
    layout: dict[str, Any] | None = None,
    layout_problem: str | None = None,
    req_id: str | None = None,
    permissive: bool = False,
    delta: list[str] | tuple[()] | None = (),
) -> Situation:
    """Return the situation of a log: records, the file's bytes, or None for no file; `delta` is the scope delta."""
    if log is None:
        read = Log(None, [])
    else:
        data = log if isinstance(log, bytes) else bytes_of(log)
        history, problems = read_history(data, req_id, every_slice=False)
        read = Log(history, list(map(str, problems)), data.count(b"\n"))
    read.layout = layout or {}
    read.layout_problem = layout_problem
    key = json.dumps(read.layout, sort_keys=True)
    schemas = SHIPPED.setdefault(key, SchemaSet(None, "the shipped schemas", read.layout))
    changed = None if delta is None else list(delta)
    return Situation(read, req_id, (lambda _record: []) if permissive else schemas.check, lambda: changed)


def routed(log: list[Record] | bytes | None, **given: Any) -> Decision:
    """Return the decision on a log."""
    return decide(a_situation(log, **given))


def of_vector(vector: dict[str, Any]) -> Situation | None:
    """Return the situation of a route vector; None for one that is about flags."""
    if vector.get("all") or vector.get("at") or vector["expect"] == "usage-error":
        return None
    log = vector["raw_log"].encode("utf-8", "surrogatepass") if vector.get("raw_log") is not None else vector["log"]
    layout, problem = layout_of(vector)
    return a_situation(
        log,
        layout=layout,
        layout_problem=problem,
        req_id=vector["req_id"],
        permissive=vector.get("schemas") == "permissive",
        delta=delta_of(vector),
    )


def layout_of(vector: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return the layout of a vector, or why it cannot be read."""
    if "layout_hex" in vector:
        return {}, "not UTF-8"
    if "layout_text" not in vector:
        return vector.get("layout") or {}, None
    try:
        return tomllib.loads(vector["layout_text"]), None
    except tomllib.TOMLDecodeError as error:
        return {}, str(error)


def delta_of(vector: dict[str, Any]) -> list[str] | None:
    """Return the Non-Goals that a vector's repository changes, None where that cannot be known."""
    prd = vector.get("prd") or {}
    before = scope.non_goals(prd.get("head") or "")
    if not before:
        return []
    if "worktree_hex" in prd:
        return None
    now = scope.non_goals(prd.get("worktree") or "")
    return sorted(name for name in before if now.get(name) != before[name])


def beside_the_vectors() -> dict[str, Situation]:
    """Return the cases in which two neighbouring rows both hold, or which no vector reaches."""
    everybody: Record = {"roster": [*FLOOR]}
    waiting = a_design_block(req_id="REQ-WAIT-001", verdict="refactor-first")
    design, build = a_design_block(), a_build_pass()
    late: Record = {"layout": {"harness": {"extra_reviewers": ["style-reviewer"]}}}
    dissent: Record = {"verdict": "changes_requested"}
    polish: Record = {**dissent, "findings": [a_finding(severity="fixable")]}
    rounds = [
        build,
        a_feedback(**dissent, findings=[a_finding()]),
        build,
        a_feedback(**dissent, findings=[a_finding()]),
    ]
    broken = "cannot be parsed"
    return {
        "a dirty log and a broken layout": a_situation(b"{\n", layout_problem=broken),
        "an empty log and a broken layout": a_situation(b"", layout_problem=broken),
        "an unknown slice and malformed extras": a_situation(
            [build], req_id="REQ-NONE-001", layout={"harness": {"extra_reviewers": "x"}}
        ),
        "a malformed failure that aborts": a_situation(
            [design, a_build_failure(retry=9, abort_reason="wrong-shape-slice")]
        ),
        "an unknown abort before any design": a_situation([a_build_failure(abort_reason="boredom")], permissive=True),
        "three failures before any design": a_situation([a_build_failure(retry=number) for number in (1, 2, 3)]),
        "one reviewer stalled, one silent once": a_situation(
            [build, a_plan(**everybody), a_start("test-reviewer"), a_start("test-reviewer"), a_start("doc-reviewer")]
        ),
        "a repeat below the bar while a review is due": a_situation(
            [
                *rounds,
                build,
                a_plan(roster=["test-reviewer", "doc-reviewer"]),
                a_feedback(**polish),
                a_feedback(**polish),
            ]
        ),
        "a churning reviewer past the round cap": a_situation(
            [*rounds, *rounds[:2], build, a_plan()] + [a_feedback(**dissent, findings=[a_finding()])] * 3
        ),
        "a dissent in the pass and a stalled one outside": a_situation(
            [a_feedback("doc-reviewer", **polish), build, a_plan(), a_feedback(**polish)]
            + [a_start("doc-reviewer")] * 2
            + [a_feedback(**polish)]
        ),
        "graded while a refactor waits, and one more approval": a_situation(
            [waiting, build, a_plan(), a_feedback(), a_grade(), a_feedback()]
        ),
        "an extra reviewer falls silent": a_situation([build, a_start("style-reviewer")], **late),
    }


def a_grade(**given: Any) -> Record:
    """Return a grader-verdict; the router reads its verdict alone."""
    return {"type": "grader-verdict", "req_id": REQ, "ts": TS, "author": "change-grader", "verdict": "clear", **given}


def all_cases() -> list[tuple[str, Situation]]:
    """Return every route vector that is about a decision, and the cases beside them, each with its name."""
    found = [(vector["name"], of_vector(vector)) for vector in vectors("route.jsonl")]
    return [(name, at) for name, at in (*found, *beside_the_vectors().items()) if at is not None]
