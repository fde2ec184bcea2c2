"""Find the switch `protect_tools` in layout.toml by a scan of its lines (hooks.md 4.1)."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False


LAYOUT_LIMIT = 64 * 1024


def protects_tools(path: str) -> bool:
    """Return whether the layout asks to protect the tools: anything but `false` does, a slip among it."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
    except (OSError, ValueError):
        return False
    try:
        with open(path, "rb") as opened:
            data = opened.read(LAYOUT_LIMIT + 1)
    except OSError:
        return True
    found = switch_in(data[:LAYOUT_LIMIT].decode("utf-8-sig", "replace"))
    return len(data) > LAYOUT_LIMIT if found is None else found


def switch_in(text: str) -> bool | None:
    """Return the value of `protect_tools` in the text of a layout, or None if it is not set."""
    table, found = "", None
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            table = bare(line.partition("]")[0][1:]) or "?"
            continue
        key, equals, value = line.partition("=")
        if not equals or line.startswith("#"):
            continue
        name = ".".join(bare(part) for part in key.split("."))
        full = f"{table}.{name}" if table else name
        if full == "harness" and "protect_tools" in value:
            value = value.partition("protect_tools")[2].partition("=")[2].strip(" \t}")
        elif full != "harness.protect_tools":
            continue
        found = bool(found) or value.partition("#")[0].strip() != "false"
    return found


def bare(key: str) -> str:
    """Return a part of a key without blanks and quotes."""
    return key.strip().strip("\"'")
