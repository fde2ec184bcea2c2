"""Reads sessions of Goose, from lines or out of its database (formats.md 11)."""

from __future__ import annotations

from handoff_core.capture.blocks import flat, text_of
from handoff_core.capture.sessions import Listed, chosen, column
from handoff_core.capture.turns import (
    AGENT,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Record,
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

    from handoff_core.capture.database import Database
    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Session, Turn

_TOLD = {
    "systemNotification": "notice",
    "contextLengthExceeded": "notice",
    "summarizationRequested": "notice",
    "conversationCompacted": "compaction",
}
_CLASSES = {"user": (USER, "text"), "assistant": (AGENT, "text")}


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every message."""
    for record in source.records() if source.shape == "lines" else _rows(source, session):
        value = record.value
        if type(value) is not dict:
            yield record, (), SKIPPED
            continue
        if "role" not in value:
            session.found_id(value.get("id"))
            session.found_folder(value.get("working_dir"))
        turns = joined(_turns(value))
        stamp(turns, time_of(value.get("created")), name_of(value.get("id")))
        yield record, turns, USED if turns else SKIPPED


def sessions(source: Any) -> list[Listed]:
    """Return the sessions of a database."""
    database = source.database()
    try:
        return _listed(database, source.tables()["sessions"])
    finally:
        database.close()


def _listed(database: Database, columns: set[str]) -> list[Listed]:
    names = (name if name in columns else "NULL" for name in ("id", "working_dir", "updated_at"))
    key, folder, updated = names
    statement = f"SELECT {key}, NULL, {folder}, {updated} FROM sessions ORDER BY id"  # noqa: S608 - our names
    return [Listed(*row) for row in database.rows(statement)]


def _rows(source: Source, session: Session) -> Iterator[Record]:
    """Yield the messages of one session of the database as they would stand in lines."""
    database = source.database()
    try:
        listed = _listed(database, source.tables()["sessions"])
        wanted = chosen(source.name, [item.id for item in listed], session.wanted)
        session.found_id(wanted)
        session.found_folder(next(item.folder for item in listed if item.id == wanted))
        statement = (
            "SELECT id, message_id, role, content_json, created_timestamp, metadata_json FROM messages "
            "WHERE session_id = ? ORDER BY id"
        )
        if "message_id" not in source.tables().get("messages", ()):
            statement = statement.replace("message_id", "NULL", 1)
        for row in database.rows(statement, wanted):
            key, rid, role, content, created, metadata = row
            parts = column(source, content, f"messages:{key}")
            if parts is None:
                continue
            marks = _marks(metadata)
            value = {"id": rid, "role": role, "created": created, "content": parts, "metadata": marks}
            yield Record(value, f"messages:{key}", kind=text_of(role))
    finally:
        database.close()


def _marks(metadata: object) -> Any:
    """Return the value of a metadata column; one that is broken says nothing about its message."""
    import json

    try:
        return json.loads(metadata) if type(metadata) is str else None
    except (ValueError, RecursionError):
        return None


def _turns(value: dict[str, Any]) -> list[Turn]:
    metadata = value.get("metadata")
    hidden = type(metadata) is dict and metadata.get("userVisible") is False
    class_, kind = _CLASSES.get(text_of(value.get("role")), (OTHER, "system"))
    if hidden:
        class_, kind = OTHER, "notice"
    content = value.get("content")
    if type(content) is str:
        return [said(class_, content, kind)]
    parts = content if type(content) is list else ()
    return [turn for part in parts if type(part) is dict for turn in _part(part, class_, kind)]


def _part(part: dict[str, Any], class_: str, kind: str) -> list[Turn]:
    type_ = text_of(part.get("type"))
    if type_ in _TOLD:
        return [said(OTHER, text_of(part.get("msg")), _TOLD[type_])]
    if type_ == "text":
        return [said(class_, text_of(part.get("text")), kind)]
    if type_ in ("thinking", "reasoning"):
        return [thought(text_of(part.get("thinking")) or text_of(part.get("text")))]
    if type_ == "image":
        return [said(class_, "[image]", kind)]
    if type_ in ("toolRequest", "frontendToolRequest"):
        return [_call(part)]
    return [_result(part)] if type_ == "toolResponse" else []


def _call(part: dict[str, Any]) -> Turn:
    """Return a call; a request that is broken has neither name nor arguments."""
    request = part.get("toolCall")
    value = request.get("value") if type(request) is dict else None
    if type(value) is not dict:
        return called(None, part.get("id"), None)
    return called(value.get("name"), part.get("id"), value.get("arguments"))


def _result(part: dict[str, Any]) -> Turn:
    result = part.get("toolResult")
    if type(result) is not dict:
        return answered(part.get("id"), flat(result))
    if result.get("status") == "error":
        return answered(part.get("id"), flat(result.get("error")), failed=True)
    value = result.get("value")
    if type(value) is not dict:
        return answered(part.get("id"), flat(value))
    text = flat(value["content"] if value.get("content") is not None else [value])
    return answered(part.get("id"), text, failed=value.get("isError") is True)
