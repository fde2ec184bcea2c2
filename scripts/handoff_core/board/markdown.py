"""The Board as GitHub Markdown, for issues, pull requests and chat.

Follows view.md 9. Imports the board's parts; the drawing and the words are those of the terminal.
"""

from __future__ import annotations

import re

from handoff_core.board import events
from handoff_core.board.findings import OPEN_STATUSES
from handoff_core.board.forms import count, duration, money, span
from handoff_core.board.paint import EXCERPT, Paint
from handoff_core.board.terminal import (
    ERRORS_SHOWN,
    MARKS_SHOWN,
    PROBLEMS_SHOWN,
    REPAIR,
    UNREADABLE,
    View,
    asked_by,
    bad_lines,
    coarse_text,
    drawing_of,
    filtered,
    finding_order,
    finding_status,
    foot_parts,
    gap_note,
    money_cells,
    money_parts,
    nothing_yet,
    numbers,
    odd_facets,
    open_findings,
    plan_words,
    sign_of_life,
    took,
    unpriced,
    who,
)
from handoff_core.board.timeline import axis
from handoff_core.board.words import CELLS, NAMELESS, STATES, UNTITLED, label
from handoff_core.text_view import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Part = dict[str, Any]

DRAWING_WIDTH = 80
WORD_JOINER = "\u2060"
"""Stands behind `@` and `#`, so that nobody is mentioned and no issue is linked."""

