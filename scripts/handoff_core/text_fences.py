"""Tells what is quoted in the fences of a Markdown text from what stands outside.

Follows gate.md 4. Imports nothing of ours.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_OPENING = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)", re.DOTALL)
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?", re.DOTALL)
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+$")


class Fence:
    """Follows fences from line to line: the one that the next line stands in, if any."""

    __slots__ = ("_mark",)

    def __init__(self) -> None:
        self._mark = ""

    @property
    def is_open(self) -> bool:
        """Say whether the next line stands inside a fence."""
        return bool(self._mark)

    def opens(self, line: str) -> bool:
        """Take a line outside of fences; say whether it opens one."""
        found = _OPENING.fullmatch(line) if "```" in line or "~~~" in line else None
        self._mark = (found[1] or found[2]) if found else ""
        return found is not None

    def closes(self, line: str) -> bool:
        """Take a line inside a fence; say whether it ends it: as many of the same mark at least, and nothing else."""
        found = _CLOSING.fullmatch(line) if self._mark[:3] in line else None
        if not found or not found[1].startswith(self._mark):
            return False
        self._mark = ""
        return True

    def end(self) -> None:
        """End the fence whatever the lines say."""
        self._mark = ""


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
    fence = Fence()
    for text in lines:
        if fence.is_open:
            marked.append(Line(text, quoted=True, mark=fence.closes(text)))
        else:
            opened = fence.opens(text)
            marked.append(Line(text, quoted=opened, mark=opened))
    return marked
