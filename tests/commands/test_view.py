"""`view` as a command: its flags, its exit codes, the file it writes, and following."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any
from unittest import mock

from tests.board.view_vectors import lines_bytes
from tests.support import REPOSITORY, ProjectCase, vectors

NOW = ["--now", "2026-11-27T10:00:00Z"]


def a_log(name: str = "example-a-finished") -> list[Any]:
    """Return the log of a case."""
    log: list[Any] = next(case for case in vectors("view.jsonl") if case["name"] == name)["log"]
    return log


class View(ProjectCase):
    def setUp(self) -> None:
        super().setUp()
        quiet = {
            "CLAUDE_PROJECTS_ROOT": os.path.join(self.root, "none"),
            "COLUMNS": "",
            "NO_COLOR": "",
            "FORCE_COLOR": "",
        }
        patch = mock.patch.dict(os.environ, quiet)
        patch.start()
        self.addCleanup(patch.stop)

    def put(self, log: list[Any]) -> None:
        self.write(".scratch/handoff.jsonl", lines_bytes(log))


class Flags(View):
    def test_flags_that_exclude_each_other_are_usage_errors(self) -> None:
        self.put(a_log())
        for flags in (
            ["--req-id", "X", "--all"],
            ["--all", "--list"],
            ["--json", "--html", "-"],
            ["--color", "--no-color"],
            ["--no-color", "--json"],
            ["--verbose", "--brief"],
            ["-v", "--brief"],
            ["--watch", "--at", "1"],
            ["--until", "you"],
            ["--bell"],
            ["--until", "them", "--watch"],
            ["--req-id", ""],
            ["--html", ""],
            ["--watch", "0.1"],
            ["--watch", "3601"],
            ["--watch", "nan"],
            ["--watch", "soon"],
            ["--tz", "Mars/Olympus"],
            ["--tz", "+2"],
            ["--tz", "+25:00"],
            ["--tz", "../../etc/passwd"],
            ["--now", "2026-11-27"],
            ["--since", "L"],
            ["--since", "5y"],
            ["--since", ""],
            ["--since", "-5m"],
            ["--at", "0"],
            ["--at", "42"],
            ["--at", "1.0"],
            ["--at", "9" * 5000],
            ["--at", "x"],
            ["surplus"],
        ):
            with self.subTest(flags):
                result = self.run_here("view", *flags)
                self.assertEqual((result.code, result.out), (2, ""), result.err)
                self.assertIn("usage: handoff.py view", result.err)

    def test_at_needs_a_log_with_lines(self) -> None:
        self.assertEqual(self.run_here("view", "--at", "1").code, 2)
        self.put([])
        self.assertEqual(self.run_here("view", "--at", "1").code, 2)

    def test_a_log_that_cannot_be_opened_is_shown_with_and_without_at(self) -> None:
        os.mkdir(self.log)
        for flags in ([], ["--at", "1"]):
            result = self.run_here("view", *flags)
            self.assertEqual(result.code, 0)
            self.assertIn("The log cannot be read.", result.out)

    def test_zones_change_what_is_printed_and_nothing_else(self) -> None:
        self.put(a_log())
        for zone, word, clock in (
            ("UTC", "UTC", "09:02:11"),
            ("+05:30", "UTC+05:30", "14:32:11"),
            ("Europe/Berlin", "Europe/Berlin", "10:02:11"),
        ):
            with self.subTest(zone):
                text = self.run_here("view", "--tz", zone, *NOW).out
                self.assertIn(f"times {word}", text)
                self.assertIn(clock, text)
        first = json.loads(self.run_here("view", "--tz=-05:00", "--json", *NOW).out)
        self.assertEqual(first["generated"]["tz"], "-05:00")
        self.assertEqual(first["boards"][0]["steps"][0]["start"], "2026-11-27T09:02:11Z")

    def test_the_layout_names_a_zone(self) -> None:
        self.put(a_log())
        self.write("scripts/layout.toml", '[view]\ntz = "+01:00"\n')
        self.assertIn("times UTC+01:00", self.run_here("view", *NOW).out)
        self.write("scripts/layout.toml", '[view]\ntz = "Nowhere"\nidle_minutes = 0\nstall_minutes = true\n')
        text = self.run_here("view", *NOW).out
        for note in (
            "tz is not a zone; UTC used",
            "idle_minutes is not a number above 0; default used",
            "stall_minutes is not a number above 0; default used",
        ):
            self.assertIn(f"note: layout.toml: [view] {note}", text)

    def test_a_slice_without_records_is_no_match(self) -> None:
        self.put([{**a_log()[0], "req_id": f"REQ-A-{number:03d}"} for number in range(12)])
        result = self.run_here("view", "--req-id", "REQ-B-001")
        self.assertEqual((result.code, result.out), (3, ""))
        self.assertIn("handoff.py: no records for REQ-B-001; the log holds REQ-A-000, REQ-A-001", result.err)
        self.assertTrue(result.err.endswith("REQ-A-009 and 2 more\n"), result.err)
        result = self.run_here("view", "--req-id", "REQ-B-001", "--json")
        self.assertEqual((result.code, json.loads(result.out)["boards"]), (3, []))

    def test_the_path_of_the_log_is_never_absolute(self) -> None:
        self.put(a_log())
        with tempfile.TemporaryDirectory() as folder:
            outside = os.path.join(folder, "other.jsonl")
            with open(outside, "wb") as opened:
                opened.write(lines_bytes(a_log()))
            for flags in ([], ["--json"], ["--markdown"], ["--html", "-"]):
                text = self.run_here("view", "--file", outside, *flags).out
                self.assertIn("other.jsonl", text)
                self.assertNotIn(folder, text)

    def test_width_and_colour_follow_the_environment(self) -> None:
        self.put(a_log())
        with mock.patch.dict(os.environ, {"COLUMNS": "20"}):
            widest = max(map(len, self.run_here("view", *NOW).out.splitlines()))
            self.assertEqual(widest, 40)
        with mock.patch.dict(os.environ, {"COLUMNS": "wide"}):
            self.assertIn("docs/system-design.md:70", self.run_here("view", *NOW).out)
        with mock.patch.dict(os.environ, {"FORCE_COLOR": "1", "NO_COLOR": "1"}):
            self.assertNotIn("\x1b", self.run_here("view", *NOW).out)
            self.assertIn("\x1b", self.run_here("view", "--color", *NOW).out)

    def test_view_changes_nothing(self) -> None:
        self.put(a_log())
        before = {path: os.stat(path).st_mtime_ns for path, _, _ in os.walk(self.root)}
        for flags in ([], ["--json"], ["--html", "-"], ["--all", "--verbose"]):
            self.run_here("view", *flags)
        self.assertEqual({path: os.stat(path).st_mtime_ns for path, _, _ in os.walk(self.root)}, before)
        self.assertEqual(os.listdir(os.path.join(self.root, ".scratch")), ["handoff.jsonl"])

    def test_a_busy_lock_does_not_stop_a_board(self) -> None:
        if os.name == "nt":
            self.skipTest("the lock is taken with fcntl here")
        import fcntl

        self.put(a_log())
        with open(os.path.join(self.root, ".scratch", "handoff.lock"), "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            started = time.monotonic()
            result = self.run_here("view", *NOW)
        self.assertIn("DONE", result.out)
        self.assertLess(time.monotonic() - started, 5)

    def test_missing_transcripts_are_told_only_to_who_asks(self) -> None:
        self.put(a_log())
        self.assertNotIn("no transcripts", self.run_here("view", *NOW).out)
        self.assertIn("note: no transcripts for this project", self.run_here("view", "--verbose", *NOW).out)

    def test_a_closed_pipe_is_silent_and_no_failure(self) -> None:
        self.put(a_log())
        command = f"{sys.executable} {os.path.join(REPOSITORY, 'scripts', 'handoff.py')} view --all --verbose"
        done = subprocess.run(
            [*command.split()], cwd=self.root, stdout=self.broken_pipe(), stderr=subprocess.PIPE, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def broken_pipe(self) -> int:
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        return writing


class PageFile(View):
    def setUp(self) -> None:
        super().setUp()
        self.put(a_log())

    def test_the_file_is_written_named_and_written_again(self) -> None:
        for _ in range(2):
            result = self.run_here("view", "--html", "board.html", *NOW)
            self.assertEqual((result.code, result.out), (0, "board.html\n"))
        page = self.read("board.html")
        self.assertTrue(page.startswith(b"<!doctype html>"))
        self.assertNotIn(b"refresh", page.split(b"<style>", maxsplit=1)[0])
        self.assertEqual(sorted(os.listdir(self.root)), [".scratch", "board.html"])

    def test_what_is_no_board_is_never_overwritten(self) -> None:
        self.write("notes.txt", "mine")
        os.mkdir(os.path.join(self.root, "folder"))
        os.symlink("notes.txt", os.path.join(self.root, "link.html"))
        self.write(".scratch/handoff.seal", "")
        for name, reason in (
            ("notes.txt", "it exists and is no board"),
            ("folder", "it is a folder"),
            ("link.html", "it is a link"),
            (".scratch/handoff.jsonl", "it is the log"),
            (".scratch/../.scratch/handoff.seal", "it is the seal"),
            (".scratch/handoff.lock", "it is the lock"),
            ("none/board.html", "No such file or directory"),
        ):
            with self.subTest(name):
                result = self.run_here("view", "--html", name, *NOW)
                self.assertEqual((result.code, result.out), (1, ""))
                self.assertIn(f"handoff.py: cannot write {name}: {reason}", result.err)
        self.assertEqual(self.read("notes.txt"), b"mine")
        self.assertEqual(self.read(".scratch/handoff.jsonl"), lines_bytes(a_log()))

    def test_a_failed_write_leaves_the_old_page(self) -> None:
        self.run_here("view", "--html", "board.html", *NOW)
        before = self.read("board.html")
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
            result = self.run_here("view", "--html", "board.html")
        self.assertEqual(result.code, 1)
        self.assertEqual(self.read("board.html"), before)
        self.assertEqual(sorted(os.listdir(self.root)), [".scratch", "board.html"])


class Following(View):
    def later(self, seconds: float, log: list[Any]) -> None:
        """Write a log in a moment, while the board is followed."""
        timer = threading.Timer(seconds, self.put, [log])
        timer.start()
        self.addCleanup(timer.join)

    def test_a_line_is_printed_for_each_change_of_a_state(self) -> None:
        log = a_log()
        self.put(log[:13])
        self.later(0.5, log)
        result = self.run_here("view", "--watch", "0.2", "--until", "done", *NOW)
        self.assertEqual(result.code, 0)
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith("2026-11-27T10:00:00Z REQ-RENEW-004 IDLE The build passed; review it."))
        self.assertIn("DONE Every reviewer approved; the slice is complete.", lines[1])

    def test_following_ends_when_a_person_is_needed(self) -> None:
        self.put(a_log("example-c-question"))
        result = self.run_here("view", "--watch", "0.2", "--until", "you")
        self.assertEqual(result.code, 0)
        self.assertIn("NEEDS YOU prd-expert asks you a question.", result.out)

    def test_a_missing_and_a_damaged_log_are_shown_and_followed_on(self) -> None:
        self.later(0.4, [*a_log()[:3], "{"])
        self.later(1.0, a_log())
        result = self.run_here("view", "--watch", "0.2", "--until", "done", *NOW)
        words = [line.split(" ", 2)[2] for line in result.out.splitlines()]
        self.assertEqual(words[0], "MISSING There is no handoff log.")
        self.assertIn("DIRTY The log is damaged; route stops every slice.", words)
        self.assertIn("HELD Route stops here until the log is repaired.", words)
        self.assertTrue(words[-1].startswith("DONE"))

    def test_json_is_one_object_on_one_line_per_change(self) -> None:
        self.put(a_log()[:13])
        self.later(0.5, a_log())
        result = self.run_here("view", "--watch", "0.2", "--json", "--until", "done", *NOW)
        found = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual([each["log"]["lines"] for each in found], [13, 41])

    def test_a_followed_page_loads_itself_again(self) -> None:
        self.put(a_log())
        result = self.run_here("view", "--watch", "3", "--html", "board.html", "--until", "done", *NOW)
        self.assertEqual((result.code, result.out), (0, "board.html\n"))
        self.assertIn(b'<meta http-equiv="refresh" content="3">', self.read("board.html"))
        self.run_here("view", "--watch", "0.5", "--html", "board.html", "--until", "done", *NOW)
        self.assertIn(b'<meta http-equiv="refresh" content="2">', self.read("board.html"))

    def test_an_interrupt_ends_following_with_130(self) -> None:
        self.put(a_log())
        with mock.patch("time.sleep", side_effect=KeyboardInterrupt):
            self.assertEqual(self.run_here("view", "--watch", *NOW).code, 130)


@unittest.skipIf(os.name == "nt", "a pseudo-terminal needs POSIX")
class OnATerminal(View):
    """A real process on a pseudo-terminal, since frames, sizes and signals are the terminal's."""

    seen = b""

    def start(self, *flags: str, columns: int = 80, lines: int = 24) -> tuple[subprocess.Popen[bytes], int]:
        import pty

        own, theirs = pty.openpty()
        self.resize(own, columns, lines)
        kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
        process = subprocess.Popen(
            [sys.executable, os.path.join(REPOSITORY, "scripts", "handoff.py"), "view", *flags],
            cwd=self.root,
            env={**kept, "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self.addCleanup(os.close, own)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, own

    @staticmethod
    def resize(terminal: int, columns: int, lines: int) -> None:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, terminal: int, pattern: str) -> str:
        """Return what the terminal got up to a pattern, that included; the rest is kept for the next time."""
        deadline = time.monotonic() + 20
        while True:
            text = self.seen.decode("utf-8", "ignore")
            if found := re.search(pattern, text, re.DOTALL):
                self.seen = text[found.end() :].encode()
                return text[: found.end()]
            left = deadline - time.monotonic()
            piece = b""
            if left > 0 and select.select([terminal], [], [], left)[0]:
                with contextlib.suppress(OSError):  # Linux says so when the other side is closed
                    piece = os.read(terminal, 65_536)
            if not piece:
                self.fail(f"{pattern!r} did not come: {text[-2000:]!r}")
            self.seen += piece

    def test_frames_follow_the_log_and_the_size_and_leave_the_screen_as_it_was(self) -> None:
        log = a_log()
        self.put(log[:13])
        process, terminal = self.start("--watch", "0.2", *NOW)
        first = self.read_until(terminal, r"\x1b\[J")
        self.assertTrue(first.startswith("\x1b[?1049h\x1b[?25l\x1b[H"))
        self.assertIn("IDLE", first)
        self.assertLessEqual(first.count("\n"), 23)
        self.assertIn("more lines", first)
        self.put(log)
        self.assertIn("DONE", self.read_until(terminal, r"DONE[^J]*\x1b\[J"))
        self.resize(terminal, 100, 12)
        frame = self.read_until(terminal, r"\x1b\[H[^J]*\x1b\[J").rsplit("\x1b[H", 1)[1]
        self.assertEqual(frame.count("\n"), 11)
        self.write(".scratch/handoff.jsonl", b"{")
        self.read_until(terminal, "The log is damaged")
        os.unlink(self.log)
        self.read_until(terminal, "no handoff log at")
        self.put(log)
        self.read_until(terminal, "DONE")
        process.send_signal(signal.SIGINT)
        self.assertIn("feature-complete", self.read_until(terminal, r"\x1b\[\?25h\x1b\[\?1049l.*rule .* ago"))
        self.assertEqual(process.wait(10), 130)

    def test_the_bell_rings_when_a_person_begins_to_be_needed(self) -> None:
        log = a_log()
        self.put(log[:2])
        clock = ["--now", "2026-11-27T09:03:00Z"]
        process, terminal = self.start("--watch", "0.2", "--bell", "--until", "you", *clock)
        self.assertNotIn("\a", self.read_until(terminal, "WORKING"))
        ask = {"type": "consultation-request", "author": "x", "target": "human", "question": "q", "context": "c"}
        self.put([*log[:2], {**ask, "req_id": log[0]["req_id"], "ts": log[1]["ts"]}])
        self.read_until(terminal, "\a")
        self.read_until(terminal, r"\x1b\[\?1049l")
        self.assertEqual(process.wait(10), 0)

    def test_a_board_taller_than_the_terminal_ends_with_what_happens_now(self) -> None:
        self.put(a_log())
        process, terminal = self.start(*NOW, "--no-color")
        text = self.read_until(terminal, r"as of [^\r]*\r\n[^\r]+\r\n")
        self.assertTrue(text.endswith("┃ DONE       Every reviewer approved; the slice is complete.\r\n"))
        self.assertLessEqual(max(map(len, text.split("\r\n"))), 80)
        self.assertEqual(process.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
