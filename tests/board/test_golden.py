"""The worked examples of the specification, byte for byte."""

from __future__ import annotations

import os
import tempfile
import unittest

from tests.board.view_vectors import call, json_arguments, set_up
from tests.support import DATA, vectors

GOLDEN = os.path.join(DATA, "board")
EXAMPLES = {
    "finished": ("example-a-finished", []),
    "finished-ascii": ("example-a-finished", ["--ascii"]),
    "finished-colour": ("example-a-finished", ["--color"]),
    "finished-verbose": ("example-a-finished", ["--verbose"]),
    "running": ("example-b-running-one-quiet", []),
    "question": ("example-c-question", []),
    "damaged": ("example-d-damaged", []),
    "slices": ("example-e-twelve-slices", ["--list"]),
    "markdown": ("example-f-markdown", ["--markdown"]),
    "json": ("example-b-running-one-quiet", ["--json"]),
    "page": ("example-a-finished", ["--html", "-"]),
}
"""Golden file: the case whose log is shown, and how it is shown."""


def printed(name: str, flags: list[str]) -> str:
    """Return what `view` prints for the log of a case."""
    case = next(case for case in vectors("view.jsonl") if case["name"] == name)
    with tempfile.TemporaryDirectory(prefix="handoff-view-") as folder:
        root = os.path.join(folder, "project")
        environment = set_up(case, root)
        result = call(root, environment, [*json_arguments(case["args"]), *flags])
    if result.code or result.err:
        raise AssertionError(result)
    return result.out


class Golden(unittest.TestCase):
    maxDiff = None

    def test_every_example_is_printed_as_its_golden_file_says(self) -> None:
        for golden, (name, flags) in EXAMPLES.items():
            with self.subTest(golden), open(os.path.join(GOLDEN, golden), encoding="utf-8", newline="") as opened:
                self.assertEqual(printed(name, flags), opened.read())

    def test_every_golden_file_has_an_example(self) -> None:
        self.assertEqual(sorted(os.listdir(GOLDEN)), sorted(EXAMPLES))


if __name__ == "__main__":
    unittest.main()
