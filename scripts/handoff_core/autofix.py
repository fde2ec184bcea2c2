"""The bounds of document fixes that root applies by itself, and which uncommitted documents a record covers.

Follows ledger.md 8. The rules of one record are a table, AUTOFIX_RULES; everything the rules need from outside (git's
answers, the documents' texts) is handed in. `documents` alone asks git. Imports `gates`, `git`, `records`, `schema`.
"""

from __future__ import annotations

import re

from handoff_core import git
from handoff_core.gates import CHARS_CAP, LINES_CAP, size_fault
from handoff_core.records import (
    ADR_FOLDER,
    CONSULTATION_RESPONSE,
    DESIGN_AUTOFIX,
    DESIGN_BLOCK,
    DESIGN_PATH,
    PRD_AUTOFIX,
    PRD_ENTRY,
    PRD_PATH,
    REVIEW_FEEDBACK,
)
from handoff_core.schema import is_date_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from handoff_core.ledger import Entry, Record

CLOSED_BY = {DESIGN_AUTOFIX: DESIGN_BLOCK, PRD_AUTOFIX: PRD_ENTRY}
ADR_INDEX = ADR_FOLDER + "README.md"
CATEGORIES = ("writing-standards", "structural")

_SEGMENT = re.escape(ADR_FOLDER) + r"[^/\x00]+\.md"
_NON_GOAL_ROW = re.compile(r" {0,3}\|[ \t]*NG-[0-9]+[ \t]*\|")


class Documents:
    """What git says of the design documents: whether there is a commit, which paths are dirty, and since when.

    `baseline` is the committer time of the last commit that touches one of them, None if there is none; `touched`
    gives the same for single files. Times are in whole seconds since 1970.
    """

    __slots__ = ("baseline", "dirty", "has_commit", "touched")

    def __init__(
        self, dirty: Sequence[str], baseline: int | None, touched: dict[str, int | None], *, has_commit: bool
    ) -> None:
        self.dirty = list(dirty)
        self.baseline = baseline
        self.touched = touched
        self.has_commit = has_commit


def documents(root: str, files: Iterable[str] = ()) -> Documents:
    """Ask git about the design documents below `root`, and about the last commit of each of `files` (ledger.md 8).

    Raises git.GitError where git cannot be asked or there is no repository.
    """
    has_commit = git.has_commit(root)
    if has_commit is None:
        raise git.GitError("not a git repository")
    if not has_commit:
        return Documents([], None, {}, has_commit=False)
    watched = (DESIGN_PATH, ADR_FOLDER)
    touched = {file: git.last_commit_time(root, file) for file in sorted(set(files))}
    return Documents(git.dirty_paths(root, *watched), git.last_commit_time(root, *watched), touched, has_commit=True)


# 8.1: the rules of one open record


def open_records(entries: Sequence[Entry]) -> list[Entry]:
    """Return the autofix entries that no later record of their slice closes (ledger.md 8)."""
    closed: set[tuple[object, object]] = set()
    found = []
    for line, record in reversed(entries):
        kind = record.get("type")
        req_id = record.get("req_id")
        if not isinstance(kind, str):
            continue
        if kind in CLOSED_BY:
            if (CLOSED_BY[kind], _key(req_id)) not in closed:
                found.append((line, record))
        elif kind in CLOSED_BY.values():
            closed.add((kind, _key(req_id)))
    return found[::-1]


def record_failures(entry: Entry, entries: Sequence[Entry]) -> list[str]:
    """Return what is wrong with one open autofix record, but for what its file holds (ledger.md 8.1)."""
    return [message for rule in AUTOFIX_RULES if (message := rule(entry, entries))]


def eligible_file(record: Record) -> bool:
    """Say whether a record names a file that root may fix by itself."""
    file = _text(record, "file")
    if record.get("type") == PRD_AUTOFIX:
        return file == PRD_PATH
    return file == DESIGN_PATH or re.fullmatch(_SEGMENT, file) is not None


def _file_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    if eligible_file(entry[1]):
        return ""
    if entry[1].get("type") == PRD_AUTOFIX:
        return f"file is not the autofix-eligible PRD path ({PRD_PATH})"
    return "file is not an autofix-eligible design-doc path"


