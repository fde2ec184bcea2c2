"""What the router knows of the whole log: its slices, the open question, waiting refactors, the owner's word.

Made in one pass, which looks at records of four types only beyond sorting them into slices. Imports `gates`, `records`
and `routing.facts`, `reading`.
"""

from __future__ import annotations

from handoff_core.gates import names_human
from handoff_core.records import (
    CONSULTATION_REQUEST,
    CONSULTATION_RESPONSE,
    DESIGN_BLOCK,
    HUMAN,
    INTAKE_DECISION,
)
from handoff_core.routing.facts import fact
from handoff_core.routing.reading import line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

REFACTOR_FIRST = "refactor-first"

CROSSING = (CONSULTATION_REQUEST, CONSULTATION_RESPONSE, DESIGN_BLOCK, INTAKE_DECISION)
"""Types whose records can matter to other slices (route.md 17, 9)."""


class History:
    """The records of a log, sorted into slices, and the facts that cross slices.

    `entries` are the records in order. With `only`, the records of other slices are looked at and let go; they may be
    left out altogether if they are none of CROSSING, and `records` then gives the number of all. `slices` holds the
    kept entries by req_id in order of first appearance, `last` is the last of the entries.
    """

    def __init__(self, entries: Iterable[Entry], *, only: str | None = None, records: int | None = None) -> None:
        self.slices: dict[str, list[Entry]] = {}
        self.last: Entry | None = None
        self._requests: dict[str, Entry] = {}
        self._verdicts: dict[str, object] = {}
        self._human_intake = False
        count = self._sort(entries) if only is None else self._pick(entries, only)
        self.records = count if records is None else records

    @fact
    def pending(self) -> Entry | None:
        """Return the request that holds the log: of each slice's unanswered last one to the human the first (8.3)."""
        to_the_human = (entry for entry in self._requests.values() if names_human(entry[1].get("target")))
        return min(to_the_human, key=line_of, default=None)

    @fact
    def owner_spoke(self) -> bool:
        """Say whether the log holds an intake-decision by the human (9.4.1)."""
        return self._human_intake

    @fact
    def waiting(self) -> list[str]:
        """Return the slices whose latest design-block says `refactor-first`, by code point (5)."""
        return sorted(req_id for req_id, verdict in self._verdicts.items() if verdict == REFACTOR_FIRST)

    def _sort(self, entries: Iterable[Entry]) -> int:
        """Sort the entries into their slices; return how many there are."""
        number = 0
        for entry in entries:
            number += 1
            self.last = entry
            req_id = entry[1].get("req_id")
            self._cross(entry, req_id)
            if isinstance(req_id, str) and req_id:
                if req_id in self.slices:
                    self.slices[req_id].append(entry)
                else:
                    self.slices[req_id] = [entry]
        return number

    def _pick(self, entries: Iterable[Entry], only: str) -> int:
        """Keep the entries of one slice; return how many there are in all."""
        own: list[Entry] = []
        number, entry = 0, None
        for entry in entries:
            number += 1
            record = entry[1]
            req_id = record.get("req_id")
            if req_id == only:
                own.append(entry)
            if record.get("type") in CROSSING:
                self._cross(entry, req_id)
        self.last = entry
        if own:
            self.slices[only] = own
        return number

    def _cross(self, entry: Entry, req_id: object) -> None:
        """Take a record that other slices may look at; any other changes nothing."""
        kind = entry[1].get("type")
        if kind == INTAKE_DECISION:
            self._human_intake = self._human_intake or entry[1].get("author") == HUMAN
        elif not isinstance(req_id, str) or not req_id:
            return
        elif kind == CONSULTATION_REQUEST:
            self._requests[req_id] = entry
        elif kind == CONSULTATION_RESPONSE:
            self._requests.pop(req_id, None)
        elif kind == DESIGN_BLOCK:
            self._verdicts[req_id] = entry[1].get("verdict")

    def waiting_but(self, req_id: str | None) -> list[str]:
        """Return the slices whose latest design-block says `refactor-first`, without this one, by code point."""
        if req_id not in self.waiting:
            return self.waiting
        return [other for other in self.waiting if other != req_id]
