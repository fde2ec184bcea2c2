"""Says what becomes of every source of a fileset that is built again, and writes the timeline anew (capture.md 8).

Imports modules of `capture` alone.
"""

from __future__ import annotations

from array import array

from handoff_core.capture import growth
from handoff_core.capture.reading import Earlier
from handoff_core.capture.timeline import turn_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from handoff_core.capture.growth import Captured, Change
    from handoff_core.capture.reading import Tally
    from handoff_core.capture.timeline import Timeline
    from handoff_core.capture.turns import Turn


class Changes:
    """What becomes of every source of a fileset that is built again (capture.md 8)."""

    def __init__(self, old: dict[str, Any], tallies: Sequence[Tally], captured: Captured, fresh: Captured) -> None:
        self.old_rows: list[dict[str, Any]] = list(old["sources"])
        self.tallies = tallies
        self.captured = captured
        self.fresh = fresh
        self.usage_kept: dict[str, int] = {}
        self._known = [str(row["name"]) for row in self.old_rows]
        self._mask = [tally.row(tally.session.mask) for tally in tallies]
        self._fresh_of = matched(self._known, [row["name"] for row in self._mask])
        new = [index for index in range(len(self.tallies)) if index not in self._fresh_of.values()]
        self.order: list[tuple[int | None, int | None]] = [
            *((index, self._fresh_of.get(index)) for index in range(len(self.old_rows))),
            *((None, index) for index in new),
        ]
        """Old and new number of each source, in the order of the manifest."""
        self._lost: dict[int, bytearray] = {}
        self.changes = self._compare()

    def _compare(self) -> list[Change | None]:
        """Return the change of each source, None for one that was not given."""
        earlier = Earlier() if len(self.order) > 1 else None
        changes: list[Change | None] = []
        for before, now in self.order:
            if earlier is not None:
                earlier.begin_source()
            if now is None:
                changes.append(None)
                if earlier is not None and before is not None:
                    for value in self.captured.turns(before):
                        earlier.has(turn_of(value))
                continue
            changes.append(self.change_of(before, self._identities(now, earlier)))
        return changes

    def change_of(self, before: int | None, new: array[int]) -> Change:
        """Return what becomes of one source, by its number in the manifest and the turns just read."""
        old = self.captured.identities(before) if before is not None else array("q")
        return growth.compare(old, new)

    def _identities(self, now: int, earlier: Earlier | None) -> array[int]:
        """Return the identities of the turns just read that no earlier source has; note which ones one has."""
        if earlier is None:
            return self.fresh.identities(now)
        found = array("q")
        lost = self._lost[now] = bytearray(self.fresh.count(now))
        for index, value in enumerate(self.fresh.turns(now)):
            if earlier.has(turn_of(value)):
                lost[index] = 1
            else:
                found.append(growth.identity(value))
        return found

    @property
    def added(self) -> int:
        """Return the number of new turns."""
        return sum(change.added for change in self.changes if change is not None)

    @property
    def rewritten(self) -> int:
        """Return the number of captured turns that were replaced."""
        return sum(change.rewritten for change in self.changes if change is not None)

    def needs_merge(self) -> bool:
        """Say whether the fileset holds more than what was just read."""
        kept = any(change is None or change.kept for change in self.changes)
        return kept or any(map(any, self._lost.values()))

    def mark(self, rows: list[dict[str, Any]]) -> None:
        """Write into the manifest's rows how many turns are kept and were replaced."""
        for row, change in zip(rows, self.changes, strict=True):
            if change is not None:
                row["kept"], row["rewritten"] = change.kept, change.rewritten

    def warnings(self) -> list[str]:
        """Return what the comparison lost or kept, one line each."""
        found = []
        for change, (before, _) in zip(self.changes, self.order, strict=True):
            kept = self.old_rows[before].get("kept", 0) if change is None and before is not None else 0
            kept = change.kept if change is not None else kept
            if kept:
                found.append(f"{kept} captured turns are no longer in the source; they are kept")
            if change is not None and change.rewritten:
                found.append(f"rewritten from turn {change.first} on; {change.rewritten} captured turns were replaced")
        return found

    def write(self, timeline: Timeline) -> list[dict[str, Any]]:
        """Write the turns of all sources in their order; return the sources' rows."""
        shift = self.shift()
        rows = []
        for number, ((before, now), change) in enumerate(zip(self.order, self.changes, strict=True)):
            timeline.begin_source()
            start = timeline.seq
            if change is None or now is None:
                for value in self.kept(number):
                    self._keep(timeline, value, number, gone=value.get("gone") is True)
                rows.append(dict(self.old_rows[before or 0]))
                continue
            old = list(self.kept(number))
            for value in old[: change.front]:
                self._keep(timeline, value, number, gone=True)
            self._add_new(timeline, now, number, shift)
            for value in old[change.front :]:
                self._keep(timeline, value, number, gone=True)
            rows.append({**self._row(now), "turns": timeline.seq - start})
        return rows

    def shift(self) -> int:
        """Return by how much the numbers of new secrets are raised, so that they differ from those that stay."""
        return growth.greatest_number(turn for index in range(len(self.order)) for turn in self.kept(index))

    def kept(self, index: int) -> Iterator[dict[str, Any]]:
        """Yield the captured turns of a source that stay."""
        (before, _), change = self.order[index], self.changes[index]
        if before is None:
            return
        count = self.captured.count(before)
        for place, value in enumerate(self.captured.turns(before)):
            if change is None or place < change.front or place >= count - change.behind:
                yield value

    def _keep(self, timeline: Timeline, value: dict[str, Any], number: int, *, gone: bool) -> None:
        turn = turn_of(value)
        for kind, count in (turn.usage or {}).items():
            self.usage_kept[kind] = self.usage_kept.get(kind, 0) + count
        timeline.add(turn, number, value["at"], value.get("byte"), gone=gone)

    def _add_new(self, timeline: Timeline, now: int, number: int, shift: int) -> None:
        for value, turn in self.new_turns(now):
            if shift:
                for field in turn.masked:
                    setattr(turn, field, growth.shifted(getattr(turn, field), shift))
            timeline.add(turn, number, value["at"], value.get("byte"))

    def new_turns(self, now: int) -> Iterator[tuple[dict[str, Any], Turn]]:
        """Yield the turns just read of a source that no earlier source has, as they stand and to be added."""
        lost = self._lost.get(now)
        for index, value in enumerate(self.fresh.turns(now)):
            if not (lost and lost[index]):
                yield value, turn_of(value)

    def _row(self, now: int) -> dict[str, Any]:
        """Return a source's row; records that lost all their turns to an earlier source are merged."""
        row = self._mask[now]
        lost = self._lost.get(now)
        if lost and any(lost):
            emptied = _emptied(self.fresh.turns(now), lost)
            row["records"]["used"] -= emptied
            row["records"]["merged"] += emptied
        return row


def _emptied(turns: Iterable[dict[str, Any]], lost: bytearray) -> int:
    """Return how many records gave only turns that are lost; turns of one place and id are of one record."""
    emptied = 0
    place: object = None
    whole = False
    for value, gone in zip(turns, lost, strict=True):
        here = (value["at"], value.get("byte"), value.get("rid"))
        if here != place:
            emptied += whole
            place, whole = here, True
        whole = whole and bool(gone)
    return emptied + whole


def matched(known: list[str], given: list[str]) -> dict[int, int]:
    """Return for each recorded source the given one of the same name; equal names are matched in order."""
    matched: dict[int, int] = {}
    for now, name in enumerate(given):
        before = next((i for i, old in enumerate(known) if old == name and i not in matched), None)
        if before is not None:
            matched[before] = now
    return matched
