"""The facts of a log and of one slice of it, which all states share (route.md 3 to 7, 15.5).

Imports `layout`, `records` and `routing.facts`, `reading`, `roster`, `states`, `tiers`.
"""

from __future__ import annotations

from handoff_core.layout import lookup
from handoff_core.records import (
    BUILD_FAILURE,
    BUILD_PASS,
    CONSULTATION_REQUEST,
    CONSULTATION_RESPONSE,
    DESIGN_BLOCK,
    DISPATCH_START,
    GRADER_FEATURES,
    GRADER_VERDICT,
    INTAKE_DECISION,
    PRD_ENTRY,
    SUBSTANTIVE,
)
from handoff_core.routing import roster
from handoff_core.routing.designing import valid_supersedes
from handoff_core.routing.facts import fact
from handoff_core.routing.reading import cleaned, field, in_key_order, is_text, last_of, line_of
from handoff_core.routing.states import state_of
from handoff_core.routing.tiers import choose_tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from handoff_core.routing.history import History
    from handoff_core.routing.states import State

    Record = dict[str, Any]
    Entry = tuple[int, Record]
    Gate = Callable[[Record], list[str]]
    ScopeDelta = Callable[[], list[str] | None]

EXTRAS = "harness.extra_reviewers"
"""The layout's key of the reviewers that join the floor (route.md 4)."""

_LOUD = SUBSTANTIVE | {CONSULTATION_REQUEST, GRADER_FEATURES, GRADER_VERDICT}
"""Types that break a silence, whoever writes them (route.md 9.1)."""


class Log:
    """What was read of a log.

    `history` is None if there is none or it cannot be read, `problems` is what the strict reader says, `lines` counts
    the lines read; `layout` is the project's, `layout_problem` why it cannot be read.
    """

    __slots__ = ("history", "layout", "layout_problem", "lines", "problems")

    def __init__(self, history: History | None, problems: list[str], lines: int = 0) -> None:
        self.history = history
        self.problems = problems
        self.lines = lines
        self.layout: dict[str, object] = {}
        self.layout_problem: str | None = None

    def is_usable(self) -> bool:
        """Say whether the log is there, clean, not empty, and the layout readable: a slice can be chosen (6)."""
        readable = not self.problems and self.layout_problem is None
        return readable and self.history is not None and self.history.records > 0


