"""Where a project's files lie and what its `scripts/layout.toml` says.

Follows ledger.md 1. Imports `errors` and `jsonl` alone.
"""

from __future__ import annotations

import os
import stat

from handoff_core.errors import HandoffError, UsageError, os_text

LAYOUT_LIMIT = 65_536
DEEP_KEY = r"""(?:["']?[A-Za-z0-9_-]+["']?[ \t]*\.[ \t]*){100}"""
"""A dotted key of more than a hundred parts, which costs the TOML parser time by the square of their number."""

MARKERS = (".scratch", os.path.join("scripts", "handoff.py"), ".git")
LOG_NAME = ".scratch/handoff.jsonl"
SCHEMAS_NAME = "schemas/scratch"
LAYOUT_NAME = "scripts/layout.toml"


class Project:
    """The files of one project: each as the path that is opened and as the name that messages show.

    `schemas` is None when the shipped schemas are used.
    """

    __slots__ = (
        "layout",
        "layout_shown",
        "lock",
        "lock_shown",
        "log",
        "log_given",
        "log_shown",
        "root",
        "schemas",
        "schemas_shown",
        "seal",
        "seal_shown",
    )

    def __init__(self, root: str, file: str | None, schemas: str | None, layout: str | None) -> None:
        self.root = root
        self.log_given = file is not None
        self.log_shown = LOG_NAME if file is None else file
        self.log = os.path.join(root, *LOG_NAME.split("/")) if file is None else _from_here(file, root)
        stem, shown_stem = log_stem(self.log), log_stem(self.log_shown)
        self.lock, self.lock_shown = stem + ".lock", shown_stem + ".lock"
        self.seal, self.seal_shown = stem + ".seal", shown_stem + ".seal"
        self.schemas, self.schemas_shown = _schemas(root, schemas)
        self.layout_shown = LAYOUT_NAME if layout is None else layout
        self.layout = os.path.join(root, *LAYOUT_NAME.split("/")) if layout is None else _from_here(layout, root)

    def torn(self, line: int) -> tuple[str, str]:
        """Return path and shown name of the file that takes the torn line `line` (ledger.md 6.3)."""
        return f"{log_stem(self.log)}.torn-{line}", f"{log_stem(self.log_shown)}.torn-{line}"

    def read_layout(self) -> dict[str, object]:
        """Return the layout as a table, empty if there is none; raise HandoffError if it is broken."""
        return load(self.layout, self.layout_shown)


def log_stem(path: str) -> str:
    """Return the log's path without a final `.jsonl`: its companions are named after it."""
    return path.removesuffix(".jsonl")


def find_project(
    root: str | None = None, file: str | None = None, schemas: str | None = None, layout: str | None = None
) -> Project:
    """Return the project that the shared flags name (ledger.md 1); raise UsageError for a `--root` that is none."""
    return Project(find_root(root), file, schemas, layout)


def find_root(root: str | None) -> str:
    """Return the absolute project root: `--root`, else the nearest marked folder, else the current folder."""
    if root is not None:
        if not os.path.isdir(root):
            raise UsageError(f"--root: {root} is not a directory")
        return root if os.path.isabs(root) else os.path.join(current_folder(), root)
    here = folder = current_folder()
    while True:
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in MARKERS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent


def current_folder() -> str:
    """Return the current folder; raise HandoffError if it is gone."""
    try:
        return os.getcwd()
    except OSError as error:
        raise HandoffError(f"cannot find the current directory: {os_text(error)}") from None


def load(path: str, shown: str) -> dict[str, object]:
    """Return the TOML table at `path`, empty if it is no regular file; raise HandoffError if it is broken."""
    data = _layout_bytes(path, shown)
    if data is None:
        return {}
    import re
    import tomllib

    from handoff_core.jsonl import JsonError, decode

    try:
        text = decode(data)
        if re.search(DEEP_KEY, text):
            raise RecursionError
        return tomllib.loads(text.replace("\r\n", "\n"))
    except JsonError as error:
        reason = error.reason
    except RecursionError:
        reason = "nesting too deep"
    except ValueError as error:
        reason = str(error)
    raise _broken(shown, reason)


def lookup(layout: dict[str, object], dotted: str) -> object:
    """Return the value of a dotted key such as `gate.verbs`, or None where a part is missing or no table."""
    value: object = layout
    for part in dotted.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def _from_here(path: str, root: str) -> str:
    """Return a flag's path as an absolute one; with the current folder gone an absolute path still works."""
    if os.path.isabs(path):
        return path
    del root
    return os.path.join(current_folder(), path)


def _schemas(root: str, schemas: str | None) -> tuple[str | None, str]:
    if schemas is not None:
        return _from_here(schemas, root), schemas
    folder = os.path.join(root, *SCHEMAS_NAME.split("/"))
    return (folder, SCHEMAS_NAME) if os.path.isdir(folder) else (None, "the shipped schemas")


def _layout_bytes(path: str, shown: str) -> bytes | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as opened:
            data = opened.read(LAYOUT_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _broken(shown, os_text(error) if isinstance(error, OSError) else str(error)) from None
    if len(data) > LAYOUT_LIMIT:
        raise _broken(shown, f"larger than {LAYOUT_LIMIT} bytes")
    return data


def _broken(shown: str, reason: str) -> HandoffError:
    return HandoffError(f"{shown} exists but cannot be parsed: {reason}")
