"""The table itself: no row is dead, none can be left out or moved, and its printed form is that of the code."""

from __future__ import annotations

import os
import unittest
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from handoff_core.routing import guards, printed
from handoff_core.routing.router import decide
from handoff_core.routing.states import ANY, STATES
from handoff_core.routing.table import ROUTE, Row

from tests.routing.cases import Decision, all_cases
from tests.support import REPOSITORY, run

if TYPE_CHECKING:
    from handoff_core.routing.situation import Situation

EXCLUSIVE = {
    (1, 2), (10, 11), (27, 28), (28, 29), (29, 30), (35, 36),
    (48, 49), (50, 51), (59, 60), (60, 61), (61, 62), (67, 68),
}  # fmt: skip
"""Neighbours whose guards exclude each other (route.md 15.4)."""


class RowsTest(unittest.TestCase):
    cases: dict[int, list[tuple[Situation, Decision]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.cases = {}
        for _, at in all_cases():
            tried: list[tuple[Row, bool]] = []
            decision = decide(at, tried)
            cls.cases.setdefault(ROUTE.index(tried[-1][0]), []).append((at, without_reason(decision)))

    def test_every_row_but_the_last_decides_a_case(self) -> None:
        self.assertEqual(sorted(self.cases), list(range(len(ROUTE) - 1)))

    def test_there_are_54_rule_names(self) -> None:
        self.assertEqual((len(ROUTE), len({row.rule for row in ROUTE})), (71, 54))

    def test_dropping_any_row_but_the_last_changes_an_answer(self) -> None:
        for index, row in enumerate(ROUTE[:-1]):
            with self.subTest(number=index + 1, rule=row.rule):
                self.assertTrue(self.changed_by(ROUTE[:index] + ROUTE[index + 1 :], index))

    def test_swapping_neighbours_of_one_state_changes_an_answer_unless_they_exclude_each_other(self) -> None:
        for index, (row, following) in enumerate(pairwise(ROUTE)):
            pair = (index + 1, index + 2)
            if row.at != following.at:
                continue
            with self.subTest(pair=pair, rule=row.rule):
                swapped = (*ROUTE[:index], following, row, *ROUTE[index + 2 :])
                self.assertEqual(self.changed_by(swapped, index, index + 1), pair not in EXCLUSIVE)

    def test_every_state_ends_with_a_row_that_always_holds(self) -> None:
        last = {row.at: row.when for row in ROUTE}
        self.assertEqual(set(last), {ANY, *(state.name for state in STATES)})
        self.assertEqual(set(last.values()), {guards.always})

    def changed_by(self, rows: tuple[Row, ...], *indexes: int) -> bool:
        """Say whether another table answers differently on a case that one of these rows decides."""
        return any(answer(at, rows) != decision for index in indexes for at, decision in self.cases[index])


class GuardsTest(unittest.TestCase):
    def test_a_guard_reads_exactly_the_facts_it_declares(self) -> None:
        read: dict[str, set[str]] = {guard.name: set() for guard in printed.all_guards()}
        for _, at in all_cases():
            tried: list[tuple[Row, bool]] = []
            decide(at, tried)
            for row, holds in tried:
                spy = Spy(at)
                self.assertEqual(row.when.holds(spy), holds)  # type: ignore[arg-type]
                read[row.when.name] |= spy.read
        self.assertEqual(read, {guard.name: set(guard.reads) for guard in printed.all_guards()})

    def test_every_guard_stands_in_the_table_and_says_its_condition(self) -> None:
        self.assertEqual({row.when for row in ROUTE}, set(printed.all_guards()))
        for guard in printed.all_guards():
            self.assertRegex(guard.sentence, r"^[A-Z][^\n]+\.$", guard.name)


class PrintedTest(unittest.TestCase):
    def test_the_published_rules_are_what_the_program_prints(self) -> None:
        with open(os.path.join(REPOSITORY, "refs", "route-rules.md"), encoding="utf-8", newline="") as opened:
            published = opened.read()
        self.assertEqual(run("route", "--rules", "--format", "markdown").out, published)

    def test_the_text_has_one_line_per_row(self) -> None:
        lines = run("route", "--rules").out.splitlines()
        self.assertEqual(len(lines), len(ROUTE))
        self.assertRegex(
            lines[33], r"^34 +failure +build-retry +always +dispatch\(tier, retry=failures, partial=partial"
        )

    def test_an_outcome_prints_as_it_is_written(self) -> None:
        texts = {row.then.text for row in ROUTE}
        for text in (
            'dispatch(IMPLEMENTER, continuation=silent_run, tier_reason="recovery")',
            "dispatch(asked_by, resume=True)",
            "dispatch(retry + undispatched, round_context)",
            "back_to(refused.reviewer, refused.errors, round_context)",
            "halt(req_id=held.req_id, requester=held.author, question=held.question)",
            "halt(errors=missing_escalations, escalations=escalations)",
            'halt(cause="truncation-run", round=round, dissenters=sorted(dissent))',
            "dispatch(DESIGNER, original_req_id=waiting_refactors[0], verdict=grade.verdict)",
            "escalate()",
        ):
            self.assertIn(text, texts)

    def test_the_flowchart_has_an_edge_for_every_row(self) -> None:
        chart = run("route", "--rules", "--format", "mermaid").out
        self.assertTrue(chart.startswith("flowchart TD\n"))
        for number, row in enumerate(ROUTE, 1):
            edge = f'{row.at} -->|{row.when.name}| r{number}["{row.rule}"]:::{row.then.decision}\n'
            self.assertIn(edge, chart)


class Spy:
    """Stands in for a situation and notes which facts are asked for."""

    def __init__(self, at: Situation) -> None:
        self._at = at
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._at, name)


def without_reason(decision: Decision) -> Decision:
    return {key: value for key, value in decision.items() if key != "reason"}


def answer(at: Situation, rows: tuple[Row, ...]) -> Decision | None:
    """Return what a table answers, None where it has no answer or stumbles over a fact that is not there."""
    try:
        return without_reason(decide(at, rows=rows))
    except (LookupError, TypeError):
        return None


if __name__ == "__main__":
    unittest.main()
