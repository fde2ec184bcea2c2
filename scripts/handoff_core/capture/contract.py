"""Judges what people wrote behind the sealed part of a brief (capture.md 13, step 5, and the contract).

Imports `text_fences` alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from handoff_core.text_fences import mark_fences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from handoff_core.text_fences import Line

WORDS = ("RESULT", "WHAT_CHANGED", "VALIDATION", "EVIDENCE", "BLOCKERS", "RISKS", "FOLLOW_UP")
"""The seven lines of a completion contract, in the order in which they are asked for."""

RESULTS = ("DONE", "PARTIAL", "BLOCKED", "FAILED")

NONE, INCOMPLETE, CLAIMED, SUPPORTED = "none", "incomplete", "claimed", "supported"
"""What a contract is worth, from nothing to a claim beside which evidence was found."""

SEAL_HEADING = "## Evidence contract"
SEAL_LINES = (
    f"{SEAL_HEADING}\n\nEverything below this line is written by people and kept as it is: {', '.join(WORDS)}.\n"
)
"""The three lines that end the sealed part of a brief (capture.md 10.1)."""

_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_CONTRACT_LINE = re.compile(rf"({'|'.join(WORDS)}):(.*)", re.DOTALL)
_COMMIT_ID = re.compile(r"(?<!\w)[0-9A-Fa-f]{7,40}(?!\w)")
_MARKS = "`'\"()[]<>{},;"


class Contract(NamedTuple):
    """What the tail promises: its level, and why it is no higher."""

    level: str
    notes: Sequence[str]


def tail_problems(tail: str) -> list[str]:
    """Return what in the tail would give the brief another structure: headings, rules, a second frontmatter."""
    lines = _lines(tail)
    return [f"line {number} behind the seal is {what}" for number, what in _structure(lines)]


def judge_contract(
    tail: str, has_file: Callable[[str], bool], resolves: Callable[[str], bool], shown_limit: int = 5
) -> Contract:
    """Return the level of the contract in `tail` (capture.md 13).

    `has_file` says whether a relative path names a file of the fileset or of the project, `resolves` whether the
    project's repository knows a commit id.
    """
    values = _values(tail)
    if not values:
        return Contract(NONE, ())
    missing = [word for word in WORDS if word not in values]
    empty = [word for word in WORDS if values.get(word) == ""]
    notes = [f"the contract lacks {', '.join(missing)}"] if missing else []
    notes += [f"the contract says nothing for {', '.join(empty)}"] if empty else []
    if values.get("RESULT") and values["RESULT"] not in RESULTS:
        notes.append(f"RESULT is none of {', '.join(RESULTS)}")
    if notes:
        return Contract(INCOMPLETE, notes)
    if is_supported(values["EVIDENCE"], has_file, resolves, shown_limit):
        return Contract(SUPPORTED, ())
    return Contract(CLAIMED, ["the contract is only claimed: EVIDENCE names no file and no commit that is here"])


def is_supported(
    evidence: str, has_file: Callable[[str], bool], resolves: Callable[[str], bool], commits: int = 5
) -> bool:
    """Say whether `evidence` names a file that exists or, among its first `commits` ids, one that resolves."""
    if any(has_file(path) for path in _paths(evidence)):
        return True
    return any(resolves(found) for found in dict.fromkeys(_COMMIT_ID.findall(evidence)[:commits]))


def _paths(evidence: str) -> Iterator[str]:
    """Yield what may be a path in `evidence`: the whole of it and each word, without marks around and lines behind."""
    for word in dict.fromkeys([evidence.strip(), *evidence.split()]):
        bare = word.strip(_MARKS)
        for path in dict.fromkeys((bare, bare.rstrip(".").strip(_MARKS), bare.partition(":")[0])):
            if path:
                yield path.removeprefix("./")


def _lines(tail: str) -> list[Line]:
    """Return the lines of the tail with quoted ones marked; a lone carriage return ends a line in Markdown."""
    return mark_fences(tail.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def _structure(lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    follows_text = True  # the seal's own last line
    for number, line in enumerate(lines, 1):
        if line.heading is not None:
            yield number, "a heading"
        elif not line.quoted and _RULE.fullmatch(line.text):
            yield number, "a horizontal rule or a frontmatter"
        elif not line.quoted and follows_text and _UNDERLINE.fullmatch(line.text):
            yield number, "the underline of a heading"
        follows_text = not line.quoted and bool(line.text.strip())


def _values(tail: str) -> dict[str, str]:
    """Return the value of each contract word that begins a line of the tail; the first one counts."""
    values: dict[str, str] = {}
    for line in _lines(tail):
        found = None if line.quoted else _CONTRACT_LINE.fullmatch(line.text)
        if found:
            values.setdefault(found[1], found[2].strip())
    return values
