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
_LEADS = (b"\xc2", b"\xd8\x9c", b"\xe2\x80", b"\xe2\x81", b"\xef\xbb\xbf", b"\xf3\xa0", b"\xed")
"""What the hidden characters above ASCII begin with in UTF-8."""


def is_plain(raw: bytes) -> bool:
    """Say whether a text in UTF-8 surely holds visible characters, tabs and line feeds alone.

    A few texts that do are judged otherwise. It is far quicker than a pattern.
    """
    if raw.translate(None, _PLAIN_BYTES):
        return False
    if raw.isascii():
        return True
    for lead in _LEADS:
        if lead in raw:
            # Printable is what has a shape; line ends and tabs, which have none, are taken out before.
            return raw.translate(None, b"\t\n").decode("utf-8", "replace").isprintable()
    return True


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
