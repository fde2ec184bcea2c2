"""Marks inside words: what a shell would expand is kept as a mark of its own until it is known what it names.

The reader (`guard_shell`) turns unquoted pattern characters into these marks, which are noncharacters of Unicode and so
never part of a text; quoted ones stay what they are. Imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = "\ufdd0"  # text that nobody knows before the command runs
STAR, ANY, SET = "\ufdd1", "\ufdd2", "\ufdd3"  # * ? [
OPEN, COMMA, CLOSE = "\ufdd4", "\ufdd5", "\ufdd6"  # { , }
TILDE = "\ufdd7"  # an unquoted ~ where it is expanded
SPLIT = "\ufdd8"  # a blank out of an unquoted variable
WILD = "\ufdd9"  # any text, slashes among it, whose letters are known to be harmless

PLAIN = {ord(STAR): "*", ord(ANY): "?", ord(SET): "[", ord(OPEN): "{", ord(COMMA): ",", ord(CLOSE): "}"}
PLAIN.update({ord(TILDE): "~", ord(SPLIT): " "})
LIVE = {ord("*"): STAR, ord("?"): ANY, ord("["): SET, ord(" "): SPLIT, ord("\t"): SPLIT, ord("\n"): SPLIT}
FOREIGN = dict.fromkeys(range(64976, 65008), "�")
FOREIGN[0] = ""


def names(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def foreign(text: str) -> str:
    """Return the text of a payload without NUL and without characters that are marks here."""
    return text if text.isascii() and "\0" not in text else text.translate(FOREIGN)


def plain(text: str) -> str:
    """Return the text as it was typed; unknown pieces stay unknown."""
    return text if text.isascii() else text.translate(PLAIN)


def live(text: str) -> str:
    """Return the value of an unquoted variable: its blanks split words and its pattern characters match."""
    return text.translate(LIVE)


def fields(text: str) -> list[str]:
    """Return the words that a shell makes of one word: braces expanded, then split at blanks out of variables."""
    if text.isascii():
        return [text]
    words = [text]
    if OPEN in text:
        from guard_expand import expand_braces

        words = expand_braces(text)
    if SPLIT not in text:
        return words
    return [part for word in words for part in word.split(SPLIT) if part]


def known_pieces(text: str) -> list[str]:
    """Return the pieces of a text that are known."""
    return [piece for piece in text.split(UNKNOWN) if piece]


def unique(values: Iterable[str]) -> list[str]:
    """Return the values without repetitions, in order."""
    return list(dict.fromkeys(values))
