"""`route` decides as the second reading of route.md does, on thousands of logs."""

from __future__ import annotations

import collections
import json
import unittest
from random import Random
from typing import TYPE_CHECKING, Any

from handoff_core.routing.router import decide
from handoff_core.routing.table import ROUTE

from tests.property.logs import USUAL, a_contest, a_walk
from tests.property.route_model import Model
from tests.routing.cases import SHIPPED, a_situation, delta_of, layout_of
from tests.routing.random_logs import SLICES, a_log
from tests.support import vectors

if TYPE_CHECKING:
    from collections.abc import Callable

Record = dict[str, Any]
KINDS: tuple[tuple[str, int, Callable[[Random, Record], list[Record]]], ...] = (
    ("walk", 400, lambda random, layout: a_walk(random, layout, random.sample(SLICES, random.choice((1, 1, 1, 2))))),
    ("contest", 700, lambda random, _layout: a_contest(random, random.choice(SLICES))),
    ("noise", 200, lambda random, _layout: a_log(random, odd=random.choice((0, 0.05, 0.4)))),
)
"""Each kind of log with how many are tried."""

UNSEEN = {"dirty-log", "layout-unreadable", "unroutable-state"}
"""Rules that the model leaves out: the log and the layout are read before it, and nothing reaches the last."""


def errors_of(decision: Record) -> list[str]:
    """Return the errors of a decision, wherever they stand."""
    found: list[str] = decision.get("errors") or (decision.get("context") or {}).get("errors") or []
    return found


class ModelTest(unittest.TestCase):
    reached: collections.Counter[tuple[str, str, str]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.reached = collections.Counter()

    def test_route_decides_as_the_model_does_and_every_rule_occurs(self) -> None:
        for name, count, logs in KINDS:
            for seed in range(count):
                random = Random(seed)
                layout = random.choice(USUAL)
                self.compare(random, logs(random, layout), layout, f"{name} {seed}")
        self.assertEqual({rule for _, rule, _ in self.reached}, {row.rule for row in ROUTE} - UNSEEN)
        self.assertEqual(
            {cause for _, _, cause in self.reached if cause},
            {"bounce-repeat", "pass-churn", "round-cap", "truncation-run"},
        )

    def test_on_the_vectors(self) -> None:
        judged = 0
        for vector in vectors("route.jsonl"):
            plain = isinstance(vector["expect"], dict) and not vector.get("at") and vector.get("log") is not None
            if not plain or vector.get("raw_log") is not None or layout_of(vector)[1] or "layout_hex" in vector:
                continue
            judged += 1
            given = {"permissive": vector.get("schemas") == "permissive", "delta": delta_of(vector)}
            self.judge(vector["log"], layout_of(vector)[0], vector["req_id"], given, vector["name"])
        self.assertGreater(judged, 100)

    def compare(self, random: Random, log: list[Record], layout: Record, name: str) -> None:
        """Compare the two on some prefixes of a log, for the last line's slice and for one of the others."""
        for length in sorted({len(log), *(random.randrange(1, len(log) + 1) for _ in range(4))}):
            given = {
                "permissive": random.random() < 0.5,
                "delta": random.choice(((), (), None, ["NG-1"])),
            }
            for req_id in (None, random.choice(SLICES)):
                self.judge(log[:length], layout, req_id, given, f"{name}, {length} records, {req_id}")

    def judge(self, log: list[Record], layout: Record, req_id: str | None, given: Record, name: str) -> None:
        decision = decide(a_situation(log, layout=layout, req_id=req_id, **given))
        gate = (lambda _record: []) if given["permissive"] else SHIPPED[json.dumps(layout, sort_keys=True)].check
        delta = None if given["delta"] is None else list(given["delta"])
        answer = Model(log, layout, req_id, gate, lambda: delta).decide()
        self.reached[answer["decision"], answer["rule"], str(answer["context"].get("cause", ""))] += 1
        with self.subTest(name):
            self.assert_same(decision, answer)

    def assert_same(self, decision: Record, answer: Record) -> None:
        context = {key: value for key, value in (decision.get("context") or {}).items() if key != "errors"}
        expected = {key: value for key, value in answer["context"].items() if key != "errors"}
        for key in ("decision", "rule", "next", "req_id"):
            self.assertEqual(decision.get(key), answer.get(key), (decision, answer))
        self.assertEqual(json.dumps(context), json.dumps(expected))
        self.assertEqual("errors" in decision, bool(answer.get("errors")))
        self.assertEqual("errors" in (decision.get("context") or {}), "errors" in answer["context"])
        said, due = errors_of(decision), errors_of(answer)
        for words in due:
            self.assertTrue(any(all(word in text for word in words) for text in said), (words, said))
        if decision["rule"] != "prd-gate-failed":
            self.assertEqual(len(said), len(due), (said, due))


if __name__ == "__main__":
    unittest.main()
