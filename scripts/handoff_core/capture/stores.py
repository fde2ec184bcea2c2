"""Expands the places where harnesses keep their sessions (formats.md 1). Environment and home are handed in."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+):-([^${}]*)\}")


def expanded(pattern: str, environ: Mapping[str, str], home: str, project: str) -> str:
    """Return a store's pattern with variables, the home folder and the project filled in; empty without a home."""
    pattern = pattern.replace("{project}", project)
    while match := _VARIABLE.search(pattern):
        value = environ.get(match.group(1)) or match.group(2)
        pattern = pattern[: match.start()] + value + pattern[match.end() :]
    if pattern.startswith("~"):
        return home + pattern[1:] if home else ""
    return pattern


def fixed_part(pattern: str) -> str:
    """Return the folder above the first part of a pattern that holds a wildcard, or above the file it names."""
    parts = pattern.split("/")
    fixed = next((index for index, part in enumerate(parts) if "*" in part), len(parts) - 1)
    return "/".join(parts[:fixed])


def session_stores(environ: Mapping[str, str], home: str) -> Iterator[str]:
    """Yield the folders where the environment puts sessions, but for those inside a project."""
    from handoff_core.capture.readers.table import READERS

    for row in READERS:
        for store in row.stores:
            if "{project}" not in store.pattern:
                folder = fixed_part(expanded(store.pattern, environ, home, ""))
                if folder and os.path.isabs(folder):
                    yield folder
