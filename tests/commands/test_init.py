"""`init` installs, upgrades and removes, and leaves everything that is not its own byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import unittest
from typing import Any
from unittest import mock

from handoff_core import __version__
from handoff_core.setup import files, harnesses, record, shipped

from tests.setup.helpers import SETTINGS, changed, snapshot
from tests.support import Result, run

SETTINGS_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "opencode": "opencode.json",
}
ALLOW = ".claude/hooks/handoff-allow.py"
GUARD = ".claude/hooks/handoff-log-guard.py"


class InitCase(unittest.TestCase):
    """A test with an empty folder of its own, `self.root`."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-init-")
        self.addCleanup(holder.cleanup)
        self.root = os.path.realpath(holder.name)
        unsynced = mock.patch("os.fsync")  # a hundred flushes a test prove nothing here
        unsynced.start()
        self.addCleanup(unsynced.stop)

    def init(self, *flags: str, light: bool = True) -> Result:
        """Run init in the folder; `light` leaves the program out, which is many files."""
        light_flags = ("--no-program",) if light and "--uninstall" not in flags else ()
        return run("init", "--root", self.root, *light_flags, *flags)

    def full(self, path: str) -> str:
        return os.path.join(self.root, *path.split("/"))

    def write(self, path: str, text: str | bytes) -> None:
        os.makedirs(os.path.dirname(self.full(path)), exist_ok=True)
        with open(self.full(path), "wb") as opened:
            opened.write(text.encode() if isinstance(text, str) else text)

    def read(self, path: str) -> str:
        with open(self.full(path), "rb") as opened:
            return opened.read().decode()

    def json(self, path: str) -> Any:
        return json.loads(self.read(path))

    def record(self) -> dict[str, Any]:
        """Return the record of the installation."""
        value = self.json(record.PATH)
        assert isinstance(value, dict)
        return value

    def words(self, result: Result) -> dict[str, str]:
        """Return the action of each path that init printed before the snippets."""
        lines = result.out.split("\n\n# ")[0].splitlines()
        return {line.split(" ")[1]: line.split(" ")[0] for line in lines}

    def tree(self) -> dict[str, tuple[str, bytes]]:
        return snapshot(self.root)

    def assert_tree(self, expected: dict[str, tuple[str, bytes]]) -> None:
        self.assertEqual(changed(expected, self.tree()), [])


