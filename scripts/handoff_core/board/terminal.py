"""The Board as text for a terminal or a pipe.

Follows view.md 8: each part is a function from the Board to lines. Imports the board's parts; what the terminal can
do is handed in as a `Paint`.
"""

from __future__ import annotations

from handoff_core.board import events
from handoff_core.board.clock import iso
from handoff_core.board.findings import CLOSED_STATUSES, OPEN_STATUSES
from handoff_core.board.forms import count, duration, money, percent, share, span, tokens
from handoff_core.board.paint import BOLD, BOLD_RED, CYAN, DIM, GREEN, MAGENTA, RAW, RED, YELLOW, line
from handoff_core.board.timeline import Drawing, axis
from handoff_core.board.words import CALM_GRADES, CELLS, GAP_NOTES, NAMELESS, STATES, UNTITLED, label
from handoff_core.text_view import first_columns, joined, last_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from handoff_core.board.clock import Zone
    from handoff_core.board.paint import Line, Paint, Piece

    Part = dict[str, Any]

BAR = "┃ "
QUOTE = "┊ "
"""Stands before the lines of a text that is shown whole."""

HEAD_WIDTH = 11
"""Columns of a state word, and of what names a line of the banner."""

PROBLEMS_SHOWN, ERRORS_SHOWN, MARKS_SHOWN = 5, 4, 8
COMMAND_WIDTH = 66
TIMELINE_WIDTH, TIMELINE_LEAST = 120, 20
MONEY_BAR = 12

REPAIR = "Repair these lines; `validate` lists them, `validate --repair-tail` removes a torn last line."
UNREADABLE = "Make the log readable; `validate` says what is wrong with it."

FINDING_WORDS = {
    "open": "open",
    "fixing": "being fixed",
    "fixed": "fixed, unconfirmed:",
    "closed": "closed in R{closed_round}",
    "repeated": "raised again as {continued_as}",
    "void": "void since line {closed_at}",
    "note": "note",
    "replaced": "replaced",
}
FIX_SHOWN = ("closed", "fixing", "fixed")
FINDING_ORDER = {
    **dict.fromkeys(OPEN_STATUSES, 0),
    "note": 1,
    "repeated": 2,
    **dict.fromkeys(CLOSED_STATUSES, 3),
}


class View:
    """How a Board is to be printed: its zone, its paint, and how much of it."""

    __slots__ = ("brief", "list_only", "paint", "show_list", "verbose", "zone")

    def __init__(
        self,
        zone: Zone,
        paint: Paint,
        *,
        verbose: bool = False,
        brief: bool = False,
        list_only: bool = False,
        show_list: bool = True,
    ) -> None:
        self.zone = zone
        self.paint = paint
        self.verbose = verbose
        self.brief = brief
        self.list_only = list_only
        self.show_list = show_list


def render(board: Part, view: View, height: int | None = None) -> str:
    """Return a Board as text; where it is taller than `height` lines, the first line of *now* ends it."""
    paint = view.paint
    lines = page(board, view)
    if height is not None and len(lines) >= height and board["boards"]:
        lines.append(banner(board["boards"][0], view)[0])
    return paint.print(lines)


def page(board: Part, view: View) -> list[Line]:
    """Return a Board as lines in the order of view.md 8.2."""
    log = board["log"]
    if log["state"] == "missing":
        return [line(f"no handoff log at {log['path']}")]
    lines = _spaced(log_banner(board, view)) if board["problems"] else []
    if not log["records"]:
        empty = "handoff log holds no readable record" if board["problems"] else "handoff log is empty"
        lines.append(line(empty))
    if view.list_only or (view.show_list and log["slices"] > 1):
        lines += _spaced(slice_list(board, view)) if log["records"] else []
    for each in board["boards"]:
        lines += slice_board(each, view)
        lines.append([])
    if view.list_only and log["records"]:
        lines += [line(("one board: handoff.py view --req-id ID      every board: --all", DIM)), []]
    if lines and lines[-1]:
        lines.append([])
    return lines + foot(board, view)


def _spaced(lines: list[Line]) -> list[Line]:
    return [*lines, []]


def log_banner(board: Part, view: View) -> list[Line]:
    """Return what is wrong with the log and what a person must do."""
    paint, problems = view.paint, board["problems"]
    bad = bad_lines(board)
    said = f"The log is damaged: {count(bad, 'bad line')}. Route stops every slice."
    repair = REPAIR
    if board["log"]["state"] == "unreadable":
        said, repair = "The log cannot be read.", UNREADABLE
    lines = paint.hang((BAR, (f"{'NEEDS YOU':<{HEAD_WIDTH}}", BOLD_RED)), said, under=_under(), margin=1)
    shown = [problem["text"] for problem in problems[:PROBLEMS_SHOWN]]
    if len(problems) > PROBLEMS_SHOWN:
        shown.append(f"and {len(problems) - PROBLEMS_SHOWN} more: handoff.py validate")
    for text in shown:
        lines += paint.hang(_under(), text, under=_under(), margin=1)
    return lines + paint.hang((BAR, ("you".ljust(HEAD_WIDTH), BOLD)), repair, under=_under(), margin=1)


