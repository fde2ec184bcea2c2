"""What holds for any mix of records, layouts and flags (route.md 17)."""

from __future__ import annotations

import copy
import functools
import json
import unittest
from random import Random
from typing import TYPE_CHECKING, Any

from handoff_core.gates import names_human
from handoff_core.jsonl import dump_ascii
from handoff_core.ledger import parse_strict
from handoff_core.records import FLOOR, GRADER, SUBSTANTIVE
from handoff_core.routing.explain import explained_text, explanation
from handoff_core.routing.history import History
from handoff_core.routing.reader import read_history
from handoff_core.routing.router import decide
from handoff_core.routing.situation import Situation
from handoff_core.routing.slice import Log

from tests.routing.cases import Decision, a_situation, bytes_of
from tests.routing.random_logs import LAYOUTS, SLICES, a_log, a_record

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, Any]
    Given = dict[str, Any]
    Check = Callable[[Any, Random, list[Record], Given], None]

LOGS = 400
KEYS = ["decision", "next", "rule", "reason", "req_id", "errors", "context"]
AUTOFIX = {"type": "prd-autofix", "author": "root"}


def on_every_log(check: Check) -> Callable[[unittest.TestCase], None]:
    """Return the test that runs a check on each of the random logs, with a layout and a scope delta."""

    @functools.wraps(check)
    def test(self: Any) -> None:
        for seed in range(LOGS):
            random = Random(seed)
            log = a_log(random, odd=random.choice((0, 0.05, 0.4)))
            given = {
                "layout": random.choice(LAYOUTS),
                "permissive": random.random() < 0.5,
                "delta": random.choice(((), None, ["NG-1"])),
            }
            with self.subTest(seed=seed):
                check(self, random, log, given)

    return test


class InvariantsTest(unittest.TestCase):
    @on_every_log
    def test_a_decision_is_always_computed_and_well_formed(
        self, _random: Random, log: list[Record], given: Given
    ) -> None:
        for req_id in (None, *SLICES):
            at = a_situation(log, req_id=req_id, **given)
            decision = decide(at)
            if decision["rule"] == "process-findings":
                self.assertFalse(at.round > 3 and at.substantive_dissent)
            self.judge(decision, extras=given["layout"].get("harness"))

    def judge(self, decision: Decision, extras: Any) -> None:
        self.assertEqual(list(decision), [key for key in KEYS if key in decision])
        self.assertEqual("next" in decision, decision["decision"] == "dispatch")
        self.assertRegex(decision["reason"], r"^[^\x00-\x1f\x7f-\x9f]+$")
        actors = decision.get("next", ["nobody"])
        self.assertTrue(actors)
        self.assertEqual(len(set(actors)), len(actors))
        named = extras.get("extra_reviewers") if isinstance(extras, dict) else None
        if not isinstance(named, list) or "human" not in named:
            self.assertFalse(any(map(names_human, actors)))
        self.assertFalse("errors" in decision and decision["decision"] != "blocked")
        self.assertNotEqual(decision.get("errors"), [])
        self.assertNotEqual(decision.get("context"), {})
        self.assertFalse("errors" in decision.get("context", {}) and decision["decision"] != "dispatch")
        self.assertTrue(dump_ascii(decision).isascii())
        if decision["rule"] == "process-findings":
            self.assertFalse({GRADER, *FLOOR} & set(actors))

    @on_every_log
    def test_an_explanation_changes_nothing_and_ends_with_the_row_that_holds(
        self, _random: Random, log: list[Record], given: Given
    ) -> None:
        at, tried = a_situation(log, **given), []  # type: ignore[var-annotated]
        decision = decide(at, tried)
        self.assertEqual(decision, decide(a_situation(log, **given)))
        explained = explanation(at, tried)
        json.loads(dump_ascii(explained))
        self.assertEqual([row["holds"] for row in explained["rows"]], [False] * (len(tried) - 1) + [True])
        self.assertEqual(explained["rows"][-1]["rule"], decision["rule"])
        self.assertFalse({"\x1b", "\u202e"} & set(explained_text(decision, explained)))

    @on_every_log
    def test_key_order_and_time_and_undeclared_fields_do_not_matter(
        self, random: Random, log: list[Record], given: Given
    ) -> None:
        turned = [dict(random.sample(list(record.items()), len(record))) for record in log]
        for record in turned:
            if isinstance(record.get("ts"), str) and len(record["ts"]) > 20:
                record["ts"] = "1970-01-01T00:00:00Z"
            record["note_of_nobody"] = 1
        self.assertEqual(answer(turned, given), answer(log, given))

    @on_every_log
    def test_the_grade_changes_nothing_but_the_context(self, _random: Random, log: list[Record], given: Given) -> None:
        other = copy.deepcopy(log)
        for record in other:
            if record.get("type") == "grader-verdict":
                record["verdict"] = "nonsense"
        decisions = [answer(each, given) for each in (log, other)]
        for decision in decisions:
            decision.get("context", {}).pop("verdict", None)
        self.assertEqual(*decisions)

    @on_every_log
    def test_an_autofix_or_unknown_record_behind_the_last_line_changes_nothing(
        self, random: Random, log: list[Record], given: Given
    ) -> None:
        last = log[-1]
        kind, target = last.get("type"), last.get("target")
        speaks = isinstance(kind, str) and (kind in SUBSTANTIVE or kind == "dispatch-start")
        asks = kind == "consultation-request" and not names_human(target)
        if not isinstance(last.get("req_id"), str) or not last["req_id"] or not (speaks or asks):
            return
        addition: Record = random.choice((AUTOFIX, {"type": "note", "author": "root"}, {"type": [], "author": {}}))
        self.assertEqual(answer([*log, {**addition, "req_id": last["req_id"]}], given), answer(log, given))

    @on_every_log
    def test_other_slices_matter_only_for_the_pause_the_refactors_and_the_owners_word(
        self, random: Random, log: list[Record], given: Given
    ) -> None:
        matter = ("consultation-request", "consultation-response", "design-block", "intake-decision")
        own = next((record["req_id"] for record in log if record.get("req_id") in SLICES), None)
        if own is None:
            return
        other = [
            record if record.get("req_id") == own or record.get("type") in matter else a_stranger(random, line)
            for line, record in enumerate(log, 1)
        ]
        self.assertEqual(answer(other, {**given, "req_id": own}), answer(log, {**given, "req_id": own}))

    @on_every_log
    def test_an_approval_by_a_stranger_changes_nothing_but_the_escalate_halt(
        self, _random: Random, log: list[Record], given: Given
    ) -> None:
        at = a_situation(log, **given)
        decision = decide(at)
        standing = ("dirty-log", "missing-req-id", "layout-invalid", "human-consultation", "escalate-finding-halt")
        if decision["rule"] in standing or at.state != "review":
            return
        stranger = a_quiet_approval(at.req_id)
        self.assertEqual(answer([*log, stranger], given), answer(log, given))

    @on_every_log
    def test_all_slices_are_decided_as_each_by_itself(self, _random: Random, log: list[Record], given: Given) -> None:
        data = bytes_of(log)
        history, _ = read_history(data, None, every_slice=True)
        for req_id in history.slices:
            at = a_situation(log, **given, req_id=req_id)
            whole = Log(history, [])
            whole.layout = given["layout"]
            same = Situation(whole, req_id, at.__dict__["_gate"], at.__dict__["_scope_delta"])
            self.assertEqual(decide(same), decide(at))

    @on_every_log
    def test_the_fast_reader_agrees_with_the_strict_one(self, random: Random, log: list[Record], _given: Given) -> None:
        pieces = bytes_of(log).split(b"\n")
        if random.random() < 0.5:
            pieces[random.randrange(len(pieces))] = random.choice(DAMAGE)
        data = b"\n".join(pieces)
        entries, problems = parse_strict(data)
        history, found = read_history(data, None, every_slice=True)
        self.assertEqual([str(problem) for problem in found], problems)
        if not problems:
            slow = History(entries)
            for name in ("last", "owner_spoke", "pending", "records", "slices", "waiting"):
                self.assertEqual(getattr(history, name), getattr(slow, name), name)


