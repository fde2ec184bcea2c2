"""Reads sessions of OpenCode and Kilo: out of the database, a store folder or an export (formats.md 6)."""

from __future__ import annotations

from handoff_core.capture.blocks import IMAGE, flat, text_of
from handoff_core.capture.sessions import Listed, chosen, column
from handoff_core.capture.turns import (
    AGENT,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Absent,
    Record,
    answered,
    called,
    name_of,
    said,
    stamp,
    thought,
    time_of,
)
from handoff_core.errors import HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from handoff_core.capture.source import Folder, Source
    from handoff_core.capture.turns import Outcome, Session, Turn

    Message = tuple[dict[str, Any], str, Iterable[tuple[Any, str]]]
    """What a message says of itself, its place, and its parts with their places; a damaged part is None."""

_RESULTS = ("completed", "success", "error")
_NEWER = ("session_v2", "session_message")


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every part of the session, and with `--subagents` of the sessions below it."""
    if source.shape == "document":
        yield from _exported(source, session)
        return
    store = _store(source)
    try:
        yield from _of_sessions(source, store, session)
    finally:
        store.close()


def sessions(source: Any) -> list[Listed]:
    """Return the sessions of a database or a store folder, oldest first."""
    store = _store(source)
    try:
        return store.sessions()
    finally:
        store.close()


def _store(source: Any) -> _Store:
    return _Tables(source) if source.shape == "database" else _Files(source)


def _of_sessions(source: Source, store: _Store, session: Session) -> Iterator[Outcome]:
    listed = store.sessions()
    roots = [item.id for item in listed if not item.parent]
    wanted = chosen(source.name, [item.id for item in listed], session.wanted, roots)
    session.found_id(wanted)
    session.found_folder(next(item.folder for item in listed if item.id == wanted))
    below = _below(listed, wanted)
    for name in [wanted, *(below if session.subagents else ())]:
        for info, at, parts in store.messages(name):
            for outcome in _message(info, at, parts, session):
                for turn in outcome[1]:
                    turn.agent = None if name == wanted else name
                yield outcome
    if not session.subagents:
        session.missing_subagents += len(below)


def _below(listed: list[Listed], name: str) -> list[str]:
    """Return the sessions that stem from one, each before its own; one that is its own ancestor counts once."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        parent = waiting.pop(0)
        new = [item.id for item in listed if item.parent == parent and item.id not in (*found, name)]
        found += new
        waiting += new
    return found


def _exported(source: Source, session: Session) -> Iterator[Outcome]:
    document = source.document()
    info = document.get("info") if type(document) is dict else None
    if type(info) is dict:
        session.found_id(info.get("id"))
        session.found_folder(info.get("directory"))
    messages = document.get("messages") if type(document) is dict else None
    for index, message in enumerate(messages if type(messages) is list else ()):
        at = f"/messages/{index}"
        if type(message) is not dict:
            yield Record(message, at), (), SKIPPED
            continue
        about = message.get("info")
        parts = message.get("parts")
        placed = [(part, f"{at}/parts/{number}") for number, part in enumerate(parts if type(parts) is list else ())]
        yield from _message(about if type(about) is dict else {}, at, placed, session)


# Where messages and parts stand


class _Store:
    """A place that holds sessions."""

    def sessions(self) -> list[Listed]:
        """Return every session, oldest first."""
        raise NotImplementedError

    def messages(self, session: str) -> Iterator[Message]:
        """Yield the messages of a session in their order."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what is open."""


