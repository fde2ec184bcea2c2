"""The tables of the hooks agree with what they are about: the program, the modules, the settings, the hook files."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import unittest

from handoff_core.cli import COMMANDS

from tests.hooks.project import GUARD_HOOK, HOOKS, SOURCE, allow_judge, guard_commands, guard_plain, guard_shell, load
from tests.support import REPOSITORY


class Tables(unittest.TestCase):
    def test_each_flag_of_an_approved_command_is_in_the_table_or_withheld(self) -> None:
        commands = {command.name: command for command in COMMANDS}
        for name, rule in allow_judge.COMMANDS.items():
            known = {option for flag in commands[name].flags for option in flag.names if option.startswith("-")}
            withheld = {option.removeprefix(name + " ") for option in allow_judge.WITHHELD}
            with self.subTest(name):
                self.assertEqual(known - set(rule.flags) - withheld, set(), "neither approved nor withheld")
                self.assertEqual(set(rule.flags) - known, set(), "approved, but no flag of the command")

    def test_no_withheld_flag_is_approved(self) -> None:
        for name, rule in allow_judge.COMMANDS.items():
            with self.subTest(name):
                self.assertEqual(set(rule.flags) & set(allow_judge.WITHHELD), set())

    def test_commands_that_read_or_write_what_a_person_should_choose_are_not_approved(self) -> None:
        self.assertEqual(set(allow_judge.COMMANDS) & {"build", "init", "demo"}, set())

    def test_each_module_has_the_rules_that_the_table_of_commands_says(self) -> None:
        for module, names in guard_commands.MODULES.items():
            with self.subTest(module):
                self.assertEqual(set(importlib.import_module(module).TABLE), set(names.split()))

    def test_the_hook_files_carry_the_modules_as_they_stand(self) -> None:
        done = subprocess.run(
            [sys.executable, os.path.join(SOURCE, "embed.py"), "--check"], capture_output=True, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_guard_lets_no_writer_pass_by_the_look_at_the_raw_bytes(self) -> None:
        self.assertEqual({word.decode() for word in GUARD_HOOK.WORDS}, set(guard_commands.telling_words()))
        loud = [name for name, home in guard_commands.HOMES.items() if home not in guard_commands.QUIET_MODULES]
        for name in loud:
            with self.subTest(name):
                payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": f"{name} alias"}})
                self.assertFalse(GUARD_HOOK.is_harmless(payload.encode()))

    def test_the_quick_look_at_plain_commands_knows_all_names_of_the_tables(self) -> None:
        words = (set(guard_commands.HOMES) | set(guard_shell.KEYWORDS)) - {"{", "}"}
        self.assertEqual(set(guard_plain.KNOWN), words - set(guard_plain.READERS))

    def test_checking_tells_a_hook_file_that_differs(self) -> None:
        embed = load(os.path.join(SOURCE, "embed.py"))
        for name in embed.CARRIED:
            with self.subTest(name):
                self.assertEqual(embed.embedded(name), embed.read(os.path.join(HOOKS, name)))
        with self.assertRaises(FileNotFoundError):
            embed.entry("no_such_module")

    def test_the_settings_register_both_hooks_by_the_path_of_the_project(self) -> None:
        with open(os.path.join(REPOSITORY, ".claude", "settings.json"), encoding="utf-8") as opened:
            entries = json.load(opened)["hooks"]["PreToolUse"]
        found = {entry["matcher"]: entry["hooks"][0] for entry in entries}
        allow, guard = found["Bash"], found["^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|mcp__.*)$"]
        folder = "${CLAUDE_PROJECT_DIR}/.claude/hooks/"
        self.assertEqual(allow["args"], ["-I", "-S", folder + "handoff-allow.py"])
        self.assertEqual(guard["args"], ["-I", "-S", folder + "handoff-log-guard.py"])
        self.assertEqual((guard["command"], guard["timeout"], guard["onFailure"]), ("python3", 10, "block"))
