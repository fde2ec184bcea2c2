"""What each harness needs: one row of HARNESSES per harness, its registrations and what only a person can do.

Follows hooks.md 6 and 7. Pure values; imports nothing of ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOW = "handoff-allow.py"
GUARD = "handoff-log-guard.py"
HOOKS = (ALLOW, GUARD)
HOOK_FOLDER = ".claude/hooks"
CLAUDE_SETTINGS = ".claude/settings.json"
CLAUDE_LOCAL_SETTINGS = ".claude/settings.local.json"

APPROVED = (
    "append",
    "route",
    "latest",
    "next-retry",
    "validate",
    "show",
    "view",
    "audit-autofix",
    "doctor",
)
"""The commands of hooks.md 3.3 but `verify`, which takes a path."""
WITHHELD = (
    "--as-engine",
    "--file",
    "--schemas",
    "--layout",
    "--root",
    "--record",
    "--against",
    "--projects",
    "--out",
    "--html",
    "--repair-tail",
    "--no-redact",
)
"""The flags that a pattern of a harness must ask about again."""
CALL = "python3 scripts/handoff.py"

GROUP = "group"
FLAT = "flat"
MEMBER = "member"
ITEM = "item"


class Options(NamedTuple):
    """What `init` was asked for; `python` is the command that hooks are started with."""

    python: str = "python3"
    shell_form: bool = False
    deny_rule: bool = False
    track_ledger: bool = False
    program: bool = True
    skills: bool = True


class Entry(NamedTuple):
    """One value that must stand in a harness's JSON.

    `kind` is GROUP (a matcher with a list of hooks, in the list at `path`), FLAT (a hook in the list), MEMBER (`key`
    of the object at `path`) or ITEM (a plain item of the list). `file` is the hook that a GROUP or FLAT names.
    """

    kind: str
    path: tuple[str, ...]
    value: Any
    key: str = ""
    file: str = ""

    @property
    def name(self) -> str:
        """Return the entry's name in the record of the installation."""
        where = ".".join(self.path)
        what = self.file or self.key or str(self.value)
        return f"{where}[{what}]" if where else what


class Snippet(NamedTuple):
    """Text for a person, with the file that it belongs to or that it is about."""

    path: str
    text: str


class Merge(NamedTuple):
    """The entries that go into one JSON file of the project."""

    path: str
    entries: tuple[Entry, ...]


class Harness(NamedTuple):
    """One row: the marks by which a harness is found, and functions from options to what it needs."""

    name: str
    marks: tuple[str, ...]
    merge: Callable[[Options], Merge | None]
    files: Callable[[Options], dict[str, str]]
    snippets: Callable[[Options], tuple[Snippet, ...]]


def words(options: Options, hook: str, *more: str) -> list[str]:
    """Return the command line of a hook as words; `hook` is its path as the harness spells it."""
    return [*options.python.split(), "-I", "-S", hook, *more]


def _line(options: Options, folder: str, hook: str, harness: str) -> str:
    return " ".join(words(options, f'"{folder}/{HOOK_FOLDER}/{hook}"', "--harness", harness))


def _nothing(_options: Options) -> None:
    return None


def _no_files(_options: Options) -> dict[str, str]:
    return {}


def _no_snippets(_options: Options) -> tuple[Snippet, ...]:
    return ()


def dump(value: object) -> str:
    """Return JSON for people: two blanks of indentation, lists of plain words on one line."""
    from handoff_core.setup import jsontext

    return jsontext.replace("{}", (), value) + "\n"


# Claude Code (6.1)

CLAUDE_MATCHERS = {ALLOW: "Bash", GUARD: "^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|mcp__.*)$"}
DENY_RULES = ("Edit(/.scratch/handoff.jsonl)", "Edit(/.scratch/handoff.seal)")


def claude_hook(options: Options, hook: str, root: str = "CLAUDE_PROJECT_DIR") -> dict[str, Any]:
    """Return one hook of Claude Code's settings in exec form, or as one shell command."""
    if options.shell_form:
        line = " ".join(words(options, f'"${root}"/{HOOK_FOLDER}/{hook}'))
        registered: dict[str, Any] = {"type": "command", "command": line}
    else:
        first, *rest = words(options, f"${{{root}}}/{HOOK_FOLDER}/{hook}")
        registered = {"type": "command", "command": first, "args": rest}
    registered["timeout"] = 10
    if hook == GUARD:
        registered["onFailure"] = "block"
    return registered


def _claude(options: Options) -> Merge:
    entries = [
        Entry(GROUP, ("hooks", "PreToolUse"), _group(CLAUDE_MATCHERS[hook], claude_hook(options, hook)), file=hook)
        for hook in HOOKS
    ]
    if options.deny_rule:
        entries += [Entry(ITEM, ("permissions", "deny"), rule) for rule in DENY_RULES]
    return Merge(CLAUDE_SETTINGS, tuple(entries))


