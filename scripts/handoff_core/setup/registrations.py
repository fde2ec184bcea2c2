"""The checks of `doctor` on what each harness was told, and on whether the hooks would really fire.

Follows hooks.md 9 and 7.1.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from handoff_core.jsonl import JsonError, decode
from handoff_core.setup import harnesses, merge, probe
from handoff_core.setup.harnesses import ALLOW, CLAUDE_SETTINGS, FLAT, GROUP, GUARD, MEMBER
from handoff_core.setup.site import FAIL, OK, SKIP, WARN, Registered, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from handoff_core.setup.harnesses import Entry, Harness, Merge
    from handoff_core.setup.site import Site

ARGS_FROM = (2, 1, 139)
"""The first Claude Code that knows the exec form."""
SLOW = 1.0
"""Seconds after which a hook is too slow to be of use."""

_INSTALL = "run `init`"
_UNSEEN = {
    "codex": ("trust can't be seen from here", "run /hooks in Codex and review both entries"),
    "copilot": ("trust can't be seen from here", "trust the folder in Copilot CLI"),
    "junie": ("nothing is registered in a project", "put the list that `init` prints into ~/.junie/allowlist.json"),
}


# Registrations


def registrations(site: Site) -> Iterator[Result]:
    """Check each harness's registration; remember the command lines that it starts the hooks with."""
    for name in site.chosen:
        yield from _harness(site, harnesses.by_name(name))
        yield from _switched_off(site, name)


def _harness(site: Site, row: Harness) -> Iterator[Result]:
    wanted = row.merge(site.options)
    found = [*(_merged(site, row.name, wanted) if wanted else ()), *_own_files(site, row)]
    bad = [result for result in found if result.status != OK]
    unseen = _UNSEEN.get(row.name)
    if bad:
        yield bad[0]
    elif unseen:
        yield Result(row.name, SKIP, *unseen)
    else:
        yield found[0]


def _own_files(site: Site, row: Harness) -> Iterator[Result]:
    for path, text in row.files(site.options).items():
        data = site.read(path)
        if data is None:
            yield Result(row.name, FAIL, f"{path} is missing", _INSTALL)
        elif data != text.encode():
            yield Result(row.name, WARN, f"{path} is not what init writes", "`init --force` renews it")
        else:
            yield Result(row.name, OK, path)
        value = site.json(path) if path.endswith(".json") else None
        for hook in ((value or {}).get("hooks") or {}).get("preToolUse") or []:
            _remember(site, row.name, {"command": hook.get("bash")})


def _merged(site: Site, name: str, wanted: Merge) -> Iterator[Result]:
    path = wanted.path
    try:
        data = site.read(path)
        value = None if data is None else merge.read_loosely(decode(data))
    except JsonError as error:
        yield Result(name, FAIL, f"{path} is no JSON: {error.reason}", "mend it, then run `init`")
        return
    if data is None:
        yield Result(name, FAIL, f"{path} is missing: nothing is registered", _INSTALL)
        return
    for entry in wanted.entries:
        yield from _entry(name, path, entry, value)
    for hook in _all_hooks(value):
        _remember(site, name, hook)
    if name == "claude":
        yield from _claude(site, value)
    yield Result(name, OK, _summary(wanted, value))


def _entry(name: str, path: str, entry: Entry, value: Any) -> Iterator[Result]:
    """Say what is wrong with one entry; nothing where it stands."""
    stands = merge.state(value, entry)
    if stands == merge.MISSING:
        yield Result(name, FAIL, f"{path} lacks {entry.name}", _INSTALL)
    elif stands == merge.OLD:
        yield Result(name, WARN, f"{path}: {entry.name} has an older form", f"{_INSTALL}: it renews the entry")
    elif stands == merge.CHANGED and entry.kind == MEMBER:
        yield Result(name, WARN, f"{path}: {entry.name} was changed", "set it back if that was not meant")
    elif stands == merge.CHANGED:
        ours = [hook for hook in _all_hooks(value) if merge.names_file(hook, entry.file)]
        if any(merge.known_form(hook) for hook in ours):
            yield Result(name, WARN, f"{path}: {entry.name} was changed", "remove the entry and run `init`")
        else:
            yield Result(name, FAIL, f"{path}: {entry.name} names another path", "remove the entry and run `init`")


