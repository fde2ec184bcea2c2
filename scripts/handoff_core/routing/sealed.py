"""Reads a large log whose seal agrees with it: lines that cannot matter to the decision are hashed, not parsed.

A line that its seal does not mark raw was written by `append`, which stores records alone and spells them one way; so
what is left of the strict reader's work is to see that no byte changed since. Imports `records`, `seal` and
`routing.facts`, `history`, `reader`.
"""

from __future__ import annotations

from handoff_core.jsonl import dump_ascii, dump_line
from handoff_core.records import DESIGN_BLOCK, INTAKE_DECISION
from handoff_core.routing.facts import fact
from handoff_core.routing.history import History
from handoff_core.routing.reader import DirtyLogError, entry_of, req_id_of
from handoff_core.seal import START, parse_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Entry = tuple[int, dict[str, Any]]

_RAW = b',"raw":true}\n'
FEW_RAW, RAW_SHARE = 500, 20
"""More raw lines than these, and more than one in so many, make the whole log be read."""

_CONSULTATIONS = b'"consultation-re'
"""How the types of requests and responses begin in a record."""


def read_sealed(data: bytes, seal: bytes, wanted: str | None) -> History | None:
    """Return the history of a log that agrees with its whole seal, None if it does not or a line is no record.

    The history serves decisions on the slice `wanted`, by default that of the last line.
    """
    raw = seal.count(_RAW)
    if raw > FEW_RAW and raw * RAW_SHARE > seal.count(b"\n"):
        return None  # each raw line is parsed: with many of them, reading the whole log is quicker
    lines = agreeing_lines(data, seal)
    if not lines:
        return None
    try:
        last = data.rfind(b"\n", 0, -1) + 1
        only = wanted or req_id_of(data[last:-1])
        starts = {last, *_raw_starts(data, seal)}
        return None if only is None else SealedHistory(data, lines, starts, only)
    except DirtyLogError:
        return None


class SealedHistory(History):
    """The history of one slice of a sealed log; what other slices say beside consultations is read when asked for.

    `lines` is the number of lines, `starts` are the offsets of those to parse in any case. Asked for what others say,
    it raises DirtyLogError if a line is no record after all.
    """

    def __init__(self, data: bytes, lines: int, starts: set[int], only: str) -> None:
        self._data = data
        self._starts = starts
        spellings = {dump(only).encode("utf-8", "surrogatepass") for dump in (dump_ascii, dump_line)}
        matter = starts.union(*(line_starts(data, needle) for needle in (_CONSULTATIONS, *spellings)))
        super().__init__(entries_at(data, matter), only=only, records=lines)

    @fact
    def _others(self) -> History:
        """Return the history of the design-blocks and intake-decisions of all slices."""
        needles = (f'"{kind}"'.encode() for kind in (DESIGN_BLOCK, INTAKE_DECISION))
        starts = self._starts.union(*(line_starts(self._data, needle) for needle in needles))
        return History(entries_at(self._data, starts))

    @fact
    def owner_spoke(self) -> bool:
        """Say whether the log holds an intake-decision by the human."""
        return self._others.owner_spoke

    @fact
    def waiting(self) -> list[str]:
        """Return the slices whose latest design-block says `refactor-first`, by code point."""
        return self._others.waiting


def agreeing_lines(data: bytes, seal: bytes) -> int:
    """Return the number of lines of a log whose bytes lead to the last line of its seal; 0 if they do not.

    A seal with a missing or torn line does not agree; the last line alone vouches for every byte.
    """
    from hashlib import sha256
    from io import BytesIO

    if not data.endswith(b"\n") or not seal.endswith(b"\n"):
        return 0
    last = parse_entry(seal[seal.rfind(b"\n", 0, -1) + 1 : -1])
    if last is None or last.end != len(data) or last.line != seal.count(b"\n"):
        return 0
    chain = START
    fresh = sha256().copy  # quicker than making a hash object anew
    for line in BytesIO(data):
        link = fresh()
        link.update(chain + line)
        chain = link.digest()
    return last.line if chain == last.chain and last.line == data.count(b"\n") else 0


def line_starts(data: bytes, needle: bytes) -> set[int]:
    """Return the offsets of the lines that hold some bytes."""
    starts = set()
    place = data.find(needle)
    while place >= 0:
        starts.add(data.rfind(b"\n", 0, place) + 1)
        place = data.find(needle, data.find(b"\n", place))
    return starts


def _raw_starts(data: bytes, seal: bytes) -> Iterator[int]:
    """Yield the offsets of the lines that the seal marks raw: append did not check them."""
    for place in line_starts(seal, _RAW):
        entry = parse_entry(seal[place : seal.find(b"\n", place)])
        if entry is None:
            raise DirtyLogError
        yield data.rfind(b"\n", 0, entry.end - 1) + 1


def entries_at(data: bytes, starts: Iterable[int]) -> Iterator[Entry]:
    """Yield the entries of the lines that begin at these offsets, in order; raise DirtyLogError at no record."""
    number, before = 1, 0
    for start in sorted(starts):
        number += data.count(b"\n", before, start)
        before = start
        yield number, entry_of(data[start : data.find(b"\n", start)])
