"""`validate`: the whole ledger against its schemas and its seal; `--repair-tail`; a brief by its gate.

Follows ledger.md 5.2 and 6. Findings are gathered once and printed by one of the functions of FORMATS.
"""

from __future__ import annotations

import os

from handoff_core import jsonl, seal
from handoff_core.errors import DONE, REFUSED, HandoffError, UsageError, os_text
from handoff_core.layout import find_project
from handoff_core.ledger import (
    OpenLog,
    check_log_path,
    exclusive_lock,
    flush,
    flush_folder,
    missing_log,
    parse_object,
    read_bytes,
    read_log_bytes,
    scan,
    shared_lock,
)
from handoff_core.records import DISPATCH_START, ENGINE, GRADER, GRADER_FEATURES, HUMAN, REVIEW_PLAN, SUBSTANTIVE
from handoff_core.schema import SchemaSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from handoff_core.layout import Project
    from handoff_core.ledger import Entry, Record
    from handoff_core.text import Streams

CODES = {
    "log-missing": "The log does not exist.",
    "log-unreadable": "The log cannot be read as UTF-8 text.",
    "line-invalid": "A line is not one JSON object ended by a newline.",
    "layout-invalid": "scripts/layout.toml cannot be parsed.",
    "type-missing": "A record has no type.",
    "schema-missing": "No usable schema for a record type.",
    "schema": "A record breaks its schema.",
    "seal-mismatch": "The log differs from its seal.",
    "log-truncated": "The log is shorter than its seal.",
    "seal-invalid": "The seal cannot be read.",
    "seal-missing": "The log has no seal.",
    "seal-torn": "The last line of the seal is torn.",
    "raw-line": "A line was written without append.",
    "dispatch-start-missing": "A record has no earlier dispatch-start.",
}
"""Every code of a finding with its short description (ledger.md 6.2)."""

ERROR, WARNING, NOTE = "error", "warning", "note"
EXEMPT = frozenset({ENGINE, HUMAN, GRADER})
"""Authors who write no dispatch-start."""


class Finding:
    """One thing that validate reports; `line` and `end_line` are None where it concerns no line or one line."""

    __slots__ = ("code", "end_line", "level", "line", "message")

    def __init__(
        self, level: str, code: str, message: str, line: int | None = None, end_line: int | None = None
    ) -> None:
        self.level = level
        self.code = code
        self.message = message
        self.line = line
        self.end_line = end_line

    def text(self) -> str:
        """Return the message with the lines that it is about."""
        if self.line is None:
            return self.message
        lines = f"line {self.line}" if self.end_line is None else f"lines {self.line}-{self.end_line}"
        return f"{lines}: {self.message}"


class Report:
    """What validate found in one log."""

    __slots__ = ("chain", "findings", "records", "sealed", "target")

    def __init__(self, target: str) -> None:
        self.target = target
        self.findings: list[Finding] = []
        self.records = 0
        self.sealed = 0
        self.chain: str | None = None

    def valid(self) -> bool:
        """Say whether no finding is an error."""
        return all(finding.level != ERROR for finding in self.findings)


def validate(
    streams: Streams,
    *,
    targets: list[str],
    format: str | None,  # noqa: A002 - the flag's name on the command line
    json: bool,
    strict: bool,
    require_seal: bool,
    require_clean: bool,
    allow_missing: bool,
    quiet: bool,
    repair_tail: bool,
    **files: Any,
) -> int:
    """Judge each target and return 1 if one has an error, else 0 (ledger.md 6)."""
    form = _format(format, as_json=json)
    if targets and files["file"] is not None:
        raise UsageError("give the log as TARGET or with --file, not both")
    if repair_tail:
        if strict or require_seal or require_clean or allow_missing or quiet or len(targets) > 1 or form != "text":
            raise UsageError("--repair-tail stands alone, with one TARGET at most")
        return _repair_tail(streams, find_project(**{**files, "file": targets[0] if targets else files["file"]}))
    several = len(targets) > 1
    code = DONE
    named: list[str | None] = [*targets] or [None]
    for target in named:
        if several and form in ("text", "github"):
            streams.out(f"FILE: {target}\n")
        prefix = f"{target}: " if several and form == "text" else ""
        if target is not None and target.endswith(".md"):
            from handoff_core.commands.brief import validate_brief

            judged = validate_brief(streams, target=target, format=form, require_clean=require_clean, **files)
            code = max(code, judged)
            continue
        project = find_project(**{**files, "file": files["file"] if target is None else target})
        report = judge(project, require_seal=require_seal, allow_missing=allow_missing and not project.log_given)
        if strict:
            _promote_warnings(report)
        if quiet:
            report.findings = [finding for finding in report.findings if finding.level == ERROR]
        FORMATS[form](streams, report, prefix, quiet=quiet)
        code = max(code, DONE if report.valid() else REFUSED)
    return code


