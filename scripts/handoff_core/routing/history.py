"""What the router knows of the whole log: its slices, the open question, waiting refactors, the owner's word.

Made in one pass, which looks at records of four types only beyond sorting them into slices. Imports `records`, `gates`.
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

REFACTOR_FIRST = "refactor-first"


class History:
    """The records of a log, sorted into slices, and the facts that cross slices.

    `entries` are the records in order. Records of other slices that are neither consultations, design-blocks nor
    intake-decisions may be left out; `records` then gives the number of all. `slices` holds the entries by req_id in
    order of first appearance.
    """

    __slots__ = ("last", "owner_spoke", "pending", "records", "slices", "waiting")

    def __init__(self, entries: list[Entry], records: int | None = None) -> None:
        self.records = len(entries) if records is None else records
        self.last = entries[-1] if entries else None
        self.slices: dict[str, list[Entry]] = {}
        self.owner_spoke = False
        requests: dict[str, Entry] = {}
        verdicts: dict[str, object] = {}
        for entry in entries:
            record = entry[1]
            kind = record.get("type")
            if kind == INTAKE_DECISION and record.get("author") == HUMAN:
                self.owner_spoke = True
            req_id = record.get("req_id")
            if not isinstance(req_id, str) or not req_id:
                continue
            if req_id in self.slices:
                self.slices[req_id].append(entry)
            else:
                self.slices[req_id] = [entry]
            if kind == CONSULTATION_REQUEST:
                requests[req_id] = entry
            elif kind == CONSULTATION_RESPONSE:
                requests.pop(req_id, None)
            elif kind == DESIGN_BLOCK:
                verdicts[req_id] = record.get("verdict")
        self.pending = first_to_the_human(requests.values())
        self.waiting = sorted(req_id for req_id, verdict in verdicts.items() if verdict == REFACTOR_FIRST)

    def waiting_but(self, req_id: str | None) -> list[str]:
        """Return the slices whose latest design-block says `refactor-first`, without this one, by code point."""
        if req_id not in self.waiting:
            return self.waiting
        return [other for other in self.waiting if other != req_id]


def first_to_the_human(requests: Iterable[Entry]) -> Entry | None:
    """Return the request to the human on the lowest line among each slice's unanswered last one (route.md 8.3)."""
    return min(
        (entry for entry in requests if names_human(entry[1].get("target"))), key=lambda entry: entry[0], default=None
    )
