"""`doctor` says what is wired, fails what would not work, and starts both hooks to know that they fire."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

from handoff_core import git
from handoff_core.commands import doctor
from handoff_core.setup import checks, harnesses, merge, probe, registrations, shipped
from handoff_core.setup.files import Tree
from handoff_core.setup.site import Site

from tests.setup.helpers import changed, snapshot
from tests.support import Result, run

PASS = {"type": "build-pass", "req_id": "REQ-A-001", "author": "feature-implementer", "gate_checks_run": ["test"]}
SETTINGS = ".claude/settings.json"


class DoctorCase(unittest.TestCase):
    """A test with an installed project in `self.root`, an empty home, and this Python as `python3`."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-doctor-")
        self.addCleanup(holder.cleanup)
        base = os.path.realpath(holder.name)
        self.root, self.home, self.bin = (os.path.join(base, name) for name in ("project", "home", "bin"))
        for folder in (self.root, self.home, self.bin):
            os.mkdir(folder)
        os.symlink(os.path.realpath(sys.executable), os.path.join(self.bin, "python3"))
        path = os.pathsep.join((self.bin, "/usr/local/bin", "/usr/bin", "/bin"))
        for patch in (
            mock.patch("os.fsync"),
            mock.patch.dict(os.environ, {"HOME": self.home, "USERPROFILE": self.home, "PATH": path}),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def install(self, *flags: str) -> None:
        """Install into the project, the program as a stand-in of one line."""
        result = run("init", "--root", self.root, "--no-program", *flags)
        self.assertEqual(result.code, 0, result.out)
        from handoff_core import __version__

        self.write("scripts/handoff.py", f"print('handoff {__version__} (schemas 1)')\n")

    def doctor(self, *flags: str) -> Result:
        return run("doctor", "--root", self.root, *flags)

    def checks(self, *flags: str) -> dict[str, tuple[str, str, str]]:
        """Return status, text and fix of each check by its id; the worst where an id comes several times."""
        value = json.loads(self.doctor("--json", *flags).out)
        order = ("ok", "skip", "warn", "fail")
        found: dict[str, tuple[str, str, str]] = {}
        for check in value["checks"]:
            old = found.get(check["id"])
            if old is None or order.index(check["status"]) > order.index(old[0]):
                found[check["id"]] = (check["status"], check["text"], check["fix"])
        return found

    def full(self, path: str) -> str:
        return os.path.join(self.root, *path.split("/"))

    def write(self, path: str, text: str | bytes) -> None:
        full = path if os.path.isabs(path) else self.full(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as opened:
            opened.write(text.encode() if isinstance(text, str) else text)

    def settings(self, change: dict[str, Any]) -> None:
        """Put more keys into Claude Code's settings."""
        with open(self.full(SETTINGS), encoding="utf-8") as opened:
            self.write(SETTINGS, json.dumps(json.load(opened) | change))

    def site(self, *chosen: str) -> Site:
        """Return the project as the checks see it."""
        return Site(Tree(self.root), None, chosen, self.home, lambda: None)

    def assert_check(self, name: str, status: str, *needles: str, flags: tuple[str, ...] = ()) -> None:
        with mock.patch.object(doctor, "CHECKS", _rows(name)):
            found = self.checks(*flags)[name]
        self.assertEqual(found[0], status, found)
        for needle in needles:
            self.assertIn(needle, found[1] + " | " + found[2])
        if status in ("warn", "fail"):
            self.assertTrue(found[2], "a check that does not hold says what to do")


def _rows(name: str) -> tuple[Any, ...]:
    """Return the rows of the doctor's table that one check needs: starting hooks for all the others takes long."""
    table = dict(doctor.CHECKS)
    if name in table or name == "record":
        needed: tuple[str, ...] = (name,)
    else:
        needed = ("harness", "self-test") if name.startswith("hook-") else ("harness",)
    return tuple((row, table[row]) for row in needed if row in table)


class WholeTest(DoctorCase):
    def test_an_installed_project_is_sound_and_nothing_is_written(self) -> None:
        self.install("--harness", "claude")
        before = snapshot(self.root)
        result = self.doctor()
        self.assertEqual((result.code, result.err), (0, ""))
        lines = result.out.splitlines()
        self.assertRegex(lines[0], r"^(ok  |warn)  python        3\.\d+\.\d+ at .*, bare start \d+ ms")
        self.assertIn("ok    claude        allow and guard registered in .claude/settings.json, exec form", lines)
        self.assertRegex(
            result.out, r"(ok  |warn)  hook-allow    sanctioned append approved, 5 others left alone, \d+ ms"
        )
        self.assertRegex(
            result.out,
            r"(ok  |warn)  hook-guard    raw write denied, read left alone, also from another folder, \d+ ms",
        )
        self.assertRegex(lines[-1], r"^handoff doctor: \d+ ok, \d+ warnings?, 0 failed, \d+ skipped$")
        self.assertEqual(changed(before, snapshot(self.root)), [])

    def test_the_machine_form_is_one_line_of_ascii(self) -> None:
        self.install("--harness", "claude")
        result = self.doctor("--json")
        value = json.loads(result.out)
        self.assertEqual(list(value), ["version", "root", "checks", "ok"])
        self.assertEqual(list(value["checks"][0]), ["id", "status", "text", "fix"])
        self.assertEqual(
            (value["root"], value["ok"], result.out.count("\n"), result.out.isascii()), (".", True, 1, True)
        )

    def test_every_harness_that_is_installed_passes_its_own_checks(self) -> None:
        git_here = _repository(self.root)
        self.install("--harness", "all")
        found = self.checks()
        for name in ("claude", "gemini", "cursor", "opencode"):
            self.assertEqual(found[name][0], "ok", found[name])
        for name in ("copilot", "codex", "junie"):
            self.assertEqual(found[name][0], "skip", found[name])
        if git_here:
            self.assertIn("sanctioned append approved", found["hook-allow"][1])
            self.assertIn("raw write denied", found["hook-guard"][1])

    def test_an_empty_folder_fails_with_one_fix_for_all(self) -> None:
        result = self.doctor()
        self.assertEqual(result.code, 1)
        for name in ("program", "hooks", "claude"):
            self.assert_check(name, "fail", "run `init`")
        self.assert_check("hook-guard", "skip", "no registered command line")

    def test_harnesses_can_be_named(self) -> None:
        self.install("--harness", "claude")
        self.assertNotIn("claude", self.checks("--harness", "none"))
        self.assert_check("gemini", "fail", ".gemini/settings.json is missing", flags=("--harness", "gemini"))
        self.assertEqual(self.doctor("--harness", "vim").code, 2)

    def test_a_broken_record_is_one_failed_check(self) -> None:
        self.install("--harness", "claude")
        self.write(".handoff-install.json", "{")
        self.assert_check("record", "fail", ".handoff-install.json cannot be read")


class ProgramTest(DoctorCase):
    def setUp(self) -> None:
        super().setUp()
        self.install("--harness", "claude", "--no-skills")

    def test_python(self) -> None:
        os.unlink(os.path.join(self.bin, "python3"))
        with mock.patch.dict(os.environ, {"PATH": self.bin}):
            self.assert_check("python", "fail", "python3 is not on PATH")
        self.write(os.path.join(self.bin, "python3"), "#!/bin/sh\nexec " + sys.executable + ' "$@"\n')
        os.chmod(os.path.join(self.bin, "python3"), 0o755)
        self.assert_check("python", "warn", "it is a shim")
        self.write(os.path.join(self.bin, "python3"), "#!/bin/sh\necho 3.8.1\n")
        self.assert_check("python", "fail", "3.8.1", "3.11 or later is needed")
        self.write(os.path.join(self.bin, "python3"), "#!/bin/sh\nexit 9\n")
        self.assert_check("python", "fail", "does not run")

    def test_a_slow_python_is_said(self) -> None:
        with mock.patch.object(checks, "BARE_LIMIT", 0.0):
            self.assert_check("python", "warn", "hooks run on every shell call")

    def test_what_lies_in_the_project_is_never_started_by_its_name(self) -> None:
        canary = os.path.join(self.home, "canary")
        for name in ("python3", "claude", "handoff"):
            self.write(f"bin/{name}", f"#!/bin/sh\ntouch {canary}\n")
            os.chmod(self.full(f"bin/{name}"), 0o755)
        with mock.patch.dict(os.environ, {"PATH": self.full("bin")}):
            self.assert_check("python", "fail", "python3 is not on PATH")
        self.assertFalse(os.path.exists(canary))

    def test_a_registration_that_init_never_writes_is_not_started(self) -> None:
        canary = os.path.join(self.home, "canary")
        hostile = (
            {"command": f"touch {canary}; python3 .claude/hooks/handoff-log-guard.py"},
            {"command": f"touch{os.sep}x .claude/hooks/handoff-log-guard.py"},
            {"command": f'python3 -c "open({canary!r},1)" .claude/hooks/handoff-log-guard.py'},
            {"command": "sh", "args": ["-c", f"touch {canary}", ".claude/hooks/handoff-log-guard.py"]},
            {"command": f"python3>{canary} .claude/hooks/handoff-log-guard.py"},
            {"command": f"$(touch${{IFS}}{canary}) .claude/hooks/handoff-log-guard.py"},
        )
        for hook in hostile:
            with self.subTest(hook):
                group = {"matcher": "Bash", "hooks": [{"type": "command", **hook}]}
                self.write(SETTINGS, json.dumps({"hooks": {"PreToolUse": [group]}}))
                with mock.patch.object(doctor, "CHECKS", _rows("hook-guard")):
                    found = self.checks()
                self.assertIn(found["claude"][0], ("warn", "fail"))
                self.assertEqual(found["hook-guard"][0], "skip")
                self.assertFalse(os.path.exists(canary))

    def test_program(self) -> None:
        self.assert_check("program", "ok", "the project's own")
        self.write(os.path.join(self.bin, "handoff"), "#!/bin/sh\necho 'handoff 0.0.1 (schemas 1)'\n")
        os.chmod(os.path.join(self.bin, "handoff"), 0o755)
        self.assert_check("program", "warn", "handoff on PATH is 0.0.1")
        self.write("scripts/handoff.py", "raise SystemExit(3)\n")
        self.assert_check("program", "fail", "does not answer --version")
        os.rename(self.full("scripts/handoff.py"), self.full("scripts/other.py"))
        self.assert_check("program", "fail", "scripts/handoff.py is missing")
        os.symlink("other.py", self.full("scripts/handoff.py"))
        self.assert_check("program", "fail", "is a symbolic link")

    def test_a_changed_copy_of_the_program_is_said(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.root = os.path.realpath(folder)
            run("init", "--root", self.root, "--no-skills")
            self.assert_check("program", "ok", "vendored copy unmodified")
            with open(self.full("scripts/handoff_core/cli.py"), "a", encoding="utf-8") as opened:
                opened.write("# mine\n")
            self.assert_check("program", "warn", "changed since it was installed: scripts/handoff_core/cli.py")

    def test_shadow(self) -> None:
        self.assert_check("shadow", "ok")
        self.write("scripts/json.py", "")
        self.assert_check("shadow", "warn", "scripts/json.py has the name of a standard module")


class LedgerTest(DoctorCase):
    def setUp(self) -> None:
        super().setUp()
        self.install("--harness", "claude", "--no-skills")
        self.log = self.full(".scratch/handoff.jsonl")

    def append(self) -> None:
        result = run("append", "build-pass", "--root", self.root, stdin=json.dumps(PASS))
        self.assertEqual(result.code, 0, result.err)

    def test_root(self) -> None:
        self.assert_check("root", "ok", "found by scripts/handoff.py")
        os.unlink(self.full("scripts/handoff.py"))
        os.mkdir(self.full(".git"))
        self.assert_check("root", "warn", "by .git only")
        self.write(".scratch", "")
        self.assert_check("root", "fail", ".scratch is no folder")
        os.unlink(self.full(".scratch"))
        os.symlink(self.home, self.full(".scratch"))
        self.assert_check("root", "fail", ".scratch is a symbolic link")
        with mock.patch("os.access", return_value=False):
            os.unlink(self.full(".scratch"))
            self.assert_check("root", "fail", "cannot be written to")

    def test_ledger(self) -> None:
        self.assert_check("ledger", "ok", "none yet")
        self.append()
        self.append()
        self.assert_check("ledger", "ok", "2 lines, clean, sealed to line 2")
        with open(self.log, "ab") as opened:
            opened.write((json.dumps(PASS | {"ts": "2026-01-01T00:00:00+00:00"}) + "\n").encode())
        self.assert_check("ledger", "warn", "written without append")
        os.unlink(self.full(".scratch/handoff.seal"))
        self.assert_check("ledger", "warn", "no seal")
        with open(self.log, "ab") as opened:
            opened.write(b'{"torn": ')
        self.assert_check("ledger", "fail", "line 4: missing trailing newline")

    def test_an_edited_ledger_fails(self) -> None:
        self.append()
        with open(self.log, "rb") as opened:
            text = opened.read()
        self.write(self.log, text.replace(b'"test"', b'"tesT"'))
        self.assert_check("ledger", "fail", "line 1: differs from its seal")

    def test_a_second_hard_link_is_said(self) -> None:
        self.append()
        os.link(self.log, self.full("door"))
        self.assert_check("ledger", "warn", "second hard link")

    def test_lock(self) -> None:
        self.assert_check("lock", "ok", "free")
        self.append()
        self.assert_check("lock", "ok", "free")
        with mock.patch.object(checks, "_network", return_value="nfs"):
            self.assert_check("lock", "warn", "network file system (nfs)")
        os.unlink(self.full(".scratch/handoff.lock"))
        os.mkdir(self.full(".scratch/handoff.lock"))
        self.assert_check("lock", "fail", "is no regular file")

    def test_a_lock_that_is_held_is_said(self) -> None:
        try:
            import fcntl
        except ImportError:
            self.skipTest("there is no flock here: the lock cannot be asked without writing")
        self.append()
        with open(self.full(".scratch/handoff.lock"), "rb+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assert_check("lock", "warn", "held by a writer now")

    def test_tracked(self) -> None:
        with mock.patch.object(git, "run", side_effect=git.GitError("no git")):
            self.assert_check("tracked", "skip")
        if not _repository(self.root):
            self.skipTest("git is not here")
        self.assert_check("tracked", "ok", "ignored")
        self.append()
        self.assert_check("tracked", "ok", "ignored")
        os.unlink(self.full(".gitignore"))
        self.assert_check("tracked", "warn", "neither tracked nor ignored")
        _git(self.root, "add", "-f", ".scratch/handoff.jsonl")
        self.assert_check("tracked", "warn", "without -merge", "init --track-ledger")
        self.write(".gitattributes", ".scratch/handoff.jsonl -text -merge\n")
        self.assert_check("tracked", "ok", "never merged by lines")

    def test_schemas(self) -> None:
        self.assert_check("schemas", "ok", "14 types")
        self.write("schemas/scratch/build-pass.schema.json", "{}")
        self.assert_check("schemas", "warn", "1 of 14 types")
        self.write("schemas/scratch/build-pass.schema.json", '{"oneOf": []}')
        self.assert_check("schemas", "fail", "oneOf")

    def test_layout(self) -> None:
        self.assert_check("layout", "ok", "absent: defaults")
        self.write("scripts/layout.toml", "[harness]\nprotect_tools = true\n")
        self.assert_check("layout", "ok")
        self.write("scripts/layout.toml", '[harness]\nprotect_tools = "yes"\n')
        self.assert_check("layout", "warn", "is no boolean")
        self.write("scripts/layout.toml", "[harness\n")
        self.assert_check("layout", "fail", "cannot be parsed")


class HookTest(DoctorCase):
    def setUp(self) -> None:
        super().setUp()
        self.install("--harness", "claude")

    def test_hooks(self) -> None:
        guard = ".claude/hooks/handoff-log-guard.py"
        self.assert_check("hooks", "ok", "both present, unmodified")
        with open(self.full(guard), "a", encoding="utf-8") as opened:
            opened.write("# mine\n")
        self.assert_check("hooks", "warn", f"changed since installed: {guard}")
        self.write(guard, "def broken(:\n")
        self.assert_check("hooks", "fail", f"{guard} cannot be compiled")
        self.assert_check("hook-guard", "fail")
        os.unlink(self.full(guard))
        self.assert_check("hooks", "fail", f"{guard} is missing")

    def test_a_hook_with_another_answer_fails_the_self_test(self) -> None:
        self.write(".claude/hooks/handoff-log-guard.py", "pass\n")
        self.assert_check("hook-guard", "fail", "raw write: no opinion instead of deny")
        self.write(".claude/hooks/handoff-allow.py", 'print(\'{"permissionDecision": "allow"}\')\n')
        self.assert_check("hook-allow", "fail", "chained command: allow instead of no opinion")
        self.write(".claude/hooks/handoff-allow.py", "print('{}')\n")
        self.assert_check("hook-allow", "fail", "unreadable instead of allow")

    def test_slow_hooks_are_said(self) -> None:
        with mock.patch.object(registrations, "SLOW", 0.0):
            self.assert_check("hook-allow", "fail", "sanctioned append approved")
        with mock.patch.object(Site, "bare_start", return_value=0.0001):
            self.assert_check("hook-allow", "warn", "over three times a bare start")

    def test_a_hook_that_hangs_ends_in_a_message(self) -> None:
        self.write(".claude/hooks/handoff-log-guard.py", "import time\ntime.sleep(60)\n")
        with mock.patch.object(probe, "SECONDS", 0.3):
            self.assert_check("hook-guard", "fail", "no answer within")

    def test_registration(self) -> None:
        self.assert_check("claude", "ok", "exec form")
        guard = {"matcher": harnesses.CLAUDE_MATCHERS[harnesses.GUARD]}
        old = {"type": "command", "command": "python3 .claude/hooks/handoff-log-guard.py"}
        allow = harnesses.by_name("claude").merge(harnesses.Options())
        assert allow is not None
        first = allow.entries[0].value
        for hook, status, needle in (
            (old, "warn", "has an older form"),
            (old | {"timeout": 99}, "warn", "was changed"),
            (old | {"command": "python3 tools/handoff-log-guard.py"}, "fail", "names another path"),
        ):
            with self.subTest(needle):
                self.write(SETTINGS, json.dumps({"hooks": {"PreToolUse": [first, guard | {"hooks": [hook]}]}}))
                self.assert_check("claude", status, needle)
        self.write(SETTINGS, json.dumps({"hooks": {"PreToolUse": [first]}}))
        self.assert_check("claude", "fail", "lacks hooks.PreToolUse[handoff-log-guard.py]")
        self.write(SETTINGS, "{")
        self.assert_check("claude", "fail", "is no JSON")

    def test_settings_with_comments_are_read(self) -> None:
        with open(self.full(SETTINGS), encoding="utf-8") as opened:
            text = opened.read()
        self.write(SETTINGS, "// by hand\n" + text)
        self.assert_check("claude", "ok", "exec form")

    def test_the_shell_form_is_named_and_started(self) -> None:
        run("init", "--root", self.root, "--shell-form")
        with mock.patch.object(doctor, "CHECKS", _rows("hook-guard")):
            found = self.checks()
        self.assertEqual(found["claude"][:2], ("ok", "allow and guard registered in .claude/settings.json, shell form"))
        self.assertIn("raw write denied", found["hook-guard"][1])

    def test_a_client_too_old_for_the_form(self) -> None:
        for version, status in (("2.1.138", "warn"), ("2.1.139", "ok"), ("3.0.0", "ok"), ("odd", "ok")):
            self.write(os.path.join(self.bin, "claude"), f"#!/bin/sh\necho '{version} (Claude Code)'\n")
            os.chmod(os.path.join(self.bin, "claude"), 0o755)
            with self.subTest(version):
                self.assert_check("claude", status, *(["--shell-form"] if status == "warn" else []))

    def test_the_deny_rule_in_the_sandbox(self) -> None:
        run("init", "--root", self.root, "--deny-rule")
        self.assert_check("claude", "ok")
        self.write(".claude/settings.local.json", '{"sandbox": {"enabled": true}}')
        self.assert_check("claude", "warn", "deny rule and the Bash sandbox of .claude/settings.local.json")

    def test_settings_that_switch_hooks_off(self) -> None:
        with mock.patch.object(doctor, "CHECKS", _rows("claude")):
            self.assertNotIn("claude-off", self.checks())
        self.write(".claude/settings.local.json", '{"disableAllHooks": true}')
        self.assert_check(
            "claude-off", "fail", "disableAllHooks is true in .claude/settings.local.json: no hook runs", "remove it"
        )
        self.write(".claude/settings.local.json", "{}")
        self.write(os.path.join(self.home, ".claude", "settings.json"), '{"disableAllHooks": true}')
        self.assert_check("claude-off", "fail", "~/.claude/settings.json")

    def test_switches_of_other_harnesses(self) -> None:
        cases = (
            ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
            ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
            ("gemini", ".gemini/settings.json", '{"hooksConfig": {"disabled": ["handoff-log-guard"]}}'),
            ("copilot", ".github/hooks/handoff.json", '{"disableAllHooks": true}'),
        )
        for name, path, text in cases:
            with self.subTest(name=name, path=path):
                self.write(path, text)
                site = self.site(name)
                found = [result.id for result in registrations.registrations(site)]
                self.assertIn(f"{name}-off", found)

    def test_skills(self) -> None:
        path = ".claude/skills/handoff-board/SKILL.md"
        self.assert_check("skills", "ok", "4")
        with open(self.full(path), "a", encoding="utf-8") as opened:
            opened.write("mine\n")
        self.assert_check("skills", "warn", f"changed since installed: {path}")
        self.write(path, "---\nname: other\n---\n")
        self.assert_check("skills", "fail", "lacks the key description")
        os.unlink(self.full(path))
        self.assert_check("skills", "warn", f"missing: {path}")

    def test_ci(self) -> None:
        self.assert_check("ci", "warn", "no step runs `handoff.py validate`")
        for path, text in (
            (".pre-commit-config.yaml", "- id: handoff-validate\n"),
            (".github/workflows/check.yml", "- run: python3 scripts/handoff.py validate --format github\n"),
            (".github/workflows/check.yml", "- uses: owner/handoff/.github/actions/validate@v1\n"),
            (".gitlab-ci.yml", "script: handoff validate\n"),
        ):
            with self.subTest(text):
                self.write(path, text)
                self.assert_check("ci", "ok", path)
                os.unlink(self.full(path))


class FormTest(unittest.TestCase):
    def test_what_init_writes_is_known_again_and_may_be_started(self) -> None:
        options = (harnesses.Options(), harnesses.Options(python="py -3"), harnesses.Options(shell_form=True))
        for name in ("claude", "codex", "gemini", "cursor"):
            for each in options:
                merged = harnesses.by_name(name).merge(each)
                assert merged is not None
                for entry in merged.entries:
                    if entry.kind in (harnesses.GROUP, harnesses.FLAT):
                        hook = entry.value["hooks"][0] if entry.kind == harnesses.GROUP else entry.value
                        form = merge.known_form(hook)
                        assert form is not None
                        self.assertEqual((form["python"], form["file"]), (each.python, entry.file))

    def test_decisions_of_every_harness_are_read(self) -> None:
        cases = {
            b"": "",
            b'{"hookSpecificOutput": {"permissionDecision": "deny"}}': "deny",
            b'{"hookSpecificOutput": {"decision": {"behavior": "allow"}}}': "allow",
            b'{"permissionDecision": "allow"}': "allow",
            b'{"permission": "deny"}': "deny",
            b'{"decision": "deny", "reason": "x"}': "deny",
            b'{"decision": "maybe"}': "unreadable",
            b"[]": "unreadable",
            b"text": "unreadable",
        }
        for out, expected in cases.items():
            with self.subTest(out):
                self.assertEqual(probe.decision(out), expected)

    def test_the_hooks_that_are_shipped_are_those_that_are_registered(self) -> None:
        self.assertEqual(
            list(shipped.hooks(harnesses.HOOKS)), [f"{harnesses.HOOK_FOLDER}/{hook}" for hook in harnesses.HOOKS]
        )


def _git(root: str, *arguments: str) -> None:
    git.run(root, *arguments)


def _repository(root: str) -> bool:
    """Make the folder a repository; say whether git is there to do so."""
    try:
        _git(root, "init", "-q")
    except git.GitError:
        return False
    return True
