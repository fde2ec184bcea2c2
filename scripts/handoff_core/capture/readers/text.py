"""Reads logs and Markdown with role words (formats.md 10)."""

from __future__ import annotations

import re

from handoff_core.capture.turns import AGENT, OTHER, SKIPPED, TOOL, USED, USER, Record, Turn
from handoff_core.text_fences import Fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Session

_WORD = r"(user|human|assistant|ai|system|tool)"
_MARKER = re.compile(
    rf" {{0,3}}(?:(?:#+[ \t]*)?{_WORD}[ \t]*[:>]"
    rf"|(?:#+[ \t]*)?(?P<mark>\*\*|__){_WORD}[ \t]*(?::[ \t]*(?P=mark)|(?P=mark)[ \t]*:)"
    rf"|#+[ \t]*{_WORD}[ \t]*#*[ \t]*$)(?P<rest>.*)$",
    re.IGNORECASE,
)
_CLASSES = {
    "user": (USER, "text"),
    "human": (USER, "text"),
    "assistant": (AGENT, "text"),
    "ai": (AGENT, "text"),
    "tool": (TOOL, "tool"),
    "system": (OTHER, "system"),
}


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every stretch of lines below a role word; none at all where no line has one."""
    del session
    fence = Fence()
    part = _Part(1, 0, "system")
    marked = False
    for number, offset, line in source.text_lines():
        match = None if fence.is_open else _MARKER.match(line)
        if match is None:
            part.lines.append(line)
            if fence.is_open:
                fence.closes(line)
            else:
                fence.opens(line)
            continue
        if marked or part.has_text():
            yield part.outcome()
        marked = True
        part = _Part(number, offset, next(word for word in match.groups() if word and word.lower() in _CLASSES))
        rest = match.group("rest").lstrip(" \t")
        part.lines.append(rest)
        fence.opens(rest)
    if marked:
        yield part.outcome()


def is_marker(line: str) -> bool:
    """Say whether a line begins with a role word and its mark."""
    return _MARKER.match(line) is not None


class _Part:
    """The lines from one role word to the next."""

    def __init__(self, number: int, offset: int, word: str) -> None:
        self.number = number
        self.offset = offset
        self.word = word.lower()
        self.lines: list[str] = []

    def has_text(self) -> bool:
        """Say whether a line is not blank."""
        return any(line.strip() for line in self.lines)

    def outcome(self) -> Outcome:
        """Return the turn, without the blank lines around it."""
        class_, kind = _CLASSES[self.word]
        record = Record(None, self.number, self.offset, self.word)
        while self.lines and not self.lines[0].strip():
            self.lines.pop(0)
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()
        if not self.lines:
            return record, (), SKIPPED
        return record, (Turn(class_, kind, "\n".join(self.lines)),), USED