def judge(project: Project, *, require_seal: bool = False, allow_missing: bool = False) -> Report:
    """Return everything that is wrong with a log, read together with its seal under the shared lock (6.1)."""
    report = Report(project.log_shown)
    with shared_lock(project):
        log, seal_bytes, errors = _read_both(project)
    missing = log is None and not errors
    if errors:
        report.findings += errors
        return report
    if missing:
        level = NOTE if allow_missing else ERROR
        report.findings.append(Finding(level, "log-missing", missing_log(project)))
    data = log or b""
    entries, problems = scan(data)
    report.records = len(entries)
    for problem in problems:
        code = "log-unreadable" if problem.line is None else "line-invalid"
        report.findings.append(Finding(ERROR, code, problem.text, problem.line))
    report.findings += _schema_findings(project, entries)
    seal_findings = list(_seal_findings(project, data, seal_bytes, entries, report, require_seal=require_seal))
    report.findings += [finding for finding in seal_findings if finding.level == ERROR]
    report.findings += _undispatched(entries)
    for level in (WARNING, NOTE):
        report.findings += [finding for finding in seal_findings if finding.level == level]
    _notes_last(report)
    return report


# What is checked


def _read_both(project: Project) -> tuple[bytes | None, bytes | HandoffError | None, list[Finding]]:
    """Return the bytes of log and seal, None for a file that is missing; a seal's error is handed on as it is."""
    try:
        log = read_log_bytes(project)
    except HandoffError as error:
        return None, None, [Finding(ERROR, "log-unreadable", text) for text in error.problems]
    try:
        return log, read_bytes(project.seal, project.seal_shown), []
    except HandoffError as error:
        return log, error, []


def _schema_findings(project: Project, entries: Sequence[Entry]) -> list[Finding]:
    if not entries:
        return []
    try:
        layout = project.read_layout()
    except HandoffError as error:
        return [Finding(ERROR, "layout-invalid", text) for text in error.problems]
    schemas = SchemaSet(project.schemas, project.schemas_shown, layout)
    found = []
    for line, record in entries:
        kind = record.get("type")
        if not isinstance(kind, str):
            found.append(Finding(ERROR, "type-missing", "missing 'type' discriminator", line))
            continue
        texts = schemas.check(record)
        if texts:
            code = "schema-missing" if schemas.is_unusable(kind) else "schema"
            found += [Finding(ERROR, code, text, line) for text in texts]
    return found


