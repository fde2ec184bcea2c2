"""Says what a value looks like: a secret, or one of the everyday things that are none (reliability.md 7.1, 7.4)."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Span: TypeAlias = tuple[int, int, str]
    """Start and end in `Text.raw`, and the name of the rule."""

# fmt: off
WORDS = frozenset({
    "changeme", "password", "passwd", "secret", "token", "example", "placeholder", "dummy", "none", "null",
    "nil", "true", "false", "undefined", "todo", "tbd", "redacted", "hidden", "masked", "test", "testing",
    "string", "value", "optional", "required", "unset", "empty", "foo", "bar",
})
# fmt: on
"""Values that stand for a secret and are none, in any case (reliability.md 7.4)."""

_STAND_IN = re.compile(
    r"[*xX.#_-]+\Z|[<%{]|\$(?:[A-Za-z_]|[{(])|(?:your|my|the|some|insert|enter)[_ -]|(?:pk_(?:live|test|prod)_)",
    re.IGNORECASE,
)
_YOURS = re.compile(r"(?:\A|[-_.])your[-_ ]?(?:own|api|key|token|secret|access|password)", re.IGNORECASE)
_NAME = r"[A-Za-z_$][\w$]{0,200}"
_STEP = rf"(?:(?:\.|\?\.|::|->){_NAME})"
_DOTTED_NAME = re.compile(rf"{_NAME}{_STEP}{{1,40}}\Z")
_CALL_OR_INDEX = re.compile(rf"{_NAME}{_STEP}{{0,40}}[(\[]")
_NAME_PARTS = re.compile(r"[.:>?-]+")
_UUID = re.compile(r"[{(]?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_DIGEST = re.compile(r"(?:sha-?\d{1,3}|md5|h1|blake\d\w?)[:-]", re.IGNORECASE)
_PATH = re.compile(r"~|/|\.{1,2}/|[A-Za-z]:[\\/]|(?:[\w.-]{1,100}/){1,40}[\w-]{1,100}\.[A-Za-z]{1,5}\Z")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,20}://|mailto:|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[a-z]{2,})+\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[\d_.,:/%-]+(?:e[-+]?\d+)?[a-z]{0,3}\Z|\d{4}-\d\d-\d\d[T ]\d\d:", re.IGNORECASE)
_READABLE = re.compile(r"(?:[a-z]+|[A-Z][a-z]*|[A-Z]+|\d{1,8})(?:[-_./:=+ ]+(?:[a-z]+|[A-Z][a-z]*|[A-Z]+|\d{1,8}))*\Z")


def is_varied(value: str) -> bool:
    """Say whether the last 16 characters hold five different ones and nothing in it is `EXAMPLE` (7.1)."""
    return len(set(value[-16:])) >= 5 and "EXAMPLE" not in value


def is_placeholder(value: str) -> bool:
    """Say whether a value only stands for a secret (7.4)."""
    return (
        len(set(value)) < min(5, len(value))
        or value.endswith(("...", "…"))
        or "EXAMPLE" in value
        or value.lower() in WORDS
        or _STAND_IN.match(value) is not None
        or _YOURS.search(value) is not None
    )


def is_reference(value: str) -> bool:
    """Say whether a value is a dotted name, a call or an index: code that fetches a secret (7.4).

    A part that looks random makes it a token with dots in it.
    """
    if _CALL_OR_INDEX.match(value):
        return True
    return _DOTTED_NAME.match(value) is not None and not any(map(_is_random, _NAME_PARTS.split(value)))


def _is_random(part: str) -> bool:
    return len(part) >= 20 and has_digit_and_letter(part) and entropy(part) > 3.5


def is_lookalike(value: str) -> bool:
    """Say whether a value is a UUID or a digest that names its kind (7.4)."""
    return _UUID.match(value) is not None or _DIGEST.match(value) is not None


def is_path(value: str) -> bool:
    """Say whether a value is a path of a file or a folder."""
    return _PATH.match(value) is not None


def is_address(value: str) -> bool:
    """Say whether a value is an address of the web or of mail."""
    return _ADDRESS.match(value) is not None


def is_number(value: str) -> bool:
    """Say whether a value is a number or a time."""
    return _NUMBER.match(value) is not None


def is_readable(value: str) -> bool:
    """Say whether a value is made of words and short numbers, as names of models and files are."""
    return _READABLE.match(value) is not None


def has_digit_and_letter(value: str) -> bool:
    """Say whether a value holds an ASCII digit and an ASCII letter."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")


def entropy(value: str) -> float:
    """Return the Shannon entropy of a value in bits per character."""
    from math import log2

    length = len(value)
    return -sum(n / length * log2(n / length) for n in map(value.count, set(value)))


def is_credential(value: str) -> bool:
    """Say whether a value is a credential: 16 characters, letters and digits, over 3 bits each, none of 7.4."""
    return (
        len(value) >= 16
        and has_digit_and_letter(value)
        and entropy(value) > 3
        and not is_placeholder(value)
        and not is_reference(value)
        and not is_lookalike(value)
    )


class Text:
    """A text in the forms that rules look at. Offsets are those of `raw`, one more than in `text`."""

    __slots__ = ("low", "raw", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # One byte per code point keeps positions; what is no ASCII is no part of a name or a token anyway.
        self.raw = b" " + text.encode("ascii", "replace")
        self.low = self.raw.lower()

    def value(self, start: int, end: int) -> str:
        """Return the characters between two offsets of `raw`; a placeholder is recognised in them, not in `raw`."""
        return self.text[start - 1 : end - 1]
