"""Names folders of the store, and chooses the names of session and project (capture.md 3). Imports nothing of ours."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SESSION_LENGTH = 80
PROJECT_LENGTH = 48
UNSORTED = "unsorted"

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9])(?:\..*)?", re.IGNORECASE | re.DOTALL)
_OTHER = re.compile(r"[^a-z0-9._-]+")
_SLUG_LENGTH = 40
_HEX_LENGTH = 12
_ENDINGS = (".jsonl", ".json", ".txt", ".md", ".log", ".db", ".zst", ".zstd")
_FIXED_STEMS = frozenset({"api_conversation_history", "session", "events", "conversation", "full"})
_FIXED_ENDINGS = {"api_conversation_history": ".json"}
_THREAD = re.compile(r"--.*--", re.DOTALL)
_SHORTEST_PART = 3


def is_safe(name: str, limit: int = SESSION_LENGTH) -> bool:
    """Say whether `name` may name a folder as it stands (capture.md 3)."""
    return (
        len(name) <= limit
        and _SAFE.fullmatch(name) is not None
        and not name.endswith(".")
        and _DEVICE.fullmatch(name) is None
    )


def safe_name(text: str, limit: int = SESSION_LENGTH) -> str:
    """Return the folder name of a text: its own if it is safe, else `<slug>~<12 hex>` (capture.md 3)."""
    if is_safe(text, limit):
        return text
    from hashlib import sha256

    slug = _OTHER.sub("-", text.lower())[:_SLUG_LENGTH].strip("-._") or "session"
    return f"{slug}~{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_HEX_LENGTH]}"


def stem_of(path: str) -> str:
    """Return the stem of a session's file: its name without endings, or its folder's where every file has that name."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    name = parts[-1] if parts else path
    stem = _without_endings(name)
    if stem in _FIXED_STEMS and len(parts) > 1 and _is_fixed(name, stem):
        return parts[-2]
    return stem


def _is_fixed(name: str, stem: str) -> bool:
    """Say whether a file of this name is called so in every session, compressed or not."""
    ending = name[len(stem) :].removesuffix(".zst").removesuffix(".zstd")
    return ending == _FIXED_ENDINGS.get(stem, ".jsonl")


def _without_endings(name: str) -> str:
    while True:
        ending = next((end for end in _ENDINGS if name.endswith(end) and name != end), None)
        if ending is None:
            return name
        name = name[: -len(ending)]


def choose_session(given: str, stem: str, ids: Sequence[str]) -> str:
    """Return the session's id: the one given, the stem if a record carries it, the first id found, the stem."""
    if given:
        return given
    return ids[0] if ids and stem not in ids else stem


def project_of_thread(thread: str) -> str:
    """Return the project that a thread of the form `--…--` names in its last part, empty if it names none."""
    if not _THREAD.fullmatch(thread):
        return ""
    parts = [part for part in thread.split("-") if part]
    last = parts[-1] if parts else ""
    return last if len(last) >= _SHORTEST_PART and is_safe(last, PROJECT_LENGTH) else ""


def last_part(folder: str) -> str:
    """Return the last part of a working folder of any platform; slashes of both kinds end a part."""
    return next((part for part in reversed(re.split(r"[/\\]", folder)) if part), "")