def bad_lines(board: Part) -> int:
    """Return how many lines of the log cannot be used as they are."""
    return len({problem["line"] for problem in board["problems"]})


def _under() -> tuple[Piece, ...]:
    return (BAR + " " * HEAD_WIDTH,)


def foot(board: Part, view: View) -> list[Line]:
    """Return the notes and the last line."""
    lines = [piece for note in board["notes"] for piece in view.paint.hang(("note: ",), note)]
    parts = foot_parts(board)
    seal_broken = board["seal"]["state"] == "broken"
    pieces: list[Piece] = []
    for part in parts:
        pieces += [(" · ", DIM)] if pieces else []
        pieces.append((part, BOLD_RED if seal_broken and part.startswith("SEAL") else DIM))
    return [*lines, line(*pieces)]


def foot_parts(board: Part) -> list[str]:
    """Return the facts of the last line: path, lines, damage, seal, moment."""
    log = board["log"]
    clean = f"{bad_lines(board)} bad" if board["problems"] else "clean"
    return [
        log["path"],
        count(log["lines"], "line"),
        clean,
        *seal_parts(board),
        f"as of {iso(board['generated']['at'])}",
    ]


def seal_parts(board: Part) -> list[str]:
    """Return what the seal says, in words."""
    seal = board["seal"]
    if seal["state"] == "absent":
        return ["no seal"]
    if seal["state"] == "broken":
        return [f"SEAL BROKEN at line {seal['first_bad']}"]
    words = "seal intact"
    if seal["unsealed_lines"]:
        words += f" to line {seal['sealed_to']}, {count(len(seal['unsealed_lines']), 'line')} after it"
    return [words + (f", {len(seal['raw_lines'])} raw" if seal["raw_lines"] else "")]


# The slice list


def slice_list(board: Part, view: View) -> list[Line]:
    """Return the list of slices (view.md 8.4)."""
    slices = board["slices"]
    numbers: dict[str, int] = {}
    for each in slices:
        numbers[each["state"]] = numbers.get(each["state"], 0) + 1
    told = " · ".join(f"{numbers[state]} {STATES[state][0].lower()}" for state in STATES if state in numbers)
    lines = view.paint.hang((f"{count(len(slices), 'slice')}  ",), told)
    return [*lines, [], *_Rows(slices, view.paint).lines()] if slices else lines


class _Rows:
    """The columns of the slice list; which there are depends on the width."""

    def __init__(self, slices: list[Part], paint: Paint) -> None:
        self.slices = slices
        self.paint = paint
        self.id_width = max(6, *(paint.size(self.name(each)) for each in slices)) + 2
        marks = [self.marks(each) for each in slices]
        self.who = 18 if paint.width >= 90 else 0
        self.open = 12 if paint.width >= 70 else 0
        self.cost = 8 if paint.width >= 100 and any(each["usd"] is not None for each in slices) else 0
        fixed = HEAD_WIDTH + self.id_width + self.who + self.open + self.cost + 9 + max(map(len, marks))
        self.title = max(paint.width - fixed - 2, 0)

    def lines(self) -> list[Line]:
        head = {"req_id": "slice", "title": "title", "who": "who", "open": "open", "cost": "cost", "last": "last"}
        return [line((self._cells("", head), DIM)), *map(self._row, self.slices)]

    @staticmethod
    def name(each: Part) -> str:
        return each["req_id"] or NAMELESS

    @staticmethod
    def marks(each: Part) -> str:
        return f"  ! {each['marks']}" if each["marks"] else ""

    def _row(self, each: Part) -> Line:
        word, colour = STATES[each["state"]]
        shown = {
            "req_id": self.name(each),
            "title": each["title"] or UNTITLED,
            "who": who(each),
            "open": open_findings(each),
            "cost": "" if each["usd"] is None else f"${each['usd']:.2f}",
            "last": duration(each["age_seconds"]),
        }
        cells = self._cells("", shown)[HEAD_WIDTH:]
        return line((self.paint.pad(word, HEAD_WIDTH), colour), cells, (self.marks(each), YELLOW))

    def _cells(self, state: str, shown: dict[str, str]) -> str:
        paint = self.paint
        cells = [paint.pad(state, HEAD_WIDTH), paint.pad(shown["req_id"], self.id_width)]
        if self.title:
            cells.append(paint.pad(paint.fit(shown["title"], self.title), self.title + 2))
        if self.who:
            cells.append(paint.pad(paint.fit(shown["who"], self.who - 2), self.who))
        if self.open:
            cells.append(paint.pad(shown["open"], self.open))
        if self.cost:
            cells.append(paint.pad(shown["cost"], self.cost, right=True))
        return "".join([*cells, paint.pad(shown["last"], 9, right=True)])


