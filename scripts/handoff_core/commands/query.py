"""`latest`, `next-retry` and `show`: what the ledger holds, printed.

Follows ledger.md 7.
"""

from __future__ import annotations

import os

from handoff_core.errors import DONE, INTERRUPTED, NO_MATCH, HandoffError, UsageError
from handoff_core.jsonl import dump_line
from handoff_core.layout import find_project
from handoff_core.ledger import (
    clean_entries,
    decoded_log,
    missing_log,
    parse_object,
    read_log_bytes,
    shared_lock,
)
from handoff_core.text import clean, escape_json, without_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.layout import Project
    from handoff_core.ledger import Record
    from handoff_core.text import Streams

FOLLOW_PAUSE = 0.1
"""Seconds between two looks at the log."""


def latest(
    streams: Streams,
    *,
    type: str,  # noqa: A002 - the flag's name on the command line
    req_id: str | None,
    with_line: bool,
    pretty: bool,
    **files: Any,
) -> int:
    """Print the last record of a type, and of a slice if one is given (ledger.md 7.1)."""
    found = None
    for entry in clean_entries(find_project(**files)):
        if entry[1].get("type") == type and (not req_id or entry[1].get("req_id") == req_id):
            found = entry
    if found is None:
        slice_named = f" for {req_id}" if req_id else ""
        raise HandoffError(f"no {type} record{slice_named}", code=NO_MATCH)
    line, record = found
    body = _body(record, streams, indent=pretty)
    if pretty:
        body = f"line {line}:\n{body}"
    elif with_line:
        body = f"{line}\t{body}"
    streams.out(body + "\n")
    return DONE


def next_retry(streams: Streams, *, req_id: str, **files: Any) -> int:
    """Print the number that the next build-failure of a slice must carry (ledger.md 7.2)."""
    from handoff_core import gates
    from handoff_core.schema import SchemaSet

    project = find_project(**files)
    retry = gates.next_retry(clean_entries(project), req_id)
    if retry is None:
        raise HandoffError(f"no design-block record for {req_id}", code=NO_MATCH)
    maximum = SchemaSet(project.schemas, project.schemas_shown, {}).retry_maximum()
    if maximum is not None and retry > maximum:
        streams.note(gates.retry_exceeds(retry, maximum))
    streams.out(f"{retry}\n")
    return DONE


def show(
    streams: Streams,
    *,
    last: str,
    type: str | None,  # noqa: A002 - the flag's name on the command line
    req_id: str | None,
    json: bool,
    follow: bool,
    **files: Any,
) -> int:
    """Print raw entries for people, damage included; with `follow` go on until interrupted (ledger.md 7.3)."""
    try:
        count = int(last)
    except ValueError:
        raise UsageError(f"argument --last: {last} is not a number") from None
    project = find_project(**files)
    printer = _Printer(streams, type, req_id, as_json=json)
    if follow:
        return _follow(project, printer, count)
    with shared_lock(project):
        data = read_log_bytes(project)
    if data is None:
        raise HandoffError(missing_log(project))
    lines = decoded_log(data).split("\n")
    if not lines[-1]:
        lines.pop()
    printer.print_last(lines, 1, count)
    if not printer.printed and not json:
        streams.out("no matching records\n")
    return DONE


class _Printer:
    """Prints the lines of a log that pass the filters, as text for people or as JSON Lines."""

    def __init__(self, streams: Streams, kind: str | None, req_id: str | None, *, as_json: bool) -> None:
        self.streams = streams
        self.kind = kind
        self.req_id = req_id
        self.as_json = as_json
        self.printed = 0

    def print_last(self, lines: list[str], first: int, count: int) -> None:
        """Print the last `count` of the lines that pass, all if it is 0 or less; `first` is the number of the first."""
        passing = []
        for number, line in enumerate(lines, first):
            record = parse_object(line)
            if self._passes(record):
                passing.append((number, line, record))
        for number, line, record in passing[-count:] if count > 0 else passing:
            self._print(number, line, record)

    def _passes(self, record: Record | None) -> bool:
        if record is None:
            return not self.kind and not self.req_id
        named = not self.kind or record.get("type") == self.kind
        return named and (not self.req_id or record.get("req_id") == self.req_id)

    def _print(self, number: int, line: str, record: Record | None) -> None:
        self.printed += 1
        if self.as_json:
            if record is None:
                self.streams.note(f"line {number} left out: not a JSON object")
            else:
                self.streams.out(_body(record, self.streams) + "\n")
        elif record is None:
            self.streams.out(f"-- line {number}: UNPARSEABLE\n   {clean(line)}\n")
        else:
            named = (record.get(field) for field in ("type", "req_id", "ts"))
            head = " · ".join(field for field in named if isinstance(field, str))
            head = clean(f"-- line {number}: {head}".rstrip())
            self.streams.out(f"{head}\n{_body(record, self.streams, indent=True)}\n")


def _body(record: Record, streams: Streams, *, indent: bool = False) -> str:
    """Return a record as JSON with hidden characters escaped, on a terminal without them (ledger.md 7)."""
    on_terminal = streams.is_terminal("stdout")
    if not indent and not on_terminal:
        return dump_line(record)
    import json

    text = json.dumps(record, ensure_ascii=False, indent=2 if indent else None)
    return without_hidden(text, keep="\n") if on_terminal else escape_json(text)


def _follow(project: Project, printer: _Printer, count: int) -> int:
    """Print the selection, then each new whole line as it comes, until interrupted."""
    import time

    follower = _Follower(project, printer)
    try:
        follower.look(count)
        while True:
            time.sleep(FOLLOW_PAUSE)
            follower.look(0 if follower.started else count)
    except KeyboardInterrupt:
        return INTERRUPTED


class _Follower:
    """Remembers how far a growing log was printed; `started` says that there was a log to look at."""

    def __init__(self, project: Project, printer: _Printer) -> None:
        self._project = project
        self._printer = printer
        self._identity: tuple[int, int] | None = None
        self._offset = self._lines = 0
        self.started = False

    def look(self, count: int) -> None:
        """Print the last `count` of the lines that are new, all of them if it is 0."""
        try:
            status = os.stat(self._project.log)
        except OSError:
            return
        identity = (status.st_dev, status.st_ino)
        replaced = self._identity not in (None, identity)
        if replaced or status.st_size < self._offset:
            self._printer.streams.note("the log was replaced or cut; following it from its first line")
            self._offset = self._lines = 0
        self._identity = identity
        self.started = True
        if status.st_size <= self._offset:
            return
        with shared_lock(self._project):
            data = read_log_bytes(self._project, self._offset) or b""
        whole = data[: data.rfind(b"\n") + 1]
        lines = decoded_log(whole).split("\n")[:-1]
        self._printer.print_last(lines, self._lines + 1, count)
        self._offset += len(whole)
        self._lines += len(lines)
