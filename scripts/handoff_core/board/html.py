"""The Board as one HTML file that asks nobody for anything.

Follows view.md 11. Imports the board's parts and `text_html`; style and script are handed in.
"""

from __future__ import annotations

import re
from binascii import b2a_base64

from handoff_core.board import events, svg
from handoff_core.board.clock import iso
from handoff_core.board.findings import CLOSED_STATUSES, OPEN_STATUSES
from handoff_core.board.forms import count, duration, money, percent, span, tokens
from handoff_core.board.terminal import (
    REPAIR,
    UNREADABLE,
    asked_by,
    bad_lines,
    coarse_text,
    filtered,
    finding_order,
    finding_status,
    findings_summary,
    gap_note,
    money_parts,
    nothing_yet,
    odd_facets,
    open_findings,
    seal_parts,
    sign_of_life,
    time_summary,
    took,
    unpriced,
    who,
)
from handoff_core.board.words import CALM_GRADES, CELLS, NAMELESS, STATES, UNTITLED, label
from handoff_core.seal import quick_sha256
from handoff_core.text_html import escape, paragraph, slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from handoff_core.board.clock import Zone

    Part = dict[str, Any]

PRODUCT = "handoff"
SAID = "Text in this page was written by agents; it is shown, never run."
ERROR_LIMIT = 600
MARKS_SHOWN = 200
ICON_COLOURS = {"go": "#1a7045", "run": "#1b60aa", "care": "#b56c08", "stop": "#b3261e"}
TONES = {
    "done": "go",
    "working": "run",
    "ready": "run",
    "idle": "care",
    "escalated": "care",
    "stalled": "care",
    "paused": "care",
    "needs-you": "stop",
    "held": "stop",
}
TAG_PILLS = {"blocked": "p-stop", "autofix": "p-care", "clarify": "p-run", "escalate": "p-stop", "truncation": "p-note"}
RISK_PILLS = {"low": "p-go", "gray": "p-note", "high": "p-stop"}
_COMMAND_WORDS = re.compile("`(route|validate(?: --repair-tail)?|show --last 1)`")


def render(board: Part, zone: Zone, *, style: str, script: str, refresh: float | None, show_list: bool) -> str:
    """Return a Board as a page; with `refresh` it loads itself again after so many seconds."""
    page = _Page(board, zone, show_list=show_list)
    body = page.body()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n'
        f"{_head(board, style, script, refresh)}</head>\n<body>\n{body}<script>{script}</script>\n</body>\n</html>\n"
    )


def _head(board: Part, style: str, script: str, refresh: float | None) -> str:
    state, name = _face(board)
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    reload = f'<meta http-equiv="refresh" content="{refresh:g}">\n' if refresh is not None else ""
    title = " · ".join(filter(None, (STATES[state][0] if state else "", name, PRODUCT)))
    icon = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
        f'<circle cx="8" cy="8" r="7" fill="{ICON_COLOURS[TONES.get(state, "run")]}"/></svg>'
    )
    address = f"data:image/svg+xml;base64,{b2a_base64(icon.encode(), newline=False).decode()}"
    return (
        '<meta charset="utf-8">\n<meta name="generator" content="handoff view">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n{reload}'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="{address}">\n<style>{style}</style>\n'
    )


def digest(text: str) -> str:
    """Return the source expression by which a Content-Security-Policy knows a text."""
    return f"sha256-{b2a_base64(quick_sha256()(text.encode('utf-8')).digest(), newline=False).decode()}"


def _face(board: Part) -> tuple[str, str]:
    """Return the state and the name that stand for the whole page: in its title and its icon."""
    shown = board["boards"] or board["slices"]
    if len(board["boards"]) == 1 or (shown and len(board["slices"]) == 1):
        return shown[0]["state"], shown[0]["req_id"] or NAMELESS
    if board["slices"]:
        return board["slices"][0]["state"], count(len(board["slices"]), "slice")
    return ("needs-you" if board["problems"] else ""), board["log"]["path"]