def _group(matcher: str, hook: dict[str, Any]) -> dict[str, Any]:
    return {"matcher": matcher, "hooks": [hook]}


# Copilot CLI (7.2)

COPILOT_HOOKS = ".github/hooks/handoff.json"


def _copilot_files(options: Options) -> dict[str, str]:
    hooks = [
        {
            "type": "command",
            "bash": " ".join(words(options, f"{HOOK_FOLDER}/{hook}", "--harness", "copilot")),
            "powershell": f"py -3 -I -S {HOOK_FOLDER}/{hook} --harness copilot",
            "cwd": ".",
            "timeoutSec": 10,
        }
        for hook in HOOKS
    ]
    return {COPILOT_HOOKS: dump({"version": 1, "hooks": {"preToolUse": hooks}})}


def _copilot_snippets(_options: Options) -> tuple[Snippet, ...]:
    text = """\
Copilot CLI loads these hooks once you trust the folder; with -p it loads them only in a folder trusted before.
`--allow-tool 'shell(python3:*)'` is not needed: the allow hook approves the sanctioned commands, and that flag would
approve any Python.
"""
    return (Snippet(COPILOT_HOOKS, text),)


# Codex CLI (7.3)

CODEX_HOOKS = ".codex/hooks.json"
_TOPLEVEL = "$(git rev-parse --show-toplevel)"


def _codex(options: Options) -> Merge:
    def group(event: str, matcher: str, hook: str) -> Entry:
        command = {"type": "command", "command": _line(options, _TOPLEVEL, hook, "codex"), "timeout": 10}
        return Entry(GROUP, ("hooks", event), _group(matcher, command), file=hook)

    guard = group("PreToolUse", "^(Bash|shell|apply_patch|mcp__.*)$", GUARD)
    return Merge(CODEX_HOOKS, (guard, group("PermissionRequest", "^Bash$", ALLOW)))


def _codex_snippets(_options: Options) -> tuple[Snippet, ...]:
    review = """\
Trust the project in Codex, then run /hooks and review both entries; changing them un-trusts them.
Before 0.124 config.toml needs `[features] codex_hooks = true` as well.
"""
    commands = ", ".join(f'"{command}"' for command in APPROVED)
    rules = f"""\
# Only if you prefer rules to the PermissionRequest hook. A prefix rule cannot look at flags, so it approves more than
# the hook does.
prefix_rule(
    pattern = ["python3", "scripts/handoff.py", [{commands}]],
    decision = "allow",
    match = ["{CALL} append build-pass", "{CALL} route"],
    not_match = ["{CALL} build session.jsonl", "python3 scripts/other.py"],
)
"""
    return Snippet(CODEX_HOOKS, review), Snippet(".codex/rules/handoff.rules", rules)


# Gemini CLI (7.4)

GEMINI_SETTINGS = ".gemini/settings.json"


def _gemini(options: Options) -> Merge:
    hook = {
        "type": "command",
        "name": "handoff-log-guard",
        "command": _line(options, "$GEMINI_PROJECT_DIR", GUARD, "gemini"),
        "timeout": 10000,
    }
    group = _group("^(run_shell_command|write_file|replace)$", hook)
    return Merge(GEMINI_SETTINGS, (Entry(GROUP, ("hooks", "BeforeTool"), group, file=GUARD),))


def _gemini_snippets(_options: Options) -> tuple[Snippet, ...]:
    rules = [
        f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "{CALL} {command} "\n'
        'decision = "allow"\npriority = 100\n'
        for command in APPROVED
    ]
    flags = "file|schemas|layout|root|record|against|projects|html|as-engine|repair-tail|no-redact"
    rules.append(
        '[[rule]]\ntoolName = "run_shell_command"\n'
        f'commandRegex = "python3 scripts/handoff\\\\.py .*--({flags})"\n'
        'decision = "ask_user"\npriority = 200\n'
    )
    return (Snippet("~/.gemini/policies/handoff.toml", "\n".join(rules)),)


# Cursor (7.5)

CURSOR_HOOKS = ".cursor/hooks.json"


def _cursor(options: Options) -> Merge:
    def line(hook: str) -> str:
        return _line(options, "${CURSOR_PROJECT_DIR:-.}", hook, "cursor")

    shell, tools = ("hooks", "beforeShellExecution"), ("hooks", "preToolUse")
    return Merge(
        CURSOR_HOOKS,
        (
            Entry(MEMBER, (), 1, key="version"),
            Entry(FLAT, shell, {"command": line(ALLOW)}, file=ALLOW),
            Entry(FLAT, shell, {"command": line(GUARD), "failClosed": True}, file=GUARD),
            Entry(FLAT, tools, {"command": line(GUARD), "matcher": "Write|Delete", "failClosed": True}, file=GUARD),
        ),
    )