def _category_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    return "" if _text(entry[1], "category") in CATEGORIES else "category is not autofix-eligible"


def _lines_cap_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    return _cap_fault(entry[1], "lines_changed", LINES_CAP)


def _chars_cap_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    return _cap_fault(entry[1], "chars_changed", CHARS_CAP)


def _heading_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    touched = any(line.startswith("## ") for line in _all_lines(entry[1]))
    return "content touches a '## ' heading line" if touched else ""


def _non_goals_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    if entry[1].get("type") != PRD_AUTOFIX or not any(map(_NON_GOAL_ROW.match, _all_lines(entry[1]))):
        return ""
    owner = "scope stays with product-requirements-expert (Gate 1 scope-lock)"
    return f"content touches a Non-Goals table row — never autofix-eligible; {owner}"


def _anchor_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    return _token_fault(entry[1], r'<a id="([^"]*)"', "anchor ids differ")


def _req_id_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    return _token_fault(entry[1], r"REQ-[A-Z]+-[0-9]{3}", "REQ-ID tokens differ")


def _fence_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    touched = any(line.lstrip().startswith("```") for line in _all_lines(entry[1]))
    return "content touches a code-fence line" if touched else ""


def _link_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    return _token_fault(entry[1], r"\]\(([^)]*)\)", "markdown link targets differ")


def _fix_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    identical = _text(entry[1], "new_content") == _text(_source(entry[1]), "fix")
    return "" if identical else "new_content is not byte-identical to source_finding.fix"


def _lines_size_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    fault = _size_fault(entry[1], "lines_changed", LINES_CAP)
    return fault and f"lines_changed is {fault}"


def _chars_size_rule(entry: Entry, _entries: Sequence[Entry]) -> str:
    fault = _size_fault(entry[1], "chars_changed", CHARS_CAP)
    return fault and f"chars_changed is {fault}"


def _finding_rule(entry: Entry, entries: Sequence[Entry]) -> str:
    line, record = entry
    source = _source(record)
    for earlier, feedback in entries:
        if earlier >= line:
            break
        same_slice = feedback.get("type") == REVIEW_FEEDBACK and feedback.get("req_id") == record.get("req_id")
        if same_slice and feedback.get("author") == source.get("review_feedback_author") and _carries(feedback, source):
            return ""
    return "no earlier review-feedback of this slice carries the source_finding"


AUTOFIX_RULES: tuple[Callable[[Entry, Sequence[Entry]], str], ...] = (
    _file_rule,
    _category_rule,
    _lines_cap_rule,
    _chars_cap_rule,
    _heading_rule,
    _non_goals_rule,
    _anchor_rule,
    _req_id_rule,
    _fence_rule,
    _link_rule,
    _fix_rule,
    _lines_size_rule,
    _chars_size_rule,
    _finding_rule,
)
"""Each returns its message, or an empty text if the record passes; in the order of ledger.md 8.1."""


# 8.2: the file holds the content


def needs_content(record: Record, touched: int | None) -> bool:
    """Say whether the file must hold the record's new content: it was recorded after the file's last commit."""
    moment = seconds_of(record.get("ts"))
    return eligible_file(record) and (touched is None or (moment is not None and moment > touched))


def content_failure(entry: Entry, entries: Sequence[Entry], content: str | None, opened: set[int]) -> str:
    """Return the message if a file's text lacks the new content and no later record covers the file (8.2)."""
    line, record = entry
    file = _text(record, "file")
    if content is not None and _text(record, "new_content") in content.replace("\r\n", "\n"):
        return ""
    later = [(number, other) for number, other in entries if number > line]
    if any(_names(number, other, file, opened, (DESIGN_AUTOFIX, PRD_AUTOFIX)) for number, other in later):
        return ""
    return f"{file} does not contain new_content, and no later record covers it"


# 8.3: uncovered edits


def uncovered(entries: Sequence[Entry], documents: Documents) -> list[str]:
    """Return the sorted dirty design documents that no record covers (ledger.md 8.3)."""
    opened = {line for line, _ in open_records(entries)}
    baseline = documents.baseline
    timely = [(line, record) for line, record in entries if _is_later(record.get("ts"), baseline)]
    missing = [path for path in documents.dirty if not _is_covered(path, timely, opened)]
    if ADR_INDEX in missing and _index_follows(documents.dirty, missing):
        missing.remove(ADR_INDEX)
    return sorted(missing)


