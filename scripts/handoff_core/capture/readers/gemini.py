"""Reads sessions of the Gemini CLI, whose records replace each other: the final state counts (formats.md 5)."""

from __future__ import annotations

from array import array

from handoff_core.capture.blocks import IMAGE, compact, flat, text_of
from handoff_core.capture.turns import (
    AGENT,
    MERGED,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Known,
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

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Session, Turn

_CLASSES = {
    "user": (USER, "text"),
    "gemini": (AGENT, "text"),
    "info": (OTHER, "notice"),
    "warning": (OTHER, "notice"),
    "error": (OTHER, "error"),
}
_CONTEXTS = ("<session_context>", "<environment_context>")
_TOKENS = (("input", "input"), ("output", "output"), ("cache_read", "cached"), ("reasoning", "thoughts"))
_FAILED = ("error", "cancelled")


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcomes of what is replaced or no message as it comes, then those of the final messages in order."""
    state = _State()
    if source.shape == "lines":
        yield from _from_lines(source, session, state)
    else:
        yield from _from_document(source, session, state)
    reader = _Reader(session)
    for record in state.final(source):
        reader.left_out = False
        turns = reader.turns(record.value)
        yield record, turns, USED if turns else MERGED if reader.left_out else SKIPPED


def _from_lines(source: Source, session: Session, state: _State) -> Iterator[Outcome]:
    for record in source.records():
        value = record.value
        if type(value) is not dict:
            yield record, (), SKIPPED
        elif _is_message(value):
            yield from state.put(record)
        else:
            _facts(value, session)
            record.kind = next((name for name in ("$set", "$rewindTo") if name in value), record.kind)
            yield record, (), SKIPPED
            yield from _change(value, record, state)


def _change(value: dict[str, Any], record: Record, state: _State) -> Iterator[Outcome]:
    """Yield what a `$set` of messages or a `$rewindTo` replaces or drops."""
    if "$rewindTo" in value:
        yield from state.rewind(value["$rewindTo"])
    changes = value.get("$set")
    messages = changes.get("messages") if type(changes) is dict else None
    if type(messages) is not list:
        return
    yield from state.drop_from(0)
    for index, message in enumerate(messages):
        inner = Record(message, record.at, record.byte)
        if type(message) is dict and _is_message(message):
            yield from state.put(inner, index)
        else:
            yield inner, (), SKIPPED


def _from_document(source: Source, session: Session, state: _State) -> Iterator[Outcome]:
    document = source.document()
    value = document if type(document) is dict else {"messages": document}
    _facts(value, session)
    messages = value.get("messages")
    for index, message in enumerate(messages if type(messages) is list else ()):
        record = Record(message, f"/messages/{index}")
        if type(message) is dict:
            yield from state.put(record)
        else:
            yield record, (), SKIPPED


def _is_message(value: dict[str, Any]) -> bool:
    return type(value.get("type")) is str and "$set" not in value and "$rewindTo" not in value


def _facts(value: dict[str, Any], session: Session) -> None:
    changes = value.get("$set")
    for holder in (value, changes if type(changes) is dict else {}):
        session.found_id(holder.get("sessionId"))
        for name in ("cwd", "projectRoot", "directory"):
            session.found_folder(holder.get(name))


class _State:
    """The messages that stand so far: per message its place in the source and a hash of its id, some thirty bytes.

    Values are read again at the end, but for those that share a line with others or stand in a document.
    """

    def __init__(self) -> None:
        self.offsets = array("q")
        self.numbers = array("l")
        self.ids = array("q")
        """Hash of the id, 0 without one."""
        self.kinds = array("H")
        """Number of the kind in `kind_names`."""
        self.kind_names: list[str] = []
        self.inner: dict[int, int] = {}
        """Number in the list of a `$set`, for the messages that come from one."""
        self.held: dict[int, Record] = {}
        self.by_id = _Slots(self.ids)
        self.others: dict[tuple[int, int], int] = {}
        """Slots of messages whose id an earlier message of another kind has, by id and kind; hardly any."""
        self.last_byte: int | None = None

    def put(self, record: Record, inner: int = -1) -> Iterator[Outcome]:
        """Take a message; yield the one that it replaces."""
        rid = name_of(record.value.get("id"))
        key = 0 if rid is None else hash(rid) or 1
        kind = self._kind(text_of(record.value.get("type")))
        shares_line = inner < 0 and record.byte is not None and record.byte == self.last_byte
        self.last_byte = record.byte
        slot = self._standing(key, kind) if key else -1
        if slot >= 0:
            yield self.record(slot), (), MERGED
            self.held.pop(slot, None)
            self.inner.pop(slot, None)
        else:
            slot = self._append(key, kind)
        if record.byte is None or shares_line or type(record.at) is not int:
            self.held[slot] = record
        else:
            self.offsets[slot], self.numbers[slot] = record.byte, record.at
            if inner >= 0:
                self.inner[slot] = inner

    def _kind(self, kind: str) -> int:
        if kind not in self.kind_names:
            if len(self.kind_names) >= 1000:
                return 0
            self.kind_names.append(kind)
        return self.kind_names.index(kind)

    def _standing(self, key: int, kind: int) -> int:
        """Return the slot of the message with this id and kind, -1 if none stands."""
        slot = self.by_id.get(key)
        if slot < 0 or self.kinds[slot] == kind:
            return slot
        slot = self.others.get((key, kind), -1)
        return slot if slot < len(self.ids) and self.ids[slot] == key and self.kinds[slot] == kind else -1

    def _append(self, key: int, kind: int) -> int:
        slot = len(self.ids)
        first = self.by_id.get(key) if key else -1
        for column, value in zip(self._columns(), (0, 0, key, kind), strict=True):
            column.append(value)
        if first >= 0:
            self.others[key, kind] = slot
        elif key:
            self.by_id.add(slot)
        return slot

    def _columns(self) -> tuple[array[int], ...]:
        return self.offsets, self.numbers, self.ids, self.kinds

    def record(self, slot: int) -> Record:
        """Return a message without its value, for the count."""
        if slot in self.held:
            return self.held[slot]
        return Record(None, self.numbers[slot], self.offsets[slot], self.kind_names[self.kinds[slot]])

    def rewind(self, rid: object) -> Iterator[Outcome]:
        """Drop the message with this id and all after it."""
        name = name_of(rid)
        slot = self.by_id.get(hash(name) or 1) if name is not None else -1
        if slot >= 0:
            yield from self.drop_from(slot)

    def drop_from(self, first: int) -> Iterator[Outcome]:
        """Drop the messages from a slot on."""
        for slot in range(first, len(self.ids)):
            yield self.record(slot), (), MERGED
            self.held.pop(slot, None)
            self.inner.pop(slot, None)
        for column in self._columns():
            del column[first:]

    def final(self, source: Source) -> Iterator[Record]:
        """Yield the messages that stand at the end, with their values."""
        at, value = -1, {}
        for slot in range(len(self.ids)):
            record = self.record(slot)
            if slot not in self.held:
                if self.offsets[slot] != at:
                    at, value = self.offsets[slot], source.value_at_place(record)
                inner = self.inner.get(slot, -1)
                record.value = value if inner < 0 else value["$set"]["messages"][inner]
            yield record


class _Slots:
    """Finds the first slot whose hash is a given one, in a column of hashes that grows and is cut at its end.

    The table holds slot numbers alone, four bytes each. An entry of a slot that was cut away, or that holds another
    hash by now, is passed over.
    """

    def __init__(self, column: array[int]) -> None:
        self._column = column
        self._table = array("i", [-1]) * 1024
        self._count = 0

    def get(self, key: int) -> int:
        """Return the first slot with a hash, -1 if there is none."""
        column, table, mask = self._column, self._table, len(self._table) - 1
        index = (key ^ key >> 32) & mask
        while (slot := table[index]) >= 0:
            if slot < len(column) and column[slot] == key:
                return slot
            index = (index + 1) & mask
        return -1

    def add(self, slot: int) -> None:
        """Add a slot whose hash no other slot has."""
        if self._count * 3 > len(self._table) * 2:
            self._rebuild()
            return
        self._insert(slot)

    def _insert(self, slot: int) -> None:
        key, mask = self._column[slot], len(self._table) - 1
        index = (key ^ key >> 32) & mask
        while self._table[index] >= 0 and self._table[index] != slot:
            index = (index + 1) & mask
        self._count += self._table[index] < 0
        self._table[index] = slot

    def _rebuild(self) -> None:
        """Enter every slot that stands anew, the first of each hash; there is room for twice as many."""
        size = 1024
        while size < len(self._column) * 2:
            size *= 2
        self._table, self._count = array("i", [-1]) * size, 0
        for slot, key in enumerate(self._column):
            if key and self.get(key) < 0:
                self._insert(slot)


class _Reader:
    """What is remembered from message to message."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.answered = Known()
        """Ids of calls that have their result."""
        self.left_out = False
        """Whether a part of the message was left out because it was captured before."""

    def turns(self, value: dict[str, Any]) -> list[Turn]:
        """Return the turns of a message: thoughts, text, calls with their results."""
        class_, kind = _CLASSES.get(text_of(value.get("type")), (OTHER, "system"))
        rid, model = name_of(value.get("id")), name_of(value.get("model"))
        self.session.found_model(model)
        tokens = value.get("tokens")
        if type(tokens) is dict:
            self.session.count_tokens(rid, {name: tokens.get(key) for name, key in _TOKENS})
        calls = [call for call in _list(value.get("toolCalls")) if type(call) is dict]
        thoughts = [_subject(item) for item in _list(value.get("thoughts")) if type(item) is dict]
        turns = [thought("\n".join(thoughts))]
        for part in _parts(value.get("content")):
            turns += self.part(part, class_, kind, calls, thoughts=bool(thoughts))
        for call in calls:
            turns += self.call(call)
        turns = joined(turns)
        stamp(turns, time_of(value.get("timestamp")), rid, model)
        return turns

    def part(self, part: Any, class_: str, kind: str, calls: list[dict[str, Any]], *, thoughts: bool) -> list[Turn]:
        """Return the turns of one part of the content."""
        if type(part) is str:
            return [_text(part, class_, kind)]
        if part.get("thought") is True:
            return [] if thoughts else [thought(text_of(part.get("text")))]
        call, response = part.get("functionCall"), part.get("functionResponse")
        if type(call) is dict:
            return [] if _stands_among(call, calls) else [called(call.get("name"), call.get("id"), call.get("args"))]
        if type(response) is dict:
            return self.response(response)
        if "text" in part:
            return [_text(text_of(part["text"]), class_, kind)]
        mark = _media(part)
        return [said(class_, mark, kind)] if mark else []

    def response(self, response: dict[str, Any]) -> list[Turn]:
        """Return the result in a part of its own, nothing where the call has its result."""
        call = name_of(response.get("id"))
        if call is not None and call in self.answered:
            self.left_out = True
            return []
        if call is not None:
            self.answered.add(call)
        return [answered(call, _response(response))]

    def call(self, call: dict[str, Any]) -> list[Turn]:
        """Return a call and, when it is there, its result."""
        rid, ts = name_of(call.get("id")), time_of(call.get("timestamp"))
        turns = [called(call.get("name"), rid, call.get("args"))]
        result = call.get("result")
        if result is not None:
            turns.append(answered(rid, _result(result), failed=call.get("status") in _FAILED))
            if rid is not None:
                self.answered.add(rid)
        for turn in turns:
            turn.ts = ts
        return turns


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _parts(content: Any) -> list[Any]:
    """Return the parts of a content: a text, a part, or a list of both."""
    parts = content if type(content) is list else [content]
    return [part for part in parts if type(part) in (str, dict)]


def _subject(item: dict[str, Any]) -> str:
    return "\n".join(filter(None, (text_of(item.get("subject")), text_of(item.get("description")))))


def _text(text: str, class_: str, kind: str) -> Turn:
    if class_ == USER and text.lstrip("\ufeff \t\r\n").startswith(_CONTEXTS):
        return said(OTHER, text, "notice")
    return said(class_, text, kind)


def _stands_among(call: dict[str, Any], calls: list[dict[str, Any]]) -> bool:
    """Say whether a `functionCall` part has its entry in `toolCalls`: by id, without one by name."""
    if call.get("id") is not None:
        return any(call["id"] == other.get("id") for other in calls)
    return any(call.get("name") == other.get("name") for other in calls)


def _media(part: dict[str, Any]) -> str:
    for name in ("inlineData", "fileData", "inline_data", "file_data"):
        data = part.get(name)
        if type(data) is dict:
            mime = text_of(data.get("mimeType")) or text_of(data.get("mime_type"))
            shown = text_of(data.get("displayName")) or mime or text_of(data.get("fileUri")) or "file"
            return IMAGE if mime.startswith("image/") else f"[file: {shown}]"
    return ""


def _result(result: Any) -> str:
    """Return the text of a call's result: a text, or parts, one per line."""
    return "\n".join(map(_result_part, result if type(result) is list else [result]))


def _result_part(part: Any) -> str:
    if type(part) is not dict:
        return flat([part])
    response = part.get("functionResponse")
    if type(response) is dict:
        return _response(response)
    return text_of(part.get("text")) or _media(part) or compact(part)


def _response(response: dict[str, Any]) -> str:
    inner = response.get("response")
    if type(inner) is not dict:
        return flat(inner)
    for name in ("output", "error", "content"):
        if inner.get(name) is not None:
            return flat(inner[name])
    return compact(inner)
