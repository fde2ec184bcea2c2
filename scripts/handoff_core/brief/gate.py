"""Judges one brief by the twelve points of gate.md and returns a verdict.

Pure: the text and the facts of its Git repository are handed in. Imports `brief.words`, `brief.frontmatter`,
`brief.body`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from handoff_core.brief.body import Body, hex_word
from handoff_core.brief.frontmatter import FENCE, LIST, PLAIN, FrontmatterError, block_end, parse
from handoff_core.brief.words import (
    AUDITOR,
    BOUNCE_LIMIT,
    CLOSE_TYPES,
    COMMIT_FIELD,
    COMPLETIONS,
    CONTENT,
    EPIC,
    ESCALATE_TO_USER,
    EVIDENCE,
    EVIDENCE_FIELDS,
    FINALIZER,
    FRONTMATTER,
    GIT_STATE,
    IMPLEMENTERS,
    LABELS,
    PACKET,
    PACKET_FIELDS,
    PLANNER,
    READY_FOR_REVIEW,
    REASON_LIMIT,
    ROLES,
    ROUTING,
    SHA_FRESH,
    SHA_PRESENT,
    STATUSES,
    USER,
    VAGUE_PHRASES,
    VALIDATOR,
    VERIFIED_FAIL,
    VERIFIED_PASS,
    is_placeholder,
    usual_next,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from handoff_core.brief.body import Section
    from handoff_core.brief.frontmatter import Value

SIZE_LIMIT = 4 * 1024 * 1024
"""Bytes of a brief; a larger one is not read."""

PASS, WARN, FAIL = "PASS", "WARN", "FAIL"
YES, NO, WARNINGS_ONLY = "YES", "NO", "WARNINGS-ONLY"

_COMMIT_ID = re.compile(r"[0-9A-Fa-f]{7,40}")
_DIGITS = re.compile(r"[0-9]+")
_PUNCTUATION = re.compile(r"""[:;,.!?#&*|>%@"'\[\]{}`]""")
_HEAD = re.compile(r"(?<!\w)HEAD(?!\w)")
_SHOWN = 80


class GitFacts(NamedTuple):
    """What is known of the repository whose work tree holds the brief.

    `resolve` returns the full id of the one commit that an id of 7 to 40 digits names, else None. `dirty` lists the
    changed paths, None where Git did not tell.
    """

    resolve: Callable[[str], str | None]
    dirty: Sequence[str] | None


class Finding(NamedTuple):
    """One reason for a WARN or a FAIL: the line of the answer, the point or key it is about, and where it stands."""

    label: str
    level: str
    point: str
    text: str
    line: int = 1


class Verdict(NamedTuple):
    """The answer of the gate: its findings in the order of the lines, and one sentence of praise for each line."""

    findings: Sequence[Finding]
    passed: dict[str, str]

    def result(self, label: str) -> str:
        """Return PASS, WARN or FAIL of one line."""
        levels = {finding.level for finding in self.findings if finding.label == label}
        return FAIL if FAIL in levels else WARN if WARN in levels else PASS

    def valid(self) -> str:
        """Return YES, NO or WARNINGS-ONLY."""
        results = {self.result(label) for label in LABELS}
        return NO if FAIL in results else WARNINGS_ONLY if WARN in results else YES


class Brief:
    """A brief as it was read: `values` of its frontmatter, `broken` if that cannot be parsed, and the body."""

    __slots__ = ("body", "broken", "facts", "require_clean", "values")

    def __init__(self, text: str, facts: GitFacts | None, *, require_clean: bool = False) -> None:
        lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
        self.facts = facts
        self.require_clean = require_clean
        self.broken: FrontmatterError | None = None
        self.values: dict[str, Value] = {}
        try:
            self.values = parse(lines)
        except FrontmatterError as error:
            self.broken = error
        start = _body_start(lines)
        self.body = Body(lines[start:], start + 1)

    def text(self, key: str) -> str | None:
        """Return the text of `key`; None where it is absent or a list."""
        value = self.values.get(key)
        return None if value is None else value.text

    def line(self, key: str) -> int:
        """Return the number of the line that holds `key`, 1 where it is absent."""
        value = self.values.get(key)
        return 1 if value is None else value.line

    def shown(self, key: str) -> str:
        """Return the value of `key` as a message quotes it."""
        value = self.values[key]
        if value.style == LIST:
            return "a list"
        text = value.text or ""
        return f'"{text if len(text) <= _SHOWN else text[:_SHOWN] + "…"}"'

    def next_agent(self) -> str | None:
        """Return the role that acts next, trimmed and in lower case; None where the key names no role."""
        role = (self.text("next_agent") or "").strip().lower()
        return role if role in ROLES else None

    def is_produced_by(self, role: str) -> bool:
        """Say whether the producer is `role`, capitals and blanks around it apart."""
        return (self.text("producer") or "").strip().lower() == role

    def is_evidence_due(self) -> bool:
        """Say whether the brief claims work that needs the evidence block."""
        claimed = (self.text("evidence_present") or "").lower() in ("true", "yes")
        return claimed or self.text("status") in COMPLETIONS

    def evidence_commit(self) -> str | None:
        """Return the commit id in the evidence block where evidence is due, None where there is none."""
        section = self.body.section(EVIDENCE) if self.is_evidence_due() else None
        return hex_word((section and section.field(COMMIT_FIELD)) or "")

    def commit_ids(self) -> dict[str, str]:
        """Return the well-formed ids that can be looked up, by the name of the place where each stands."""
        named = {key: self.text(key) or "" for key in ("scope_sha", "prior_sha")}
        named[COMMIT_FIELD] = self.evidence_commit() or ""
        return {name: text for name, text in named.items() if _COMMIT_ID.fullmatch(text)}


def judge(text: str, facts: GitFacts | None, *, require_clean: bool = False) -> Verdict:
    """Return the verdict on the text of a brief; `facts` is None where no repository holds it."""
    brief = Brief(text, facts, require_clean=require_clean)
    checks = _UNREADABLE_CHECKS if brief.broken else _CHECKS
    found = [finding for check in checks for finding in check(brief)]
    return Verdict(sorted(found, key=lambda finding: LABELS.index(finding.label)), _praise(brief))


def judge_unreadable(reason: str, facts: GitFacts | None, *, require_clean: bool = False) -> Verdict:
    """Return the verdict on a file that is no text at all, such as one that is too big or not UTF-8."""
    brief = Brief("", facts, require_clean=require_clean)
    brief.broken = FrontmatterError(reason, 1)
    found = [finding for check in _UNREADABLE_CHECKS if check is not _body_says_something for finding in check(brief)]
    found.append(Finding(CONTENT, FAIL, "11", reason))
    return Verdict(sorted(found, key=lambda finding: LABELS.index(finding.label)), _praise(brief))


# FRONTMATTER


def _block_is_readable(brief: Brief) -> Iterator[Finding]:
    if brief.broken is None:
        return
    reason, line = brief.broken.reason, brief.broken.line
    point = "1" if brief.body.first_line == 1 else "2"
    where = f"line {line}: " if line > 1 else ""
    yield Finding(FRONTMATTER, FAIL, point, f"the frontmatter cannot be read: {where}{reason}", line)


def _reason_is_given(brief: Brief) -> Iterator[Finding]:
    yield from _required_text(brief, "reason", "4")
    value = brief.values.get("reason")
    if value is None or value.text is None:
        return
    if value.style == PLAIN and value.cut:
        yield Finding(FRONTMATTER, WARN, "4", "a comment cuts the reason; quote it", value.line)
    elif value.style == PLAIN and _PUNCTUATION.search(value.text):
        yield Finding(FRONTMATTER, WARN, "4", "the reason has punctuation and is not quoted", value.line)
    if len(value.text) >= REASON_LIMIT:
        yield Finding(FRONTMATTER, WARN, "4", f"the reason has {REASON_LIMIT} characters or more", value.line)


def _producer_is_a_role(brief: Brief) -> Iterator[Finding]:
    yield from _required_text(brief, "producer", "producer")
    value = brief.values.get("producer")
    if value is not None and value.text not in ROLES and not is_placeholder(value.text or ""):
        yield Finding(FRONTMATTER, WARN, "producer", f"producer {brief.shown('producer')} is no role", value.line)


def _required_text(brief: Brief, key: str, point: str) -> Iterator[Finding]:
    value = brief.values.get(key)
    if value is None:
        yield Finding(FRONTMATTER, FAIL, point, f"{key} is absent")
    elif value.text is None:
        yield Finding(FRONTMATTER, FAIL, point, f"{key} is a list, not one text", value.line)
    elif is_placeholder(value.text):
        yield Finding(FRONTMATTER, FAIL, point, f"{key} is empty or a placeholder", value.line)


def _words_are_known(brief: Brief) -> Iterator[Finding]:
    for key, words, point in (("close_type", CLOSE_TYPES, "5"), ("status", STATUSES, "9")):
        if key in brief.values and brief.text(key) not in words:
            text = f"{key} {brief.shown(key)} is not one of {', '.join(words)}"
            yield Finding(FRONTMATTER, FAIL, point, text, brief.line(key))


def _count_is_digits(brief: Brief) -> Iterator[Finding]:
    if "bounce_count" in brief.values and not _DIGITS.fullmatch(brief.text("bounce_count") or ""):
        text = f"bounce_count {brief.shown('bounce_count')} is not made of decimal digits"
        yield Finding(FRONTMATTER, FAIL, "bounce_count", text, brief.line("bounce_count"))


def _evidence_flag_fits(brief: Brief) -> Iterator[Finding]:
    if "evidence_present" not in brief.values:
        return
    line, word = brief.line("evidence_present"), (brief.text("evidence_present") or "").lower()
    if word not in ("true", "false", "yes", "no"):
        text = f"evidence_present {brief.shown('evidence_present')} is not true or false"
        yield Finding(FRONTMATTER, FAIL, "evidence_present", text, line)
    elif word in ("true", "yes") and "status" not in brief.values:
        yield Finding(FRONTMATTER, FAIL, "9", "evidence_present is claimed without a status", line)


# SHA-PRESENT and SHA-FRESH


def _scope_is_named(brief: Brief) -> Iterator[Finding]:
    if "scope_sha" in brief.values:
        return
    if "close_type" in brief.values:
        yield Finding(SHA_PRESENT, FAIL, "6", "close_type is given without scope_sha", brief.line("close_type"))
    elif brief.text("status") in COMPLETIONS:
        yield Finding(SHA_PRESENT, WARN, "6", "a completion names no scope_sha", brief.line("status"))


def _ids_are_concrete(brief: Brief) -> Iterator[Finding]:
    for key in _malformed_ids(brief):
        text = f"{key} {brief.shown(key)} is not a commit id of 7 to 40 hexadecimal digits"
        yield Finding(SHA_PRESENT, FAIL, "7a", text, brief.line(key))


def _ids_resolve(brief: Brief) -> Iterator[Finding]:
    ids = brief.commit_ids()
    if ids and brief.facts is None:
        yield Finding(SHA_FRESH, WARN, "7b", "no Git repository to look the commits up in")
    for key in _malformed_ids(brief):
        yield Finding(SHA_FRESH, WARN, "7b", f"{key} is malformed and was not looked up", brief.line(key))
    if brief.facts is None:
        return
    commits = {name: brief.facts.resolve(text) for name, text in ids.items()}
    for name, commit in commits.items():
        if commit is None:
            yield Finding(SHA_FRESH, FAIL, "7b", f"{name} {ids[name]} resolves to no commit", brief.line(name))
    scope, verified = commits.get("scope_sha"), commits.get(COMMIT_FIELD)
    if scope and verified and scope != verified:
        yield Finding(
            SHA_FRESH, WARN, "7b", "the evidence is of another commit than scope_sha", brief.line("scope_sha")
        )


def _malformed_ids(brief: Brief) -> list[str]:
    given = [key for key in ("scope_sha", "prior_sha") if key in brief.values]
    return [key for key in given if not _COMMIT_ID.fullmatch(brief.text(key) or "")]


# ROUTING


def _next_is_a_role(brief: Brief) -> Iterator[Finding]:
    line = brief.line("next_agent")
    if "next_agent" not in brief.values:
        yield Finding(ROUTING, FAIL, "3", "next_agent is absent")
    elif brief.next_agent() is None:
        text = f"next_agent {brief.shown('next_agent')} is no role ({', '.join(ROLES)})"
        yield Finding(ROUTING, FAIL, "3", text, line)
    elif brief.text("next_agent") not in ROLES:
        text = f"next_agent {brief.shown('next_agent')} is read as {brief.next_agent()}; write it so"
        yield Finding(ROUTING, WARN, "3", text, line)


def _finalizer_closes_epics(brief: Brief) -> Iterator[Finding]:
    role, line = brief.next_agent(), brief.line("next_agent")
    if role == FINALIZER and brief.text("close_type") != EPIC:
        yield Finding(ROUTING, FAIL, "8", "finalizer acts on close_type: epic only", line)
    if role == FINALIZER and brief.text("producer") != AUDITOR:
        yield Finding(ROUTING, FAIL, "8", "only the auditor sends work to the finalizer", line)
    if role and role not in (AUDITOR, FINALIZER) and brief.text("close_type") == EPIC:
        yield Finding(ROUTING, FAIL, "8", f"an epic goes to auditor or finalizer, not to {role}", line)


def _next_is_another(brief: Brief) -> Iterator[Finding]:
    role = brief.next_agent()
    if role and role != USER and brief.is_produced_by(role):
        yield Finding(ROUTING, FAIL, "3", f"{role} hands the work to itself", brief.line("next_agent"))


def _status_fits_next(brief: Brief) -> Iterator[Finding]:
    role, status = brief.next_agent(), brief.text("status")
    if role is None or status not in STATUSES or role in usual_next(status, brief.text("close_type")):
        return
    usual = ", ".join(usual_next(status, brief.text("close_type")))
    level = FAIL if status == ESCALATE_TO_USER else WARN
    yield Finding(ROUTING, level, "3", f"{status} goes to {usual}, not to {role}", brief.line("next_agent"))


def _status_fits_producer(brief: Brief) -> Iterator[Finding]:
    status, producer, line = brief.text("status"), brief.text("producer"), brief.line("producer")
    if status in (VERIFIED_PASS, VERIFIED_FAIL) and producer not in (AUDITOR, VALIDATOR):
        yield Finding(ROUTING, WARN, "9", f"{status} comes from an auditor or a validator", line)
    if status == READY_FOR_REVIEW and producer not in IMPLEMENTERS:
        yield Finding(ROUTING, WARN, "9", f"{status} comes from {' or '.join(IMPLEMENTERS)}", line)


def _bounces_are_few(brief: Brief) -> Iterator[Finding]:
    count = brief.text("bounce_count") or ""
    if not _DIGITS.fullmatch(count) or brief.next_agent() not in IMPLEMENTERS:
        return
    digits = count.lstrip("0")
    if len(digits) > 1 or int(digits or "0") >= BOUNCE_LIMIT:
        text = f"the story bounced {BOUNCE_LIMIT} times or more; a planner should look at it"
        yield Finding(ROUTING, WARN, "bounce_count", text, brief.line("bounce_count"))


# CONTENT


def _body_says_something(brief: Brief) -> Iterator[Finding]:
    if brief.body.is_empty():
        yield Finding(CONTENT, FAIL, "11", "the body is empty", brief.body.first_line)
    elif not brief.body.is_actionable():
        text = "the body names no file, check, finding or criterion to act on"
        yield Finding(CONTENT, WARN, "11", text, brief.body.first_line)


def _evidence_is_complete(brief: Brief) -> Iterator[Finding]:
    if not brief.is_evidence_due():
        return
    section = brief.body.section(EVIDENCE)
    if section is None:
        yield Finding(
            CONTENT, FAIL, "10", f"evidence is due and there is no section ## {EVIDENCE}", brief.line("status")
        )
        return
    yield from _unfilled(section, EVIDENCE_FIELDS, "10", FAIL)
    commit = section.field(COMMIT_FIELD)
    if commit and (_HEAD.search(commit) or not hex_word(commit)):
        yield Finding(CONTENT, FAIL, "10", f"{COMMIT_FIELD} names no concrete commit id", section.line)


def _packet_is_complete(brief: Brief) -> Iterator[Finding]:
    if not brief.is_produced_by(PLANNER) or brief.next_agent() not in IMPLEMENTERS:
        return
    section = brief.body.section(PACKET)
    if section is None:
        text = f"planner assigns work without a section ## {PACKET}"
        yield Finding(CONTENT, WARN, "11", text, brief.body.first_line)
        return
    yield from _unfilled(section, PACKET_FIELDS, "11", WARN)
    folded = section.folded()
    for phrase in VAGUE_PHRASES:
        if phrase in folded:
            yield Finding(CONTENT, WARN, "11", f'{PACKET} is vague: "{phrase}"', section.line)


def _unfilled(section: Section, fields: Sequence[str], point: str, level: str) -> Iterator[Finding]:
    for name in fields:
        value = section.field(name)
        if not value:
            state = "is missing" if value is None else "is empty"
            yield Finding(CONTENT, level, point, f"the field {name} {state}", section.line)


# GIT-STATE


def _tree_is_clean(brief: Brief) -> Iterator[Finding]:
    if brief.facts is None:
        yield Finding(GIT_STATE, WARN, "12", "no Git repository holds this file")
    elif brief.facts.dirty is None:
        yield Finding(GIT_STATE, FAIL if brief.require_clean else WARN, "12", "Git does not tell what has changed")
    elif brief.facts.dirty:
        first, count = brief.facts.dirty[0], len(brief.facts.dirty)
        more = f" and {count - 1} more" if count > 1 else ""
        level = FAIL if brief.require_clean else WARN
        yield Finding(GIT_STATE, level, "12", f"uncommitted changes: {first[:_SHOWN]}{more}")


# The unreadable block


def _ids_are_not_evaluated(_brief: Brief) -> Iterator[Finding]:
    yield Finding(SHA_PRESENT, WARN, "6", "not evaluated without a readable frontmatter")
    yield Finding(SHA_FRESH, WARN, "7b", "not evaluated without a readable frontmatter")


def _next_is_unknown(_brief: Brief) -> Iterator[Finding]:
    yield Finding(ROUTING, FAIL, "3", "no next_agent can be read")


_CHECKS: Sequence[Callable[[Brief], Iterator[Finding]]] = (
    _reason_is_given,
    _words_are_known,
    _producer_is_a_role,
    _count_is_digits,
    _evidence_flag_fits,
    _scope_is_named,
    _ids_are_concrete,
    _ids_resolve,
    _next_is_a_role,
    _finalizer_closes_epics,
    _next_is_another,
    _status_fits_next,
    _status_fits_producer,
    _bounces_are_few,
    _evidence_is_complete,
    _body_says_something,
    _packet_is_complete,
    _tree_is_clean,
)
"""Every check of a brief with a readable frontmatter, in the order of the lines of the answer."""

_UNREADABLE_CHECKS: Sequence[Callable[[Brief], Iterator[Finding]]] = (
    _block_is_readable,
    _ids_are_not_evaluated,
    _next_is_unknown,
    _body_says_something,
    _tree_is_clean,
)
"""The checks that are left when the frontmatter cannot be read."""


def _praise(brief: Brief) -> dict[str, str]:
    """Return the detail of each line for the case that it passes."""
    status, role = brief.text("status"), brief.next_agent()
    ids = brief.commit_ids()
    return {
        FRONTMATTER: f"readable, {len(brief.values)} keys",
        SHA_PRESENT: "every commit id is concrete" if ids else "no commit id is needed",
        SHA_FRESH: f"{len(ids)} commit id(s) resolve" if ids else "nothing to look up",
        ROUTING: f"next is {role}" + (f" after {status}" if status else ""),
        CONTENT: "evidence is complete" if brief.is_evidence_due() else "there is something to act on",
        GIT_STATE: "the work tree is clean",
    }


def _body_start(lines: Sequence[str]) -> int:
    """Return the index of the first line of the body (gate.md 4)."""
    end = block_end(lines)
    if end is not None:
        return end + 1
    return 1 if FENCE.fullmatch(lines[0]) else 0
