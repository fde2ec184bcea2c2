"""What the board is made from: reads the ledger, its seal, the layout, the transcripts and the clock.

Follows view.md 2, 13.1 and 14. Everything that touches files, environment or time stands here and in `commands.view`;
the board's own modules get values.
"""

from __future__ import annotations

import os
import time

from handoff_core import records as r
from handoff_core.board.clock import SECOND, Moment, Zone, read_moment
from handoff_core.board.dispatches import Limits
from handoff_core.board.now import NO_NAME_DECISION, Decision, limit_seconds
from handoff_core.board.rows import name, slices
from handoff_core.errors import HandoffError, UsageError
from handoff_core.layout import lookup
from handoff_core.ledger import read_bytes, read_log_bytes, scan, shared_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from handoff_core.board.costs import Costs, Prices, Transcript
    from handoff_core.board.model import Filters
    from handoff_core.layout import Project
    from handoff_core.ledger import Entry
    from handoff_core.schema import SchemaSet

    Gate = Callable[[dict[str, Any]], list[str]]

LOCK_SECONDS = 1.0
SECOND_LOOK = 0.05
"""Seconds before a log with a problem is read once more."""

OLD_TRANSCRIPT_SECONDS = 600
META_LIMIT = 1 << 20
LONGEST_LINE_NUMBER = 18
OVERLAP = 4096
"""Bytes at the end of what is known that are compared before a log is taken for one that only grew."""

PROBLEM_KINDS = {
    "missing trailing newline": "no-newline",
    "blank line": "blank",
    "not a JSON object": "not-object",
}
NOT_UTF8 = "not valid UTF-8"


class Log:
    """The log as it was read: its bytes (None without a file), why it cannot be read, its entries and problems.

    `errors` are the strict reader's own words, which route reports.
    """

    __slots__ = ("data", "entries", "errors", "line_count", "problems", "unreadable")

    def __init__(self, data: bytes | None, unreadable: str = "") -> None:
        self.data = data
        self.unreadable = unreadable
        self.entries: list[Entry] = []
        self.problems: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self.line_count = 0

    @property
    def state(self) -> str:
        """Return `missing`, `unreadable`, `empty`, `dirty` or `clean` (view.md 2)."""
        if self.unreadable:
            return "unreadable"
        if self.data is None:
            return "missing"
        return "dirty" if self.problems else "clean" if self.entries else "empty"


class LogReader:
    """Reads the log, again and again; lines that were read are not parsed again while it only grew."""

    def __init__(self, project: Project, at_line: str | None = None) -> None:
        self.project = project
        self.at_line = at_line
        self._identity: tuple[int, int] | None = None
        self._whole = b""
        self._entries: list[Entry] = []
        self._lines = 0

    def read(self) -> Log:
        """Return the log; one with a problem is read a second time, which counts."""
        log = self._read_once()
        if log.problems:
            time.sleep(SECOND_LOOK)
            log = self._read_once()
        return log

    def _read_once(self) -> Log:
        try:
            with self._lock():
                data = self._new_bytes()
        except HandoffError as error:
            self._forget(None)
            return _unreadable(error.problems[0])
        return self._cut(Log(None) if data is None else self._parsed(self._whole + data))

    def _lock(self) -> Any:
        """Return the shared lock, or none if it is not granted within a second: a board never fails on a lock."""
        try:
            return shared_lock(self.project, LOCK_SECONDS)
        except HandoffError:
            from contextlib import nullcontext

            return nullcontext()

    def _new_bytes(self) -> bytes | None:
        """Return the bytes behind those that are known, after forgetting them if the file is not the same that grew."""
        identity = _identity(self.project.log)
        if identity != self._identity:
            self._forget(identity)
        known = len(self._whole)
        overlap = min(known, OVERLAP)
        data = read_log_bytes(self.project, known - overlap)
        unchanged = data is not None and data[:overlap] == self._whole[known - overlap :]
        if unchanged and identity == _identity(self.project.log):
            return data[overlap:]  # type: ignore[index]
        self._forget(_identity(self.project.log))
        return data if known == 0 else read_log_bytes(self.project)

    def _forget(self, identity: tuple[int, int] | None) -> None:
        self._identity, self._whole, self._entries, self._lines = identity, b"", [], 0

    def _parsed(self, data: bytes) -> Log:
        log = Log(data)
        fresh = data[len(self._whole) :]
        entries, log.problems, log.errors, count = parse_log(fresh, self._lines)
        log.entries = self._entries + entries
        log.line_count = self._lines + count
        if not log.problems:
            self._whole, self._entries, self._lines = data, log.entries, log.line_count
        return log

    def _cut(self, log: Log) -> Log:
        """Return the log as of the line that `--at` names (route.md 1.1)."""
        if self.at_line is None:
            return log
        line, data = self.at_line, log.data or b""
        count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        plain = line.isascii() and line.isdigit() and len(line) <= LONGEST_LINE_NUMBER
        if not (plain and 1 <= int(line) <= count):
            raise UsageError(f"argument --at: {line} is not a line of the log (it has {count})")
        end = 0
        for _ in range(int(line)):
            end = data.find(b"\n", end) + 1 or len(data)
        cut = Log(data[:end])
        cut.entries, cut.problems, cut.errors, cut.line_count = parse_log(data[:end], 0)
        return cut


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _unreadable(text: str) -> Log:
    log = Log(None, text)
    log.problems = [{"line": 0, "kind": "unreadable", "text": text}]
    log.errors = [text]
    return log


