# ruff: noqa: INP001 - the action starts this file by its path
"""Turn the JSON answer of `validate` on stdin into a Markdown table: the number of findings of each code."""

from __future__ import annotations

import json
import sys
from collections import Counter


def table(answer: dict[str, list[dict[str, str]]]) -> str:
    """Return the table, or one sentence where there is no finding."""
    counts = Counter((finding["level"], finding["code"]) for finding in answer["findings"])
    if not counts:
        return "No findings.\n"
    rows = [f"| {level} | `{code}` | {number} |\n" for (level, code), number in sorted(counts.items())]
    return "".join(["| level | code | findings |\n", "| --- | --- | ---: |\n", *rows])


if __name__ == "__main__":
    sys.stdout.write(table(json.load(sys.stdin)))
