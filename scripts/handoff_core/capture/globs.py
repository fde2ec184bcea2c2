"""Chooses files by patterns: `*` stays within one folder, `**` does not (capture.md 2.3). Imports nothing of ours."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def fits(path: str, pattern: str) -> bool:
    """Say whether a relative path with `/` matches a pattern as a whole."""
    parts = (_MEANINGS.get(part) or re.escape(part) for part in _PARTS.findall(pattern))
    return re.fullmatch("".join(parts), path, re.DOTALL) is not None


def chosen(path: str, include: Iterable[str], exclude: Iterable[str]) -> bool:
    """Say whether a file counts: it fits an included pattern, if there is any, and no excluded one."""
    include = list(include)
    if any(fits(path, pattern) for pattern in exclude):
        return False
    return not include or any(fits(path, pattern) for pattern in include)
