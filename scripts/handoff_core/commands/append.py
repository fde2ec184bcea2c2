"""`append`: one record from stdin, checked in the order of ledger.md 4, written as one line.

The exclusive lock is held from the look at the log's tail to the receipt, and so are the signals that would end the
program: an interrupted append is either not written or acknowledged.
"""

from __future__ import annotations

import os
import time

from handoff_core import gates, schema
from handoff_core.errors import DONE, HandoffError, UsageError, os_text
from handoff_core.jsonl import JsonError, decode, dump_line, parse
from handoff_core.layout import find_project
from handoff_core.ledger import (
    NOT_CLEAN,
    OpenLog,
    SignalsHeld,
    check_log_path,
    exclusive_lock,
    make_log_folder,
    parse_object,
    parse_slice,
    parse_strict,
    read_bytes,
    shared_lock,
)
from handoff_core.records import BUILD_FAILURE, DESIGN_BLOCK
from handoff_core.text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.autofix import Documents
    from handoff_core.layout import Project
    from handoff_core.ledger import Entry, Record
    from handoff_core.text import Streams

RECORD_LIMIT = 1_048_576
"""Bytes of the record as it is read, white space included."""


def append(
    streams: Streams,
    *,
    type: str,  # noqa: A002 - the argument's name on the command line
    record: str | None,
    dry_run: bool,
    as_engine: bool,
    **files: Any,
) -> int:
    """Append one record to the log and print `appended <type> at line <n>` (ledger.md 4).

    Raises HandoffError with all the problems of the first step that finds one; log and seal are then as they were.
    """
    project = find_project(**files)
    source = "stdin" if record in (None, "-") else str(record)
    candidate = _parsed(_read(streams, source, record), source, type)
    candidate["ts"] = stamp()
    schemas = schema.SchemaSet(project.schemas, project.schemas_shown, project.read_layout())
    declared = _checked_schema(schemas, candidate, type)
    _refuse(gates.record_problems(candidate, as_engine=as_engine))
    check_log_path(project)
    documents = _documents(project) if type == DESIGN_BLOCK else None
    if dry_run:
        with shared_lock(project), OpenLog(project, writable=False) as log:
            _refuse_by_log(log, candidate, schemas, documents)
        streams.out(_line(candidate, declared))
        return DONE
    make_log_folder(project)
    with exclusive_lock(project), OpenLog(project) as log, SignalsHeld():
        candidate["ts"] = stamp()
        healed = _refuse_by_log(log, candidate, schemas, documents)
        line = _line(candidate, declared).encode()
        log.write(b"\n" + line if healed else line)
        return _acknowledge(streams, project, log, type, healed)


