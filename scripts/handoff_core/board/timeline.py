"""The geometry of the timeline: one axis, its cuts and ticks, and the lanes drawn in columns of characters.

Follows view.md 8.7; the page (11.1) uses the same axis in percent. Imports the board's parts.
"""

from __future__ import annotations

from handoff_core.board.clock import SECOND, Moment, between, union, without
from handoff_core.board.forms import duration
from handoff_core.board.steps import GRADE, is_rework

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.clock import Interval, Zone

    Cell = tuple[str, str]

CUT_SECONDS = 300
CUT_SHARE_OF_BUSY = 0.15
CUT_WIDTH = 0.03
MOST_CUT = 0.5
"""Width that all cuts together may take."""

TICK_COLUMNS = 14
MINUTE, HOUR, DAY = 60, 3600, 86_400
TICK_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(DAY * n for n in (1, 2, 7)),
)

WORK, RUNNING, QUIET, LOST, WAIT, HUMAN, CUT, NOTHING, GOES_ON = "█▓?×░▒┊·»"
LEGEND = (
    (WORK, "at work"),
    (RUNNING, "open"),
    (QUIET, "quiet"),
    (LOST, "left no record"),
    (WAIT, "between steps"),
    (HUMAN, "waiting for you"),
    (GOES_ON, "goes on"),
)
WAIT_MARKS = {"between": WAIT, "human": HUMAN, "quiet": QUIET}


