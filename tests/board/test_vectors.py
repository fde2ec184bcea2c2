"""Every public case of the board runs as a subtest."""

from __future__ import annotations

import os
import tempfile
import unittest

from tests.board.view_vectors import failures, mismatches, needs_shared
from tests.support import vectors


class Vectors(unittest.TestCase):
    def test_every_vector_of_view_holds(self) -> None:
        skipped = 0
        for case in vectors("view.jsonl"):
            if needs_shared(case):
                skipped += 1
                continue
            with self.subTest(case["name"]), tempfile.TemporaryDirectory(prefix="handoff-view-") as folder:
                self.assertEqual(failures(case, os.path.join(folder, "project")), [])
        if skipped:
            self.skipTest(f"../shared is not here: {skipped} cases rest on ledgers that the repository does not hold")

    def test_the_matching_itself_can_fail(self) -> None:
        self.assertEqual(mismatches({"a": [1, {"$len": 2}]}, {"a": [1, [0, 0]], "b": 0}), [])
        self.assertTrue(mismatches({"a": 1}, {"a": True}))
        self.assertTrue(mismatches({"a": 1}, {"b": 1}))
        self.assertTrue(mismatches([1], [1, 2]))
        self.assertTrue(mismatches({"$contains": [3]}, [1, 2]))
        self.assertTrue(mismatches({"$approx": [1, 0.1]}, None))
        self.assertTrue(mismatches({"$match": "^b"}, "ab"))


if __name__ == "__main__":
    unittest.main()
