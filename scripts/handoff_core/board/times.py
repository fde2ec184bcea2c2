"""How long a slice took: at work, waiting, waiting for a person; and how far its clock can be trusted.

Follows view.md 5.8. Imports `records`, `board.rows`, `board.clock`, `board.steps`.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.clock import SECOND, Moment, between, overlap, total, union, without
from handoff_core.board.dispatches import OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.clock import Interval
    from handoff_core.board.rows import Row, Slice
    from handoff_core.board.steps import Step


class Fault:
    """One thing that is odd about a record's stamp: `seconds` ahead of the clock, or before that of row `above`."""

    __slots__ = ("above", "kind", "line", "seconds")

    def __init__(self, line: int, kind: str, seconds: float | None = None, above: int | None = None) -> None:
        self.line = line
        self.kind = kind
        self.seconds = seconds
        self.above = above

    def json(self) -> dict[str, Any]:
        """Return the fault as the Board holds it."""
        return {"line": self.line, "kind": self.kind, "seconds": self.seconds}


UNRELIABLE = ("missing", "unparseable", "future", "back-step")


class Gap:
    """A stretch in which nobody worked; `kind` is `human`, `quiet` or `between`."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, start: int, end: int, kind: str) -> None:
        self.start = Moment(start)
        self.end = Moment(end)
        self.kind = kind


class Times:
    """The times of one slice; lengths are in microseconds, None where no stamp can be used.

    `going` says that time runs on: somebody is at work or quiet, or a question waits for the human.
    """

    __slots__ = ("agents", "busy", "coarse", "end", "faults", "first", "gaps", "going", "human", "last", "stamps")

    def __init__(self, group: Slice, steps: list[Step]) -> None:
        usable = [row.usable for row in group.rows if row.usable is not None]
        self.first = min(usable, default=None)
        self.last = max(usable, default=None)
        self.faults = [fault for row in group.rows for fault in faults(row, group.clock)]
        self.stamps = len(group.rows)
        self.coarse = sum(row.stamp.coarse for row in group.rows)
        pending = pending_question(group)
        opened = any(step.dispatch is not None and step.dispatch.state == OPEN for step in steps)
        self.going = opened or pending is not None
        self.end = self.last if self.last is None or not self.going else Moment(max(self.last, group.clock))
        intervals = [found for step in steps if (found := step.interval(group)) is not None]
        self.agents = total(intervals)
        self.busy = union(intervals)
        self.gaps: list[Gap] = []
        self.human = 0
        if self.first is not None and self.end is not None:
            self._wait(without((self.first, self.end), self.busy), group, steps)

    def _wait(self, waits: list[Interval], group: Slice, steps: list[Step]) -> None:
        human = union(_human_windows(group))
        quiet = union([(since, group.clock) for step in steps if (since := step.quiet_from()) is not None])
        self.human = sum(overlap(wait, human) for wait in waits)
        for start, end in waits:
            half = (end - start) / 2
            kind = "between"
            if overlap((start, end), human) >= half:
                kind = "human"
            elif overlap((start, end), quiet) >= half:
                kind = "quiet"
            self.gaps.append(Gap(start, end, kind))

    @property
    def reliable(self) -> bool:
        """Say whether every stamp can be trusted."""
        return not any(fault.kind in UNRELIABLE for fault in self.faults)

    def json(self) -> dict[str, Any]:
        """Return the times as the Board holds them."""
        known = self.first is not None and self.end is not None
        wall = between(self.first, self.end) if self.first is not None and self.end is not None else None
        busy = total(self.busy)
        return {
            "first": self.first,
            "last": self.last,
            "wall_seconds": wall,
            "busy_seconds": between(0, busy) if known else None,
            "agent_seconds": between(0, self.agents) if known else None,
            "waiting_seconds": between(busy, self.end - self.first)  # type: ignore[operator]
            if known
            else None,
            "human_seconds": between(0, self.human) if known else None,
            "reliable": self.reliable,
            "faults": [fault.json() for fault in self.faults],
            "coarse": self.coarse,
            "gaps": [
                {"start": gap.start, "end": gap.end, "seconds": between(gap.start, gap.end), "kind": gap.kind}
                for gap in self.gaps
                if gap.end - gap.start >= SECOND
            ],
        }


def faults(row: Row, clock: int) -> list[Fault]:
    """Return what is odd about the stamp of a row."""
    found = []
    if row.stamp.fault is not None:
        found.append(Fault(row.line, row.stamp.fault))
    moment = row.moment
    if moment is not None and row.usable is None:
        found.append(Fault(row.line, "future", between(clock, moment)))
    if row.back is not None and row.back.moment is not None and moment is not None:
        found.append(Fault(row.line, "back-step", between(moment, row.back.moment), row.back.line))
    return found


def pending_question(group: Slice) -> Row | None:
    """Return the question to the human that waits in a slice: its last request, unanswered (route.md 8.3)."""
    request = group.latest(r.CONSULTATION_REQUEST)
    answer = group.latest(r.CONSULTATION_RESPONSE)
    if request is None or not asks_human(request) or (answer is not None and answer.line > request.line):
        return None
    return request


def asks_human(request: Row) -> bool:
    """Say whether a consultation-request names the human (route.md 2)."""
    target = request.record.get("target")
    return isinstance(target, str) and target.strip().casefold() == r.HUMAN


def _human_windows(group: Slice) -> list[Interval]:
    """Return the stretches from each question to the human to the next response, or to the clock while it waits."""
    pending = pending_question(group)
    windows = []
    for request in group.of(r.CONSULTATION_REQUEST):
        if not asks_human(request) or request.usable is None:
            continue
        released = (r.CONSULTATION_RESPONSE, r.CONSULTATION_REQUEST)
        following = next((row for row in group.of(*released) if row.line > request.line), None)
        end = group.clock if request is pending else following.usable if following else None
        if end is not None and end > request.usable:
            windows.append((int(request.usable), int(end)))
    return windows
