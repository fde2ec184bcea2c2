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
    """The messages that stand so far: per message its place in the source and the hashes of its ids, 32 bytes.

    Values are read again at the end, but for those that share a line with others or stand in a document.
    """

    def __init__(self) -> None:
        self.offsets = array("q")
        self.numbers = array("q")
        self.inner = array("q")
        """Number in the list of a `$set`, -1 for a record of its own."""
        self.keys = array("q")
        self.names = array("q")
        self.kinds: list[str] = []
        self.kind_numbers = array("H")
        self.held: dict[int, Record] = {}
        self.by_key = _Slots()
        self.by_name = _Slots()
        self.last_byte: int | None = None

    def put(self, record: Record, inner: int = -1) -> Iterator[Outcome]:
        """Take a message; yield the one that it replaces."""
        value = record.value
        rid, kind = name_of(value.get("id")), text_of(value.get("type"))
        shares_line = inner < 0 and record.byte is not None and record.byte == self.last_byte
        self.last_byte = record.byte
        key = hash((rid, kind)) or 1
        name = hash(rid) or 1
        slot = self.by_key.get(key) if rid is not None else -1
        if 0 <= slot < len(self.keys) and self.keys[slot] == key:
            yield self.record(slot), (), MERGED
        else:
            slot = len(self.keys)
            for column in (self.offsets, self.numbers, self.inner, self.keys, self.names, self.kind_numbers):
                column.append(0)
        self.keys[slot], self.names[slot] = (key, name) if rid is not None else (0, 0)
        self.kind_numbers[slot] = self._kind(kind)
        self.inner[slot] = inner
        self.held.pop(slot, None)
        if record.byte is None or shares_line or type(record.at) is not int:
            self.held[slot] = record
        else:
            self.offsets[slot], self.numbers[slot] = record.byte, record.at
        if rid is not None:
            self.by_key.put(key, slot)
            known = self.by_name.get(name)
            if not (0 <= known < slot and self.names[known] == name):
                self.by_name.put(name, slot)

    def _kind(self, kind: str) -> int:
        if kind not in self.kinds:
            if len(self.kinds) >= 1000:
                return 0
            self.kinds.append(kind)
        return self.kinds.index(kind)

    def record(self, slot: int) -> Record:
        """Return a message without its value, for the count."""
        if slot in self.held:
            return self.held[slot]
        return Record(None, self.numbers[slot], self.offsets[slot], self.kinds[self.kind_numbers[slot]])

    def rewind(self, rid: object) -> Iterator[Outcome]:
        """Drop the message with this id and all after it."""
        name = hash(name_of(rid)) or 1
        slot = self.by_name.get(name)
        if 0 <= slot < len(self.names) and self.names[slot] == name:
            yield from self.drop_from(slot)

    def drop_from(self, first: int) -> Iterator[Outcome]:
        """Drop the messages from a slot on."""
        for slot in range(first, len(self.keys)):
            yield self.record(slot), (), MERGED
            self.held.pop(slot, None)
        for column in (self.offsets, self.numbers, self.inner, self.keys, self.names, self.kind_numbers):
            del column[first:]

    def final(self, source: Source) -> Iterator[Record]:
        """Yield the messages that stand at the end, with their values."""
        at, value = -1, {}
        for slot in range(len(self.keys)):
            record = self.record(slot)
            if slot not in self.held:
                if self.offsets[slot] != at:
                    at, value = self.offsets[slot], source.value_at_place(record)
                inner = self.inner[slot]
                record.value = value if inner < 0 else value["$set"]["messages"][inner]
            yield record


class _Slots:
    """A map from hashes to slots that costs some thirty bytes for each; a later slot replaces an earlier one."""

    def __init__(self) -> None:
        self._mask = 1023
        self._keys = array("q", bytes(8 * 1024))
        self._slots = array("q", bytes(8 * 1024))
        self._count = 0

    def get(self, key: int) -> int:
        """Return the slot of a hash, -1 if there is none."""
        index = self._index(key)
        return self._slots[index] if self._keys[index] else -1

    def put(self, key: int, slot: int) -> None:
        """Set the slot of a hash that is not 0."""
        index = self._index(key)
        self._count += not self._keys[index]
        self._keys[index], self._slots[index] = key, slot
        if self._count * 3 > self._mask * 2:
            self._grow()

    def _index(self, key: int) -> int:
        index = (key ^ key >> 32) & self._mask
        while self._keys[index] not in (0, key):
            index = (index + 1) & self._mask
        return index

    def _grow(self) -> None:
        keys, slots = self._keys, self._slots
        self._mask = self._mask * 2 + 1
        self._keys = array("q", bytes(8 * (self._mask + 1)))
        self._slots = array("q", bytes(8 * (self._mask + 1)))
        for key, slot in zip(keys, slots, strict=True):
            if key:
                index = self._index(key)
                self._keys[index], self._slots[index] = key, slot


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