def _all_hooks(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every registered hook of a settings value, whatever its event."""
    events = value.get("hooks") if isinstance(value, dict) else None
    for entries in events.values() if isinstance(events, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict):
                continue
            inner = entry.get("hooks")
            yield from (hook for hook in (inner if isinstance(inner, list) else [entry]) if isinstance(hook, dict))


def _remember(site: Site, harness: str, hook: dict[str, Any]) -> None:
    form = merge.known_form(hook)
    command = site.command(hook)
    if form and command and (harness, form["file"]) not in {(each.harness, each.hook) for each in site.registered}:
        site.registered.append(Registered(harness, form["file"], command))


def _summary(wanted: Merge, value: Any) -> str:
    files = {entry.file for entry in wanted.entries if entry.kind in (GROUP, FLAT)}
    if not files:
        return f"rules in {wanted.path}"
    words = " and ".join(word for file, word in ((ALLOW, "allow"), (GUARD, "guard")) if file in files)
    form = ""
    if wanted.path == CLAUDE_SETTINGS:
        exec_form = any("args" in hook for hook in _all_hooks(value) if merge.names_file(hook, GUARD))
        form = ", exec form" if exec_form else ", shell form"
    return f"{words} registered in {wanted.path}{form}"


def _claude(site: Site, value: Any) -> Iterator[Result]:
    """Warn of what makes Claude Code's registration useless: a client too old, a deny rule in the sandbox."""
    denied = merge.value_at(value, ("permissions", "deny"))
    rules = isinstance(denied, list) and set(harnesses.DENY_RULES) & {rule for rule in denied if isinstance(rule, str)}
    boxed = [path for path in (CLAUDE_SETTINGS, harnesses.CLAUDE_LOCAL_SETTINGS) if _sandboxed(site.json(path))]
    if rules and boxed:
        text = f"the deny rule and the Bash sandbox of {boxed[0]} together stop append itself"
        yield Result("claude", WARN, text, "take the deny rule out, or switch the sandbox off")
    client = _client_version(site)
    exec_form = any("args" in hook for hook in _all_hooks(value) if merge.names_file(hook, GUARD))
    if client and exec_form and client < ARGS_FROM:
        shown = ".".join(str(part) for part in client)
        text = f"Claude Code {shown} does not know the exec form (2.1.139): the guard is off"
        yield Result("claude", WARN, text, "upgrade it, or `init --shell-form`")


def _sandboxed(value: Any) -> bool:
    sandbox = value.get("sandbox") if isinstance(value, dict) else None
    return isinstance(sandbox, dict) and sandbox.get("enabled") is True


def _client_version(site: Site) -> tuple[int, ...] | None:
    """Return the version of the Claude Code on PATH, None where there is none or it does not say."""
    client = site.program("claude")
    if client is None:
        return None
    reply = probe.start([client, "--version"], b"", site.tree.root, {})
    found = re.match(rb"(\d+)\.(\d+)\.(\d+)", reply.out)
    return tuple(int(part) for part in found.groups()) if found else None


# Switches


def _switched_off(site: Site, name: str) -> Iterator[Result]:
    """Report every setting that switches the project's hooks off."""
    for harness, path, keys, off in SWITCHES:
        value = _dotted(site, path, keys) if harness == name else None
        if harness == name and value is not None and off(value):
            text = f"{keys} is {json.dumps(value)} in {path}: no hook runs"
            yield Result(f"{name}-off", FAIL, text, "remove it")


def _dotted(site: Site, path: str, keys: str) -> Any:
    value = site.toml(path) if path.endswith(".toml") else site.json(path)
    for key in keys.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _is_true(value: Any) -> bool:
    return value is True


def _is_false(value: Any) -> bool:
    return value is False


def _names_the_guard(value: Any) -> bool:
    return isinstance(value, list) and "handoff-log-guard" in value


# fmt: off
SWITCHES: tuple[tuple[str, str, str, Callable[[Any], bool]], ...] = (
    ("claude",  ".claude/settings.json",       "disableAllHooks",       _is_true),
    ("claude",  ".claude/settings.local.json", "disableAllHooks",       _is_true),
    ("claude",  "~/.claude/settings.json",     "disableAllHooks",       _is_true),
    ("copilot", ".github/hooks/handoff.json",  "disableAllHooks",       _is_true),
    ("codex",   ".codex/config.toml",          "features.hooks",        _is_false),
    ("codex",   ".codex/config.toml",          "features.codex_hooks",  _is_false),
    ("codex",   "~/.codex/config.toml",        "features.hooks",        _is_false),
    ("codex",   "~/.codex/config.toml",        "features.codex_hooks",  _is_false),
    ("gemini",  ".gemini/settings.json",       "hooksConfig.enabled",   _is_false),
    ("gemini",  ".gemini/settings.json",       "hooksConfig.disabled",  _names_the_guard),
    ("gemini",  ".gemini/settings.json",       "hooks.disabled",        _names_the_guard),
    ("gemini",  "~/.gemini/settings.json",     "hooksConfig.enabled",   _is_false),
    ("gemini",  "~/.gemini/settings.json",     "hooksConfig.disabled",  _names_the_guard),
)
# fmt: on


# The self-test


class Trial(NamedTuple):
    """One payload and the answers that the two hooks must give to it."""

    name: str
    payload: Callable[[str, str], bytes]
    allow: str
    guard: str


def _shell(command: str) -> Callable[[str, str], bytes]:
    """Return the maker of a shell call's payload: of the root and the folder that it is made in."""

    def payload(root: str, folder: str) -> bytes:
        up = os.path.relpath(root, folder).replace(os.sep, "/")
        return json.dumps(probe.shell_call(command.replace("{up}", up), folder, root)).encode()

    return payload


def _write_call(root: str, folder: str) -> bytes:
    call = {
        "session_id": "handoff-probe",
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": os.path.join(root, ".scratch", "handoff.jsonl"), "content": "{}"},
        "cwd": folder,
    }
    return json.dumps(call).encode()


def _broken(_root: str, _folder: str) -> bytes:
    return b'{"tool_name": "Bash", "tool_input": {"command": "cat .scratch/handoff.jsonl'


APPEND = 'python3 scripts/handoff.py append build-pass <<\'EOF\'\n{"type": "build-pass"}\nEOF'
# fmt: off
TRIALS = (
    Trial("sanctioned append", _shell(APPEND),                                              "allow", ""),
    Trial("route",             _shell("python3 scripts/handoff.py route"),                  "allow", ""),
    Trial("chained command",   _shell("python3 scripts/handoff.py route && touch notes"),   "",      ""),
    Trial("raw write",         _shell("echo '{}' >> {up}/.scratch/handoff.jsonl"),          "",      "deny"),
    Trial("read",              _shell("cat {up}/.scratch/handoff.jsonl"),                   "",      ""),
    Trial("Write on the ledger", _write_call,                                               "",      "deny"),
    Trial("broken payload",    _broken,                                                     "",      "deny"),
)
# fmt: on
DECISIVE = tuple(trial for trial in TRIALS if trial.name in ("sanctioned append", "raw write"))
"""What is tried with the second harness and those after it: the same file answers, only the call differs."""
SHELL_TOOLS = {"copilot": "bash", "gemini": "run_shell_command", "cursor": "Shell"}
EVENTS = {"copilot": "preToolUse", "gemini": "BeforeTool", "cursor": "beforeShellExecution"}


def self_test(site: Site) -> Iterator[Result]:
    """Start both hooks as they are registered, from the root and from another folder, and judge their answers."""
    for hook, check in ((ALLOW, "hook-allow"), (GUARD, "hook-guard")):
        lines = [each for each in site.registered if each.hook == hook]
        if lines:
            yield _judge(site, check, hook, lines)
        elif any(hook in text for text in _expected_files(site)):
            text = "no registered command line that can be tried"
            yield Result(check, SKIP, text, "mend the registration above first")
        else:
            yield Result(check, SKIP, "no harness of this project starts it")


def _expected_files(site: Site) -> list[str]:
    found = []
    for name in site.chosen:
        row = harnesses.by_name(name)
        wanted = row.merge(site.options)
        found += [entry.file for entry in wanted.entries] if wanted else []
        found += row.files(site.options).values()
    return found


def _judge(site: Site, check: str, hook: str, lines: list[Registered]) -> Result:
    times: list[float] = []
    for number, line in enumerate(lines):
        trials = DECISIVE if number else TRIALS
        for folder in (site.tree.root, site.tree.full(harnesses.HOOK_FOLDER)):
            problem = _try(site, line, folder, trials, times)
            if problem:
                return Result(check, FAIL, f"{line.harness}: {problem}", "`init --force` renews hook and registration")
    slowest, best = max(times), min(times)
    text = _praise(hook) + f", {best * 1000:.0f} ms"
    if slowest > SLOW:
        return Result(check, FAIL, f"{text}, once {slowest:.1f} s", "look at the machine's load, or at the Python used")
    python = site.python(site.options.python)
    if python and best > 3 * site.bare_start(python):
        return Result(check, WARN, f"{text}: over three times a bare start", "look for a wrapper around Python")
    return Result(check, OK, text)


def _praise(hook: str) -> str:
    if hook == ALLOW:
        return "sanctioned append approved, 5 others left alone"
    return "raw write denied, read left alone, also from another folder"


def _try(site: Site, line: Registered, folder: str, trials: tuple[Trial, ...], times: list[float]) -> str:
    """Return what is wrong with the answers of one registered command line, empty where all are right."""
    root = site.tree.root
    variables = dict.fromkeys(("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR"), root)
    started_in = root if line.harness == "copilot" else folder
    for trial in trials:
        payload = _for_harness(trial.payload(root, folder), line)
        reply = probe.start(line.command, payload, started_in, variables)
        times.append(reply.seconds)
        expected = trial.guard if line.hook == GUARD else trial.allow if folder == root else ""
        said = reply.failure or probe.decision(reply.out)
        if said != expected or reply.code != 0:
            got = said or ("no opinion" if reply.code == 0 else f"exit {reply.code}")
            return f"{trial.name}: {got} instead of {expected or 'no opinion'}"
    return ""


def _for_harness(payload: bytes, line: Registered) -> bytes:
    """Return a payload in the words of a harness; one that is broken stays so."""
    try:
        call = json.loads(payload)
    except ValueError:
        return payload
    if line.harness == "codex" and line.hook == ALLOW:
        call["hook_event_name"] = "PermissionRequest"
    if line.harness not in EVENTS:
        return payload if line.harness != "codex" else json.dumps(call).encode()
    call["hook_event_name"] = EVENTS[line.harness]
    if call["tool_name"] == "Bash":
        call["tool_name"] = SHELL_TOOLS[line.harness]
        if line.harness == "cursor":
            call["command"] = call["tool_input"]["command"]
    return json.dumps(call).encode()
