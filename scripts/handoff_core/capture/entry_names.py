"""Judges the names that a manifest lists (capture.md 13, reliability.md 8).

Names are judged as they are written: nothing is decoded or normalised before. Imports `text` alone.
"""

from __future__ import annotations

import re
import unicodedata

from handoff_core.text import clean, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME_LIMIT = 255
"""Bytes of a name in UTF-8."""

MANIFEST = "manifest.json"

_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])", re.IGNORECASE)
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0000-\U000e0fff]")
"""Characters without a shape that Unicode files among letters and marks."""

_ACTING_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def fault_of(name: str) -> str | None:
    """Return why no fileset may list `name`, None for a safe name."""
    return next((reason for reason, holds in _FAULTS if holds(name)), None)


def fold(name: str) -> str:
    """Return what two names have in common that are one on a file system which ignores case and normal form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def shown(name: str) -> str:
    """Return a name for a message: as it is, or as an ASCII JSON text if it holds anything that could mislead."""
    return name if name and clean(name) == name and not _acts(name) else quote(name)


def _parts(name: str) -> list[str]:
    return name.split("/")


def _acts(name: str) -> bool:
    """Say whether `name` holds a control, bidi or invisible character, or half a surrogate pair."""
    if name.isascii():
        return not name.isprintable()
    return bool(_INVISIBLE.search(name)) or any(unicodedata.category(mark) in _ACTING_CATEGORIES for mark in name)


def _is_long(name: str) -> bool:
    return len(name.encode("utf-8", "surrogatepass")) > NAME_LIMIT


def _is_device(part: str) -> bool:
    """Say whether a part of a name is a device on Windows, whatever its case and its extension."""
    return _DEVICE.fullmatch(part.partition(".")[0].rstrip()) is not None


def _ends_badly(part: str) -> bool:
    return part.endswith(".") or part[-1:].isspace()


_FAULTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("it is empty", lambda name: not name),
    ("it holds a control or invisible character", _acts),
    (f"it is longer than {NAME_LIMIT} bytes", _is_long),
    ("it is not in normal form C", lambda name: not unicodedata.is_normalized("NFC", name)),
    ("it holds a backslash", lambda name: "\\" in name),
    ("it holds a colon", lambda name: ":" in name),
    ("it begins with a slash", lambda name: name.startswith("/")),
    ("it begins with a tilde", lambda name: name.startswith("~")),
    ("it has an empty part", lambda name: "" in _parts(name)),
    ("it has a part . or ..", lambda name: any(part in (".", "..") for part in _parts(name))),
    ("a part ends with a dot or a blank", lambda name: any(map(_ends_badly, _parts(name)))),
    ("a part is the name of a device", lambda name: any(map(_is_device, _parts(name)))),
)
"""Every fault of a name beside its test, in the order in which they are looked for."""
