"""The checks that append and route share: each message of ledger.md 4.3 and 4.6, the next retry, odd values."""

from __future__ import annotations

import unittest
from typing import Any

from handoff_core import gates
from handoff_core.records import TYPES

from tests.records import (
    REQ,
    a_build_failure,
    a_build_pass,
    a_design_block,
    a_feedback,
    a_finding,
    a_plan,
    a_request,
    a_start,
)

Record = dict[str, Any]


def autofix(old: str, new: str, lines: Any, chars: Any, kind: str = "prd-autofix") -> Record:
    """Return an autofix record that states these sizes."""
    return {"type": kind, "old_content": old, "new_content": new, "lines_changed": lines, "chars_changed": chars}


class RecordTest(unittest.TestCase):
    def test_each_rule_of_the_record_has_its_message(self) -> None:
        pm_plan = a_plan(author="review-planner")
        cases: tuple[tuple[Record, bool, list[str]], ...] = (
            (a_plan(), True, []),
            (a_plan(), False, [
                '$.author: "review-plan-engine" is the plan engine\'s name; the engine passes --as-engine']),
            (pm_plan, True, ["--as-engine fits only a review-plan by review-plan-engine"]),
            (a_build_pass(author="review-plan-engine"), True, [
                "--as-engine fits only a review-plan by review-plan-engine"]),
            ({**pm_plan, "risk": "gray"}, False, ['$.risk: "gray" is reserved for review-plan-engine']),
            (a_plan(risk="gray"), True, []),
            (a_request(author="human"), False, [
                '$.author: "human" is accepted only on consultation-response and intake-decision']),
            (a_request(target=" Human\n"), False, ['$.target: " Human\\n" must be spelled exactly "human"']),
            (a_request(target="human"), False, []),
            (a_design_block(verdict="conflicting"), False, [
                '$.escalations: verdict "conflicting" needs at least one escalation']),
            (a_design_block(verdict="conflicting", escalations=["x"]), False, []),
            (a_design_block(), False, []),
        )  # fmt: skip
        for record, as_engine, problems in cases:
            with self.subTest(record=record, as_engine=as_engine):
                self.assertEqual(gates.record_problems(record, as_engine=as_engine), problems)

    def test_findings_are_judged_in_order_and_counted_as_written(self) -> None:
        bare = {"location": "a", "description": "b"}
        findings = [
            3,
            {**bare, "tag": "clarify", "clarify_target": ""},
            {**bare, "tag": "autofix"},
            {**bare, "tag": "blocked", "severity": 0},
            {**bare, "tag": "escalate"},
            {**bare, "tag": "truncation"},
            {**bare, "tag": ["blocked"]},
            a_finding(),
        ]
        self.assertEqual(
            gates.finding_problems(a_feedback(verdict="approved", findings=findings)),
            [
                'finding 2: tag "clarify" needs clarify_target',
                'finding 3: tag "autofix" needs severity',
                'finding 3: tag "autofix" does not fit verdict "approved"',
                'finding 4: tag "blocked" needs severity',
                'finding 4: tag "blocked" does not fit verdict "approved"',
                'finding 8: tag "blocked" does not fit verdict "approved"',
            ],
        )
        self.assertEqual(len(gates.finding_problems(a_feedback(verdict="blocked", findings=findings))), 3)
        odds: tuple[Any, ...] = (None, {}, "x", 3)
        for odd in odds:
            self.assertEqual(gates.finding_problems(a_feedback(findings=odd)), [])

    def test_an_autofix_states_its_real_size(self) -> None:
        cases: tuple[tuple[Record, list[str]], ...] = (
            (autofix("a", "b", 1, 1), []),
            (autofix("one\ntwo", "one\n2", 1, 3), []),
            (autofix("a", "b", 2, 1), ["$.lines_changed: 2, but the contents differ in 1 line(s)"]),
            (autofix("a", "abc", 1, 1), ["$.chars_changed: 1, but the contents differ in 2 character(s)"]),
            (autofix("\n".join("abcdef"), "\n".join("uvwxyz"), 5, 6), [
                "$.lines_changed: 5, but the contents differ in more than 5 line(s)"]),
            (autofix("a", "x" * 300, 1, 200), [
                "$.chars_changed: 200, but the contents differ in more than 200 character(s)"]),
            (autofix("a", "b", True, 1.0), [
                "$.lines_changed: true, but the contents differ in 1 line(s)",
                "$.chars_changed: 1.0, but the contents differ in 1 character(s)"]),
        )  # fmt: skip
        for kind in ("prd-autofix", "design-doc-autofix"):
            for record, problems in cases:
                with self.subTest(kind=kind, record=record):
                    self.assertEqual(gates.record_problems({**record, "type": kind}, as_engine=False), problems)


