"""Where each reviewer of a pass stands, and how long the implementer has been silent (route.md 9.1, 10.4).

Imports `records` and `routing.reading`.
"""

from __future__ import annotations

from handoff_core.records import DISPATCH_START, IMPLEMENTER, REVIEW_FEEDBACK
from handoff_core.routing.reading import by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

SILENT_STARTS = 2
"""Silent starts before a stall (route.md 14.2)."""


class Ladder:
    """The current feedback and the silent starts of each reviewer, read from the records of one pass.

    `current` holds a reviewer's last feedback, `silences` the number of its dispatch-starts since.
    """

    __slots__ = ("_roster", "current", "silences")

    def __init__(self, entries: Iterable[Entry], roster: list[str]) -> None:
        self._roster = roster
        self.current: dict[str, Entry] = {}
        self.silences = dict.fromkeys(roster, 0)
        for entry in entries:
            kind, author = entry[1].get("type"), entry[1].get("author")
            if not isinstance(author, str) or author not in self.silences:
                continue
            if kind == REVIEW_FEEDBACK:
                self.current[author] = entry
                self.silences[author] = 0
            elif kind == DISPATCH_START:
                self.silences[author] += 1

    def stalled(self) -> list[str]:
        """Return who started twice or more and wrote no feedback since, in roster order."""
        return [name for name in self._roster if self.silences[name] >= SILENT_STARTS]

    def retry(self) -> list[str]:
        """Return who started once and wrote no feedback since; older feedback is stale now."""
        return [name for name in self._roster if self.silences[name] == 1]

    def undispatched(self) -> list[str]:
        """Return who neither started nor answered."""
        return [name for name in self._roster if not self.silences[name] and name not in self.current]

    def is_untouched(self) -> bool:
        """Say whether nobody started or answered yet."""
        return not self.current and not any(self.silences.values())

    def answers(self) -> dict[str, Entry]:
        """Return the current feedback of those who have fed back, in roster order."""
        return {name: self.current[name] for name in self._roster if name in self.current and not self.silences[name]}


def silent_run(entries: Iterable[Entry]) -> int:
    """Return how many dispatch-starts of the implementer end its records; any other record of it starts anew."""
    run = 0
    for entry in by(entries, IMPLEMENTER):
        run = run + 1 if entry[1].get("type") == DISPATCH_START else 0
    return run
