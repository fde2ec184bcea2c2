"""Checks consultations: whether a request can be asked and a response be returned (route.md 8).

Imports `gates`, `records`, `routing.reading`.
"""

from __future__ import annotations

from handoff_core.gates import names_human, target_problem
from handoff_core.records import CONSULTATION_REQUEST, HUMAN
from handoff_core.routing.reading import field, is_text, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]


def request_errors(request: Entry, schema_errors: list[str]) -> list[str]:
    """Return what is wrong with a request: its schema, a missing target, another spelling of the human (8.1)."""
    target = field(request, "target")
    if not is_text(target):
        return [*schema_errors, "$.target: the request names nobody to ask"]
    misspelled = names_human(target) and target != HUMAN and not names_human(field(request, "author"))
    if misspelled and not schema_errors:
        return [target_problem(target)]
    return schema_errors


def response_errors(response: Entry, asked: Entry | None, schema_errors: list[str]) -> list[str]:
    """Return what is wrong with a response: its schema, and its pointer, its author or the asker (8.2)."""
    fault = _pointer_fault(response, asked)
    return [*schema_errors, fault] if fault else schema_errors


def _pointer_fault(response: Entry, asked: Entry | None) -> str:
    if asked is None or field(asked, "type") != CONSULTATION_REQUEST:
        pointer = shown(field(response, "in_response_to"))
        return f"$.in_response_to: {pointer} is not the line of a consultation-request of this slice"
    author, target = field(response, "author"), field(asked, "target")
    if not isinstance(author, str) or author != target:
        return f"$.author: {shown(author)} is not the target of the request at line {asked[0]} ({shown(target)})"
    if not is_text(field(asked, "author")):
        return f"the request at line {asked[0]} names no author to return to"
    return ""


def asked_by_line(entries: list[Entry], line: object) -> Entry | None:
    """Return the entry on a line, equal as a number; a boolean equals nothing."""
    if isinstance(line, bool) or not isinstance(line, (int, float)):
        return None
    return next((entry for entry in entries if entry[0] == line), None)
