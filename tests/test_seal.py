"""The seal: every edit, deletion, swap and flipped byte of a sealed log is seen (ledger.md 5, P23, P24)."""

from __future__ import annotations

import os
import unittest
from typing import TYPE_CHECKING

from handoff_core import seal

if TYPE_CHECKING:
    from collections.abc import Callable


from tests.ledger_vectors import seal_of
from tests.records import a_request, lines
from tests.support import ProjectCase


def sealed_log(records: int) -> tuple[list[bytes], bytes]:
    """Return the lines of a log, line feeds left out, and its seal."""
    stored = lines(*(a_request(question=f"Question {number}?") for number in range(records))).split(b"\n")[:-1]
    return stored, seal_of(stored, set())


def check(stored: list[bytes], sealed: bytes) -> seal.SealReport:
    return seal.check(b"".join(line + b"\n" for line in stored), sealed, "the seal")


class EveryLineOfTwoHundred(unittest.TestCase):
    def setUp(self) -> None:
        self.stored, self.seal = sealed_log(200)

    def first_fault(self, stored: list[bytes]) -> int | None:
        problems = check(stored, self.seal).problems
        self.assertEqual(len(problems), 1, problems)
        code, line, _ = problems[0]
        self.assertIn(code, ("seal-mismatch", "log-truncated"))
        return line

    def test_an_untouched_log_agrees_to_its_end(self) -> None:
        report = check(self.stored, self.seal)
        self.assertEqual((report.problems, report.sealed, report.raw, report.torn), ([], 200, [], False))
        self.assertEqual(report.chain, self.seal.split(b'"')[-2].decode())

    def test_an_edit_of_any_line_names_that_line(self) -> None:
        for index in range(200):
            edited = self.stored.copy()
            edited[index] = edited[index].replace(b"Question", b"question")
            self.assertEqual(self.first_fault(edited), index + 1)
            edited[index] = self.stored[index] + b" "
            self.assertEqual(self.first_fault(edited), index + 1)

    def test_a_deletion_of_any_line_names_the_first_that_is_not_the_old_one(self) -> None:
        for index in range(200):
            shorter = self.stored[:index] + self.stored[index + 1 :]
            self.assertEqual(self.first_fault(shorter), index + 1 if index < 199 else None)

    def test_an_insertion_or_repetition_before_any_line_names_it(self) -> None:
        for index in range(200):
            for added in (b"{}", self.stored[index - 1]):
                longer = [*self.stored[:index], added, *self.stored[index:]]
                self.assertEqual(self.first_fault(longer), index + 1)

    def test_a_swap_of_any_two_lines_names_the_first(self) -> None:
        sealed = self.seal.split(b"\n")[:-1]
        for first in range(200):
            for second in range(first + 1, 200):
                swapped = self.stored.copy()
                swapped[first], swapped[second] = swapped[second], swapped[first]
                report = seal.SealReport()
                self.assertTrue(seal._walk(report, swapped, sealed)[1])
                self.assertEqual(report.sealed, first)
                if second == first + 1:
                    self.assertEqual(self.first_fault(swapped), first + 1)

    def test_a_log_cut_after_any_line_is_truncated(self) -> None:
        for end in range(200):
            self.assertIsNone(self.first_fault(self.stored[:end]))


