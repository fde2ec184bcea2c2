"""Reads the sources of a session into a timeline, and accounts for every record (capture.md 5.6, 8).

Imports modules of `capture` alone.
"""

from __future__ import annotations

import gc

from handoff_core.capture.growth import unnumbered
from handoff_core.capture.readers.table import function, reader
from handoff_core.capture.turns import MERGED, SKIPPED, TOKEN_KINDS, USED, Known, Session, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from handoff_core.capture.source import Folder, Source
    from handoff_core.capture.timeline import Preparer, Timeline

KINDS_KEPT = 100
REST = "…"
_KIND_LENGTH = 80


class Tally:
    """What was read of one source."""

    def __init__(self, source: Source | Folder, session: Session) -> None:
        self.source = source
        self.session = session
        self.turns = 0
        self.fates = {"used": 0, "merged": 0, "skipped": 0}
        self.kinds: dict[str, int] = {}
        self.kept = 0
        self.rewritten = 0

    def row(self, mask: Callable[[str], str]) -> dict[str, Any]:
        """Return the source's row in the manifest (capture.md 10.5)."""
        source, bad = self.source, self.source.bad
        return {
            "name": mask(source.name),
            "bytes": source.bytes,
            "sha256": source.sha256,
            "reader": source.reader,
            "turns": self.turns,
            "records": {"read": sum(self.fates.values()) + bad, **self.fates, "bad": bad},
            "kinds": _shown_kinds(self.kinds, mask),
            "bad_lines": source.bad_lines,
            "tail_bytes": source.tail_bytes,
            "healed": source.healed,
            "replaced": source.replaced,
            "spilled": source.spilled,
            "sidecars": [{**sidecar, "name": mask(sidecar["name"])} for sidecar in source.sidecars],
            "kept": self.kept,
            "rewritten": self.rewritten,
        }


def _shown_kinds(kinds: dict[str, int], mask: Callable[[str], str]) -> dict[str, int]:
    """Return at most 100 kinds, the most frequent ones, by name; the rest is counted under `…`."""
    most = sorted(kinds, key=lambda kind: (-kinds[kind], kind))
    kept = most if len(most) <= KINDS_KEPT else most[: KINDS_KEPT - 1]
    shown: dict[str, int] = {}
    for kind in sorted(kept):
        name = mask(kind)[:_KIND_LENGTH]
        shown[name] = shown.get(name, 0) + kinds[kind]
    if len(most) > len(kept):
        shown[REST] = sum(kinds[kind] for kind in most[len(kept) :])
    return shown


class Earlier:
    """The turns of earlier sources, so that a later one does not repeat them (capture.md 8, Across sources)."""

    def __init__(self) -> None:
        self._before: list[Known] = []
        self._own = Known()

    def begin_source(self) -> None:
        """Count what was added until now as earlier."""
        self._before.append(self._own)
        self._own = Known()

    def has(self, turn: Turn) -> bool:
        """Say whether an earlier source has this prepared turn; remember it for later sources if not."""
        key = key_of(turn)
        if key is None:
            return False
        if any(key in known for known in self._before):
            return True
        self._own.add(key)
        return False


def key_of(turn: Turn) -> object:
    """Return by what a turn is known across sources, None if it cannot be."""
    text = unnumbered(turn.text)
    if turn.rid:
        return turn.rid, turn.kind, turn.call, text
    return (turn.class_, turn.kind, text, turn.ts) if turn.ts else None


def read_source(
    tally: Tally, number: int, timeline: Timeline, preparer: Preparer, earlier: Earlier | None, tick: Callable[[], None]
) -> None:
    """Read one source to its end, its turns into `timeline` under the source's number."""
    # Values of JSON never hold themselves, so that looking for such rings among them only costs time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        _read(tally, number, timeline, preparer, earlier, tick)
    finally:
        if collecting:
            gc.enable()


def _read(
    tally: Tally, number: int, timeline: Timeline, preparer: Preparer, earlier: Earlier | None, tick: Callable[[], None]
) -> None:
    source, session = tally.source, tally.session
    row = reader(source.reader)
    if row is None:
        raise LookupError(source.reader)
    timeline.begin_source()
    if earlier is not None:
        earlier.begin_source()
    kinds, fates, prepare, add = tally.kinds, tally.fates, preparer.prepare, timeline.add
    pending, agent, unstamped = session.pending, session.agent, source.unstamped
    before = timeline.seq
    count = 0
    for record, turns, fate in function(row)(source, session):
        kind = record.kind
        if kind is None:
            value = record.value
            kind = value.get("type") if type(value) is dict else type(value).__name__
            if type(kind) is not str:
                kind = ""
        kinds[kind] = kinds.get(kind, 0) + 1
        count += 1
        if not count & 255:
            tick()
        if not turns:
            fates[fate] += 1
            continue
        at, byte = record.at, unstamped(record.byte)
        used = lost = False
        for turn in turns:
            if agent is not None:
                turn.agent = agent
            if not prepare(turn):
                continue
            if earlier is not None and earlier.has(turn):
                lost = True
                continue
            if pending:
                turn.usage = taken(pending)
            add(turn, number, at, byte)
            used = True
        fates[_fate(session, used=used, lost=lost)] += 1
    tally.turns = timeline.seq - before
    source.replaced += preparer.replaced
    preparer.replaced = 0


def _fate(session: Session, *, used: bool, lost: bool) -> str:
    """Return what became of a record; if an earlier source has all its turns, its tokens were counted there."""
    if used:
        return USED
    if not lost:
        return SKIPPED
    _take_back(session)
    return MERGED


def taken(pending: dict[str, int]) -> dict[str, int]:
    """Return the tokens that wait, in the order of their kinds, and let none wait."""
    usage = {kind: pending[kind] for kind in TOKEN_KINDS if kind in pending}
    pending.clear()
    return usage


def _take_back(session: Session) -> None:
    """Uncount tokens of a record whose turns an earlier source has: they were counted there."""
    for kind, number in session.pending.items():
        session.usage[kind] -= number
    session.pending.clear()
