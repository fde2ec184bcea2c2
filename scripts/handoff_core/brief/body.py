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

    __slots__ = ("_sections", "first_line", "lines")

    def __init__(self, lines: Sequence[str], first_line: int) -> None:
        self.lines = mark_fences(lines)
        self.first_line = first_line
        self._sections = _sections(self.lines, first_line)

    def is_empty(self) -> bool:
        """Say whether there is nothing but headings and blank lines."""
        return all(line.heading is not None or not line.text.strip() for line in self.lines)

    def is_actionable(self) -> bool:
        """Say whether the body names anything that the next agent can act on."""
        text = "\n".join(line.text for line in self.lines)
        return any(pattern.search(text) for pattern in _ACTIONABLE)

    def section(self, title: str) -> Section | None:
        """Return the first level-two section with exactly this title, None if there is none."""
        return self._sections.get(title)


class Section:
    """A heading and what stands below it; `line` is the heading's number in the file."""

    __slots__ = ("_fields", "line", "lines")

    def __init__(self, lines: Sequence[Line], line: int) -> None:
        self.lines = lines
        self.line = line
        self._fields: dict[str, tuple[str, int]] | None = None

    def field(self, name: str) -> str | None:
        """Return the value of the field `name`: None if it is missing, an empty text if nothing was filled in."""
        if self._fields is None:
            self._fields = _fields(self.lines)
        found = self._fields.get(name)
        return None if found is None else _field_value(found[0], self.lines, found[1])

    def folded(self) -> str:
        """Return the text of the section in lower case with white space folded."""
        return " ".join(" ".join(line.text for line in self.lines).split()).lower()


def _sections(lines: Sequence[Line], first_line: int) -> dict[str, Section]:
    """Return the level-two sections by their titles; the first of a title counts."""
    heads = [(index, line.heading) for index, line in enumerate(lines) if line.heading and line.heading[0] <= 2]
    found: dict[str, Section] = {}
    for number, (start, (level, title)) in enumerate(heads):
        end = heads[number + 1][0] if number + 1 < len(heads) else len(lines)
        if level == 2 and title not in found:
            found[title] = Section(lines[start:end], first_line + start)
    return found


def _fields(lines: Sequence[Line]) -> dict[str, tuple[str, int]]:
    """Return by its name the rest of each field's line and the index behind it; the first of a name counts."""
    found: dict[str, tuple[str, int]] = {}
    for index, line in enumerate(lines):
        field = _FIELD.fullmatch(line.text) if "**" in line.text and not line.quoted else None
        if field and field[1] not in found:
            found[field[1]] = field[2], index + 1
    return found


def hex_word(text: str) -> str | None:
    """Return the first word of 7 to 40 hexadecimal digits in `text`, None if there is none."""
    found = _HEX_WORD.search(text)
    return found[0] if found else None


def _field_value(first: str, lines: Sequence[Line], below: int) -> str:
    """Return a value: the rest of its line and the indented lines from `below` on, empty for placeholders alone."""
    end = below
    while end < len(lines) and lines[end].text.startswith(("  ", "\t")) and lines[end].text.strip():
        end += 1
    value = [Line(first), *lines[below:end]]
    if all(line.mark or is_placeholder(_without_list_mark(line.text)) for line in value):
        return ""
    return "\n".join(line.text.strip() for line in value).strip()


def _without_list_mark(text: str) -> str:
    mark = _LIST_MARK.match(text)
    return text[mark.end() :] if mark else text
