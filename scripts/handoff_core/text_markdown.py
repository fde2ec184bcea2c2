r"""Makes untrusted text safe inside Markdown: quoted in a fence, as code, or in a cell of a table (capture.md 10).

Every control and invisible character becomes visible text such as `\x1b` or `\u202e`. Imports nothing of ours.
"""

from __future__ import annotations

import re

INVISIBLE = "\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f"
"""Characters, as the inside of a pattern's class, that no file of a fileset holds as they are (capture.md 10)."""

CODE_LENGTH = 80
CELL_LENGTH = 120

_LINE_ENDS = re.compile("\r\n?")
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\ud800-\udfff{INVISIBLE}]")
_BLANKS = re.compile(r"\s+")
_TICKS = re.compile("`+")
_MARKS = re.compile(r"[\\`*_\[\]<>|~]")


_PLAIN_BYTES = bytes({9, 10, *range(0x20, 0x7F), *range(0x80, 0x100)})
_HIDDEN_BYTES = (
    (b"\xe2\x80", re.compile(rb"\xe2\x80[\x8b-\x8f\xa8-\xae]")),
    (b"\xe2\x81", re.compile(rb"\xe2\x81[\xa0\xa6-\xa9]")),
    (b"\xc2", re.compile(rb"\xc2[\x80-\x9f]")),
    (b"\xef\xbb\xbf", re.compile(rb"\xef\xbb\xbf")),
    (b"\xd8\x9c", re.compile(rb"\xd8\x9c")),
    (b"\xf3\xa0", re.compile(rb"\xf3\xa0[\x80\x81]")),
)
"""What invisible characters above ASCII begin with in UTF-8, and the whole of them."""


def is_plain(raw: bytes) -> bool:
    """Say whether a text in UTF-8 holds visible characters, tabs and line feeds alone; far quicker than a pattern."""
    if raw.translate(None, _PLAIN_BYTES):
        return False
    if raw.isascii():
        return True
    return not any(lead in raw and whole.search(raw) for lead, whole in _HIDDEN_BYTES)


def visible(text: str) -> str:
    """Return `text` with LF line ends and every other control or invisible character spelled out."""
    if "\r" in text:
        text = _LINE_ENDS.sub("\n", text)
    return _UNSAFE.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def fenced(text: str) -> str:
    """Return `text` quoted in a fence that nothing in it can close; it ends with the fence's own line feed."""
    text = visible(text)
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}\n"


def longest_run(text: str) -> int:
    """Return the length of the longest run of backquotes."""
    return max(map(len, _TICKS.findall(text)), default=0)


def code(text: str) -> str:
    """Return `text` as code on one line, at most 80 characters long, between backquotes."""
    line = visible(text).replace("\n", "\\n").replace("\t", " ")
    if len(line) > CODE_LENGTH:
        line = line[:CODE_LENGTH] + "…"
    ticks = "`" * (longest_run(line) + 1)
    around = " " if line[:1] in ("`", " ", "") or line[-1:] in ("`", " ") else ""
    return f"{ticks}{around}{line}{around}{ticks}"


def cell(text: str) -> str:
    """Return `text` on one line, at most 120 characters long, with all marks of Markdown and HTML escaped."""
    line = one_line(text)
    if len(line) > CELL_LENGTH:
        line = line[:CELL_LENGTH] + "…"
    return _MARKS.sub(r"\\\g<0>", line).replace("&", "&amp;")


def one_line(text: str) -> str:
    """Return `text` on one line: white space is one blank, other control characters are spelled out."""
    return visible(_BLANKS.sub(" ", visible(text)).strip(" "))
