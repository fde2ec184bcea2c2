"""Errors of the JSON scanner in a fresh process, where nothing else has loaded `json` (ledger.md 2.1)."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

from tests.support import SCRIPTS, ProjectCase

REASONS = {
    b'{"a": nope': "Expecting value",
    b'{"a": "x': "Unterminated string starting at",
    b"": "Expecting value",
    b"[1,}": "Expecting value",
    b'{"a" 1}': "Expecting ':' delimiter",
    b"{} {}": "Extra data",
    b'{"a": "\x01"}': "Invalid control character at",
    b'{"a": "\\x"}': "Invalid \\escape",
    b'{"a": NaN}': "NaN is not valid JSON",
    b'{"a": 1e999}': "number out of range",
    b'{"a": 1, "\\u0061": 2}': 'duplicate key: "a"',
    b'{"a": "\\ud800"}': "lone surrogate",
    b"[" * 101: "nesting too deep",
    b"[" * 500_000: "nesting too deep",
}


class FreshScanner(ProjectCase):
    def test_each_error_is_worded_in_a_process_that_has_not_loaded_json(self) -> None:
        for data, reason in REASONS.items():
            run = subprocess.run(
                [sys.executable, os.path.join(SCRIPTS, "handoff.py"), "append", "build-pass"],
                input=data,
                cwd=self.root,
                capture_output=True,
                check=False,
            )
            with self.subTest(data=data[:20]):
                self.assertEqual(run.stderr.decode(), f"handoff.py: stdin is not valid JSON: {reason}\n")


if __name__ == "__main__":
    unittest.main()