def stamp() -> str:
    """Return the current time as append stamps it: UTC, six digits, `+00:00` (ledger.md 4.2)."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    moment = time.gmtime(seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S", moment) + f".{nanoseconds // 1000:06d}+00:00"


# Steps 1 to 5: read, parse, type


def _read(streams: Streams, source: str, path: str | None) -> bytes:
    if path is not None and path != "-":
        data = read_bytes(path, path, RECORD_LIMIT + 1)
        if data is None:
            raise HandoffError(f"cannot read {path}: {os.strerror(2)}")
    else:
        if streams.stdin is None or streams.is_terminal("stdin"):
            raise UsageError("append reads the record from stdin: give it a heredoc, a pipe or --record FILE")
        try:
            data = streams.stdin.read(RECORD_LIMIT + 1)
        except OSError as error:
            raise HandoffError(f"cannot read {source}: {os_text(error)}") from None
    if len(data) > RECORD_LIMIT:
        raise HandoffError(f"{source} is longer than {RECORD_LIMIT} bytes")
    return data


def _parsed(data: bytes, source: str, kind: str) -> Record:
    try:
        text = decode(data)
    except JsonError as error:
        raise HandoffError(f"{source} is {error.reason}") from None
    try:
        record = parse(text)
    except JsonError as error:
        raise HandoffError(f"{source} is not valid JSON: {error.reason}") from None
    if not isinstance(record, dict):
        raise HandoffError("record must be a JSON object")
    if record.get("type") != kind:
        raise HandoffError(f"record type {quote(record.get('type'))} does not match argument '{kind}'")
    return record


# Steps 8 and 9: schema


def _checked_schema(schemas: schema.SchemaSet, record: Record, kind: str) -> schema.Schema:
    try:
        declared = schemas.get(kind)
    except schema.SchemaError as error:
        raise HandoffError(str(error)) from None
    _refuse(schemas.check(record) + schema.misspelled(record, declared))
    return declared


def _refuse(problems: list[str]) -> None:
    if problems:
        raise HandoffError(problems)


def _line(record: Record, declared: schema.Schema) -> str:
    return dump_line(schema.canonical(record, declared)) + "\n"


# Steps 13 and 14: what the log says


def _documents(project: Project) -> Documents | None:
    """Return what git says of the design documents, asked before the lock; None where it cannot say (4.6)."""
    from handoff_core import autofix, git

    try:
        documents = autofix.documents(project.root)
    except git.GitError:
        return None
    return documents if documents.has_commit else None


def _refuse_by_log(log: OpenLog, record: Record, schemas: schema.SchemaSet, documents: Documents | None) -> int:
    """Raise HandoffError if the tail or a rule of the log refuses the record.

    Returns the line number of a complete tail whose line feed must be written, 0 if the log ends as it should.
    """
    tail = log.tail()
    whole = not tail or parse_object(tail) is not None
    need = gates.NEEDS.get(record["type"], gates.ENTRIES)
    if whole and need == gates.NOTHING:
        return log.count_lines() + 1 if tail else 0
    if not whole:
        count = f"{len(tail)} bytes without a newline"
        problem = f"line {log.count_lines() + 1}: torn record ({count}); nothing was appended"
        raise HandoffError(f"{problem} — run validate --repair-tail")
    lines = log.count_lines() + bool(tail)
    entries: list[Entry] = []
    if record["type"] == DESIGN_BLOCK:
        entries = _clean_entries(log.read_from(0), healed=bool(tail))
    elif need == gates.ENTRIES:
        entries = parse_slice(log.read_from(0), record.get("req_id"))
    maximum = schemas.retry_maximum() if record["type"] == BUILD_FAILURE else None
    _refuse(gates.log_problems(record, entries, lines, retry_maximum=maximum))
    if documents is not None:
        _refuse_uncovered(record, entries, lines, documents)
    return lines if tail else 0


def _clean_entries(data: bytes, *, healed: bool) -> list[Entry]:
    entries, problems = parse_strict(data + b"\n" if healed else data)
    if problems:
        raise HandoffError([*problems, NOT_CLEAN])
    return entries


def _refuse_uncovered(record: Record, entries: list[Entry], lines: int, documents: Documents) -> None:
    from handoff_core import autofix

    paths = autofix.uncovered([*entries, (lines + 1, record)], documents)
    if paths:
        listed = ", ".join(paths)
        problem = f"design-block leaves uncommitted design-doc path(s) with no covering record: {listed}"
        raise HandoffError(f"{problem} — list them in primary_paths or supporting_paths, or revert them")


# Steps 18 and 19: seal and receipt


def _acknowledge(streams: Streams, project: Project, log: OpenLog, kind: str, healed: int) -> int:
    from handoff_core import seal

    base = log.size + bool(healed)
    line, note = seal.extend(project, log, base)
    if healed:
        streams.note(f"line {healed} was complete but had no newline; added it")
    if note:
        streams.note(note)
    receipt = f"appended {kind} {_place(log) if line is None else f'at line {line}'}"
    try:
        streams.raw_out(receipt + "\n")
    except OSError:
        streams.note(f"{receipt} (stdout could not be written)")
    return DONE


def _place(log: OpenLog) -> str:
    """Return where the record stands when no seal says so; it stands even if the log cannot be read back now."""
    try:
        return f"at line {log.count_lines()}"
    except HandoffError:
        return "at the end of the log, which cannot be read back to count its lines"
