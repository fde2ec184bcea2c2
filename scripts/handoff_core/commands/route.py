"""`route`: the next step, computed from the ledger and printed as one line of JSON.

Reads the log under the shared lock, hands the engine what it needs, and prints its decision. Follows route.md.
"""

from __future__ import annotations

from handoff_core.errors import DONE, LOCK_BUSY, HandoffError, UsageError
from handoff_core.jsonl import dump_ascii
from handoff_core.layout import find_project
from handoff_core.ledger import read_bytes, read_log_bytes, shared_lock
from handoff_core.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from handoff_core.layout import Project
    from handoff_core.routing.outcomes import Decision
    from handoff_core.routing.situation import Situation
    from handoff_core.routing.slice import Log
    from handoff_core.text import Streams

REREAD_SECONDS = 0.05
"""How long to wait before a log with a problem is read again: a writer may be half-way (route.md 3)."""

SEALED_BYTES = 1 << 20
"""Size of a log from which looking at its seal costs less than parsing every line."""

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
        return DONE
    asked = Question(req_id or None, _line_number(at), every_slice=all)
    made = _answers(find_project(**files), asked, explain)
    if explain == "text":
        streams.out("\n".join(text for _, text in made))
    else:
        printed = [dump_ascii(decision) for decision, _ in made]
        streams.out((f"[{', '.join(printed)}]" if all else printed[0]) + "\n")
    return max(EXIT_CODES[decision["decision"]] for decision, _ in made) if exit_code else DONE


class Question:
    """What is asked: a slice (None: that of the last line) or every one, of the log up to a line (None: all of it)."""

    __slots__ = ("every_slice", "line", "wanted")

    def __init__(self, wanted: str | None, line: int | None = None, *, every_slice: bool = False) -> None:
        self.wanted = wanted
        self.line = line
        self.every_slice = every_slice


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


def _answers(project: Project, asked: Question, explain: str | None) -> list[tuple[Decision, str]]:
    """Return each decision that is asked for, explained if that is wanted; the text is that of `--explain=text`."""
    from handoff_core.routing.reader import DirtyLogError

    try:
        return [_explained(at, explain) for at in _situations(project, asked)]
    except DirtyLogError:  # a seal vouched for a line that is no record, so its word is not taken
        return [_explained(at, explain) for at in _situations(project, asked, trust_seal=False)]


def _situations(project: Project, asked: Question, *, trust_seal: bool = True) -> Iterator[Situation]:
    """Yield the situation of the slice asked for, or those of all slices in order of first appearance (1.2)."""
    log = read_log(project, asked, trust_seal=trust_seal)
    wanted: list[str | None] = [asked.wanted]
    if asked.every_slice and log.is_usable() and log.history is not None and log.history.slices:
        wanted = list(log.history.slices)
    return map(situations(project, log), wanted)


def situations(project: Project, log: Log) -> Callable[[str | None], Situation]:
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


def read_log(project: Project, asked: Question, *, trust_seal: bool = True) -> Log:
    """Return what the log holds, as far as the question needs it; a log with a problem is read twice.

    Raises UsageError if the log has no such line, HandoffError with exit code 75 if the lock is busy.
    """
    import gc

    collecting = gc.isenabled()
    gc.disable()  # nothing of what is read is garbage, and looking for it takes longer than reading
    try:
        log = _read_once(project, asked, trust_seal=trust_seal)
        if log.problems:
            import time

            time.sleep(REREAD_SECONDS)
            log = _read_once(project, asked, trust_seal=trust_seal)
    finally:
        if collecting:
            gc.enable()
    if log.history is not None or log.problems:
        try:
            log.layout = project.read_layout()
        except HandoffError as error:
            log.layout_problem = "; ".join(error.problems)
    return log


def _read_once(project: Project, asked: Question, *, trust_seal: bool) -> Log:
    from handoff_core.routing.reader import read_history
    from handoff_core.routing.slice import Log

    seal = None
    try:
        with shared_lock(project):
            data = read_log_bytes(project)
            if trust_seal and asked.line is None and not asked.every_slice and len(data or b"") >= SEALED_BYTES:
                seal = _seal_bytes(project)
    except HandoffError as error:
        if error.code == LOCK_BUSY:
            raise
        return Log(None, list(map(clean, error.problems)))
    if asked.line is not None:
        data = _cut(data or b"", asked.line)
    if data is None:
        return Log(None, [])
    if seal:
        from handoff_core.routing.sealed import read_sealed

        sealed = read_sealed(data, seal, asked.wanted)
        if sealed is not None:
            return Log(sealed, [], sealed.records)
    history, problems = read_history(data, asked.wanted, every_slice=asked.every_slice)
    unread = any(problem.line is None for problem in problems)
    return Log(history, [clean(str(problem)) for problem in problems], 0 if unread else _count(data))


def _seal_bytes(project: Project) -> bytes | None:
    """Return the seal beside the log, None if there is none or it cannot be read: then every line is parsed."""
    try:
        return read_bytes(project.seal, project.seal_shown)
    except HandoffError:
        return None


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
