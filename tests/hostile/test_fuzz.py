"""Promise P26: whatever bytes stand in log, seal, layout, schema or stdin, the answer is lines and an exit code."""

from __future__ import annotations

import os
import random
import shutil
import unittest

from tests.records import a_design_block, a_request, lines
from tests.support import REPOSITORY, ProjectCase

COMMANDS = (
    ("validate",),
    ("validate", "--format", "json"),
    ("validate", "--format", "sarif"),
    ("latest", "--type", "design-block"),
    ("next-retry", "--req-id", "REQ-LOAN-001"),
    ("show", "--last", "0"),
    ("show", "--json"),
    ("route",),
    ("route", "--all", "--explain"),
    ("audit-autofix",),
    ("view", "--no-cost"),
    ("append", "consultation-request"),
    ("append", "design-block"),
)
PIECES = (b"\n", b"{", b"}", b'"type"', b'"req_id"', b":", b",", b"[", b"]", b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800",
    b"null", b"NaN", b"1e999", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b'{"type": "build-pass"}\n', b"\r\n", b"=======\n")  # fmt: skip


class RandomBytes(ProjectCase):
    def noise(self, chance: random.Random, base: bytes) -> bytes:
        """Return `base` with pieces put in, taken out and turned over."""
        data = bytearray(base)
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(data) + 1)
            choice = chance.random()
            if choice < 0.5:
                data[at:at] = chance.choice(PIECES)
            elif choice < 0.8:
                del data[at : at + chance.randrange(20)]
            elif data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
        return bytes(data)

    def judge(self, *argv: str, stdin: bytes) -> None:
        result = self.run_here(*argv, stdin=stdin)
        self.assertIn(result.code, (0, 1, 3, 5))
        self.assertNotIn("Traceback", result.err)
        self.assertNotIn("internal error", result.err)
        strays = [line for line in result.err.split("\n")[:-1] if not line.startswith("handoff.py: ")]
        self.assertEqual(strays, [])

    def test_no_noise_in_any_file_ends_in_a_traceback(self) -> None:
        shutil.copytree(os.path.join(REPOSITORY, "schemas"), os.path.join(self.root, "schemas"))
        with open(os.path.join(REPOSITORY, "schemas", "scratch", "design-block.schema.json"), "rb") as opened:
            schema = opened.read()
        layout = b'test_name_pattern = "^a$"\n[gate]\nverbs = ["test"]\n[harness]\nextra_reviewers = ["ux-reviewer"]\n'
        log = lines(a_design_block(), a_request())
        files = {
            ".scratch/handoff.jsonl": log,
            ".scratch/handoff.seal": b'{"line":1,"end":9,"chain":"' + b"0" * 64 + b'"}\n',
            "scripts/layout.toml": layout,
            "schemas/scratch/design-block.schema.json": schema,
        }
        for seed in range(60):
            chance = random.Random(seed)
            for name, base in files.items():
                self.write(name, self.noise(chance, base) if chance.random() < 0.6 else base)
            argv = COMMANDS[seed % len(COMMANDS)]
            for command in (argv, chance.choice(COMMANDS)):
                with self.subTest(seed=seed, command=command):
                    self.judge(*command, stdin=self.noise(chance, lines(a_design_block())[:-1]))


if __name__ == "__main__":
    unittest.main()
