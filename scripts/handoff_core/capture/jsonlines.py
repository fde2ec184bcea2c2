"""Reads the values of JSON lines: several on one line, torn ones healed, damaged ones named (capture.md 2.2).

Imports nothing of ours.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NESTING = 500
"""Arrays and objects that may stand inside each other."""

NOT_JSON = "not JSON"
TEXT_AFTER = "text after the JSON value"
TOO_DEEP = "nested too deep"

BLANKS = " \t\r\n"
"""What JSON takes for white space."""

_BLANKS = re.compile(f"[{BLANKS}]*")
_STARTS = re.compile(r'\{"(?:timestamp|type)"')
_HALVES = re.compile("[\ud800-\udfff]")


class Damage(Exception):  # noqa: N818 - it says what a line is, which need not be an error of the program
    """Say why the rest of a line cannot be read; `reason` is one of the three of capture.md 2.2."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at
        """Index of the first character that was not read."""


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_decoder: Any = json.JSONDecoder(parse_constant=_refuse)
scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once
"""Return the value at an index of a text and the index behind it; raises one of `REFUSED`."""

REFUSED = (StopIteration, ValueError, RecursionError)


def value_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at `start` and the index behind it; raise Damage."""
    try:
        value, end = scan(text, start)
    except RecursionError:
        raise Damage(TOO_DEEP, start) from None
    except (StopIteration, ValueError):
        raise Damage(NOT_JSON, start) from None
    # Only a value with that many brackets can be too deep; counting them costs next to nothing.
    if (
        end - start > 2 * NESTING
        and text.count("[", start, end) + text.count("{", start, end) > NESTING
        and _deep(value)
    ):
        raise Damage(TOO_DEEP, start)
    return value, end


def values(text: str) -> tuple[list[Any], Damage | None, bool]:
    """Return the values of a line, what is damaged behind them, and whether the line was healed."""
    found: list[Any] = []
    at = _skip(text, 0)
    while at < len(text):
        try:
            value, end = value_at(text, at)
        except Damage as damage:
            whole = _healed(text, at) if damage.reason != TOO_DEEP else None
            if whole is not None:
                return [*found, whole], None, True
            if found and damage.reason == NOT_JSON:
                damage.reason = TEXT_AFTER
            return found, damage, False
        found.append(value)
        at = _skip(text, end)
    return found, None, False


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _healed(text: str, at: int) -> Any:
    """Return the whole record behind a torn beginning of it, None if the line is no such line."""
    for match in reversed(list(_STARTS.finditer(text, at + 1))):
        start = match.start()
        if not text.startswith(text[at:start], start):
            continue
        try:
            value, end = value_at(text, start)
        except Damage:
            continue
        if _skip(text, end) == len(text):
            return value
    return None


def _deep(value: Any) -> bool:
    """Say whether arrays and objects nest deeper than `NESTING`."""
    level = [value]
    for _ in range(NESTING):
        level = [inner for outer in level for inner in _members(outer) if type(inner) in (dict, list)]
        if not level:
            return False
    return True


def _members(value: Any) -> Any:
    return value.values() if type(value) is dict else value if type(value) is list else ()


def without_halves(value: Any, counted: list[int]) -> Any:
    """Return `value` with lone surrogates in its texts and keys replaced by U+FFFD; adds their number to `counted`."""
    kind = type(value)
    if kind is str:
        fixed, number = _HALVES.subn("\ufffd", value)
        counted[0] += number
        return fixed
    if kind is list:
        return [without_halves(item, counted) for item in value]
    if kind is dict:
        return {without_halves(key, counted): without_halves(item, counted) for key, item in value.items()}
    return value
