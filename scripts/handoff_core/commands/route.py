"""`route`: the next step, computed from the ledger and printed as one line of JSON.

Reads the log under the shared lock, hands the engine what it needs, and prints its decision. Follows route.md.
"""

from __future__ import annotations

from handoff_core.errors import LOCK_BUSY, HandoffError, UsageError
from handoff_core.jsonl import dump_ascii
from handoff_core.layout import find_project
from handoff_core.ledger import read_log_bytes, shared_lock
from handoff_core.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from handoff_core.layout import Project
    from handoff_core.routing.outcomes import Decision
    from handoff_core.routing.situation import Situation
    from handoff_core.routing.slice import Log
    from handoff_core.text import Streams

REREAD_SECONDS = 0.05
"""How long to wait before a log with a problem is read again: a writer may be half-way (route.md 3)."""

EXIT_CODES = {"dispatch": 0, "escalate": 10, "blocked": 11}


def route(
    streams: Streams,
    *,
    req_id: str | None,
    at: str | None,
    all: bool,  # noqa: A002 - the flag's name on the command line
    explain: str | None,
    exit_code: bool,
    rules: bool,
    format: str | None,  # noqa: A002 - the flag's name on the command line
    **files: Any,
) -> int:
    """Print one decision, with `all` one for each slice, or with `rules` the table; return the exit code (1)."""
    _refuse_contradictions(req_id, at, all, explain, exit_code, rules, format)
    if rules:
        from handoff_core.routing.printed import FORMS

        streams.out(FORMS[format or "text"]())
        return 0
    project = find_project(**files)
    log = read_log(project, _line_number(at), req_id or None, every_slice=all)
    made = [_explained(each, explain) for each in _situations(project, log, req_id or None, every_slice=all)]
    decisions = [decision for decision, _ in made]
    if explain == "text":
        streams.out("\n".join(text for _, text in made))
    else:
        printed = list(map(dump_ascii, decisions))
        streams.out((f"[{', '.join(printed)}]" if all else printed[0]) + "\n")
    return max(EXIT_CODES[decision["decision"]] for decision in decisions) if exit_code else 0


def _refuse_contradictions(
    req_id: str | None,
    at: str | None,
    every_slice: bool,
    explain: str | None,
    exit_code: bool,
    rules: bool,
    form: str | None,
) -> None:
    """Raise UsageError for flags that do not go together; an empty req_id counts as absent."""
    given = {
        "--req-id": bool(req_id),
        "--at": at is not None,
        "--all": every_slice,
        "--explain": explain is not None,
        "--exit-code": exit_code,
    }
    if rules and any(given.values()):
        raise UsageError(f"--rules reads no ledger: leave out {', '.join(flag for flag in given if given[flag])}")
    if form is not None and not rules:
        raise UsageError("--format belongs to --rules")
    if every_slice and req_id:
        raise UsageError("--all and --req-id exclude each other")


def _line_number(at: str | None) -> int | None:
    if at is None:
        return None
    digits = at.lstrip("0")
    if not (at.isascii() and at.isdigit() and digits):
        raise UsageError(f"argument --at: {at} is not a line number: give a decimal integer of at least 1")
    return int(digits) if len(digits) <= 18 else 10**18


def _situations(project: Project, log: Log, req_id: str | None, *, every_slice: bool) -> Iterator[Situation]:
    """Yield the situation of the slice asked for, or those of all slices in order of first appearance (1.2)."""
    wanted: list[str | None] = [req_id]
    if every_slice and log.is_usable() and log.history is not None and log.history.slices:
        wanted = list(log.history.slices)
    make = situations(project, log)
    return (make(each) for each in wanted)


def situations(project: Project, log: Log) -> Any:
    """Return a function from a req_id (None: that of the last line) to its situation; schemas are read when asked."""
    from handoff_core.routing.situation import Situation

    schemas: Any = None

    def gate(record: dict[str, Any]) -> list[str]:
        nonlocal schemas
        if schemas is None:
            from handoff_core.schema import SchemaSet

            schemas = SchemaSet(project.schemas, project.schemas_shown, log.layout)
        found: list[str] = schemas.check(record)
        return found

    def scope_delta() -> list[str] | None:
        from handoff_core.scope import changed_non_goals

        return changed_non_goals(project.root)

    return lambda req_id: Situation(log, req_id, gate, scope_delta)


def _explained(at: Situation, explain: str | None) -> tuple[Decision, str]:
    """Return the decision, with its explanation as the key `explain` or as text if that is wanted."""
    from handoff_core.routing.router import decide

    if explain is None:
        return decide(at), ""
    from handoff_core.routing.explain import explained_text, explanation

    tried: list[Any] = []
    decision = decide(at, tried)
    explained = explanation(at, tried)
    if explain == "text":
        return decision, explained_text(decision, explained)
    return {**decision, "explain": explained}, ""


# Reading the log (3)


def read_log(project: Project, at: int | None, wanted: str | None, *, every_slice: bool) -> Log:
    """Return what the log holds, up to line `at` if given; a log with a problem is read twice.

    The slice `wanted` is kept, by default that of the last line, or every one. Raises UsageError if the log has no
    line `at`, HandoffError with exit code 75 if the lock is busy.
    """
    import gc

    collecting = gc.isenabled()
    gc.disable()  # nothing of what is read is garbage, and looking for it takes longer than reading
    try:
        log = _read_once(project, at, wanted, every_slice=every_slice)
        if log.problems:
            import time

            time.sleep(REREAD_SECONDS)
            log = _read_once(project, at, wanted, every_slice=every_slice)
    finally:
        if collecting:
            gc.enable()
    if log.history is not None or log.problems:
        try:
            log.layout = project.read_layout()
        except HandoffError as error:
            log.layout_problem = "; ".join(error.problems)
    return log


def _read_once(project: Project, at: int | None, wanted: str | None, *, every_slice: bool) -> Log:
    from handoff_core.routing.reader import read_history
    from handoff_core.routing.slice import Log

    try:
        with shared_lock(project):
            data = read_log_bytes(project)
    except HandoffError as error:
        if error.code == LOCK_BUSY:
            raise
        return Log(None, list(map(clean, error.problems)))
    if at is not None:
        data = _cut(data or b"", at)
    if data is None:
        return Log(None, [])
    history, problems = read_history(data, wanted, every_slice=every_slice)
    unread = any(problem.line is None for problem in problems)
    return Log(history, [clean(str(problem)) for problem in problems], 0 if unread else _count(data))


def _count(data: bytes) -> int:
    """Return the number of lines; an unterminated last line counts."""
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))


def _cut(data: bytes, line: int) -> bytes:
    """Return the log's bytes up to the line feed that ends a line; raise UsageError if there is no such line."""
    lines = _count(data)
    if line > lines:
        raise UsageError(f"argument --at: the log has no line {line} (it has {lines})")
    end = -1
    for _ in range(line):
        end = data.find(b"\n", end + 1)
        if end < 0:
            return data
    return data[: end + 1]
