from __future__ import annotations

import unittest

from tests.hooks.project import answers, project
from tests.support import vectors


class Vectors(unittest.TestCase):
    def test_both_hooks_answer_each_vector_as_expected(self) -> None:
        for vector in vectors("hooks.jsonl"):
            with self.subTest(vector["id"], why=vector["why"]), project(vector.get("setup")) as root:
                allowed, denied, harmless = answers(vector, root)
                if vector["hook"] == "allow":
                    self.assertEqual("allow" if allowed else "defer", vector["expect"])
                    self.assertEqual(denied if allowed else "", "", "the guard objects to what the allow hook approves")
                elif vector["level"] == "must":
                    self.assertEqual("deny" if denied else "defer", vector["expect"])
                self.assertFalse(harmless and denied, "the look at the raw bytes ends a call that is denied")

    def test_there_are_vectors_of_each_kind(self) -> None:
        kinds = {(vector["hook"], vector["expect"]) for vector in vectors("hooks.jsonl")}
        self.assertEqual(kinds, {("allow", "allow"), ("allow", "defer"), ("guard", "deny"), ("guard", "defer")})
