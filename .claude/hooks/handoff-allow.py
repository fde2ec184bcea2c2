#!/usr/bin/env python3
"""Approve a shell call that is exactly one sanctioned `python3 scripts/handoff.py …`; be silent about all others.

Started as `python3 -I -S handoff-allow.py [--harness NAME]`, the call as JSON on stdin. It never denies, always exits
with 0, and any trouble is silence (hooks.md 3). A look at the raw bytes ends most calls; only what is left compiles
the judging part, which stands below as text: `source/allow_judge.py`, put here by `source/embed.py`.
"""

from __future__ import annotations

import sys

LIMIT = 32 * 1024 * 1024


def harness_of(arguments: list[str]) -> str:
    """Return the harness that the arguments name, `claude` without any, or an empty text for odd arguments."""
    if not arguments:
        return "claude"
    return arguments[1] if len(arguments) == 2 and arguments[0] == "--harness" else ""


def judge(data: bytes, harness: str) -> str:
    """Return the answer of the judging part."""
    module: dict[str, object] = {"__name__": "allow_judge"}
    exec(compile(TEXTS["allow_judge"], "<allow_judge>", "exec"), module)  # noqa: S102 - the text is part of this file
    from os import environ

    return module["answer"](data, harness, environ)  # type: ignore[operator, no-any-return]


def main() -> None:
    """Read the call, write the approval if there is one."""
    data = sys.stdin.buffer.read(LIMIT + 1)
    if b"scripts/handoff.py" in data and len(data) <= LIMIT:
        sys.stdout.buffer.write(judge(data, harness_of(sys.argv[1:])).encode("ascii"))
        sys.stdout.buffer.flush()


