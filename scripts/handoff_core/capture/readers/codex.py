"""Reads rollouts of Codex, from bare items to the newest envelope (formats.md 4)."""

from __future__ import annotations

import re

from handoff_core.capture.blocks import flat, plain, text_of, turns_of
from handoff_core.capture.jsonlines import BLANKS, REFUSED, scan
from handoff_core.capture.turns import (
    AGENT,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Record,
    Turn,
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
    from handoff_core.capture.turns import Outcome, Session

_NOTICES = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<recommended_plugins>",
    "<codex_internal_context",
    "<goal_context>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<user_action>",
    "<skill>",
    "<plugins_instructions>",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<personality_spec>",
)
_TOKENS = (
    ("input", "input_tokens"),
    ("cache_read", "cached_input_tokens"),
    ("output", "output_tokens"),
    ("reasoning", "reasoning_output_tokens"),
)
_EXIT = re.compile(r"Exit code: (-?\d+)")
_EXITED = re.compile(r"^Process exited with code (-?\d+)", re.MULTILINE)
_HEAD_LINES = 7
KINDS_KEPT = 1000


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every record; events give turns only where the whole file has no item that gives one."""
    reader = _Reader(session, with_events=not _has_items(source))
    for record in source.records():
        yield reader.outcome(record)


def _has_items(source: Source) -> bool:
    """Say whether an item gives a turn; the look ahead ends at the first one, which stands near the beginning."""
    return any(joined(_item(item)) for item in map(_item_of, source.peek()) if item is not None)


def _item_of(record: Record) -> dict[str, Any] | None:
    """Return the item of a record, in its envelope or bare, None if it is something else."""
    value = record.value
    if type(value) is not dict:
        return None
    if "payload" in value:
        payload = value["payload"]
        return payload if value.get("type") == "response_item" and type(payload) is dict else None
    if "type" not in value:
        return value if type(value.get("role")) is str else None
    return value if type(value["type"]) is str and "record_type" not in value else None


class _Reader:
    """What is remembered from record to record."""

    def __init__(self, session: Session, *, with_events: bool) -> None:
        self.session = session
        self.with_events = with_events
        self.model: str | None = None
        self.has_meta = False
        self.kinds: dict[tuple[object, str], str] = {}
        """Kinds of records as the manifest names them, by the types of envelope and payload."""

    def outcome(self, record: Record) -> Outcome:
        """Return what a record gives."""
        value = record.value
        if type(value) is not dict:
            return record, (), SKIPPED
        payload = value.get("payload")
        if type(payload) is dict:
            outer, inner = value.get("type"), payload.get("type")
            if type(inner) is str:
                record.kind = self.kinds.get((outer, inner)) or self.kind(outer, inner)
            turns = self.enveloped(outer, payload)
        else:
            item = _item_of(record)
            turns = _item(item) if item is not None else []
            self.header(value)
            payload = value
        turns = joined(turns) if turns else turns
        if not turns:
            return record, (), SKIPPED
        stamp(turns, time_of(value.get("timestamp")), name_of(payload.get("id")), self.model)
        return record, turns, USED

    def kind(self, outer: object, inner: str) -> str:
        """Return the raw kind of an enveloped record, and remember it."""
        kind = f"{outer if type(outer) is str else ''}/{inner}"
        if len(self.kinds) < KINDS_KEPT and type(outer) is str:
            self.kinds[outer, inner] = kind
        return kind

    def enveloped(self, kind: object, payload: dict[str, Any]) -> list[Turn]:
        """Return the turns of what stands in an envelope, by the envelope's kind."""
        if kind == "response_item":
            return _item(payload)
        if kind == "event_msg":
            return self.event(payload)
        if kind == "turn_context":
            self.context(payload)
        elif kind == "session_meta":
            self.meta(payload)
        elif kind == "compacted":
            return [said(OTHER, text_of(payload.get("message")), "compaction")]
        return []

    def header(self, value: dict[str, Any]) -> None:
        """Take the id from the header line of the oldest form."""
        if "type" not in value and "record_type" not in value:
            self.session.found_id(value.get("id"))

    def meta(self, payload: dict[str, Any]) -> None:
        """Take the facts of the first `session_meta`; a second one belongs to a parent."""
        if self.has_meta:
            return
        self.has_meta = True
        self.session.found_id(payload.get("id"))
        self.session.found_folder(payload.get("cwd"))
        base = payload.get("history_base")
        if type(base) is dict:
            self.session.history_elsewhere(base.get("end_ordinal_exclusive"), _thread(base))

    def context(self, payload: dict[str, Any]) -> None:
        """Take the model of the turns that follow."""
        self.model = name_of(payload.get("model")) or self.model
        self.session.found_model(payload.get("model"))
        self.session.found_folder(payload.get("cwd"))

    def event(self, payload: dict[str, Any]) -> list[Turn]:
        """Return the turn of an event where no item mirrors it; count tokens."""
        kind = payload.get("type")
        if kind == "token_count":
            self.tokens(payload.get("info"))
        if not self.with_events:
            return []
        if kind == "user_message":
            text = text_of(payload.get("message"))
            return [said(OTHER, text, "notice") if _is_notice(text) else said(USER, text)]
        if kind == "agent_message":
            return [said(AGENT, text_of(payload.get("message")))]
        if kind == "agent_reasoning":
            return [thought(text_of(payload.get("text")))]
        return []

    def tokens(self, info: object) -> None:
        """Count cumulative totals."""
        total = info.get("total_token_usage") if type(info) is dict else None
        if type(total) is dict:
            self.session.count_total({kind: total.get(name) for kind, name in _TOKENS})