def who(each: Part) -> str:
    """Return who is at work on a slice, who is next, or how it was graded."""
    if each["working"]:
        return ", ".join(dict.fromkeys(map(label, each["working"])))
    if each["state"] in ("ready", "idle", "held") and each["next"]:
        return f"→ {', '.join(map(label, each['next']))}"
    return (each["grade"] or "").upper() if each["state"] == "done" else ""


def open_findings(each: Part) -> str:
    """Return the open findings of a slice, the critical ones named."""
    critical = each["findings_critical_open"]
    opened = each["findings_open"]
    return f"{opened}, {critical} crit" if critical else str(opened) if opened else ""


# One slice


def slice_board(each: Part, view: View) -> list[Line]:
    """Return the board of one slice; empty parts are left out."""
    lines = [*head(each, view), [], *banner(each, view), *command(each, view)]
    if each["shown"]:
        lines += [[], line((filtered(each), DIM))]
    if view.brief:
        return lines + findings(each, view)
    for part in PARTS:
        lines += part(each, view)
    return lines


def filtered(each: Part) -> str:
    """Return how much of a slice is listed."""
    (steps, all_steps), (found, all_found) = each["shown"]["steps"], each["shown"]["findings"]
    return f"filtered: {steps} of {all_steps} steps, {found} of {all_found} findings"


def head(each: Part, view: View) -> list[Line]:
    """Return the name of a slice and its numbers."""
    name = (each["req_id"] or NAMELESS, BOLD)
    title = view.paint.excerpt(each["title"] or UNTITLED)
    return [line(name, "  ", (title, BOLD)), line(" · ".join(numbers(each)))]


def numbers(each: Part) -> list[str]:
    """Return the numbers of a slice's head."""
    counts, wall = each["counts"], each["time"]["wall_seconds"]
    parts = [count(counts["rounds"], "review round"), count(counts["build_passes"], "build-pass", "es")]
    if counts["build_failures"]:
        parts.append(count(counts["build_failures"], "build-failure"))
    if counts["findings"]:
        opened = f"{counts['findings_open']} open" if counts["findings_open"] else "none open"
        parts.append(f"{count(counts['findings'], 'finding')}, {opened}")
    if wall is not None:
        parts.append(("" if each["time"]["reliable"] else "≈") + duration(wall))
    return [*parts, money(each["money"]["total"])] if each["money"] else parts


def banner(each: Part, view: View) -> list[Line]:
    """Return what happens now (view.md 8.3), without the command."""
    paint, now = view.paint, each["now"]
    word, colour = STATES[each["state"]]
    lines = paint.hang((BAR, (paint.pad(word, HEAD_WIDTH), colour)), now["headline"], BOLD, under=_under(), margin=1)
    lines += [_working_line(agent) for agent in each["working"]]
    lines += _question_lines(now["question"], view)
    for text in [*now["points"], *([] if now["readable"] else now["errors"][:ERRORS_SHOWN])]:
        lines += paint.hang((*_under(), "- "), paint.excerpt(text), under=(*_under(), "  "), margin=1)
    if now["person"]["text"]:
        style = BOLD if now["person"]["needed"] else ""
        lines += paint.hang((BAR, ("you".ljust(HEAD_WIDTH), style)), now["person"]["text"], under=_under(), margin=1)
    if each["grade"]:
        lines += _grade_line(each["grade"], view)
    return lines + _rule_lines(each, view)


def _working_line(agent: Part) -> Line:
    quiet = agent["health"] in ("stalled", "returned")
    glyph = ("! ", YELLOW) if quiet else ("◌ ", CYAN)
    parts = [f"{agent['label']:<13}{duration(agent['age_seconds']):>8}  {agent['stage']:<9}"]
    if said := sign_of_life(agent):
        parts.append(f"  {said}")
    if agent["fixes"]:
        parts.append(f" for {' '.join(agent['fixes'])}")
    return line(*_under(), glyph, "".join(parts), (f"  line {agent['line']}", DIM))


def sign_of_life(agent: Part) -> str:
    """Return how an agent at work was last seen."""
    if agent["health"] == "returned":
        return "ended without a record"
    if agent["health"] == "stalled":
        return f"quiet {duration(agent['quiet_seconds'])}, limit {duration(agent['limit_seconds'])}"
    if agent["health"] == "unknown":
        return "clock?"
    return f"last sign {duration(agent['quiet_seconds'])} ago" if agent["sign"] == "transcript" else ""


def _question_lines(question: Part | None, view: View) -> list[Line]:
    if question is None:
        return []
    asked = joined(question["question"] or "")
    lines = view.paint.hang((*_under(), "“"), f"{asked}”", under=(*_under(), " "), margin=1)
    if view.verbose:
        for field in ("context", "stop_state"):
            for text in (question[field] or "").split("\n"):
                lines += view.paint.hang((*_under(), " "), text, under=(*_under(), " "), margin=1) if text else []
    return [*lines, line(*_under(), (asked_by(question), DIM))]


