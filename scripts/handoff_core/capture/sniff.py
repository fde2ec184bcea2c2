"""Says which reader a source is for: by its content, names only break ties (formats.md 2).

Imports modules of `capture` alone.
"""

from __future__ import annotations

from itertools import islice

from handoff_core.capture import jsonlines
from handoff_core.errors import HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from handoff_core.capture.source import Source

VOTERS = 50
"""Records of a line format that vote."""

HEAD = 1 << 20
"""Bytes in which the first character that is not white space is looked for."""

_BARE_ITEMS = frozenset(
    (
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    )
)
_COPILOT = frozenset(("session", "user", "assistant", "tool", "system", "hook", "subagent", "abort", "skill"))
_CLAUDE_TYPES = frozenset(
    (
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "tools-used",
        "cost-state",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "tag",
        "worktree-state",
        "content-replacement",
        "result",
    )
)


def sniff(source: Source) -> str:
    """Return the name of the reader for a source and set `source.shape`; raise HandoffError if none knows it."""
    if source.is_database:
        source.shape = "database"
        return _database(source)
    text = _head(source)
    bare = text.lstrip()
    if bare[:1] not in ("{", "["):
        return _not_json(source)
    if _may_be_document(source, bare):
        name = _document(source)
        if name:
            source.shape = "document"
            return name
    source.shape = "lines"
    return vote([record.value for record in islice(source.peek(), VOTERS)])


def shape_for(source: Source, reader: str) -> str:
    """Return the shape that the reader named by `--from` finds in a source; raise HandoffError if it finds none."""
    if source.is_database:
        return "database"
    if reader in ("text", "aider"):
        return "text"
    if not _may_be_document(source, _head(source).lstrip()):
        return "lines"
    try:
        document = source.document()
    except jsonlines.Damage:
        return "lines"
    return "document" if type(document) is list or _is_held(document) else "lines"


def _is_held(document: Any) -> bool:
    return type(document) is dict and any(type(document.get(key)) is list for key in ("messages", "loglines"))


def _head(source: Source) -> str:
    """Return the text in which the first character stands."""
    return source.beginning(HEAD)


def _not_json(source: Source) -> str:
    if source.name.endswith((".jsonl", ".jsonl.zst", ".jsonl.zstd")):
        source.shape = "lines"
        return "canonical"
    source.shape = "text"
    return "aider" if source.has_line("# aider chat started at ") else "text"


# Documents


def _may_be_document(source: Source, bare: str) -> bool:
    """Say whether the first line leaves room for a document: it is cut short, or it is all there is."""
    if bare[:1] not in ("{", "["):
        return False
    first = source.first_line()
    start = len(first) - len(first.lstrip())
    try:
        _, end = jsonlines.value_at(first, start)
    except jsonlines.Damage:
        return not _ends_inside(first)
    return not first[end:].strip() and not source.has_second_line()


def _ends_inside(line: str) -> bool:
    """Say whether a line breaks before its end, so that nothing that follows could make it a document."""
    import json

    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return error.pos < len(line.rstrip())
    except (ValueError, RecursionError):
        return True
    return False


def _document(source: Source) -> str:
    """Return the reader of a JSON document, empty if the source is none; raise HandoffError for an unknown one."""
    try:
        document = source.document()
    except jsonlines.Damage:
        return ""
    for name, fits in DOCUMENTS:
        if fits(document):
            return name
    # One object on one line is a record of a line format as long as it is no known document.
    if type(document) is dict and not source.has_second_line():
        return ""
    keys = ", ".join(sorted(map(str, document))[:12]) if type(document) is dict else f"a {type(document).__name__}"
    raise HandoffError(f"{source.name}: no reader knows this document (keys: {keys})")


def _messages(document: Any) -> list[dict[str, Any]]:
    messages = document.get("messages") if type(document) is dict else document
    return [item for item in messages if type(item) is dict] if type(messages) is list else []


def _is_opencode(document: Any) -> bool:
    return type(document) is dict and any("info" in item and "parts" in item for item in _messages(document))


def _is_gemini(document: Any) -> bool:
    if type(document) is not dict:
        return False
    typed = any(item.get("type") in ("user", "gemini") and "role" not in item for item in _messages(document))
    return "projectHash" in document or typed


