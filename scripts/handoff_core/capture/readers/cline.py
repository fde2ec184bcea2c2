"""Reads documents of Cline and Roo (formats.md 9)."""

from __future__ import annotations

import re

from handoff_core.capture import jsonlines
from handoff_core.capture.blocks import flat, plain, text_of, turns_of
from handoff_core.capture.turns import (
    AGENT,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Record,
    answered,
    joined,
    name_of,
    said,
    stamp,
    time_of,
)
from handoff_core.errors import HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Session, Turn

_TOKENS = (
    ("input", "inputTokens"),
    ("output", "outputTokens"),
    ("cache_read", "cacheReadTokens"),
    ("cache_write", "cacheWriteTokens"),
)
_ELEMENT = re.compile(
    r"<(environment_details|user_input|task|feedback|user_message|answer)(?: [^<>]*)?>(.*?)(?:</\1>|\Z)", re.DOTALL
)
_RESULT = re.compile(r"\[([A-Za-z_][\w-]*)(?: for '.*?')?\] Result:", re.DOTALL)
_WAIT_SECONDS = 0.2


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every message."""
    document = _document(source)
    messages, base = document, ""
    if type(document) is dict:
        messages, base = document.get("messages"), "/messages"
        session.found_id(document.get("sessionId"))
        for name in ("cwd", "workspaceRoot", "workspace"):
            session.found_folder(document.get(name))
    if type(messages) is not list:
        raise HandoffError(f"{source.name}: the document holds no list of messages")
    for index, value in enumerate(messages):
        record = Record(value, f"{base}/{index}")
        turns = _turns(value, session) if type(value) is dict else []
        yield record, turns, USED if turns else SKIPPED


def _document(source: Source) -> Any:
    """Return the document; one that does not parse is being written and is read once more."""
    try:
        return source.document()
    except jsonlines.Damage:
        import time

        time.sleep(_WAIT_SECONDS)
        source.read_again()
    try:
        return source.document()
    except jsonlines.Damage as damage:
        raise HandoffError(f"{source.name}: {damage.reason}", "is it still being written? try again") from None


def _turns(value: dict[str, Any], session: Session) -> list[Turn]:
    model = _model(value)
    session.found_model(model)
    metrics = value.get("metrics")
    if type(metrics) is dict:
        session.count_tokens(name_of(value.get("id")), {kind: metrics.get(name) for kind, name in _TOKENS})
    turns = joined(_Message(value).turns())
    stamp(turns, time_of(value.get("ts")), name_of(value.get("id")), model)
    return turns


def _model(value: dict[str, Any]) -> str | None:
    info = value.get("modelInfo")
    return name_of(info.get("id")) if type(info) is dict else None


class _Message:
    """The blocks of one message on their way to turns."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self.open_result: Turn | None = None
        """A result whose head stood alone in its block; the next text is its body."""
        metadata = value.get("metadata")
        marks = metadata if type(metadata) is dict else {}
        role = value.get("role")
        if marks.get("displayOnly") is True or marks.get("displayRole") in ("error", "status"):
            self.judge = plain(OTHER, "error")
        elif role == "user":
            self.judge = self.prompt
        else:
            self.judge = plain(AGENT) if role == "assistant" else plain(OTHER, "system")

    def turns(self) -> list[Turn]:
        """Return the turns, neighbours not joined yet."""
        content = self.value.get("content")
        made: list[Turn] = []
        for block in content if type(content) is list else [content]:
            if type(block) is dict and text_of(block.get("type")).endswith("tool_result"):
                made.append(_answered(block))
            else:
                made += turns_of([block] if type(block) is dict else block, self.judge)
        return made

    def prompt(self, text: str) -> list[Turn]:
        """Return the turns of a text under the user role: its wrappers are taken off, one after the other."""
        turns: list[Turn] = []
        rest = text
        while rest.strip():
            bare = rest.lstrip()
            element = _ELEMENT.match(bare)
            if element is None:
                turns += self.typed(bare if turns else rest)
                break
            turns += self.unwrapped(element)
            rest = bare[element.end() :]
        return turns

    def unwrapped(self, element: re.Match[str]) -> list[Turn]:
        """Return what stood in a wrapper."""
        self.open_result = None
        if element[1] == "environment_details":
            return [said(OTHER, element[0], "notice")]
        return [said(USER, element[2].strip("\r\n"))]

    def typed(self, text: str) -> list[Turn]:
        """Return a text without wrapper: the result of a call, a prompt, or nothing when it is the body of a result."""
        head = _RESULT.match(text.lstrip())
        if head is not None:
            turn = answered(None, text.lstrip()[head.end() :].strip("\r\n\t "), tool=head[1])
            self.open_result = None if turn.text else turn
            return [turn]
        if self.open_result is not None:
            self.open_result.text = text
            self.open_result = None
            return []
        return [said(USER, text)]


def _answered(block: dict[str, Any]) -> Turn:
    content = block.get("content")
    parts = content if type(content) is list else [content]
    failed = block.get("is_error") is True or any(type(part) is dict and part.get("success") is False for part in parts)
    texts = [_result_text(part) for part in parts]
    return answered(block.get("tool_use_id"), "\n".join(texts), failed=failed)


def _result_text(part: Any) -> str:
    """Return the text of one element of a result: of a query its result, else its error."""
    if type(part) is dict and "query" in part:
        for name in ("result", "error"):
            if part.get(name) not in (None, ""):
                return flat(part[name])
        return ""
    return flat([part]) if part is not None else ""
