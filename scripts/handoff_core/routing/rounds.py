"""The rounds of a design cycle: the windows between builds, what they hold, and what a round tells a reviewer.

Follows route.md 10.3 and 10.6. Imports `routing.reading`.
"""

from __future__ import annotations

from handoff_core.routing.reading import dissents, dissents_substantively

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]
    Window = dict[str, Entry]

ROUND_CAP = 3
"""The last round that is not stopped, and the first with the bar (route.md 14.2)."""

CRITICAL_ONLY = "critical-only"
_CRITICAL_NOTE = (
    "Review round {}: critical-only. A defect that must not merge is a finding with severity critical; leftover polish"
    " goes to recommendations on an approved verdict, a question is a clarify finding, and a decision only the human"
    " can take is an escalate finding."
)


def windows_of(builds: Sequence[int], feedback: Iterable[Entry], roster: list[str]) -> list[Window]:
    """Return the windows between neighbouring build-passes, each with the latest feedback of each roster reviewer.

    `builds` are the lines of the cycle's build-passes in order, `feedback` the slice's in order.
    """
    found: list[Window] = [{} for _ in builds[1:]]
    place = -1
    for entry in feedback:
        while place + 1 < len(builds) and builds[place + 1] < entry[0]:
            place += 1
        author = entry[1].get("author")
        if 0 <= place < len(found) and isinstance(author, str) and author in roster:
            found[place][author] = entry
    return found


def round_after(windows: Iterable[Window]) -> int:
    """Return 1 plus the number of windows that hold a substantive dissent."""
    return 1 + sum(any(map(dissents_substantively, window.values())) for window in windows)


def truncated_run(windows: Sequence[Window]) -> int:
    """Return how many windows at the end hold dissent and no substantive dissent."""
    run = 0
    for window in reversed(windows):
        held = window.values()
        if not any(map(dissents, held)) or any(map(dissents_substantively, held)):
            break
        run += 1
    return run


def short_note(number: int) -> str:
    """Return the note of a round without the bar."""
    return f"Review round {number}."


def context_of(number: int) -> dict[str, object]:
    """Return the round context: the round, from round 3 the bar, and the note for the prompt."""
    if number < ROUND_CAP:
        return {"round": number, "prompt_note": short_note(number)}
    return {"round": number, "finding_bar": CRITICAL_ONLY, "prompt_note": _CRITICAL_NOTE.format(number)}
