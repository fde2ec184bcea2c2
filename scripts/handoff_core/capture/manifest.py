"""Reads a manifest and judges it and its entries (capture.md 13, steps 1 and 2).

Imports `jsonl`, `entry_names` and `sealed_folder`.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from handoff_core.capture.entry_names import MANIFEST, fault_of, fold, shown
from handoff_core.capture.sealed_folder import UnfitFile
from handoff_core.jsonl import JsonError, decode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from handoff_core.capture.sealed_folder import SealedFolder

SCHEMA_VERSION = "2.1.0"
MANIFEST_LIMIT = 16 * 1024 * 1024
"""Bytes of a manifest; a larger one is not read."""

SIZE_LIMIT = 2**53 - 1
CHUNK = 1 << 20

BRIEF = "HANDOFF.md"
SUMMARY = "HANDOFF.summary.json"
PAYLOAD = "HANDOFF.llm.json"
TIMELINE = "timeline.jsonl"
TOOLS = "TOOLS.md"
REDACTIONS = "redactions.json"

FIXED_FILES = (BRIEF, SUMMARY, PAYLOAD, TIMELINE, TOOLS, REDACTIONS)
"""The files that every fileset has beside its manifest."""

LEDGER_FILES = ("LEDGER.jsonl", "ROUTE.json", "BOARD.md")
"""The files that a fileset has besides when it joins the ledger."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Problem(NamedTuple):
    """One thing that does not fit: the file it is about, safe to be shown, and what is wrong with it."""

    name: str
    text: str


class Entry(NamedTuple):
    """One listed file with a safe name: its size and digest, and whether people may write behind its end."""

    name: str
    size: int
    digest: str
    open_tail: bool


class Manifest(NamedTuple):
    """A manifest as it was read: the whole value, the sound entries, and every problem found in it."""

    value: dict[str, Any]
    entries: Sequence[Entry]
    problems: Sequence[Problem]


class UnusableManifest(Exception):  # noqa: N818 - the problem is reported, the program goes on
    """Say that nothing can be checked by this manifest; `problems` are reported."""

    def __init__(self, *texts: str) -> None:
        super().__init__("; ".join(texts))
        self.problems = [Problem(MANIFEST, text) for text in texts]


def read_manifest(folder: SealedFolder) -> Manifest:
    """Return the manifest of a fileset with everything that is wrong with it; raise UnusableManifest (step 1)."""
    value = _parse(_read(folder))
    problems = [Problem(MANIFEST, text) for text in _seal_problems(value)]
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        problems.append(Problem(MANIFEST, f"schema_version is not {SCHEMA_VERSION}: this program cannot judge it"))
        raise UnusableManifest(*(problem.text for problem in problems))
    files = value.get("files")
    if not isinstance(files, list) or not files:
        raise UnusableManifest(*(problem.text for problem in problems), "files lists nothing")
    entries: list[Entry] = []
    problems += _entry_problems(files, entries)
    listed = {entry.get("name") for entry in files if isinstance(entry, dict) and isinstance(entry.get("name"), str)}
    needed = (*FIXED_FILES, *(LEDGER_FILES if "ledger" in value else ()))
    problems += [Problem(name, "not listed in the manifest") for name in needed if name not in listed]
    return Manifest(value, entries, problems)


def digest_of(manifest: dict[str, Any]) -> str:
    """Return the digest of a manifest without its own `manifest_sha256` (capture.md 10.5)."""
    import json
    from hashlib import sha256

    rest = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return sha256(
        json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    ).hexdigest()


def read_part(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield the next `size` bytes of a file in pieces, fewer if it ends before."""
    while size > 0 and (piece := os.read(descriptor, min(size, CHUNK))):
        size -= len(piece)
        yield piece


def _read(folder: SealedFolder) -> bytes:
    try:
        descriptor = folder.open(MANIFEST)
    except UnfitFile as unfit:
        raise UnusableManifest(unfit.reason) from None
    try:
        if os.fstat(descriptor).st_size > MANIFEST_LIMIT:
            raise UnusableManifest(f"larger than {MANIFEST_LIMIT} bytes")
        data = b"".join(read_part(descriptor, MANIFEST_LIMIT + 1))
    except OSError as error:
        raise UnusableManifest(f"cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if len(data) > MANIFEST_LIMIT:
        raise UnusableManifest(f"larger than {MANIFEST_LIMIT} bytes")
    return data


def _parse(data: bytes) -> dict[str, Any]:
    try:
        value = parse(decode(data))
    except JsonError as error:
        raise UnusableManifest(f"no strict JSON: {error.reason}") from None
    if not isinstance(value, dict):
        raise UnusableManifest("not a JSON object")
    return value


def _seal_problems(value: dict[str, Any]) -> Iterator[str]:
    if not isinstance(value.get("manifest_sha256"), str):
        yield "manifest_sha256 is missing"
    elif value["manifest_sha256"] != digest_of(value):
        yield "manifest_sha256 does not fit: the manifest was changed"


def _entry_problems(files: Sequence[Any], entries: list[Entry]) -> Iterator[Problem]:
    """Add the sound entries to `entries` and yield what is wrong with the others (step 2)."""
    seen: dict[str, str] = {}
    for number, listed in enumerate(files, 1):
        name = listed.get("name") if isinstance(listed, dict) else None
        if not isinstance(name, str):
            yield Problem(MANIFEST, f"entry {number} of files is no object with a name")
            continue
        fault = fault_of(name)
        if fault is not None:
            yield Problem(shown(name), f"unsafe name: {fault}")
            continue
        problems = [*_twin_problems(name, seen), *_value_problems(listed)]
        yield from (Problem(name, text) for text in problems)
        if not problems:
            entries.append(Entry(name, listed["bytes"], listed["sha256"], listed.get("open_tail") is True))


def _twin_problems(name: str, seen: dict[str, str]) -> Iterator[str]:
    twin = seen.setdefault(fold(name), name)
    if fold(name) == MANIFEST:
        yield "the manifest lists itself"
    elif twin is not name:
        same = "listed twice" if twin == name else f"the same file as {twin} where case or normal form are ignored"
        yield same


def _value_problems(listed: dict[str, Any]) -> Iterator[str]:
    size, digest = listed.get("bytes"), listed.get("sha256")
    if type(size) is not int or not 0 <= size <= SIZE_LIMIT:
        yield "bytes is not an integer from 0 to 2^53 - 1"
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        yield "sha256 is not 64 lower-case hexadecimal digits"
    if (listed.get("open_tail") is True) != (listed["name"] == BRIEF) or listed.get("open_tail") not in (None, True):
        yield f"open_tail is true for {BRIEF} and absent elsewhere"
