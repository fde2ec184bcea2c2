"""Logs that go deep: a walk that mostly does what the model of route.md asks for, and sometimes something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.property.route_model import FLOOR, PLANNER, Model
from tests.records import a_build_pass, a_design_block, a_plan, a_prd_entry, a_start, an_intake
from tests.routing.random_logs import EXTRA, ODD, a_failure, a_record, a_request, spoilt

if TYPE_CHECKING:
    from random import Random

Record = dict[str, Any]
REVIEWERS = (*FLOOR, EXTRA)
ENDS = ("dispatch", "blocked", "escalate")


def a_walk(random: Random, layout: Record, slices: list[str]) -> list[Record]:
    """Return a log in which the agents that the model names answer, with detours; some records are made odd."""
    log: list[Record] = []
    wild, odd = random.choice((0.05, 0.15, 0.4)), random.choice((0, 0, 0.03, 0.2))
    bad, silent = random.choice((0.1, 0.5, 0.9)), random.choice((0.02, 0.1, 0.3))
    for _ in range(random.randrange(3, 45)):
        req_id = random.choice(slices)
        if random.random() < wild:
            record = a_record(random, req_id, len(log) + 1)
        else:
            record = an_answer(random, log, layout, req_id, bad=bad, silent=silent)
        log.append(spoilt(random, {"ts": "2026-01-02T03:04:05Z", **record, "req_id": req_id}, odd))
    return log


def an_answer(random: Random, log: list[Record], layout: Record, req_id: str, *, bad: float, silent: float) -> Record:
    """Return a record that the decision on the log asks for."""
    answer = Model(log, layout, req_id, lambda _record: [], list).decide() if log else {"decision": "escalate"}
    if answer["decision"] == "dispatch":
        agent = random.choice(answer["next"])
        if random.random() < silent:
            return a_start(agent)
        return work_of(random, agent, log, bad)
    if answer.get("rule") == "human-consultation" and random.random() < 0.8:
        return {"type": "consultation-response", "author": "human", "in_response_to": len(log), "answer": "yes"}
    if random.random() < 0.2:
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
        return a_failure(random, 0) if random.random() < bad / 3 else a_build(random, log)
    return {"type": "consultation-response", "author": agent, "in_response_to": len(log), "answer": "yes"}


def a_build(random: Random, log: list[Record]) -> Record:
    """Return a build-pass, or, just after one, sometimes the engine's plan."""
    if log and log[-1].get("type") == "build-pass" and random.random() < 0.5:
        return a_engine_plan(random)
    return a_build_pass()


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
