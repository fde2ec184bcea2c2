"""Compares what was captured with what was just read, and says what of it stays (capture.md 8).

Imports modules of `capture` alone.
"""

from __future__ import annotations

import json
from array import array

from handoff_core.capture.redact import PLACEHOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO


class Change:
    """What becomes of one source: turns kept before and behind the ones just read, how many are new or replaced."""

    __slots__ = ("added", "behind", "first", "front", "rewritten")

    def __init__(self, front: int = 0, behind: int = 0, added: int = 0, rewritten: int = 0, first: int = 0) -> None:
        self.front = front
        """Captured turns that stay as gone before the turns just read."""
        self.behind = behind
        """Captured turns that stay as gone after them."""
        self.added = added
        self.rewritten = rewritten
        self.first = first
        """Number of the first captured turn that was replaced, from 1; 0 if none was."""

    @property
    def kept(self) -> int:
        """Return the number of turns that are no longer in the source."""
        return self.front + self.behind


def compare(old: array[int], new: array[int]) -> Change:
    """Return what becomes of a source by the identities of its captured turns and of those just read."""
    same = _common(old, new)
    if same == len(old):
        return Change(added=len(new) - same)
    if same == len(new):
        return Change(behind=len(old) - same)
    overlap = _overlap(old, new)
    if overlap:
        return Change(front=len(old) - overlap, added=len(new) - overlap)
    return Change(added=len(new) - same, rewritten=len(old) - same, first=same + 1)


def _common(old: array[int], new: array[int]) -> int:
    shorter = min(len(old), len(new))
    if old[:shorter] == new[:shorter]:
        return shorter
    return next(index for index in range(shorter) if old[index] != new[index])


def _overlap(old: array[int], new: array[int]) -> int:
    """Return how many turns at the end of `old` are the beginning of `new`, in linear time."""
    fallback = array("q", [0])
    length = 0
    for item in new[1:]:
        while length and item != new[length]:
            length = fallback[length - 1]
        length += item == new[length]
        fallback.append(length)
    length = 0
    for item in old:
        while length and (length == len(new) or item != new[length]):
            length = fallback[length - 1]
        length += item == new[length]
    return length


def identity(turn: dict[str, Any]) -> int:
    """Return by what a captured turn is known: class, kind, time, tool, call, failure, masked text.

    Numbers of secrets are left out: they depend on what else the fileset holds.
    """
    fields = (turn["class"], turn["kind"], turn["ts"], turn.get("tool"), turn.get("call"), turn.get("error"))
    return hash((*map(unnumbered, fields), unnumbered(turn["text"])))


def unnumbered(value: Any) -> Any:
    """Return a masked text without the numbers of its secrets, any other value as it is."""
    if type(value) is str and "[REDACTED:" in value:
        return PLACEHOLDER.sub(r"[REDACTED:\1]", value)
    return value


class Captured:
    """A timeline that is there: its turns, source by source."""

    def __init__(self, file: BinaryIO) -> None:
        """Read a timeline once, to learn where each source's turns begin; raise ValueError for a damaged one."""
        self._file = file
        self._places: dict[int, tuple[int, int]] = {}
        offset = 0
        file.seek(0)
        for line in file:
            src = _source_of(line)
            start, count = self._places.get(src, (offset, 0))
            self._places[src] = (start, count + 1)
            offset += len(line)

    def count(self, src: int) -> int:
        """Return the number of turns of a source."""
        return self._places.get(src, (0, 0))[1]

    def turns(self, src: int) -> Iterator[dict[str, Any]]:
        """Yield the turns of a source, as they stand in the file."""
        start, count = self._places.get(src, (0, 0))
        offset = start
        for _ in range(count):
            self._file.seek(offset)
            line = self._file.readline()
            offset += len(line)
            yield json.loads(line)

    def identities(self, src: int) -> array[int]:
        """Return the identities of a source's turns."""
        return array("q", map(identity, self.turns(src)))


def _source_of(line: bytes) -> int:
    """Return the number of a line's source; the text may hold the same words, so it is looked for behind it."""
    value = json.loads(line)
    src = value["src"]
    if type(src) is not int:
        raise TypeError("src")
    return src


def greatest_number(turns: Iterable[dict[str, Any]]) -> int:
    """Return the greatest number of a secret in some turns, 0 without one."""
    greatest = 0
    for turn in turns:
        for value in turn.values():
            if type(value) is str and "[REDACTED:" in value:
                numbers = (int(match.group(2)) for match in PLACEHOLDER.finditer(value) if match.group(2))
                greatest = max(greatest, *numbers, 0)
    return greatest


def shifted(text: str, shift: int) -> str:
    """Return a masked text with the numbers of its secrets raised, so that they differ from those that are kept."""
    return PLACEHOLDER.sub(
        lambda m: f"[REDACTED:{m.group(1)}:{int(m.group(2)) + shift}]" if m.group(2) else m.group(), text
    )
