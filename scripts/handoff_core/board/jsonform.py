"""The Board as JSON: instants spelled, seconds and money rounded, ASCII alone.

Follows view.md 10. Imports `board.clock` alone.
"""

from __future__ import annotations

import json

from handoff_core.board.clock import Moment, iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECONDS_DECIMALS, MONEY_DECIMALS = 3, 6


def render(board: dict[str, Any], *, one_line: bool = False) -> str:
    """Return the Board as one JSON object and a line feed."""
    return json.dumps(plain(board), indent=None if one_line else 2, allow_nan=False) + "\n"


def plain(value: Any, key: str = "") -> Any:
    """Return a part of the Board in plain JSON values; `key` is the one it stands under."""
    if isinstance(value, dict):
        return {name: plain(item, name) for name, item in value.items() if not name.startswith("_")}
    if isinstance(value, list):
        return [plain(item, key) for item in value]
    if isinstance(value, Moment):
        return iso(value)
    if isinstance(value, float):
        return _number(value, SECONDS_DECIMALS if key.endswith("seconds") else MONEY_DECIMALS)
    return value


def _number(value: float, decimals: int) -> float | int:
    rounded = round(float(value), decimals)
    return int(rounded) if rounded == int(rounded) else rounded
