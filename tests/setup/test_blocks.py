"""A block between two marks goes into a text file and comes out again; the lines around stay."""

from __future__ import annotations

import unittest

from handoff_core.setup import blocks

FILES = (b"", b"\n", b"*.pyc\n", b"*.pyc", b"a\r\nb\r\n", b"a\r\nb", b"\xff\xfe odd bytes\n", b"a\n\n\n")


class BlockTest(unittest.TestCase):
    def test_what_went_in_comes_out_byte_for_byte(self) -> None:
        for before in FILES:
            with self.subTest(before):
                after = blocks.put_in(before, [".scratch/"])
                self.assertTrue(after.startswith(before))
                self.assertIn(b".scratch/", after)
                self.assertEqual(blocks.take_out(after), before)

    def test_a_block_that_stands_is_left_and_an_older_one_is_renewed_in_its_place(self) -> None:
        for before in FILES:
            once = blocks.put_in(before, [".scratch/"])
            self.assertEqual(blocks.put_in(once, [".scratch/"]), once)
        older = b"top\n# handoff: begin\n.old/\n.older/\n# handoff: end\nbelow\n"
        self.assertEqual(
            blocks.put_in(older, [".scratch/"]), b"top\n# handoff: begin\n.scratch/\n# handoff: end\nbelow\n"
        )
        self.assertEqual(blocks.take_out(older), b"top\nbelow\n")

    def test_a_file_without_a_block_is_left(self) -> None:
        for before in FILES:
            self.assertEqual(blocks.take_out(before), before)

    def test_marks_that_do_not_pair_are_refused(self) -> None:
        for text in (
            b"# handoff: begin\n.scratch/\n",
            b"# handoff: end\n",
            b"# handoff: end\n# handoff: begin\n",
            b"# handoff: begin\n# handoff: begin\n# handoff: end\n",
        ):
            for act in (blocks.take_out, lambda data: blocks.put_in(data, [".scratch/"])):
                with self.subTest(text), self.assertRaises(blocks.BlockError):
                    act(text)
