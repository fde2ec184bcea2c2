"""The hook files as a harness starts them: `python3 -I -S FILE [--harness NAME]`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

from tests.hooks.project import ALLOW, GUARD, bash_payload, project

SANCTIONED = "python3 scripts/handoff.py route"
WRITE = "echo x >> .scratch/handoff.jsonl"


def start(
    hook: str, data: bytes, root: str, *arguments: str, python: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[bytes]:
    """Run a hook in a project."""
    environ = {"HOME": os.path.dirname(root), "CLAUDE_PROJECT_DIR": root}
    command = [sys.executable, "-I", "-S", *python, hook, *arguments]
    return subprocess.run(command, input=data, cwd=root, env=environ, capture_output=True, check=False)


def specific(event: str, **answer: object) -> dict[str, object]:
    """Return an answer in the form of Claude Code."""
    return {"hookSpecificOutput": {"hookEventName": event, **answer}}


class Processes(unittest.TestCase):
    def answer(self, hook: str, payload: bytes, root: str, harness: str = "") -> dict[str, object]:
        """Return the parsed answer of a hook, which must be one line of ASCII JSON at exit 0; {} for silence."""
        done = start(hook, payload, root, *(("--harness", harness) if harness else ()))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        if not done.stdout:
            return {}
        self.assertEqual(done.stdout.count(b"\n"), 1)
        self.assertTrue(done.stdout.endswith(b"\n"))
        answer: dict[str, object] = json.loads(done.stdout.decode("ascii"))
        return answer

    def test_the_allow_hook_approves_and_the_guard_denies(self) -> None:
        with project() as root:
            allowed = self.answer(ALLOW, bash_payload(SANCTIONED, root), root)
            reason = "one sanctioned handoff command"
            self.assertEqual(
                allowed, specific("PreToolUse", permissionDecision="allow", permissionDecisionReason=reason)
            )
            denied = self.answer(GUARD, bash_payload(WRITE, root), root)["hookSpecificOutput"]
            assert isinstance(denied, dict)
            self.assertEqual(list(denied), ["hookEventName", "permissionDecision", "permissionDecisionReason"])
            self.assertEqual(denied["permissionDecision"], "deny")
            self.assertEqual(
                denied["permissionDecisionReason"],
                "A redirection with `>>` would change .scratch/handoff.jsonl. Only `python3 scripts/handoff.py append <type>` writes "
                "the handoff ledger, with the record on stdin by a quoted heredoc; reading it is free.",
            )

    def test_each_is_silent_about_what_is_not_its_business(self) -> None:
        with project() as root:
            for hook in (ALLOW, GUARD):
                for command in ("git status", "cat .scratch/handoff.jsonl", "echo 'a > b' > docs/x"):
                    with self.subTest(hook=os.path.basename(hook), command=command):
                        self.assertEqual(self.answer(hook, bash_payload(command, root), root), {})

    def test_each_harness_gets_an_answer_in_its_form(self) -> None:
        with project() as root:
            payload = {"tool_name": "Bash", "tool_input": {"command": WRITE}, "cwd": root}
            forms = {}
            for harness in ("claude", "copilot", "codex", "gemini", "cursor", "opencode", "junie", "another"):
                forms[harness] = list(self.answer(GUARD, json.dumps(payload).encode(), root, harness))
        flat = ["permissionDecision", "permissionDecisionReason"]
        self.assertEqual(forms["copilot"], flat)
        self.assertEqual(forms["cursor"], ["permission", "user_message", "agent_message"])
        for harness in ("gemini", "opencode", "junie"):
            self.assertEqual(forms[harness], ["decision", "reason"])
        for harness in ("claude", "codex", "another"):
            self.assertEqual(forms[harness], ["hookSpecificOutput"])

    def test_unreadable_calls_are_silent_unless_the_ledger_is_named(self) -> None:
        with project() as root:
            for data in (b"", b"\xff\xfe", b"[", b"{}", b'{"tool_name": "Bash"', b"[" * 100_000):
                with self.subTest(data[:20]):
                    self.assertEqual(self.answer(ALLOW, data, root), {})
                    self.assertEqual(self.answer(GUARD, data, root), {})
                    self.assertEqual(self.answer(ALLOW, data + b" scripts/handoff.py", root), {})
                    self.assertIn("hookSpecificOutput", self.answer(GUARD, data + b" .scratch/HANDOFF.seal", root))

    def test_a_payload_beyond_the_limit_is_unreadable(self) -> None:
        with project() as root:
            padded = bash_payload(SANCTIONED, root) + b" " * (32 * 1024 * 1024)
            self.assertEqual(self.answer(ALLOW, padded, root), {})
            padded = bash_payload("cat .scratch/handoff.jsonl", root) + b" " * (32 * 1024 * 1024)
            self.assertIn("hookSpecificOutput", self.answer(GUARD, padded, root))

    @unittest.skipUnless(os.path.exists("/dev/full"), "/dev/full is missing")
    def test_a_denial_that_cannot_be_written_blocks_by_its_exit_code(self) -> None:
        with project() as root, open("/dev/full", "wb") as full:
            environ = {"CLAUDE_PROJECT_DIR": root}
            command = [sys.executable, "-I", "-S", GUARD]
            done = subprocess.run(
                command, input=bash_payload(WRITE, root), env=environ, stdout=full, stderr=subprocess.PIPE, check=False
            )
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            command[-1] = ALLOW
            done = subprocess.run(
                command,
                input=bash_payload(SANCTIONED, root),
                env=environ,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_harmless_call_imports_nothing_and_an_ordinary_one_no_patterns(self) -> None:
        with project() as root:
            for command, absent in (
                ("git status", ("os", "json", "re", "_json")),
                ("echo 'a' > docs/x", ("json", "re")),
            ):
                with self.subTest(command):
                    data = (
                        bash_payload(command, root).replace(root.encode(), b"/p")
                        if "os" in absent
                        else bash_payload(command, root)
                    )
                    done = start(GUARD, data, root, python=("-X", "importtime"))
                    names = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
                    self.assertEqual(names & set(absent), set())
