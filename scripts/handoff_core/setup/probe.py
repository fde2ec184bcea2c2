"""Starts a hook on one payload, as a harness would, and says what it answered.

Beside `git` the one place that starts a process: a hook that is only read is not known to fire.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 10
"""How long a hook may take before it counts as hanging."""

_CALLERS = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")


class Reply(NamedTuple):
    """What one started program left; `failure` says why it could not be started or did not end."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    failure: str = ""


def start(command: Sequence[str] | str, payload: bytes, folder: str, variables: dict[str, str]) -> Reply:
    """Start a command in `folder` with `payload` on its stdin; a text is run by the shell, a list without one.

    The environment is the caller's, with `variables` in the place of every harness's own project folder.
    """
    import subprocess
    import time

    environment = {name: value for name, value in os.environ.items() if name not in _CALLERS} | variables
    began = time.perf_counter()
    try:
        run = subprocess.run(  # noqa: S603 - the caller passes only forms that init writes
            command,
            input=payload,
            capture_output=True,
            check=False,
            cwd=folder,
            env=environment,
            shell=isinstance(command, str),
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Reply(-1, b"", b"", time.perf_counter() - began, f"no answer within {SECONDS} s")
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or str(error)
        return Reply(-1, b"", b"", time.perf_counter() - began, f"cannot be started: {text}")
    return Reply(run.returncode, run.stdout, run.stderr, time.perf_counter() - began)


def shell_call(command: str, folder: str, root: str) -> dict[str, Any]:
    """Return the payload of a shell call as Claude Code sends it, made in `folder` of the project `root`."""
    return {
        "session_id": "handoff-probe",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "cwd": folder or root,
    }


def decision(out: bytes) -> str:
    """Return `allow`, `deny` or empty for the answer of a hook of any harness; `unreadable` for anything else."""
    if not out:
        return ""
    try:
        answer = json.loads(out)
        inner = answer.get("hookSpecificOutput", answer)
        said = inner.get("permissionDecision") or inner.get("permission") or answer.get("decision")
        said = said or inner.get("decision", {}).get("behavior")
    except (ValueError, AttributeError):
        return "unreadable"
    return said if said in ("allow", "deny") else "unreadable"
