"""Completion scripts load in their shells and complete; the manual page names every command and flag."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest

from handoff_core import cli

from tests.support import run


class Completion(unittest.TestCase):
    def script(self, shell: str) -> str:
        result = run("completion", shell)
        self.assertEqual((result.code, result.err), (0, ""))
        return result.out

    def ask(self, program: list[str], text: str) -> str:
        if not shutil.which(program[0]):
            self.skipTest(f"{program[0]} is not on this machine")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([*program, text], capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_bash_completes_commands_flags_and_values(self) -> None:
        ask = """
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _handoff; echo "${COMPREPLY[@]}"; }
complete_words handoff next-
complete_words handoff validate --req
complete_words handoff validate --format s
complete_words handoff route --ex
"""
        out = self.ask(["bash", "--norc", "-c"], self.script("bash") + ask)
        self.assertEqual(
            out.splitlines(), ["next-retry", "--require-seal --require-clean", "sarif", "--explain --exit-code"]
        )

    def test_zsh_parses_its_script(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "_handoff")
            with open(path, "w", encoding="utf-8") as opened:
                opened.write(self.script("zsh"))
            out = self.ask(
                ["zsh", "-f", "-c"], f"autoload -Uz compinit; compinit -u -D; source {path}; whence -w _handoff"
            )
        self.assertEqual(out, "_handoff: function\n")

    def test_every_command_and_flag_is_in_every_script(self) -> None:
        for shell in ("bash", "zsh", "fish"):
            script = self.script(shell)
            for command in cli.COMMANDS:
                self.assertIn(command.name, script)
                for flag in command.flags:
                    if not flag.positional:
                        self.assertIn(flag.names[0] if shell != "fish" else f"-l {flag.names[0][2:]}", script)

    def test_an_unknown_shell_is_a_usage_error(self) -> None:
        self.assertEqual(run("completion", "tcsh").code, 2)


class Manual(unittest.TestCase):
    def test_the_page_names_every_command_and_flag(self) -> None:
        page = run("man").out
        self.assertTrue(page.startswith(".TH HANDOFF 1 "))
        for command in cli.COMMANDS:
            self.assertIn(".SS " + command.name.replace("-", "\\-"), page)
            for flag in command.flags:
                self.assertIn(flag.names[0].replace("-", "\\-"), page)

    def test_the_page_is_clean_roff(self) -> None:
        if not shutil.which("groff"):
            self.skipTest("groff is not on this machine")
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=run("man").out, capture_output=True, text=True,
            check=False)  # fmt: skip
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
