"""Terms: what an outcome names. A term reads a value from a situation and prints as the table shows it (15.1).

Imports `records` alone.
"""

from __future__ import annotations

from handoff_core import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from handoff_core.routing.situation import Situation

    Read = Callable[[Situation], Any]


class Term:
    """A value of a situation by name: a fact, a field or item of one, a sum; `text` is its printed form."""

    __slots__ = ("read", "text")

    def __init__(self, text: str, read: Read) -> None:
        self.text = text
        self.read = read

    def __getattr__(self, name: str) -> Term:
        """Return the term for a field of a record, or of an object."""
        if name.startswith("_"):
            raise AttributeError(name)
        return Term(f"{self.text}.{name}", lambda at: _member(self.read(at), name))

    def __getitem__(self, index: int) -> Term:
        """Return the term for an item of a list."""
        return Term(f"{self.text}[{index}]", lambda at: self.read(at)[index])

    def __add__(self, other: Term) -> Term:
        """Return the term for two lists, one behind the other."""
        return Term(f"{self.text} + {other.text}", lambda at: self.read(at) + other.read(at))


def sorted_(term: Term) -> Term:
    """Return the term for a list sorted by code point."""
    return Term(f"sorted({term.text})", lambda at: sorted(term.read(at)))


def term_of(value: object) -> Term:
    """Return a term as it is, and the term for a constant of the table."""
    if isinstance(value, Term):
        return value
    return Term(f'"{value}"' if isinstance(value, str) else repr(value), lambda _at: value)


def _member(owner: Any, name: str) -> Any:
    """Return a field of a record (an entry) or of an object; None of what is not there."""
    if isinstance(owner, tuple):
        owner = owner[1]
    return None if owner is None else owner.get(name)


def _fact(name: str) -> Term:
    return Term(name, lambda at: getattr(at, name))


def _agent(name: str) -> Term:
    value = getattr(records, name)
    return Term(name, lambda _at: value)


DESIGNER = _agent("DESIGNER")
GRADER = _agent("GRADER")
IMPLEMENTER = _agent("IMPLEMENTER")
PLANNER = _agent("PLANNER")
PRODUCT = _agent("PRODUCT")

asked_by = _fact("asked_by")
build_pass_errors = _fact("build_pass_errors")
capped_escalations = _fact("capped_escalations")
churners = _fact("churners")
design_errors = _fact("design_errors")
design_verdict = _fact("design_verdict")
dissent = _fact("dissent")
empty_dissent = _fact("empty_dissent")
entry_errors = _fact("entry_errors")
escalate_findings = _fact("escalate_findings")
escalations = _fact("escalations")
failure_errors = _fact("failure_errors")
failures = _fact("failures")
grade = _fact("grade")
gray_errors = _fact("gray_errors")
halt_after = _fact("halt_after")
held = _fact("held")
intake_errors = _fact("intake_errors")
missing_escalations = _fact("missing_escalations")
outstanding = _fact("outstanding")
outstanding_stalled = _fact("outstanding_stalled")
owner_tier_reason = _fact("owner_tier_reason")
owners = _fact("owners")
partial = _fact("partial")
problems = _fact("problems")
prompt_note = _fact("prompt_note")
refused = _fact("refused")
request = _fact("request")
request_author = _fact("request_author")
request_errors = _fact("request_errors")
request_target = _fact("request_target")
requester = _fact("requester")
responder = _fact("responder")
response_errors = _fact("response_errors")
retry = _fact("retry")
root_autofix = _fact("root_autofix")
roster_errors = _fact("roster_errors")
round_ = _fact("round")
round_context = _fact("round_context")
silent_run = _fact("silent_run")
silent_start = _fact("silent_start")
stalled = _fact("stalled")
substantive_dissent = _fact("substantive_dissent")
tier = _fact("tier")
tier_reason = _fact("tier_reason")
undispatched = _fact("undispatched")
waiting_refactors = _fact("waiting_refactors")