TEXTS = {
    "allow_judge": r'''
"""Decide whether a shell call is exactly one sanctioned `python3 scripts/handoff.py …` (hooks.md 3).

This module is carried as text by `handoff-allow.py`, which compiles it only when a call names the script. It imports
nothing of the package, starts no process and writes nothing. Whatever it is not sure about it leaves alone.

The grammar (hooks.md 3.2) is closed: a first line of plain words, and at most one heredoc with a quoted delimiter,
whose body is the rest of the text. Every text that fits is one simple command in bash, zsh and POSIX sh.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Flags = dict[str, str]
    Call = tuple[str, dict[str, Any]]

REASON = "one sanctioned handoff command"
BLANKS = " \t"
BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
TAG = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
NAME = TAG | {"-"}
EXPANDED = frozenset('$`\\!"')
PREFIX = ("python3", "scripts/handoff.py")

# What a flag takes: no value, a value, a value only behind `=`, or a page that may be written.
NONE, VALUE, OPTIONAL, PAGE = "none", "value", "optional", "page"


class Rule:
    """What one command may carry: its flags, a test for its operands (none: no operand), whether a heredoc fits."""

    __slots__ = ("flags", "heredoc", "operand")

    def __init__(self, flags: Flags, operand: Callable[[str, str], bool] | None = None, heredoc: bool = False) -> None:
        self.flags = flags
        self.operand = operand
        self.heredoc = heredoc


def flags(plain: str = "", valued: str = "", **others: str) -> Flags:
    """Return a flag table: the words of `plain` take no value, those of `valued` take one."""
    table = dict.fromkeys(plain.split(), NONE)
    table.update(dict.fromkeys(valued.split(), VALUE))
    table.update({f"--{name}": kind for name, kind in others.items()})
    return table


def is_type_name(word: str, _root: str) -> bool:
    """Return whether the word is letters, digits, `-` and `_`."""
    return bool(word) and not set(word) - NAME


def is_inside(word: str, root: str) -> bool:
    """Return whether the word names the root or something below it, with links resolved."""
    if not word or word[0] in "-~":
        return False
    return parts_below(word, root) is not None


def is_page(word: str, root: str) -> bool:
    """Return whether the word is `-` or an .html file below the root outside every hidden folder but `.scratch`."""
    if word == "-":
        return True
    if not word or word[0] in "-~":
        return False
    parts = parts_below(word, root)
    if not parts or not parts[-1].endswith(".html"):
        return False
    shown = parts[1:] if parts[0] == ".scratch" else parts
    return not any(part.startswith(".") for part in shown)


def parts_below(word: str, root: str) -> list[str] | None:
    """Return the path's components below the real root, links resolved, or None if it lies elsewhere."""
    base = os.path.realpath(root)
    path = os.path.realpath(os.path.join(base, word))
    if path == base:
        return []
    inside = base if base.endswith(os.sep) else base + os.sep
    return path[len(inside) :].split(os.sep) if path.startswith(inside) else None


# hooks.md 3.3. A flag that is not here is not pre-approved.
COMMANDS = {
    "append": Rule(flags("--dry-run"), is_type_name, heredoc=True),
    "route": Rule(flags("--all --exit-code --rules", "--req-id --at --format", explain=OPTIONAL)),
    "latest": Rule(flags("--with-line --pretty", "--type --req-id")),
    "next-retry": Rule(flags("", "--req-id")),
    "validate": Rule(flags("--strict --require-seal --allow-missing", "--format")),
    "show": Rule(flags("--json", "--last --type --req-id")),
    "view": Rule(
        flags(
            "--all --list --open --verbose -v --brief --color --no-color --markdown --json --ascii --no-cost",
            "--req-id --agent --type --since --tz --at --now",
            html=PAGE,
        )
    ),
    "audit-autofix": Rule(flags()),
    "doctor": Rule(flags("--json", "--harness")),
    "verify": Rule(flags("--json"), is_inside),
}
HELP = ("--help", "-h")
WITHHELD = (  # on purpose: a path, another writer, an open end
    *("--file", "--schemas", "--layout", "--root", "--record", "--against", "--projects", "--out"),
    *("--as-engine", "--no-redact", "--repair-tail", "--follow", "--watch", "--until", "--bell"),
    *("--quiet", "--require-clean", "validate --json"),
)


# The grammar


def split_words(line: str) -> tuple[list[str], str | None] | None:
    """Return the unquoted words of the first line and its heredoc tag or None; None if it doesn't fit the grammar."""
    words: list[str] = []
    at, end = 0, len(line)
    while True:
        start = at
        while at < end and line[at] in BLANKS:
            at += 1
        if at == end:
            return words, None
        if words and at == start:
            return None
        if line.startswith("<<", at):
            tag = delimiter(line[at + 2 :])
            return None if tag is None else (words, tag)
        word, at = next_word(line, at)
        if word is None:
            return None
        words.append(word)


def next_word(line: str, at: int) -> tuple[str | None, int]:
    """Return the word that begins at `at`, unquoted, and where it ends; None if it is no word of the grammar."""
    start, end = at, len(line)
    while at < end and line[at] in BARE:
        at += 1
    head = line[start:at]
    if at == end or line[at] in BLANKS:
        return (None if head.startswith("=") else head), at
    quote = line[at]
    close = line.find(quote, at + 1) if quote in "'\"" and (not head or is_flag_head(head)) else -1
    if close < 0:
        return None, at
    inner = line[at + 1 : close]
    return (head + inner if is_literal(inner, quote) else None), close + 1


def is_flag_head(head: str) -> bool:
    """Return whether the text is `--name=`, the only thing that may stand before a quote."""
    name = head[2:-1]
    return head[:2] == "--" and head[-1] == "=" and name[:1] in LETTERS and not set(name) - LETTERS - {"-"}


def is_literal(text: str, quote: str) -> bool:
    """Return whether every shell reads the quoted text as it stands."""
    if any(char < " " or char == "\x7f" for char in text):
        return False
    return quote == "'" or not EXPANDED & set(text)


def delimiter(text: str) -> str | None:
    """Return the tag of a quoted heredoc delimiter that ends the line, or None."""
    text = text.strip(BLANKS)
    quote, tag = text[:1], text[1:-1]
    if len(text) < 3 or quote not in "'\"" or text[-1] != quote:
        return None
    fits = len(tag) <= 64 and not tag[0].isdigit() and not set(tag) - TAG
    return tag if fits else None


def parse(command: str) -> tuple[list[str], bool] | None:
    """Return the words behind the script's name and whether a heredoc follows; None outside the grammar."""
    line, _, rest = command.partition("\n")
    found = split_words(line) if line.isascii() and "\0" not in command else None
    if found is None:
        return None
    words, tag = found
    if tag is not None:
        _, closed, rest = ("\n" + rest + "\n").partition("\n" + tag + "\n")
        if not closed:
            return None
    if rest.strip(" \t\n") or not begins_with_script(line):
        return None
    return words[2:], tag is not None


def begins_with_script(line: str) -> bool:
    """Return whether the first two words are the interpreter and the script, spelled without quotes."""
    start = line.split(None, 2)[:2]
    return tuple(start) == PREFIX


# The table


def is_sanctioned(words: list[str], heredoc: bool, root: str) -> bool:
    """Return whether the words fit the table of hooks.md 3.3."""
    if not words:
        return False
    if words[0] in (*HELP, "--version"):
        return len(words) == 1 and not heredoc
    rule = COMMANDS.get(words[0])
    if rule is None or (heredoc and not rule.heredoc):
        return False
    if len(words) == 2 and words[1] in HELP:
        return not heredoc
    operands = operands_of(words[1:], rule, root)
    if operands is None or len(operands) != (1 if rule.operand else 0):
        return False
    if rule.operand and not rule.operand(operands[0], root):
        return False
    return not rule.heredoc or heredoc or "--dry-run" in words


def operands_of(words: list[str], rule: Rule, root: str) -> list[str] | None:
    """Return the words that are no flags, or None if a flag is unknown or its value is not allowed."""
    operands: list[str] = []
    pending = iter(words)
    for word in pending:
        if not word.startswith("-"):
            operands.append(word)
            continue
        name, equals, given = word.partition("=")
        kind = rule.flags.get(name)
        if kind is None or (kind == NONE and equals):
            return None
        if kind == NONE or (kind == OPTIONAL and not equals):
            continue
        value = given if equals else next(pending, None)
        if value is None or not is_value(value, kind, root):
            return None
    return operands


def is_value(value: str, kind: str, root: str) -> bool:
    """Return whether a flag of this kind may have the value."""
    if kind == PAGE:
        return is_page(value, root)
    return not value.startswith("-") or value[1:].isdigit()


# The payload


def claude_call(payload: dict[str, Any]) -> Call | None:
    """Return the command of a Bash call and its arguments."""
    return shell_call(payload, "PreToolUse", ("Bash",), True)


def codex_call(payload: dict[str, Any]) -> Call | None:
    """Return the command of a permission request and its arguments; in PreToolUse an approval counts as a fault."""
    return shell_call(payload, "PermissionRequest", ("Bash", "shell"), False)


def shell_call(payload: dict[str, Any], event: str, tools: tuple[str, ...], may_lack: bool) -> Call | None:
    """Return command and arguments if the payload is this event of one of these tools."""
    given = payload.get("hook_event_name", event if may_lack else None)
    if given != event or payload.get("tool_name") not in tools:
        return None
    return command_of(payload.get("tool_input"))


def copilot_call(payload: dict[str, Any]) -> Call | None:
    """Return the command of a bash call, whose arguments may be an object or its JSON text."""
    names = [payload[key] for key in ("toolName", "tool_name") if key in payload]
    given = [payload[key] for key in ("toolArgs", "tool_input") if key in payload]
    event = payload.get("hook_event_name", "preToolUse")
    if names != ["bash"] or len(given) != 1 or event not in ("preToolUse", "PreToolUse"):
        return None
    return command_of(parse_json(given[0]) if isinstance(given[0], str) else given[0])


def cursor_call(payload: dict[str, Any]) -> Call | None:
    """Return the command of either of the two events that stand before a shell command."""
    event = payload.get("hook_event_name")
    if event == "beforeShellExecution":
        return command_of(payload)
    if event == "preToolUse" and payload.get("tool_name") == "Shell":
        return command_of(payload.get("tool_input"))
    return None


def command_of(arguments: object) -> Call | None:
    """Return the command text and the arguments it stands in, or None."""
    if not isinstance(arguments, dict) or not isinstance(arguments.get("command"), str):
        return None
    return arguments["command"], arguments


SPECIFIC = '{"hookSpecificOutput": {"hookEventName": '
READERS = {"claude": claude_call, "copilot": copilot_call, "codex": codex_call, "cursor": cursor_call}
ANSWERS = {
    "claude": SPECIFIC + '"PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "' + REASON + '"}}',
    "copilot": '{"permissionDecision": "allow", "permissionDecisionReason": "' + REASON + '"}',
    "codex": SPECIFIC + '"PermissionRequest", "decision": {"behavior": "allow"}}}',
    "cursor": '{"permission": "allow"}',
}
ELSEWHERE = ("run_in_background", "is_background", "dangerouslyDisableSandbox")
FOLDERS = ("workdir", "working_directory", "dir_path", "cwd", "directory")


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError for anything else, a repeated key among it.

    The scanner of the standard library is used without the `json` package, whose import takes longer than all the rest.
    """
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    text = text.strip(" \t\n\r")
    value, end = make_scanner(Settings())(text, 0)  # type: ignore[arg-type]
    if end != len(text):
        raise ValueError("text behind the value")
    return value


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; raise ValueError if a key occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def refuse(name: str) -> Any:
    """Raise ValueError: NaN and Infinity are not JSON."""
    raise ValueError(name)


class Settings:
    """How the scanner of the standard library reads JSON."""

    strict = True
    object_hook = None
    object_pairs_hook = staticmethod(unique)
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(refuse)
    memo: Mapping[str, str] = {}


def is_here(payload: dict[str, Any], arguments: dict[str, Any], root: str) -> bool:
    """Return whether the command runs in the root, in the foreground and inside the sandbox (hooks.md 3.1)."""
    if any(part.get(key) for part in (payload, arguments) for key in ELSEWHERE):
        return False
    cwd = payload.get("cwd")
    places = [arguments[key] for key in FOLDERS if arguments is not payload and arguments.get(key)]
    if not isinstance(cwd, str) or not os.path.isabs(cwd) or not all(isinstance(place, str) for place in places):
        return False
    return all(os.path.samefile(os.path.join(cwd, place), root) for place in ["", *places])


def is_own_script(root: str) -> bool:
    """Return whether the root's script is a regular file that is reached without a link."""
    folder = os.lstat(os.path.join(root, "scripts"))
    script = os.lstat(os.path.join(root, "scripts", "handoff.py"))
    return stat.S_ISDIR(folder.st_mode) and stat.S_ISREG(script.st_mode)


def answer(data: bytes, harness: str, environ: Mapping[str, str]) -> str:
    """Return the approving line, or an empty text to leave the call alone; raise on anything unreadable."""
    reader = READERS.get(harness)
    payload = parse_json(data.decode("utf-8-sig")) if reader else None
    call = reader(payload) if reader and isinstance(payload, dict) else None
    parsed = parse(call[0]) if call else None
    if call is None or parsed is None or not isinstance(payload, dict):
        return ""
    root = environ.get("CLAUDE_PROJECT_DIR") or environ.get("CURSOR_PROJECT_DIR") or payload.get("cwd")
    if not isinstance(root, str) or not os.path.isabs(root):
        return ""
    fits = is_here(payload, call[1], root) and is_own_script(root) and is_sanctioned(*parsed, root)
    return ANSWERS[harness] + "\n" if fits else ""
''',
}

if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 - whatever it is, silence leaves the call to the harness
        sys.stdout = None  # nothing is left to be flushed, so nothing can fail on the way out
    sys.exit(0)