def asked_by(question: Part) -> str:
    """Return who asked a question, where and when."""
    ago = f", {duration(question['age_seconds'])} ago" if question["age_seconds"] is not None else ""
    return f"asked by {label(question['from'])}, line {question['line']}{ago}"


def _grade_line(grade: Part, view: View) -> list[Line]:
    text = f"{' (of an earlier build)' if grade['stale'] else ''}"
    if facets := odd_facets(grade):
        text += f"  look at {', '.join(facets)}"
    word = (grade["verdict"] or "?").upper()
    return [
        line(BAR, "grade".ljust(HEAD_WIDTH), (word, events.grade_colour(grade["verdict"])), view.paint.excerpt(text))
    ]


def odd_facets(grade: Part) -> list[str]:
    """Return the facets of a grade that are worth a look."""
    return [facet["name"] for facet in grade["facets"] if facet["verdict"] not in CALM_GRADES]


def _rule_lines(each: Part, view: View) -> list[Line]:
    now, paint = each["now"], view.paint
    text = now["rule"] + _arrow(now["next"])
    if each["state"] in ("working", "stalled"):
        text += "  (once they have ended)"
    where = f" · line {now['line']}"
    if now["age_seconds"] is not None:
        where += f", {duration(now['age_seconds'])} ago"
    lines = paint.hang((BAR, "rule".ljust(HEAD_WIDTH)), text + where, DIM, under=_under(), margin=1)
    if now["readable"]:
        readable = f"read without the bad lines: {now['readable']['rule']}{_arrow(now['readable']['next'])}"
        lines += paint.hang(_under(), readable, DIM, under=_under(), margin=1)
    return lines


def _arrow(agents: list[str]) -> str:
    return f" → {', '.join(map(label, agents))}" if agents else ""


def command(each: Part, view: View) -> list[Line]:
    """Return the command that answers a question: to be copied, so never cut; left out where it would wrap."""
    text = each["now"]["command"]
    if text is None or (view.paint.cut and view.paint.width < COMMAND_WIDTH):
        return []
    return [[], *([(row, RAW)] for row in text.split("\n"))]


def section(title: str, summary: str, view: View, style: str = "") -> list[Line]:
    """Return the head of a part: a blank line and a rule with title and summary."""
    paint = view.paint
    start, end = f"── {title} ", f" {summary} ──" if summary else ""
    rule = "─" * max(paint.width - paint.size(start) - paint.size(end), 2)
    if not summary:
        return [[], line(("── ", DIM), (title, BOLD), (f" {rule}", DIM))]
    return [[], line(("── ", DIM), (title, BOLD), (f" {rule} ", DIM), (summary, style), (" ──", DIM))]


# Reviews


def reviews(each: Part, view: View) -> list[Line]:
    """Return the review matrix, the reasons of the plans and the legend (view.md 8.5)."""
    rounds = each["reviews"]["rounds"]
    if not rounds:
        return []
    table = _Matrix(each, view.paint)
    return [*section("Reviews", "", view), *table.lines(), *_reasons(rounds, view), *table.legend()]


class _Matrix:
    def __init__(self, each: Part, paint: Paint) -> None:
        self.paint = paint
        self.rounds = each["reviews"]["rounds"]
        self.reviewers = each["reviews"]["reviewers"]
        self.raised = bool(each["findings"]) or each["counts"]["findings"] > 0
        names = [label(name) for name in self.reviewers]
        self.left = max(map(paint.size, [*names, "closed"])) + 2
        self.columns = [self._column(each_round) for each_round in self.rounds]

    def _column(self, each: Part) -> list[Line]:
        head = line((f"R{each['n']}", BOLD), (" now" if each["current"] else "", CYAN))
        cells = [cell(each["cells"][name]) for name in self.reviewers]
        sums: list[Line] = []
        if self.raised:
            critical = f" ({each['critical_open']} critical)" if each["critical_open"] else ""
            opened = line(str(each["open"]), (critical, BOLD_RED))
            sums = [line(str(each["opened"])), line(str(each["closed"])), opened]
        return [head, line(plan_words(each["plan"])), *cells, *sums]

    def lines(self) -> list[Line]:
        """Return the table, in blocks of as many rounds as fit."""
        names = ["", "plan", *map(label, self.reviewers), *(("raised", "closed", "open") if self.raised else ())]
        lines: list[Line] = []
        for block in self._blocks():
            for place, name in enumerate(names):
                row = line(self.paint.pad(name, self.left))
                for column, widths, width in block:
                    row += [*column[place], (" " * (width - widths[place]), "")]
                lines.append(row)
        return lines

    def _blocks(self) -> list[list[tuple[list[Line], list[int], int]]]:
        """Return the columns in blocks of as many as fit, each with the widths of its entries and its own."""
        blocks: list[list[tuple[list[Line], list[int], int]]] = []
        room = 0
        for column in self.columns:
            widths = [self.paint.measure(entry) for entry in column]
            width = max(widths) + 3
            # The blanks behind the last column of a block may fall off the edge.
            if not blocks or width - 3 > room:
                blocks.append([])
                room = self.paint.width - self.left
            blocks[-1].append((column, widths, width))
            room -= width
        return blocks

    def legend(self) -> list[Line]:
        used = {cell["state"] for each in self.rounds for cell in each["cells"].values()}
        items = [f"{glyph} {word}" for state, (glyph, word) in CELLS.items() if state in used]
        return flow(items, "   ", self.paint, 0, DIM)


