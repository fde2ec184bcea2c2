"""Checks that a record passes before it is stored or routed; `append` and `route` share them and their messages.

Follows ledger.md 4.3, 4.6 and 7.2. Every check is a small function in a table by record type. Imports `records` and
`text` alone.
"""

from __future__ import annotations

from handoff_core.records import (
    BUILD_FAILURE,
    BUILD_PASS,
    CONSULTATION_REQUEST,
    CONSULTATION_RESPONSE,
    DESIGN_AUTOFIX,
    DESIGN_BLOCK,
    DESIGNER,
    DISPATCH_START,
    ENGINE,
    GRADER_FEATURES,
    GRADER_VERDICT,
    HUMAN,
    INTAKE_DECISION,
    PRD_AUTOFIX,
    PRD_ENTRY,
    PRD_PATH,
    PRODUCT,
    REVIEW_FEEDBACK,
    REVIEW_PLAN,
)
from handoff_core.text import edit_distance, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

LINES_CAP = 5
CHARS_CAP = 200

NOTHING, LINE_COUNT, ENTRIES = "nothing", "line-count", "entries"
NEEDS = {
    INTAKE_DECISION: NOTHING,
    PRD_ENTRY: NOTHING,
    CONSULTATION_REQUEST: NOTHING,
    REVIEW_PLAN: NOTHING,
    GRADER_FEATURES: NOTHING,
    DESIGN_AUTOFIX: NOTHING,
    PRD_AUTOFIX: NOTHING,
    DISPATCH_START: LINE_COUNT,
    GRADER_VERDICT: LINE_COUNT,
    DESIGN_BLOCK: ENTRIES,
    CONSULTATION_RESPONSE: ENTRIES,
    BUILD_FAILURE: ENTRIES,
    BUILD_PASS: ENTRIES,
    REVIEW_FEEDBACK: ENTRIES,
}
"""What of the log the rules of a type look at; any other type is treated as needing the entries."""


# 4.3: what a record says of itself


def record_problems(record: Record, *, as_engine: bool) -> list[str]:
    """Return what a schema cannot say against a record that its schema admits (ledger.md 4.3)."""
    kind = record.get("type")
    problems = []
    if as_engine and not (kind == REVIEW_PLAN and record.get("author") == ENGINE):
        problems.append("--as-engine fits only a review-plan by review-plan-engine")
    check = RECORD_CHECKS.get(str(kind))
    if check is not None:
        problems += check(record, as_engine)
    return problems


def names_human(value: object) -> bool:
    """Say whether a text, trimmed and case-folded, is `human` (route.md 2)."""
    return isinstance(value, str) and value.strip().casefold() == HUMAN


def target_problem(target: object) -> str:
    """Return the message for a target that means the human without being spelled so."""
    return f'$.target: {quote(target)} must be spelled exactly "human"'


NO_ESCALATIONS = '$.escalations: verdict "conflicting" needs at least one escalation'
GRAY_IS_RESERVED = '$.risk: "gray" is reserved for review-plan-engine'


def finding_problems(record: Record) -> list[str]:
    """Return the broken rules of a review-feedback's findings; `finding <i>` counts the list as written from 1.

    Any value is taken: a finding that is no object is passed over, a field of the wrong type counts as missing.
    """
    findings = record.get("findings")
    problems = []
    for number, finding in enumerate(findings if isinstance(findings, list) else [], 1):
        if isinstance(finding, dict):
            problems += [f"finding {number}: {text}" for text in _finding_texts(finding, record.get("verdict"))]
    return problems


def _finding_texts(finding: Record, verdict: object) -> Iterable[str]:
    tag = finding.get("tag")
    if tag == "clarify" and not _is_text(finding.get("clarify_target")):
        yield 'tag "clarify" needs clarify_target'
    if tag in ("autofix", "blocked"):
        if not _is_text(finding.get("severity")):
            yield f'tag "{tag}" needs severity'
        if verdict == "approved":
            yield f'tag "{tag}" does not fit verdict "approved"'


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _plan_problems(record: Record, as_engine: bool) -> list[str]:
    problems = []
    if record.get("author") == ENGINE and not as_engine:
        problems.append('$.author: "review-plan-engine" is the plan engine\'s name; the engine passes --as-engine')
    if record.get("risk") == "gray" and record.get("author") != ENGINE:
        problems.append(GRAY_IS_RESERVED)
    return problems


