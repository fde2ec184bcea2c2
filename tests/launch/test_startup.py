"""Start-up is a feature: which modules a command loads, judged by name and not by the clock (style.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

from tests.records import a_design_block, a_request, lines
from tests.support import SCRIPTS, ProjectCase

ENTRY = os.path.join(SCRIPTS, "handoff.py")
HEAVY = {
    "dataclasses", "inspect", "typing", "pathlib", "subprocess", "tomllib", "tempfile", "logging", "shutil",
    "importlib.resources", "hashlib", "argparse", "json", "datetime", "random", "gettext", "locale", "signal",
}  # fmt: skip
"""Modules that no command of the hot path needs."""


class Startup(ProjectCase):
    def loaded(self, *argv: str, stdin: bytes = b"") -> set[str]:
        """Return the modules that a run of the program loads beyond those of `python -c pass`."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [sys.executable, "-X", "importtime", "-I"]
        found = []
        for rest, data in ((["-c", "pass"], b""), ([ENTRY, *argv], stdin)):
            run = subprocess.run(
                [*command, *rest], input=data, cwd=self.root, env=environment, capture_output=True, check=False
            )
            self.assertEqual(run.returncode, 0, run.stderr[-300:])
            rows = (line.rsplit("|", 1) for line in run.stderr.decode().splitlines() if line.startswith("import time:"))
            found.append({row[1].strip() for row in rows})
        return found[1] - found[0]

    def setUp(self) -> None:
        super().setUp()
        self.write(".scratch/handoff.jsonl", lines(a_design_block()))

    def test_append_loads_nothing_heavy(self) -> None:
        loaded = self.loaded("append", "consultation-request", stdin=json.dumps(a_request()).encode())
        self.assertEqual(loaded & HEAVY, set())
        self.assertNotIn("handoff_core.patterns", loaded)

    def test_latest_and_next_retry_do_not_even_load_re(self) -> None:
        for argv in (("latest", "--type", "design-block"), ("next-retry", "--req-id", "REQ-LOAN-001")):
            with self.subTest(argv=argv):
                self.assertEqual(self.loaded(*argv) & (HEAVY | {"re"}), set())

    def test_route_loads_nothing_heavy(self) -> None:
        loaded = self.loaded("route")
        self.assertEqual(loaded & HEAVY, set())
        self.assertFalse([name for name in loaded if name.startswith(("handoff_core.capture", "handoff_core.board"))])
        self.assertNotIn("handoff_core.routing.explain", loaded)


if __name__ == "__main__":
    unittest.main()