class EveryByte(ProjectCase):
    def setUp(self) -> None:
        super().setUp()
        stored, self.seal_bytes = sealed_log(4)
        self.log_bytes = b"".join(line + b"\n" for line in stored)
        self.write(".scratch/handoff.jsonl", self.log_bytes)
        self.write(".scratch/handoff.seal", self.seal_bytes)
        self.assertEqual(self.run_here("validate").code, 0)

    def test_no_flipped_byte_of_the_log_goes_unseen(self) -> None:
        for offset in range(len(self.log_bytes)):
            flipped = bytearray(self.log_bytes)
            flipped[offset] ^= 1 << (offset % 8)
            self.write(".scratch/handoff.jsonl", bytes(flipped))
            with self.subTest(offset=offset):
                self.assertEqual(self.run_here("validate").code, 1)

    def test_no_flipped_byte_of_the_seal_goes_unseen(self) -> None:
        for offset in range(len(self.seal_bytes)):
            flipped = bytearray(self.seal_bytes)
            flipped[offset] ^= 1 << (offset % 8)
            self.write(".scratch/handoff.seal", bytes(flipped))
            result = self.run_here("validate")
            with self.subTest(offset=offset):
                if offset == len(self.seal_bytes) - 1:
                    self.assertIn("warning: .scratch/handoff.seal: the last line is torn", result.err)
                else:
                    self.assertEqual(result.code, 1)

    def test_a_seal_torn_at_any_byte_is_a_warning_and_the_next_append_mends_it(self) -> None:
        last = self.seal_bytes.rindex(b"\n", 0, len(self.seal_bytes) - 1) + 1
        for end in range(last + 1, len(self.seal_bytes)):
            self.write(".scratch/handoff.jsonl", self.log_bytes)
            self.write(".scratch/handoff.seal", self.seal_bytes[:end])
            with self.subTest(end=end):
                judged = self.run_here("validate")
                self.assertEqual(judged.code, 0)
                self.assertIn("warning: .scratch/handoff.seal: the last line is torn; the next append", judged.err)
                self.assertIn("warning: line 4: written without append", judged.err)
                mended = self.append(a_request())
                note = "handoff.py: .scratch/handoff.seal had a torn last line; cut off and re-sealed\n"
                self.assertEqual((mended.code, mended.err), (0, note))
                self.assertEqual(self.run_here("validate").code, 0)


class Extending(ProjectCase):
    def test_a_seal_of_such_a_kind_is_left_alone_and_noted(self) -> None:
        kinds: dict[str, Callable[[str], None]] = {
            "symlink": lambda path: os.symlink("elsewhere", path),
            "folder": os.mkdir,
            "fifo": os.mkfifo if hasattr(os, "mkfifo") else os.mkdir,
        }
        for name, make in kinds.items():
            with self.subTest(name):
                make(self.seal)
                result = self.append(a_request())
                self.assertEqual(result.code, 0)
                note = "handoff.py: the record is written, but .scratch/handoff.seal was not extended: "
                self.assertTrue(result.err.startswith(note), result.err)
                self.assertFalse(os.path.exists(os.path.join(self.root, ".scratch", "elsewhere")))
                os.rmdir(self.seal) if os.path.isdir(self.seal) else os.unlink(self.seal)

    def test_a_log_of_another_commit_under_a_newer_seal_is_truncated_and_with_its_own_it_is_well(self) -> None:
        for number in range(3):
            self.append(a_request(question=str(number)))
        older = self.read(".scratch/handoff.jsonl"), self.read(".scratch/handoff.seal")
        self.append(a_request())
        self.write(".scratch/handoff.jsonl", older[0])
        cut = "handoff.py: log is truncated: the seal covers 4 line(s), the log has 3\n"
        self.assertEqual(self.run_here("validate").err.splitlines(keepends=True)[0], cut)
        self.write(".scratch/handoff.seal", older[1])
        self.assertEqual(self.run_here("validate").code, 0)

    def test_an_entry_is_read_only_in_its_exact_form(self) -> None:
        good = seal.render_entry(3, 120, bytes(range(32)), raw=True)[:-1]
        entry = seal.parse_entry(good)
        self.assertIsNotNone(entry)
        self.assertEqual((entry.line, entry.end, entry.raw), (3, 120, True))  # type: ignore[union-attr]
        odd = (good + b" ", good.replace(b'"line":3', b'"line":03'), good.replace(b":3,", b": 3,"), b"", b"{}", b"[]",
            good.replace(b"true", b"false"), good.replace(b"1f", b"1F"), good.replace(b'"line":3', b'"line":0'),
            good.replace(b'"line":3', b'"line":3.0'), good.replace(b'"line":3', b'"line":true'), b"\xff")  # fmt: skip
        for line in odd:
            self.assertIsNone(seal.parse_entry(line), line)


if __name__ == "__main__":
    unittest.main()
