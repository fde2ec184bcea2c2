"""The timeline and the bars of the page, as inline SVG: places in percent, so bars stretch and letters do not.

Follows view.md 11.1, 4. Imports the board's parts and `text_html`.
"""

from __future__ import annotations

from handoff_core.board.clock import between
from handoff_core.board.forms import duration
from handoff_core.board.steps import GRADE, is_rework
from handoff_core.board.timeline import axis, short_stage
from handoff_core.text_html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.clock import Zone
    from handoff_core.board.timeline import Axis

    Part = dict[str, Any]

TOP, LANE, THICK = 40, 26, 12
"""Height above the lanes, of a lane, and of a bar, in pixels."""

WIDE_COLUMNS, SLIM_COLUMNS = 128, 30
"""How many letters fit beside each other above the lanes, on a wide and on a narrow page."""

TICK_ROOM, TICK_COLUMNS = 14.0, 100.0
KEYS = (
    ("b-first", "first pass"),
    ("b-again", "rework"),
    ("b-grade", "grade"),
    ("b-open", "open"),
    ("b-quiet", "quiet"),
    ("b-lost", "left no record"),
    ("w-between", "between steps"),
    ("w-human", "waiting for you"),
    ("w-quiet", "nobody but the quiet one"),
    ("cut", "cut"),
)
WAIT_WORDS = {"between": "between steps", "human": "waiting for you", "quiet": "quiet"}


def timeline(each: Part, zone: Zone, prefix: str, linked: set[int]) -> str:
    """Return the drawing with lane labels, key and cuts; empty where there is nothing to draw.

    `prefix` begins the ids of this board; `linked` are the lines of the steps that stand on the page.
    """
    drawn = axis(each)
    if drawn is None:
        return ""
    return _Chart(each, zone, prefix, linked, drawn).html()


