"""Finds the transcripts of subagents that lie beside a session (formats.md 3 and 8)."""

from __future__ import annotations

import json
import os

from handoff_core.capture.globs import chosen, fits
from handoff_core.capture.readers.table import READERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = 256 * 1024
NOISE = "Warmup"
_PREFIX = "agent-"


def subagent_files(path: str, include: Iterable[str], exclude: Iterable[str]) -> list[tuple[str, str]]:
    """Return path and id of each subagent's transcript that belongs to the session file `path`, sorted by name."""
    name, folder = os.path.basename(path), os.path.dirname(path) or "."
    if name.startswith(_PREFIX) or not name.endswith(".jsonl") or not os.path.isfile(path):
        return []
    found = {}
    for pattern in dict.fromkeys(pattern for row in READERS for pattern in row.subagents):
        within = pattern.replace("{stem}", name.removesuffix(".jsonl"))
        inner = os.path.dirname(within)
        for file in _files(os.path.join(folder, *inner.split("/")) if inner else folder):
            relative = f"{inner}/{file}" if inner else file
            full = os.path.join(folder, *relative.split("/"))
            if not fits(file, os.path.basename(within)) or not chosen(relative, include, exclude):
                continue
            if inner or _is_of_session(full, path):
                found[full] = file.removesuffix(".jsonl").removeprefix(_PREFIX)
    return sorted(found.items(), key=lambda item: os.path.basename(item[0]))


def _files(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def _is_of_session(path: str, session: str) -> bool:
    """Say whether a transcript that lies beside a session names it, and is more than a warm-up."""
    records = list(_head(path))
    ids = {record.get("sessionId") for record in records}
    wanted = {os.path.basename(session).removesuffix(".jsonl")} | {r.get("sessionId") for r in _head(session)}
    prompts = [_prompt(record) for record in records if record.get("type") == "user"]
    return bool((ids & wanted) - {None}) and prompts != [NOISE]


def _head(path: str) -> Iterator[dict[str, object]]:
    """Yield the records at the beginning of a file of JSON lines."""
    try:
        with open(path, "rb") as opened:
            lines = opened.read(HEAD).split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if type(record) is dict:
            yield record


def _prompt(record: dict[str, object]) -> object:
    message = record.get("message")
    return message.get("content") if type(message) is dict else None
