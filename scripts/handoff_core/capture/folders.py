"""Finds the one session that a folder holds (capture.md 2.3). Follows no link."""

from __future__ import annotations

import os
import tempfile
from itertools import islice

from handoff_core.capture import sniff
from handoff_core.capture.globs import chosen
from handoff_core.capture.source import Source
from handoff_core.errors import NO_MATCH, NOTHING_TO_BUILD, HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAMES_SHOWN = 10
_COMPANIONS = ("subagents", "tool-results")
_CANONICAL = ("role", "text", "content", "kind", "output", "parts")


def session_in(folder: str, from_: str, include: Iterable[str], exclude: Iterable[str]) -> str:
    """Return the source that `folder` stands for: the folder itself for an OpenCode store, else its one session file.

    Raises HandoffError: exit 3 naming several, exit 4 for none.
    """
    if from_ == "opencode" or is_opencode_store(folder):
        return folder
    found = [
        path for path in sorted(_files(folder, include, exclude)) if _is_session(os.path.join(folder, path), from_)
    ]
    if not found:
        raise HandoffError(f"{folder}: no reader recognises a file in it", code=NOTHING_TO_BUILD)
    if len(found) > 1:
        more = f", +{len(found) - NAMES_SHOWN} more" if len(found) > NAMES_SHOWN else ""
        names = ", ".join(found[:NAMES_SHOWN]) + more
        raise HandoffError(f"{folder} holds several sessions: {names}", "name one of them, or use --include", NO_MATCH)
    return os.path.join(folder, found[0])


def is_opencode_store(folder: str) -> bool:
    """Say whether a folder is an OpenCode store, or holds one as `storage`."""
    return any(
        all(os.path.isdir(os.path.join(base, name)) for name in ("session", "message"))
        for base in (folder, os.path.join(folder, "storage"))
    )


def _files(folder: str, include: Iterable[str], exclude: Iterable[str]) -> Iterator[str]:
    """Yield the regular files of a tree that count, relative with `/`; what belongs to a session is left out."""
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _COMPANIONS]
        for name in names:
            path = os.path.join(base, name)
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            if not os.path.islink(path) and os.path.isfile(path) and chosen(relative, include, exclude):
                yield relative


def _is_session(path: str, from_: str) -> bool:
    """Say whether a reader knows a file by more than that it is some JSON or some text."""
    if path.endswith(("-wal", "-shm")):
        return False
    try:
        source = Source(path, tempfile.TemporaryFile)
    except HandoffError:
        return False
    try:
        name = sniff.sniff(source)
        if from_ not in ("auto", name):
            return False
        return _knows(source, name)
    except HandoffError:
        return False
    finally:
        source.close()


def _knows(source: Source, name: str) -> bool:
    if name == "text":
        from handoff_core.capture.readers.text import is_marker

        return any(is_marker(text) for text in source.beginning(sniff.HEAD).split("\n"))
    if name == "canonical" and source.shape == "lines":
        records = (record.value for record in islice(source.peek(), sniff.VOTERS))
        return any(type(value) is dict and any(key in value for key in _CANONICAL) for value in records)
    return True
