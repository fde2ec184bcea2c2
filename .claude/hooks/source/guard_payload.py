"""Judge one tool call of any harness: read its shape, find what it would do, word the answer (hooks.md 2, 4.3).

This module and those beside it are carried as text by `handoff-log-guard.py`. They read the file system, and nothing
else; they never approve.
"""

from __future__ import annotations

import os

from guard_json import parse_json
from guard_paths import Paths
from guard_shell import Call, Denied, Reader, Shared, Trouble
from guard_words import TILDE, foreign, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Arguments = dict[str, Any]

NEAR = (b"handoff.jsonl", b"handoff.seal", b"handoff.lock")
UNREADABLE = "This call names the handoff ledger, and the guard can't read it"
RULE = (
    "Only `python3 scripts/handoff.py append <type>` writes the handoff ledger, with the record on stdin by a "
    "quoted heredoc; reading it is free."
)
SHELLS = names(
    "bash shell run_shell_command execute_bash local_shell exec_command run_terminal_cmd terminal run_command"
)
POWER = frozenset(("powershell", "pwsh", "cmd"))
FOLDERS = ("workdir", "working_directory", "dir_path", "cwd", "directory")


class Tool:
    """A tool call in one shape: its name in lower case, its arguments, the folder it begins in."""

    __slots__ = ("arguments", "cwd", "name")

    def __init__(self, name: str, arguments: Arguments, cwd: object) -> None:
        self.name = name
        self.arguments = arguments
        self.cwd = cwd


# Reading


def read_tool(payload: object) -> Tool:
    """Return the tool call in a payload of any harness; raise Trouble if there is none that can be read."""
    if not isinstance(payload, dict):
        raise Trouble("no object")
    name = first(payload, "tool_name", "toolName", "tool")
    arguments = first(payload, "tool_input", "toolArgs", "args")
    cwd = payload.get("cwd")
    if isinstance(arguments, str):
        arguments = parse_json(arguments)
    if name is None and arguments is None and "command" in payload:
        name, arguments = "bash", payload
    if name is None and isinstance(arguments, dict) and "command" in arguments:
        name = "bash"
    if not isinstance(name, str) or not (arguments is None or isinstance(arguments, dict)):
        raise Trouble("no tool call")
    return Tool(name if name.startswith("mcp__") else name.lower(), arguments or {}, cwd)


def first(payload: Arguments, *keys: str) -> Any:
    """Return the value of the first key that is there."""
    return next((payload[key] for key in keys if payload.get(key) is not None), None)


# Judging


def judge_tool(tool: Tool, environ: Mapping[str, str]) -> None:
    """Judge a tool call; raise Denied if it would change a protected file."""
    if tool.name in SHELLS or tool.name in POWER:
        judge_command(tool, environ)
    else:
        import guard_files

        guard_files.judge_paths(tool, environ)


def reader_of(tool: Tool, environ: Mapping[str, str]) -> Reader:
    """Return a reader in the folder that the call begins in."""
    paths = Paths(tool.cwd, environ)
    reader = Reader(Shared(paths), "", (paths.cwd,))
    for key in FOLDERS if tool.arguments.get("command") is not None and "cwd" in FOLDERS else ():
        place = tool.arguments.get(key)
        if isinstance(place, str) and place and not (key == "cwd" and place == tool.cwd):
            reader.folders = (paths.absolute(spelled(place), reader.folders[0]),)
    return reader


def judge_command(tool: Tool, environ: Mapping[str, str]) -> None:
    """Judge the command of a shell tool, which is a text or a list of words."""
    command = tool.arguments.get("command")
    if command is None and "command" not in tool.arguments:
        return
    reader = reader_of(tool, environ)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        if command:
            reader.judge(Call(reader, [foreign(word) for word in command], None))
    elif not isinstance(command, str):
        raise Trouble("a command of the wrong type")
    elif tool.name in POWER:
        import guard_code

        guard_code.judge_power(Call(reader, [tool.name], None), foreign(command))
    else:
        reader.text = foreign(command)
        reader.end = len(reader.text)
        reader.program("")


def spelled(path: str) -> str:
    """Return a path argument in the form that the path rules read."""
    path = foreign(path.removeprefix("file://"))
    return TILDE + path[1:] if path[:1] == "~" else path


# Answering


def quoted(text: str) -> str:
    """Return the text as a JSON string of ASCII on one line, what acts on a terminal replaced."""
    shown = "".join(char if " " <= char <= "~" else "?" for char in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def denial(harness: str, reason: str) -> str:
    """Return the line that denies a call in the form of the harness (hooks.md 2.3)."""
    text = quoted(reason)
    if harness == "copilot":
        return f'{{"permissionDecision": "deny", "permissionDecisionReason": {text}}}\n'
    if harness == "cursor":
        return f'{{"permission": "deny", "user_message": {text}, "agent_message": {text}}}\n'
    if harness in ("gemini", "opencode", "junie"):
        return f'{{"decision": "deny", "reason": {text}}}\n'
    inner = f'{{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": {text}}}'
    return f'{{"hookSpecificOutput": {inner}}}\n'


def judged(payload: object, environ: Mapping[str, str]) -> str | None:
    """Return why the call is denied, or None."""
    try:
        judge_tool(read_tool(payload), environ)
    except Denied as verdict:
        return f"{verdict.how[:1].upper()}{verdict.how[1:]} would change {verdict.name}. {RULE}"
    return None


def answer(data: bytes, harness: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the denying line, or an empty text; trouble is a denial where the ledger is named (hooks.md 2.4)."""
    try:
        reason = judged(parse_json(data.decode("utf-8-sig")), os.environ if environ is None else environ)
    except Exception as fault:  # noqa: BLE001 - a fault in judging must not open the way
        near = data.lower()
        reason = f"{UNREADABLE} ({type(fault).__name__}). {RULE}" if any(name in near for name in NEAR) else None
    return denial(harness, reason) if reason else ""