def parse_log(data: bytes, before: int) -> tuple[list[Entry], list[dict[str, Any]], list[str], int]:
    """Return entries, problems, route's words for the problems, and the number of lines.

    `before` lines stand above `data`. A line that is not UTF-8 is one problem here and the only one for route.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _parse_by_line(data, before)
    entries, found = scan(data)
    count = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    problems = [_problem((each.line or 0) + before, each.text) for each in found]
    return [(line + before, record) for line, record in entries], problems, [p["text"] for p in problems], count


def _parse_by_line(data: bytes, before: int) -> tuple[list[Entry], list[dict[str, Any]], list[str], int]:
    lines = data.split(b"\n")
    torn = lines[-1] != b""
    if not torn:
        lines.pop()
    entries: list[Entry] = []
    problems = [_problem(before + len(lines), "missing trailing newline")] if torn else []
    for number, line in enumerate(lines, before + 1):
        found, faults = scan(line + b"\n")
        entries += [(number, record) for _, record in found]
        problems += [_problem(number, _line_words(fault.text)) for fault in faults]
    return entries, problems, [str(fault) for fault in scan(data)[1]], len(lines)


def _line_words(text: str) -> str:
    """Return what is wrong with one line, without the whole log's words around it."""
    return text[text.index(NOT_UTF8) :].removesuffix(" (line 1)") if NOT_UTF8 in text else text


def _problem(line: int, text: str) -> dict[str, Any]:
    kind = "not-utf8" if text.startswith(NOT_UTF8) else PROBLEM_KINDS.get(text, "bad-json")
    return {"line": line, "kind": kind, "text": f"line {line}: {text}"}


# The seal


def read_seal(project: Project, log: Log, full: bytes) -> dict[str, Any]:
    """Return what the seal says of the whole log `full`, narrowed to the lines of `log` (view.md 2)."""
    absent: dict[str, Any] = {
        "state": "absent",
        "sealed_to": None,
        "first_bad": None,
        "raw_lines": [],
        "unsealed_lines": [],
    }
    try:
        seal = read_bytes(project.seal, project.seal_shown)
    except HandoffError:
        return {**absent, "state": "broken", "first_bad": 1, "sealed_to": 0}
    if not seal:
        return absent
    from handoff_core import seal as seals

    report = seals.check(full, seal, project.seal_shown)
    lines = log.line_count if log.data is not None else 0
    first_bad = report.sealed + 1 if report.problems else None
    if first_bad is not None and len(full) > len(log.data or b"") and first_bad > lines:
        first_bad = None
    return {
        "state": "broken" if first_bad else "intact",
        "sealed_to": min(report.sealed, lines),
        "first_bad": first_bad,
        "raw_lines": [line for line in report.raw if line <= min(report.sealed, lines)],
        "unsealed_lines": [] if first_bad else [line for line in report.raw if report.sealed < line <= lines],
    }


# The layout