def cell(found: Part) -> Line:
    """Return a cell of the matrix: glyph, findings, critical ones, time."""
    state = found["state"]
    pieces: list[Piece] = [(CELLS[state][0], CELL_COLOURS.get(state, ""))]
    if found["findings"]:
        pieces.append(f" {found['findings']}")
    if found["critical"]:
        pieces.append((f" ({found['critical']} critical)", BOLD_RED))
    if found["seconds"] is not None:
        pieces.append((f" {duration(found['seconds'])}", DIM))
    return line(*pieces)


CELL_COLOURS = {
    "approved": GREEN,
    "changes_requested": YELLOW,
    "blocked": RED,
    "other": YELLOW,
    "open": CYAN,
    "awaited": CYAN,
    "quiet": YELLOW,
    "silent": DIM,
    "not-asked": DIM,
}


def plan_words(plan: Part | None) -> tuple[str, str]:
    """Return risk and scope of a plan with their colour."""
    if plan is None:
        return "no plan", DIM
    words = ", ".join(filter(None, (plan["risk"], plan["scope"]))) or "?"
    return words, RED if plan["risk"] == "high" else ""


def _reasons(rounds: list[Part], view: View) -> list[Line]:
    lines: list[Line] = []
    for each in rounds:
        plan = each["plan"]
        if plan is None:
            continue
        prefix = (f"{'why R' + str(each['n']):<9}",)
        why, gap = joined(plan["why"] or ""), gap_note(plan)
        if view.verbose:
            triggers = f" [{', '.join(plan['triggers'])}]" if plan["triggers"] else ""
            lines += view.paint.hang(prefix, f"{why}{triggers}{gap}".strip())
            continue
        why = view.paint.excerpt(why)
        if view.paint.cut:
            why = view.paint.fit(why, max(view.paint.width - 9 - view.paint.size(gap), 8))
        lines.append(line(*prefix, why, (gap, YELLOW)))
    return lines


def gap_note(plan: Part) -> str:
    """Return why a plan's roster does not count, with a blank before it; empty if it does."""
    return f" {GAP_NOTES[plan['gap']]}" if plan["gap"] in GAP_NOTES else ""


def flow(
    items: list[str], joint: str, paint: Paint, indent: int, style: str = "", *, trail: bool = False
) -> list[Line]:
    """Return items joined and wrapped between them; with `trail` a broken line ends with the joint."""
    rows: list[str] = []
    for item in items:
        longer = f"{rows[-1]}{joint}{item}" if rows else item
        if rows and paint.size(longer) > paint.width - indent - (len(joint.rstrip()) if trail else 0):
            if trail:
                rows[-1] += joint.rstrip()
            rows.append(item)
        elif rows:
            rows[-1] = longer
        else:
            rows = [item]
    return [line(" " * indent, (row, style)) for row in rows]


# Findings


def findings(each: Part, view: View) -> list[Line]:
    """Return the findings, what is open first (view.md 8.6)."""
    shown = [finding for finding in each["findings"] if finding["status"] != "replaced"]
    if view.brief:
        shown = [finding for finding in shown if finding["status"] in OPEN_STATUSES]
    if not shown:
        return []
    shown.sort(key=finding_order)
    indent = max(len(finding["id"]) for finding in shown) + 2
    lines = section("Findings", findings_summary(each), view)
    for finding in shown:
        lines += _finding(finding, indent, view)
    return lines


def finding_order(finding: Part) -> tuple[int, bool, int, int]:
    """Return what findings are sorted by: open first and critical ones of them first, then by line."""
    place = FINDING_ORDER.get(finding["status"], 3)
    return place, place == 0 and finding["severity"] != "critical", finding["line"], finding["index"]


def findings_summary(each: Part) -> str:
    """Return how many findings were raised and how many are open."""
    counts = each["counts"]
    opened = "none open"
    if counts["findings_open"]:
        opened = f"{counts['findings_open']} open"
        if counts["findings_critical_open"]:
            opened += f", {counts['findings_critical_open']} critical"
    return f"{counts['findings']} raised · {opened}"


