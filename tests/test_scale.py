"""Promises P12, P13, P15: length costs an append nothing, stamps decide nothing, a repeated failure does no harm."""

from __future__ import annotations

import json
import os
import random
import statistics
import time
import unittest

from tests.ledger_vectors import seal_of
from tests.records import a_build_failure, a_build_pass, a_design_block, a_feedback, a_plan, a_request, a_start, lines
from tests.support import ProjectCase


class AppendStaysFlat(ProjectCase):
    def median(self) -> float:
        """Return the median time of an append in this process."""
        times = []
        for _ in range(15):
            begun = time.perf_counter()
            self.assertEqual(self.append(a_request()).code, 0)
            times.append(time.perf_counter() - begun)
        return statistics.median(times)

    def grow(self, records: int) -> None:
        line = lines(a_request())
        self.write(".scratch/handoff.jsonl", line * records)
        self.write(".scratch/handoff.seal", seal_of([line[:-1]] * records, set()))
        with open(self.log, "rb") as opened:
            os.fsync(opened.fileno())  # the first append must not pay for writing the file out

    def test_an_append_to_a_fifty_times_longer_sealed_ledger_costs_about_the_same(self) -> None:
        ratios = []
        for _ in range(5):  # a busy machine may disturb a single comparison
            self.grow(1_000)
            short = self.median()
            self.grow(50_000)
            ratios.append(self.median() / short)
            if ratios[-1] <= 1.5:
                return
        self.fail(f"ratios {ratios}")


class StampsDecideNothing(ProjectCase):
    def test_route_answers_the_same_whatever_the_stamps_say(self) -> None:
        records = [
            a_design_block(),
            a_start(),
            a_build_pass(),
            a_plan(),
            a_start("test-reviewer"),
            a_feedback(verdict="changes_requested", findings=[]),
        ]
        stamps = ["2026-01-02T03:04:05+00:00", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
        shuffled = random.Random(7)
        answers = set()
        for stamp in [*stamps, None, None, None]:
            dated = [{**record, "ts": stamp or shuffled.choice(stamps)} for record in records]
            self.write(".scratch/handoff.jsonl", lines(*dated))
            answers.add(self.run_here("route").out)
        self.assertEqual(len(answers), 1, answers)


class RepeatedFailure(ProjectCase):
    def test_a_build_failure_whose_receipt_was_lost_is_refused_the_second_time(self) -> None:
        self.append(a_design_block())
        self.assertEqual(self.append(a_build_failure()).code, 0)
        again = self.append(a_build_failure())
        self.assertEqual(again.err, "handoff.py: $.retry: 1 does not match the next retry 2 of REQ-LOAN-001\n")
        self.assertEqual(self.read(".scratch/handoff.jsonl").count(b"\n"), 2)


class DryRun(ProjectCase):
    def test_a_dry_run_prints_the_line_and_makes_nothing(self) -> None:
        os.rmdir(os.path.join(self.root, ".scratch"))
        os.mkdir(os.path.join(self.root, ".git"))
        result = self.append(a_request(), "--dry-run")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(list(json.loads(result.out))[:4], ["type", "req_id", "ts", "author"])
        self.assertEqual(os.listdir(self.root), [".git"])


if __name__ == "__main__":
    unittest.main()
