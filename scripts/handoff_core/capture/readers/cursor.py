"""Reads transcripts of the Cursor CLI: roles and messages, no times and mostly no results (formats.md 8)."""

from __future__ import annotations

import re

from handoff_core.capture.blocks import plain, turns_of
from handoff_core.capture.turns import AGENT, OTHER, SKIPPED, USED, USER, joined, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.capture.source import Source
    from handoff_core.capture.turns import Outcome, Record, Session, Turn

_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)


def read(source: Source, session: Session) -> Iterator[Outcome]:
    """Yield the outcome of every record."""
    del session
    for record in source.records():
        turns = joined(_turns(record))
        yield record, turns, USED if turns else SKIPPED


def _turns(record: Record) -> list[Turn]:
    value = record.value
    message = value.get("message") if type(value) is dict else None
    if type(message) is not dict or type(value.get("role")) is not str:
        return []
    judge = _JUDGES.get(value["role"], plain(OTHER, "system"))
    return turns_of(message.get("content"), judge)


def _prompt(text: str) -> list[Turn]:
    """Return what a person typed, taken out of its wrapper, behind what stands around it."""
    query = _QUERY.search(text)
    if query is None:
        return [said(USER, text)]
    around = [part.strip() for part in (text[: query.start()], text[query.end() :])]
    notice = said(OTHER, "\n".join(filter(None, around)), "notice")
    return [notice, said(USER, query.group(1).strip("\r\n"))]


_JUDGES = {"user": _prompt, "assistant": plain(AGENT)}