def _finding(finding: Part, indent: int, view: View) -> list[Line]:
    paint, opened = view.paint, finding["status"] in OPEN_STATUSES
    tag, severity = finding["tag"] or "", finding["severity"] or ""
    critical = BOLD_RED if opened and severity == "critical" else ""
    lines = [
        line(
            (paint.pad(finding["id"], indent), BOLD),
            (paint.pad(tag, 9, gap=1), tag_colour(finding)),
            (paint.pad(severity, 9, gap=bool(severity)), critical),
            paint.pad(label(finding["reviewer"]), 13, gap=1),
            (finding_status(finding), GREEN if finding["status"] == "closed" else YELLOW if opened else DIM),
        )
    ]
    blanks = " " * indent
    if finding["location"]:
        location = paint.spell(finding["location"])
        if paint.cut:
            location = fit_location(location, paint.width - indent, paint.mark)
        lines.append(line(blanks, (location, CYAN if opened else "")))
    if finding["description"] and view.verbose:
        lines += quoted(finding["description"], blanks, paint)
    elif finding["description"] and opened:
        lines.append(line(blanks, paint.excerpt(joined(finding["description"]))))
    if finding["fix"] and view.verbose:
        lines += paint.hang((blanks, "fix: "), joined(finding["fix"]), under=(blanks, QUOTE))
    return lines


def quoted(text: str, blanks: str, paint: Paint, style: str = "") -> list[Line]:
    """Return a whole text, each of its lines behind a bar: nothing a record says begins a line of the board."""
    bar = (blanks, (QUOTE, DIM))
    return [row for part in text.split("\n") for row in paint.hang(bar, part, style, under=bar)]


def tag_colour(finding: Part) -> str:
    """Return the colour of a finding's tag."""
    return {"blocked": RED, "autofix": YELLOW, "clarify": CYAN, "escalate": BOLD_RED}.get(finding["tag"] or "", "")


def finding_status(finding: Part, by: str = " by ") -> str:
    """Return what became of a finding, and which record or whom it waits for."""
    status = finding["status"]
    words = FINDING_WORDS[status].format_map(finding)
    if status == "open" and finding["tag"] == "escalate":
        return f"{words}, yours to decide"
    if status not in FIX_SHOWN or not finding["fixes"]:
        return words
    return f"{words}{by}{fixed_by(finding)}"


def fixed_by(finding: Part) -> str:
    """Return who fixed a finding and where, or since when somebody works on it."""
    fix = finding["fixes"][-1]
    if fix["open"]:
        return f"{label(fix['agent'])} since line {fix['start']}"
    return f"{label(fix['agent'])}, line {fix['line']}"


def fit_location(location: str, width: int, mark: str) -> str:
    """Return a location that fits: leading folders give way, then its end; never the file's name (view.md 8.6)."""
    if view_columns(location) <= width:
        return location
    path_end = next((at for at, sign in enumerate(location) if sign in " :#("), len(location))
    slash = location.rfind("/", 0, path_end)
    folders, rest = (location[:slash].split("/"), location[slash + 1 :]) if slash >= 0 else ([], location)
    for first in range(1, len(folders) + 1):
        shorter = "/".join([mark, *folders[first:], rest])
        if view_columns(shorter) <= width:
            return shorter
    start = f"{mark}/" if folders else ""
    named = _file_and_line(rest)
    if view_columns(start + named) + len(mark) <= width:
        return first_columns(start + rest, width - len(mark)) + mark
    if view_columns(start + named) <= width:
        return start + named
    if view_columns(named) <= width:
        return named
    half = (width - len(mark)) // 2
    return first_columns(named, width - len(mark) - half) + mark + last_columns(named, half)


def _file_and_line(rest: str) -> str:
    """Return a file's name with what directly follows it, up to the first blank: its line or symbol."""
    return rest.split(" ", 1)[0] or rest


def view_columns(text: str) -> int:
    """Return how many columns a text takes."""
    from handoff_core.text_view import columns

    return columns(text)


# Timeline


def timeline(each: Part, view: View) -> list[Line]:
    """Return the drawing of who worked when (view.md 8.7)."""
    drawn = axis(each)
    if drawn is None:
        return []
    paint = view.paint
    left, drawing = drawing_of(each, drawn, view, min(paint.width, TIMELINE_WIDTH))
    blanks = " " * left
    lines = section("Timeline", time_summary(each), view, "" if each["time"]["reliable"] else YELLOW)
    lines += [line(blanks, (row, style)) for row, style in ((drawing.ticks, DIM), (drawing.stages, MAGENTA)) if row]
    for name, cells in [*drawing.lanes, ("waiting", drawing.waiting)]:
        lines.append([(paint.pad(name, left), ""), *cells])
    lines += flow([f"{mark} {word}" for mark, word in drawing.legend()], "   ", paint, left, DIM)
    cut = drawing.cut_text(view.zone)
    return [*lines, *paint.hang((blanks,), cut, DIM)] if cut else lines


def drawing_of(each: Part, drawn: Any, view: View, width: int) -> tuple[int, Drawing]:
    """Return the columns of the lane labels and the drawing beside them."""
    names = [lane["label"] for lane in each["lanes"]]
    left = max(map(view.paint.size, [*names, "waiting"])) + 2
    return left, Drawing(each, view.zone, drawn, max(width - left - 1, TIMELINE_LEAST))


