"""Reads event logs of the GitHub Copilot CLI (formats.md 7)."""

from __future__ import annotations

from handoff_core.capture.blocks import flat, text_of
from handoff_core.capture.turns import (
    AGENT,
    MERGED,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Known,
    answered,
    called,
    joined,
    name_of,
    said,
    stamp,
    thought,
    time_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Record, Session, Turn

_TOKENS = (
    ("input", "inputTokens"),
    ("output", "outputTokens"),
    ("cache_read", "cacheReadTokens"),
    ("cache_write", "cacheWriteTokens"),
    ("reasoning", "reasoningTokens"),
)
_TOLD = {
    "system.message": "system",
    "system.notification": "notice",
    "session.info": "notice",
    "session.warning": "notice",
    "abort": "notice",
    "session.error": "error",
    "session.compaction_complete": "compaction",
}
"""Events that are told to the person, with the kind of their turn."""

_RESULTS = ("content", "textResultForLlm", "text_result_for_llm", "detailedContent")


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every event, in file order."""
    reader = _Reader(session)
    for record in source.records():
        yield reader.outcome(record)


class _Reader:
    """What is remembered from event to event."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known = Known()
        self.announced = Known()
        self.model: str | None = None
        self.kinds = {
            "session.start": self.start,
            "session.resume": self.start,
            "session.model_change": self.start,
            "session.usage_record": self.usage,
            "user.message": _prompt,
            "assistant.message": self.answer,
            "assistant.reasoning": _reasoning,
            "tool.execution_start": self.call,
            "tool.execution_complete": _result,
        }

    def outcome(self, record: Record) -> Outcome:
        """Return what an event gives."""
        value = record.value
        data = value.get("data") if type(value) is dict else None
        if type(data) is not dict:
            return record, (), SKIPPED
        rid = name_of(value.get("id"))
        if rid is not None and rid in self.known:
            return record, (), MERGED
        turns = self.turns(value.get("type"), data)
        if turns is None:
            return record, (), MERGED
        turns = joined(turns)
        if not turns:
            return record, (), SKIPPED
        if rid is not None:
            self.known.add(rid)
        stamp(turns, time_of(value.get("timestamp")), rid, name_of(data.get("model")) or self.model)
        for turn in turns:
            turn.agent = name_of(data.get("parentToolCallId"))
        return record, turns, USED

    def turns(self, kind: object, data: dict[str, Any]) -> list[Turn] | None:
        """Return the turns of an event by its type, None if what it holds came before."""
        if type(kind) is not str:
            return []
        if kind in _TOLD:
            return [said(OTHER, _told(data), _TOLD[kind])]
        take = self.kinds.get(kind)
        return take(data) if take else []

    def start(self, data: dict[str, Any]) -> list[Turn]:
        """Take the facts of the session."""
        self.session.found_id(data.get("sessionId"))
        context = data.get("context")
        if type(context) is dict:
            self.session.found_folder(context.get("cwd"))
        model = name_of(data.get("newModel")) or name_of(data.get("selectedModel"))
        self.session.found_model(model)
        self.model = model or self.model
        return []

    def usage(self, data: dict[str, Any]) -> list[Turn]:
        """Count the tokens of one request."""
        usage = data.get("usage")
        numbers = usage if type(usage) is dict else data
        self.session.count_tokens(None, {kind: numbers.get(name) for kind, name in _TOKENS})
        return []

    def answer(self, data: dict[str, Any]) -> list[Turn] | None:
        """Return thought, text and the calls that were not announced before."""
        self.session.found_model(data.get("model"))
        turns = [thought(text_of(data.get("reasoningText"))), said(AGENT, text_of(data.get("content")))]
        requests = _objects(data.get("toolRequests"))
        for request in requests:
            call = name_of(request.get("toolCallId"))
            if self.is_new(call):
                turns.append(called(request.get("name"), call, request.get("arguments")))
        return turns if not requests or joined(turns) else None

    def call(self, data: dict[str, Any]) -> list[Turn] | None:
        """Return a call that no message announced."""
        call = name_of(data.get("toolCallId"))
        if not self.is_new(call):
            return None
        return [called(data.get("toolName"), call, data.get("arguments"))]

    def is_new(self, call: str | None) -> bool:
        """Say whether a call id comes for the first time; calls without an id always do."""
        if call is None:
            return True
        if call in self.announced:
            return False
        self.announced.add(call)
        return True


def _objects(items: object) -> list[dict[str, Any]]:
    return [item for item in items if type(item) is dict] if type(items) is list else []


def _told(data: dict[str, Any]) -> str:
    return next(
        (text for name in ("summaryContent", "content", "message", "reason") if (text := flat(data.get(name)))), ""
    )


def _prompt(data: dict[str, Any]) -> list[Turn]:
    """Return the prompt as it was typed, and a line for each attachment."""
    attachments = _objects(data.get("attachments"))
    return [said(USER, "\n".join(filter(None, [flat(data.get("content")), *map(_file, attachments)])))]


def _file(attachment: dict[str, Any]) -> str:
    names = ("displayName", "name", "filename", "fileName", "path", "filePath", "mimeType", "type")
    name = next((text for key in names if (text := text_of(attachment.get(key)))), "file")
    return f"[file: {name}]"


def _reasoning(data: dict[str, Any]) -> list[Turn]:
    return [thought(text_of(data.get("content")) or text_of(data.get("reasoningText")))]


def _result(data: dict[str, Any]) -> list[Turn]:
    result = data.get("result")
    if type(result) is dict:
        found = next((result[key] for key in _RESULTS if result.get(key) is not None), None)
        text = flat(found if found is not None else [result] if result else None)
    elif result is not None:
        text = flat(result)
    else:
        text = _error(data.get("error"))
    return [answered(data.get("toolCallId"), text, failed=_failed(data))]


def _error(error: object) -> str:
    if type(error) is dict and error.get("message") is not None:
        return flat(error["message"])
    return flat(error)


def _failed(data: dict[str, Any]) -> bool:
    """Say whether a call failed; `success: true` beside an exit code other than 0 is normal."""
    holders = (data, data.get("result"))
    shells = [holder.get("shellExecution") for holder in holders if type(holder) is dict]
    codes = [shell.get("exitCode") for shell in shells if type(shell) is dict]
    return data.get("success") is False or any(type(code) is int and code != 0 for code in codes)
