"""The README's picture shows what the program prints today."""

from __future__ import annotations

import unittest
from xml.etree import ElementTree

from tests.pictures.draw import PICTURE, drawing


class Picture(unittest.TestCase):
    def test_the_board_in_the_readme_is_what_view_prints(self) -> None:
        with open(PICTURE, encoding="utf-8") as opened:
            self.assertEqual(opened.read(), drawing(), "draw it again: python3 -m tests.pictures.draw")

    def test_the_picture_is_well_formed(self) -> None:
        self.assertTrue(ElementTree.fromstring(drawing()).tag.endswith("svg"))


if __name__ == "__main__":
    unittest.main()
