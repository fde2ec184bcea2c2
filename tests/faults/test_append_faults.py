"""Promises P2, P3, P7, P8, P11, P14: whatever fails or kills an append, the log is as it was or one record longer."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import unittest
from typing import TYPE_CHECKING, Any

from handoff_core import cli

from tests.faults.faulty import claimed, failing, faulty_os, half_written
from tests.ledger_vectors import seal_of
from tests.records import a_design_block, a_request, lines
from tests.support import ProjectCase

if TYPE_CHECKING:
    from collections.abc import Callable

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EMFILE, errno.EACCES, errno.EROFS, errno.ENOLCK)
RECORD = json.dumps(a_request()).encode()
BASE = lines(a_design_block())
TORN = BASE + b'{"type": "build-p'
DAMAGED = "the log could not be restored and now ends in a damaged record"


@unittest.skipUnless(os.name == "posix", "the faults are those of POSIX calls")
class FaultCase(ProjectCase):
    """Starts from an empty, a one-line, a torn and a sealed log."""

    def starts(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        sealed = seal_of(BASE.split(b"\n")[:-1], set())
        return {"empty": (None, None), "one line": (BASE, None), "torn": (TORN, None), "sealed": (BASE, sealed)}

    def restore(self, log: bytes | None, seal: bytes | None) -> None:
        for path, data in ((self.log, log), (self.seal, seal)):
            if os.path.lexists(path):
                os.unlink(path)
            if data is not None:
                self.write(os.path.relpath(path, self.root), data)

    def state(self) -> tuple[bytes | None, bytes | None]:
        return tuple(self._bytes(path) for path in (self.log, self.seal))  # type: ignore[return-value]

    @staticmethod
    def _bytes(path: str) -> bytes | None:
        if not os.path.lexists(path):
            return None
        with open(path, "rb") as opened:
            return opened.read()

    def is_one_longer(self, before: bytes | None, after: bytes | None) -> bool:
        """Say whether the log is the old one plus exactly one whole record."""
        before, after = before or b"", after or b""
        added = after[len(before) :]
        return after.startswith(before) and added.endswith(b"\n") and added.count(b"\n") == 1


class KthCallFails(FaultCase):
    def loop(self, act: Callable[..., Any], *, sticky: bool) -> None:
        for name, (log, seal) in self.starts().items():
            call = 0
            while True:
                call += 1
                self.restore(log, seal)
                with faulty_os(call, act, sticky=sticky) as fault:
                    result = self.run_here("append", "consultation-request", stdin=RECORD)
                with self.subTest(start=name, call=call, sticky=sticky, at=fault.names[-1:]):
                    self.judge(result.code, result.err, log, seal)
                if not fault.hit:
                    break
            self.assertGreater(call, 4, name)

    def judge(self, code: int, message: str, log: bytes | None, seal: bytes | None) -> None:
        after, seal_after = self.state()
        self.assertNotIn("Traceback", message)
        self.assertNotIn("internal error", message)
        if code == 0:
            self.assertTrue(self.is_one_longer(log, after), after)
        elif DAMAGED in message:
            self.assertTrue((after or b"").startswith(log or b""))
            if not self.is_one_longer(log, after):  # only the flush failed: the record is whole
                self.assertNotEqual(self.run_here("validate").code, 0)
        else:
            self.assertIn(code, (1, 75))
            self.assertEqual(after or b"", log or b"")
            self.assertEqual(seal_after or b"", seal or b"")

    def test_each_error_once_leaves_the_log_as_it_was_or_one_record_longer(self) -> None:
        for error in ERRORS:
            with self.subTest(error=errno.errorcode[error]):
                self.loop(failing(error), sticky=False)

    def test_each_error_for_good_leaves_the_log_as_it_was_or_says_that_it_is_damaged(self) -> None:
        for error in ERRORS:
            with self.subTest(error=errno.errorcode[error]):
                self.loop(failing(error), sticky=True)

    def test_a_short_write_is_undone(self) -> None:
        self.loop(half_written, sticky=False)
        self.loop(claimed, sticky=False)

    def test_an_interrupted_call_is_repeated_or_refused_without_loss(self) -> None:
        self.loop(failing(errno.EINTR), sticky=False)


class KilledAtEachCall(FaultCase):
    def child(self, call: int, act: Callable[..., Any]) -> tuple[int, bytes, bool]:
        """Append in a forked child; return its wait status, its stdout and whether the fault was reached."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.chdir(self.root)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            out = io.BytesIO()
            with faulty_os(call, act) as fault:
                code = cli.main(["append", "consultation-request"], io.BytesIO(RECORD), out, io.BytesIO())
            os.write(writer, out.getvalue())
            os._exit(code if fault.hit else 200 + code)
        os.close(writer)
        with os.fdopen(reader, "rb") as opened:
            output = opened.read()
        _, status = os.waitpid(child, 0)
        return status, output, not (os.WIFEXITED(status) and os.WEXITSTATUS(status) >= 200)

    def test_a_kill_before_any_call_leaves_the_log_the_whole_record_or_a_torn_tail(self) -> None:
        def die(_name: str, _real: Callable[..., Any], _arguments: tuple[Any, ...]) -> Any:
            os._exit(9)

        for name, (log, seal) in self.starts().items():
            call, hit = 0, True
            while hit:
                call += 1
                self.restore(log, seal)
                _, _, hit = self.child(call, die)
                with self.subTest(start=name, call=call):
                    self.judge_killed(log)

    def judge_killed(self, log: bytes | None) -> None:
        after, _ = self.state()
        self.assertTrue((after or b"").startswith(log or b""))
        following = self.run_here("append", "consultation-request", stdin=RECORD)
        if (after or b"").endswith(b"\n") or not after:
            self.assertEqual(following.code, 0, following.err)
        else:
            self.assertIn("torn record", following.err)

    def test_a_signal_at_any_call_means_not_written_or_acknowledged(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):

            def interrupt(
                _name: str, real: Callable[..., Any], arguments: tuple[Any, ...], number: int = number
            ) -> Any:
                os.kill(os.getpid(), number)
                return real(*arguments)

            call, hit = 0, True
            while hit:
                call += 1
                self.restore(BASE, None)
                status, output, hit = self.child(call, interrupt)
                after, _ = self.state()
                with self.subTest(signal=number, call=call):
                    if output:
                        self.assertTrue(self.is_one_longer(BASE, after))
                        self.assertEqual(os.WEXITSTATUS(status) % 200, 0)
                    else:
                        self.assertEqual(after, BASE)


