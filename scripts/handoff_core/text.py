"""Makes untrusted text safe for a terminal, quotes values in messages, and writes the program's streams as UTF-8.

Follows ledger.md 2.4. Imports `errors` alone.
"""

from __future__ import annotations

import os

from handoff_core.errors import REFUSED, HandoffError, os_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import BinaryIO

HIDDEN = (
    *range(0x7F, 0xA0),
    0x61C,
    0x200B,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    0x2060,
    *range(0x2066, 0x206A),
    0xFEFF,
    *range(0xE0000, 0xE0080),
)
"""The code points of all hidden characters (ledger.md 2.4)."""

_BREAKS = dict.fromkeys(map(ord, "\t\n\x0b\x0c\r"), "\n")
_UNSEEN: dict[int, None] = dict.fromkeys((*range(0x20), *HIDDEN))

QUOTE_LIMIT = 200
"""Characters of a quoted value before it is cut."""


def clean(text: str) -> str:
    """Return `text` as one line without control and hidden characters (ledger.md 2.4, `text.clean`)."""
    if text.isprintable():  # then it holds no control and no hidden character
        return text
    text = text.translate(_BREAKS)
    while "\n\n" in text:
        text = text.replace("\n\n", "\n")
    return without_hidden(text.replace("\n", " "))


def without_hidden(text: str, keep: str = "") -> str:
    """Return `text` without control and hidden characters, but for those of `keep`."""
    table = {code: None for code in _UNSEEN if chr(code) not in keep} if keep else _UNSEEN
    return text.translate(table)


def escape_json(json_text: str) -> str:
    r"""Return a JSON text with every hidden character written as `\uXXXX`; its value stays the same."""
    if json_text.isascii() and "\x7f" not in json_text:
        return json_text
    return json_text.translate({code: unicode_escape(chr(code)) for code in HIDDEN})


def unicode_escape(character: str) -> str:
    r"""Return the JSON escape of one character: `\uXXXX`, two of them above U+FFFF."""
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def quote(value: object) -> str:
    """Return the `<json>` of a message: ASCII JSON, cut after 200 characters with `…` (ledger.md 2.4)."""
    import json

    return cut(json.dumps(value))


def cut(text: str, limit: int = QUOTE_LIMIT) -> str:
    """Return `text`, cut after `limit` characters with a visible mark."""
    return text if len(text) <= limit else text[:limit] + "…"


def plain(text: str) -> str:
    """Return `text` with lone surrogates replaced by U+FFFD, so that it can be written as UTF-8."""
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)


def utf8(text: str) -> bytes:
    """Return `text` in UTF-8, lone surrogates replaced by U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return plain(text).encode("utf-8")


class Streams:
    """Hold the binary standard streams of one run; None stands for a closed descriptor.

    Commands print through it alone, so that every byte is UTF-8 with LF line ends whatever the locale.
    """

    __slots__ = ("stderr", "stdin", "stdout")

    def __init__(self, stdin: BinaryIO | None, stdout: BinaryIO | None, stderr: BinaryIO | None) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr

    def out(self, text: str) -> None:
        """Write `text` to stdout at once; raise HandoffError if that fails, BrokenPipeError if nobody reads."""
        try:
            self.raw_out(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise HandoffError(f"cannot write to stdout: {os_text(error)}") from None

    def raw_out(self, text: str) -> None:
        """Write `text` to stdout and flush it; raise the OSError of a failure."""
        if self.stdout is None:
            raise OSError(9, os.strerror(9))
        self.stdout.write(utf8(text))
        self.stdout.flush()

    def note(self, message: str) -> None:
        """Write one diagnostic line to stderr, cleaned; a stderr that takes nothing is passed over."""
        self.notes((message,))

    def notes(self, messages: Iterable[str]) -> None:
        """Write a diagnostic line to stderr for each message, all of them with one write."""
        self.error_text("".join(f"handoff.py: {clean(message)}\n" for message in messages))

    def error_text(self, text: str) -> None:
        """Write `text` as it stands to stderr; a stderr that takes nothing is passed over."""
        if self.stderr is None or not text:
            return
        try:
            self.stderr.write(utf8(text))
            self.stderr.flush()
        except (OSError, ValueError):
            return

    def report(self, error: HandoffError) -> int:
        """Write every problem of `error` on its own line and return its exit code."""
        for line in error.lines():
            self.note(line)
        return error.code or REFUSED

    def is_terminal(self, name: str) -> bool:
        """Say whether the stream `stdin`, `stdout` or `stderr` is a terminal."""
        stream = getattr(self, name)
        try:
            return stream is not None and bool(stream.isatty())
        except (OSError, ValueError):
            return False


def edit_distance(left: Sequence[object], right: Sequence[object], cap: int) -> int | None:
    """Return Levenshtein's distance of two sequences of one kind, None if it is above `cap` (ledger.md 8.1).

    For each number of edits the furthest reach on each diagonal is kept, so the cost grows with `cap` squared and
    with the length, never with the product of the lengths.
    """
    goal = len(right) - len(left)
    if abs(goal) > cap:
        return None
    reach = {0: _common(left, right, 0, 0)}
    for edits in range(cap + 1):
        if reach.get(goal) == len(left):
            return edits
        wider = {}
        for diagonal in range(-edits - 1, edits + 2):
            start = max(
                reach.get(diagonal, -2) + 1,  # an item is replaced
                reach.get(diagonal - 1, -1),  # an item of `right` is inserted
                reach.get(diagonal + 1, -2) + 1,  # an item of `left` is deleted
            )
            start = min(start, len(left), len(right) - diagonal)
            if start >= 0 and start + diagonal >= 0:
                wider[diagonal] = start + _common(left, right, start, start + diagonal)
        reach = wider
    return None


def _common(left: Sequence[object], right: Sequence[object], i: int, j: int) -> int:
    """Return how many items are equal from `left[i]` and `right[j]` on; slices are compared, not items."""
    longest = min(len(left) - i, len(right) - j)
    length, step = 0, 1
    while length < longest:
        step = min(step, longest - length)
        if left[i + length : i + length + step] == right[j + length : j + length + step]:
            length += step
            step *= 2
        elif step == 1:
            break
        else:
            step //= 2
    return length
