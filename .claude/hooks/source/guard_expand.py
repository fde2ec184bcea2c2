"""What braces and backslash escapes stand for. Imports only the marks."""

from __future__ import annotations

from guard_words import CLOSE, COMMA, OPEN, WILD, foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable


MOST_WORDS = 64
BRACES = {ord(OPEN): "{", ord(COMMA): ",", ord(CLOSE): "}"}
OCTAL, HEX = "01234567", "0123456789abcdefABCDEF"
ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def expand_braces(text: str) -> list[str]:
    """Return the words that braces stand for; past the limit of 64 a brace stands for any text."""
    limit = MOST_WORDS + text.count(COMMA)
    done = [""]
    at = 0
    while True:
        start = text.find(OPEN, at)
        if start < 0:
            break
        choices, end = brace(text, start, limit)
        if len(done) * len(choices) > limit:
            choices = [WILD]
        before = text[at:start]
        done = [head + before + choice for head in done for choice in choices]
        at = end
    return [(head + text[at:]).translate(BRACES) for head in done]


def brace(text: str, start: int, limit: int) -> tuple[list[str], int]:
    """Return the choices of the brace at `start` and where it ends; a brace that is none stands for itself."""
    depth, pieces, begin = 0, [], start + 1
    for at in range(start, len(text)):
        char = text[at]
        if char == OPEN:
            depth += 1
        elif char == COMMA and depth == 1:
            pieces.append(text[begin:at])
            begin = at + 1
        elif char == CLOSE:
            depth -= 1
            if depth == 0:
                pieces.append(text[begin:at])
                return choices_of(pieces, limit), at + 1
    return ["{"], start + 1


def choices_of(pieces: list[str], limit: int) -> list[str]:
    """Return what a brace with these pieces stands for."""
    if len(pieces) == 1:
        return numbered(pieces[0]) or ["{" + inner + "}" for inner in inner_choices(pieces[0], limit)]
    found = [choice for piece in pieces for choice in inner_choices(piece, limit)]
    return found if len(found) <= limit else [WILD]


def inner_choices(piece: str, limit: int) -> list[str]:
    """Return the words of a piece inside a brace, which may hold braces of its own."""
    if OPEN not in piece:
        return [piece]
    found = expand_braces(piece)
    return found if len(found) <= limit else [WILD]


def numbered(piece: str) -> list[str]:
    """Return the words of a sequence such as `1..3` or `a..c`, or nothing if it is none."""
    first, dots, rest = piece.partition("..")
    last = rest.split("..", 1)[0]
    if not dots or not first or not last:
        return []
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        return ordered(int(first[:9]), int(last[:9]), str)
    if len(first) == len(last) == 1:
        return ordered(ord(first), ord(last), chr)
    return []


def ordered(first: int, last: int, spell: Callable[[int], str]) -> list[str]:
    """Return the spelled numbers from first to last, or one word for any text if they are too many."""
    if abs(first - last) >= MOST_WORDS * 4:
        return [WILD]
    step = 1 if last >= first else -1
    return [spell(number) for number in range(first, last + step, step)]


def decode(text: str) -> str:
    r"""Return the text with the escapes of `$'…'`, `echo -e` and `printf` decoded."""
    if "\\" not in text:
        return text
    done, at, end = [], 0, len(text)
    while at < end:
        slash = text.find("\\", at)
        if slash < 0 or slash + 1 == end:
            done.append(text[at:])
            break
        done.append(text[at:slash])
        piece, at = escape(text, slash + 1)
        done.append(piece)
    return "".join(done).replace("\0", "")


def escape(text: str, at: int) -> tuple[str, int]:
    """Return the character of the escape whose letter stands at `at`, and where the escape ends."""
    char = text[at]
    if char in ESCAPES:
        return ESCAPES[char], at + 1
    if char in "xuU":
        return number(text, at + 1, HEX, {"x": 2, "u": 4, "U": 8}[char], 16) or ("\\" + char, at + 1)
    if char in OCTAL:
        return number(text, at, OCTAL, 4 if char == "0" else 3, 8) or ("", at + 1)
    if char == "c" and at + 1 < len(text):
        return chr(ord(text[at + 1]) & 31), at + 2
    return (char if char in "\\'\"?" else "\\" + char), at + 1


def number(text: str, start: int, digits: str, most: int, base: int) -> tuple[str, int] | None:
    """Return the character that up to `most` digits name and where they end, or None without a digit."""
    end = start
    while end < len(text) and end - start < most and text[end] in digits:
        end += 1
    if end == start:
        return None
    code = int(text[start:end], base)
    if base == 8:
        code &= 255
    return (foreign(chr(code)) if code < 0x110000 else "\ufffd"), end