class Slice:
    """What was read, and the slice at hand: the one that is `wanted`, else that of the log's last line.

    `gate` returns the errors of a record, `scope_delta` the Non-Goals that were changed (route.md 15.1).
    """

    def __init__(self, log: Log, wanted: str | None, gate: Gate, scope_delta: ScopeDelta) -> None:
        self._log = log
        self._wanted = wanted
        self._gate = gate
        self._scope_delta = scope_delta

    # The log (3 to 6)

    @property
    def log_absent(self) -> bool:
        """Say whether the log does not exist."""
        return self._log.history is None and not self._log.problems

    @property
    def problems(self) -> list[str]:
        """Return what the strict reader complains about, after the re-read."""
        return self._log.problems

    @property
    def layout_problem(self) -> str | None:
        """Return why the layout cannot be read, or null."""
        return self._log.layout_problem

    @property
    def lines(self) -> int:
        """Return the number of lines read; 0 if the log is absent or could not be read."""
        return self._log.lines

    @property
    def records(self) -> int:
        """Return the number of records in the log."""
        return self._log.history.records if self._log.history else 0

    @fact
    def req_id(self) -> str | None:
        """Return the chosen id, or null: the one asked for, else that of the last line of a log that can be used."""
        if not self._log.is_usable():
            return None
        chosen = self._wanted or field(self._history.last, "req_id")
        return chosen if is_text(chosen) else None

    @property
    def slice_size(self) -> int:
        """Return the number of records in the slice."""
        return len(self.entries)

    def layout_value(self, key: str) -> object:
        """Return the layout's value for a dotted key, None where there is none."""
        return lookup(self._log.layout, key)

    @fact
    def roster_problem(self) -> str | None:
        """Return why `extra_reviewers` is malformed, or null."""
        return roster.extras_problem(self.layout_value(EXTRAS))

    @fact
    def held(self) -> Entry | None:
        """Return the pending request that holds the log; null when it is the slice's own last record (8.3)."""
        pending = self._history.pending
        return None if pending is self.last else pending

    # The slice (5)

    @property
    def _history(self) -> History:
        if self._log.history is None:
            raise LookupError("a log that was not read has no history")
        return self._log.history

    @fact
    def entries(self) -> list[Entry]:
        """Return the entries of the slice, in order."""
        return self._history.slices.get(self.req_id, []) if self.req_id is not None else []

    @fact
    def _by_type(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            kind = entry[1].get("type")
            if isinstance(kind, str):
                found.setdefault(kind, []).append(entry)
        return found

    def of(self, kind: str) -> list[Entry]:
        """Return the entries of one type, in order."""
        return self._by_type.get(kind, [])

    def latest(self, kind: str) -> Entry | None:
        """Return the record of a type on the highest line."""
        return last_of(self.of(kind))

    @fact
    def last(self) -> Entry | None:
        """Return the record on the highest line, of any type."""
        return last_of(self.entries)

    @fact
    def substantive(self) -> Entry | None:
        """Return the latest record of a substantive type."""
        return max(filter(None, map(self.latest, SUBSTANTIVE)), key=line_of, default=None)

    @property
    def request(self) -> Entry | None:
        """Return the latest consultation-request."""
        return self.latest(CONSULTATION_REQUEST)

    @property
    def response(self) -> Entry | None:
        """Return the latest consultation-response."""
        return self.latest(CONSULTATION_RESPONSE)

    @property
    def design(self) -> Entry | None:
        """Return the latest design-block."""
        return self.latest(DESIGN_BLOCK)

    @property
    def failure(self) -> Entry | None:
        """Return the latest build-failure."""
        return self.latest(BUILD_FAILURE)

    @property
    def entry(self) -> Entry | None:
        """Return the latest prd-entry."""
        return self.latest(PRD_ENTRY)

    @property
    def intake(self) -> Entry | None:
        """Return the latest intake-decision."""
        return self.latest(INTAKE_DECISION)

    @property
    def build_pass(self) -> Entry | None:
        """Return the latest build-pass, B."""
        return self.latest(BUILD_PASS)

    @fact
    def superseding(self) -> list[Entry]:
        """Return the design-blocks with a valid supersede, in order."""
        return valid_supersedes(self.of(DESIGN_BLOCK))

    @fact
    def silent_start(self) -> Entry | None:
        """Return the latest dispatch-start if no record that breaks a silence has a later line (9.1)."""
        start = self.latest(DISPATCH_START)
        heard = max(map(line_of, map(self.latest, _LOUD)))
        return start if start is not None and start[0] > heard else None

    @fact
    def open_request(self) -> Entry | None:
        """Return the latest consultation-request if it is newer than every substantive record (7)."""
        return self.request if line_of(self.request) > line_of(self.substantive) else None

    @fact
    def full_roster(self) -> list[str]:
        """Return the floor, then the extra reviewers."""
        return roster.whole_roster(self.layout_value(EXTRAS))

    @fact
    def entered(self) -> State:
        """Return the row of STATES that gives the state."""
        return state_of(self)

    @property
    def state(self) -> str:
        """Return the slice's state (15.2)."""
        return self.entered.name

    @property
    def waiting_refactors(self) -> list[str]:
        """Return the other slices whose latest design-block says `refactor-first`, by code point."""
        return self._history.waiting_but(self.req_id)

    @fact
    def _tier(self) -> tuple[str, str]:
        return choose_tier(self.entries)

    @property
    def tier(self) -> str:
        """Return the implementer's variant (11)."""
        return self._tier[0]

    @property
    def tier_reason(self) -> str:
        """Return why that variant."""
        return self._tier[1]

    def gate_of(self, entry: Entry | None) -> list[str]:
        """Return the schema's errors of a record; a record that is not there fails closed."""
        return ["there is no such record"] if entry is None else cleaned(self._gate(in_key_order(entry[1])))