def _request_problems(record: Record, _as_engine: bool) -> list[str]:
    problems = []
    if record.get("author") == HUMAN:
        problems.append('$.author: "human" is accepted only on consultation-response and intake-decision')
    if names_human(record.get("target")) and record.get("target") != HUMAN:
        problems.append(target_problem(record["target"]))
    return problems


def _design_problems(record: Record, _as_engine: bool) -> list[str]:
    return [NO_ESCALATIONS] if record.get("verdict") == "conflicting" and not record.get("escalations") else []


def _feedback_problems(record: Record, _as_engine: bool) -> list[str]:
    return finding_problems(record)


def _autofix_problems(record: Record, _as_engine: bool) -> list[str]:
    faults = ((field, size_fault(record, field)) for field in ("lines_changed", "chars_changed"))
    return [f"$.{field}: {fault}" for field, fault in faults if fault]


def size_fault(record: Record, field: str) -> str:
    """Return `<v>, but the contents differ in <n> …` if an autofix states a size that is not the real one.

    `field` is `lines_changed` or `chars_changed`; empty if the size is right (ledger.md 8.1).
    """
    old, new = (text if isinstance(text := record.get(name), str) else "" for name in ("old_content", "new_content"))
    if field == "lines_changed":
        distance, cap, unit = edit_distance(old.split("\n"), new.split("\n"), LINES_CAP), LINES_CAP, "line(s)"
    else:
        distance, cap, unit = edit_distance(old, new, CHARS_CAP), CHARS_CAP, "character(s)"
    stated = record.get(field)
    if distance is not None and _is_integer(stated) and distance == stated:
        return ""
    shown = f"more than {cap}" if distance is None else str(distance)
    return f"{_shown(stated)}, but the contents differ in {shown} {unit}"


RECORD_CHECKS: dict[str, Callable[[Record, bool], list[str]]] = {
    REVIEW_PLAN: _plan_problems,
    CONSULTATION_REQUEST: _request_problems,
    DESIGN_BLOCK: _design_problems,
    REVIEW_FEEDBACK: _feedback_problems,
    DESIGN_AUTOFIX: _autofix_problems,
    PRD_AUTOFIX: _autofix_problems,
}


# 4.6: what the log says


def log_problems(record: Record, entries: Sequence[Entry], line_count: int, *, retry_maximum: int | None) -> list[str]:
    """Return what the log says against a record, but for a design-block's clean log and documents (ledger.md 4.6).

    `entries` are those of the record's slice, or of the whole log, with physical line numbers; `line_count` is the
    number of lines of the log, bad and blank ones included.
    """
    check = LOG_CHECKS.get(str(record.get("type")))
    if check is None:
        return []
    entries = [entry for entry in entries if entry[1].get("req_id") == record.get("req_id")]
    return check(record, entries, line_count, retry_maximum)


def next_retry(entries: Iterable[Entry], req_id: object) -> int | None:
    """Return the number that the next build-failure of a slice carries, None without a design-block (ledger.md 7.2)."""
    retry = None
    for _, record in entries:
        if record.get("req_id") != req_id:
            continue
        if record.get("type") == DESIGN_BLOCK:
            retry = 1
        elif record.get("type") == BUILD_FAILURE and retry is not None:
            retry += 1
    return retry


def retry_exceeds(retry: int, maximum: int) -> str:
    """Return the message for a retry above what the schema admits."""
    limit = f"retry {retry} exceeds the schema maximum ({maximum})"
    return f"{limit} — escalate per Build-Failure Recovery instead of appending"


def _responding_to(record: Record, _entries: Sequence[Entry], lines: int, _maximum: int | None) -> list[str]:
    named = record.get("responding_to")
    items = named if isinstance(named, list) else []
    bad = [str(item) for item in items if _is_integer(item) and item > lines]
    if not bad:
        return []
    return [f"responding_to references non-existent log line(s) [{', '.join(bad)}] (log has {lines} line(s))"]


