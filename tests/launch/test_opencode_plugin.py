"""OpenCode's plugin asks the guard about each call and stops the ones that it denies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.support import run

SCRIPT = """
import { HandoffGuard } from "%s/.opencode/plugins/handoff.js"
const hooks = await HandoffGuard({ directory: "%s", worktree: "" })
for (const [tool, args] of [
  ["bash", { command: "echo x >> .scratch/handoff.jsonl" }],
  ["bash", { command: "cat .scratch/handoff.jsonl" }],
  ["edit", { filePath: ".scratch/handoff.seal" }],
  ["edit", { filePath: "README.md" }],
]) {
  try {
    await hooks["tool.execute.before"]({ tool }, { args })
    console.log("runs")
  } catch (error) {
    console.log(error.message.includes("handoff.py append") ? "stopped" : error.message)
  }
}
"""


class OpenCodePluginTest(unittest.TestCase):
    def test_a_denied_call_throws_and_every_other_runs(self) -> None:
        node = shutil.which("node")
        if node is None:
            self.skipTest("node is not here: the plugin cannot be started")
        with tempfile.TemporaryDirectory(prefix="handoff-opencode-") as base:
            root = os.path.realpath(base)
            flags = ("--harness", "opencode", "--no-program", "--no-skills", "--python", sys.executable)
            self.assertEqual(run("init", "--root", root, *flags).code, 0)
            script = os.path.join(root, "ask.mjs")
            with open(script, "w", encoding="utf-8") as opened:
                opened.write(SCRIPT % (root, root))
            done = subprocess.run([node, script], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.stdout.split(), ["stopped", "runs", "stopped", "runs"], done.stderr)
