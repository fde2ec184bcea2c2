"""Run shell commands in throw-away projects and see what they did."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import NamedTuple

from tests.hooks.project import PROTECTED, project

SHELLS = tuple(name for name in ("bash", "zsh", "sh") if shutil.which(name))
MISSING = tuple(name for name in ("bash", "zsh", "sh") if name not in SHELLS)
PATH = "/usr/local/bin:/usr/bin:/bin"
RECORDER = """#!/bin/sh
{ printf '%s\\0' "$PWD" "$@"; printf 'stdin\\0'; cat; printf '\\0end\\0'; } >> "$RECORD"
"""


class State(NamedTuple):
    """What a protected file is: its bytes, mode, number of links; None if it is missing."""

    data: bytes
    mode: int
    links: int


def run(shell: str, command: str, cwd: str, variables: dict[str, str] | None = None) -> int | None:
    """Run a command in a shell with an empty stdin; return its exit code, None if it had to be stopped."""
    home = os.path.dirname(cwd)
    environ = {"PATH": PATH, "HOME": home, "ZDOTDIR": home, "LC_ALL": "C.UTF-8", "CLAUDE_PROJECT_DIR": cwd}
    environ.update(variables or {})
    options = {"zsh": ["-f"], "bash": ["--norc", "--noprofile"]}.get(shell, [])
    try:
        done = subprocess.run(
            [shell, *options, "-c", command],
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=10,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def protected_states(root: str) -> dict[str, State | None]:
    """Return the state of each protected file."""
    found: dict[str, State | None] = {}
    for name in PROTECTED:
        path = os.path.join(root, name)
        try:
            status = os.stat(path)
            with open(path, "rb") as opened:
                found[name] = State(opened.read(), status.st_mode, status.st_nlink)
        except OSError:
            found[name] = None
    return found


def changes(command: str, steps: list[list[str]] | None = None, shells: tuple[str, ...] = ("bash", "zsh")) -> list[str]:
    """Return the shells in which the command, with `{PROJ}` and `{HOME}` filled in, changes a protected file."""
    found = []
    for shell in shells:
        if shell in SHELLS:
            with project(steps) as root:
                before = protected_states(root)
                run(shell, command.replace("{PROJ}", root).replace("{HOME}", os.path.dirname(root)), root)
                if protected_states(root) != before:
                    found.append(shell)
    return found


def snapshot(folder: str) -> dict[str, tuple[int, int, int]]:
    """Return size, mode and time of every file and folder below a folder."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(place, name)
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (status.st_size, status.st_mode, status.st_mtime_ns)
    return found
