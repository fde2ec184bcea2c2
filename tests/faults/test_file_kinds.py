"""Promises P9, P17, P20, P60: odd files in the ledger's place, umasks, read-only trees, shadowed imports."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import unittest
from typing import Any

from tests.records import a_design_block, a_request, lines
from tests.support import SCRIPTS, ProjectCase

ENTRY = os.path.join(SCRIPTS, "handoff.py")
RECORD = json.dumps(a_request()).encode()
READERS = (
    ("validate",),
    ("latest", "--type", "design-block"),
    ("next-retry", "--req-id", "REQ-LOAN-001"),
    ("show",),
    ("show", "--json"),
    ("route",),
    ("audit-autofix",),
    ("view", "--no-cost"),
    ("append", "consultation-request", "--dry-run"),
)


def quiet_environment() -> dict[str, str]:
    """Return the environment without Python's own variables, for a child that is to be as a user starts it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@unittest.skipUnless(os.name == "posix", "makes links, FIFOs and devices")
class OddFiles(ProjectCase):
    def start(self, *argv: str, cwd: str | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run the program in a process, at most five seconds."""
        return subprocess.run(
            [sys.executable, ENTRY, *argv],
            input=RECORD,
            cwd=cwd or self.root,
            env=quiet_environment(),
            capture_output=True,
            timeout=5,
            check=False,
        )

    def make(self, kind: str, path: str) -> None:
        outside = os.path.join(os.path.dirname(path), "outside")
        if kind == "symlink":
            with open(outside, "wb") as opened:
                opened.write(lines(a_design_block()))
            os.symlink(outside, path)
        elif kind == "dangling symlink":
            os.symlink(outside + "-none", path)
        elif kind == "FIFO":
            os.mkfifo(path)
        elif kind == "folder":
            os.mkdir(path)
        elif kind == "device":
            os.symlink(os.devnull, path)

    def remove(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)

    def test_a_log_of_an_odd_kind_is_refused_and_nothing_is_made_through_it(self) -> None:
        for kind in ("symlink", "dangling symlink", "FIFO", "folder", "device"):
            self.make(kind, self.log)
            run = self.start("append", "consultation-request")
            with self.subTest(kind=kind):
                self.assertEqual((run.returncode, run.stdout), (1, b""))
                self.assertRegex(
                    run.stderr.decode(), r"\Ahandoff\.py: cannot append to \.scratch/handoff\.jsonl: .+\n\Z"
                )
                self.assertFalse(os.path.exists(self.log + "-none"))
                if kind == "symlink":
                    self.assertEqual(self.read(".scratch/outside"), lines(a_design_block()))
            self.remove(self.log)

    def test_a_lock_of_an_odd_kind_is_refused(self) -> None:
        lock = os.path.join(self.root, ".scratch", "handoff.lock")
        for kind in ("symlink", "dangling symlink", "FIFO", "folder"):
            self.make(kind, lock)
            run = self.start("append", "consultation-request")
            with self.subTest(kind=kind):
                self.assertEqual((run.returncode, run.stdout), (1, b""))
                self.assertRegex(run.stderr.decode(), r"\Ahandoff\.py: cannot lock \.scratch/handoff\.lock: .+\n\Z")
                self.assertFalse(os.path.exists(self.log))
                self.assertEqual(self.start("latest", "--type", "x").returncode, 1)
            self.remove(lock)

    def test_a_linked_scratch_folder_is_refused_and_its_target_untouched(self) -> None:
        os.rmdir(os.path.join(self.root, ".scratch"))
        elsewhere = os.path.join(self.root, "elsewhere")
        os.mkdir(elsewhere)
        os.symlink(elsewhere, os.path.join(self.root, ".scratch"))
        run = self.start("append", "consultation-request")
        self.assertEqual(run.returncode, 1)
        expected = b"handoff.py: cannot append to .scratch/handoff.jsonl: .scratch is a symlink\n"
        self.assertEqual(run.stderr, expected)
        self.assertEqual(os.listdir(elsewhere), [])

    def test_a_hard_link_and_a_replaced_log_are_the_file_that_they_are(self) -> None:
        self.assertEqual(self.start("append", "consultation-request").returncode, 0)
        os.link(self.log, os.path.join(self.root, "second"))
        self.assertEqual(self.start("append", "consultation-request").returncode, 0)
        self.assertEqual(self.read("second"), self.read(".scratch/handoff.jsonl"))
        self.write("other", lines(a_design_block()))
        os.replace(os.path.join(self.root, "other"), self.log)
        self.assertEqual(self.start("append", "consultation-request").returncode, 0)
        self.assertEqual(self.read(".scratch/handoff.jsonl").count(b"\n"), 2)
        self.assertEqual(self.start("validate").returncode, 1)

    def test_reading_an_odd_log_ends_with_one_line(self) -> None:
        for kind in ("FIFO", "folder", "device"):
            self.make(kind, self.log)
            for argv in READERS[:4]:
                run = self.start(*argv)
                with self.subTest(kind=kind, argv=argv):
                    self.assertEqual(run.returncode, 1)
                    self.assertIn(b"handoff.py: cannot read .scratch/handoff.jsonl: ", run.stderr)
            self.remove(self.log)

    def test_files_have_mode_0644_less_the_umask_and_the_owner_can_use_them(self) -> None:
        for umask, mode in ((0o000, 0o644), (0o022, 0o644), (0o077, 0o600), (0o777, 0o600)):
            code = f"import os, sys; os.umask({umask}); os.execv(sys.argv[1], sys.argv[1:])"
            with self.subTest(umask=oct(umask)):
                command = [sys.executable, "-c", code, sys.executable, ENTRY, "append", "consultation-request"]
                subprocess.run(command, input=RECORD, cwd=self.root, capture_output=True, check=True)
                for path in (self.log, self.seal):
                    self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), mode)
                for name in os.listdir(os.path.join(self.root, ".scratch")):
                    os.unlink(os.path.join(self.root, ".scratch", name))

    def test_no_file_of_the_project_stands_in_for_a_module(self) -> None:
        import shutil

        shutil.copytree(SCRIPTS, os.path.join(self.root, "scripts"), ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(os.path.join(os.path.dirname(SCRIPTS), "schemas"), os.path.join(self.root, "schemas"))
        canary = "import os; os.write(2, b'CANARY'); raise SystemExit(99)\n"
        for name in ("json", "re", "argparse", "site", "signal", "time", "stat", "hashlib", "fcntl", "_json", "types"):
            self.write(f"scripts/{name}.py", canary)
            self.write(f"{name}.py", canary)
        entry = os.path.join(self.root, "scripts", "handoff.py")
        for argv in (("append", "consultation-request"), *READERS, ("--help",), ("append", "--help"), ("nonsense",)):
            run = subprocess.run(
                [sys.executable, entry, *argv],
                input=RECORD,
                cwd=self.root,
                env=quiet_environment(),
                capture_output=True,
                check=False,
            )
            with self.subTest(argv=argv):
                self.assertNotIn(b"CANARY", run.stderr)
                self.assertNotEqual(run.returncode, 99)


class ReadersWriteNothing(ProjectCase):
    def snapshot(self) -> dict[str, Any]:
        found = {}
        for base, folders, files in os.walk(self.root):
            for name in folders + files:
                status = os.lstat(os.path.join(base, name))
                found[os.path.join(base, name)] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode)
        return found

    def test_no_reading_command_changes_the_tree_whatever_the_log_holds(self) -> None:
        for log in (None, b"", lines(a_design_block()), b'{"torn', b"\xff\n", b"\n\n"):
            if log is not None:
                self.write(".scratch/handoff.jsonl", log)
            before = self.snapshot()
            for argv in READERS:
                result = self.run_here(*argv, stdin=RECORD)
                with self.subTest(log=log, argv=argv):
                    self.assertNotIn("internal error", result.err)
                    self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    unittest.main()