class InstallTest(InitCase):
    def test_a_whole_installation_can_be_read_in_the_tree(self) -> None:
        result = self.init("--harness", "claude", light=False)
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(set(self.words(result).values()), {"create"})
        tree = self.tree()
        for path in (ALLOW, GUARD):
            self.assertEqual(tree[path][0], "file 0755")
        for path in ("scripts/handoff.py", "scripts/handoff_core/cli.py", "schemas/scratch/build-pass.schema.json"):
            self.assertEqual(tree[path][0], "file 0644")
        for name in ("append", "board", "capture", "routing"):
            self.assertIn(f".claude/skills/handoff-{name}/SKILL.md", tree)
        self.assertEqual(self.read(".gitignore"), "# handoff: begin\n.scratch/\n# handoff: end\n")
        self.assertNotIn(".scratch", tree)
        self.assertNotIn(".agents", tree)
        self.assertNotIn("scripts/layout.toml", tree)

    def test_the_settings_of_claude_code_are_those_of_the_specification(self) -> None:
        self.init("--harness", "claude")
        args = ["-I", "-S"]
        allow = {
            "type": "command",
            "command": "python3",
            "args": [*args, "${CLAUDE_PROJECT_DIR}/.claude/hooks/handoff-allow.py"],
            "timeout": 10,
        }
        guard = {
            "type": "command",
            "command": "python3",
            "args": [*args, "${CLAUDE_PROJECT_DIR}/.claude/hooks/handoff-log-guard.py"],
            "timeout": 10,
            "onFailure": "block",
        }
        matcher = "^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|mcp__.*)$"
        expected = {
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [allow]}, {"matcher": matcher, "hooks": [guard]}]}
        }
        self.assertEqual(self.json(".claude/settings.json"), expected)

    def test_a_second_run_changes_nothing_for_any_harness(self) -> None:
        for name in (*harnesses.NAMES, "all", "none"):
            with self.subTest(name), tempfile.TemporaryDirectory() as self.root:
                self.assertEqual(self.init("--harness", name).code, 0)
                before = self.tree()
                again = self.init("--harness", name)
                later = self.init()
                self.assertEqual((again.code, later.code), (0, 0))
                self.assertLessEqual(set(self.words(again).values()), {"same", "print"})
                self.assert_tree(before)
                self.assertEqual(
                    self.record()["harnesses"], list(harnesses.NAMES) if name == "all" else [name] * (name != "none")
                )

    def test_two_empty_folders_get_the_same_bytes(self) -> None:
        self.init("--harness", "all")
        first = self.tree()
        with tempfile.TemporaryDirectory() as self.root:
            self.init("--harness", "all")
            self.assert_tree(first)

    def test_uninstalling_from_an_empty_folder_leaves_it_empty(self) -> None:
        for flags in (("--harness", "all"), ("--harness", "claude", "--track-ledger", "--deny-rule"), ()):
            with self.subTest(flags), tempfile.TemporaryDirectory() as self.root:
                self.init(*flags)
                result = self.init("--uninstall")
                self.assertEqual((result.code, self.tree()), (0, {}))

    def test_a_whole_installation_comes_out_whole(self) -> None:
        self.write("scripts/build.sh", "#!/bin/sh\n")
        self.write("schemas/other.json", "{}")
        before = self.tree()
        self.init("--harness", "all", light=False)
        os.makedirs(self.full(".scratch"))
        self.write(".scratch/handoff.jsonl", "{}\n")
        self.write("scripts/handoff_core/__pycache__/cli.cpython-311.pyc", b"compiled")
        self.assertEqual(self.init("--uninstall").code, 0)
        self.assertFalse(os.path.exists(self.full("scripts/handoff_core")))
        self.assertEqual(self.read(".scratch/handoff.jsonl"), "{}\n")
        os.unlink(self.full(".scratch/handoff.jsonl"))
        os.rmdir(self.full(".scratch"))
        self.assert_tree(before)

    def test_uninstalling_where_nothing_is_installed_says_so_and_does_nothing(self) -> None:
        self.write(ALLOW, "somebody's own\n")
        before = self.tree()
        result = self.init("--uninstall")
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertIn("nothing is recorded in .handoff-install.json", result.err)
        self.assert_tree(before)

    def test_harnesses_are_found_by_what_they_left(self) -> None:
        marks = {
            ".claude/x": "claude",
            ".github/copilot-instructions.md": "copilot",
            ".github/hooks/x.json": "copilot",
            ".codex/config.toml": "codex",
            ".gemini/x": "gemini",
            ".cursor/x": "cursor",
            ".opencode/x": "opencode",
            "opencode.json": "opencode",
            ".junie/x": "junie",
            "README.md": "claude",
            ".github/workflows/ci.yml": "claude",
        }
        for path, name in marks.items():
            with self.subTest(path), tempfile.TemporaryDirectory() as self.root:
                self.write(path, "{}")
                self.init("--no-skills")
                self.assertEqual(self.record()["harnesses"], [name])

    def test_skills_also_go_where_other_harnesses_look(self) -> None:
        self.init("--harness", "codex")
        for folder in (".claude", ".agents"):
            self.assertTrue(os.path.exists(self.full(f"{folder}/skills/handoff-append/SKILL.md")))

    def test_a_harness_that_is_dropped_is_taken_out(self) -> None:
        self.init("--harness", "claude")
        before = self.tree()
        self.init("--harness", "claude,codex,opencode,copilot")
        result = self.init("--harness", "claude")
        self.assertEqual(result.code, 0)
        self.assert_tree(before)

    def test_switches_of_the_record_stay_until_it_is_uninstalled(self) -> None:
        self.init("--harness", "claude", "--shell-form", "--python", "py -3", "--track-ledger")
        before = self.tree()
        self.assertEqual(run("init", "--root", self.root).code, 0)
        self.assert_tree(before)
        hook = self.json(".claude/settings.json")["hooks"]["PreToolUse"][1]["hooks"][0]
        self.assertEqual(hook["command"], 'py -3 -I -S "$CLAUDE_PROJECT_DIR"/.claude/hooks/handoff-log-guard.py')
        self.assertNotIn("args", hook)

    def test_another_python_is_split_into_words(self) -> None:
        self.init("--harness", "claude,opencode", "--python", "py -3")
        hook = self.json(".claude/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0]
        self.assertEqual((hook["command"], hook["args"][:3]), ("py", ["-3", "-I", "-S"]))
        self.assertIn('spawnSync("py", ["-3", "-I", "-S", `', self.read(".opencode/plugins/handoff.js"))

    def test_the_ledger_can_be_prepared_for_version_control(self) -> None:
        self.init("--harness", "claude", "--track-ledger")
        self.assertEqual(
            self.read(".gitignore").splitlines()[1:-1],
            [".scratch/handoff.lock", ".scratch/handoff.torn-*", ".scratch/handoffs/"],
        )
        self.assertEqual(
            self.read(".gitattributes").splitlines()[1:-1],
            [".scratch/handoff.jsonl -text -merge", ".scratch/handoff.seal -text -merge"],
        )

    def test_the_record_names_what_stands(self) -> None:
        self.init("--harness", "claude,cursor")
        value = self.record()
        self.assertEqual(
            list(value), ["schema_version", "version", "harnesses", "options", "files", "merged", "blocks", "undo"]
        )
        self.assertEqual((value["schema_version"], value["version"]), ("1", __version__))
        self.assertEqual(
            value["merged"][".claude/settings.json"],
            ["hooks.PreToolUse[handoff-allow.py]", "hooks.PreToolUse[handoff-log-guard.py]"],
        )
        self.assertEqual(value["blocks"], [".gitignore"])
        for path, entry in value["files"].items():
            with open(self.full(path), "rb") as opened:
                self.assertEqual(entry["sha256"], hashlib.sha256(opened.read()).hexdigest())
        self.assertEqual(self.read(record.PATH), json.dumps(value, indent=2) + "\n")


class OutputTest(InitCase):
    def test_a_dry_run_writes_nothing_and_shows_each_change(self) -> None:
        self.write(".claude/settings.json", '{\n  "theme": "dark"\n}\n')
        before = self.tree()
        result = self.init("--dry-run")
        self.assertEqual(result.code, 0)
        self.assert_tree(before)
        self.assertIn(
            "merge .claude/settings.json\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\n", result.out
        )
        self.assertIn(
            "create .gitignore\n--- /dev/null\n+++ b/.gitignore\n@@ -0,0 +1,3 @@\n+# handoff: begin\n", result.out
        )

    def test_without_diff_there_is_one_line_a_path(self) -> None:
        lines = self.init("--harness", "claude").out.splitlines()
        self.assertTrue(all(len(line.split(" ")) == 2 for line in lines))
        self.assertEqual(len(lines), len({line.split(" ")[1] for line in lines}))

    def test_the_machine_form_is_one_line_of_ascii(self) -> None:
        result = self.init("--harness", "codex", "--json")
        value = json.loads(result.out)
        self.assertEqual(list(value), ["version", "root", "actions", "snippets", "ok"])
        self.assertEqual(
            (value["root"], value["ok"], result.out.count("\n"), result.out.isascii()), (".", True, 1, True)
        )
        self.assertIn({"action": "create", "path": ALLOW, "reason": ""}, value["actions"])
        self.assertIn(".codex/rules/handoff.rules", [snippet["path"] for snippet in value["snippets"]])

    def test_what_only_a_person_can_do_is_printed_under_its_path(self) -> None:
        out = self.init("--harness", "all").out
        for path in ("~/.gemini/policies/handoff.toml", "~/.junie/allowlist.json", ".codex/rules/handoff.rules"):
            self.assertIn(f"print {path}\n", out)
            self.assertIn(f"\n# {path}\n", out)
        self.assertFalse(os.path.exists(self.full(".codex/rules")))

    def test_bad_calls_are_usage_errors(self) -> None:
        for flags in (
            ("--harness", "vim"),
            ("--harness", ""),
            ("--harness", "claude,,codex"),
            ("--python", "python3; rm -rf ~"),
            ("--python", ""),
        ):
            with self.subTest(flags):
                result = self.init(*flags)
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertIn("handoff.py: argument --", result.err)
        self.assertEqual(self.tree(), {})


class MergeTest(InitCase):
    def test_every_settings_file_comes_back_byte_for_byte_after_two_runs(self) -> None:
        for harness, path in SETTINGS_FILES.items():
            for name, text in SETTINGS.items():
                with self.subTest(harness=harness, settings=name), tempfile.TemporaryDirectory() as self.root:
                    if text is not None:
                        self.write(path, text)
                    before = self.tree()
                    self.assertEqual(self.init("--no-skills", "--harness", harness).code, 0)
                    once = self.tree()
                    self.init()
                    self.assert_tree(once)
                    if text is not None:
                        _assert_kept(self, json.loads(text), self.json(path))
                    self.assertEqual(self.init("--uninstall").code, 0)
                    self.assert_tree(before)

    def test_what_stood_in_a_file_keeps_its_spelling(self) -> None:
        text = SETTINGS["somebody's own hooks"] or ""
        self.write(".claude/settings.json", text)
        self.init("--no-skills")
        now = self.read(".claude/settings.json")
        for line in text.splitlines()[:-1]:
            if "PreToolUse" not in line and "./lint.sh" not in line:
                self.assertIn(line + "\n", now)
        groups = json.loads(now)["hooks"]["PreToolUse"]
        started = [group["hooks"][0].get("args", ["./lint.sh"])[-1].rpartition("/")[2] for group in groups]
        self.assertEqual(started, ["lint.sh", "handoff-allow.py", "handoff-log-guard.py"])
        self.assertIn('            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./lint.sh"}]},\n', now)

    def test_a_file_with_comments_is_not_touched_and_its_snippet_is_printed(self) -> None:
        for harness, path in SETTINGS_FILES.items():
            with self.subTest(harness), tempfile.TemporaryDirectory() as self.root:
                self.write(path, '{\n  // mine\n  "a": 1,\n}\n')
                result = self.init("--no-skills", "--harness", harness)
                self.assertEqual(result.code, 1)
                self.assertIn(f"keep {path} [is no strict JSON (comments); put the entries in by hand]", result.out)
                self.assertEqual(self.read(path), '{\n  // mine\n  "a": 1,\n}\n')
                snippet = next(
                    s
                    for s in json.loads(self.init("--json").out)["snippets"]
                    if s["path"] == path and s["text"][0] == "{"
                )
                self.write(path, "// by hand\n" + snippet["text"])
                self.assertEqual(self.init().code, 0)
                self.assertEqual(self.init("--uninstall").code, 1)
                self.assertEqual(self.read(path), "// by hand\n" + snippet["text"])

    def test_a_file_that_is_no_json_is_not_touched(self) -> None:
        for text in ("", "{", "[]", "null", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', "\ufeff{}", b"\xff{}"):
            with self.subTest(text), tempfile.TemporaryDirectory() as self.root:
                self.write(".claude/settings.json", text)
                before = self.tree()[".claude/settings.json"]
                result = self.init("--no-skills")
                self.assertEqual(result.code, 1)
                self.assertEqual(self.words(result)[".claude/settings.json"], "keep")
                self.assertEqual(self.tree()[".claude/settings.json"], before)
                self.init("--uninstall")
                self.assertEqual(self.tree()[".claude/settings.json"], before)

    def test_older_forms_of_our_entry_are_renewed_in_place(self) -> None:
        for command in (
            "python3 .claude/hooks/handoff-allow.py",
            'python3 -I -S "$CLAUDE_PROJECT_DIR"/.claude/hooks/handoff-allow.py',
            'python3 "${CLAUDE_PROJECT_DIR}/.claude/hooks/handoff-allow.py"',
        ):
            with self.subTest(command), tempfile.TemporaryDirectory() as self.root:
                other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./other.sh"}]}
                old = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
                self.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [old, other]}}, indent=2))
                self.assertEqual(self.init("--no-skills").code, 0)
                groups = self.json(".claude/settings.json")["hooks"]["PreToolUse"]
                self.assertEqual(len(groups), 3)
                self.assertEqual(
                    groups[0]["hooks"][0]["args"][-1], "${CLAUDE_PROJECT_DIR}/.claude/hooks/handoff-allow.py"
                )
                self.assertEqual(groups[1], other)

    def test_an_entry_that_a_person_changed_is_kept_and_reported(self) -> None:
        self.init("--no-skills", "--harness", "claude")
        value = self.json(".claude/settings.json")
        for change in ({"timeout": 60}, {"command": "/opt/python"}, {"statusMessage": "x"}):
            with self.subTest(change):
                mine = json.loads(json.dumps(value))
                mine["hooks"]["PreToolUse"][0]["hooks"][0].update(change)
                if "command" in change:
                    mine["hooks"]["PreToolUse"][0]["hooks"][0]["args"] = ["x", "elsewhere/handoff-allow.py"]
                self.write(".claude/settings.json", json.dumps(mine))
                before = self.tree()
                result = self.init()
                self.assertEqual(result.code, 1)
                self.assertIn("hooks.PreToolUse[handoff-allow.py] was changed by somebody", result.out)
                self.assert_tree(before)
        result = self.init("--uninstall")
        self.assertEqual(result.code, 1)
        groups = self.json(".claude/settings.json")["hooks"]["PreToolUse"]
        self.assertEqual(
            [group["hooks"][0]["args"][-1] for group in groups],
            [mine["hooks"]["PreToolUse"][0]["hooks"][0]["args"][-1]],
        )
        self.assertIn(record.PATH, self.tree())

    def test_what_a_person_added_to_our_file_stays_when_we_leave(self) -> None:
        self.init("--no-skills", "--harness", "claude,cursor")
        value = self.json(".claude/settings.json")
        value["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "./mine.sh"})
        value["hooks"]["Stop"] = []
        self.write(".claude/settings.json", json.dumps(value, indent=2))
        cursor = self.json(".cursor/hooks.json")
        cursor["hooks"]["stop"] = [{"command": "./mine.sh"}]
        self.write(".cursor/hooks.json", json.dumps(cursor))
        self.assertEqual(self.init("--uninstall").code, 0)
        self.assertEqual(
            self.json(".claude/settings.json"),
            {
                "hooks": {
                    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}],
                    "Stop": [],
                }
            },
        )
        self.assertEqual(self.json(".cursor/hooks.json"), {"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}})

    def test_a_plain_word_of_opencode_becomes_the_rule_for_everything_and_comes_back(self) -> None:
        text = '{\n  "permission": {"bash": "ask", "edit": "allow"}\n}\n'
        self.write("opencode.json", text)
        self.init("--no-skills", "--harness", "opencode")
        permission = self.json("opencode.json")["permission"]
        self.assertEqual(next(iter(permission["bash"].items())), ("*", "ask"))
        self.assertEqual(
            permission["edit"],
            {"*": "allow"}
            | dict.fromkeys((".scratch/handoff.jsonl", ".scratch/handoff.seal", ".scratch/handoff.lock"), "deny"),
        )
        self.assertEqual(list(permission["bash"])[-1], "python3 scripts/handoff.py *--repair-tail*")
        self.assertEqual(self.init("--uninstall").code, 0)
        self.assertEqual(self.read("opencode.json"), text)

    def test_rules_of_opencode_that_stood_before_are_not_taken_out(self) -> None:
        text = '{\n  "permission": {\n    "edit": {".scratch/handoff.jsonl": "deny", "x": "ask"}\n  }\n}\n'
        self.write("opencode.json", text)
        self.init("--no-skills", "--harness", "opencode")
        self.init()
        self.init("--uninstall")
        self.assertEqual(self.read("opencode.json"), text)

    def test_deny_rules_join_those_that_are_there_and_leave_again(self) -> None:
        text = SETTINGS["somebody's own hooks"] or ""
        self.write(".claude/settings.json", text)
        self.init("--no-skills", "--deny-rule")
        self.assertEqual(
            self.json(".claude/settings.json")["permissions"]["deny"],
            ["Read(./.env)", "Edit(/.scratch/handoff.jsonl)", "Edit(/.scratch/handoff.seal)"],
        )
        self.init("--uninstall")
        self.assertEqual(self.read(".claude/settings.json"), text)

    def test_deny_rules_and_the_sandbox_are_refused_together(self) -> None:
        for path in (".claude/settings.json", ".claude/settings.local.json"):
            with self.subTest(path), tempfile.TemporaryDirectory() as self.root:
                self.write(path, '{"sandbox": {"enabled": true}}')
                before = self.tree()
                result = self.init("--deny-rule")
                self.assertEqual((result.code, result.out), (1, ""))
                self.assertIn(f"--deny-rule does not go with the Bash sandbox that {path} switches on", result.err)
                self.assert_tree(before)

    def test_the_mode_of_a_merged_file_stays(self) -> None:
        self.write(".claude/settings.json", "{}")
        os.chmod(self.full(".claude/settings.json"), 0o600)
        self.init("--no-skills")
        self.assertEqual(self.tree()[".claude/settings.json"][0], "file 0600")


class FileTest(InitCase):
    def test_a_file_of_somebody_else_is_kept_and_force_moves_it_aside(self) -> None:
        self.write(ALLOW, "mine\n")
        result = self.init("--harness", "claude")
        self.assertEqual(result.code, 1)
        self.assertIn(f"keep {ALLOW} [is somebody's own; --force replaces it]\n", result.out)
        self.assertEqual(self.read(ALLOW), "mine\n")
        self.assertNotIn(ALLOW, self.record()["files"])
        self.assertEqual(self.init("--force").code, 0)
        self.assertEqual(self.read(ALLOW + ".handoff-old"), "mine\n")
        self.assertEqual(self.read(ALLOW).encode(), shipped.hooks(("handoff-allow.py",))[ALLOW])
        self.write(ALLOW, "mine again\n")
        self.init("--force")
        self.assertEqual(self.read(ALLOW + ".handoff-old.2"), "mine again\n")

    def test_a_file_that_was_changed_since_is_kept_by_every_run(self) -> None:
        self.init("--harness", "claude")
        self.write(GUARD, "changed\n")
        for flags in ((), ("--uninstall",)):
            result = self.init(*flags)
            self.assertEqual(result.code, 1)
            self.assertIn(f"keep {GUARD} [was changed since it was installed", result.out)
            self.assertEqual(self.read(GUARD), "changed\n")
        self.assertEqual(list(self.record()["files"]), [GUARD])
        os.unlink(self.full(GUARD))
        self.assertEqual(self.init("--uninstall").code, 0)
        self.assertEqual(self.tree(), {})

    def test_an_upgrade_renews_what_nobody_changed_and_removes_what_is_gone(self) -> None:
        self.init("--harness", "claude")
        clean = self.tree()
        value = self.record()
        gone = ".claude/skills/handoff-older/SKILL.md"
        for path, text in ((ALLOW, "older\n"), (gone, "gone\n"), (".claude/hooks/handoff-older.py", "gone\n")):
            self.write(path, text)
            value["files"][path] = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "mode": "0644"}
        value["undo"]["made"].append(".claude/skills/handoff-older/")
        self.write(record.PATH, json.dumps(value | {"version": "0.0.1"}))
        result = self.init()
        self.assertEqual(result.code, 0)
        words = self.words(result)
        self.assertEqual((words[ALLOW], words[gone], words[record.PATH]), ("update", "remove", "update"))
        self.assert_tree(clean)

    def test_a_record_of_a_newer_program_is_refused(self) -> None:
        self.init("--harness", "claude")
        self.write(record.PATH, json.dumps(self.record() | {"version": "999.0.0"}))
        before = self.tree()
        for flags in ((), ("--uninstall",), ("--force",)):
            result = self.init(*flags)
            self.assertEqual((result.code, result.out), (1, ""))
            self.assertIn(f".handoff-install.json was written by handoff 999.0.0; this is {__version__}", result.err)
        self.assert_tree(before)

    def test_a_broken_or_hostile_record_is_refused(self) -> None:
        self.init("--harness", "claude")
        good = self.record()
        digest = {"sha256": hashlib.sha256(b"x").hexdigest(), "mode": "0644"}
        bad: list[Any] = [
            [],
            {},
            good | {"schema_version": "2"},
            good | {"harnesses": ["vim"]},
            good | {"harnesses": "claude"},
            good | {"options": {"python": 3}},
            good | {"options": {"unknown": True}},
            good | {"files": {"src/main.py": digest}},
            good | {"files": {"scripts/handoff_core/../../src/main.py": digest}},
            good | {"files": {"scripts/handoff.py": {"sha256": "x", "mode": "0644"}}},
            good | {"merged": {"../settings.json": []}},
            good | {"blocks": [".git/config"]},
            good | {"undo": {"made": ["/etc/"]}},
            good | {"undo": {"made": [], "containers": {"a.json": {"x": "{"}}}},
        ]
        self.write("src/main.py", "x")
        for value in bad:
            with self.subTest(value=json.dumps(value)[:80]):
                self.write(record.PATH, json.dumps(value))
                before = self.tree()
                result = self.init("--uninstall")
                self.assertEqual((result.code, result.out), (1, ""))
                self.assertIn(".handoff-install.json", result.err)
                self.assert_tree(before)

    def test_links_and_folders_in_the_way_are_problems_of_their_path_alone(self) -> None:
        with tempfile.TemporaryDirectory() as outside:
            self.write(".claude/keep", "")
            os.symlink(outside, self.full(".claude/hooks"))
            os.symlink(os.path.join(outside, "ignore"), self.full(".gitignore"))
            os.makedirs(self.full(".claude/skills/handoff-board/SKILL.md"))
            result = self.init("--harness", "claude")
            self.assertEqual(result.code, 1)
            self.assertIn(f"keep {ALLOW} [.claude/hooks is a symbolic link out of the project]", result.out)
            self.assertIn("keep .gitignore [is a symbolic link]", result.out)
            self.assertIn("keep .claude/skills/handoff-board/SKILL.md [is a folder]", result.out)
            self.assertIn("keep .claude/settings.json [is not registered: a hook is not in its place]", result.out)
            self.assertIn("create .claude/skills/handoff-append/SKILL.md\n", result.out)
            self.assertNotIn(".claude/settings.json", self.tree())
            self.assertEqual(os.listdir(outside), [])

    def test_a_link_inside_the_project_may_be_gone_through(self) -> None:
        os.makedirs(self.full("agents"))
        os.symlink("agents", self.full(".claude"))
        self.assertEqual(self.init("--harness", "claude").code, 0)
        self.assertTrue(os.path.exists(self.full("agents/hooks/handoff-allow.py")))

    def test_a_run_that_was_killed_after_any_write_is_finished_by_the_next(self) -> None:
        self.init("--harness", "claude,cursor")
        clean = self.tree()
        number, killed = 0, True
        while killed:
            number += 1
            with self.subTest(write=number), tempfile.TemporaryDirectory() as self.root:
                killed = self._killed_at(number)
                tree = self.tree()
                for path in (".claude/settings.json", ".cursor/hooks.json"):
                    if path in tree:
                        self.assertLessEqual({ALLOW, GUARD}, tree.keys())
                self.assertEqual(self.init("--harness", "claude,cursor").code, 0)
                self.assert_tree(clean)
                self.init("--uninstall")
                self.assertEqual(self.tree(), {})
        self.assertGreater(number, 8)

    def _killed_at(self, number: int) -> bool:
        """Run init and interrupt it inside its write with this number; say whether it had so many."""
        real, count = os.replace, 0

        def replace(source: str, target: str) -> None:
            nonlocal count
            count += 1
            if count == number:
                raise KeyboardInterrupt
            real(source, target)

        with mock.patch("os.replace", replace):
            return self.init("--harness", "claude,cursor").code == 130

    def test_what_a_killed_run_left_beside_a_file_is_swept(self) -> None:
        left = self.full(".claude/hooks/.handoff-allow.py.handoff-tmp-0123456789abcdef")
        self.write(".claude/hooks/.handoff-allow.py.handoff-tmp-0123456789abcdef", "half")
        self.write(".claude/hooks/.handoff-allow.py.handoff-tmp-mine", "mine")
        self.init("--harness", "claude")
        self.assertFalse(os.path.exists(left))
        self.assertEqual(self.read(".claude/hooks/.handoff-allow.py.handoff-tmp-mine"), "mine")

    def test_a_path_that_cannot_be_written_is_reported_and_the_rest_is_done(self) -> None:
        def write(tree: files.Tree, path: str, data: bytes, mode: int) -> None:
            if path == GUARD:
                raise files.Problem("cannot be written: No space left on device")
            real(tree, path, data, mode)

        real = files.Tree.write
        with mock.patch.object(files.Tree, "write", write):
            result = self.init("--harness", "claude")
        self.assertEqual(result.code, 1)
        self.assertIn(f"keep {GUARD} [cannot be written: No space left on device]", result.out)
        self.assertIn("keep .claude/settings.json [is not registered: a hook is not in its place]", result.out)
        self.assertEqual(self.init("--harness", "claude").code, 0)

    def test_a_record_that_cannot_be_written_stops_everything(self) -> None:
        os.makedirs(self.full(record.PATH))
        result = self.init("--harness", "claude")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertEqual(list(self.tree()), [record.PATH])

    def test_the_programs_own_checkout_gets_registrations_and_no_copies(self) -> None:
        with mock.patch.object(shipped, "is_own_checkout", return_value=True):
            self.write(ALLOW, "source\n")
            self.write(GUARD, "source\n")
            result = self.init("--harness", "claude", light=False)
            self.assertEqual(result.code, 0)
            self.assertEqual(self.record()["files"], {})
            self.assertNotIn("scripts", self.tree())
            self.init("--uninstall")
            self.assertEqual({path for path in self.tree() if path.endswith(".py")}, {ALLOW, GUARD})


def _assert_kept(case: unittest.TestCase, before: Any, after: Any) -> None:
    """Assert that everything of a settings value is still there, in its order."""
    if isinstance(before, dict):
        case.assertEqual([key for key in after if key in before], list(before))
        for key, value in before.items():
            _assert_kept(case, value, after[key])
    elif isinstance(before, list):
        case.assertEqual(after[: len(before)], before)
    else:
        case.assertEqual(after, before)
