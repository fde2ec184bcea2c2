"""Promises P25 to P29, P64: descriptors, locales, hash seeds, zones, a deleted folder, old interpreters."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

from tests.records import a_design_block, a_request, lines
from tests.support import SCRIPTS, ProjectCase

ENTRY = os.path.join(SCRIPTS, "handoff.py")
RECORD = json.dumps(a_request(question="Zurück — ✓?"), ensure_ascii=False).encode()


def quiet(**extra: str) -> dict[str, str]:
    """Return the environment without Python's own variables, and with `extra`."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}, **extra}


class ProcessCase(ProjectCase):
    def shell(
        self, line: str, stdin: bytes = b"", environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a shell line in which `$H` is the program."""
        return subprocess.run(
            ["sh", "-c", line.replace("$H", f"'{sys.executable}' '{ENTRY}'")],
            input=stdin,
            cwd=self.root,
            env=quiet(**(environment or {})),
            capture_output=True,
            timeout=30,
            check=False,
        )


@unittest.skipUnless(os.name == "posix", "redirections of a POSIX shell")
class Descriptors(ProcessCase):
    def test_append_stands_and_its_receipt_goes_to_stderr_when_stdout_takes_nothing(self) -> None:
        receipt = b"handoff.py: appended consultation-request at line %d (stdout could not be written)\n"
        for number, redirect in enumerate((">&-", ">/dev/full"), 1):
            if redirect == ">/dev/full" and not os.path.exists("/dev/full"):
                continue
            run = self.shell(f"$H append consultation-request {redirect}", RECORD)
            with self.subTest(redirect):
                self.assertEqual((run.returncode, run.stderr), (0, receipt % number))

    def test_other_commands_say_one_line_when_stdout_takes_nothing(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(a_design_block()))
        for command in ("latest --type design-block", "show", "validate", "route", "--help", "view --no-cost"):
            for redirect in (">&-", ">/dev/full"):
                run = self.shell(f"$H {command} {redirect}")
                with self.subTest(command=command, redirect=redirect):
                    said = [
                        line
                        for line in run.stderr.splitlines()
                        if b": note: " not in line and b": warning: " not in line
                    ]
                    self.assertEqual(run.returncode, 1, run.stderr)
                    self.assertEqual(len(said), 1, run.stderr)
                    self.assertTrue(said[0].startswith(b"handoff.py: cannot write to stdout: "), said)

    def test_a_closed_pipe_is_silent(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(*(a_request(question="x" * 900) for _ in range(300))))
        for command in ("show --last 0", "show --json --last 0", "validate --format json", "view --no-cost"):
            run = self.shell(f"$H {command} | head -c 10 >/dev/null")
            with self.subTest(command):
                self.assertEqual(run.stderr, b"")

    def test_a_closed_stderr_changes_no_answer(self) -> None:
        self.assertEqual(self.shell("$H append consultation-request 2>&-", RECORD).returncode, 0)
        self.assertEqual(self.shell("$H validate 2>&-").stdout, b"1 records valid\n")
        self.assertEqual(self.shell("$H latest --type none 2>&-").returncode, 3)
        self.assertEqual(self.shell("$H nonsense 2>&- <&- >&-").returncode, 2)

    def test_all_three_descriptors_closed_still_append_into_the_log_alone(self) -> None:
        self.write("record.json", RECORD)
        run = self.shell("$H append consultation-request --record record.json <&- >&- 2>&-")
        self.assertEqual(run.returncode, 0)
        self.assertEqual(self.read(".scratch/handoff.jsonl").count(b"\n"), 1)
        self.assertEqual(self.run_here("validate").code, 0)


@unittest.skipUnless(os.name == "posix", "locales and zones of POSIX")
class Environments(ProcessCase):
    def test_the_same_bytes_come_out_under_any_seed_locale_zone_and_folder(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(a_design_block(notes="Zurück — ✓"), a_request()))
        os.mkdir(os.path.join(self.root, "below"))
        board = "view --no-cost --json --now 2026-02-03T04:05:06Z"
        commands = ("route", "validate --format json", "latest --type design-block", board, "show --json")
        surroundings = [
            {"PYTHONHASHSEED": str(seed), "LC_ALL": locale, "TZ": zone}
            for seed, (locale, zone) in enumerate(
                (
                    ("C", "UTC"),
                    ("C.UTF-8", "America/St_Johns"),
                    ("POSIX", "Asia/Kathmandu"),
                    ("de_DE.ISO-8859-1", "UTC"),
                )
            )
        ]
        for command in commands:
            answers = {
                self.shell(f"cd {folder} && $H {command}", environment=environment).stdout
                for environment in surroundings
                for folder in (".", "below")
            }
            with self.subTest(command):
                self.assertEqual(len(answers), 1)

    def test_an_ascii_locale_takes_and_gives_utf_8(self) -> None:
        odd = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
        self.assertEqual(self.shell("$H append consultation-request", RECORD, odd).returncode, 0)
        self.assertIn("Zurück — ✓?".encode(), self.read(".scratch/handoff.jsonl"))
        self.assertIn(
            "Zurück — ✓?".encode(), self.shell("$H latest --type consultation-request", environment=odd).stdout
        )
        self.assertIn("· REQ-LOAN-001 ·".encode(), self.shell("$H show", environment=odd).stdout)

    def test_a_deleted_folder_without_a_root_is_named_and_with_one_all_works(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(a_request()))
        gone = "mkdir gone && cd gone && rmdir ../gone && "
        run = self.shell(gone + "$H latest --type consultation-request")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, b"handoff.py: cannot find the current directory: No such file or directory\n")
        run = self.shell(gone + f"$H latest --type consultation-request --root '{self.root}'")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_without_home_path_and_git_the_ledger_works(self) -> None:
        bare = [sys.executable, ENTRY]
        for argv, stdin in ((["append", "design-block"], json.dumps(a_design_block()).encode()), (["route"], b"")):
            run = subprocess.run([*bare, *argv], input=stdin, cwd=self.root, env={}, capture_output=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
        run = subprocess.run([*bare, "audit-autofix"], cwd=self.root, env={}, capture_output=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, b"handoff.py: cannot read the git worktree state; the audit fails closed\n")

    def test_a_clock_that_was_set_back_changes_no_order(self) -> None:
        from unittest import mock

        for moment in (2_000_000_000, 1_000_000_000, 0):
            with mock.patch("time.time_ns", lambda moment=moment: moment * 1_000_000_000):
                self.assertEqual(self.append(a_request()).code, 0)
        stored = [json.loads(line)["ts"] for line in self.read(".scratch/handoff.jsonl").splitlines()]
        self.assertEqual(
            stored,
            [
                "2033-05-18T03:33:20.000000+00:00",
                "2001-09-09T01:46:40.000000+00:00",
                "1970-01-01T00:00:00.000000+00:00",
            ],
        )
        self.assertEqual(self.run_here("validate").code, 0)


class Interpreters(unittest.TestCase):
    def test_an_older_python_gets_one_clear_line_and_exit_2(self) -> None:
        home = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
        found = [*glob.glob(os.path.join(home, "versions", "*", "bin", "python")), shutil.which("python2") or ""]
        tried = 0
        for python in filter(os.path.exists, found):
            question = "import sys; print(sys.version_info >= (3, 11))"
            asked = subprocess.run([python, "-c", question], capture_output=True, check=False)
            if asked.stdout.strip() != b"False":
                continue
            tried += 1
            run = subprocess.run([python, ENTRY, "route"], capture_output=True, check=False)
            with self.subTest(python):
                self.assertEqual((run.returncode, run.stdout), (2, b""))
                self.assertRegex(run.stderr, rb"\Ahandoff\.py: Python 3\.11 or later is needed; this is \d\.\d+\n\Z")
        if not tried:
            self.skipTest("no Python older than 3.11 is on this machine")


if __name__ == "__main__":
    unittest.main()
