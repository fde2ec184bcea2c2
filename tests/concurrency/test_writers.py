"""Promises P4, P5, P10, P21: many writers, readers beside them, stopped and killed lock holders."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

from tests.ledger_vectors import seal_of
from tests.records import a_request, lines
from tests.support import SCRIPTS, ProjectCase

ENTRY = os.path.join(SCRIPTS, "handoff.py")
WRITER = """
import io, json, sys
sys.path.insert(0, sys.argv[1])
from handoff_core import cli
for number in range(int(sys.argv[3])):
    record = json.loads(sys.argv[4])
    record["question"] = f"{sys.argv[2]}-{number}-" + "x" * int(sys.argv[5])
    out, err = io.BytesIO(), io.BytesIO()
    code = cli.main(["append", "consultation-request"], io.BytesIO(json.dumps(record).encode()), out, err)
    said = [stream.getvalue().decode().strip() for stream in (out, err)]
    print(code, record["question"].rstrip("x"), *said, sep="|")
"""
HOLDER = """
import fcntl, os, sys, time
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
fcntl.flock(descriptor, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@unittest.skipUnless(os.name == "posix", "starts many processes and stops them by signals")
class Writers(ProjectCase):
    def start_writer(self, name: str, times: int, size: int) -> subprocess.Popen[bytes]:
        arguments = [SCRIPTS, name, str(times), json.dumps(a_request()), str(size)]
        return subprocess.Popen([sys.executable, "-c", WRITER, *arguments], cwd=self.root, stdout=subprocess.PIPE)

    def judge(self, writers: list[subprocess.Popen[bytes]], expected: int) -> None:
        rows = [row.split("|") for writer in writers for row in writer.communicate()[0].decode().splitlines()]
        self.assertEqual([row for row in rows if row[0] != "0" or row[3]], [])
        numbers = {int(row[2].rsplit(" ", 1)[1]): row[1] for row in rows}
        self.assertEqual(sorted(numbers), list(range(1, expected + 1)))
        log = self.read(".scratch/handoff.jsonl")
        stored = log.split(b"\n")
        self.assertEqual(stored.pop(), b"")
        self.assertEqual(len(stored), expected)
        for number, line in enumerate(stored, 1):
            self.assertEqual(json.loads(line)["question"].rstrip("x"), numbers[number])
        self.assertEqual(self.read(".scratch/handoff.seal"), seal_of(stored, set()))

    def test_sixteen_processes_of_fifty_appends_lose_and_mix_nothing(self) -> None:
        writers = [self.start_writer(f"w{index}", 50, 10) for index in range(16)]
        self.judge(writers, 800)

    def test_records_of_any_size_stay_whole(self) -> None:
        sizes = (200, 20_000, 900_000)
        writers = [self.start_writer(f"w{index}", 6, sizes[index % 3]) for index in range(6)]
        self.judge(writers, 36)

    def test_a_reader_beside_writers_sees_a_prefix_of_the_log(self) -> None:
        writers = [self.start_writer(f"w{index}", 25, 50) for index in range(4)]
        seen: list[list[str]] = []
        while any(writer.poll() is None for writer in writers):
            result = self.run_here("show", "--json", "--last", "0")
            if result.code == 0:
                self.assertEqual(result.err, "")
                seen.append(result.out.splitlines())
        final = self.read(".scratch/handoff.jsonl").decode().splitlines()
        self.judge(writers, 100)
        self.assertGreater(len(seen), 3)
        for lines_seen in seen:
            self.assertEqual(lines_seen, final[: len(lines_seen)])


@unittest.skipUnless(os.name == "posix", "stops lock holders by signals")
class LockHolders(ProjectCase):
    def hold(self) -> subprocess.Popen[bytes]:
        lock = os.path.join(self.root, ".scratch", "handoff.lock")
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, lock], stdout=subprocess.PIPE)
        self.assertEqual(holder.stdout.readline(), b"held\n")  # type: ignore[union-attr]
        self.addCleanup(self.end, holder)
        return holder

    @staticmethod
    def end(holder: subprocess.Popen[bytes]) -> None:
        holder.kill()
        holder.communicate()

    def test_a_stopped_holder_is_waited_for_ten_seconds_and_nothing_is_done(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(a_request()))
        holder = self.hold()
        holder.send_signal(signal.SIGSTOP)
        results = {}

        def call(name: str, *argv: str) -> None:
            begun = time.monotonic()
            run = subprocess.run(
                [sys.executable, ENTRY, *argv],
                input=json.dumps(a_request()).encode(),
                cwd=self.root,
                capture_output=True,
                check=False,
            )
            results[name] = (run.returncode, run.stderr.decode(), time.monotonic() - begun)

        calls = {"append": ("append", "consultation-request"), "validate": ("validate",), "route": ("route",)}
        threads = [threading.Thread(target=call, args=(name, *argv)) for name, argv in calls.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        busy = "handoff.py: another writer holds the lock .scratch/handoff.lock (waited 10 s); nothing was done\n"
        for name, (code, err, seconds) in results.items():
            with self.subTest(name):
                self.assertEqual((code, err), (75, busy))
                self.assertTrue(9.5 < seconds < 13, seconds)
        self.assertEqual(self.read(".scratch/handoff.jsonl"), lines(a_request()))

    def test_a_killed_holder_frees_the_lock_at_once(self) -> None:
        holder = self.hold()
        threading.Timer(0.3, holder.kill).start()
        begun = time.monotonic()
        self.assertEqual(self.append(a_request()).code, 0)
        self.assertLess(time.monotonic() - begun, 5)

    def test_the_lock_is_not_inherited_by_children(self) -> None:
        from handoff_core.layout import find_project
        from handoff_core.ledger import exclusive_lock

        with exclusive_lock(find_project(self.root)) as held:
            self.assertFalse(os.get_inheritable(held.descriptor or 0))


class Receipts(ProjectCase):
    def test_a_record_appended_twice_is_stored_twice(self) -> None:
        for number in (1, 2):
            self.assertRegex(self.append(a_request()).out, re.escape(f"at line {number}\n"))


if __name__ == "__main__":
    unittest.main()
