"""Follows Markdown fences through the lines of a text (gate.md 4). Imports nothing of ours."""

from __future__ import annotations

import re

_OPENS = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_CLOSES = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")


class Fence:
    """The fence that a line stands in, if any."""

    __slots__ = ("_mark",)

    def __init__(self) -> None:
        self._mark = ""

    @property
    def is_open(self) -> bool:
        """Say whether the next line stands inside a fence."""
        return bool(self._mark)

    def opens(self, line: str) -> bool:
        """Take a line outside of fences; say whether it opens one."""
        match = _OPENS.match(line)
        self._mark = match.group(1) if match else ""
        return match is not None

    def closes(self, line: str) -> bool:
        """Take a line inside a fence; say whether it ends it."""
        match = _CLOSES.match(line)
        if match is None or match.group(1)[0] != self._mark[0] or len(match.group(1)) < len(self._mark):
            return False
        self._mark = ""
        return True

    def end(self) -> None:
        """End the fence whatever the lines say."""
        self._mark = ""
