from __future__ import annotations

import unittest

from tests.hooks.project import answers, bash_payload, ends_early, is_denied, project
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
                self.assertFalse(harmless and denied, "a quick look ends a call that is denied")

    def test_there_are_vectors_of_each_kind(self) -> None:
        kinds = {(vector["hook"], vector["expect"]) for vector in vectors("hooks.jsonl")}
        self.assertEqual(kinds, {("allow", "allow"), ("allow", "defer"), ("guard", "deny"), ("guard", "defer")})


class QuickLook(unittest.TestCase):
    def test_it_ends_ordinary_calls_and_leaves_the_others_to_the_full_judgement(self) -> None:
        cases = (
            ("git commit -m 'say what it does'", True),
            ("tail -n 5 .scratch/handoff.jsonl | jq .type", True),
            ('make test > docs/log 2>&1 && echo "it\'s done"', True),
            ('python3 scripts/handoff.py append t <<\'EOF\'\n{"a": "rm .scratch/handoff.jsonl"}\nEOF', True),
            ("echo x > .scratch/handoff.jsonl", False),
            ("echo x > alias.jsonl", False),
            ("echo x > door.jsonl", False),
            ("echo x > folder/new.jsonl", False),
            ("echo x > ../.scratch/x", False),
            ("cat <<'EOF' | sh\nrm .scratch/handoff.jsonl\nEOF", False),
            ("cat .scratch/handoff.jsonl; r'm' .scratch/handoff.jsonl", False),
            ("if true; then rm .scratch/handoff.jsonl; fi", False),
            ("x=rm; $x .scratch/handoff.jsonl", False),
            ("echo `rm .scratch/handoff.jsonl`", False),
            ("cat .scratch/handoff.jsonl & rm .scratch/handoff.jsonl", False),
            ("diff --output=.scratch/handoff.jsonl docs/a.md new.jsonl", False),
            ("./rm .scratch/handoff.jsonl", False),
            ("perl5.36 -i -pe s/a/b/ .scratch/handoff.jsonl", False),
        )
        steps = [["symlink", ".scratch/handoff.jsonl", "alias.jsonl"], ["link", ".scratch/handoff.jsonl", "door.jsonl"]]
        for command, ends in cases:
            with self.subTest(command), project([] if ends else [*steps, ["symlink", "docs", "folder"]]) as root:
                self.assertEqual(ends_early(bash_payload(command, root)), ends)

    def test_a_ledger_that_is_a_link_is_left_to_the_full_judgement(self) -> None:
        steps = [["move", ".scratch/handoff.jsonl", "docs/log"], ["symlink", "../docs/log", ".scratch/handoff.jsonl"]]
        with project(steps) as root:
            self.assertFalse(ends_early(bash_payload("echo x >> docs/log", root)))
            self.assertTrue(is_denied("echo x >> docs/log", root))
