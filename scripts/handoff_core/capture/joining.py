"""Brings a slice of the ledger, the decision and the board into a fileset (capture.md 11).

Pure: lines, decision and board are handed in. Imports `jsonl`, `records` and text modules alone.
"""

from __future__ import annotations

from handoff_core.jsonl import dump_line, parse
from handoff_core.text import clean
from handoff_core.text_markdown import cell, code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from handoff_core.capture.redact import Redactor

REASON_LENGTH = 180
ESCALATED = "escalate_to_user"
MISSING_CONTEXT = "blocked_missing_context"

_PLANNERS = ("product-requirements-expert", "system-design-expert", "review-planner")
_IMPLEMENTERS = ("feature-implementer", "feature-implementer-routine")
_BLOCKED = {"human-consultation": MISSING_CONTEXT, "feature-complete": None}
"""Status of a blocked decision by its rule; any other rule escalates."""


class Joined:
    """One slice as the files of a fileset say it."""

    def __init__(self, req_id: str, entries: Sequence[tuple[int, dict[str, Any]]], log_bytes: int) -> None:
        self.req_id = req_id
        self.entries = entries
        self.log_bytes = log_bytes
        self.decision: dict[str, Any] = {}
        self.route = ""
        """The decision as the file ROUTE.json holds it."""
        self.board = ""
        self.ledger = b""
        self.next_agent = "user"
        self.status: str | None = None
        self.reason = ""
        self.title = ""

    def manifest(self) -> dict[str, Any]:
        """Return what the manifest says of the slice."""
        return {"req_id": self.req_id, "lines": [line for line, _ in self.entries], "log_bytes": self.log_bytes}

    def summary(self) -> dict[str, Any]:
        """Return what summary and payload say of the slice."""
        decision = self.decision
        return {
            "req_id": self.req_id,
            "decision": decision.get("decision"),
            "rule": decision.get("rule"),
            "next": decision.get("next", []),
        }

    def section(self) -> str:
        """Return the lines of the brief's section Ledger."""
        line, record = self.entries[-1]
        first = self.entries[0][0]
        decision = self.decision
        following = "".join(f", next {code(str(name))}" for name in decision.get("next") or ())
        rule = code(str(decision.get("rule")))
        type_, author = (code(_text(record.get(key))) for key in ("type", "author"))
        return (
            f"- **Slice:** {code(self.req_id)}, {len(self.entries)} records, ledger lines {first} to {line}\n"
            f"- **Decision:** {decision.get('decision')}, rule {rule}{following}\n"
            f"- **Reason:** {cell(str(decision.get('reason')))}\n"
            f"- **Last record:** {type_} by {author}, line {line}\n"
        )

    def decide(self, decision: dict[str, Any], auditors: Sequence[str], implementer: str) -> None:
        """Take the decision, and from it the brief's next role, status and reason.

        `auditors` are the names of the full roster and the grader.
        """
        self.decision = decision
        reason = f"{decision.get('rule')}: {decision.get('reason')}"
        self.reason = clean(reason)[:REASON_LENGTH]
        self.next_agent, self.status = _role(decision, auditors, implementer)

    def take_lines(self, lines: dict[int, bytes], redactor: Redactor) -> int:
        """Take the slice's lines as they stand; one with a secret is masked and written anew. Return their number."""
        made, rewritten = [], 0
        for number, _ in self.entries:
            line = lines[number]
            masked = redactor.mask_value(value := parse(line.decode()))
            if masked is not value:
                line = dump_line(masked).encode()
                rewritten += 1
            made.append(line + b"\n")
        self.ledger = b"".join(made)
        return rewritten

    def find_title(self, mask: Any) -> None:
        """Take the title of the slice's latest requirements."""
        for _, record in self.entries:
            title = record.get("title")
            if record.get("type") == "prd-entry" and isinstance(title, str):
                self.title = mask(clean(title))


def _text(value: object) -> str:
    return value if isinstance(value, str) else "(none)"


def _role(decision: dict[str, Any], auditors: Sequence[str], implementer: str) -> tuple[str, str | None]:
    """Return role and status that a decision stands for (the table of capture.md 11)."""
    kind, rule = decision.get("decision"), decision.get("rule")
    if kind == "blocked":
        return "user", _BLOCKED.get(str(rule), ESCALATED)
    first = next(iter(decision.get("next") or ()), None)
    if kind != "dispatch" or first is None:
        return "user", ESCALATED
    if first in _PLANNERS:
        return "planner", None
    if first in _IMPLEMENTERS:
        return implementer, None
    return ("auditor", None) if first in auditors else ("user", ESCALATED)
