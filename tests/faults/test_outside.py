"""Faults from outside the process: full file systems, read-only trees, power cuts, injected system calls.

These need root or strace and say so where they skip; CI runs them as root.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import TYPE_CHECKING

from tests.faults.test_file_kinds import READERS, quiet_environment
from tests.records import a_design_block, a_request, lines
from tests.support import REPOSITORY, SCRIPTS, ProjectCase

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRY = os.path.join(SCRIPTS, "handoff.py")
RECORD = json.dumps(a_request(question="x" * 3000)).encode()
AS_ROOT = unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "needs root: mounts file systems")
WITH_STRACE = unittest.skipUnless(shutil.which("strace"), "needs strace")


def append(cwd: str, *prefix: str) -> subprocess.CompletedProcess[bytes]:
    """Append one record of three thousand characters in a process, behind `prefix`."""
    command = [*prefix, sys.executable, ENTRY, "append", "consultation-request"]
    return subprocess.run(
        command, input=RECORD, cwd=cwd, env=quiet_environment(), capture_output=True, timeout=60, check=False
    )


@contextlib.contextmanager
def mounted(*arguments: str) -> Iterator[str]:
    """Mount a file system on a fresh folder for the length of a `with` block; skip where the machine won't."""
    folder = tempfile.mkdtemp(prefix="handoff-mount-")
    try:
        done = subprocess.run(["mount", *arguments, folder], capture_output=True, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest(f"cannot mount: {done.stderr.decode().strip()}")
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)
    finally:
        os.rmdir(folder)


@AS_ROOT
class FullFileSystem(unittest.TestCase):
    def test_a_full_disk_cuts_the_log_back_and_says_so(self) -> None:
        with mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs") as folder:
            os.mkdir(os.path.join(folder, ".scratch"))
            log = os.path.join(folder, ".scratch", "handoff.jsonl")
            before = b""
            for _ in range(100):
                run = append(folder)
                with open(log, "rb") as opened:
                    after = opened.read()
                if run.returncode:
                    break
                self.assertEqual(after.count(b"\n"), before.count(b"\n") + 1)
                before = after
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, rb"\Ahandoff\.py: cannot append to .+; the log is unchanged\n\Z")
            self.assertEqual(after, before)


@AS_ROOT
class ReadOnlyTree(ProjectCase):
    def test_commands_that_read_need_nothing_to_be_writable(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(a_design_block()))
        self.write(".scratch/handoff.lock", b"")
        with mounted("--bind", self.root) as folder:
            subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
            for argv in READERS:
                run = subprocess.run(
                    [sys.executable, ENTRY, *argv], input=RECORD, cwd=folder, capture_output=True, check=False
                )
                with self.subTest(argv=argv):
                    self.assertNotIn(b"Read-only", run.stderr)
                    self.assertNotIn(b"internal error", run.stderr)
            run = append(folder)
            self.assertEqual((run.returncode, run.stdout), (1, b""))
            self.assertIn(b"Read-only file system", run.stderr)


@AS_ROOT
class PowerCut(unittest.TestCase):
    def test_five_acknowledged_records_survive_a_power_cut_at_the_last_receipt(self) -> None:
        for kind, size in (("ext4", 8), ("xfs", 320)):
            with self.subTest(kind):
                if not shutil.which(f"mkfs.{kind}"):
                    self.skipTest(f"mkfs.{kind} is not on this machine")
                self.cut_power(kind, size)

    def cut_power(self, kind: str, megabytes: int) -> None:
        holder = tempfile.mkdtemp(prefix="handoff-power-")
        self.addCleanup(shutil.rmtree, holder)
        image, copy = os.path.join(holder, "disk"), os.path.join(holder, "copy")
        with open(image, "wb") as opened:
            opened.truncate(megabytes << 20)
        subprocess.run([f"mkfs.{kind}", "-q", image], check=True, capture_output=True)
        with mounted("-o", "loop", image) as folder:
            os.mkdir(os.path.join(folder, ".scratch"))
            receipts = [append(folder).stdout for _ in range(5)]
            subprocess.run(["cp", "--sparse=always", image, copy], check=True)
        self.assertEqual(receipts, [b"appended consultation-request at line %d\n" % line for line in range(1, 6)])
        with mounted("-o", "loop" + (",nouuid" if kind == "xfs" else ""), copy) as folder:
            log = os.path.join(folder, ".scratch", "handoff.jsonl")
            self.assertEqual(subprocess.run(["cat", log], capture_output=True, check=True).stdout.count(b"\n"), 5)


@WITH_STRACE
class SystemCalls(ProjectCase):
    def strace(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        return append(self.root, "strace", "-f", "-o", os.path.join(self.root, "trace"), *options)

    def setUp(self) -> None:
        super().setUp()
        probe = self.strace("-e", "trace=none")
        if probe.returncode != 0:
            self.skipTest(f"strace does not work here: {probe.stderr.decode().strip()}")
        for name in ("handoff.jsonl", "handoff.seal", "handoff.lock"):
            os.unlink(os.path.join(self.root, ".scratch", name))

    def test_the_receipt_comes_after_lock_write_and_both_flushes(self) -> None:
        self.assertEqual(self.strace("-y", "-e", "trace=openat,flock,write,fsync").returncode, 0)
        trace = self.read("trace").decode().splitlines()
        opened = [line for line in trace if 'handoff.jsonl"' in line and "O_CREAT" in line]
        self.assertEqual(len(opened), 1)
        for flag in ("O_APPEND", "O_NOFOLLOW", "O_CLOEXEC", "O_EXCL"):
            self.assertIn(flag, opened[0])
        marks = {
            "lock": "flock(",
            "open": opened[0],
            "write": "write(",
            "flush": "fsync(",
            "receipt": '"appended consultation-request',
        }
        inside = [line for line in trace if "handoff" in line or ".scratch" in line or "appended" in line]
        order = [next(at for at, line in enumerate(inside) if mark in line) for mark in marks.values()]
        self.assertEqual(order, sorted(order))
        flushed = [line for line in inside[: order[-1]] if "fsync(" in line]
        self.assertEqual(["handoff.jsonl" in line for line in flushed], [True, False])

    def test_an_error_or_a_kill_at_any_write_loses_nothing(self) -> None:
        base = lines(a_design_block())
        for injected in ("error=ENOSPC", "error=EIO", "retval=7", "signal=KILL"):
            for call in ("write", "fsync", "ftruncate"):
                self.write(".scratch/handoff.jsonl", base)
                self.strace("-P", self.log, "-e", f"inject={call}:{injected}:when=1")
                after = self.read(".scratch/handoff.jsonl")
                with self.subTest(call=call, injected=injected):
                    self.assertTrue(after.startswith(base))
                    added = after[len(base) :]
                    self.assertTrue(added == b"" or (added.endswith(b"\n") and added.count(b"\n") == 1))

    def test_no_fixed_name_in_a_shared_temporary_folder_is_opened(self) -> None:
        self.assertEqual(self.strace("-e", "trace=openat,mkdir").returncode, 0)
        temporary = [line for line in self.read("trace").decode().splitlines() if '"/tmp/' in line]
        own = (self.root, REPOSITORY)
        strays = [line for line in temporary if not any(path in line for path in own) and "ENOENT" not in line]
        self.assertEqual(strays, [])


if __name__ == "__main__":
    unittest.main()