class _Chart:
    def __init__(self, each: Part, zone: Zone, prefix: str, linked: set[int], drawn: Axis) -> None:
        self.lanes = each["lanes"]
        self.gaps = each["time"]["gaps"]
        self.board = each
        self.zone = zone
        self.prefix = prefix
        self.linked = linked
        self.axis = drawn
        self.height = TOP + LANE * (len(self.lanes) + 1)
        self.used: set[str] = set()

    def html(self) -> str:
        names = [lane["label"] for lane in self.lanes]
        labels = "".join(f"<li>{escape(name)}</li>" for name in [*names, "waiting"])
        title, about = f"{self.prefix}-gt", f"{self.prefix}-gd"
        parts = [*self._tracks(), *self._ticks(), *self._stages(), *self._cuts(), *self._bars(), *self._waits()]
        drawing = "\n".join(parts)
        return (
            f'<div class="gantt">\n<ol aria-hidden="true">{labels}</ol>\n'
            f'<svg role="img" aria-labelledby="{title} {about}" height="{self.height}"><title id="{title}">'
            f'Who worked when</title><desc id="{about}">One lane per agent: {escape(", ".join(names))}. '
            f"The table of steps below holds the same facts.</desc>\n{drawing}</svg></div>\n{self._key()}"
        )

    def _x(self, moment: int) -> float:
        return round(100 * self.axis.place(moment), 2)

    def _tracks(self) -> list[str]:
        tops = (TOP + 4 + LANE * lane for lane in range(len(self.lanes) + 1))
        return [f'<rect class="lane" x="0" width="100%" y="{top}" height="18" rx="4"/>' for top in tops]

    def _ticks(self) -> list[str]:
        ticks = self.axis.ticks(self.zone, TICK_COLUMNS, TICK_ROOM)
        return [self._tick(place, moment, label) for place, (moment, label) in enumerate(ticks)]

    def _tick(self, place: int, moment: int, label: str) -> str:
        x = self._x(moment)
        anchor = "start" if x < 3 else "end" if x > 97 else "middle"
        odd = ' class="odd"' if place % 2 else ""
        return (
            f'<g{odd}><line class="grid" x1="{x}%" x2="{x}%" y1="18" y2="{self.height}"/>'
            f'<text x="{x}%" y="12" text-anchor="{anchor}">{label}</text></g>'
        )

    def _stages(self) -> list[str]:
        starts = self.axis.stage_starts(self.board)
        wide = self._fitting(starts, WIDE_COLUMNS, full=True)
        slim = self._fitting(starts, SLIM_COLUMNS, full=False)
        made = []
        for moment, stage in starts:
            x = self._x(moment)
            words = [
                f'<text class="{name}" x="{x}%" dx="3" y="31">{fitting[stage]}</text>'
                for name, fitting in (("wide", wide), ("slim", slim))
                if stage in fitting
            ]
            line = f'<line class="stage-line" x1="{x}%" x2="{x}%" y1="20" y2="{self.height}"/>'
            made.append(f'<g class="st">{line}{"".join(words)}</g>')
        return made

    def _fitting(self, starts: list[tuple[int, str]], columns: int, *, full: bool) -> dict[str, str]:
        """Return the stage names that fit beside each other: in full, else short; the others are left out."""
        found: dict[str, str] = {}
        free = 0.0
        places = [self.axis.place(moment) * columns for moment, _ in starts]
        for index, (_, stage) in enumerate(starts):
            room = (places[index + 1] if index + 1 < len(starts) else columns) - places[index]
            name = stage if full and len(stage) + 1 <= room else short_stage(stage)
            if places[index] >= free and places[index] + len(name) <= columns + 1:
                found[stage] = escape(name)
                free = places[index] + len(name) + 1
        return found

    def _cuts(self) -> list[str]:
        made = []
        for start, end in self.axis.cuts:
            self.used.add("cut")
            x, width = self._x(start), round(self._x(end) - self._x(start), 2)
            text = f"cut: {duration(between(start, end))} from {self._clock(start)}"
            made.append(
                f'<rect class="cut" x="{x}%" width="{width}%" y="{TOP}" height="{self.height - TOP}">'
                f"<title>{text}</title></rect>"
            )
        return made

    def _clock(self, moment: int) -> str:
        from handoff_core.board.clock import Moment

        return self.zone.clock(Moment(moment))

    def _bars(self) -> list[str]:
        return [
            drawn
            for index, lane in enumerate(self.lanes)
            for bar, half in _stacked(lane["bars"])
            if (drawn := self._bar(lane, bar, TOP + LANE * index + 7, half))
        ]

    def _bar(self, lane: Part, bar: Part, top: int, half: int | None) -> str:
        start, end = bar["start"], bar["end"]
        if start is None:
            return ""
        line = int(bar["step"][1:])
        words = f"{lane['label']}, {bar['stage']}: {self._clock(start)}"
        if bar["state"] == "silent":
            self.used.add("b-lost")
            mark = f'<circle class="b-lost" cx="{self._x(start)}%" cy="{top + THICK // 2}" r="4.5"/>'
            return self._link(line, f"{words}, left no record", mark)
        if end is None or end < start:
            return ""
        height = THICK if half is None else THICK // 2
        top += height if half else 0
        return self._link(line, *self._pieces(bar, words, top, height))

    def _pieces(self, bar: Part, words: str, top: int, height: int) -> tuple[str, str]:
        """Return the words and the rectangles of a bar: one, or a solid and a dashed one where it went quiet."""
        start, end, quiet = bar["start"], bar["end"], bar["quiet_from"]
        if bar["state"] != "open":
            kind = "b-grade" if bar["stage"] == GRADE else "b-again" if is_rework(bar["stage"]) else "b-first"
            return f"{words} to {self._clock(end)}", self._rect(kind, start, end, top, height)
        solid = self._rect("b-open", start, end if quiet is None else quiet, top, height)
        if quiet is None:
            return f"{words}, open", solid
        dashed = self._rect("b-quiet", quiet, end, top, height)
        return f"{words}, open, quiet since {self._clock(quiet)}", solid + dashed

    def _rect(self, kind: str, start: int, end: int, top: int, height: int) -> str:
        self.used.add(kind)
        x = self._x(start)
        return (
            f'<rect class="{kind}" x="{x}%" y="{top}" width="{round(max(self._x(end) - x, 0), 2)}%" '
            f'height="{height}" rx="3"/>'
        )

    def _link(self, line: int, words: str, drawn: str) -> str:
        title = f"<title>{escape(words)}</title>"
        if line in self.linked:
            return f'<a href="#{self.prefix}-l{line}">{title}{drawn}</a>'
        return f"<g>{title}{drawn}</g>"

    def _waits(self) -> list[str]:
        made = []
        top = TOP + LANE * len(self.lanes) + 9
        for gap in self.gaps:
            if gap["start"] >= self.axis.end:
                continue
            kind = f"w-{gap['kind']}"
            self.used.add(kind)
            x = self._x(gap["start"])
            width = round(self._x(gap["end"]) - x, 2)
            words = f"{WAIT_WORDS[gap['kind']]} {duration(gap['seconds'])}"
            made.append(
                f'<rect class="{kind}" x="{x}%" y="{top}" width="{width}%" height="8"><title>{words}</title></rect>'
            )
        return made

    def _key(self) -> str:
        items = [
            f'<li><svg viewBox="0 0 14 10" aria-hidden="true">{_swatch(kind)}</svg>{words}</li>'
            for kind, words in KEYS
            if kind in self.used
        ]
        cuts = [f"{duration(between(start, end))} from {self._clock(start)[:5]}" for start, end in self.axis.cuts]
        if cuts:
            items[-1] = items[-1].replace("cut</li>", f"cut: {', '.join(cuts)}</li>")
        if self.axis.goes_on:
            items.append("<li>the drawing ends before now</li>")
        return f'<ul class="key">{"".join(items)}</ul>'


def _swatch(kind: str) -> str:
    if kind == "b-lost":
        return '<circle class="b-lost" cx="7" cy="5" r="4"/>'
    return f'<rect class="{kind}" width="14" height="10" rx="2"/>'


def _stacked(bars: list[Part]) -> list[tuple[Part, int | None]]:
    """Return the bars of a lane with the half they stand in (0 above, 1 below), None where nothing overlaps them."""
    halves: list[int | None] = [None] * len(bars)
    timed = [index for index, bar in enumerate(bars) if bar["state"] == "open" and bar["start"] is not None]
    if len(timed) > 1:
        for place, index in enumerate(timed):
            halves[index] = place % 2
    return list(zip(bars, halves, strict=True))


def money_bar(row: Part, dearest: float) -> str:
    """Return a bar of what an agent cost, split into first pass, rework and grade."""
    if not dearest or row["usd"] is None:
        return ""
    rects, x = [], 0.0
    for part, kind in (("first_pass_usd", "b-first"), ("rework_usd", "b-again"), ("grade_usd", "b-grade")):
        width = 100 * (row[part] or 0) / dearest
        if width > 0:
            rects.append(f'<rect class="{kind}" x="{round(x, 2)}%" width="{round(width, 2)}%"/>')
        x += width
    return f'<svg class="bar" aria-hidden="true">{"".join(rects)}</svg>'