def uncovered_failure(path: str) -> str:
    """Return the audit's message for an uncovered document."""
    covering = "design-doc-autofix, design-block, consultation-response, or scope-overriding prd-entry"
    return f"{path}: uncommitted change with no covering {covering} record since the last commit"


def seconds_of(stamp: object) -> float | None:
    """Return a date-time as seconds since 1970, None if it is not a real one."""
    if not isinstance(stamp, str) or not is_date_time(stamp):
        return None
    import datetime

    whole, fraction, zone = re.split(r"(\.[0-9]+)?(?=Z|[+-][0-9]{2}:[0-9]{2}\Z)", stamp, maxsplit=1)
    try:
        moment = datetime.datetime.fromisoformat(whole + ("+00:00" if zone == "Z" else zone))
        return moment.timestamp() + float(fraction or 0)
    except (ValueError, OverflowError):
        return None


def _is_later(stamp: object, baseline: int | None) -> bool:
    moment = seconds_of(stamp)
    return moment is not None and (baseline is None or moment > baseline)


def _is_covered(path: str, entries: Iterable[Entry], opened: set[int]) -> bool:
    return any(_names(line, record, path, opened, (DESIGN_AUTOFIX,)) for line, record in entries)


def _index_follows(dirty: Sequence[str], missing: Sequence[str]) -> bool:
    """Say whether other decision records are dirty and all of them are covered; the index then follows them."""
    others = [path for path in dirty if path.startswith(ADR_FOLDER) and path != ADR_INDEX]
    return bool(others) and not set(others) & set(missing)


def _names(line: int, record: Record, path: str, opened: set[int], autofixes: tuple[str, ...]) -> bool:
    """Say whether a record covers `path`, its time not looked at (ledger.md 8.3)."""
    kind = record.get("type")
    if kind in autofixes:
        return line in opened and record.get("file") == path
    if kind == DESIGN_BLOCK:
        return path in _items(record, "primary_paths") or path in _items(record, "supporting_paths")
    if kind == CONSULTATION_RESPONSE:
        updates = _items(record, "memory_updates")
        return any(isinstance(update, dict) and update.get("path") == path for update in updates)
    if kind == PRD_ENTRY and _items(record, "scope_overrides"):
        return re.fullmatch(re.escape(ADR_FOLDER) + r".*-non-goal-.*\.md", path, re.DOTALL) is not None
    return False


# Small readers of lenient records


def _key(value: object) -> object:
    return value if isinstance(value, str) else repr(value)


def _text(record: Record, field: str) -> str:
    value = record.get(field)
    return value if isinstance(value, str) else ""


def _items(record: Record, field: str) -> list[object]:
    value = record.get(field)
    return value if isinstance(value, list) else []


def _source(record: Record) -> Record:
    value = record.get("source_finding")
    return value if isinstance(value, dict) else {}


def _all_lines(record: Record) -> list[str]:
    return _text(record, "old_content").split("\n") + _text(record, "new_content").split("\n")


def _inside_cap(value: object, cap: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= cap


def _size_fault(record: Record, field: str, cap: int) -> str:
    return size_fault(record, field) if _inside_cap(record.get(field), cap) else ""


def _cap_fault(record: Record, field: str, cap: int) -> str:
    return "" if _inside_cap(record.get(field), cap) else f"{field} outside the 1-{cap} autofix cap"


def _token_fault(record: Record, pattern: str, fault: str) -> str:
    old, new = (sorted(re.findall(pattern, _text(record, field))) for field in ("old_content", "new_content"))
    return "" if old == new else f"{fault} between old_content and new_content"


def _carries(feedback: Record, source: Record) -> bool:
    wanted = [source.get(field) for field in ("tag", "location", "fix")]
    return any(
        isinstance(finding, dict) and [finding.get(field) for field in ("tag", "location", "fix")] == wanted
        for finding in _items(feedback, "findings")
    )
