r"""Strict JSON: one parser for everything the program reads, and the two ways it writes a value on one line.

Follows ledger.md 2.1 and 4.7. Imports `errors` and `text` alone.
"""

from __future__ import annotations

import json
import re
from json import JSONDecodeError, JSONDecoder

from handoff_core.text import escape_json

NESTING_LIMIT = 100
NUMBER_LIMIT = 100


class JsonError(ValueError):
    """Say why a text is not strict JSON; `reason` is the `<reason>` of ledger.md 2.1."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def decode(data: bytes) -> str:
    """Return `data` as text; raise JsonError `not valid UTF-8: byte 0x<hh> at offset <n>`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError(f"not valid UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}") from None


def parse(text: str, nesting: int = NESTING_LIMIT) -> object:
    """Return the value of a strict JSON text, or raise JsonError (ledger.md 2.1).

    `nesting` is the number of arrays and objects that may stand inside each other, the outermost counted as 1.
    """
    if text.startswith("\ufeff"):
        raise JsonError("byte order mark")
    if text.count("[") + text.count("{") > nesting and _depth(text) > nesting:
        raise JsonError("nesting too deep")
    try:
        value = _DECODER.decode(text)
    except JSONDecodeError as error:
        raise JsonError(error.msg) from None
    except RecursionError:
        raise JsonError("nesting too deep") from None
    if "\\ud" in text or "\\uD" in text:
        _refuse_surrogates(text)
    return value


def dump_line(value: object) -> str:
    """Return `value` as one line of readable JSON with hidden characters escaped (ledger.md 4.7)."""
    return escape_json(json.dumps(value, ensure_ascii=False))


def dump_ascii(value: object) -> str:
    """Return `value` as one line of pure ASCII JSON."""
    return json.dumps(value)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonError(f'duplicate key: "{key}"')
            seen.add(key)
    return members


def _float(literal: str) -> float:
    if len(literal) > NUMBER_LIMIT:
        raise JsonError(f"number longer than {NUMBER_LIMIT} characters")
    number = float(literal)
    if number in (float("inf"), float("-inf")):
        raise JsonError("number out of range")
    return number


def _int(literal: str) -> int:
    if len(literal) > NUMBER_LIMIT:
        raise JsonError(f"number longer than {NUMBER_LIMIT} characters")
    return int(literal)


def _constant(name: str) -> object:
    raise JsonError(f"{name} is not valid JSON")


_DECODER = JSONDecoder(object_pairs_hook=_unique, parse_float=_float, parse_int=_int, parse_constant=_constant)


def _depth(text: str) -> int:
    """Return how deep arrays and objects nest; brackets inside strings do not count. Runs in linear time."""
    depth = deepest = 0
    without_strings = re.sub(r'"(?:[^"\\]|\\.)*"?', "", text, flags=re.DOTALL)
    for mark in re.findall(r"[\[\]{}]", without_strings):
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _refuse_surrogates(text: str) -> None:
    """Raise JsonError if an escape of a well-formed JSON `text` leaves half a surrogate pair."""
    pair_or_escape = r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    if re.search(r"\\u[dD][89a-fA-F]", re.sub(pair_or_escape, " ", text)):
        raise JsonError("lone surrogate")
