"""Chooses one of the sessions that a database or a store folder holds, and reads its JSON columns.

Imports modules of `capture` alone.
"""

from __future__ import annotations

from handoff_core.capture import jsonlines
from handoff_core.capture.turns import Absent, Ambiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from handoff_core.capture.source import Source


class Listed:
    """A session that a database or a store folder holds."""

    __slots__ = ("folder", "id", "parent", "updated")

    def __init__(self, key: object, parent: object, folder: object, updated: object) -> None:
        self.id = str(key)
        self.parent = parent if type(parent) is str else ""
        self.folder = folder if type(folder) is str else ""
        self.updated = updated
        """When it was changed last, as the store says it; None where it does not."""


def chosen(source: str, ids: Sequence[str], wanted: str | None, roots: Iterable[str] | None = None) -> str:
    """Return the id of the session to read: the wanted one, by its id or the start of it, else the only one.

    Follows capture.md 1. `roots` are the ids among which the only one is looked for, all when it is not given. Raises
    Ambiguous with the ids if several fit, Absent if none does.
    """
    if wanted:
        fitting = [name for name in ids if name == wanted] or [name for name in ids if name.startswith(wanted)]
    else:
        fitting = list(ids if roots is None else roots)
    if not fitting:
        raise Absent(source, wanted or "")
    if len(fitting) > 1:
        raise Ambiguous(source, fitting)
    return fitting[0]


def column(source: Source, text: object, at: str) -> Any:
    """Return the JSON value of a column, None for an empty one and for a broken one, which is counted as damaged."""
    if text is None or text in ("", b""):
        return None
    whole = text.decode("utf-8", "replace") if type(text) is bytes else str(text)
    found, damage, _ = jsonlines.values(whole)
    if damage is not None or len(found) != 1:
        source.damaged(at, damage.reason if damage else jsonlines.TEXT_AFTER)
        return None
    return jsonlines.without_halves(found[0], [0])