_SYNTAX = re.compile(r"[\\`*_\[\]|~$^{}!#]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LEADING_MARK = re.compile(r"[-+=]")
_LEADING_NUMBER = re.compile(r"(\d+)([.)])")
_RUNS = re.compile("`+")
_COMMAND_WORDS = re.compile(r"\\`(route|validate(?: --repair-tail)?|show --last 1)\\`")


def escape(text: str) -> str:
    """Return cleaned text so that Markdown shows it as typed (view.md 9)."""
    text = re.sub("[&<>]", lambda found: _ENTITIES[found[0]], text)
    text = _SYNTAX.sub(r"\\\g<0>", text)
    text = text.replace("://", ":\\//").replace("www.", "www\\.")
    text = re.sub(r"@(?=\w)", f"@{WORD_JOINER}", text)
    text = re.sub(r"#(?=\d)", f"#{WORD_JOINER}", text)
    text = _LEADING_NUMBER.sub(r"\1\\\2", text) if _LEADING_NUMBER.match(text) else text
    return f"\\{text}" if _LEADING_MARK.match(text) else text


def told(text: str) -> str:
    """Return a sentence of ours, with names of records in it, and the commands it names as code."""
    return _COMMAND_WORDS.sub(r"`\1`", escape(text))


def code(text: str, *, table: bool = False) -> str:
    """Return text as a code span, which nothing in it can end."""
    longest = max(map(len, _RUNS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    inner = text.replace("|", "\\|") if table else text
    return f"{ticks}{blank}{inner}{blank}{ticks}"


def fence(lines: Sequence[str], language: str) -> list[str]:
    """Return lines in a fence that is longer than any run of backticks in them."""
    longest = max((len(run) for line in lines for run in _RUNS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"{ticks}{language}", *lines, ticks]


def render(board: Part, view: View) -> str:
    """Return a Board as Markdown."""
    log = board["log"]
    if log["state"] == "missing":
        return f"no handoff log at {code(log['path'])}\n"
    parts = [_log_banner(board)] if board["problems"] else []
    if not log["records"]:
        empty = "handoff log holds no readable record" if board["problems"] else "handoff log is empty"
        parts.append([empty])
    elif view.list_only or (view.show_list and log["slices"] > 1):
        parts.append(_slice_list(board))
    for each in board["boards"]:
        parts += _slice(each, view)
    parts += [[f"note: {escape(note)}"] for note in board["notes"]]
    path, *facts = foot_parts(board)
    parts.append(["---", " · ".join([code(path), *facts])])
    text = "\n\n".join("\n".join(part) for part in parts if part) + "\n"
    return view.paint.spell(text) if view.paint.ascii else text


def _log_banner(board: Part) -> list[str]:
    problems = board["problems"]
    said = f"The log is damaged: {count(bad_lines(board), 'bad line')}. Route stops every slice."
    repair = REPAIR
    if board["log"]["state"] == "unreadable":
        said, repair = "The log cannot be read.", UNREADABLE
    items = [f"- {escape(problem['text'])}" for problem in problems[:PROBLEMS_SHOWN]]
    if len(problems) > PROBLEMS_SHOWN:
        items.append(f"- and {len(problems) - PROBLEMS_SHOWN} more: `handoff.py validate`")
    return _quote([[f"**NEEDS YOU** {said}"], items, [f"**You:** {told(repair)}"]])


def _quote(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Return blocks as one quote, with an empty quoted line between them."""
    lines: list[str] = []
    for block in blocks:
        if block:
            lines += [">"] if lines else []
            lines += [f"> {line}" for line in block]
    return lines


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    marks = ["---:" if title in right else "---" for title in head]
    return [f"| {' | '.join(row)} |" for row in (head, marks, *rows)]


def _cell(text: str) -> str:
    """Return text with line breaks as the inside of a cell."""
    return "<br>".join(map(escape, text.split("\n")))


def _excerpt(text: str, view: View) -> str:
    if view.verbose or len(text) <= EXCERPT:
        return text
    return text[: EXCERPT - 1].rstrip() + "…"


# The slice list


def _slice_list(board: Part) -> list[str]:
    slices = board["slices"]
    costs = any(each["usd"] is not None for each in slices)
    head = ["state", "slice", "title", "who", "open", *(["cost"] if costs else []), "last", "marks"]
    rows = []
    for each in slices:
        cost = [] if not costs else ["" if each["usd"] is None else f"${each['usd']:.2f}"]
        rows.append(
            [
                f"**{STATES[each['state']][0]}**",
                code(each["req_id"], table=True) if each["req_id"] else NAMELESS,
                escape(each["title"] or UNTITLED),
                escape(who(each)),
                open_findings(each),
                *cost,
                duration(each["age_seconds"]),
                str(each["marks"] or ""),
            ]
        )
    return [f"## {count(len(slices), 'slice')}", "", *_table(head, rows, ("cost", "last", "marks"))]


# One slice


def _slice(each: Part, view: View) -> list[list[str]]:
    name = escape(each["req_id"]) if each["req_id"] else NAMELESS
    parts = [[f"## {name} — {escape(each['title'] or UNTITLED)}"], _banner(each, view)]
    if each["now"]["command"]:
        parts.append(fence(each["now"]["command"].split("\n"), "sh"))
    parts.append([escape(" · ".join(_numbers(each)))])
    if each["shown"]:
        parts.append([filtered(each)])
    sections = (_findings,) if view.brief else SECTIONS
    for section in sections:
        found = section(each, view)
        parts += [["\n\n".join("\n".join(block) for block in found)]] if found else []
    return parts


def _numbers(each: Part) -> list[str]:
    """Return the numbers of the head, with time at work and waiting beside the wall time."""
    parts, time = numbers(each), each["time"]
    if time["wall_seconds"] is not None:
        place = -2 if each["money"] else -1
        parts[place] += f", {duration(time['busy_seconds'])} at work, {duration(time['waiting_seconds'])} waiting"
    return parts


def _banner(each: Part, view: View) -> list[str]:
    now = each["now"]
    blocks = [[f"**{STATES[each['state']][0]}** {told(now['headline'])}"]]
    blocks.append([_working(agent) for agent in each["working"]])
    if now["question"]:
        asked = joined(now["question"]["question"] or "")
        blocks += [[f"“{escape(asked)}”"], [escape(asked_by(now["question"]))]]
    said = [*now["points"], *([] if now["readable"] else now["errors"][:ERRORS_SHOWN])]
    blocks.append([f"- {escape(_excerpt(text, view))}" for text in said])
    if now["person"]["text"]:
        blocks.append([f"**You:** {told(now['person']['text'])}"])
    if each["grade"]:
        blocks.append([_grade_line(each["grade"])])
    return _quote([*blocks, *_rule_lines(each)])


def _working(agent: Part) -> str:
    glyph = "!" if agent["health"] in ("stalled", "returned") else "◌"
    facts = [duration(agent["age_seconds"]), agent["stage"], sign_of_life(agent), f"line {agent['line']}"]
    aim = f" for {' '.join(agent['fixes'])}" if agent["fixes"] else ""
    return f"- {glyph} **{escape(agent['label'])}**{aim}: {', '.join(filter(None, facts))}"


def _grade_line(grade: Part) -> str:
    stale = " (of an earlier build)" if grade["stale"] else ""
    facets = odd_facets(grade)
    look = f": look at {escape(', '.join(facets))}" if facets else ""
    return f"Grade **{escape((grade['verdict'] or '?').upper())}**{stale}{look}"


def _rule_lines(each: Part) -> list[list[str]]:
    now = each["now"]
    ended = " (once they have ended)" if each["state"] in ("working", "stalled") else ""
    ago = f", {duration(now['age_seconds'])} ago" if now["age_seconds"] is not None else ""
    lines = [[f"Route says {code(now['rule'])}{_arrow(now['next'])}{ended} · line {now['line']}{ago}"]]
    if now["readable"]:
        lines.append([f"Read without the bad lines: {code(now['readable']['rule'])}{_arrow(now['readable']['next'])}"])
    return lines


def _arrow(agents: list[str]) -> str:
    return f" → {escape(', '.join(map(label, agents)))}" if agents else ""


def _reviews(each: Part, view: View) -> list[list[str]]:
    rounds = each["reviews"]["rounds"]
    if not rounds:
        return []
    head = ["reviewer", *(f"R{one['n']}{' now' if one['current'] else ''}" for one in rounds)]
    rows = [["*plan*", *(escape(plan_words(one["plan"])[0]) for one in rounds)]]
    rows += [
        [escape(label(name)), *(_matrix_cell(one["cells"][name]) for one in rounds)]
        for name in each["reviews"]["reviewers"]
    ]
    if each["counts"]["findings"]:
        sums = (f"{one['opened']} raised, {one['closed']} closed, {one['open']} open" for one in rounds)
        rows.append(["*findings*", *sums])
    reasons = [_reason(one, view) for one in rounds if one["plan"]]
    return [["### Reviews"], _table(head, rows), *([reasons] if reasons else [])]


def _matrix_cell(found: Part) -> str:
    glyph, word = CELLS[found["state"]]
    facts = [f"{escape(glyph)} {word}"]
    if found["findings"]:
        critical = f" ({found['critical']} critical)" if found["critical"] else ""
        facts.append(f"{found['findings']}{critical}")
    return ", ".join([*facts, *([duration(found["seconds"])] if found["seconds"] is not None else [])])


def _reason(one: Part, view: View) -> str:
    plan = one["plan"]
    triggers = f" [{', '.join(plan['triggers'])}]" if view.verbose and plan["triggers"] else ""
    why = _excerpt(joined(plan["why"] or ""), view)
    return f"- R{one['n']}: {escape((why + triggers + gap_note(plan)).strip())}"


def _findings(each: Part, view: View) -> list[list[str]]:
    shown = [finding for finding in each["findings"] if finding["status"] != "replaced"]
    if view.brief:
        shown = [finding for finding in shown if finding["status"] in OPEN_STATUSES]
    if not shown:
        return []
    rows = [_finding(finding, view) for finding in sorted(shown, key=finding_order)]
    return [["### Findings"], _table(("id", "kind", "by", "where", "what", "now"), rows)]


def _finding(finding: Part, view: View) -> list[str]:
    severity = escape(finding["severity"] or "")
    kind = [escape(finding["tag"] or "?"), f"**{severity}**" if severity == "critical" else severity]
    what = _excerpt(joined(finding["description"] or ""), view)
    fix = f"<br>fix: {_cell(finding['fix'])}" if view.verbose and finding["fix"] else ""
    described = _cell(finding["description"] or "") if view.verbose else escape(what)
    status = finding_status(finding, by=", ").replace(":, ", ", ")
    return [
        finding["id"],
        ", ".join(filter(None, kind)),
        escape(label(finding["reviewer"])),
        code(finding["location"], table=True) if finding["location"] else "",
        described + fix,
        escape(status),
    ]


def _timeline(each: Part, view: View) -> list[list[str]]:
    drawn = axis(each)
    if drawn is None:
        return []
    plain = View(view.zone, Paint(DRAWING_WIDTH))
    left, drawing = drawing_of(each, drawn, plain, DRAWING_WIDTH)
    rows = [" " * left + row for row in (drawing.ticks, drawing.stages) if row]
    for name, cells in [*drawing.lanes, ("waiting", drawing.waiting)]:
        rows.append(plain.paint.pad(name, left) + "".join(mark for mark, _ in cells))
    rows.append(" " * left + "   ".join(f"{mark} {word}" for mark, word in drawing.legend()))
    if cut := drawing.cut_text(view.zone):
        rows.append(" " * left + cut)
    return [["### Timeline"], fence(rows, "text")]


def _steps(each: Part, view: View) -> list[list[str]]:
    if not each["steps"]:
        return []
    costs = each["money"] is not None
    head = ["line", f"start ({view.zone.shown})", "took", *(["cost"] if costs else []), "who", "what"]
    rows = []
    for step in each["steps"]:
        cost = [] if not costs else [escape(money(step["money"])) if step["money"] else ""]
        lines = span(step["lines"][0], step["lines"][-1], "–")
        start = view.zone.clock(step["start"])
        rows.append([lines, start, took(step), *cost, escape(step["label"]), _what(step, view)])
    return [["### Steps"], _table(head, rows, ("line", "took", "cost"))]


def _what(step: Part, view: View) -> str:
    said = []
    for place, shown in enumerate(step["records"]):
        aim = (step["fixes"] or step["answers"]) if place == len(step["records"]) - 1 else []
        words = [f"**{escape(shown['glyph'])} {escape(events.head(shown))}**"]
        words += [f"← {escape(' '.join(aim))}"] if aim else []
        words += [escape(text) for text in (_excerpt(shown["text"], view), events.note(shown)) if text]
        said.append(" ".join(words))
        said += [_cell(text) for text in events.details(shown)] if view.verbose else []
    if not step["records"] or step["state"] == "open":
        said.append(escape(nothing_yet(step)[0]))
    flags = f" (! {', '.join(step['flags'])})" if step["flags"] else ""
    return "<br>".join(said) + flags


def _grade(each: Part, view: View) -> list[list[str]]:
    grade = each["grade"]
    if grade is None:
        return []
    blocks = [[f"### Grade: {escape((grade['verdict'] or '?').upper())}"]]
    if grade["rationale"]:
        blocks.append([f"**Why:** {_cell(grade['rationale'])}"])
    facets = [
        f"- **{escape(facet['name'])}** {escape(facet['verdict'] or '?')}: "
        f"{escape(_excerpt(joined(facet['note'] or ''), view))}"
        for facet in grade["facets"]
    ]
    return [*blocks, facets] if facets else blocks


def _money(each: Part, _view: View) -> list[list[str]]:
    found = each["money"]
    if found is None:
        return []
    head = ("agent", "calls", "in", "out", "cached", "saved", "cost")
    rows = [list(map(escape, money_cells(row))) for row in (*found["agents"], {**found["total"], "label": "total"})]
    lines = [["### Money"], _table(head, rows, head[1:]), [f"List prices of {escape(found['prices_as_of'])}."]]
    lines.append([escape(money_parts(found))])
    if each["counts"]["rounds"]:
        lines.append([" · ".join(escape(f"{stage['stage']} {money(stage)}") for stage in found["stages"])])
    warnings = [f"- {escape(text)}" for text in unpriced(found)]
    return [*lines, warnings] if warnings else lines


def _trust(each: Part, view: View) -> list[list[str]]:
    marks = each["trust"]["marks"]
    shown = marks if view.verbose else marks[:MARKS_SHOWN]
    lines = [f"- line {mark['line']}, {mark['kind']}: {escape(mark['text'])}" for mark in shown]
    if len(shown) < len(marks):
        lines.append(f"- and {len(marks) - len(shown)} more: `--verbose`")
    if each["time"]["coarse"]:
        lines.append(f"- {escape(coarse_text(each))}")
    return [["### Trust"], lines] if lines else []


SECTIONS: tuple[Callable[[Part, View], list[list[str]]], ...] = (
    _reviews,
    _findings,
    _timeline,
    _steps,
    _grade,
    _money,
    _trust,
)
