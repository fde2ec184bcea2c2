"""Reading a sealed log without parsing every line gives the same answers, and only where the seal agrees."""

from __future__ import annotations

import json
import unittest
from random import Random
from typing import TYPE_CHECKING, Any
from unittest import mock

from handoff_core.routing.explain import explanation
from handoff_core.routing.reader import read_history
from handoff_core.routing.router import decide
from handoff_core.routing.sealed import read_sealed
from handoff_core.routing.situation import Situation
from handoff_core.routing.slice import Log

from tests.ledger_vectors import seal_of
from tests.records import a_build_pass, a_design_block, a_prd_entry
from tests.routing.cases import bytes_of
from tests.routing.random_logs import LAYOUTS, SLICES, a_log
from tests.support import ProjectCase

if TYPE_CHECKING:
    from handoff_core.routing.history import History

LOGS = 300


class SameAnswerTest(unittest.TestCase):
    def test_a_sealed_log_is_decided_as_one_that_is_read_whole(self) -> None:
        for seed in range(LOGS):
            random = Random(seed)
            data = bytes_of(a_log(random, odd=random.choice((0, 0.1))))
            pieces = data.split(b"\n")[:-1]
            raw = {number for number in range(1, len(pieces) + 1) if random.random() < 0.2}
            seal = seal_of(pieces, raw)
            layout = random.choice(LAYOUTS)
            for wanted in (None, *SLICES, "REQ-NONE-001"):
                with self.subTest(seed=seed, wanted=wanted):
                    sealed = read_sealed(data, seal, wanted)
                    whole, _ = read_history(data, wanted, every_slice=False)
                    if sealed is None:
                        self.assertIsNone(wanted)
                        self.assertNotIsInstance(json.loads(pieces[-1]).get("req_id"), str)
                        continue
                    for fact in ("records", "last", "pending", "owner_spoke", "waiting"):
                        self.assertEqual(getattr(sealed, fact), getattr(whole, fact), fact)
                    self.assertEqual(explained(sealed, wanted, layout), explained(whole, wanted, layout))

    def test_a_seal_that_does_not_agree_is_not_trusted(self) -> None:
        data = bytes_of([a_prd_entry(), a_design_block(), a_build_pass()])
        pieces = data.split(b"\n")[:-1]
        seal = seal_of(pieces, set())
        self.assertIsNotNone(read_sealed(data, seal, None))
        for place in range(0, len(data), 7):
            flipped = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            self.assertIsNone(read_sealed(flipped, seal, None), place)
        for other in (b"", b"\n", seal[:-1], seal_of(pieces[:2], set()), seal + b"{}\n", seal[seal.find(b"\n") + 1 :]):
            self.assertIsNone(read_sealed(data, other, None))
        self.assertIsNone(read_sealed(data[:-1], seal, None))
        self.assertIsNone(read_sealed(b"", seal, None))

    def test_a_line_that_the_seal_marks_raw_is_parsed(self) -> None:
        pieces = [b"{}", b"{torn", bytes_of([a_build_pass()])[:-1]]
        data = b"\n".join(pieces) + b"\n"
        self.assertIsNone(read_sealed(data, seal_of(pieces, {2}), None))


class CommandTest(ProjectCase):
    def route(self, pieces: list[bytes], *flags: str) -> Any:
        """Route a log of these lines, sealed as if append had written them."""
        self.write(".scratch/handoff.jsonl", b"".join(piece + b"\n" for piece in pieces))
        self.write(".scratch/handoff.seal", seal_of(pieces, set()))
        with mock.patch("handoff_core.commands.route.SEALED_BYTES", 1):
            result = self.run_here("route", *flags)
        self.assertEqual((result.code, result.err), (0, ""))
        return json.loads(result.out)

    def test_a_seal_spares_the_parsing_of_lines_that_cannot_matter(self) -> None:
        pieces = [b'{"type": "note", "req_id": "REQ-ELSE-001"}'] * 50 + [bytes_of([a_build_pass()])[:-1]]
        with mock.patch("handoff_core.routing.reader.scan", side_effect=AssertionError):
            self.assertEqual(self.route(pieces)["rule"], "reviews-needed")

    def test_a_seal_that_vouches_for_a_broken_line_is_not_believed_where_the_line_matters(self) -> None:
        grade = b'{"type": "grader-verdict", "req_id": "REQ-LOAN-001", "verdict": "clear"}'
        decision = self.route([b'{"type": "design-block", "req_id": ', grade])
        self.assertEqual(decision["rule"], "dirty-log")
        self.assertIn("line 1", decision["errors"][0])
        self.assertEqual(self.route([b'{"REQ-LOAN-001": ', grade])["rule"], "dirty-log")


def explained(history: History, wanted: str | None, layout: dict[str, Any]) -> Any:
    """Return the decision and its explanation."""
    log = Log(history, [], history.records)
    log.layout = layout
    at = Situation(log, wanted, lambda _record: [], lambda: ["NG-1"])
    tried: list[Any] = []
    return decide(at, tried), explanation(at, tried)


if __name__ == "__main__":
    unittest.main()
