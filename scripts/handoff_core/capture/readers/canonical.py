"""Reads exported JSON lines and chat documents by the general table of classes (formats.md 10, capture.md 5.2)."""

from __future__ import annotations

from handoff_core.capture.blocks import compact, flat, plain, text_of, turns_of
from handoff_core.capture.turns import (
    SKIPPED,
    TOOL,
    USED,
    Record,
    Turn,
    called,
    classify,
    joined,
    name_of,
    said,
    stamp,
    time_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Session

_TEXTS = ("text", "content", "output", "message.content", "message.text", "message")
_LISTS = ("parts", "content", "output", "message.content", "message.parts")
_TIMES = ("ts", "timestamp", "created_at", "message.created_at")
_ARGUMENTS = ("arguments", "input", "args", "function.arguments")
_RESULTS = ("result", "response")


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every record."""
    for record in _records(source, session):
        yield _outcome(record, session)


def _records(source: Source, session: Session) -> Iterable[Record]:
    if source.shape == "lines":
        return source.records()
    document = source.document()
    _facts(document, session)
    return (Record(value, f"/messages/{index}") for index, value in enumerate(document["messages"]))


def _outcome(record: Record, session: Session) -> Outcome:
    value = record.value
    if type(value) is not dict:
        return record, (), SKIPPED
    _facts(value, session)
    turns = joined(_turns(value))
    if not turns:
        return record, (), SKIPPED
    ts = next((time for path in _TIMES if (time := time_of(_at(value, path)))), "")
    model = name_of(value.get("model")) or name_of(_at(value, "message.model"))
    stamp(turns, ts, name_of(value.get("id")) or name_of(value.get("uuid")), model)
    for turn in turns:
        turn.agent = name_of(value.get("agent"))
    return record, turns, USED


def _facts(value: dict[str, Any], session: Session) -> None:
    for key in ("session", "session_id", "sessionId"):
        session.found_id(value.get(key))
    session.found_harness(value.get("harness"))
    session.found_thread(value.get("thread"))
    session.found_folder(value.get("cwd"))
    session.found_model(value.get("model"))


def _at(value: dict[str, Any], path: str) -> Any:
    """Return the member at a dotted path, None where there is none."""
    found: Any = value
    for key in path.split("."):
        found = found.get(key) if type(found) is dict else None
    return found


def _turns(value: dict[str, Any]) -> list[Turn]:
    role = text_of(value.get("role")) or text_of(_at(value, "message.role"))
    kind = text_of(value.get("kind")) or text_of(value.get("type"))
    call = name_of(value.get("call_id")) or name_of(value.get("tool_call_id"))
    class_, turn_kind = classify(role, kind, has_call=call is not None)
    calls = _tool_calls(value.get("tool_calls"))
    if class_ != TOOL:
        return [*_spoken(value, class_, turn_kind), *calls]
    return [_tool(value, turn_kind, call), *calls]


def _spoken(value: dict[str, Any], class_: str, kind: str) -> list[Turn]:
    """Return the turns of a record that is no tool record; typed blocks of a list are split."""
    text = _first_text(value)
    if text:
        return [said(class_, text, kind)]
    parts = _first_list(value)
    return turns_of(parts, plain(class_, kind)) if _has_typed(parts) else [said(class_, flat(parts), kind)]


def _has_typed(parts: list[Any]) -> bool:
    """Say whether a list holds tool or thinking blocks, or attachments."""
    return any(type(part) is dict and type(part.get("type")) is str for part in parts)


def _first_text(value: dict[str, Any]) -> str:
    """Return the first text that is not blank."""
    for path in _TEXTS:
        text = _at(value, path)
        if type(text) is str and not (text.isspace() or not text):
            return text
    return ""


def _first_list(value: dict[str, Any]) -> list[Any]:
    """Return the first list that has any element."""
    for path in _LISTS:
        parts = _at(value, path)
        if type(parts) is list and parts:
            return parts
    return []


def _tool(value: dict[str, Any], kind: str, call: str | None) -> Turn:
    """Return the turn of a record that is a call, a result, or one of a log that does not tell the two apart."""
    text: Any = _first_text(value) or flat(_first_list(value))
    if not text and kind == "tool_call":
        text = next((found for path in _ARGUMENTS if (found := _at(value, path)) is not None), None)
    elif not text and kind == "tool_result":
        found = next((value[key] for key in _RESULTS if value.get(key) is not None), None)
        text = compact(found) if type(found) is dict else flat(found)
    turn = Turn(TOOL, kind, text)
    names = (value.get("tool"), value.get("tool_name"), value.get("name"), _at(value, "function.name"))
    turn.tool = next((name for name in map(name_of, names) if name), None)
    turn.call = call
    error = value.get("is_error") if value.get("is_error") is not None else value.get("error")
    turn.error = kind != "tool_call" and (error is True or (type(error) is str and bool(error)))
    return turn


def _tool_calls(calls: object) -> list[Turn]:
    if type(calls) is not list:
        return []
    return [_tool_call(entry) for entry in calls if type(entry) is dict]


def _tool_call(entry: dict[str, Any]) -> Turn:
    function = entry.get("function")
    holder = function if type(function) is dict else entry
    return called(holder.get("name"), entry.get("id"), holder.get("arguments"))
