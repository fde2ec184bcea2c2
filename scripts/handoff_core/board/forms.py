"""How numbers are written on the board: durations, tokens, money, counts, lists of names.

Follows view.md 3. Imports `board.clock` alone.
"""

from __future__ import annotations

from handoff_core.board.clock import Doubtful

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MINUTE, HOUR, DAY = 60, 3600, 86_400


def duration(seconds: float | None) -> str:
    """Return a length of time in whole units, cut off; `?` behind a doubtful one, empty without one."""
    if seconds is None:
        return ""
    return _units(int(seconds)) + ("?" if isinstance(seconds, Doubtful) else "")


def _units(whole: int) -> str:
    if whole < MINUTE:
        return f"{whole}s"
    if whole < 10 * MINUTE:
        return f"{whole // MINUTE}m {whole % MINUTE:02d}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m"
    if whole < DAY:
        return f"{whole // HOUR}h {whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d {whole % DAY // HOUR:02d}h"


def tokens(count: int) -> str:
    """Return a number of tokens: as is, in thousands, or in millions with one decimal."""
    if count < 1000:
        return str(count)
    return f"{(count + 500) // 1000}k" if count < 999_500 else f"{count / 1_000_000:.1f}M"


def money(sums: Mapping[str, Any]) -> str:
    """Return the amount of a total (view.md 13.5): `≥` if calls lack a price, `~` if a family's price was used."""
    usd = sums["usd"]
    if usd is None:
        return "$?"
    if not sums["complete"]:
        return f"≥${usd:.2f}"
    amount = "<$0.01" if 0 < usd < 0.005 else f"${usd:.2f}"
    return f"~{amount}" if sums["estimated"] else amount


def percent(number: int | None) -> str:
    """Return a percentage, empty if it is unknown."""
    return "" if number is None else f"{number}%"


def share(part: float, whole: float) -> int:
    """Return a part in percent, rounded half to even."""
    return round(100 * part / whole)


def count(number: int, noun: str, plural: str = "s") -> str:
    """Return a number with its noun in the right number."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{plural}"


def listed(names: Sequence[str]) -> str:
    """Return names joined `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def span(first: int, last: int, dash: str = "-") -> str:
    """Return the lines of a step: `7`, or `7-9`."""
    return str(first) if first == last else f"{first}{dash}{last}"
