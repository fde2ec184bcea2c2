"""Reads session logs of the DeepSeek Harness (formats.md 11)."""

from __future__ import annotations

from handoff_core.capture.blocks import flat, plain, text_of, turns_of
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
    stamp,
    time_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Record, Session, Turn


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every record, in file order."""
    reader = _Reader(session)
    for record in source.records():
        yield reader.outcome(record)


class _Reader:
    """What is remembered from record to record."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known = Known()
        self.kinds = {
            "user/message": _prompt,
            "assistant/message": self.answer,
            "tool/call": _call,
            "tool/result": _results,
        }

    def outcome(self, record: Record) -> Outcome:
        """Return what a record gives; a call or a result counts where its id comes first."""
        value = record.value
        kind = value.get("type") if type(value) is dict else None
        if kind == "session":
            self.session.found_id(value.get("id"))
            self.session.found_folder(value.get("cwd"))
        take = self.kinds.get(kind) if type(kind) is str else None
        data = value.get("data") if take else None
        if take is None or type(data) is not dict:
            return record, (), SKIPPED
        found = joined(take(data))
        turns = [turn for turn in found if self.is_new(turn)]
        if not turns:
            return record, (), MERGED if found else SKIPPED
        stamp(turns, time_of(value.get("time")), name_of(data.get("id")), self.session.model or None)
        return record, turns, USED

    def is_new(self, turn: Turn) -> bool:
        """Say whether a turn is no call or result whose id came before."""
        if turn.call is None:
            return True
        key = (turn.kind, turn.call)
        if key in self.known:
            return False
        self.known.add(key)
        return True

    def answer(self, data: dict[str, Any]) -> list[Turn]:
        """Return the turns of what the agent said, thought and called."""
        message = _message(data)
        source = message.get("source")
        if type(source) is dict:
            self.session.found_model(source.get("model"))
        return turns_of(message.get("content"), plain(AGENT))


def _message(data: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a record, which holds it or is it."""
    message = data.get("message")
    return message if type(message) is dict else data


def _prompt(data: dict[str, Any]) -> list[Turn]:
    message = _message(data)
    source = data.get("source") or message.get("source")
    typed = type(source) is dict and source.get("kind") == "user"
    return turns_of(message.get("content"), plain(USER) if typed else plain(OTHER, "notice"))


def _call(data: dict[str, Any]) -> list[Turn]:
    return [called(data.get("name"), data.get("callId") or data.get("id"), data.get("arguments"))]


def _results(data: dict[str, Any]) -> Iterable[Turn]:
    message = _message(data)
    source = message.get("source")
    call = name_of(source.get("callId")) if type(source) is dict else None
    content = message.get("content")
    for block in content if type(content) is list else ():
        if type(block) is dict and block.get("type") == "tool-result":
            failed = block.get("isError") is True
            yield answered(block.get("toolCallId") or call, flat(block.get("content")), failed=failed)
        elif type(block) is dict and text_of(block.get("text")):
            yield answered(call, text_of(block.get("text")))
