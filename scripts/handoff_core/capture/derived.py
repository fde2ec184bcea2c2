"""Keeps what the brief says about the turns while they pass: objective, state, open loops, newest turns (capture.md 7).

What is kept is bounded, however long the session is. Imports `turns` and text modules alone.
"""

from __future__ import annotations

import re
from collections import deque

from handoff_core.capture.turns import AGENT, CLASSES, USER, Known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handoff_core.capture.turns import Turn

OBJECTIVE_LENGTH = 400
STATE_LENGTH = 1200
SUMMARY_STATE_LENGTH = 600
LOOPS_KEPT = 40
LOOP_LENGTH = 300
ROWS_KEPT = 40
NOTHING = "(none)"

_SHORTEST_OBJECTIVE = 20
_ROW_TEXT = 2000
_LOOP_WORDS = ("next step", "todo", "blocked", "open loop", "remaining work")
_NOTICE = re.compile(
    r"(?:the )?(?:approval policy|policy changed|context low|system:|notice:)"
    r"|<\s*/?\s*(?:environment|system|context|notice)",
    re.IGNORECASE,
)


class Quote:
    """A text that was cut: what is left of it, and how many characters the whole has."""

    __slots__ = ("characters", "text")

    def __init__(self, text: str, characters: int) -> None:
        self.text = text
        self.characters = characters


class Derived:
    """The values of capture.md 7, and the counts of all turns."""

    def __init__(self, payload_characters: int) -> None:
        self.counts = dict.fromkeys(CLASSES, 0)
        self.calls = self.results = self.pairs = self.failed = 0
        self.first_utc = self.last_utc = ""
        self.loops: deque[tuple[int, str]] = deque(maxlen=LOOPS_KEPT)
        self.loops_total = 0
        self.rows: deque[tuple[int, str, str, str]] = deque(maxlen=ROWS_KEPT)
        """Number, class, tool and text of the newest turns; the texts are cut, so that they stay small."""
        self.window: deque[int] = deque()
        """Text lengths of the newest turns that the payload has room for."""
        self.window_bytes: deque[int] = deque()
        self._room = payload_characters
        self._known_loops = Known()
        self._first_long = self._first_user = self._first_agent = ""
        self._last_user = self._last_agent = ""

    @property
    def turns(self) -> int:
        """Return the number of all turns."""
        return sum(self.counts.values())

    def tools(self) -> dict[str, int]:
        """Return the counts of calls, results and pairs, as manifest and summary write them."""
        unpaired = self.calls + self.results - 2 * self.pairs
        return {
            "calls": self.calls,
            "results": self.results,
            "paired": self.pairs,
            "unpaired": unpaired,
            "failed": self.failed,
        }

    def take(self, seq: int, turn: Turn, text: str, utc: str, size: int) -> None:
        """Count one turn, whose line in the timeline has `size` bytes, and keep what the brief needs of it."""
        class_ = turn.class_
        self.counts[class_] += 1
        if utc:
            if utc > self.last_utc:  # noqa: PLR1730 - a call of max for every turn is not free
                self.last_utc = utc
            if not self.first_utc or utc < self.first_utc:
                self.first_utc = utc
        self.rows.append((seq, class_, turn.tool or "", text if len(text) <= _ROW_TEXT else text[:_ROW_TEXT]))
        if turn.agent is None and class_ in (USER, AGENT):
            self._hear(seq, class_, text)
        self._window(len(text), size)

    def _hear(self, seq: int, class_: str, text: str) -> None:
        """Take what a person or the main agent said."""
        if class_ == AGENT:
            self._last_agent = text
            self._first_agent = self._first_agent or text
        else:
            self._last_user = text
            self._first_user = self._first_user or text
            bare = text.strip()
            if not self._first_long and len(bare) >= _SHORTEST_OBJECTIVE and not _NOTICE.match(bare):
                self._first_long = text
        lower = text.lower()
        if any(word in lower for word in _LOOP_WORDS):
            self._take_loops(seq, text)

    def _take_loops(self, seq: int, text: str) -> None:
        for line in text.split("\n"):
            lower = line.lower()
            if not any(word in lower for word in _LOOP_WORDS):
                continue
            loop = line.strip()[:LOOP_LENGTH]
            if loop not in self._known_loops:
                self._known_loops.add(loop)
                self.loops.append((seq, loop))
                self.loops_total += 1

    def _window(self, characters: int, size: int) -> None:
        """Keep the newest turns whose texts fit together into the payload."""
        self.window.append(characters)
        self.window_bytes.append(size)
        self._room -= characters
        while self._room < 0:
            self._room += self.window.popleft()
            self.window_bytes.popleft()

    def objective(self, override: str) -> Quote:
        """Return the objective, its first 400 characters."""
        text = (override or self._first_long or self._first_user or self._first_agent).strip() or NOTHING
        return Quote(text[:OBJECTIVE_LENGTH], len(text))

    def state(self, limit: int = STATE_LENGTH) -> Quote:
        """Return the state now, its last `limit` characters."""
        text = (self._last_agent or self._last_user).strip() or NOTHING
        return Quote(text[-limit:], len(text))