def tag(name: str, inner: str, **attributes: str | None) -> str:
    """Return an element; attributes are named as in Python (`class_`), their values escaped, None left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value
    )
    return f"<{name}{written}>{inner}</{name}>"


def pill(text: str, tone: str = "") -> str:
    """Return a short word on a coloured ground."""
    return tag("span", escape(text), class_=f"pill {tone}".strip())


def soft(inner: str, extra: str = "") -> str:
    """Return what is said by the way."""
    return tag("span", inner, class_=f"soft {extra}".strip())


def told(text: str) -> str:
    """Return a sentence of ours, the commands it names as code."""
    return _COMMAND_WORDS.sub(r"<code>\1</code>", escape(text))


def table(name: str, caption: str, head: Iterable[str], rows: Iterable[str], *, hidden_head: bool = False) -> str:
    """Return a table with its caption; `head` are header cells, `rows` whole rows."""
    top = "" if hidden_head else f'<thead>\n<tr class="h">{"".join(head)}</tr></thead>\n'
    inner = f"<caption>{caption}</caption>\n{top}<tbody>\n" + "\n".join(rows) + "</tbody>"
    return tag("table", inner, class_=name)


def column(text: str, extra: str = "") -> str:
    """Return a header cell of a column."""
    return tag("th", text, scope="col", class_=extra)


class _Page:
    def __init__(self, board: Part, zone: Zone, *, show_list: bool) -> None:
        self.board = board
        self.zone = zone
        self.show_list = show_list
        self.anchors = _anchors(board)

    def body(self) -> str:
        board = self.board
        at = board["generated"]["at"]
        stamp = f'<time datetime="{iso(at)}">{self.zone.stamp(at)} {escape(self.zone.shown)}</time>'
        top = f"<span><b>{PRODUCT}</b> · {escape(board['log']['path'])}</span><span>as of {stamp}</span>"
        parts = [self._log_banner(), self._empty(), self._list()]
        parts += [_Slice(each, self, place).html() for place, each in enumerate(board["boards"])]
        parts += [tag("p", escape(f"note: {note}"), class_="soft") for note in board["notes"]]
        main = "".join(f"{part}\n" for part in parts if part)
        return (
            '<a class="skip" href="#main">Skip to the board</a>\n'
            f'<header class="top">{top}</header>\n<main id="main">\n{main}</main>\n'
            f"{self._foot()}\n"
        )

    def _foot(self) -> str:
        board = self.board
        lines = count(board["log"]["lines"], "line")
        clean = f"{bad_lines(board)} bad" if board["problems"] else "clean"
        tone = {"intact": "tick", "broken": "bad"}.get(board["seal"]["state"], "")
        seal = tag("span", escape(", ".join(seal_parts(board))), class_=tone)
        return tag("footer", f"<span>{lines}, {clean}</span>{seal}<span>{SAID}</span>")

    def _log_banner(self) -> str:
        board = self.board
        if not board["problems"]:
            return ""
        said = f"The log is damaged: {count(bad_lines(board), 'bad line')}. Route stops every slice."
        repair = REPAIR
        if board["log"]["state"] == "unreadable":
            said, repair = "The log cannot be read.", UNREADABLE
        items = "".join(tag("li", escape(problem["text"])) for problem in board["problems"][:MARKS_SHOWN])
        inner = f"{_state_row('needs-you', said)}<ul>{items}</ul>{_you(repair)}"
        return tag("section", inner, class_="now needs-you", aria_label="State of the log")

    def _empty(self) -> str:
        log = self.board["log"]
        if log["records"]:
            return ""
        words = {
            "missing": f"no handoff log at {log['path']}",
            "empty": "handoff log is empty",
        }.get(log["state"], "handoff log holds no readable record")
        return tag("h1", escape(words))

    def _list(self) -> str:
        slices = self.board["slices"]
        if not slices or not self.show_list or self.board["log"]["slices"] < 2:
            return ""
        costs = any(each["usd"] is not None for each in slices)
        names = ["state", "slice", "title", "who", "open"]
        head = [*map(column, names), *([column("cost", "n")] if costs else []), column("last", "n")]
        rows = [self._list_row(each, costs=costs) for each in slices]
        heading = f'<header><h2 id="list-h">{count(len(slices), "slice")}</h2></header>'
        inner = heading + table("list cards", "Slices, what needs you first", head, rows)
        return tag("section", inner, class_="list long", aria_labelledby="list-h")

    def _list_row(self, each: Part, *, costs: bool) -> str:
        word, state = STATES[each["state"]][0], each["state"]
        name = escape(each["req_id"] or NAMELESS)
        anchor = self.anchors.get(each["req_id"])
        link = tag("a", name, href=f"#{anchor}") if anchor else name
        marks = f' <span class="flag">! {count(each["marks"], "mark")}</span>' if each["marks"] else ""
        cells = [
            tag("td", tag("span", word, class_="state"), class_=state),
            tag("th", f'<span class="m">{link}</span>', scope="row"),
            tag("td", escape(each["title"] or UNTITLED) + marks, class_="ttl"),
            tag("td", escape(who(each))),
            tag("td", open_findings(each), data_h="open" if each["findings_open"] else None),
        ]
        if costs:
            cells.append(tag("td", "" if each["usd"] is None else f"${each['usd']:.2f}", class_="n"))
        cells.append(tag("td", duration(each["age_seconds"]), class_="n soft", data_h="last"))
        return tag("tr", "".join(cells))


def _anchors(board: Part) -> dict[str | None, str]:
    """Return the id of each board's article; two slices never share one."""
    found: dict[str | None, str] = {}
    for each in board["boards"]:
        base = f"slice-{slug(each['req_id']) if each['req_id'] else 'no-req-id'}"
        anchor, number = base, 2
        while anchor in found.values():
            anchor, number = f"{base}__{number}", number + 1
        found[each["req_id"]] = anchor
    return found


