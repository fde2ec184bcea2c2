"""Read JSON with the scanner of the standard library, without the `json` package, whose import takes longer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError or RecursionError for anything else."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    text = text.strip(" \t\n\r")
    value, end = make_scanner(Settings())(text, 0)  # type: ignore[arg-type]
    if end != len(text):
        raise ValueError("text behind the value")
    return value


class Settings:
    """How the scanner of the standard library reads JSON, as `json.loads` sets it up."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: Mapping[str, str] = {}

    @staticmethod
    def parse_constant(name: str) -> Any:
        """Refuse NaN and Infinity."""
        raise ValueError(name)
