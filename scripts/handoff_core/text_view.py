"""Cleans text out of records for the board: one line, or several, without anything that steers a screen.

Follows view.md 4, which removes more than ledger.md 2.4. Imports nothing of ours.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARKS_KEPT = 4
"""Combining marks of one run that stay."""

_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)])
_ONE_LINE = {**_CONTROLS, **dict.fromkeys(map(ord, "\t" + _LINE_ENDS), " ")}
_SAME_END = dict.fromkeys(map(ord, _LINE_ENDS), "\n")

_KEEP, _DROP, _MARK, _BROKEN = range(4)
_JOINERS = "\u200c\u200d"
_kinds: dict[str, int] = {}


def clean(text: str) -> str:
    """Return `text` as one line without control, format and surplus marks (view.md 4)."""
    if not (text.isascii() and text.isprintable()):
        text = text.translate(_ONE_LINE)
        if not text.isascii():
            text = _clean_foreign(text)
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")


def lines(text: str) -> str:
    """Return `text` with its line breaks as LF, each line cleaned, empty ones dropped (view.md 4)."""
    if text.isascii() and text.isprintable():
        return clean(text)
    return "\n".join(line for line in map(clean, text.translate(_SAME_END).split("\n")) if line)


def joined(text: str) -> str:
    """Return text that went through `lines` as one line."""
    return text.replace("\n", " ")


def _clean_foreign(text: str) -> str:
    kinds = {character: _kind(character) for character in set(text) if character > "\x7f"}
    found = set(kinds.values())
    if _DROP in found or _BROKEN in found:
        replacement = {ord(c): None if kind == _DROP else "\ufffd" for c, kind in kinds.items() if kind in _ODD}
        text = text.translate(replacement)
    # Marks are counted last: one that a dropped character kept apart stands in the run now.
    return _cut_marks(text, kinds) if _MARK in found else text


_ODD = (_DROP, _BROKEN)


def _kind(character: str) -> int:
    kind = _kinds.get(character)
    if kind is None:
        import unicodedata

        kind = _kinds[character] = _judge(character, unicodedata.category)
    return kind


def _judge(character: str, category: Callable[[str], str]) -> int:
    kind = category(character)
    if kind == "Cs":
        return _BROKEN
    if kind in ("Mn", "Me"):
        return _MARK
    return _DROP if kind in ("Cc", "Cf") and character not in _JOINERS else _KEEP


def _cut_marks(text: str, kinds: dict[str, int]) -> str:
    """Return `text` with at most four marks of each run of combining marks."""
    kept, run = [], 0
    for character in text:
        run = run + 1 if kinds.get(character) == _MARK else 0
        if run <= MARKS_KEPT:
            kept.append(character)
    return "".join(kept)


def columns(text: str) -> int:
    """Return how many columns `text` takes: wide characters two, marks and format characters none (view.md 8.1)."""
    return len(text) if text.isascii() else sum(map(_column, text))


class _Widths(dict[str, int]):
    """Columns by character, measured when first asked for."""

    def __missing__(self, character: str) -> int:
        width = self[character] = _measure(character)
        return width


_column = _Widths().__getitem__
_PLAIN_RANGES = (("\x20", "\u02ff"), ("\u2010", "\u2027"), ("\u2190", "\u2319"), ("\u2500", "\u25fc"))
"""Characters of one column that need no table: Latin letters, punctuation, arrows, lines and blocks."""

_PLAIN = "✔✎✖✚"


def _measure(character: str) -> int:
    if character in _PLAIN or any(first <= character <= last for first, last in _PLAIN_RANGES):
        return 0 if character == "\xad" else 1
    import unicodedata

    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut_columns(text: str, width: int, mark: str = "…") -> str:
    """Return `text` cut to `width` columns; where something is left out, `mark` ends it."""
    if columns(text) <= width:
        return text
    room = width - columns(mark)
    if room < 0:
        return mark[: max(width, 0)]
    return first_columns(text, room).rstrip(" ") + mark


def first_columns(text: str, width: int) -> str:
    """Return as many leading characters of `text` as fit into `width` columns."""
    if text.isascii():
        return text[: max(width, 0)]
    used = 0
    for index, character in enumerate(text):
        used += _column(character)
        if used > width:
            return text[:index]
    return text


def last_columns(text: str, width: int) -> str:
    """Return as many trailing characters of `text` as fit into `width` columns."""
    used, start = 0, len(text)
    while start > 0 and used + _column(text[start - 1]) <= width:
        start -= 1
        used += _column(text[start])
    return text[start:]


def wrap(text: str, width: int) -> list[str]:
    """Return `text` as lines of at most `width` columns, broken at blanks, and inside words that are too long."""
    width = max(width, 1)
    wrapped: list[str] = []
    for paragraph in text.split("\n"):
        wrapped += _wrap_line(paragraph, width)
    return wrapped


def _wrap_line(text: str, width: int) -> list[str]:
    if columns(text) <= width:
        return [text]
    made: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if columns(longer) <= width:
            line = longer
            continue
        if line:
            made.append(line)
        line = word
        while columns(line) > width:
            piece = first_columns(line, width) or line[:1]
            made.append(piece)
            line = line[len(piece) :]
    if line or not made:
        made.append(line)
    return made
