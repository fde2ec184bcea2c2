"""Reads sessions of Claude Code and its web export (formats.md 3)."""

from __future__ import annotations

import re

from handoff_core.capture.blocks import flat, text_of, turns_of
from handoff_core.capture.turns import (
    AGENT,
    MERGED,
    OTHER,
    SKIPPED,
    USED,
    USER,
    Known,
    Record,
    Turn,
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

_SUMMARY = "This session is being continued from a previous conversation"
_NOTICES = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<system-reminder>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<teammate-message",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below",
    "[Request interrupted",
    "Stop hook feedback:",
)
_EDITOR = re.compile(r"\s*<(ide_opened_file|ide_selection|ide_diagnostics)>.*?</\1>", re.DOTALL)
_BOUNDARIES = ("compact_boundary", "microcompact_boundary")
_TOKENS = (
    ("input", "input_tokens"),
    ("output", "output_tokens"),
    ("cache_read", "cache_read_input_tokens"),
    ("cache_write", "cache_creation_input_tokens"),
)
_SPILLED = "<persisted-output>"
MESSAGES_KEPT = 16
"""Message ids whose blocks are remembered, so that growing snapshots count once."""


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every record, in file order."""
    reader = _Reader(source, session)
    for record in _records(source):
        yield reader.outcome(record)
    if not session.subagents:
        session.missing_subagents += len(reader.agents)


def _records(source: Source) -> Iterable[Record]:
    if source.shape == "lines":
        return source.records()
    return (Record(value, f"/loglines/{index}") for index, value in enumerate(source.document()["loglines"]))


class _Reader:
    """What is remembered from record to record."""

    def __init__(self, source: Source, session: Session) -> None:
        self.source = source
        self.session = session
        self.known = Known()
        self.agents: set[str] = set()
        self.messages: dict[str, set[object]] = {}
        self.kinds = {
            "user": self.user,
            "assistant": self.assistant,
            "system": _system,
            "attachment": _attachment,
            "progress": self.progress,
        }
        self.last_id: object = None

    def outcome(self, record: Record) -> Outcome:
        """Return what a record gives."""
        value = record.value
        if type(value) is not dict:
            return record, (), SKIPPED
        self.facts(value)
        message = value.get("message")
        kind = value.get("type")
        if kind is None and type(message) is dict:
            kind = message.get("role")
        take = self.kinds.get(kind) if type(kind) is str else None
        if take is None:
            return record, (), SKIPPED
        rid = name_of(value.get("uuid"))
        if rid is not None and rid in self.known:
            return record, (), MERGED
        turns = take(value)
        if turns is None:
            return record, (), MERGED
        turns = joined(turns)
        if not turns:
            return record, (), SKIPPED
        if rid is not None:
            self.known.add(rid)
        self.finish(value, turns, rid)
        return record, turns, USED

    def facts(self, value: dict[str, Any]) -> None:
        """Take id and working folder from a record."""
        found = value.get("sessionId") or value.get("session_id")
        if found is not self.last_id and found != self.last_id:
            self.last_id = found
            self.session.found_id(found)
        if not self.session.folder:
            self.session.found_folder(value.get("cwd"))

    def finish(self, value: dict[str, Any], turns: list[Turn], rid: str | None) -> None:
        """Put time, id, model and agent of the record on its turns."""
        message = value.get("message")
        model = text_of(message.get("model")) if type(message) is dict else ""
        stamp(turns, time_of(value.get("timestamp")), rid, model if model != "<synthetic>" else None)
        if value.get("isSidechain") is True:
            for turn in turns:
                turn.agent = turn.agent or name_of(value.get("agentId")) or "sidechain"

    def user(self, value: dict[str, Any]) -> list[Turn]:
        """Return the turns of a user record: prompts, notices and tool results."""
        kind = _put_in(value)
        judge = _judge if kind is None else lambda text: (said(OTHER, text, kind),)
        turns = turns_of(_content(value), judge)
        for turn in turns:
            if turn.kind == "tool_result" and turn.text.startswith(_SPILLED):
                self.unspill(turn, value.get("toolUseResult"))
        return turns

    def unspill(self, turn: Turn, result: object) -> None:
        """Put the whole text of a spilled result in place of its preview, where it is beside the session."""
        fields = result if type(result) is dict else {}
        path = text_of(fields.get("persistedOutputPath"))
        size = fields.get("persistedOutputSize")
        name = re.split(r"[/\\]", path)[-1]
        stem = self.source.name.removesuffix(".jsonl")
        whole = None
        if name not in ("", ".", ".."):
            whole = self.source.sidecar(f"{stem}/tool-results/{name}", size if type(size) is int else None)
        self.source.spilled["missing" if whole is None else "found"] += 1
        if whole is not None:
            turn.text = whole

    def assistant(self, value: dict[str, Any]) -> list[Turn] | None:
        """Return the new turns of an assistant record, None if its message had them all before."""
        message = value.get("message")
        if type(message) is not dict:
            return []
        model = message.get("model")
        self.tokens(value, message)
        failed = value.get("isApiErrorMessage") is True or model == "<synthetic>"
        if not failed and not self.session.model:
            self.session.found_model(model)
        turns = turns_of(message.get("content"), _error if failed else _answer)
        return self.fresh(message.get("id"), turns)

    def fresh(self, message_id: object, turns: list[Turn]) -> list[Turn] | None:
        """Return the turns whose block did not come before within one message."""
        if type(message_id) is not str or not turns:
            return turns
        seen = self.messages.pop(message_id, None) or set()
        self.messages[message_id] = seen
        if len(self.messages) > MESSAGES_KEPT:
            del self.messages[next(iter(self.messages))]
        new = []
        for turn in turns:
            key = (turn.kind, turn.call) if turn.call is not None else (turn.kind, hash(_key_text(turn.text)))
            if key not in seen:
                seen.add(key)
                new.append(turn)
        return new or None

    def tokens(self, value: dict[str, Any], message: dict[str, Any]) -> None:
        """Count the tokens of a record, folded by its request."""
        usage = message.get("usage")
        if type(usage) is not dict:
            return
        key = name_of(value.get("requestId")) or name_of(message.get("id"))
        self.session.count_tokens(key, {kind: usage.get(name) for kind, name in _TOKENS})

    def progress(self, value: dict[str, Any]) -> list[Turn] | None:
        """Return the turns of a subagent that stand in a progress record, with `--subagents` only."""
        data = value.get("data")
        if type(data) is not dict or data.get("type") != "agent_progress":
            return []
        agent = name_of(data.get("agentId")) or name_of(value.get("parentToolUseID")) or "sidechain"
        inner = data.get("message")
        self.agents.add(agent)
        if not self.session.subagents or type(inner) is not dict:
            return []
        _, turns, fate = self.outcome(Record({**inner, "isSidechain": True, "agentId": agent}, 0))
        return None if fate == MERGED else list(turns)


def _content(value: dict[str, Any]) -> object:
    message = value.get("message")
    return message.get("content") if type(message) is dict else None


def _key_text(text: object) -> object:
    return text if type(text) is str else repr(text)


def _put_in(value: dict[str, Any]) -> str | None:
    """Return the kind of all texts of a user record that no person typed, None if each is to be judged."""
    if value.get("isCompactSummary") is True:
        return "compaction"
    origin = value.get("origin")
    stranger = type(origin) is dict and origin.get("kind") not in (None, "human")
    if value.get("isMeta") is True or stranger or value.get("turnOrigin") == "task_notification":
        return "notice"
    return None


def _judge(text: str) -> list[Turn]:
    """Return the turns of one text under the user role, judged by its beginning."""
    turns = []
    bare = text.lstrip("\ufeff \t\r\n")
    while bare.startswith("<ide_") and (match := _EDITOR.match(bare)):
        turns.append(said(OTHER, match.group(), "notice"))
        text = bare = bare[match.end() :].lstrip("\ufeff \t\r\n")
    if bare.startswith(_SUMMARY):
        turns.append(said(OTHER, text, "compaction"))
    elif bare.startswith(_NOTICES):
        turns.append(said(OTHER, text, "notice"))
    else:
        turns.append(said(USER, text))
    return turns


def _answer(text: str) -> tuple[Turn, ...]:
    return (said(AGENT, text),)


def _error(text: str) -> tuple[Turn, ...]:
    return (said(OTHER, text, "error"),)


def _system(value: dict[str, Any]) -> list[Turn]:
    subtype = value.get("subtype")
    kind = "compaction" if subtype in _BOUNDARIES else "error" if subtype == "api_error" else "system"
    return [said(OTHER, text_of(value.get("content")), kind)]


def _attachment(value: dict[str, Any]) -> list[Turn]:
    """Return a prompt that was typed while the agent worked, or what was put in like one."""
    attachment = value.get("attachment")
    if type(attachment) is not dict or attachment.get("type") != "queued_command":
        return []
    origin = attachment.get("origin")
    stranger = type(origin) is dict and origin.get("kind") not in (None, "human")
    typed = attachment.get("commandMode") in (None, "prompt") and not stranger
    prompt = attachment.get("prompt")
    return turns_of(prompt if type(prompt) is list else flat(prompt), _judge if typed else _judge_notice)


def _judge_notice(text: str) -> tuple[Turn, ...]:
    return (said(OTHER, text, "notice"),)
