"""The plugin, the pre-commit hook and the action say the same as the program and its registrations."""

from __future__ import annotations

import json
import os
import re
import unittest
from typing import Any

from handoff_core import __version__
from handoff_core.setup import harnesses

from tests.support import REPOSITORY

ACTION = os.path.join(REPOSITORY, ".github", "actions", "validate")


def read(*parts: str) -> str:
    """Return a file of the repository."""
    with open(os.path.join(REPOSITORY, *parts), encoding="utf-8") as opened:
        return opened.read()


def load(name: str) -> Any:
    return json.loads(read(".claude-plugin", name))


class PluginTest(unittest.TestCase):
    def test_versions_are_equal(self) -> None:
        market = load("marketplace.json")["plugins"][0]
        self.assertEqual({load("plugin.json")["version"], market["version"]}, {__version__})
        self.assertEqual(load("plugin.json")["description"], market["description"])

    def test_the_paths_lead_to_what_is_there(self) -> None:
        plugin = load("plugin.json")
        for key in ("skills", "hooks"):
            self.assertTrue(plugin[key].startswith("./"))
            self.assertTrue(os.path.exists(os.path.join(REPOSITORY, plugin[key])))
        self.assertEqual(load("marketplace.json")["plugins"][0]["source"], "./")

    def test_the_hooks_are_those_of_the_settings_below_the_plugins_own_root(self) -> None:
        expected = [
            {
                "matcher": harnesses.CLAUDE_MATCHERS[hook],
                "hooks": [harnesses.claude_hook(harnesses.Options(), hook, "CLAUDE_PLUGIN_ROOT")],
            }
            for hook in harnesses.HOOKS
        ]
        self.assertEqual(load("hooks.json")["hooks"], {"PreToolUse": expected})
        self.assertEqual(list(load("hooks.json")), ["description", "hooks"])


class IntegrationTest(unittest.TestCase):
    def test_the_pre_commit_hook_always_runs_validate(self) -> None:
        text = read(".pre-commit-hooks.yaml")
        for line in ("entry: handoff validate --allow-missing", "always_run: true", "pass_filenames: false"):
            self.assertIn(f"  {line}\n", text)

    def test_inputs_reach_the_action_through_the_environment_alone(self) -> None:
        text = read(".github", "actions", "validate", "action.yml")
        self.assertEqual(
            re.findall(r"^  ([a-z-]+):$", text.split("\nruns:")[0], re.MULTILINE),
            ["root", "strict", "require-seal", "sarif", "python"],
        )
        for line in text.splitlines():
            if "${{" in line:
                self.assertRegex(line, r"^        HANDOFF_[A-Z_]+: \$\{\{ (inputs\.[a-z-]+|github\.action_path) \}\}$")
        self.assertNotIn("${{", read(".github", "actions", "validate", "run.sh"))

    def test_the_summary_counts_findings_by_code(self) -> None:
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location("summary", os.path.join(ACTION, "summary.py"))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        findings = [{"level": "error", "code": "schema"}, {"level": "error", "code": "schema"}]
        self.assertIn("| error | `schema` | 2 |\n", module.table({"findings": findings}))
        self.assertEqual(module.table({"findings": []}), "No findings.\n")
