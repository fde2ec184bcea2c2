"""Checks a fileset against its manifest and returns everything that does not fit (capture.md 13).

Reads through one `SealedFolder` alone: no link is followed, nothing blocks, no more than the listed sizes is read and
nothing is written. Imports the modules of `capture` that judge names, contents and the contract.
"""

from __future__ import annotations

import os
from itertools import islice

from handoff_core.capture import contents
from handoff_core.capture.contract import NONE, SEAL_LINES, judge_contract, tail_problems
from handoff_core.capture.entry_names import MANIFEST, fault_of, shown
from handoff_core.capture.manifest import (
    BRIEF,
    FIXED_FILES,
    LEDGER_FILES,
    PAYLOAD,
    REDACTIONS,
    SUMMARY,
    TIMELINE,
    Problem,
    UnusableManifest,
    read_manifest,
    read_part,
)
from handoff_core.capture.sealed_folder import UnfitFile
from handoff_core.errors import os_text
from handoff_core.jsonl import JsonError, decode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from handoff_core.capture.manifest import Entry, Manifest
    from handoff_core.capture.sealed_folder import SealedFolder

DOCUMENT_LIMIT = 64 * 1024 * 1024
"""Bytes of a file that must be held whole: brief, summary, payload, redactions."""

LINE_LIMIT = 256 * 1024 * 1024
"""Bytes of one line of a timeline, as large as the largest document that build reads."""

TAIL_LIMIT = 4 * 1024 * 1024
"""Bytes behind the sealed part of a brief; the gate reads no larger brief."""

STRAY_LIMIT = 1000
"""Entries beside the listed files that are named one by one."""


class Report:
    """What verify found: problems in the order of the checks, notes, and the facts of the `OK` line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.contract = NONE
        self.manifest: Manifest | None = None

    def fits(self) -> bool:
        """Say whether nothing is wrong."""
        return not self.problems

    def digest(self) -> str | None:
        """Return the manifest's own digest, None where there is none that can be read."""
        value = self.manifest.value.get("manifest_sha256") if self.manifest else None
        return value if isinstance(value, str) else None

    def add(self, name: str, *texts: str) -> None:
        """Note problems of one file."""
        self.problems += [Problem(name, text) for text in texts]


class Evidence:
    """What the contract's EVIDENCE is looked up in, beside the fileset: the project's files and its commits."""

    def __init__(self, has_file: Callable[[str], bool], resolves: Callable[[str], bool]) -> None:
        self.has_file = has_file
        self.resolves = resolves