def _thread(base: dict[str, Any]) -> str:
    for key in ("thread_id", "threadId", "conversation_id", "id", "session_id"):
        if type(base.get(key)) is str:
            return str(base[key])
    return "another one"


def _item(item: dict[str, Any]) -> list[Turn]:
    kind = item.get("type")
    if kind == "message" or (kind is None and type(item.get("role")) is str):
        return _message(item)
    if type(kind) is not str:
        return []
    if kind == "reasoning":
        return [thought(text) for text in (*_texts(item.get("summary")), *_texts(item.get("content")))]
    if kind.endswith("_call"):
        call = item.get("call_id") or item.get("id")
        return [called(item.get("name") or kind.removesuffix("_call"), call, _first(item, _ARGUMENTS))]
    if kind.endswith(("_output", "_result")):
        text, failed = _output(_first(item, _OUTPUTS))
        return [answered(item.get("call_id"), text, failed=failed)]
    return []


_ARGUMENTS = ("arguments", "input", "action", "execution")
_OUTPUTS = ("output", "result", "tools", "content")


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        found = item.get(key)
        if found is not None:
            return found
    return None


def _texts(parts: object) -> list[str]:
    """Return the texts of a summary or a content: a text, or a list of texts and blocks."""
    if type(parts) is str:
        return [parts]
    if type(parts) is not list:
        return []
    return [part if type(part) is str else text_of(part.get("text")) for part in parts if type(part) in (str, dict)]


_ANSWER, _TYPED, _PROMPT_OF_THE_CLIENT = plain(AGENT), plain(USER), plain(OTHER, "system")


def _message(item: dict[str, Any]) -> list[Turn]:
    role = item.get("role")
    if role == "assistant":
        return turns_of(item.get("content"), _ANSWER)
    if role != "user":
        return turns_of(item.get("content"), _PROMPT_OF_THE_CLIENT)
    turns = joined(turns_of(item.get("content"), _TYPED))
    first = next((turn.text for turn in turns if turn.class_ == USER), "")
    if _is_notice(first) or _put_in(item):
        for turn in turns:
            if turn.class_ == USER:
                turn.class_, turn.kind = OTHER, "notice"
    return turns


def _is_notice(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith(_NOTICES)


def _put_in(item: dict[str, Any]) -> bool:
    """Say whether the client's own marks name no part that the person typed."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if type(passed) is dict else None
    return type(kinds) is list and not any(type(kind) is str and kind.startswith("user.") for kind in kinds)


def _output(output: Any) -> tuple[str, bool]:
    """Return the text of an output, and whether it says that the call failed."""
    if type(output) is str:
        return _output_text(output)
    if type(output) is dict:
        inner = _first(output, ("content", "output", "content_items"))
        failed = output.get("success") is False or _failed(output)
        return flat(inner if inner is not None else [output] if output else None), failed
    return flat(output), False


def _output_text(text: str) -> tuple[str, bool]:
    if text.startswith("{"):
        try:
            value, end = scan(text, 0)
        except REFUSED:
            return text, False
        if text[end:].strip(BLANKS):
            return text, False
        if type(value) is dict and type(value.get("output")) is str:
            return value["output"], _failed(value)
    begun = _EXIT.match(text)
    if begun is None and "Process exited with code " in text[:4096]:
        begun = _EXITED.search("\n".join(text[:4096].split("\n", _HEAD_LINES)[:_HEAD_LINES]))
    return text, begun is not None and int(begun.group(1)) != 0


def _failed(value: dict[str, Any]) -> bool:
    metadata = value.get("metadata")
    code = metadata.get("exit_code") if type(metadata) is dict else None
    return type(code) is int and code != 0