def _cursor_snippets(_options: Options) -> tuple[Snippet, ...]:
    text = "Versions of Cursor without preToolUse report an edit of the ledger only after it was made.\n"
    return (Snippet(CURSOR_HOOKS, text),)


# OpenCode (7.6)

OPENCODE_SETTINGS = "opencode.json"
OPENCODE_PLUGIN = ".opencode/plugins/handoff.js"
_ASKED = ("--file", "--schemas", "--layout", "--root", "--record", "--projects", "--html", "--as-engine")
_DENIED = (".scratch/handoff.jsonl", ".scratch/handoff.seal", ".scratch/handoff.lock")


def _opencode(_options: Options) -> Merge:
    shell, edit = ("permission", "bash"), ("permission", "edit")
    allowed = [f"{CALL} {command}{tail}" for command in APPROVED for tail in ("", " *")]
    asked = [f"{CALL} *{flag}*" for flag in (*_ASKED, "--repair-tail")]
    return Merge(
        OPENCODE_SETTINGS,
        (
            *(Entry(MEMBER, shell, "allow", key=pattern) for pattern in allowed),
            *(Entry(MEMBER, shell, "ask", key=pattern) for pattern in asked),
            *(Entry(MEMBER, edit, "deny", key=path) for path in _DENIED),
        ),
    )


def _opencode_files(options: Options) -> dict[str, str]:
    program, *rest = options.python.split()
    arguments = ", ".join(json.dumps(word) for word in (*rest, "-I", "-S"))
    hook = f"`${{root}}/{HOOK_FOLDER}/{GUARD}`"
    text = f"""\
// Asks the handoff guard about each tool call; a denial stops the call.
import {{ spawnSync }} from "node:child_process"

export const HandoffGuard = async ({{ directory, worktree }}) => ({{
  "tool.execute.before": async (input, output) => {{
    const root = worktree || directory
    const run = spawnSync({json.dumps(program)}, [{arguments}, {hook}, "--harness", "opencode"], {{
      input: JSON.stringify({{ tool: input.tool, args: output.args, cwd: directory }}),
      env: {{ ...process.env, CLAUDE_PROJECT_DIR: root }},
      encoding: "utf8",
      timeout: 10000,
    }})
    if (run.stdout) throw new Error(JSON.parse(run.stdout).reason)
  }},
}})
"""
    return {OPENCODE_PLUGIN: text}


def _opencode_snippets(_options: Options) -> tuple[Snippet, ...]:
    text = """\
Three equal calls in a row trip OpenCode's loop check: the root agent runs `route` once per step and does not poll.
"""
    return (Snippet(OPENCODE_SETTINGS, text),)


# Junie (7.7)


def _junie_snippets(_options: Options) -> tuple[Snippet, ...]:
    rules = [{"pattern": f"{CALL} **{flag}**", "action": "ask"} for flag in WITHHELD]
    rules += [{"prefix": f"{CALL} {command}", "action": "allow"} for command in APPROVED]
    rows = ",\n".join(f"        {json.dumps(rule)[:-1].replace('{', '{ ', 1)} }}" for rule in rules)
    text = f'{{\n  "rules": {{\n    "executables": {{\n      "rules": [\n{rows}\n      ]\n    }}\n  }}\n}}\n'
    warning = (
        "Merge this into ~/.junie/allowlist.json by hand; the first match wins, so keep the order.\n"
        "Never register the allow hook for Junie's PermissionRequest: there silence approves.\n"
    )
    return Snippet("~/.junie/allowlist.json", text), Snippet("~/.junie", warning)


_COPILOT_MARKS = (".github/hooks", ".github/copilot-instructions.md")
# fmt: off
HARNESSES = (
    Harness("claude",   (".claude",),                   _claude,   _no_files,       _no_snippets),
    Harness("copilot",  _COPILOT_MARKS,                 _nothing,  _copilot_files,  _copilot_snippets),
    Harness("codex",    (".codex",),                    _codex,    _no_files,       _codex_snippets),
    Harness("gemini",   (".gemini",),                   _gemini,   _no_files,       _gemini_snippets),
    Harness("cursor",   (".cursor",),                   _cursor,   _no_files,       _cursor_snippets),
    Harness("opencode", (".opencode", "opencode.json"), _opencode, _opencode_files, _opencode_snippets),
    Harness("junie",    (".junie",),                    _nothing,  _no_files,       _junie_snippets),
)
# fmt: on
NAMES = tuple(harness.name for harness in HARNESSES)
SKILL_READERS = ("codex", "gemini", "junie")
"""The harnesses that look for skills in `.agents/skills`."""


def by_name(name: str) -> Harness:
    """Return the row of a harness; raises KeyError for a name that is none."""
    for harness in HARNESSES:
        if harness.name == name:
            return harness
    raise KeyError(name)
