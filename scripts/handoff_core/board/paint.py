"""Lines for a terminal: coloured pieces, measured in columns, cut to a width, spelled in ASCII where need be.

Follows view.md 8.1. Imports `text_view` alone; what the terminal can do is handed in.
"""

from __future__ import annotations

from handoff_core.text_view import columns, cut_columns, first_columns, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Piece = str | tuple[str, str]
    Line = list[tuple[str, str]]

BOLD, RED, GREEN, YELLOW, MAGENTA, CYAN, DIM = "1", "31", "32", "33", "35", "36", "90"
BOLD_RED = "1;31"
LOOSE_WIDTH = 100
NARROWEST = 40
EXCERPT = 160
"""Characters of an excerpt where lines are not cut."""

ASCII = str.maketrans(
    {
        "✔": "+",
        "✎": "~",
        "✖": "x",
        "•": "*",
        "◌": ">",
        "○": "o",
        "·": ".",
        "–": "-",
        "─": "-",
        "┃": "|",
        "█": "#",
        "▓": ">",
        "░": ".",
        "▒": "?",
        "→": "->",
        "←": "<-",
        "↳": ">",
        "↲": "<",
        "▲": "^",
        "◆": "#",
        "◇": "o",
        "◈": "@",
        "▤": "=",
        "✚": "+",
        "…": "...",
        "×": "x",
        "▹": "-",
        "▇": "#",
        "┊": ":",
        "≥": ">=",
        "≈": "~",
        "»": ">",
        "“": '"',
        "”": '"',
    }
)


class Paint:
    """How lines are put on a screen: `width` in columns, `cut` whether lines end there, colour, ASCII alone."""

    __slots__ = ("ascii", "colour", "cut", "mark", "width")

    def __init__(
        self, width: int = LOOSE_WIDTH, *, cut: bool = False, colour: bool = False, ascii_only: bool = False
    ) -> None:
        self.width = max(width, NARROWEST)
        self.cut = cut
        self.colour = colour
        self.ascii = ascii_only
        self.mark = "..." if ascii_only else "…"

    def spell(self, text: str) -> str:
        """Return `text` in the characters that may be printed."""
        if not self.ascii or text.isascii():
            return text
        return text.translate(ASCII).encode("ascii", "replace").decode("ascii")

    def size(self, text: str) -> int:
        """Return how many columns `text` takes when printed."""
        return columns(self.spell(text) if self.ascii else text)

    def pad(self, text: str, width: int, *, right: bool = False, gap: int = 0) -> str:
        """Return `text` filled with blanks to `width` columns, on the left with `right`; at least `gap` blanks."""
        spelled = self.spell(text)
        blanks = " " * max(width - columns(spelled), gap)
        return blanks + spelled if right else spelled + blanks

    def fit(self, text: str, width: int) -> str:
        """Return `text` cut to `width` columns."""
        return cut_columns(self.spell(text), width, self.mark)

    def excerpt(self, text: str) -> str:
        """Return `text`, cut after 160 characters where lines themselves are not cut."""
        return text if self.cut or len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"

    def wrap(self, text: str, indent: int) -> list[str]:
        """Return `text` as lines that fit behind an indent."""
        return wrap(self.spell(text), self.width - indent)

    def hang(
        self, prefix: Sequence[Piece], text: str, style: str = "", *, under: Sequence[Piece] = (), margin: int = 0
    ) -> list[Line]:
        """Return `text` wrapped behind a prefix; further lines stand behind `under`, else as many blanks.

        `margin` columns stay free at the right edge.
        """
        indent = self.measure(prefix)
        made: list[Line] = []
        for index, words in enumerate(self.wrap(text, indent + margin)):
            start: Sequence[Piece] = prefix if index == 0 else under or (" " * indent,)
            made.append(line(*start, (words, style)))
        return made

    def measure(self, pieces: Sequence[Piece]) -> int:
        """Return how many columns pieces take."""
        size = self.size
        return sum([size(piece if isinstance(piece, str) else piece[0]) for piece in pieces])

    def print(self, lines: Iterable[Line]) -> str:
        """Return lines as text, each ended by a line feed."""
        return "".join(self._line(each) + "\n" for each in lines)

    def _line(self, pieces: Line) -> str:
        if not (self.ascii or self.cut or self.colour):
            return "".join([text for text, _ in pieces]).rstrip(" ")
        spelled = [(self.spell(text), style) for text, style in pieces]
        if self.cut and sum(columns(text) for text, _ in spelled) > self.width and (not pieces or pieces[-1][1] != RAW):
            spelled = self._cut(spelled)
        spelled = _strip(spelled)
        if not self.colour:
            return "".join(text for text, _ in spelled)
        return "".join(_coloured(text, style) for text, style in _merged(spelled))

    def _cut(self, pieces: Line) -> Line:
        room = self.width - len(self.mark)
        kept: Line = []
        for text, style in pieces:
            size = columns(text)
            if size > room:
                kept.append((first_columns(text, room).rstrip(" ") + self.mark, style))
                return kept
            kept.append((text, style))
            room -= size
        return kept


RAW = "raw"
"""The style of a line that is never cut: the command that a person copies."""


def line(*pieces: Piece) -> Line:
    """Return pieces as a line; a bare text has no colour."""
    return [(piece, "") if isinstance(piece, str) else piece for piece in pieces]


def _coloured(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and style != RAW else text


def _merged(pieces: Line) -> Line:
    """Return pieces with neighbours of one style joined; empty ones fall away."""
    merged: Line = []
    for text, style in pieces:
        if merged and merged[-1][1] == style:
            merged[-1] = (merged[-1][0] + text, style)
        elif text:
            merged.append((text, style))
    return merged


def _strip(pieces: Line) -> Line:
    """Return a line without trailing blanks."""
    kept = list(pieces)
    while kept:
        text, style = kept[-1]
        stripped = text.rstrip(" ")
        if stripped:
            kept[-1] = (stripped, style)
            break
        kept.pop()
    return kept
