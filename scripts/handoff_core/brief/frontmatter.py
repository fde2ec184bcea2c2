"""The strict reader of a brief's frontmatter (gate.md 3): texts and flat lists, nothing guessed.

A value never becomes a number, a date or a boolean. Imports nothing of ours.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FENCE = re.compile(r"--- *")
"""A line that opens or closes the block, matched whole."""

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]+(.*))?", re.DOTALL)
_ITEM = re.compile(r" *-[ \t]+(.*)", re.DOTALL)
_COMMENT = re.compile(r"[ \t]#")
_NOTHING_MORE = re.compile(r"[ \t]*(?:[ \t]#.*)?", re.DOTALL)
_QUOTE_MARKS = re.compile(r'["\\]')
_LIST_MARKS = re.compile(r"[][{},]")
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/nrt]))')
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t"}
_RESERVED = "{}],&*!|>%@`"

PLAIN, QUOTED, LIST = "plain", "quoted", "list"


class FrontmatterError(ValueError):
    """Say why a block cannot be parsed; `line` is the number of the line in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Value:
    """One value of the block: `text` (None for a list or nothing), `items` of a list, how and where it was written.

    `cut` says that a comment ended a plain text.
    """

    __slots__ = ("cut", "items", "line", "style", "text")

    def __init__(self, line: int, style: str = PLAIN, text: str | None = None, *, cut: bool = False) -> None:
        self.line = line
        self.style = style
        self.text = text
        self.cut = cut
        self.items: list[str] = []

    def is_absent(self) -> bool:
        """Say whether the key was written without any value."""
        return self.text is None and self.style != LIST


def block_end(lines: Sequence[str]) -> int | None:
    """Return the index of the line that closes the block, None where it is not closed or never opened."""
    if not lines or not FENCE.fullmatch(lines[0]):
        return None
    return next((index for index in range(1, len(lines)) if FENCE.fullmatch(lines[index])), None)


def parse(lines: Sequence[str]) -> dict[str, Value]:
    """Return the values of the block that begins with the first of `lines`, without the absent ones.

    Raises FrontmatterError for whatever this reader does not know (gate.md 3).
    """
    if not lines or not FENCE.fullmatch(lines[0]):
        raise FrontmatterError("the file does not begin with a line ---", 1)
    end = block_end(lines)
    if end is None:
        raise FrontmatterError("the block has no closing line ---", 1)
    values: dict[str, Value] = {}
    last: Value | None = None
    for number, line in enumerate(lines[1:end], 2):
        last = _read_line(line, number, values, last)
    return {key: value for key, value in values.items() if not value.is_absent()}


def _read_line(line: str, number: int, values: dict[str, Value], last: Value | None) -> Value | None:
    """Add what one line says to `values` and return the value that list items may follow."""
    if not line.strip(" \t"):
        return last
    if "\t" in line[: len(line) - len(line.lstrip(" \t"))]:
        raise FrontmatterError("a tab in the indentation", number)
    if line.lstrip(" ").startswith("#"):
        return last
    item = _ITEM.fullmatch(line)
    if item and last is not None and (last.is_absent() or last.style == LIST):
        last.items.append(_item(item[1].strip(" \t"), number))
        last.style = LIST
        return last
    key = _KEY.fullmatch(line)
    if not key:
        raise FrontmatterError("no `key: value` at the start of the line", number)
    if key[1] in values:
        raise FrontmatterError(f"the key {key[1]} is given twice", number)
    value = values[key[1]] = _value((key[2] or "").strip(" \t"), number)
    return value if value.is_absent() else None


def _value(written: str, line: int) -> Value:
    """Return the value that stands behind a key."""
    if not written or written.startswith("#"):
        return Value(line)
    if written.startswith("["):
        return _inline_list(written, line)
    if written[0] in "\"'":
        text, end = _quoted(written, 0, line)
        _refuse_rest(written[end:], "quote", line)
        return Value(line, QUOTED, text)
    comment = _COMMENT.search(written)
    text = written[: comment.start()].rstrip(" \t") if comment else written
    return Value(line, PLAIN, _plain(text, line), cut=comment is not None)


