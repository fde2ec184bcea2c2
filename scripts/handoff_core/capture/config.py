"""Reads `handoff.config.json`: every accepted key acts, anything else is refused by name (capture.md 4).

Imports `jsonl` and `errors`; the folder to begin in and the root are handed in.
"""

from __future__ import annotations

import os
import stat

from handoff_core.errors import USAGE, HandoffError, os_text
from handoff_core.jsonl import JsonError, decode, parse
from handoff_core.text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAME = "handoff.config.json"
SIZE_LIMIT = 64 * 1024
SCHEMA_ENDING = "handoff.config.schema.json"
STORE = ".scratch/handoffs"


class Config:
    """What the configuration says, or its defaults; `folder` is where it lies, None without one."""

    __slots__ = (
        "exclude", "folder", "handoff_dir", "implementer_role", "include", "max_brief_tokens", "max_tool_output",
        "project_name", "subagents",
    )  # fmt: skip

    def __init__(self) -> None:
        self.folder: str | None = None
        self.handoff_dir: str | None = None
        self.project_name = ""
        self.implementer_role = "backend"
        self.max_brief_tokens = 30000
        self.subagents = False
        self.include: list[str] = []
        self.exclude: list[str] = []
        self.max_tool_output = 0


def read_config(start: str, root: str) -> Config:
    """Return the nearest configuration from `start` upwards, not above `root`; the defaults where there is none.

    Raises HandoffError with exit 2 for one that cannot be read, that is no strict JSON, or that holds any other key,
    type or value.
    """
    config = Config()
    path = _nearest(start, root)
    if path is None:
        return config
    value = _parsed(path)
    config.folder = os.path.dirname(path)
    problems = [problem for key, entry in value.items() for problem in _take(config, key, entry)]
    if problems:
        raise HandoffError([f"{NAME}: {problem}" for problem in problems], code=USAGE)
    if config.handoff_dir is not None:
        config.handoff_dir = _inside(os.path.join(config.folder, config.handoff_dir), root)
    return config


def _nearest(start: str, root: str) -> str | None:
    folder, top = os.path.abspath(start), os.path.abspath(root)
    while True:
        path = os.path.join(folder, NAME)
        if os.path.lexists(path):
            return path
        parent = os.path.dirname(folder)
        if folder in (top, parent) or not _is_under(folder, top):
            path = os.path.join(top, NAME)
            return path if os.path.lexists(path) else None
        folder = parent


def _is_under(folder: str, top: str) -> bool:
    return folder == top or folder.startswith(top.rstrip(os.sep) + os.sep)


def _parsed(path: str) -> dict[str, Any]:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise HandoffError(f"{NAME}: not a regular file", code=USAGE)
        with open(path, "rb") as opened:
            data = opened.read(SIZE_LIMIT + 1)
        if len(data) > SIZE_LIMIT:
            raise HandoffError(f"{NAME}: larger than {SIZE_LIMIT} bytes", code=USAGE)
        value = parse(decode(data))
    except OSError as error:
        raise HandoffError(f"{NAME}: cannot be read: {os_text(error)}", code=USAGE) from None
    except JsonError as error:
        raise HandoffError(f"{NAME}: no strict JSON: {error.reason}", code=USAGE) from None
    if not isinstance(value, dict):
        raise HandoffError(f"{NAME}: not a JSON object", code=USAGE)
    return value


def _take(config: Config, key: str, value: Any) -> list[str]:
    """Put one accepted entry into `config`; return what is wrong with it, if anything."""
    if key == "capture":
        if not isinstance(value, dict):
            return ["capture: must be an object"]
        return [problem for name, entry in value.items() for problem in _take(config, f"capture.{name}", entry)]
    rule = KEYS.get(key)
    if rule is None:
        return [f"{key if key.isprintable() else quote(key)}: no such key"]
    fits, what, name = rule
    if not fits(value):
        return [f"{key}: {quote(value)} is not {what}"]
    if name:
        setattr(config, name, value)
    return []


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_schema(value: Any) -> bool:
    return isinstance(value, str) and value.endswith(SCHEMA_ENDING)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _is_number(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


KEYS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "$schema": (_is_schema, f"a text that ends in {SCHEMA_ENDING}", ""),
    "version": (lambda value: type(value) is int and value == 1, "1", ""),
    "handoff_dir": (lambda value: _is_text(value) and "\0" not in value, "a non-empty text", "handoff_dir"),
    "project_name": (_is_text, "a non-empty text", "project_name"),
    "implementer_role": (lambda value: value in ("backend", "frontend"), "backend or frontend", "implementer_role"),
    "max_brief_tokens": (_is_number(1000, 100_000), "a whole number from 1000 to 100000", "max_brief_tokens"),
    "capture.subagents": (lambda value: type(value) is bool, "true or false", "subagents"),
    "capture.include": (_is_texts, "a list of non-empty texts", "include"),
    "capture.exclude": (_is_texts, "a list of non-empty texts", "exclude"),
    "capture.max_tool_output": (_is_number(0, 1 << 53), "a whole number from 0", "max_tool_output"),
}  # fmt: skip
"""Every accepted key: its test, the test in words, and the field that it sets (capture.md 4)."""


def _inside(path: str, root: str) -> str:
    """Return the store folder of the configuration; raise HandoffError if it leads out of the root."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if real == top or not _is_under(real, top):
        raise HandoffError(f"{NAME}: handoff_dir: must be a folder inside the project root", code=USAGE)
    return os.path.normpath(path)