def time_summary(each: Part) -> str:
    """Return how long a slice was worked on and waited for."""
    time = each["time"]
    words = f"{duration(time['busy_seconds'])} at work · {duration(time['waiting_seconds'])} waiting"
    if time["human_seconds"] and time["human_seconds"] >= 1:
        words += f" ({duration(time['human_seconds'])} for you)"
    return words if time["reliable"] else f"{words} · clock unreliable"


# Steps


def steps(each: Part, view: View) -> list[Line]:
    """Return what happened, in the order of the log (view.md 8.8)."""
    if not each["steps"]:
        return []
    lines = section("Steps", f"times {view.zone.shown}", view, DIM)
    stage = None
    for step in each["steps"]:
        if step["stage"] != stage:
            stage = step["stage"]
            lines.append(line((stage, MAGENTA)))
        lines += _step(step, view, with_cost=each["money"] is not None)
    return lines


def _step(step: Part, view: View, *, with_cost: bool) -> list[Line]:
    paint = view.paint
    cost = paint.pad(money(step["money"]) if step["money"] else "", 8, right=True) + "  " if with_cost else ""
    prefix = line(
        (f"{span(step['lines'][0], step['lines'][-1]):>7}  ", DIM),
        (f"{view.zone.clock(step['start']):<8}", DIM),
        f"{took(step):>9}  ",
        (cost, GREEN),
        paint.pad(step["label"], 13, gap=1),
    )
    flags = f"  ! {', '.join(step['flags'])}" if step["flags"] else ""
    whats = whats_of(step)
    if len(whats) == 1 and not (view.verbose or paint.cut):
        return [[*prefix, *whats[0][0], (flags, YELLOW)]]
    lines: list[Line] = []
    indent = paint.measure(prefix)
    for place, (what, shown) in enumerate(whats):
        start = prefix if place == 0 else line(" " * indent)
        lines += _what(start, what, flags if place == 0 else "", view)
        for text in events.details(shown) if view.verbose and shown else ():
            lines += quoted(text, " " * (indent + 2), paint, DIM)
    return lines


def took(step: Part) -> str:
    """Return how long a step took: `…` while it is open, nothing for a record on its own."""
    if step["state"] == "open":
        return "…"
    if step["seconds"] is None:
        return ""
    return duration(step["seconds"]) + ("" if step["reliable"] else "?")


def _what(start: Line, what: Line, suffix: str, view: View) -> list[Line]:
    """Return one record's line, cut so that the flags behind it can be read; with `--verbose` it is wrapped."""
    paint = view.paint
    if view.verbose:
        text = "".join(piece for piece, _ in what) + suffix
        return paint.hang(start, text)
    if not paint.cut:
        return [[*start, *what, (suffix, YELLOW)]]
    room = paint.width - paint.measure(start) - paint.size(suffix)
    used, kept = 0, []
    for text, style in what:
        fitting = paint.fit(text, max(room - used, 0))
        kept.append((fitting, style))
        used += paint.size(fitting)
        if fitting != paint.spell(text):
            break
    return [[*start, *kept, (suffix, YELLOW)]]


def whats_of(step: Part) -> list[tuple[Line, Part | None]]:
    """Return a line for each record of a step, with the record; while there is no result, one that says so."""
    records = step["records"]
    last = len(records) - 1
    found: list[tuple[Line, Part | None]] = [
        (_record(shown, step if place == last else None), shown) for place, shown in enumerate(records)
    ]
    if not records or step["state"] == "open":
        found.append((line(nothing_yet(step)), None))
    return found


def nothing_yet(step: Part) -> tuple[str, str]:
    """Return what is said of a dispatch without a result, with its colour."""
    if step["state"] == "silent":
        return "× left no record", YELLOW
    if step["health"] == "returned":
        return "! ended without a record", YELLOW
    if step["health"] == "stalled":
        return f"! quiet for {duration(step['quiet_seconds'])}", YELLOW
    return "◌ at work", CYAN


def _record(shown: Part, step: Part | None) -> Line:
    pieces: list[Piece] = [(f"{shown['glyph']} {events.head(shown)}", events.colour(shown))]
    if step is not None and (aim := step["fixes"] or step["answers"]):
        pieces.append((f" ← {' '.join(aim)}", CYAN))
    if shown["text"]:
        pieces.append(f"  {shown['text']}")
    if extra := events.note(shown):
        pieces.append((f"  {extra}", DIM))
    return line(*pieces)


# Grade, money, trust