class _Tables(_Store):
    """The database."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.columns = source.tables()
        self.database = source.database()
        newer = [name for name in _NEWER if name in self.columns and self.has_rows(name)]
        if newer:
            self.database.close()
            raise HandoffError(
                f"{source.name}: its sessions are in the newer table {newer[0]}, which is not read yet",
                "export the session with the harness and build from that file",
            )

    def has_rows(self, table: str) -> bool:
        """Say whether a table of a known name holds a row."""
        return next(self.database.rows(f"SELECT 1 FROM {table} LIMIT 1"), None) is not None  # noqa: S608 - our names

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def sessions(self) -> list[Listed]:
        """Return every session; columns that an older database lacks are empty."""
        has = self.columns["session"]
        names = ("parent_id", "directory", "time_updated", "time_created")
        parent, folder, updated, created = (name if name in has else "NULL" for name in names)
        statement = f"SELECT id, {parent}, {folder}, {updated} FROM session ORDER BY {created}, id"  # noqa: S608 - ours
        return [Listed(*row) for row in self.database.rows(statement)]

    def messages(self, session: str) -> Iterator[Message]:
        """Yield the messages; ids are sorted first, data is fetched one row at a time."""
        order = []
        for key, data in self.database.rows("SELECT id, data FROM message WHERE session_id = ?", session):
            order.append((_created(_quietly(data)), str(key)))
        order.sort()
        parts = self.parts({key for _, key in order})
        for _, key in order:
            at = f"message:{key}"
            data = next(self.database.rows("SELECT data FROM message WHERE id = ?", key))[0]
            info = column(self.source, data, at)
            yield info if type(info) is dict else {}, at, map(self.part, parts.get(key, ()))

    def parts(self, messages: set[str]) -> dict[str, list[str]]:
        """Return the sorted ids of the parts of each message."""
        found: dict[str, list[str]] = {}
        for key, message in self.database.rows("SELECT id, message_id FROM part ORDER BY id"):
            if message in messages:
                found.setdefault(message, []).append(str(key))
        return found

    def part(self, key: str) -> tuple[Any, str]:
        """Return a part and its place."""
        at = f"part:{key}"
        data = next(self.database.rows("SELECT data FROM part WHERE id = ?", key))[0]
        value = column(self.source, data, at)
        if type(value) is dict:
            value.setdefault("id", key)
        return value, at


def _quietly(data: object) -> Any:
    """Return a JSON value for its order alone; what is damaged is counted when it is read for its content."""
    import json

    try:
        return json.loads(data) if type(data) in (str, bytes) else None  # type: ignore[arg-type]
    except (ValueError, RecursionError):
        return None


class _Files(_Store):
    """The store folder, or the folder above it."""

    def __init__(self, source: Any) -> None:
        self.source: Folder = source
        self.base = "" if source.files("session/*/*.json") else "storage/"

    def sessions(self) -> list[Listed]:
        """Return every session; one whose file is damaged is known by its name."""
        found = []
        for name in self.source.files(f"{self.base}session/*/*.json"):
            value = self.source.load(name)
            value = value if type(value) is dict else {}
            time = value.get("time")
            key = name_of(value.get("id")) or name.rpartition("/")[2].removesuffix(".json")
            updated = time.get("updated") if type(time) is dict else None
            found.append((_created(value), key, Listed(key, value.get("parentID"), value.get("directory"), updated)))
        if not found:
            raise Absent(self.source.name)
        return [item for _, _, item in sorted(found, key=lambda row: row[:2])]

    def messages(self, session: str) -> Iterator[Message]:
        """Yield the messages, sorted; their parts are read one at a time."""
        found = []
        for name in self.source.files(f"{self.base}message/{session}/*.json"):
            value = self.source.load(name)
            info = value if type(value) is dict else {}
            key = name_of(info.get("id")) or name.rpartition("/")[2].removesuffix(".json")
            found.append((_created(info), key, name, info))
        found.sort(key=lambda item: item[:2])
        loose = self.loose({key for _, key, _, _ in found})
        for _, key, name, info in found:
            files = self.source.files(f"{self.base}part/{key}/*.json")
            parts = [*loose.get(key, ()), *((self.source.load(file), file) for file in files)]
            yield info, name, sorted(parts, key=_part_order)

    def loose(self, messages: set[str]) -> dict[str, list[tuple[Any, str]]]:
        """Return the parts of older stores, which lie beside each other and name their message."""
        found: dict[str, list[tuple[Any, str]]] = {}
        for name in self.source.files(f"{self.base}part/*.json"):
            value = self.source.load(name)
            if type(value) is dict and value.get("messageID") in messages:
                found.setdefault(value["messageID"], []).append((value, name))
        return found


def _part_order(item: tuple[Any, str]) -> tuple[str, str]:
    value, name = item
    return text_of(value.get("id")) if type(value) is dict else "", name


def _created(value: Any) -> tuple[bool, float]:
    """Return the time of creation as something to sort by; what has none comes first."""
    time = value.get("time") if type(value) is dict else None
    created = time.get("created") if type(time) is dict else None
    return (True, float(created)) if isinstance(created, (int, float)) else (False, 0.0)


# What messages and parts give


def _message(info: dict[str, Any], at: str, parts: Iterable[tuple[Any, str]], session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every part of a message, and of a message without parts."""
    model = name_of(info.get("modelID")) or _inner(info.get("model"), "modelID")
    path = info.get("path")
    session.found_model(model)
    session.found_folder(path.get("cwd") if type(path) is dict else None)
    _count(info, session)
    ts = time_of(info["time"].get("created")) if type(info.get("time")) is dict else ""
    empty = True
    for part, place in parts:
        empty = False
        if part is None:
            continue
        record = Record(part, place)
        turns = _part(part, text_of(info.get("role"))) if type(part) is dict else []
        turns = [turn for turn in turns if turn.class_ == "TOOL" or turn.text.strip()]
        if turns:
            stamp(turns, _started(part) or ts, name_of(part.get("id")), model)
        yield record, turns, USED if turns else SKIPPED
    if empty:
        yield Record(info, at, kind="message"), (), SKIPPED