DAMAGE = (
    b"", b"   ", b"{", b"[]", b"3", b'"x"', b"null", b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":1e999}', b"{} {}",
    b'{"a":"\\ud83d\\ude00"}', b'{"a":"' + b"[" * 200 + b'"}', b'{"a":' + b"[" * 101 + b"]" * 101 + b"}",
    b'{"a":' + b"[" * 99 + b"]" * 99 + b"}", b"\xff", b'{"a":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}", b" {} \r",
    b'{"a":1}\r',
    b'{"a":"\x01"}', b"{'a':1}", b'{"a":' + b"9" * 101 + b"}", b'{"a":' + b"9" * 100 + b"}", b"<<<<<<< x", b"=======",
    b'{"type":["x"],"req_id":{}}', b'{"\\u0061":1,"a":2}', b"\x00\x00", b'{"a":"\xe2\x80\xa8"}',
)  # fmt: skip
"""Lines of every kind that a log may hold by accident."""


def answer(log: list[Record], given: Given) -> Decision:
    """Return the decision without its reason and the wording of its errors."""
    decision = dict(decide(a_situation(log, **given)))
    del decision["reason"]
    return decision


def a_quiet_approval(req_id: str | None) -> Record:
    """Return an approval without findings by somebody whom no roster names."""
    approval = {"type": "review-feedback", "author": "nobody-reviewer", "verdict": "approved", "findings": []}
    return {**approval, "req_id": req_id}


def a_stranger(random: Random, line: int) -> Record:
    """Return a record of another slice whose type matters to its own slice alone."""
    while True:
        record = a_record(random, "REQ-ELSE-001", line)
        if record["type"] not in ("consultation-request", "consultation-response", "design-block", "intake-decision"):
            return record


if __name__ == "__main__":
    unittest.main()