def grade(each: Part, view: View) -> list[Line]:
    """Return the grade with its reasons (view.md 8.9)."""
    found = each["grade"]
    if found is None:
        return []
    paint = view.paint
    colour = events.grade_colour(found["verdict"])
    lines = section("Grade", (found["verdict"] or "?").upper(), view, colour)
    lines += paint.hang((), joined(found["rationale"])) if found["rationale"] else []
    for facet in found["facets"]:
        calm = facet["verdict"] in CALM_GRADES
        verdict = (paint.pad(facet["verdict"] or "?", 12, gap=1), GREEN if calm else YELLOW)
        prefix = (paint.pad(facet["name"], 18, gap=1), verdict)
        note = joined(facet["note"] or "")
        if calm and not view.verbose:
            # Two columns stay free, so that the notes keep off the edge.
            room = paint.width - paint.measure(prefix) - 2
            lines.append(line(*prefix, paint.fit(note, room) if paint.cut else paint.excerpt(note)))
        else:
            lines += paint.hang(prefix, note)
    return lines


def money_part(each: Part, view: View) -> list[Line]:
    """Return what the slice cost, by agent and by stage (view.md 8.9)."""
    found = each["money"]
    if found is None:
        return []
    paint = view.paint
    lines = section("Money", f"list prices of {found['prices_as_of']}", view, DIM)
    titles = ("", "calls", "in", "out", "cached", "saved", "cost")
    lines.append(line((_money_row(titles, paint), DIM)))
    dearest = max((agent["usd"] or 0 for agent in found["agents"]), default=0)
    for row in [*found["agents"], {**found["total"], "label": "total"}]:
        bar = ""
        if row["label"] != "total" and dearest > 0:
            bar = "▇" * round(MONEY_BAR * (row["usd"] or 0) / dearest)
        lines.append(line(_money_row(money_cells(row), paint), ("  " + bar, GREEN)))
    lines += paint.hang((), money_parts(found))
    if each["counts"]["rounds"]:
        stages = [f"{stage['stage']} {money(stage)}" for stage in found["stages"]]
        lines += flow(stages, " · ", paint, 0, DIM, trail=True)
    return lines + [line((text, YELLOW)) for text in unpriced(found)]


def money_cells(row: Part) -> tuple[str, ...]:
    """Return the cells of one line of the money table."""
    return (
        row["label"],
        str(row["calls"]),
        tokens(row["total_input"]),
        tokens(row["output"]),
        percent(row["hit_pct"]),
        percent(row["saved_pct"]),
        money(row),
    )


def _money_row(cells: tuple[str, ...], paint: Paint) -> str:
    widths = (14, 7, 9, 9, 9, 8, 10)
    first = paint.pad(cells[0], widths[0], gap=1)
    return first + "".join(
        paint.pad(text, width, right=True) for text, width in zip(cells[1:], widths[1:], strict=True)
    )


MONEY_WORDS = {"first_pass": "first pass", "rework": "rework", "grade": "grade", "unattributed": "not attributed"}


def money_parts(found: Part, bold: Callable[[str], str] = str) -> str:
    """Return first pass, rework, grade and what is not attributed; parts without calls are left out."""
    words = []
    for part, name in MONEY_WORDS.items():
        if not found[part]["calls"]:
            continue
        total = found["total"]
        rework = part == "rework" and total["complete"] and total["usd"]
        note = f" ({share(found[part]['usd'], total['usd'])}%)" if rework else ""
        words.append(f"{name} {bold(money(found[part]))}{note}")
    return " · ".join(words)


def unpriced(found: Part) -> list[str]:
    """Return one warning for each model without a price."""
    return [
        f"! no price for {each['model']}: {count(each['calls'], 'call')}, {tokens(each['tokens'])} tokens not counted; "
        f'add [pricing.models."{each["model"]}"] to layout.toml'
        for each in found["unpriced"]
    ]


def trust(each: Part, view: View) -> list[Line]:
    """Return the trust marks (view.md 8.9)."""
    found, coarse = each["trust"]["marks"], each["time"]["coarse"]
    if not found and not coarse:
        return []
    paint = view.paint
    lines = section("Trust", count(len(found), "mark"), view, YELLOW if found else DIM)
    shown = found if view.verbose else found[:MARKS_SHOWN]
    for mark in shown:
        prefix = (paint.pad(f"! line {mark['line']}", 12, gap=1), (paint.pad(mark["kind"], 10, gap=1), YELLOW))
        lines += paint.hang(prefix, mark["text"]) if view.verbose else [line(*prefix, paint.excerpt(mark["text"]))]
    if len(shown) < len(found):
        lines.append(line(f"  and {len(found) - len(shown)} more: --verbose"))
    if coarse:
        lines += paint.hang((), coarse_text(each))
    return lines


def coarse_text(each: Part) -> str:
    """Return how many stamps were not written by append."""
    coarse, records = each["time"]["coarse"], each["counts"]["records"]
    return f"! {coarse} of {records} stamps have no fraction of a second: append did not write them"


PARTS: tuple[Callable[[Part, View], list[Line]], ...] = (
    reviews,
    findings,
    timeline,
    steps,
    grade,
    money_part,
    trust,
)