class CutAtEveryByte(FaultCase):
    def test_an_append_after_a_cut_succeeds_heals_or_refuses_with_the_bytes_untouched(self) -> None:
        whole = lines(a_request(), a_request(question="Zwei — ✓?"), a_design_block())
        last = whole.rindex(b"\n", 0, len(whole) - 1) + 1
        for end in range(last, len(whole) + 1):
            self.restore(whole[:end], None)
            result = self.run_here("append", "consultation-request", stdin=RECORD)
            after, _ = self.state()
            with self.subTest(end=end):
                if end in (last, len(whole)):
                    self.assertEqual((result.code, result.err), (0, ""))
                elif end == len(whole) - 1:
                    self.assertEqual(result.err, "handoff.py: line 3 was complete but had no newline; added it\n")
                    self.assertTrue((after or b"").startswith(whole))
                else:
                    torn = (
                        f"handoff.py: line 3: torn record ({end - last} bytes without a newline); nothing was appended"
                    )
                    self.assertEqual(result.err, torn + " — run validate --repair-tail\n")
                    self.assertEqual(after, whole[:end])

    def test_repair_tail_moves_any_torn_tail_away_and_append_goes_on(self) -> None:
        whole = lines(a_request(), a_design_block())
        first = whole.index(b"\n") + 1
        for end in range(first + 1, len(whole) - 1, 7):
            self.restore(whole[:end], None)
            moved = self.run_here("validate", "--repair-tail")
            with self.subTest(end=end):
                self.assertEqual(moved.out, f"moved {end - first} byte(s) of line 2 to .scratch/handoff.torn-2\n")
                self.assertEqual(self.read(".scratch/handoff.torn-2"), whole[first:end])
                self.assertEqual(self.run_here("append", "consultation-request", stdin=RECORD).code, 0)
            os.unlink(os.path.join(self.root, ".scratch", "handoff.torn-2"))

    def test_a_repair_that_fails_at_any_call_loses_no_byte(self) -> None:
        for sticky in (False, True):
            call, hit = 0, True
            while hit:
                call += 1
                self.restore(TORN, None)
                with faulty_os(call, failing(errno.ENOSPC), sticky=sticky) as fault:
                    result = self.run_here("validate", "--repair-tail")
                hit = fault.hit
                torn = os.path.join(self.root, ".scratch", "handoff.torn-2")
                moved = self._bytes(torn) or b""
                after = self.state()[0] or b""
                with self.subTest(call=call, sticky=sticky):
                    self.assertNotIn("Traceback", result.err)
                    self.assertTrue(after == TORN or after + moved == TORN)
                if os.path.exists(torn):
                    os.unlink(torn)


if __name__ == "__main__":
    unittest.main()