class LogTest(unittest.TestCase):
    def problems(self, record: Record, log: list[Record], maximum: int | None = 3) -> list[str]:
        return gates.log_problems(record, list(enumerate(log, 1)), len(log), retry_maximum=maximum)

    def test_a_pointer_names_a_line_of_the_log(self) -> None:
        start = a_start(responding_to=[0, 1, 2, 3, True, 10**30])
        self.assertEqual(
            self.problems(start, [a_build_pass()] * 2),
            [f"responding_to references non-existent log line(s) [3, {10**30}] (log has 2 line(s))"],
        )
        self.assertEqual(self.problems(a_start(responding_to=[2]), [a_build_pass()] * 2), [])

    def test_a_response_answers_a_request_of_its_slice_to_its_author(self) -> None:
        log = [a_request(target="human"), a_request(req_id="REQ-ELSE-001"), a_build_pass()]
        response = {"type": "consultation-response", "req_id": REQ, "author": "human"}
        self.assertEqual(self.problems({**response, "in_response_to": 1}, log), [])
        for line in (2, 3, 4, True):
            shown = "true" if line is True else line
            self.assertEqual(
                self.problems({**response, "in_response_to": line}, log),
                [f"$.in_response_to: line {shown} is not an earlier consultation-request of {REQ}"],
            )
        self.assertEqual(
            self.problems({**response, "author": "root", "in_response_to": 1}, log),
            ['$.author: "root" is not the target of the consultation-request at line 1 ("human")'],
        )

    def test_a_design_block_supersedes_one_of_its_slice(self) -> None:
        log = [a_design_block(), a_design_block(req_id="REQ-ELSE-001")]
        self.assertEqual(self.problems(a_design_block(supersedes_record_at=1), log), [])
        self.assertEqual(self.problems(a_design_block(supersedes_record_at=None), log), [])
        self.assertEqual(
            self.problems(a_design_block(supersedes_record_at=2), log),
            [f"$.supersedes_record_at: line 2 is not an earlier design-block of {REQ}"],
        )

    def test_a_failure_carries_the_next_retry(self) -> None:
        log = [a_build_failure(), a_design_block(), a_build_failure(), a_build_pass()]
        self.assertEqual(gates.next_retry(enumerate(log, 1), REQ), 2)
        self.assertIsNone(gates.next_retry(enumerate(log[:1], 1), REQ))
        self.assertEqual(self.problems(a_build_failure(retry=2), log), [])
        self.assertEqual(self.problems(a_build_failure(retry=9), log[:1]), [])
        self.assertEqual(
            self.problems(a_build_failure(retry=1), log),
            [f"$.retry: 1 does not match the next retry 2 of {REQ}"],
        )
        self.assertEqual(
            self.problems(a_build_failure(retry=2), log, maximum=1),
            ["retry 2 exceeds the schema maximum (1) — escalate per Build-Failure Recovery instead of appending"],
        )

    def test_a_reviewer_announces_itself_after_each_build(self) -> None:
        log = [a_start("test-reviewer"), a_build_pass(), a_start("doc-reviewer"), a_start("test-reviewer", req_id="X")]
        missing = "review-feedback by test-reviewer has no dispatch-start since the build-pass at line 2"
        self.assertEqual(self.problems(a_feedback(), log), [f"{missing}; append a dispatch-start and retry"])
        self.assertEqual(self.problems(a_feedback("doc-reviewer"), log), [])
        self.assertEqual(self.problems(a_feedback(), log[:1]), [])

    def test_a_changed_prd_goes_past_the_designer_before_a_build(self) -> None:
        changed = {
            "type": "consultation-response",
            "req_id": REQ,
            "author": "product-requirements-expert",
            "memory_updates": [{"path": "./docs/prd.md#goals"}],
        }
        refused = self.problems(a_build_pass(), [a_design_block(), changed])
        self.assertEqual(len(refused), 1)
        self.assertIn("consultation-response at line 2, which changed docs/prd.md", refused[0])
        self.assertTrue(refused[0].endswith("consult system-design-expert first"))
        for settling in (a_design_block(), {**changed, "author": "system-design-expert", "memory_updates": []}):
            self.assertEqual(self.problems(a_build_pass(), [changed, settling]), [])
        odds: tuple[Any, ...] = (None, {}, [3], [{}], [{"path": 3}], [{"path": "docs/prd.md.bak"}])
        for updates in odds:
            self.assertEqual(self.problems(a_build_pass(), [{**changed, "memory_updates": updates}]), [])

    def test_every_type_says_what_it_needs_of_the_log(self) -> None:
        self.assertEqual(set(gates.NEEDS), set(TYPES))
        needing = {kind for kind, need in gates.NEEDS.items() if need != gates.NOTHING}
        self.assertEqual(needing, set(gates.LOG_CHECKS))

    def test_a_record_of_any_other_type_passes(self) -> None:
        odds: tuple[Any, ...] = (None, 3, [], {}, "note")
        for kind in odds:
            self.assertEqual(gates.record_problems({"type": kind}, as_engine=False), [])
            self.assertEqual(self.problems({"type": kind}, [a_build_pass()]), [])


if __name__ == "__main__":
    unittest.main()
