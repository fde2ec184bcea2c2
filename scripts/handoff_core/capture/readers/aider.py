"""Reads the chat history of Aider, a Markdown file of many runs (formats.md 10)."""

from __future__ import annotations

from handoff_core.capture.turns import AGENT, OTHER, SKIPPED, USED, USER, Record, said
from handoff_core.text_fences import Fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Session

_HEADER = "# aider chat started at "
_PROMPT, _CONSOLE, _ANSWER, _BEFORE = "prompt", "console", "answer", "before"
_MARKS = {_PROMPT: "####", _CONSOLE: ">"}
_CLASSES = {
    _PROMPT: (USER, "text"),
    _CONSOLE: (OTHER, "notice"),
    _ANSWER: (AGENT, "text"),
    _BEFORE: (OTHER, "system"),
}


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every header and of every stretch of lines of one kind."""
    del session
    fence = Fence()
    part: _Part | None = None
    text_kind, started = _BEFORE, ""
    for number, offset, line in source.text_lines():
        header = line.startswith(_HEADER)
        kind = text_kind if fence.is_open else _kind(line, text_kind)
        if part is not None and (header or kind != part.kind):
            yield from part.outcome()
            part = None
        if header:
            fence.end()
            text_kind, started = _ANSWER, line[len(_HEADER) :].strip()
            yield Record(None, number, offset, "header"), (), SKIPPED
            continue
        if fence.is_open:
            fence.closes(line)
        elif kind == text_kind:
            fence.opens(line)
        part = part or _Part(kind, started)
        part.add(number, offset, line)
    if part is not None:
        yield from part.outcome()


def _kind(line: str, text_kind: str) -> str:
    if line == "####" or line.startswith("#### "):
        return _PROMPT
    if line == ">" or line.startswith("> "):
        return _CONSOLE
    return text_kind


class _Part:
    """Lines of one kind, one after the other, and the place of the first that is not blank."""

    def __init__(self, kind: str, started: str) -> None:
        self.kind = kind
        self.started = started
        self.lines: list[str] = []
        self.number = 0
        self.offset = 0

    def add(self, number: int, offset: int, line: str) -> None:
        """Take a line, without the mark of its kind and the blanks at its end."""
        mark = _MARKS.get(self.kind)
        text = line if mark is None else line.removeprefix(mark).removeprefix(" ").rstrip(" \t")
        if self.lines or text.strip():
            self.lines.append(text)
        if not self.number or len(self.lines) < 2:
            self.number, self.offset = number, offset

    def outcome(self) -> Iterator[Outcome]:
        """Yield the turn without blank lines around it; a prompt without text is skipped, blank lines are nothing."""
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()
        record = Record(None, self.number, self.offset, self.kind)
        if not self.lines:
            if self.kind in _MARKS:
                yield record, (), SKIPPED
            return
        class_, kind = _CLASSES[self.kind]
        turn = said(class_, "\n".join(self.lines), kind)
        turn.ts = self.started
        yield record, (turn,), USED
