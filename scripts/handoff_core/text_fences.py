"""Tells what is quoted in the fences of a Markdown text from what stands outside. Imports nothing of ours."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_OPENING = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?", re.DOTALL)
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+$")


class Line:
    """One line: its text, whether it is quoted in a fence (the fence's own lines included) and whether it is one."""

    __slots__ = ("heading", "mark", "quoted", "text")

    def __init__(self, text: str, *, quoted: bool = False, mark: bool = False) -> None:
        self.text = text
        self.quoted = quoted
        self.mark = mark
        self.heading = None if quoted else heading_of(text)


def heading_of(text: str) -> tuple[int, str] | None:
    """Return level and title of a heading of number signs, closing signs dropped; None for any other line."""
    found = _HEADING.fullmatch(text) if "#" in text[:4] else None
    if not found:
        return None
    title = (found[2] or "").strip(" \t")
    return len(found[1]), _CLOSING_MARKS.sub("", title).rstrip(" \t")


def mark_fences(lines: Iterable[str]) -> list[Line]:
    """Return the lines with what is quoted marked (gate.md 4); a fence without an end runs to the last line."""
    marked = []
    closing: re.Pattern[str] | None = None
    for text in lines:
        if closing is not None:
            ends = closing.fullmatch(text) is not None
            marked.append(Line(text, quoted=True, mark=ends))
            closing = None if ends else closing
            continue
        opened = _OPENING.fullmatch(text) if "```" in text or "~~~" in text else None
        if opened:
            fence = opened[1] or opened[2]
            closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
        marked.append(Line(text, quoted=opened is not None, mark=opened is not None))
    return marked