def _undispatched(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield the warning for each substantive record whose author never announced itself in the slice."""
    started: set[tuple[str, str]] = set()
    for line, record in entries:
        kind, req_id, author = record.get("type"), record.get("req_id"), record.get("author")
        if not isinstance(kind, str) or not isinstance(req_id, str) or not isinstance(author, str):
            continue
        if kind == DISPATCH_START:
            started.add((req_id, author))
        elif kind in SUBSTANTIVE and author not in EXEMPT and (req_id, author) not in started:
            blind = "truncation detection is blind to that dispatch"
            message = f"{kind} by {author} has no prior dispatch-start for {req_id} — {blind}"
            yield Finding(WARNING, "dispatch-start-missing", message, line)


def _seal_findings(
    project: Project,
    log: bytes,
    seal_bytes: bytes | HandoffError | None,
    entries: Sequence[Entry],
    report: Report,
    *,
    require_seal: bool,
) -> Iterator[Finding]:
    """Yield what the seal says of the log, and note in `report` how far it agrees (ledger.md 5.2)."""
    if isinstance(seal_bytes, HandoffError):
        for text in seal_bytes.problems:
            yield Finding(ERROR, "seal-invalid", text)
        return
    if not seal_bytes:
        if log:
            level = ERROR if require_seal else NOTE
            message = f"no seal at {project.seal_shown} — edits to the log cannot be detected"
            yield Finding(level, "seal-missing", message)
        return
    found = seal.check(log, seal_bytes, project.seal_shown)
    report.sealed, report.chain = found.sealed, found.chain
    for code, line, text in found.problems:
        yield Finding(ERROR, code, text, line)
    if found.torn:
        torn = f"{project.seal_shown}: the last line is torn; the next append rewrites it"
        yield Finding(WARNING, "seal-torn", torn)
    yield from _raw_lines(found.raw, dict(entries))


def _raw_lines(lines: Iterable[int], records: dict[int, Record]) -> Iterator[Finding]:
    """Yield one warning for each run of lines that append did not write; the engines' lines are expected."""
    run: list[int] = []
    for line in lines:
        if _is_engines(records.get(line)):
            continue
        if run and line == run[-1] + 1:
            run.append(line)
            continue
        yield from _raw_run(run)
        run = [line]
    yield from _raw_run(run)


def _raw_run(run: Sequence[int]) -> Iterator[Finding]:
    if run:
        last = run[-1] if len(run) > 1 else None
        yield Finding(WARNING, "raw-line", "written without append", run[0], last)


def _is_engines(record: Record | None) -> bool:
    if record is None:
        return False
    kind = record.get("type")
    return kind == GRADER_FEATURES or (kind == REVIEW_PLAN and record.get("author") == ENGINE)


def _promote_warnings(report: Report) -> None:
    for finding in report.findings:
        if finding.level == WARNING:
            finding.level = ERROR


def _notes_last(report: Report) -> None:
    report.findings.sort(key=lambda finding: (ERROR, WARNING, NOTE).index(finding.level))


# How it is printed


def _print_text(streams: Streams, report: Report, prefix: str, *, quiet: bool) -> None:
    levels = {ERROR: "", WARNING: "warning: ", NOTE: "note: "}
    streams.notes(f"{prefix}{levels[finding.level]}{finding.text()}" for finding in report.findings)
    if report.valid() and not quiet:
        streams.out(f"{report.records} records valid\n")


def _print_json(streams: Streams, report: Report, _prefix: str, *, quiet: bool) -> None:
    del quiet
    answer = {
        "target": report.target,
        "kind": "ledger",
        "valid": report.valid(),
        "records": report.records,
        "sealed": report.sealed,
        "chain": report.chain,
        "findings": [_json_finding(finding) for finding in report.findings],
    }
    streams.out(jsonl.dump_ascii(answer) + "\n")


def _json_finding(finding: Finding) -> dict[str, object]:
    lines = {"line": finding.line, "end_line": finding.end_line}
    given = {key: number for key, number in lines.items() if number is not None}
    return {"level": finding.level, "code": finding.code, **given, "message": finding.message}


def _print_github(streams: Streams, report: Report, _prefix: str, *, quiet: bool) -> None:
    for finding in report.findings:
        level = "notice" if finding.level == NOTE else finding.level
        places = [f"file={_github_escape(report.target, name=True)}"]
        places += [f"line={finding.line}"] if finding.line is not None else []
        places += [f"endLine={finding.end_line}"] if finding.end_line is not None else []
        places.append(f"title=handoff {finding.code}")
        streams.out(f"::{level} {','.join(places)}::{_github_escape(finding.message)}\n")
    if report.valid() and not quiet:
        streams.out(f"{report.records} records valid\n")


def _github_escape(text: str, *, name: bool = False) -> str:
    from handoff_core.text import clean

    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    if name:
        text = text.replace(":", "%3A").replace(",", "%2C")
    return clean(text)


def _print_sarif(streams: Streams, report: Report, _prefix: str, *, quiet: bool) -> None:
    del quiet
    rules = [{"id": code, "shortDescription": {"text": text}} for code, text in CODES.items()]
    run = {
        "tool": {"driver": {"name": "handoff", "rules": rules}},
        "results": [_sarif_result(finding, report.target) for finding in report.findings],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    streams.out(jsonl.dump_ascii({"$schema": schema, "version": "2.1.0", "runs": [run]}) + "\n")


def _sarif_result(finding: Finding, target: str) -> dict[str, object]:
    from urllib.parse import quote

    place: dict[str, object] = {"artifactLocation": {"uri": quote(target, errors="surrogatepass")}}
    if finding.line is not None:
        region = {"startLine": finding.line}
        place["region"] = region if finding.end_line is None else {**region, "endLine": finding.end_line}
    return {
        "ruleId": finding.code,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


FORMATS: dict[str, Callable[..., None]] = {
    "text": _print_text,
    "json": _print_json,
    "github": _print_github,
    "sarif": _print_sarif,
}


def _format(given: str | None, *, as_json: bool) -> str:
    if as_json and given not in (None, "json"):
        raise UsageError(f"--json does not fit --format {given}")
    return "json" if as_json else given or "text"


# 6.3: the torn tail


def _repair_tail(streams: Streams, project: Project) -> int:
    """Move a torn last line into a file of its own and say where it went (ledger.md 6.3)."""
    check_log_path(project, "repair")
    if not os.path.lexists(project.log):
        raise HandoffError(missing_log(project))
    with exclusive_lock(project), OpenLog(project, verb="repair") as log:
        if log.descriptor is None:
            raise HandoffError(missing_log(project))
        if log.size == 0:
            raise HandoffError("nothing to repair: the log is empty")
        tail = log.tail()
        lines = log.count_lines()
        if not tail:
            raise HandoffError(f"nothing to repair: line {lines} ends with a newline")
        line = lines + 1
        if parse_object(tail) is not None:
            complete = "is a complete record; the next append adds its newline"
            raise HandoffError(f"nothing to repair: line {line} {complete}")
        path, shown = project.torn(line)
        _write_new(path, shown, tail)
        log.cut(log.size - len(tail))
    streams.out(f"moved {len(tail)} byte(s) of line {line} to {shown}\n")
    return DONE


def _write_new(path: str, shown: str, payload: bytes) -> None:
    """Write a new file and flush it to the device; raise HandoffError, leaving nothing, if that fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    made = False
    try:
        descriptor = os.open(path, flags, 0o644)
        made = True
        try:
            _write_all(descriptor, payload)
            flush(descriptor)
        finally:
            os.close(descriptor)
        flush_folder(os.path.dirname(path))
    except OSError as error:
        if made:
            os.unlink(path)
        raise HandoffError(f"cannot write {shown}: {os_text(error)}; the log is unchanged") from None


def _write_all(descriptor: int, payload: bytes) -> None:
    view = memoryview(payload)
    while view:
        view = view[os.write(descriptor, view) :]