def _state_row(state: str, words: str) -> str:
    word = tag("span", STATES[state][0], class_="state")
    return f'<div class="row">{word}<strong>{told(words)}</strong></div>'


def _you(text: str) -> str:
    return f"<p><b>You:</b> {told(text)}</p>" if text else ""


class _Slice:
    """One board on the page; `prefix` begins every id in it."""

    def __init__(self, each: Part, page: _Page, place: int) -> None:
        self.each = each
        self.zone = page.zone
        self.anchor = page.anchors[each["req_id"]]
        self.prefix = f"b{place}"
        self.step_at = {line: step["line"] for step in each["steps"] for line in step["lines"]}
        self.finding_ids = {finding["id"] for finding in each["findings"]}

    def html(self) -> str:
        each, head = self.each, f"{self.prefix}-h"
        name = tag("span", escape(each["req_id"] or NAMELESS), class_="id")
        parts = [
            f'<h1 id="{head}">{name}{escape(each["title"] or UNTITLED)}</h1>',
            self._banner(),
            self._facts(),
            tag("p", filtered(each), class_="soft") if each["shown"] else "",
            self._timeline(),
            self._reviews(),
            self._findings(),
            self._two(),
            self._steps(),
            self._trust(),
        ]
        return tag("article", "\n".join(filter(None, parts)), id=self.anchor, aria_labelledby=head)

    def _section(self, mark: str, title: str, summary: str, inner: str, *, long: bool = False) -> str:
        head = f"{self.prefix}-{mark}"
        said = f"<p>{summary}</p>" if summary else ""
        top = f'<header><h2 id="{head}">{title}</h2>{said}</header>\n'
        return tag("section", top + inner, class_="long" if long else None, aria_labelledby=head)

    def _to_line(self, line: int) -> str:
        """Return `line <n>`, as a link where the step it belongs to stands on the page."""
        step = self.step_at.get(line)
        words = f"line {line}"
        return words if step is None else tag("a", words, href=f"#{self.prefix}-l{step}")

    # What happens now

    def _banner(self) -> str:
        each, now = self.each, self.each["now"]
        errors = [] if now["readable"] else now["errors"]
        inner = [
            _state_row(each["state"], now["headline"]),
            self._work(),
            self._question(),
            "".join(tag("li", paragraph(text)) for text in [*now["points"], *errors]),
            _you(now["person"]["text"]),
            self._command(),
            self._rule(),
        ]
        if inner[3]:
            inner[3] = f"<ul>{inner[3]}</ul>"
        return tag(
            "section", "".join(inner), class_=f"now {each['state']}", role="status", aria_label="What happens now"
        )

    def _work(self) -> str:
        items = []
        for agent in self.each["working"]:
            quiet = agent["health"] in ("stalled", "returned")
            glyph = f'<span class="g {"warn" if quiet else ""}" aria-hidden="true">{"!" if quiet else "◌"}</span>'
            facts = [duration(agent["age_seconds"]), agent["stage"], sign_of_life(agent)]
            aim = f" for {self._ids(agent['fixes'])}" if agent["fixes"] else ""
            said = " · ".join(escape(fact) for fact in facts if fact)
            inner = (
                f"{glyph}<b>{escape(agent['label'])}</b><span>{said}{aim}</span>{soft(self._to_line(agent['line']))}"
            )
            items.append(tag("li", inner))
        return f'<ul class="work">{"".join(items)}</ul>' if items else ""

    def _question(self) -> str:
        asked = self.each["now"]["question"]
        if asked is None:
            return ""
        about = "".join(
            tag("p", paragraph(asked[key]), class_="soft") for key in ("context", "stop_state") if asked[key]
        )
        quote = f"<blockquote>“{paragraph(asked['question'] or '')}”</blockquote>"
        return f'{quote}<p class="rule">{escape(asked_by(asked))}</p>{about}'

    def _command(self) -> str:
        text = self.each["now"]["command"]
        if text is None:
            return ""
        button = '<button class="copy" type="button" data-copy hidden>copy</button>'
        return f'<div><pre tabindex="0" aria-label="The command that answers">{escape(text)}</pre>{button}</div>'

    def _rule(self) -> str:
        now = self.each["now"]
        ended = " (once they have ended)" if self.each["state"] in ("working", "stalled") else ""
        ago = f", {duration(now['age_seconds'])} ago" if now["age_seconds"] is not None else ""
        said = f"route says <code>{escape(now['rule'])}</code>{_arrow(now['next'])}{ended}"
        said += f" · {self._to_line(now['line'])}{ago}"
        if now["readable"]:
            readable = now["readable"]
            said += f"<br>read without the bad lines: <code>{escape(readable['rule'])}</code>{_arrow(readable['next'])}"
        return tag("p", said, class_="rule")

    def _ids(self, ids: Iterable[str]) -> str:
        """Return ids of findings, each as a link where it stands on the page."""
        return " ".join(
            tag("a", finding, href=f"#{self._finding_anchor(finding)}") if finding in self.finding_ids else finding
            for finding in ids
        )

    def _finding_anchor(self, finding: str) -> str:
        return f"{self.prefix}-{finding.replace('.', '-')}"

    # Facts

    def _facts(self) -> str:
        each, counts, time = self.each, self.each["counts"], self.each["time"]
        facts = []
        if grade := each["grade"]:
            facets = ", ".join(odd_facets(grade)).replace("_", " ")
            note = "of an earlier build" if grade["stale"] else f"look at {facets}" if facets else ""
            facts.append(("grade", (grade["verdict"] or "?").upper(), note))
        builds = count(counts["build_passes"], "build-pass", "es")
        failed = f", {counts['build_failures']} failed" if counts["build_failures"] else ""
        facts.append(("review rounds", str(counts["rounds"]), builds + failed))
        if counts["findings"]:
            opened = f"{counts['findings_open']} open" if counts["findings_open"] else "none open"
            critical = f", {counts['findings_critical_open']} critical" if counts["findings_critical_open"] else ""
            facts.append(("findings", opened + critical, f"{counts['findings']} raised"))
        if time["wall_seconds"] is not None:
            wall = ("" if time["reliable"] else "≈") + duration(time["wall_seconds"])
            facts.append(("time", wall, f"{duration(time['busy_seconds'])} at work"))
        if found := each["money"]:
            shares = [f"{part} {money(found[part])}" for part in ("root", "rework") if found[part]["calls"]]
            facts.append(("cost", money(found["total"]), ", ".join(shares)))
        cells = (
            f"<div><dt>{name}</dt><dd>{escape(value)}{tag('small', escape(note)) if note else ''}</dd></div>"
            for name, value, note in facts
        )
        return f'<dl class="facts">{"".join(cells)}</dl>'

    # Timeline and reviews

    def _timeline(self) -> str:
        drawing = svg.timeline(self.each, self.zone, self.prefix, set(self.step_at.values()))
        if not drawing:
            return ""
        summary = f"{escape(time_summary(self.each))} · times {escape(self.zone.shown)}"
        return self._section("t", "Timeline", summary, drawing)

    def _reviews(self) -> str:
        reviews = self.each["reviews"]
        rounds = reviews["rounds"]
        if not rounds:
            return ""
        now = pill("now", "p-run")
        head = [column("reviewer"), *(column(f"R{r['n']}{f' {now}' if r['current'] else ''}") for r in rounds)]
        rows = [self._matrix_row("plan", [_plan_cell(each) for each in rounds])]
        for name in reviews["reviewers"]:
            cells = [_verdict_cell(each["cells"][name]) for each in rounds]
            rows.append(self._matrix_row(escape(label(name)), cells, soft_name=False))
        if self.each["counts"]["findings"]:
            rows.append(self._matrix_row("findings", [_sums_cell(each) for each in rounds]))
        matrix = table("matrix", "Verdict of each reviewer in each round", head, rows)
        region = tag("div", matrix, class_="scroll", role="region", tabindex="0", aria_label="Verdicts by round")
        why = "".join(_reason(each) for each in rounds if each["plan"])
        reasons = f'<ul class="why" aria-label="Why these reviewers">{why}</ul>' if why else ""
        return self._section(
            "r", "Reviews", "not asked = left out by the plan; no answer = asked, silent", region + reasons
        )

    @staticmethod
    def _matrix_row(name: str, cells: list[str], *, soft_name: bool = True) -> str:
        head = tag("th", name, scope="row", class_="soft" if soft_name else None)
        return tag("tr", head + "".join(cells))

    # Findings

    def _findings(self) -> str:
        shown = [finding for finding in self.each["findings"] if finding["status"] != "replaced"]
        if not shown:
            return ""
        groups = (
            ("all", "all", len(shown)),
            ("open", "open", sum(finding["status"] in OPEN_STATUSES for finding in shown)),
            ("crit", "critical", sum(finding["severity"] == "critical" for finding in shown)),
            ("closed", "closed", sum(finding["status"] in CLOSED_STATUSES for finding in shown)),
        )
        name = f"{self.prefix}-flt"
        radios = "".join(
            f'<input class="flt f-{key}" type="radio" name="{name}" id="{name}-{key}" '
            f'aria-label="{word} findings"{" checked" if key == "all" else ""}>'
            for key, word, _ in groups
        )
        labels = "".join(f'<label class="l-{key}" for="{name}-{key}">{word} {n}</label>' for key, word, n in groups)
        search = (
            f'<input type="search" name="{name}-find" data-search hidden '
            'aria-label="Find in findings" placeholder="find">'
        )
        tabs = f'<div class="tabs" role="group" aria-label="Show findings">{labels}{search}</div>'
        head = map(column, ("id", "kind", "by", "where and what", "now"))
        rows = [self._finding(finding) for finding in sorted(shown, key=finding_order)]
        found = table("find cards", "Findings of the reviewers", head, rows)
        return self._section("f", "Findings", escape(findings_summary(self.each)), radios + tabs + found, long=True)

    def _finding(self, finding: Part) -> str:
        status, severity = finding["status"], finding["severity"]
        marks = {
            "is-open": status in OPEN_STATUSES,
            "is-closed": status in CLOSED_STATUSES,
            "is-done": status not in OPEN_STATUSES,
            "is-crit": severity == "critical",
        }
        kind = pill(finding["tag"] or "?", TAG_PILLS.get(finding["tag"] or "", ""))
        if severity:
            kind += " " + (pill(severity, "p-stop") if severity == "critical" else soft(escape(severity)))
        where = tag("code", paragraph(finding["location"]), class_="loc") if finding["location"] else ""
        what = tag("p", paragraph(finding["description"]), class_="txt") if finding["description"] else ""
        fix = f'<p class="fix">fix: <code>{paragraph(finding["fix"])}</code></p>' if finding["fix"] else ""
        cells = [
            tag("td", finding["id"], class_="m nb"),
            tag("td", kind, class_="kind"),
            tag("td", escape(label(finding["reviewer"])), data_h="by"),
            tag("td", where + what + fix, class_="what"),
            tag("td", self._finding_now(finding), class_="nowc"),
        ]
        classes = " ".join(name for name, holds in marks.items() if holds)
        return tag("tr", "".join(cells), id=self._finding_anchor(finding["id"]), class_=classes)

    def _finding_now(self, finding: Part) -> str:
        status = finding["status"]
        words = finding_status({**finding, "fixes": []}).removesuffix(":")
        tone = "tick" if status == "closed" else "warn" if status in OPEN_STATUSES else "soft"
        glyph = "✔ " if status == "closed" else ""
        said = tag("span", glyph + escape(words), class_=tone)
        if not finding["fixes"]:
            return said
        fix = finding["fixes"][-1]
        where = f"since {self._to_line(fix['start'])}" if fix["open"] else self._to_line(fix["line"])
        by = escape(label(fix["agent"]))
        return f"{said}<br>{soft(f'{by}, {where}')}"

    # Money, grade

    def _two(self) -> str:
        parts = [part for part in (self._money(), self._grade()) if part]
        return tag("div", "".join(parts), class_="two") if parts else ""

    def _money(self) -> str:
        found = self.each["money"]
        if found is None:
            return ""
        dearest = max((agent["usd"] or 0 for agent in found["agents"]), default=0)
        head = [column("agent"), *(column(name, "n x") for name in ("calls", "in", "out", "cached", "saved"))]
        head += [column("cost", "n"), column(soft("first pass, rework, grade"), "w40")]
        rows = [_money_row(agent, svg.money_bar(agent, dearest)) for agent in found["agents"]]
        rows.append(_money_row({**found["total"], "label": "total"}, ""))
        inner = table("money", "Cost per agent", head, rows)
        inner += f"<p>{escape(money_parts(found))}</p>"
        if self.each["counts"]["rounds"]:
            stages = " · ".join(f"{stage['stage']} {money(stage)}" for stage in found["stages"])
            inner += tag("p", escape(stages), class_="soft")
        inner += "".join(tag("p", escape(text), class_="warn") for text in unpriced(found))
        return self._section("m", "Money", f"list prices of {escape(found['prices_as_of'])}", inner)

    def _grade(self) -> str:
        grade = self.each["grade"]
        if grade is None:
            return ""
        rows = []
        for facet in grade["facets"]:
            tone = "p-go" if facet["verdict"] in CALM_GRADES else "p-care"
            name = tag("b", escape(facet["name"].replace("_", " ")))
            note = f"<br>{soft(paragraph(facet['note']))}" if facet["note"] else ""
            rows.append(tag("tr", tag("td", f"{name} {pill(facet['verdict'] or '?', tone)}{note}")))
        why = tag("p", paragraph(grade["rationale"])) if grade["rationale"] else ""
        facets = table("facet", "Facets of the grade", (), rows, hidden_head=True) if rows else ""
        word = escape((grade["verdict"] or "?").upper())
        return self._section("g", f"Grade: {word}", self._to_line(grade["line"]), why + facets)

    # Steps, trust

    def _steps(self) -> str:
        steps = self.each["steps"]
        if not steps:
            return ""
        costs = self.each["money"] is not None
        head = [column("line", "n"), column("start"), column("took", "n"), *([column("cost", "n")] if costs else [])]
        head += [column("who"), column("what", "what")]
        rows, stage = [], None
        for step in steps:
            if step["stage"] != stage:
                stage = step["stage"]
                cell = f'<th scope="rowgroup" colspan="{6 if costs else 5}">{escape(stage)}</th>'
                rows.append(tag("tr", cell, class_="stage h"))
            rows.append(self._step(step, costs=costs))
        inner = table("steps cards", "Steps in the order of the log", head, rows)
        return self._section("s", "Steps", f"times {escape(self.zone.shown)}", inner, long=True)

    def _step(self, step: Part, *, costs: bool) -> str:
        cells = [
            tag("td", span(step["lines"][0], step["lines"][-1], "–"), class_="n soft"),
            tag("td", self.zone.clock(step["start"]), class_="nb soft"),
            tag("td", took(step), class_="n"),
        ]
        if costs:
            cells.append(tag("td", escape(money(step["money"])) if step["money"] else "", class_="n"))
        cells += [tag("th", escape(step["label"]), scope="row"), tag("td", self._what(step), class_="what")]
        return tag("tr", "".join(cells), id=f"{self.prefix}-l{step['line']}")

    def _what(self, step: Part) -> str:
        items = [self._record(shown, step) for shown in step["records"]]
        if not step["records"] or step["state"] == "open":
            items.append(escape(nothing_yet(step)[0]))
        flags = f' <span class="flag">! {escape(", ".join(step["flags"]))}</span>' if step["flags"] else ""
        listed = "".join(tag("li", item) for item in items)
        return f"<ul>{listed}</ul>{flags}"

    def _record(self, shown: Part, step: Part) -> str:
        said = tag("b", f"{escape(shown['glyph'])} {escape(events.head(shown))}")
        if shown["text"]:
            findings = shown.get("findings")
            said += f" {self._ids(findings) if findings else paragraph(shown['text'])}"
        if extra := events.note(shown):
            said += f" {escape(extra)}"
        if shown is step["records"][-1]:
            aim = self._ids(step["fixes"]) or escape(", ".join(step["answers"]))
            said += f" {soft(f'for {aim}')}" if aim else ""
        for text in shown.get("recommendations") or []:
            said += f"<br>{soft(f'▹ {paragraph(text)}')}"
        if shown.get("error"):
            said += f"<br>{soft(paragraph(shown['error'], ERROR_LIMIT), 'm')}"
        return said

    def _trust(self) -> str:
        marks = self.each["trust"]["marks"]
        coarse = self.each["time"]["coarse"]
        if not marks and not coarse:
            return ""
        rows = [
            tag(
                "tr",
                tag("th", self._to_line(mark["line"]), scope="row")
                + tag("td", pill(mark["kind"], "p-care"))
                + tag("td", paragraph(mark["text"]), class_="what"),
            )
            for mark in marks[:MARKS_SHOWN]
        ]
        head = map(column, ("line", "kind", "mark"))
        inner = table("trust cards", "What does not fit together", head, rows) if rows else ""
        if len(marks) > MARKS_SHOWN:
            inner += tag("p", f"and {len(marks) - MARKS_SHOWN} more: handoff.py view --verbose", class_="soft")
        inner += tag("p", escape(coarse_text(self.each)), class_="warn") if coarse else ""
        return self._section("u", "Trust", count(len(marks), "mark"), inner, long=True)