class _Files:
    """What was read of the listed files, for the checks that come after all of them."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.timeline: contents.Timeline | None = None
        self.tail: bytes | None = None
        self.suspicious: dict[str, None] = {}


def verify(folder: SealedFolder, evidence: Evidence, findings: Callable[[str], Sequence[Any]] | None = None) -> Report:
    """Return everything that does not fit in one fileset, in the order of capture.md 13.

    `findings` returns the secret-looking places of a text; the files in which it finds some are noted.
    """
    report = Report(folder.path)
    try:
        report.manifest = manifest = read_manifest(folder)
    except UnusableManifest as unusable:
        report.problems += unusable.problems
        return report
    report.problems += manifest.problems
    files = _Files()
    for entry in sorted(manifest.entries, key=lambda entry: entry.name == TIMELINE):
        report.add(entry.name, *_check_file(folder, entry, files, findings))
    _sort_files(report, manifest)
    _check_strays(report, folder, manifest)
    _check_tail(report, files, manifest, evidence)
    _check_contents(report, files, manifest.value)
    report.notes += [f"{name} holds something that looks like a secret" for name in files.suspicious]
    return report


def copy_files(folder: SealedFolder, entries: Sequence[Entry], target: str) -> None:
    """Copy the listed part of each file with a meaning into `target`, a new private folder.

    Raises UnfitFile naming the first that cannot be read or has another size than listed, OSError if writing fails.
    """
    for entry in entries:
        if entry.name not in (*FIXED_FILES, *LEDGER_FILES):
            continue
        try:
            descriptor = folder.open(entry.name)
        except UnfitFile as unfit:
            raise UnfitFile(f"{entry.name}: {unfit.reason}") from None
        try:
            size = os.fstat(descriptor).st_size
            if size < entry.size or (size > entry.size and not entry.open_tail):
                raise UnfitFile(f"{entry.name}: {size} bytes instead of {entry.size}")
            with open(os.path.join(target, entry.name), "xb") as copy:
                copy.writelines(read_part(descriptor, entry.size))
        finally:
            os.close(descriptor)


# Step 3: each file


def _check_file(
    folder: SealedFolder, entry: Entry, files: _Files, findings: Callable[[str], Sequence[Any]] | None
) -> Iterator[str]:
    """Yield what is wrong with one listed file; keep in `files` what later checks need of it."""
    try:
        descriptor = folder.open(entry.name)
    except UnfitFile as unfit:
        yield unfit.reason
        return
    try:
        size = os.fstat(descriptor).st_size
        if size < entry.size or (size > entry.size and not entry.open_tail):
            yield f"{size} bytes instead of {entry.size}"
        elif entry.name in _DOCUMENTS and entry.size > DOCUMENT_LIMIT:
            yield f"larger than {DOCUMENT_LIMIT} bytes"
        elif entry.open_tail and size - entry.size > TAIL_LIMIT:
            yield f"more than {TAIL_LIMIT} bytes behind its sealed part"
        else:
            yield from _READERS.get(entry.name, _read_plain)(descriptor, entry, files, findings)
    except OSError as error:
        yield f"cannot be read: {os_text(error)}"
    finally:
        os.close(descriptor)


def _hashed(descriptor: int, entry: Entry) -> Iterator[tuple[bytes, str]]:
    """Yield the listed part of a file in pieces, and at the end an empty piece with what is wrong with it."""
    from hashlib import sha256

    digest, size = sha256(), 0
    for piece in read_part(descriptor, entry.size):
        digest.update(piece)
        size += len(piece)
        yield piece, ""
    if size != entry.size:
        yield b"", "became shorter while it was read"
    elif digest.hexdigest() != entry.digest:
        yield b"", "sha256 differs: the content was changed"


def _read_plain(
    descriptor: int, entry: Entry, _files: _Files, _findings: Callable[[str], Sequence[Any]] | None
) -> Iterator[str]:
    yield from (problem for _, problem in _hashed(descriptor, entry) if problem)


def _read_whole(descriptor: int, entry: Entry, problems: list[str]) -> bytes:
    pieces = []
    for piece, problem in _hashed(descriptor, entry):
        pieces.append(piece)
        problems += [problem] if problem else []
    return b"".join(pieces)


def _read_document(
    descriptor: int, entry: Entry, files: _Files, findings: Callable[[str], Sequence[Any]] | None
) -> Iterator[str]:
    """Keep the JSON object of a file."""
    problems: list[str] = []
    data = _read_whole(descriptor, entry, problems)
    yield from problems
    try:
        text = decode(data)
        value = parse(text)
    except JsonError as error:
        yield f"no strict JSON: {error.reason}"
        return
    if not isinstance(value, dict):
        yield "not a JSON object"
        return
    files.documents[entry.name] = value
    if entry.name == SUMMARY and findings and findings(text):
        files.suspicious[entry.name] = None


def _read_brief(
    descriptor: int, entry: Entry, files: _Files, findings: Callable[[str], Sequence[Any]] | None
) -> Iterator[str]:
    """Check how the sealed part ends, and keep the tail."""
    problems: list[str] = []
    sealed = _read_whole(descriptor, entry, problems)
    yield from problems
    if not sealed.endswith(b"\n" + SEAL_LINES.encode()):
        yield "the sealed part does not end with the evidence contract"
    files.tail = b"".join(read_part(descriptor, TAIL_LIMIT + 1))
    if len(files.tail) > TAIL_LIMIT:
        yield f"more than {TAIL_LIMIT} bytes behind its sealed part"
    if findings and findings((sealed + files.tail).decode("utf-8", "replace")):
        files.suspicious[entry.name] = None


def _read_timeline(
    descriptor: int, entry: Entry, files: _Files, findings: Callable[[str], Sequence[Any]] | None
) -> Iterator[str]:
    """Count the turns while the file is hashed."""
    timeline = files.timeline = contents.Timeline(contents.turns_of(files.documents.get(PAYLOAD)))
    rest = b""
    pending: list[bytes] = []
    length = 0
    for piece, problem in _hashed(descriptor, entry):
        if problem:
            yield problem
        head, feed, rest = piece.rpartition(b"\n")
        if not feed:
            pending.append(rest)
            length += len(rest)
        else:
            pending.append(head)
            _take_lines(b"".join(pending), timeline, entry, files, findings)
            pending, length = [rest], len(rest)
        if length > LINE_LIMIT:
            yield f"a line is longer than {LINE_LIMIT} bytes"
            files.timeline = None
            return
    if any(pending):
        yield "the last line has no line feed"
        _take_lines(b"".join(pending), timeline, entry, files, findings)
    yield from timeline.line_problems()


def _take_lines(
    block: bytes,
    timeline: contents.Timeline,
    entry: Entry,
    files: _Files,
    findings: Callable[[str], Sequence[Any]] | None,
) -> None:
    for line in block.split(b"\n"):
        turn = timeline.take(line)
        if turn is not None and findings and entry.name not in files.suspicious and findings(turn["text"]):
            files.suspicious[entry.name] = None


_READERS = {
    BRIEF: _read_brief,
    SUMMARY: _read_document,
    PAYLOAD: _read_document,
    REDACTIONS: _read_document,
    TIMELINE: _read_timeline,
}
"""How the files with a meaning are read; of any other only the digest counts."""

_DOCUMENTS = (BRIEF, SUMMARY, PAYLOAD, REDACTIONS)


# Steps 4 to 7


def _sort_files(report: Report, manifest: Manifest) -> None:
    """Put the problems of listed files into the order of the manifest: the timeline is read last."""
    order = {entry.name: number for number, entry in enumerate(manifest.entries)}
    first = len(manifest.problems)
    report.problems[first:] = sorted(report.problems[first:], key=lambda problem: order[problem.name])


def _check_strays(report: Report, folder: SealedFolder, manifest: Manifest) -> None:
    """Note what lies in the folder and is not listed; an entry with a fault of its own is listed all the same."""
    names = (entry.get("name") for entry in manifest.value["files"] if isinstance(entry, dict))
    listed = {name for name in names if isinstance(name, str) and fault_of(name) is None}
    try:
        found = list(islice(folder.strays({*listed, MANIFEST}), STRAY_LIMIT + 1))
    except OSError as error:
        report.add(".", f"cannot be listed: {os_text(error)}")
        return
    for name, kind in found[:STRAY_LIMIT]:
        report.add(shown(name), f"{kind} that the manifest does not list")
    if len(found) > STRAY_LIMIT:
        report.add(".", f"more than {STRAY_LIMIT} entries that the manifest does not list")


def _check_tail(report: Report, files: _Files, manifest: Manifest, evidence: Evidence) -> None:
    if files.tail is None:
        return
    try:
        tail = decode(files.tail)
    except JsonError as error:
        report.add(BRIEF, f"behind its sealed part: {error.reason}")
        return
    report.add(BRIEF, *tail_problems(tail))
    listed = {entry.name for entry in manifest.entries}

    def has_file(path: str) -> bool:
        return path in listed or (fault_of(path) is None and evidence.has_file(path))

    contract = judge_contract(tail, has_file, evidence.resolves)
    report.contract = contract.level
    report.notes += contract.notes


def _check_contents(report: Report, files: _Files, manifest: dict[str, Any]) -> None:
    timeline = files.timeline
    summary, payload, redactions = (files.documents.get(name) for name in (SUMMARY, PAYLOAD, REDACTIONS))
    if timeline is not None:
        report.add(MANIFEST, *contents.manifest_problems(manifest, timeline))
    if summary is not None:
        report.add(SUMMARY, *contents.summary_problems(summary, payload or {}, manifest) if payload is not None else ())
    if payload is not None:
        report.add(PAYLOAD, *contents.payload_problems(payload, manifest))
        if timeline is not None:
            differing = ", ".join(str(number) for number in timeline.differing[: contents.SHOWN_LINES])
            report.add(PAYLOAD, *([f"turns differ from the timeline: {differing}"] if differing else []))
    if redactions is not None:
        report.add(REDACTIONS, *contents.redaction_problems(redactions, manifest))
