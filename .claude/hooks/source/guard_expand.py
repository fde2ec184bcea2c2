"""What braces and backslash escapes stand for. Imports only the marks."""

from __future__ import annotations

from guard_words import CLOSE, COMMA, OPEN, WILD, foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


MOST_WORDS = 64
MOST_BRACES = 1000
DEEPEST = 16
BRACES = {ord(OPEN): "{", ord(COMMA): ",", ord(CLOSE): "}"}
OCTAL, HEX = "01234567", "0123456789abcdefABCDEF"
ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def expand_braces(text: str) -> list[str]:
    """Return the words that braces stand for; past 64 words out of several braces they stand for any text."""
    braces = pairs(text)
    if braces is None:
        return [collapsed(text)]
    done = [""]
    at = 0
    for start in sorted(braces):
        if start < at:
            continue
        end, commas = braces[start]
        choices = choices_of(text, start, end, commas)
        if len(done) > 1 and len(done) * len(choices) > MOST_WORDS:
            return [collapsed(text)]
        before = text[at:start]
        done = [head + before + choice for head in done for choice in choices]
        at = end + 1
    return [(head + text[at:]).translate(BRACES) for head in done]


def collapsed(text: str) -> str:
    """Return the text with everything between its first and its last brace standing for any text."""
    before, _, rest = text.partition(OPEN)
    return before.translate(BRACES) + WILD + rest.rpartition(CLOSE)[2].translate(BRACES)


def pairs(text: str) -> dict[int, tuple[int, list[int]]] | None:
    """Return where each closed brace ends and where its own commas stand; None if they are nested too deep."""
    found: dict[int, tuple[int, list[int]]] = {}
    open_ones: list[tuple[int, list[int]]] = []
    for at, char in enumerate(text):
        if char == OPEN:
            open_ones.append((at, []))
        elif char == COMMA and open_ones:
            open_ones[-1][1].append(at)
        elif char == CLOSE and open_ones:
            start, commas = open_ones.pop()
            found[start] = (at, commas)
            if len(open_ones) > DEEPEST:
                return None
    return found if len(found) <= MOST_BRACES else None


def choices_of(text: str, start: int, end: int, commas: list[int]) -> list[str]:
    """Return what the brace between these positions stands for."""
    if not commas:
        inner = text[start + 1 : end]
        return numbered(inner) or ["{" + choice + "}" for choice in inner_choices(inner)]
    cuts = [start, *commas, end]
    pieces = [text[cuts[at] + 1 : cuts[at + 1]] for at in range(len(cuts) - 1)]
    return [choice for piece in pieces for choice in inner_choices(piece)]


def inner_choices(piece: str) -> list[str]:
    """Return the words of a piece inside a brace, which may hold braces of its own."""
    return expand_braces(piece) if OPEN in piece else [piece]


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