def _is_cline(document: Any) -> bool:
    if type(document) is not dict or type(document.get("messages")) is not list:
        return False
    origin = "agent" in document and "origin" in document
    return "system_prompt" in document or origin or ("sessionId" in document and "version" in document)


def _is_claude(document: Any) -> bool:
    return type(document) is dict and type(document.get("loglines")) is list


def _is_canonical(document: Any) -> bool:
    return type(document) is dict and any("role" in item for item in _messages(document))


def _is_cline_list(document: Any) -> bool:
    return type(document) is list and bool(document) and type(document[0]) is dict and "role" in document[0]


DOCUMENTS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("opencode", _is_opencode),
    ("gemini", _is_gemini),
    ("cline", _is_cline),
    ("claude-code", _is_claude),
    ("canonical", _is_canonical),
    ("cline", _is_cline_list),
)
"""Readers of documents in the order in which they are asked (formats.md 2.3)."""


# Lines


def _votes_codex(value: dict[str, Any]) -> bool:
    if type(value.get("payload")) is dict or "record_type" in value:
        return True
    kind = value.get("type")
    if kind is None and "type" not in value:
        return "id" in value and "timestamp" in value and "instructions" in value
    return type(kind) is str and kind in _BARE_ITEMS and not any(key in value for key in ("text", "kind", "message"))


def _votes_claude(value: dict[str, Any]) -> bool:
    kind, message = value.get("type"), value.get("message")
    if type(message) is dict and (kind in ("user", "assistant") or "role" in message):
        return True
    known = type(kind) is str and (kind in _CLAUDE_TYPES or kind.startswith("api-request"))
    return known and "role" not in value and any(key in value for key in ("sessionId", "uuid", "snapshot"))


def _votes_gemini(value: dict[str, Any]) -> bool:
    if "$set" in value or "$rewindTo" in value or value.get("type") == "gemini":
        return True
    timed = "startTime" in value and "lastUpdated" in value
    return "sessionId" in value and ("projectHash" in value or timed)


def _votes_copilot(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if type(value.get("data")) is not dict or type(kind) is not str or kind == "system":
        return False
    return kind.split(".", 1)[0] in _COPILOT


def _votes_cursor(value: dict[str, Any]) -> bool:
    return type(value.get("message")) is dict and type(value.get("role")) is str and "type" not in value


def _votes_goose(value: dict[str, Any]) -> bool:
    if "role" in value:
        return "created" in value and type(value.get("content")) is list
    return "working_dir" in value and ("description" in value or "message_count" in value)


def _votes_dsh(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if type(kind) is not str:
        return False
    return (kind == "session" and "createdAt" in value) or ("/" in kind and ("seq" in value or "seq0" in value))


VOTES: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("codex", _votes_codex),
    ("claude-code", _votes_claude),
    ("gemini", _votes_gemini),
    ("copilot", _votes_copilot),
    ("cursor", _votes_cursor),
    ("goose", _votes_goose),
    ("dsh", _votes_dsh),
)
"""Readers of line formats in the order in which they are asked (formats.md 2.4)."""


def vote(values: list[Any]) -> str:
    """Return the reader that the first records vote for, `canonical` without a vote."""
    objects = [value for value in values if type(value) is dict]
    return next((name for name, votes in VOTES if any(map(votes, objects))), "canonical")


# Databases


def _database(source: Source) -> str:
    tables = source.tables()
    for name, fits in DATABASES:
        if fits(tables):
            return name
    shown = ", ".join(sorted(tables)) or "none"
    raise HandoffError(f"{source.name}: no reader knows this database (tables: {shown})")


DATABASES: tuple[tuple[str, Callable[[dict[str, set[str]]], bool]], ...] = (
    ("opencode", lambda tables: {"session", "message", "part"} <= set(tables)),
    ("goose", lambda tables: "sessions" in tables and "content_json" in tables.get("messages", ())),
    ("desktop-db", lambda tables: "threads" in tables and "parts_json" in tables.get("messages", ())),
)
"""Readers of databases, judged by tables and their columns (formats.md 2.1)."""