def _answer(record: Record, entries: Sequence[Entry], _lines: int, _maximum: int | None) -> list[str]:
    line = record.get("in_response_to")
    asked = _at(entries, line)
    if asked.get("type") != CONSULTATION_REQUEST:
        where = f"line {_shown(line)}"
        return [f"$.in_response_to: {where} is not an earlier consultation-request of {_slice(record)}"]
    target = asked.get("target")
    if target != record.get("author"):
        who = f"{quote(record.get('author'))} is not the target"
        return [f"$.author: {who} of the consultation-request at line {line} ({quote(target)})"]
    return []


def _supersedes(record: Record, entries: Sequence[Entry], _lines: int, _maximum: int | None) -> list[str]:
    line = record.get("supersedes_record_at")
    if line is None or _at(entries, line).get("type") == DESIGN_BLOCK:
        return []
    return [f"$.supersedes_record_at: line {_shown(line)} is not an earlier design-block of {_slice(record)}"]


def _retry(record: Record, entries: Sequence[Entry], _lines: int, maximum: int | None) -> list[str]:
    expected = next_retry(entries, record.get("req_id"))
    if expected is None:
        return []
    if maximum is not None and expected > maximum:
        return [retry_exceeds(expected, maximum)]
    stated = record.get("retry")
    if not _is_integer(stated) or stated != expected:
        return [f"$.retry: {_shown(stated)} does not match the next retry {expected} of {_slice(record)}"]
    return []


def _announced(record: Record, entries: Sequence[Entry], _lines: int, _maximum: int | None) -> list[str]:
    build = _latest(entries, lambda other: other.get("type") == BUILD_PASS)
    if not build:
        return []
    author = record.get("author")
    start = _latest(entries, lambda other: other.get("type") == DISPATCH_START and other.get("author") == author)
    if start > build:
        return []
    missing = f"review-feedback by {_shown(author)} has no dispatch-start since the build-pass at line {build}"
    return [f"{missing}; append a dispatch-start and retry"]


def _reconciled(record: Record, entries: Sequence[Entry], _lines: int, _maximum: int | None) -> list[str]:
    del record
    changed = _latest(entries, _changes_the_prd)
    settled = _latest(entries, _settles_the_design)
    if changed <= settled:
        return []
    answer = f"the product-requirements-expert's consultation-response at line {changed}, which changed {PRD_PATH}"
    unsettled = "with no system-design-expert response or design-block since"
    return [f"build-pass follows {answer}, {unsettled}; consult system-design-expert first"]


def _changes_the_prd(record: Record) -> bool:
    if record.get("type") != CONSULTATION_RESPONSE or record.get("author") != PRODUCT:
        return False
    updates = record.get("memory_updates")
    paths = (
        update.get("path") for update in (updates if isinstance(updates, list) else []) if isinstance(update, dict)
    )
    return any(isinstance(path, str) and path.split("#", 1)[0].removeprefix("./") == PRD_PATH for path in paths)


def _settles_the_design(record: Record) -> bool:
    if record.get("type") == DESIGN_BLOCK:
        return True
    return record.get("type") == CONSULTATION_RESPONSE and record.get("author") == DESIGNER


def _at(entries: Sequence[Entry], line: object) -> Record:
    """Return the record on a line, an empty one if the slice has none there; a boolean is no line."""
    return next((record for number, record in entries if number == line and _is_integer(line)), {})


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """Return a value as messages write it bare: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else quote(value)


def _slice(record: Record) -> str:
    return _shown(record.get("req_id"))


def _latest(entries: Sequence[Entry], holds: Callable[[Record], bool]) -> int:
    """Return the line of the last entry for which `holds` is true, 0 if there is none."""
    return next((line for line, record in reversed(entries) if holds(record)), 0)


LOG_CHECKS: dict[str, Callable[[Record, Sequence[Entry], int, int | None], list[str]]] = {
    DISPATCH_START: _responding_to,
    GRADER_VERDICT: _responding_to,
    CONSULTATION_RESPONSE: _answer,
    DESIGN_BLOCK: _supersedes,
    BUILD_FAILURE: _retry,
    REVIEW_FEEDBACK: _announced,
    BUILD_PASS: _reconciled,
}
