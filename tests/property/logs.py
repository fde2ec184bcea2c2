"""Logs that go deep: a walk that mostly does what the model of route.md asks for, and sometimes something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.property.route_model import FLOOR, PLANNER, Model
from tests.records import a_build_pass, a_design_block, a_plan, a_prd_entry, a_start, an_intake
from tests.routing.random_logs import EXTRA, LAYOUTS, ODD, a_failure, a_record, a_request, spoilt

if TYPE_CHECKING:
    from random import Random

Record = dict[str, Any]
REVIEWERS = (*FLOOR, EXTRA)
USUAL = (*LAYOUTS[:4], *LAYOUTS[:4], *LAYOUTS)
"""The layouts, those in which a slice can be chosen three times as often."""


def a_walk(random: Random, layout: Record, slices: list[str]) -> list[Record]:
    """Return a log in which the agents that the model names answer, with detours; some records are made odd."""
    log: list[Record] = [] if random.random() < 0.3 else [{**a_build_pass(), "req_id": slices[0]}]
    wild, odd = random.choice((0.02, 0.1, 0.4)), random.choice((0, 0, 0.01, 0.1))
    bad, silent = random.choice((0.1, 0.5, 0.9)), random.choice((0.02, 0.1, 0.5))
    for _ in range(random.randrange(3, 60)):
        req_id = random.choice(slices)
        if random.random() < wild:
            record = a_record(random, req_id, len(log) + 1)
        else:
            record = an_answer(random, log, layout, req_id, bad=bad, silent=silent)
        log.append(spoilt(random, {"ts": "2026-01-02T03:04:05Z", **record, "req_id": req_id}, odd))
    return log


def an_answer(random: Random, log: list[Record], layout: Record, req_id: str, *, bad: float, silent: float) -> Record:
    """Return a record that the decision on the log asks for."""
    if log and log[-1].get("type") == "build-pass" and random.random() < 0.7:
        return a_engine_plan(random)
    answer = Model(log, layout, req_id, lambda _record: [], list).decide() if log else {"decision": "escalate"}
    if answer["decision"] == "dispatch":
        agent = random.choice(answer["next"])
        if random.random() < silent:
            return a_start(agent)
        return work_of(random, agent, log, bad)
    if answer.get("rule") == "human-consultation" and random.random() < 0.8:
        return {"type": "consultation-response", "author": "human", "in_response_to": len(log), "answer": "yes"}
    if random.random() < 0.1:
        return an_intake()
    return random.choice((a_design(random, log), a_build_pass(), a_build_pass(), a_prd_entry(), a_engine_plan(random)))


def work_of(random: Random, agent: str, log: list[Record], bad: float) -> Record:
    """Return what an agent writes when it is dispatched."""
    if random.random() < 0.03:
        return {**a_request(random, 0), "author": agent}
    if agent in REVIEWERS:
        return a_review(random, agent, bad)
    if agent == "system-design-expert":
        return a_design(random, log)
    if agent == "product-requirements-expert":
        return a_prd_entry()
    if agent == PLANNER:
        return {**a_engine_plan(random), "author": PLANNER, "risk": random.choice(("low", "high"))}
    if agent == "change-grader":
        return {"type": random.choice(("grader-features", "grader-verdict")), "author": agent, "verdict": "clear"}
    if agent.startswith("feature-implementer"):
        return a_failure(random, 0) if random.random() < bad / 3 else a_build_pass()
    return {"type": "consultation-response", "author": agent, "in_response_to": len(log), "answer": "yes"}


def a_engine_plan(random: Random) -> Record:
    """Return a plan of the engine: a few reviewers, or gray."""
    roster = random.sample(REVIEWERS, random.choice((0, 1, 1, 2, 3)))
    return a_plan(risk=random.choice(("low", "high", "gray")), roster=roster)


def a_design(random: Random, log: list[Record]) -> Record:
    """Return a design-block, rated or not, which may supersede an earlier one."""
    block = a_design_block(verdict=random.choice(("covered", "minor", "new", "foundational", "refactor-first")))
    if random.random() < 0.7:
        block["implementation_effort"] = random.choice(("routine", "routine", "involved"))
    earlier = [line for line, record in enumerate(log, 1) if record.get("type") == "design-block"]
    if earlier and random.random() < 0.5:
        block["supersedes_record_at"] = random.choice(earlier)
    return block


def a_review(random: Random, reviewer: str, bad: float) -> Record:
    """Return feedback of one reviewer, a dissent with the chance `bad`."""
    if random.random() >= bad:
        raised = [a_raised(random, ("escalate", "clarify"))] if random.random() < 0.07 else []
        return {"type": "review-feedback", "author": reviewer, "verdict": "approved", "findings": raised}
    tags = random.choice((("autofix",), ("blocked",), ("truncation",), ("autofix", "blocked", "clarify", "escalate")))
    findings = [a_raised(random, tags) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    verdict = random.choice(("changes_requested", "blocked"))
    return {"type": "review-feedback", "author": reviewer, "verdict": verdict, "findings": findings}


def a_raised(random: Random, tags: tuple[str, ...]) -> Any:
    """Return a finding with one of these tags; seldom something else."""
    if random.random() < 0.02:
        return random.choice(ODD)
    return {
        "tag": random.choice(tags),
        "severity": random.choice(("critical", "critical", "fixable")),
        "location": random.choice(("src/a.py:3", "docs/prd.md:1", "docs/system-design.md", "docs/adr/1.md:2", "")),
        "description": "x",
        "clarify_target": "system-design-expert",
    }


def a_contest(random: Random, req_id: str) -> list[Record]:
    """Return a slice of many review rounds by one or two reviewers, which ends anywhere in its last round."""
    bad, reviewers = random.choice((0.5, 0.9, 1)), random.sample(REVIEWERS, random.choice((1, 1, 2)))
    tag = random.choice(("truncation", "truncation", "blocked", "autofix", "escalate"))
    log: list[Record] = [a_design_block(implementation_effort=random.choice(("routine", "routine", "involved")))]
    if random.random() < 0.3:
        log.append(a_design_block(req_id="REQ-WAIT-001", verdict="refactor-first"))
    for _ in range(random.randrange(1, 7)):
        log += [a_start()] if random.random() < 0.7 else []
        log += [a_failure(random, 0) for _ in range(random.choice((0, 0, 0, 1, 2, 3)))]
        log += [a_build_pass()] if random.random() < 0.9 else []
        log += [a_plan(roster=random.sample(reviewers, random.randrange(1, len(reviewers) + 1)))]
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            log += [same_minded(random, name, tag, bad) for name in reviewers]
    log += random.choice(([], [], [a_start()] * random.randrange(1, 4), [a_start(reviewers[0])] * 2))
    if random.random() < 0.2:
        log.append({"type": "grader-verdict", "author": "change-grader", "verdict": "clear"})
        log += [a_start("nobody")] if random.random() < 0.3 else []
        log += [a_review(random, reviewers[0], 0)] if random.random() < 0.7 else []
    if random.random() < 0.2:
        log.insert(random.randrange(len(log)), a_design(random, log[: random.randrange(len(log))]))
    return [{"req_id": req_id, "ts": "2026-01-02T03:04:05Z", **record} for record in renamed(log, req_id)]


def renamed(log: list[Record], req_id: str) -> list[Record]:
    """Return the records with this req_id, but for those of the waiting slice."""
    return [record if record.get("req_id") == "REQ-WAIT-001" else {**record, "req_id": req_id} for record in log]


def same_minded(random: Random, reviewer: str, tag: str, bad: float) -> Record:
    """Return feedback of a reviewer who, dissenting, mostly raises findings of one tag."""
    review = a_review(random, reviewer, bad)
    if review["verdict"] != "approved" and random.random() < 0.8:
        severity = random.choice(("critical", "critical", "fixable"))
        review["findings"] = [{**FINDING, "tag": tag, "severity": severity}]
    return review


FINDING = {"location": "src/a.py:3", "description": "x", "clarify_target": "system-design-expert"}
