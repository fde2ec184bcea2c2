"""Dispatches: who was started when, which records came of it, and what became of it.

Follows view.md 5.3 and 5.4. Imports `records`, `board.rows`, `board.clock`, `board.words`.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.clock import SECOND, Moment
from handoff_core.board.rows import GRADES, line_numbers
from handoff_core.board.words import COORDINATOR, is_reviewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handoff_core.board.rows import Row, Slice

NEVER_OWNED = frozenset({r.HUMAN, r.ROOT, r.ENGINE, r.GRADER, COORDINATOR})
"""Authors that nobody starts: their records belong to no dispatch."""

ANSWERED, SILENT, OPEN = "answered", "silent", "open"
RETURNED, UNKNOWN, STALLED, WORKING = "returned", "unknown", "stalled", "working"


class Sign:
    """The last sign of life in a transcript: its last stamp, and whether the agent ended its turn there."""

    __slots__ = ("moment", "returned")

    def __init__(self, moment: Moment | None, *, returned: bool) -> None:
        self.moment = moment
        self.returned = returned


class Limits:
    """After how many seconds an open dispatch has gone quiet and a ready slice is idle (view.md 14)."""

    __slots__ = ("idle", "reviewer", "work")

    def __init__(self, reviewer: float = 600, work: float = 1800, idle: float = 600) -> None:
        self.reviewer = reviewer
        self.work = work
        self.idle = idle

    def of(self, agent: str | None) -> float:
        """Return the limit of an agent."""
        return self.reviewer if is_reviewer(agent) or agent == r.PLANNER else self.work


class Dispatch:
    """One start of an agent: its row, the rows it owns, its state, and, while open, its health.

    `answers` are the lines it responds to; `last_sign` is the latest instant at which it is known to have lived, and
    `sign` says where that stands, `transcript` or `record`.
    """

    __slots__ = ("again", "answers", "health", "last_sign", "limit", "owned", "sign", "start", "state")

    def __init__(self, start: Row) -> None:
        self.start = start
        self.answers = line_numbers(start.record.get("responding_to"))
        self.owned: list[Row] = []
        self.again: Row | None = None
        self.state = OPEN
        self.health: str | None = None
        self.sign: str | None = None
        self.last_sign: Moment | None = None
        self.limit = 0.0

    @property
    def agent(self) -> str | None:
        """Return who was started."""
        return self.start.author

    @property
    def closed(self) -> Row | None:
        """Return the first owned record that is a result: substantive, or a question (view.md 5.3)."""
        return next((row for row in self.owned if is_result(row)), None)

    @property
    def quiet(self) -> bool:
        """Say whether the dispatch is open and nobody seems to work on it."""
        return self.state == OPEN and self.health in (STALLED, RETURNED)

    @property
    def running(self) -> bool:
        """Say whether the dispatch is open and may be at work."""
        return self.state == OPEN and not self.quiet


def is_result(row: Row) -> bool:
    """Say whether a record closes a dispatch."""
    return row.type in r.SUBSTANTIVE or row.type == r.CONSULTATION_REQUEST


def dispatches(group: Slice) -> list[Dispatch]:
    """Return the dispatches of a slice in line order, each with the records it owns; their states are not judged."""
    found: list[Dispatch] = []
    current: dict[str, Dispatch] = {}
    build_line = 0
    for row in group.rows:
        author = row.author
        if row.type == r.DISPATCH_START:
            dispatch = Dispatch(row)
            found.append(dispatch)
            if author is not None:
                if author in current:
                    current[author].again = row
                current[author] = dispatch
            continue
        if row.type == r.BUILD_PASS:
            build_line = row.line
        if author is None or author in NEVER_OWNED or author not in current:
            continue
        if row.type != r.REVIEW_FEEDBACK or build_line < current[author].start.line:
            current[author].owned.append(row)
    return found


def judge(
    group: Slice, found: list[Dispatch], limits: Limits, signs: dict[int, Sign], *, complete: bool
) -> list[Dispatch]:
    """Set state and health of a slice's dispatches and return the open ones.

    `signs` are those of transcripts by the line of the start; `complete` says that the slice is done.
    """
    grade = max((row.line for row in group.of(*GRADES)), default=0)
    builds = [row.line for row in group.of(r.BUILD_PASS)]
    last_start = found[-1].start.line if found else 0
    for dispatch in found:
        line = dispatch.start.line
        if dispatch.closed is not None:
            dispatch.state = ANSWERED
        elif complete or dispatch.again is not None or grade > line or _left_behind(dispatch, builds, last_start):
            dispatch.state = SILENT
        else:
            _take_pulse(dispatch, group, limits, signs.get(line))
    return [dispatch for dispatch in found if dispatch.state == OPEN]


def _left_behind(dispatch: Dispatch, builds: list[int], last_start: int) -> bool:
    """Say whether a build-pass went past a dispatch: root starts nobody behind it while it still waits."""
    behind = next((line for line in builds if line > dispatch.start.line), None)
    return behind is not None and (is_reviewer(dispatch.agent) or last_start > behind)


def _take_pulse(dispatch: Dispatch, group: Slice, limits: Limits, sign: Sign | None) -> None:
    """Set health, limit and last sign of life of an open dispatch (view.md 5.4)."""
    dispatch.limit = limits.of(dispatch.agent)
    stamps = [row.usable for row in (dispatch.start, *dispatch.owned) if row.usable is not None]
    dispatch.last_sign = max(stamps, default=None)
    dispatch.sign = "record" if stamps else None
    if sign is not None and sign.moment is not None:
        seen = Moment(min(sign.moment, group.clock))
        if dispatch.last_sign is None or seen > dispatch.last_sign:
            dispatch.last_sign, dispatch.sign = seen, "transcript"
    if sign is not None and sign.returned:
        dispatch.health = RETURNED
    elif dispatch.last_sign is None:
        dispatch.health = UNKNOWN
    elif group.clock - dispatch.last_sign >= dispatch.limit * SECOND:
        dispatch.health = STALLED
    else:
        dispatch.health = WORKING
