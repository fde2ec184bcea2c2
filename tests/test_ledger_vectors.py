"""Every vector of `tests/data/ledger.jsonl`, one subtest each."""

from __future__ import annotations

import unittest

from tests.ledger_vectors import run_vector
from tests.support import SHARED, vectors


class LedgerVectors(unittest.TestCase):
    def test_every_vector_holds(self) -> None:
        skipped = []
        for vector in vectors("ledger.jsonl"):
            if SHARED is None and ("log_from" in vector or "replay" in vector):
                skipped.append(vector["name"])
                continue
            with self.subTest(vector["name"]):
                run_vector(self, vector)
        if skipped:
            raise unittest.SkipTest(f"../shared is not here: {len(skipped)} vectors on real ledgers were left out")


if __name__ == "__main__":
    unittest.main()