def _item(written: str, line: int) -> str:
    """Return the text of one `- item`."""
    value = _value(written, line)
    if value.text is None:
        raise FrontmatterError("an item without a text", line)
    return value.text


def _plain(text: str, line: int) -> str:
    """Return a plain text; raise FrontmatterError where a reader of YAML would see something else."""
    if text[0] in _RESERVED:
        raise FrontmatterError(f"a plain text begins with {text[0]}; quote it", line)
    if text[0] in "-?:" and text[1:2] in ("", " ", "\t"):
        raise FrontmatterError(f"a plain text begins with {text[0]} and a blank; quote it", line)
    if re.search(r":(?:[ \t]|$)", text):
        raise FrontmatterError("a plain text holds a colon before a blank; quote it", line)
    return text


def _quoted(written: str, start: int, line: int) -> tuple[str, int]:
    """Return the text of the quote that opens at `start` and the index behind its end."""
    if written[start] == "'":
        return _single_quoted(written, start + 1, line)
    parts = []
    index = start + 1
    while index < len(written):
        stop = _first(written, _QUOTE_MARKS, index)
        parts.append(written[index:stop])
        if stop == len(written):
            break
        if written[stop] == '"':
            return _join_surrogates("".join(parts), line), stop + 1
        escape = _ESCAPE.match(written, stop)
        if not escape:
            raise FrontmatterError(f"an unknown escape {written[stop : stop + 2]}", line)
        parts.append(chr(int(escape[1], 16)) if escape[1] else _ESCAPED[escape[2]])
        index = escape.end()
    raise FrontmatterError("an unterminated quote", line)


def _single_quoted(written: str, start: int, line: int) -> tuple[str, int]:
    closed = re.compile("((?:[^']|'')*)'(?!')").match(written, start)
    if not closed:
        raise FrontmatterError("an unterminated quote", line)
    return closed[1].replace("''", "'"), closed.end()


def _first(text: str, marks: re.Pattern[str], start: int) -> int:
    """Return the index of the first of `marks` in `text` from `start` on, its length if there is none."""
    found = marks.search(text, start)
    return found.start() if found else len(text)


def _join_surrogates(text: str, line: int) -> str:
    r"""Return `text` with escaped surrogate pairs joined; half a pair is no character."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise FrontmatterError("an escape of half a surrogate pair", line) from None


def _inline_list(written: str, line: int) -> Value:
    """Return the list `[a, "b"]` that stands on one line."""
    value = Value(line, LIST)
    index = _skip_blanks(written, 1)
    if written[index : index + 1] == "]":
        _refuse_rest(written[index + 1 :], "bracket", line)
        return value
    while True:
        text, index = _inline_item(written, index, line)
        value.items.append(text)
        index = _skip_blanks(written, index)
        mark = written[index : index + 1]
        if mark == "]":
            _refuse_rest(written[index + 1 :], "bracket", line)
            return value
        if mark != ",":
            raise FrontmatterError("an unterminated list", line)
        index = _skip_blanks(written, index + 1)


def _inline_item(written: str, index: int, line: int) -> tuple[str, int]:
    """Return the item of an inline list that begins at `index`, and the index behind it."""
    mark = written[index : index + 1]
    if mark in ('"', "'"):
        return _quoted(written, index, line)
    if not mark or mark == "#":
        raise FrontmatterError("an unterminated list", line)
    if mark in ",]":
        raise FrontmatterError("an empty item in a list", line)
    end = _first(written, _LIST_MARKS, index)
    text = written[index:end].rstrip(" \t")
    if not text or written[end : end + 1] in ("[", "{", "}"):
        raise FrontmatterError("a list or mapping inside a list", line)
    if _COMMENT.search(text):
        raise FrontmatterError("an unterminated list", line)
    return _plain(text, line), end


def _skip_blanks(text: str, index: int) -> int:
    while text[index : index + 1] in (" ", "\t"):
        index += 1
    return index


def _refuse_rest(rest: str, mark: str, line: int) -> None:
    """Raise FrontmatterError unless nothing but blanks or a comment follows a closing mark."""
    if not _NOTHING_MORE.fullmatch(rest):
        raise FrontmatterError(f"text after the closing {mark}", line)
