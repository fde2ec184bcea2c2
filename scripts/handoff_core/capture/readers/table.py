"""The table of readers: name, harness, function, stores; whoever adds a reader adds a line here (formats.md 1).

A store is a pattern of files in shell notation: `${NAME:-default}` is an environment variable or its default, `~` the
home folder, `*` and `**` as in capture.md 2.3. Imports nothing of ours; modules are loaded by name when they are used.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Store(NamedTuple):
    """Where a harness keeps sessions: a pattern, and whether one match holds many of them."""

    pattern: str
    many: bool


class Reader(NamedTuple):
    """One line of the table; `module` is the file in this folder that holds the function `read`."""

    name: str
    harness: str
    module: str
    stores: tuple[Store, ...]
    subagents: tuple[str, ...]
    """Patterns of subagents' transcripts, relative to the session's folder; `{stem}` is the session's stem."""


def _each(*patterns: str) -> tuple[Store, ...]:
    return tuple(Store(pattern, False) for pattern in patterns)


_OPENCODE = "${XDG_DATA_HOME:-~/.local/share}/opencode"
_CODEX = "${CODEX_HOME:-~/.codex}"
_COPILOT = "${COPILOT_HOME:-~/.copilot}/session-state"
_GOOSE = "${XDG_DATA_HOME:-~/.local/share}/goose/sessions"
_DSH = "${DSH_HOME:-~/.dsh}/sessions"
_CODE = "${XDG_CONFIG_HOME:-~/.config}/Code/User/globalStorage"
_DESKTOP = "${FREEBUFF_DESKTOP_HOME:-${XDG_CONFIG_HOME:-~/.config}/freebuff-desktop}"

# fmt: off
READERS = (
    Reader("claude-code", "Claude Code", "claude_code",
           _each("${CLAUDE_CONFIG_DIR:-~/.claude}/projects/*/*.jsonl"),
           ("{stem}/subagents/agent-*.jsonl", "agent-*.jsonl")),
    Reader("codex", "Codex", "codex",
           _each(f"{_CODEX}/sessions/*/*/*/rollout-*.jsonl", f"{_CODEX}/sessions/*/*/*/rollout-*.jsonl.zst",
                 f"{_CODEX}/archived_sessions/rollout-*.jsonl", f"{_CODEX}/archived_sessions/rollout-*.jsonl.zst"),
           ()),
    Reader("gemini", "Gemini CLI", "gemini",
           _each("${GEMINI_CLI_HOME:-~}/.gemini/tmp/*/chats/session-*.json",
                 "${GEMINI_CLI_HOME:-~}/.gemini/tmp/*/chats/session-*.jsonl"),
           ()),
    Reader("opencode", "OpenCode", "opencode",
           (Store(f"{_OPENCODE}/opencode.db", True), Store(f"{_OPENCODE}/storage", True)),
           ()),
    Reader("copilot", "GitHub Copilot CLI", "copilot",
           _each(f"{_COPILOT}/*/events.jsonl", f"{_COPILOT}/*.jsonl"),
           ()),
    Reader("cursor", "Cursor CLI", "cursor",
           _each("~/.cursor/projects/*/agent-transcripts/**/*.jsonl"),
           ("subagents/*.jsonl",)),
    Reader("cline", "Cline, Roo", "cline",
           _each("~/.cline/data/sessions/*/*.messages.json",
                 f"{_CODE}/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json",
                 f"{_CODE}/rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json"),
           ()),
    Reader("aider", "Aider", "aider",
           _each("{project}/.aider.chat.history.md"),
           ()),
    Reader("goose", "Goose", "goose",
           (*_each(f"{_GOOSE}/*.jsonl"), Store(f"{_GOOSE}/sessions.db", True)),
           ()),
    Reader("dsh", "DeepSeek Harness", "dsh",
           _each(f"{_DSH}/*/*/session.jsonl", f"{_DSH}/*/*/session.jsonl.zstd",
                 f"{_DSH}/*/session-*.jsonl", f"{_DSH}/*/session-*.jsonl.zstd"),
           ()),
    Reader("desktop-db", "desktop client", "desktop",
           (Store(f"{_DESKTOP}/projects/*/desktop-v2.db", True), Store("{project}/.freebuff/desktop-v2.db", True)),
           ()),
    Reader("canonical", "", "canonical", (), ()),
    Reader("text", "", "text", (), ()),
)
# fmt: on
"""Every reader. `{project}` in a store is the project folder; an empty harness means that only the records name one."""


def reader(name: str) -> Reader | None:
    """Return the line of the reader `name`, None if there is none."""
    return next((row for row in READERS if row.name == name), None)


def function(row: Reader) -> Callable[[Any, Any], Iterator[Any]]:
    """Return the function of a reader; its module is loaded now."""
    module = __import__(f"handoff_core.capture.readers.{row.module}", fromlist=["read"])
    found: Callable[[Any, Any], Iterator[Any]] = module.read
    return found