def _inner(value: Any, name: str) -> str | None:
    return name_of(value.get(name)) if type(value) is dict else name_of(value)


def _count(info: dict[str, Any], session: Session) -> None:
    tokens = info.get("tokens")
    if type(tokens) is not dict:
        return
    cache = tokens.get("cache")
    cached = cache if type(cache) is dict else {}
    numbers = {name: tokens.get(name) for name in ("input", "output", "reasoning")}
    session.count_tokens(
        name_of(info.get("id")), {**numbers, "cache_read": cached.get("read"), "cache_write": cached.get("write")}
    )


def _started(part: dict[str, Any]) -> str:
    time = part.get("time")
    return time_of(time.get("start")) if type(time) is dict else ""


def _part(part: dict[str, Any], role: str) -> list[Turn]:
    kind = part.get("type")
    class_, turn_kind = {"user": (USER, "text"), "assistant": (AGENT, "text")}.get(role, (OTHER, "system"))
    if kind == "text":
        if part.get("synthetic") is True or part.get("ignored") is True:
            class_, turn_kind = OTHER, "notice"
        return [said(class_, text_of(part.get("text")), turn_kind)]
    if kind == "reasoning":
        return [thought(text_of(part.get("text")))]
    if kind == "tool":
        return _tool(part)
    if kind == "file":
        return [said(USER, _file(part)) if class_ == USER else said(OTHER, _file(part), "notice")]
    return []


def _file(part: dict[str, Any]) -> str:
    mime = text_of(part.get("mime"))
    if mime.startswith("image/"):
        return IMAGE
    return f"[file: {text_of(part.get('filename')) or mime or 'file'}]"


def _tool(part: dict[str, Any]) -> list[Turn]:
    """Return a call and, when it has ended, its result, each at its own time."""
    state = part.get("state")
    state = state if type(state) is dict else {}
    time = state.get("time")
    times = time if type(time) is dict else {}
    call = called(part.get("tool"), part.get("callID"), state.get("input"))
    call.ts = time_of(times.get("start"))
    if state.get("status") not in _RESULTS:
        return [call]
    metadata = state.get("metadata")
    code = metadata.get("exit") if type(metadata) is dict else None
    failed = state["status"] == "error" or (type(code) is int and code != 0)
    text = state.get("output") if state.get("output") is not None else state.get("error")
    result = answered(part.get("callID"), flat(text), failed=failed)
    result.ts = time_of(times.get("end"))
    return [call, result]