class Settings:
    """What the layout sets for the board; `notes` say which values could not be used."""

    __slots__ = ("extras", "layout", "limits", "notes", "pricing", "problem", "zone")

    def __init__(self, project: Project) -> None:
        self.notes: list[str] = []
        self.problem: str | None = None
        try:
            self.layout = project.read_layout()
        except HandoffError as error:
            self.layout, self.problem = {}, error.problems[0]
            self.notes.append("layout.toml cannot be read; defaults used")
        self.pricing = lookup(self.layout, "pricing")
        self.extras = extra_reviewers(lookup(self.layout, "harness.extra_reviewers"))
        default = Limits()
        self.limits = Limits(
            self._limit("stall_minutes_reviewer", default.reviewer),
            self._limit("stall_minutes", default.work),
            self._limit("idle_minutes", default.idle),
        )
        self.zone = self._zone()

    def _limit(self, key: str, default: float) -> float:
        value = lookup(self.layout, f"view.{key}")
        seconds = limit_seconds(value)
        if value is not None and seconds is None:
            self.notes.append(f"layout.toml: [view] {key} is not a number above 0; default used")
        return default if seconds is None else seconds

    def _zone(self) -> Zone:
        value = lookup(self.layout, "view.tz")
        zone = find_zone(value) if isinstance(value, str) else None
        if value is not None and zone is None:
            self.notes.append("layout.toml: [view] tz is not a zone; UTC used")
        return zone or Zone()


def extra_reviewers(value: object) -> list[str]:
    """Return the extra reviewers of a layout, none if they are no list of names."""
    if isinstance(value, list) and all(name(item) is not None for item in value):
        return value
    return []


def find_zone(text: str) -> Zone | None:
    """Return the zone of a name: `UTC`, `local`, `+hh:mm` or an IANA name; None if there is none."""
    if text.upper() == "UTC":
        return Zone()
    if text == "local":
        return Zone("local", "local", _local_offset)
    if text[:1] in ("+", "-"):
        return _fixed_zone(text)
    return _named_zone(text)


def _fixed_zone(text: str) -> Zone | None:
    hours, _, minutes = text[1:].partition(":")
    if len(text) != 6 or not (hours.isdecimal() and minutes.isdecimal() and text.isascii()):
        return None
    if int(hours) > 23 or int(minutes) > 59:
        return None
    seconds = (int(hours) * 60 + int(minutes)) * (-60 if text[0] == "-" else 60)
    return Zone(text, f"UTC{text}", lambda _: seconds)


def _named_zone(text: str) -> Zone | None:
    try:
        from zoneinfo import ZoneInfo

        zone = ZoneInfo(text)
    except (ImportError, OSError, ValueError, LookupError):
        return None
    from datetime import UTC, datetime, timedelta

    def offset(seconds: int) -> int:
        try:
            local = datetime.fromtimestamp(seconds, UTC).astimezone(zone)
        except (OverflowError, ValueError, OSError):
            return 0
        return int((local.utcoffset() or timedelta()).total_seconds())

    return Zone(text, text, offset)


def _local_offset(seconds: int) -> int:
    try:
        return time.localtime(seconds).tm_gmtoff
    except (OverflowError, ValueError, OSError):
        return 0