class Axis:
    """Time from `start` to `end`, in microseconds, with its cuts; `goes_on` if the truth ends later."""

    __slots__ = ("_cut_width", "_scale", "cuts", "end", "goes_on", "start")

    def __init__(self, start: int, end: int, cuts: list[Interval], *, goes_on: bool) -> None:
        self.start = start
        self.end = end
        self.cuts = cuts
        self.goes_on = goes_on
        visible = end - start - sum(b - a for a, b in cuts)
        self._cut_width = min(CUT_WIDTH, MOST_CUT / len(cuts)) if cuts else 0.0
        self._scale = (1 - self._cut_width * len(cuts)) / visible if visible > 0 else 0.0

    def place(self, moment: int) -> float:
        """Return where an instant stands, from 0 to 1."""
        moment = min(max(moment, self.start), self.end)
        place, seen = 0.0, self.start
        for cut_start, cut_end in self.cuts:
            if moment <= cut_start:
                break
            place += (cut_start - seen) * self._scale
            inside = min(moment, cut_end) - cut_start
            place += self._cut_width * inside / (cut_end - cut_start)
            seen = min(moment, cut_end)
        return place + max(moment - seen, 0) * self._scale

    def visible(self) -> list[Interval]:
        """Return the stretches that are drawn to scale."""
        return without((self.start, self.end), self.cuts)

    def ticks(self, zone: Zone, columns: float, least: float = TICK_COLUMNS) -> list[tuple[int, str]]:
        """Return instants with their labels, `least` columns apart or more when the axis has `columns`."""
        per_second = self._scale * SECOND * columns
        if per_second <= 0:
            return []
        step = next((step for step in TICK_STEPS if step * per_second >= least), TICK_STEPS[-1])
        while step * per_second < least:
            step *= 2
        found = []
        for start, end in self.visible():
            local = zone.local_seconds(start)
            offset = local - start // SECOND
            tick = -(-(local if start % SECOND == 0 else local + 1) // step) * step
            while (moment := (tick - offset) * SECOND) <= end:
                label = zone.clock(Moment(moment))
                found.append((moment, label if step < MINUTE else label[:5]))
                tick += step
        return found

    def stage_starts(self, board: dict[str, Any]) -> list[tuple[int, str]]:
        """Return the instant at which each stage begins, for those on the axis."""
        return [(moment, stage) for stage, moment in board["_stages"] if self.start <= moment <= self.end]


def axis(board: dict[str, Any]) -> Axis | None:
    """Return the axis of a slice's board, None if no stamp can be used or nothing has a length."""
    time = board["time"]
    first, last = time["first"], time["last"]
    if first is None or last is None:
        return None
    goes_to = first + round(time["wall_seconds"] * SECOND)
    # The axis begins at a whole second, so that what is drawn agrees with the times that are printed.
    first = first // SECOND * SECOND
    end = min(goes_to, last + max((last - first) // 4, 60 * SECOND))
    end = max(end, last)
    bars = [bar for lane in board["lanes"] for bar in lane["bars"]]
    if not bars or end <= first:
        return None
    work = union([worked for bar in bars if (worked := _worked(bar, end)) is not None])
    least = max(CUT_SECONDS, CUT_SHARE_OF_BUSY * (time["busy_seconds"] or 0)) * SECOND
    cuts = [(a, b) for a, b in without((first, end), work) if b - a > least] if work else []
    return Axis(first, end, cuts, goes_on=goes_to > end)


def _worked(bar: dict[str, Any], end: int) -> Interval | None:
    start, stop = bar["start"], bar["quiet_from"] or bar["end"]
    if start is None or stop is None or stop < start:
        return None
    return min(start, end), min(stop, end)


def short_stage(stage: str) -> str:
    """Return a stage's name on the timeline: `R1` for `review 1`, `F1` for `fix 1`."""
    word, _, number = stage.partition(" ")
    return f"{word[0].upper()}{number}" if number else stage


def bar_colour(stage: str) -> str:
    """Return the colour of a finished bar: first pass, rework, grade."""
    if stage == GRADE:
        return "35"
    return "33" if is_rework(stage) else "32"


class Drawing:
    """The timeline in characters: `ticks` and `stages` rows as text, lanes and the waiting row as cells."""

    __slots__ = ("axis", "columns", "lanes", "stages", "ticks", "used", "waiting")

    def __init__(self, board: dict[str, Any], zone: Zone, drawn: Axis, columns: int) -> None:
        self.axis = drawn
        self.columns = columns
        self.ticks = self._words(drawn.ticks(zone, columns - 1))
        self.stages = self._words([(at, short_stage(stage)) for at, stage in drawn.stage_starts(board)])
        self.lanes = [(lane["label"], self._lane(lane["bars"])) for lane in board["lanes"]]
        self.waiting = self._waiting(board["time"]["gaps"])
        rows = [cells for _, cells in self.lanes]
        self.used = {mark for cells in [*rows, self.waiting] for mark, _ in cells}

    def column(self, moment: int) -> int:
        """Return the column in which an instant stands."""
        return int(self.axis.place(moment) * (self.columns - 1) + 1e-9)

    def _words(self, placed: list[tuple[int, str]]) -> str:
        """Return words at their columns; one that would touch another, or the edge, is left out."""
        row = ""
        for moment, word in placed:
            column = self.column(moment)
            if column >= len(row) + (1 if row else 0) and column + len(word) <= self.columns:
                row = row.ljust(column) + word
        return row

    def _empty(self) -> list[Cell]:
        cells = [(NOTHING, "90")] * self.columns
        for start, end in self.axis.cuts:
            first, last = self.column(start), self.column(end)
            cells[first : max(last, first + 1)] = [(CUT, "90")] * (max(last, first + 1) - first)
        return cells

    def _lane(self, bars: list[dict[str, Any]]) -> list[Cell]:
        cells = self._empty()
        for bar in bars:
            if bar["start"] is None:
                continue
            if bar["state"] == "silent":
                cells[self.column(bar["start"])] = (LOST, "33")
            elif bar["end"] is not None and bar["end"] >= bar["start"]:
                self._fill(cells, bar)
        return cells

    def _fill(self, cells: list[Cell], bar: dict[str, Any]) -> None:
        running = bar["state"] == "open"
        mark, colour = (RUNNING, "36") if running else (WORK, bar_colour(bar["stage"]))
        quiet_from = None if bar["quiet_from"] is None else self.column(bar["quiet_from"])
        for column in range(self.column(bar["start"]), self.column(bar["end"]) + 1):
            quiet = quiet_from is not None and column > quiet_from
            cells[column] = (QUIET, "33") if quiet else (mark, colour)

    def _waiting(self, gaps: list[dict[str, Any]]) -> list[Cell]:
        cells = self._empty()
        taken = {column for _, lane in self.lanes for column, (mark, _) in enumerate(lane) if mark in (WORK, RUNNING)}
        for gap in gaps:
            if gap["start"] > self.axis.end:
                continue
            mark = WAIT_MARKS[gap["kind"]]
            for column in range(self.column(gap["start"]), self.column(gap["end"]) + 1):
                if column not in taken and cells[column][0] != CUT:
                    cells[column] = (mark, "33" if mark == HUMAN else "90")
        if self.axis.goes_on:
            cells[-1] = (GOES_ON, "90")
        return cells

    def legend(self) -> list[tuple[str, str]]:
        """Return the marks in use with their words."""
        return [(mark, word) for mark, word in LEGEND if mark in self.used]

    def cut_text(self, zone: Zone) -> str:
        """Return where time was cut out, empty if it was not."""
        cuts = [
            f"{duration(between(start, end))} from {zone.clock(Moment(start))[:5]}" for start, end in self.axis.cuts
        ]
        return f"{CUT} cut: {', '.join(cuts)}" if cuts else ""
