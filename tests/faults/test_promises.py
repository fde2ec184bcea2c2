"""The list of promises is complete, and every proof that it names exists."""

from __future__ import annotations

import os
import re
import unittest

from tests.support import REPOSITORY, shared


def rows() -> dict[str, str]:
    """Return each promise of the list with its proof."""
    with open(os.path.join(REPOSITORY, "tests", "faults", "README.md"), encoding="utf-8") as opened:
        return dict(re.findall(r"^\| (P[0-9]+) \|.*\| (.*) \|$", opened.read(), re.MULTILINE))


class Promises(unittest.TestCase):
    def test_every_promise_of_the_specification_is_in_the_list(self) -> None:
        with open(shared("spec", "reliability.md"), encoding="utf-8") as opened:
            promised = set(re.findall(r"^\| (P[0-9]+) \|", opened.read(), re.MULTILINE))
        self.assertEqual(promised - set(rows()), set())

    def test_every_proof_is_there(self) -> None:
        for promise, proof in rows().items():
            found = re.findall(r"`(tests/[^`]+)`((?: \w+,?)*)", proof)
            self.assertTrue(found, promise)
            for path, classes in found:
                with self.subTest(promise=promise, path=path):
                    full = os.path.join(REPOSITORY, path)
                    self.assertTrue(os.path.isfile(full))
                    with open(full, encoding="utf-8") as opened:
                        source = opened.read()
                    for name in re.findall(r"\w+", classes):
                        self.assertIn(f"class {name}(", source)


if __name__ == "__main__":
    unittest.main()
