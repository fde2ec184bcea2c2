"""Reads the body of a brief: sections, their fields, and what there is to act on (gate.md 4 and 5).

Imports `brief.words` and `text_fences`.
"""

from __future__ import annotations

import re

from handoff_core.brief.words import is_placeholder
from handoff_core.text_fences import Line, mark_fences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FIELD = re.compile(r" {0,3}[-*+][ \t]+\*\*(.+?):\*\*(.*)", re.DOTALL)
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_HEX_WORD = re.compile(r"(?<!\w)[0-9A-Fa-f]{7,40}(?!\w)")

_ACTIONABLE = (
    re.compile(r"(?m)^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\S"),  # a list item
    re.compile(r"`[^`\n]+`"),  # inline code
    re.compile(r"[\w.~-][/\\][\w.-]"),  # a path of two parts
    re.compile(r"(?m)(?:^|(?<=\s))[~/\\][\w.-]"),  # a path from the root or the home folder
    re.compile(r"\w\w\.[A-Za-z][A-Za-z0-9]{0,7}\b|\w\.[A-Za-z][A-Za-z0-9]{1,7}\b"),  # a file name
    re.compile(r"(?m)(?:^|(?<=\s))\.[A-Za-z][\w-]+"),  # a hidden file
    re.compile(r"\b(?:Makefile|Dockerfile|README|LICENSE|CHANGELOG)\b"),
    _HEX_WORD,
    re.compile(r"\b(?:files?|checks?|findings?|tests?|acceptance|verifications?)\b", re.IGNORECASE),
)
"""What makes a body worth acting on; each pattern finds in linear time."""


class Body:
    """The body of a brief; `first_line` is the number of its first line in the file."""

    __slots__ = ("first_line", "lines")

    def __init__(self, lines: Sequence[str], first_line: int) -> None:
        self.lines = mark_fences(lines)
        self.first_line = first_line

    def is_empty(self) -> bool:
        """Say whether there is nothing but headings and blank lines."""
        return all(line.heading is not None or not line.text.strip() for line in self.lines)

    def is_actionable(self) -> bool:
        """Say whether the body names anything that the next agent can act on."""
        text = "\n".join(line.text for line in self.lines)
        return any(pattern.search(text) for pattern in _ACTIONABLE)

    def section(self, title: str) -> Section | None:
        """Return the first level-two section with exactly this title, None if there is none."""
        for index, line in enumerate(self.lines):
            if line.heading == (2, title):
                end = next((later for later in range(index + 1, len(self.lines)) if self._ends(later)), len(self.lines))
                return Section(self.lines[index:end], self.first_line + index)
        return None

    def _ends(self, index: int) -> bool:
        heading = self.lines[index].heading
        return heading is not None and heading[0] <= 2


class Section:
    """A heading and what stands below it; `line` is the heading's number in the file."""

    __slots__ = ("line", "lines")

    def __init__(self, lines: Sequence[Line], line: int) -> None:
        self.lines = lines
        self.line = line

    def field(self, name: str) -> str | None:
        """Return the value of the field `name`: None if it is missing, an empty text if nothing was filled in."""
        for index, line in enumerate(self.lines):
            found = None if line.quoted else _FIELD.fullmatch(line.text)
            if found and found[1] == name:
                return _field_value(found[2], self.lines[index + 1 :])
        return None

    def folded(self) -> str:
        """Return the text of the section in lower case with white space folded."""
        return " ".join(" ".join(line.text for line in self.lines).split()).lower()


def hex_word(text: str) -> str | None:
    """Return the first word of 7 to 40 hexadecimal digits in `text`, None if there is none."""
    found = _HEX_WORD.search(text)
    return found[0] if found else None


def _field_value(first: str, below: Sequence[Line]) -> str:
    lines = [Line(first)]
    for line in below:
        if not line.text.startswith(("  ", "\t")) or not line.text.strip():
            break
        lines.append(line)
    if all(line.mark or is_placeholder(_LIST_MARK.sub("", line.text, count=1)) for line in lines):
        return ""
    return "\n".join(line.text.strip() for line in lines).strip()