def system_clock() -> Moment:
    """Return the instant it is now."""
    return Moment(time.time_ns() // 1000)


# Transcripts


class Transcripts:
    """The transcripts of a project, read again only where a file has changed."""

    def __init__(self, project: Project, projects: str | None) -> None:
        self.folder = os.path.join(_projects_root(projects), _slug(os.path.realpath(project.root)))
        self._known: dict[str, tuple[object, Transcript | None]] = {}

    def read(self, entries: Sequence[Entry]) -> list[Transcript]:
        """Return the transcripts that may belong to a ledger, those of root first."""
        files = self._files()
        if not files:
            return []
        stamps = [moment for _, record in entries if (moment := read_moment(record.get("ts"))) is not None]
        oldest = min(stamps, default=Moment(0)) // SECOND - OLD_TRANSCRIPT_SECONDS
        found = []
        for path, session, meta in files:
            transcript = self._one(path, session, meta, oldest)
            if transcript is not None:
                found.append(transcript)
        return found

    def signature(self) -> tuple[object, ...]:
        """Return what changes when a transcript does."""
        return tuple((path, _file_mark(path)) for path, _, _ in self._files())

    def _files(self) -> list[tuple[str, str, str | None]]:
        """Return the transcripts as path, session and sidecar (None for a session of root), in a fixed order."""
        found: list[tuple[str, str, str | None]] = []
        for entry in _listed(self.folder):
            path = os.path.join(self.folder, entry)
            if entry.endswith(".jsonl") and os.path.isfile(path):
                found.append((path, entry.removesuffix(".jsonl"), None))
            agents = os.path.join(path, "subagents")
            for agent in _listed(agents):
                if agent.startswith("agent-") and agent.endswith(".jsonl"):
                    base = os.path.join(agents, agent)
                    found.append((base, entry, base.removesuffix(".jsonl") + ".meta.json"))
        return found

    def _one(self, path: str, session: str, meta: str | None, oldest: int) -> Transcript | None:
        from handoff_core.board.costs import read_transcript

        mark = _file_mark(path)
        if mark is None or mark[1] < oldest * 1_000_000_000:
            return None
        known = self._known.get(path)
        if known is not None and known[0] == mark:
            return known[1]
        agent = _agent_of(meta) if meta is not None else None
        transcript = None
        if meta is None or agent is not None:
            try:
                with open(path, "rb") as lines:
                    transcript = read_transcript(lines, session, agent)
            except OSError:
                transcript = None
        self._known[path] = (mark, transcript)
        return transcript


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _file_mark(path: str) -> tuple[int, int, int] | None:
    """Return size, modification time in nanoseconds and file number, None without a regular file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _agent_of(meta: str) -> str | None:
    """Return the agent that a sidecar names, None if it cannot be read."""
    from handoff_core.board.costs import agent_name
    from handoff_core.jsonl import JsonError, decode, parse

    try:
        value = parse(decode(read_bytes(meta, meta, META_LIMIT) or b""))
    except (HandoffError, JsonError):
        return None
    return agent_name(value.get("agentType")) if isinstance(value, dict) else None


def _projects_root(projects: str | None) -> str:
    """Return the folder that holds one folder of transcripts per project (view.md 13.1)."""
    for named in (projects, os.environ.get("CLAUDE_PROJECTS_ROOT")):
        if named:
            return named
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return os.path.join(home, "projects")


def _slug(path: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in path)


def read_prices(pricing: object) -> tuple[Prices, list[str]]:
    """Return the shipped price table with the layout's changes, and notes about entries that cannot be used."""
    import json

    from handoff_core import data
    from handoff_core.board.costs import Prices

    prices = Prices(json.loads(data.read("refs/pricing.json")))
    return prices, prices.override(pricing)


# The board


class BoardSource:
    """Everything `view` needs to make a Board, time after time."""

    def __init__(
        self,
        project: Project,
        *,
        zone: Zone | None,
        clock: Moment | None,
        at_line: str | None,
        filters: Callable[[Moment], Filters],
        chosen: Callable[[list[str | None], str | None], list[str | None]],
        transcripts: Transcripts | None,
        tell_missing: bool,
    ) -> None:
        self.project = project
        self.reader = LogReader(project, at_line)
        self.given_zone = zone
        self.clock = clock
        self.at_line = at_line
        self.filters = filters
        self.chosen = chosen
        self.transcripts = transcripts
        self.tell_missing = tell_missing
        self.zone = zone or Zone()
        self._violations: dict[int, tuple[object, list[str]]] = {}
        self._schema_key: object = None

    def board(self) -> dict[str, Any]:
        """Return the Board of this moment."""
        from handoff_core.board.model import Facts, board
        from handoff_core.schema import SchemaSet

        log = self.reader.read()
        settings = Settings(self.project)
        self.zone = self.given_zone or settings.zone
        clock = self._clock(log)
        costs, cost_notes = self._costs(log, clock, settings)
        schemas = SchemaSet(self.project.schemas, self.project.schemas_shown, settings.layout)
        violations, known = self._judged(log, settings, schemas)
        facts = Facts(
            clock,
            self.zone,
            decisions=decide(log, settings, schemas.check, self.project.root),
            state=log.state,
            path=shown_path(self.project),
            seal=read_seal(self.project, log, self._full(log)),
            violations=violations,
            known=known,
            limits=settings.limits,
            extras=settings.extras,
            filters=self.filters(clock),
            costs=costs,
            notes=settings.notes + cost_notes,
            at_line=None if self.at_line is None else int(self.at_line),
            chosen=self.chosen,
        )
        return board(log.entries, log.problems, log.line_count, facts)

    def signature(self) -> tuple[object, ...]:
        """Return what changes when the log, the seal, the layout or a transcript does."""
        files = (self.project.log, self.project.seal, self.project.layout)
        transcripts = self.transcripts.signature() if self.transcripts else ()
        return (*map(_file_mark, files), transcripts)

    def _full(self, log: Log) -> bytes:
        if self.at_line is None:
            return log.data or b""
        try:
            return read_log_bytes(self.project) or b""
        except HandoffError:
            return b""

    def _clock(self, log: Log) -> Moment:
        """Return the moment of the board: `--now`, else with `--at` the last stamp, else the system's clock."""
        if self.clock is not None:
            return self.clock
        if self.at_line is not None:
            for _, record in reversed(log.entries):
                moment = read_moment(record.get("ts"))
                if moment is not None:
                    return moment
        return system_clock()

    def _costs(self, log: Log, clock: Moment, settings: Settings) -> tuple[Costs | None, list[str]]:
        if self.transcripts is None or not log.entries:
            return None, []
        transcripts = self.transcripts.read(log.entries)
        if not transcripts:
            return None, ["no transcripts for this project"] if self.tell_missing else []
        from handoff_core.board.costs import attribute

        prices, notes = read_prices(settings.pricing)
        return attribute(slices(log.entries, clock), transcripts, prices), notes

    def _judged(self, log: Log, settings: Settings, schemas: SchemaSet) -> tuple[dict[int, list[str]], frozenset[str]]:
        """Return the schema errors by line and the record types there are; a line is judged once."""
        if not log.entries:
            return {}, r.TYPES
        known = r.TYPES | frozenset(schemas.known())
        if self._schema_key != repr(settings.layout):
            self._schema_key, self._violations = repr(settings.layout), {}
        found = {}
        for line, record in log.entries:
            before = self._violations.get(line)
            if before is None or before[0] is not record:
                kind = record.get("type")
                errors = schemas.check(record) if isinstance(kind, str) and kind in known else []
                before = self._violations[line] = (record, errors)
            if before[1]:
                found[line] = before[1]
        return found, known


def shown_path(project: Project) -> str:
    """Return the log's path relative to the root, its bare name where it lies elsewhere (view.md 1)."""
    try:
        relative = os.path.relpath(os.path.realpath(project.log), os.path.realpath(project.root))
    except (OSError, ValueError):
        return os.path.basename(project.log)
    if relative.split(os.sep)[0] == os.pardir or os.path.isabs(relative):
        return os.path.basename(project.log)
    return relative.replace(os.sep, "/")


def decide(log: Log, settings: Settings, gate: Gate, root: str) -> dict[str | None, Decision]:
    """Return route's decision on every slice, as `route --req-id` gives it; made twice when lines are bad.

    `gate` gives the schema errors of a record; `root` is where git is asked about the scope.
    """
    from handoff_core.routing.history import History
    from handoff_core.routing.router import decide as decide_on
    from handoff_core.routing.situation import Situation
    from handoff_core.routing.slice import Log as RouteLog

    wanted = dict.fromkeys(name(record.get("req_id")) for _, record in log.entries)
    delta = _asked_once(root)

    def route(problems: list[str]) -> Callable[[str], dict[str, Any]]:
        read = RouteLog(History(log.entries), problems, log.line_count)
        read.layout, read.layout_problem = settings.layout, settings.problem
        return lambda req_id: decide_on(Situation(read, req_id, gate, delta))

    readable = route([])
    made = {req_id: NO_NAME_DECISION if req_id is None else readable(req_id) for req_id in wanted}
    if not log.errors:
        return {req_id: Decision(decision, None) for req_id, decision in made.items()}
    dirty = route(log.errors)
    return {req_id: Decision(dirty(req_id or ""), decision) for req_id, decision in made.items()}


def _asked_once(root: str) -> Callable[[], list[str] | None]:
    """Return a function that asks git about the scope when it is first called, and not again."""
    answers: list[list[str] | None] = []

    def delta() -> list[str] | None:
        if not answers:
            from handoff_core.scope import changed_non_goals

            answers.append(changed_non_goals(root))
        return answers[0]

    return delta
