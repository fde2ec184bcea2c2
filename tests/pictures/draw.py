"""Draw the README's picture of the board: what `view --color` prints for the ledger of the worked example, as SVG.

    python3 -m tests.pictures.draw          writes docs/pictures/board.svg

A test compares the file with a fresh drawing, so that the picture shows what the program prints today.
"""

from __future__ import annotations

import html
import os
import re
import sys
import tempfile

from tests.support import REPOSITORY, run

LEDGER = os.path.join(REPOSITORY, "tests", "pictures", "ledger.jsonl")
PICTURE = os.path.join(REPOSITORY, "docs", "pictures", "board.svg")
NOW = "2026-11-27T09:40:00Z"
ROWS = 46
"""Lines of the board that the picture shows."""

ADVANCE, HEIGHT, MARGIN = 8.4, 18, 16
COLOURS = {
    "30": "#6e7681", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff",
    "36": "#76e3ea", "37": "#e6edf3", "90": "#8b949e", "91": "#ff7b72", "92": "#7ee787", "93": "#e3b341",
    "94": "#79c0ff", "95": "#d2a8ff", "96": "#76e3ea", "97": "#ffffff",
}  # fmt: skip


def board() -> str:
    """Return what the board prints in colour for the picture's ledger."""
    with tempfile.TemporaryDirectory() as folder:
        result = run("view", "--file", LEDGER, "--now", NOW, "--color", "--no-cost", "--root", folder)
    if result.code:
        raise SystemExit(result.err)
    return result.out


def drawing() -> str:
    """Return the picture as SVG text."""
    lines = board().split("\n")[:ROWS]
    columns = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
    width, height = round(columns * ADVANCE) + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    rows = "\n".join(_row(line, MARGIN + (number + 1) * HEIGHT - 4) for number, line in enumerate(lines))
    font = "font-family='ui-monospace, Menlo, Consolas, monospace' font-size='14'"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}' role='img'"
        f" aria-label='The board of a slice in a terminal'>\n"
        f"<rect width='100%' height='100%' rx='8' fill='#0d1117'/>\n<g {font} fill='#e6edf3'>\n"
        f"{rows}\n</g>\n</svg>\n"
    )


def _row(line: str, y: int) -> str:
    """Return one line as text whose pieces keep their columns and colours."""
    pieces, column, style = [], 0, ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            style = _style(part[2:-1].split(";"), style)
        elif part:
            x = MARGIN + column * ADVANCE
            length = len(part) * ADVANCE
            if part.strip():
                pieces.append(f"<tspan x='{x:.1f}' textLength='{length:.1f}'{style}>{_unbroken(part)}</tspan>")
            column += len(part)
    return f"<text y='{y}'>{''.join(pieces)}</text>"


def _unbroken(text: str) -> str:
    """Return a text escaped, its blanks as ones that no reader of SVG collapses."""
    return html.escape(text).replace(" ", "\u00a0")


def _style(codes: list[str], before: str) -> str:
    """Return the attributes after an escape sequence."""
    style = before
    for code in codes:
        if code in ("", "0"):
            style = ""
        elif code == "1":
            style += " font-weight='bold'"
        elif code == "2":
            style += " fill-opacity='0.6'"
        elif code in COLOURS:
            style = re.sub(r" fill='[^']*'", "", style) + f" fill='{COLOURS[code]}'"
    return style


def main() -> int:
    """Write the picture."""
    os.makedirs(os.path.dirname(PICTURE), exist_ok=True)
    with open(PICTURE, "w", encoding="utf-8", newline="\n") as opened:
        opened.write(drawing())
    return 0


if __name__ == "__main__":
    sys.exit(main())
