"""Reads threads out of `desktop-v2.db` of the desktop client (formats.md 11); fields vary, what is there counts."""

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

_CLASSES = {"user": (USER, "text"), "assistant": (AGENT, "text")}
_FOLDERS = ("cwd", "directory", "project_dir", "project_path", "projectPath", "projectDir", "workspace", "root", "path")
_UPDATED = ("updated_at", "updatedAt", "time_updated", "last_message_at", "lastMessageAt", "updated")
_THREADS = ("thread_id", "threadId", "threadID", "thread")


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every message of one thread, in the order of its numbers."""
    columns = source.tables()
    database = source.database()
    try:
        wanted = _thread(source, database, columns["threads"], session)
        for record in _rows(source, database, columns["messages"], wanted):
            value = record.value
            turns = joined(_turns(value))
            stamp(turns, time_of(value["ts"]), name_of(value["id"]), name_of(value["model"]))
            session.found_model(value["model"])
            yield record, turns, USED if turns else SKIPPED
    finally:
        database.close()


def sessions(source: Any) -> list[Listed]:
    """Return the threads of a database."""
    columns = source.tables()
    database = source.database()
    try:
        return _threads(database, columns["threads"])
    finally:
        database.close()


def _threads(database: Database, columns: set[str]) -> list[Listed]:
    folder = next((name for name in _FOLDERS if name in columns), "NULL")
    updated = next((name for name in _UPDATED if name in columns), "NULL")
    statement = f"SELECT id, NULL, {folder}, {updated} FROM threads ORDER BY id"  # noqa: S608 - names of ours
    return [Listed(*row) for row in database.rows(statement)]


def _thread(source: Source, database: Database, columns: set[str], session: Session) -> str:
    listed = _threads(database, columns)
    wanted = chosen(source.name, [item.id for item in listed], session.wanted)
    session.found_id(wanted)
    session.found_folder(next(item.folder for item in listed if item.id == wanted))
    return wanted


def _rows(source: Source, database: Database, columns: set[str], thread: str) -> Iterator[Record]:
    """Yield the messages of a thread as objects with id, role, time, model and parts."""
    names = [name if name in columns else "NULL" for name in ("seq", "id", "role", "ts", "model", "parts_json")]
    owner = next((name for name in _THREADS if name in columns), "thread_id")
    order = "seq" if "seq" in columns else "rowid"
    statement = f"SELECT {', '.join(names)} FROM messages WHERE {owner} = ? ORDER BY {order}"  # noqa: S608 - ours
    for seq, key, role, ts, model, text in database.rows(statement, thread):
        at = f"messages:{seq if key is None else key}"
        parts = column(source, text, at) if text else []
        if parts is not None:
            value = {"id": key, "role": role, "ts": ts, "model": model, "parts": parts}
            yield Record(value, at, kind=text_of(role))


def _turns(value: dict[str, Any]) -> list[Turn]:
    class_, kind = _CLASSES.get(text_of(value["role"]), (OTHER, "system"))
    parts = value["parts"] if type(value["parts"]) is list else [value["parts"]]
    return [turn for part in parts if type(part) is dict for turn in _part(part, class_, kind)]


def _part(part: dict[str, Any], class_: str, kind: str) -> list[Turn]:
    type_ = part.get("kind") or part.get("type")
    if type_ == "text":
        return [said(class_, flat(_first(part, ("text", "content"))), kind)]
    if type_ in ("reasoning", "thinking"):
        return [thought(flat(_first(part, ("text", "reasoning", "content"))))]
    if type_ == "tool":
        return _tool(part)
    if type_ == "changes":
        return [said(OTHER, flat(_first(part, ("diff", "patch", "text", "changes", "files", "content"))), "notice")]
    return []


def _tool(part: dict[str, Any]) -> list[Turn]:
    """Return a call and, when it is there, its result."""
    call = _first(part, ("toolCallId", "callId", "id"))
    turns = [called(_first(part, ("toolName", "tool", "name")), call, _first(part, ("input", "args", "arguments")))]
    result = _first(part, ("output", "result", "error"))
    if result is not None:
        failed = part.get("status") == "error" or part.get("isError") is True or bool(part.get("error"))
        turns.append(answered(call, flat(result), failed=failed))
    return turns


def _first(part: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((part[name] for name in names if part.get(name) is not None), None)
