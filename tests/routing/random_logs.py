"""Random logs for property tests: well-formed records, malformed ones, and values of any type in any field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.records import TS, a_build_failure, a_build_pass, a_design_block, a_prd_entry, an_intake

if TYPE_CHECKING:
    from random import Random

Record = dict[str, Any]

SLICES = ("REQ-KITE-014", "REQ-LOOM-022", "REQ-TIDE-003")
EXTRA = "style-reviewer"
REVIEWERS = ("code-quality-reviewer", "test-reviewer", "security-reviewer", "doc-reviewer", EXTRA)
AUTHORS = (
    *REVIEWERS,
    "product-requirements-expert",
    "system-design-expert",
    "feature-implementer",
    "feature-implementer",
    "feature-implementer-routine",
    "review-planner",
    "review-plan-engine",
    "change-grader",
    "human",
    " Human ",
    "root",
)
ODD: tuple[Any, ...] = (None, True, False, 0, 1, 2, -1, 3.0, 1e300, "", " ", "x", [], {}, [[]], ["x"], {"a": [None]},
                        "\u202e\x1b[2J", "human", 10**60)  # fmt: skip
LAYOUTS: tuple[dict[str, Any], ...] = (
    {},
    {"harness": {"extra_reviewers": [EXTRA, "doc-reviewer", EXTRA]}},
    {"harness": {"auto_grade": False}},
    {"harness": {"auto_grade": 0, "extra_reviewers": ["human"]}},
    {"harness": {"extra_reviewers": [EXTRA, ""]}},
    {"harness": 3, "test_name_pattern": "(", "gate": {"verbs": ["test"]}},
)


def a_log(random: Random, *, odd: float = 0.05) -> list[Record]:
    """Return a random log; with the chance `odd` a field of a record is replaced, removed or of another type."""
    if random.random() < 0.5:
        return [spoilt(random, record, odd / 5) for record in a_review(random, random.choice(SLICES))]
    length = random.randrange(1, 40)
    slices = random.sample(SLICES, random.choice((1, 1, 2, 3)))
    return [spoilt(random, a_record(random, random.choice(slices), line), odd) for line in range(1, length + 1)]


def a_review(random: Random, req_id: str) -> list[Record]:
    """Return a log of several builds that are reviewed by the roster of a plan, with some noise between."""
    log = [a_design(random, 1)]
    for _ in range(random.randrange(1, 6)):
        roster = random.sample(REVIEWERS[:4], random.choice((1, 1, 2, 3)))
        log += [a_start_by("feature-implementer"), a_build_pass()]
        log.append({"type": "review-plan", "author": "review-plan-engine", "risk": "low", "roster": roster})
        for reviewer in roster:
            log += [a_start_by(reviewer), {**a_feedback(random, 0), "author": reviewer}]
        if random.random() < 0.2:
            log.append(a_record(random, req_id, len(log)))
    log += [a_graded(random, 0)] * random.choice((0, 0, 1))
    return [{"ts": TS, **record, "req_id": req_id} for record in log]


def a_start_by(author: str) -> Record:
    return {"type": "dispatch-start", "author": author, "responding_to": [0]}


def a_record(random: Random, req_id: str, line: int) -> Record:
    """Return a random record that its schema admits, more often than not."""
    make = random.choices(MAKERS, WEIGHTS)[0]
    record: Record = make(random, line)
    return {"ts": TS, **record, "req_id": req_id}


def spoilt(random: Random, record: Record, odd: float) -> Record:
    """Return a record with some fields made odd."""
    for field in list(record):
        if random.random() < odd / 4:
            del record[field]
        elif random.random() < odd / 4:
            record[field] = random.choice(ODD)
    return record


def a_line(random: Random, line: int) -> int:
    """Return a line number, most likely of an earlier record."""
    return random.randrange(0, line + 2)


def a_finding(random: Random) -> Any:
    if random.random() < 0.03:
        return random.choice(ODD)
    finding = {
        "tag": random.choice(("autofix", "blocked", "blocked", "escalate", "clarify", "truncation")),
        "severity": random.choice(("critical", "fixable")),
        "location": random.choice(("src/a.py:3", "docs/prd.md:1", "docs/system-design.md", "docs/adr/1.md:2", "")),
        "description": "x",
        "clarify_target": "system-design-expert",
    }
    return spoilt(random, finding, 0.2)


def a_feedback(random: Random, _line: int) -> Record:
    verdict = random.choice(("approved", "approved", "changes_requested", "blocked"))
    count = random.randrange(3) if verdict != "approved" else random.choice((0, 0, 1))
    findings = [a_finding(random) for _ in range(count)]
    if verdict == "approved":
        findings = [
            finding for finding in findings if not isinstance(finding, dict) or finding.get("tag") == "escalate"
        ]
    return {"type": "review-feedback", "author": random.choice(REVIEWERS), "verdict": verdict, "findings": findings}


def a_plan(random: Random, _line: int) -> Record:
    return {
        "type": "review-plan",
        "author": random.choice(("review-plan-engine", "review-plan-engine", "review-planner", "root")),
        "risk": random.choice(("low", "gray", "high")),
        "roster": random.sample(REVIEWERS, random.choice((0, 1, 1, 2))),
    }


def a_design(random: Random, line: int) -> Record:
    verdicts = ("covered", "minor", "new", "foundational", "conflicting", "refactor-first")
    block = a_design_block(verdict=random.choices(verdicts, (5, 5, 2, 2, 1, 1))[0])
    if random.random() < 0.5:
        block["implementation_effort"] = random.choice(("routine", "involved"))
    if random.random() < 0.4:
        block["supersedes_record_at"] = a_line(random, line)
    return block


def a_failure(random: Random, _line: int) -> Record:
    failure = a_build_failure(retry=random.randrange(1, 4), partial=random.choice((True, False, None)))
    if random.random() < 0.2:
        failure["abort_reason"] = random.choice(("wrong-shape-slice", "design-mismatch", "prd-mismatch",
                                                 "prerequisite-missing", "boredom", ""))  # fmt: skip
    return failure


def a_start(random: Random, _line: int) -> Record:
    author = random.choice((*AUTHORS, "feature-implementer", "review-planner", *REVIEWERS))
    return {"type": "dispatch-start", "author": author, "responding_to": [0]}


def a_request(random: Random, _line: int) -> Record:
    return {
        "type": "consultation-request",
        "author": random.choice(AUTHORS),
        "target": random.choice((*AUTHORS, *AUTHORS, "")),
        "context": "x",
        "question": "?",
    }


def a_response(random: Random, line: int) -> Record:
    return {
        "type": "consultation-response",
        "author": random.choice(AUTHORS),
        "in_response_to": a_line(random, line),
        "answer": "yes",
    }


def an_entry(random: Random, line: int) -> Record:
    entry = a_prd_entry(author=random.choice(("product-requirements-expert",) * 5 + ("system-design-expert",)))
    if random.random() < 0.3:
        source = random.choice(
            ("dispatch", f"intake:{a_line(random, line)}", f"consultation:{a_line(random, line)}", 3)
        )
        override = {"non_goal_id": random.choice(("NG-1", "NG-2")), "owner_decision": "Once.", "source": source}
        entry["scope_overrides"] = [override, random.choice(ODD)]
    return entry


def a_graded(random: Random, _line: int) -> Record:
    kind = random.choice(("grader-features", "grader-verdict"))
    return {"type": kind, "author": "change-grader", "verdict": random.choice(("clear", "scrutinize"))}


def an_unknown(random: Random, _line: int) -> Record:
    kinds = ("prd-autofix", "design-doc-autofix", "note", None, 3, ["build-pass"], {"build-pass": 1})
    return {"type": random.choice(kinds), "author": random.choice(AUTHORS)}


MAKERS = (
    a_feedback, a_plan, a_design, a_failure, a_start, a_request, a_response, an_entry, a_graded, an_unknown,
    lambda _random, _line: a_build_pass(), lambda _random, _line: an_intake(),
)  # fmt: skip
WEIGHTS = (12, 3, 3, 2, 8, 1, 1, 1, 1, 1, 6, 1)
