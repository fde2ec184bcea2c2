"""Throw-away projects for the hooks, and the hooks themselves in this process."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from tests.support import REPOSITORY, working_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

HOOKS = os.path.join(REPOSITORY, ".claude", "hooks")
SOURCE = os.path.join(HOOKS, "source")
ALLOW = os.path.join(HOOKS, "handoff-allow.py")
GUARD = os.path.join(HOOKS, "handoff-log-guard.py")
if SOURCE not in sys.path:
    sys.path.append(SOURCE)

import allow_judge  # noqa: E402 - the path is set just above
import guard_commands  # noqa: E402
import guard_payload  # noqa: E402
import guard_plain  # noqa: E402
import guard_shell  # noqa: E402
import guard_start  # noqa: E402

__all__ = ["allow_judge", "guard_commands", "guard_payload", "guard_plain", "guard_shell", "guard_start"]
LOG = '{"type": "dispatch-start", "req_id": "REQ-PAY-014"}\n{"type": "build-pass", "req_id": "REQ-PAY-014"}\n'
FILES = {
    "scripts/handoff.py": "print('stub')\n",
    ".scratch/handoff.jsonl": LOG,
    ".scratch/handoff.seal": '{"line":1}\n',
    ".scratch/handoff.lock": "",
    "docs/a.md": "alpha\n",
    "new.jsonl": '{"x":1}\n',
}
PROTECTED = (".scratch/handoff.jsonl", ".scratch/handoff.seal", ".scratch/handoff.lock")


def load(path: str) -> ModuleType:
    """Return a hook file as a module; its main part does not run."""
    name = os.path.basename(path)[:-3].replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GUARD_HOOK = load(GUARD)
ALLOW_HOOK = load(ALLOW)


def put(path: str, text: str) -> None:
    """Write a file, its folders too."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as opened:
        opened.write(text)


def lay_out(home: str, steps: list[list[str]]) -> str:
    """Make a project below `home`, take the steps of a vector in it, and return its root."""
    root = os.path.join(home, "proj")
    for name, text in FILES.items():
        put(os.path.join(root, name), text)
    os.makedirs(os.path.join(home, "other", ".scratch"))
    put(os.path.join(home, "other", "scripts", "handoff.py"), "print('other')\n")
    for verb, *rest in steps:
        STEPS[verb](root, *rest)
    return root


def remove(path: str) -> None:
    """Remove a file or a folder."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)


STEPS: dict[str, Any] = {
    "write": lambda root, path, text: put(os.path.join(root, path), text),
    "mkdir": lambda root, path: os.makedirs(os.path.join(root, path)),
    "remove": lambda root, path: remove(os.path.join(root, path)),
    "move": lambda root, old, new: os.rename(os.path.join(root, old), os.path.join(root, new)),
    "symlink": lambda root, target, path: os.symlink(target, os.path.join(root, path)),
    "link": lambda root, old, new: os.link(os.path.join(root, old), os.path.join(root, new)),
}


@contextlib.contextmanager
def project(steps: list[list[str]] | None = None) -> Iterator[str]:
    """Make a project for the length of a `with` block; the value is its root."""
    home = os.path.realpath(tempfile.mkdtemp(prefix="handoff-hook-"))
    try:
        yield lay_out(home, steps or [])
    finally:
        shutil.rmtree(home, ignore_errors=True)


def filled(value: Any, root: str) -> Any:
    """Return a value of a vector with its repeats written out and its places filled in."""
    if isinstance(value, dict) and set(value) == {"$repeat"}:
        value = "".join(text * count for text, count in value["$repeat"])
    if isinstance(value, str):
        return value.replace("{PROJ}", root).replace("{HOME}", os.path.dirname(root))
    if isinstance(value, dict):
        return {key: filled(item, root) for key, item in value.items()}
    return [filled(item, root) for item in value] if isinstance(value, list) else value


def stdin_of(vector: dict[str, Any], root: str) -> bytes:
    """Return the bytes that a vector puts on the hook's stdin."""
    if "raw_b64" in vector:
        return base64.b64decode(vector["raw_b64"])
    if "raw" in vector:
        return bytes(filled(vector["raw"], root).encode("utf-8", "surrogatepass"))
    payload = filled(vector["payload"], root)
    if "--harness" not in vector.get("args", []):
        path = os.path.join(os.path.dirname(root), "t.jsonl")
        payload = {"session_id": "s1", "transcript_path": path, "hook_event_name": "PreToolUse", **payload}
    cwd = vector.get("cwd", "{PROJ}")
    if cwd is not None and "cwd" not in payload:
        payload["cwd"] = filled(cwd, root)
    return json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")


def environment(vector: dict[str, Any], root: str) -> dict[str, str]:
    """Return the variables of a vector's run."""
    found = {"PATH": os.environ.get("PATH", ""), "HOME": os.path.dirname(root), "CLAUDE_PROJECT_DIR": root}
    for key, value in (vector.get("env") or {}).items():
        found.pop(key, None)
        if value is not None:
            found[key] = filled(value, root)
    return found


def allow_answer(data: bytes, harness: str, environ: dict[str, str]) -> str:
    """Return what the allow hook prints, in this process; any trouble is silence there."""
    try:
        return str(allow_judge.answer(data, harness, environ)) if b"scripts/handoff.py" in data else ""
    except Exception:  # noqa: BLE001 - as in the hook itself
        return ""


def guard_answer(data: bytes, harness: str, environ: dict[str, str]) -> str:
    """Return what the guard prints, in this process."""
    return "" if ends_early(data) else str(guard_payload.answer(data, harness, environ))


def answers(vector: dict[str, Any], root: str) -> tuple[str, str, bool]:
    """Return what both hooks print for a vector, and whether one of the guard's quick looks ends it."""
    data = stdin_of(vector, root)
    arguments = vector.get("args", [])
    environ = environment(vector, root)
    cwd = filled(vector.get("cwd") or "", root)
    cwd = cwd if isinstance(cwd, str) and os.path.isabs(cwd) and os.path.isdir(cwd) else root
    with working_folder(cwd):
        allowed = allow_answer(data, ALLOW_HOOK.harness_of(arguments), environ)
        denied = str(guard_payload.answer(data, guard_start.harness_of(arguments), environ))
    return allowed, denied, ends_early(data)


def ends_early(data: bytes) -> bool:
    """Return whether one of the guard's two quick looks ends the call."""
    if GUARD_HOOK.is_harmless(data):
        return True
    return bool(guard_start.looks_plain(data))


def bash_payload(command: str, root: str) -> bytes:
    """Return the payload of a Bash call in the root."""
    return json.dumps({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": root}).encode()


def is_denied(command: str, root: str) -> bool:
    """Return whether the guard denies a shell command in the root."""
    environ = {"HOME": os.path.dirname(root), "CLAUDE_PROJECT_DIR": root}
    return guard_answer(bash_payload(command, root), "claude", environ) != ""


def is_allowed(command: str, root: str) -> bool:
    """Return whether the allow hook approves a shell command in the root."""
    return allow_answer(bash_payload(command, root), "claude", {"CLAUDE_PROJECT_DIR": root}) != ""
