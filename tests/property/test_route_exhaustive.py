"""Every ledger up to a length over two alphabets of records: one decision each, the one that the model gives.

LIFE, 17 records of a whole slice and of a second one, up to 3 of them: 5,219 ledgers (17 + 289 + 4,913).
REVIEW, 7 records of the review phase behind a design and a build, up to 4 of them: 2,800 ledgers (7 + 49 + 343 + 2,401).
ROUNDS, 6 whole rounds of one reviewer, each a build, a plan and feedback, up to 5 of them behind a design: 9,330 ledgers
(6 + 36 + 216 + 1,296 + 7,776). Each is decided once, without schemas; the tests count the ledgers and the rows reached.
"""

from __future__ import annotations

import itertools
import unittest
from typing import TYPE_CHECKING, Any

from handoff_core.routing.history import History
from handoff_core.routing.router import decide
from handoff_core.routing.situation import Situation
from handoff_core.routing.slice import Log
from handoff_core.routing.table import ROUTE

from tests.property.route_model import FLOOR, GRADER, PLANNER, Model, dissents_substantively, names_human
from tests.records import (
    a_build_failure,
    a_build_pass,
    a_design_block,
    a_feedback,
    a_finding,
    a_plan,
    a_prd_entry,
    a_request,
    a_start,
    an_intake,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

Record = dict[str, Any]
ONE, TWO = FLOOR[0], FLOOR[1]
DISSENT = {"verdict": "changes_requested"}
LIFE: list[Record] = [
    an_intake(),
    a_prd_entry(),
    a_design_block(implementation_effort="routine"),
    a_design_block(verdict="conflicting"),
    a_design_block(verdict="refactor-first", req_id="REQ-WAIT-001"),
    a_design_block(supersedes_record_at=1),
    a_start(),
    a_start("change-grader"),
    a_build_failure(),
    a_build_failure(abort_reason="design-mismatch"),
    a_build_pass(),
    a_plan(risk="gray"),
    a_feedback(ONE, **DISSENT, findings=[a_finding()]),
    a_request(),
    a_request(target="human"),
    {**a_feedback(), "type": "consultation-response", "author": "human", "in_response_to": 1, "answer": "yes"},
    {**a_start("change-grader"), "type": "grader-verdict", "verdict": "clear"},
]
REVIEW: list[Record] = [
    a_build_pass(),
    a_plan(roster=[ONE]),
    a_start(ONE),
    a_feedback(ONE),
    a_feedback(ONE, **DISSENT, findings=[a_finding()]),
    a_feedback(ONE, **DISSENT, findings=[a_finding(tag="truncation")]),
    a_feedback(TWO, **DISSENT, findings=[a_finding(tag="autofix", location="docs/prd.md")]),
]
OPENING: list[Record] = [a_design_block(), a_build_pass()]


def a_round(*feedback: Record) -> list[Record]:
    """Return a build, a plan that names one reviewer, and what follows."""
    return [a_build_pass(), a_plan(roster=[ONE]), *feedback]


ROUNDS: list[list[Record]] = [
    a_round(a_feedback(ONE)),
    a_round(a_feedback(ONE, **DISSENT, findings=[a_finding()])),
    a_round(a_feedback(ONE, **DISSENT, findings=[a_finding(tag="truncation")])),
    a_round(*[a_feedback(ONE, **DISSENT, findings=[a_finding(severity="fixable")])] * 2),
    a_round(a_feedback(ONE, findings=[a_finding(tag="escalate")])),
    a_round(a_feedback(ONE, **DISSENT), a_start(ONE)),
]


def ledgers(alphabet: list[list[Record]], longest: int) -> Iterable[list[Record]]:
    """Yield every sequence of one to `longest` pieces."""
    for length in range(1, longest + 1):
        for pieces in itertools.product(alphabet, repeat=length):
            yield [record for piece in pieces for record in piece]


class ExhaustiveTest(unittest.TestCase):
    def test_every_ledger_of_three_records_from_a_whole_life(self) -> None:
        reached = {8, 12, 13, 14, 15, 17, 18, 19, 21, 23, 24, 28, 32, 34, 35, 36, 37, 38, 41, 43, 44, 48, 54}
        self.assertEqual(self.judge_all(ledgers([[one] for one in LIFE], 3), []), (5219, reached))

    def test_every_ledger_of_four_records_from_the_review_phase(self) -> None:
        reached = {52, 53, 54, 58, 63, 65, 70}
        self.assertEqual(self.judge_all(ledgers([[one] for one in REVIEW], 4), OPENING), (2800, reached))

    def test_every_ledger_of_five_rounds(self) -> None:
        reached = {53, 55, 59, 60, 61, 63, 70}
        self.assertEqual(self.judge_all(ledgers(ROUNDS, 5), OPENING[:1]), (9330, reached))

    def judge_all(self, every: Iterable[list[Record]], opening: list[Record]) -> tuple[int, set[int]]:
        """Judge each ledger behind an opening; return how many there are and the numbers of the rows that decided."""
        seen, reached = 0, set()
        for ledger in every:
            seen += 1
            reached.add(self.judge([*opening, *ledger]))
        return seen, reached

    def judge(self, log: list[Record]) -> int:
        """Compare the decision with the model's, look at the invariants, and return the row's number."""
        history = History(enumerate(log, 1))
        tried: list[Any] = []
        decision = decide(Situation(Log(history, [], len(log)), None, lambda _record: [], list), tried)
        answer = Model(log, {}, None, lambda _record: [], list).decide()
        same = all(decision.get(key) == answer.get(key) for key in ("decision", "rule", "next", "req_id"))
        context = decision.get("context", {})
        if not same or (context != answer["context"] and "errors" not in context):
            self.fail(f"{decision}\n{answer}\n{log}")
        held = [holds for _, holds in tried]
        if held != [False] * (len(held) - 1) + [True]:
            self.fail(f"not decided by the last row alone: {held}\n{log}")
        self.keep_the_invariants(decision, context, log)
        return ROUTE.index(tried[-1][0]) + 1

    def keep_the_invariants(self, decision: Record, context: Record, log: list[Record]) -> None:
        """Look at what must hold of any decision (route.md 17, 2, 11 and 12)."""
        actors = decision.get("next", [])
        wrong = (
            bool(actors) != (decision["decision"] == "dispatch")
            or len(set(actors)) != len(actors)
            or any(map(names_human, actors))
            or ("errors" in decision and decision["decision"] != "blocked")
            or (decision["rule"] == "process-findings" and {GRADER, *FLOOR} & set(actors))
            or (decision["rule"] == "process-findings" and context["round"] > 3 and dissents_substantively(log[-1]))
            or (decision["rule"] in {"reviews-needed", "reviewer-stall-retry"} and not set(actors) <= set(FLOOR))
            or (PLANNER in actors and decision["rule"].split("-")[0] not in {"plan", "planner"})
        )
        if wrong:
            self.fail(f"{decision}\n{log}")


if __name__ == "__main__":
    unittest.main()