def _arrow(agents: list[str]) -> str:
    return f" → {escape(', '.join(map(label, agents)))}" if agents else ""


def _plan_cell(each: Part) -> str:
    plan = each["plan"]
    if plan is None:
        return tag("td", soft("no plan"))
    risk = pill(plan["risk"] or "?", RISK_PILLS.get(plan["risk"] or "", ""))
    return tag("td", f"{risk} {soft(escape(plan['scope'] or ''))}")


def _verdict_cell(found: Part) -> str:
    glyph, word = CELLS[found["state"]]
    parts = [f'<span class="g" aria-hidden="true">{escape(glyph)}</span><span class="w"> {word}</span>']
    if found["findings"]:
        noun = "finding" if found["findings"] == 1 else "findings"
        parts.append(f'<b class="nb">{found["findings"]}<span class="w"> {noun}</span></b>')
    if found["critical"]:
        parts.append(pill(f"{found['critical']} critical", "p-stop"))
    if found["seconds"] is not None:
        parts.append(soft(duration(found["seconds"]), "nb"))
    return tag("td", " ".join(parts), class_=f"v-{found['state']}", title=word)


def _sums_cell(each: Part) -> str:
    words = f'<span class="w">{each["opened"]} raised, {each["closed"]} closed, </span>'
    opened = f'{words}<b class="nb">{each["open"]} open</b>'
    number = each["critical_open"]
    critical = f" {pill(f'{number} critical', 'p-stop')}" if number else ""
    return tag("td", opened + critical, class_="soft")


def _reason(each: Part) -> str:
    plan = each["plan"]
    triggers = "".join(f" {pill(trigger)}" for trigger in plan["triggers"])
    note = tag("span", escape(gap_note(plan)), class_="warn") if gap_note(plan) else ""
    return f"<li><b>R{each['n']}</b>{paragraph(plan['why'] or '')}{triggers}{note}</li>"


def _money_row(row: Part, bar: str) -> str:
    numbers = (
        ("calls", str(row["calls"])),
        ("in", tokens(row["total_input"])),
        ("out", tokens(row["output"])),
        ("cached", percent(row["hit_pct"])),
        ("saved", percent(row["saved_pct"])),
    )
    cells = [tag("th", escape(row["label"]), scope="row")]
    cells += [tag("td", text, class_="n x") for _, text in numbers]
    cells += [tag("td", escape(money(row)), class_="n"), tag("td", bar, class_="w40")]
    return tag("tr", "".join(cells))
