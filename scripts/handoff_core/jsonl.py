r"""Strict JSON: one parser for everything the program reads, and the two ways it writes a value on one line.

Follows ledger.md 2.1 and 4.7. The scanner and the encoder are the standard library's own, taken from below its `json`
package, which costs milliseconds at every start and is imported only to word an error. Imports `text` alone.
"""

from __future__ import annotations

from handoff_core.text import escape_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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
    text = text.strip(" \t\n\r")
    try:
        value, end = _scanned(text)
    except StopIteration:
        raise JsonError("Expecting value") from None
    except RecursionError:
        raise JsonError("nesting too deep") from None
    except JsonError:
        raise
    except ValueError as error:
        raise JsonError(getattr(error, "msg", None) or str(error)) from None
    if end != len(text):
        raise JsonError("Extra data")
    if "\\ud" in text or "\\uD" in text:
        _refuse_surrogates(text)
    return value


def plain_reader(data: bytes) -> Callable[[str], object]:
    """Return a function that does what `parse` does, made for the many lines of one file whose bytes are `data`.

    Checks that no line can need are left out: of surrogates where the file holds no escape of one, of nesting where a
    line holds too few brackets.
    """
    if b"\\ud" in data or b"\\uD" in data or b"\xef\xbb\xbf" in data:
        return parse

    def read(line: str) -> object:
        if line.count("{") + line.count("[") <= NESTING_LIMIT:
            try:
                value, end = scan(line, 0)
            except (ValueError, StopIteration, SystemError):
                return parse(line)
            if end == len(line):
                return value
        return parse(line)

    scan = _scan
    return read


def dump_line(value: object) -> str:
    """Return `value` as one line of readable JSON with hidden characters escaped (ledger.md 4.7)."""
    return escape_json("".join(_encode_readable(value, 0)))


def dump_ascii(value: object) -> str:
    """Return `value` as one line of pure ASCII JSON."""
    return "".join(_encode_ascii(value, 0))


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


def _scanned(text: str) -> tuple[object, int]:
    """Return the first value of a text and where it ends.

    Up to Python 3.11 the scanner words an error only once `json.decoder` is loaded, and fails blindly before.
    """
    try:
        return _scan(text, 0)
    except SystemError:
        __import__("json.decoder")
        return _scan(text, 0)


class _Strict:
    """What the scanner is told: how a number, a constant and an object become values."""

    strict = True
    object_hook = None
    object_pairs_hook = _unique
    parse_float = _float
    parse_int = _int
    parse_constant = _constant
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own cache of keys


def _scanner() -> Callable[[str, int], tuple[object, int]]:
    try:
        make = __import__("_json").make_scanner
    except (ImportError, AttributeError):
        from json import JSONDecoder

        hooks = ("object_pairs_hook", "parse_float", "parse_int", "parse_constant")
        decoder: Any = JSONDecoder(**{name: getattr(_Strict, name) for name in hooks})
        make = lambda _hooks: decoder.scan_once  # noqa: E731 - the same call as below
    scan: Callable[[str, int], tuple[object, int]] = make(_Strict)
    return scan


def _encoder(*, ascii_only: bool) -> Callable[[object, int], tuple[str, ...]]:
    try:
        inner = __import__("_json")
        spell = inner.encode_basestring_ascii if ascii_only else inner.encode_basestring
        encode: Callable[[object, int], tuple[str, ...]]
        encode = inner.make_encoder(None, _unwritable, spell, None, ": ", ", ", False, False, False)
    except (ImportError, AttributeError):
        from json import JSONEncoder

        encoder = JSONEncoder(ensure_ascii=ascii_only, check_circular=False, allow_nan=False)
        return lambda value, _level: tuple(encoder.iterencode(value))
    return encode


def _unwritable(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is no JSON value")


_scan = _scanner()
_encode_readable = _encoder(ascii_only=False)
_encode_ascii = _encoder(ascii_only=True)


def _depth(text: str) -> int:
    """Return how deep arrays and objects nest; brackets inside strings do not count. Runs in linear time."""
    import re

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
    import re

    pair_or_escape = r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    if re.search(r"\\u[dD][89a-fA-F]", re.sub(pair_or_escape, " ", text)):
        raise JsonError("lone surrogate")
