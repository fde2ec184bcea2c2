"""`view`: the board, where every slice of the ledger stands.

Follows view.md 1, 8.1 and 11.7: reads flags, environment and terminal, has the Board made, prints it in one of four
forms. It never changes the ledger.
"""

from __future__ import annotations

import os

from handoff_core.board.clock import SECOND, read_moment
from handoff_core.board.model import Filters
from handoff_core.commands.view_source import BoardSource, Transcripts, find_zone
from handoff_core.errors import DONE, NO_MATCH, UsageError
from handoff_core.layout import find_project
from handoff_core.text_view import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.clock import Moment, Zone
    from handoff_core.board.paint import Paint
    from handoff_core.board.terminal import View
    from handoff_core.layout import Project
    from handoff_core.text import Streams

    Board = dict[str, Any]

NAMES_SHOWN = 10
WATCH_SECONDS = 1.0
WATCH_LEAST, WATCH_MOST = 0.2, 3600.0
AGE_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_AGE = 15
"""Digits of an age or a line in `--since` that can be meant."""

TOGETHER = (
    ("--req-id", "--all", "--list"),
    ("--color", "--no-color", "--markdown", "--json", "--html"),
    ("--verbose", "--brief"),
    ("--watch", "--at"),
)
"""Flags of which only one may be given (view.md 1, usage errors)."""


class Options:
    """The flags of one call, read and checked; `seconds` is None unless the ledger is followed."""

    def __init__(self, flags: dict[str, Any]) -> None:
        _refuse_pairs(flags)
        self.flags = flags
        self.req_id: str | None = flags["req_id"]
        self.verbose: bool = flags["verbose"]
        self.brief: bool = flags["brief"]
        self.json: bool = flags["json"]
        self.markdown: bool = flags["markdown"]
        self.html: str | None = flags["html"]
        self.list_only: bool = flags["list"]
        self.every: bool = flags["all"]
        self.until: str | None = flags["until"]
        self.bell: bool = flags["bell"]
        self.seconds = _watch_seconds(flags["watch"])
        self.zone = _zone(flags["tz"])
        self.now = _now(flags["now"])
        self.since = _since(flags["since"])

    @property
    def show_list(self) -> bool:
        """Say whether a list of slices belongs to the board."""
        return self.req_id is None

    def filters(self, clock: Moment) -> Filters:
        """Return what is listed, with an age counted back from the clock."""
        since = self.since
        if since is not None and since[0] == "age":
            since = ("moment", clock - since[1])
        flags = self.flags
        return Filters(flags["agent"], flags["type"], since, flags["since"] or "", open_only=flags["open"])

    def chosen(self, listed: list[str | None], active: str | None) -> list[str | None]:
        """Return the slices that get a board, of those in the list and the active one."""
        if self.list_only:
            return []
        if self.req_id is not None:
            return [self.req_id] if self.req_id in listed else []
        return listed if self.every else [active]


def view(streams: Streams, **flags: Any) -> int:
    """Show where every slice of the ledger stands (view.md)."""
    files = {key: flags.pop(key) for key in ("root", "file", "schemas", "layout")}
    options = Options(flags)
    project = find_project(**files)
    source = BoardSource(
        project,
        zone=options.zone,
        clock=options.now,
        at_line=flags["at"],
        filters=options.filters,
        chosen=options.chosen,
        transcripts=None if flags["no_cost"] else Transcripts(project, flags["projects"]),
        tell_missing=options.verbose,
    )
    printer = Printer(streams, project, options)
    try:
        if options.seconds is not None:
            from handoff_core.commands.view_watch import watch

            return watch(streams, source, options, printer)
        board = source.board()
        if options.req_id is not None and not board["boards"]:
            return _no_records(streams, board, options)
        return printer.print(board, source.zone)
    except BrokenPipeError:
        return DONE  # who reads a board may stop reading


class Printer:
    """Prints a Board in the form that was asked for."""

    def __init__(self, streams: Streams, project: Project, options: Options) -> None:
        self.streams = streams
        self.project = project
        self.options = options

    def print(self, board: Board, zone: Zone, refresh: float | None = None) -> int:
        """Print or write the Board once and return the exit code."""
        options = self.options
        if options.html is not None and options.html != "-":
            self.write_page(board, zone, refresh)
            self.streams.out(options.html + "\n")
            return DONE
        self.streams.out(self.text(board, zone, refresh))
        return DONE

    def text(self, board: Board, zone: Zone, refresh: float | None = None, *, one_line: bool = False) -> str:
        """Return the Board as text in its form."""
        options = self.options
        if options.json:
            from handoff_core.board import jsonform

            return jsonform.render(board, one_line=one_line)
        if options.html is not None:
            return self.page(board, zone, refresh)
        if options.markdown:
            from handoff_core.board import markdown

            return markdown.render(board, self.view(zone, paint=_plain_paint(options.flags["ascii"])))
        from handoff_core.board import terminal

        height = _terminal_size(self.streams)[1] if self.streams.is_terminal("stdout") else None
        return terminal.render(board, self.view(zone), height)

    def view(self, zone: Zone, paint: Paint | None = None) -> View:
        """Return how the Board is to be printed as text."""
        from handoff_core.board.terminal import View

        options = self.options
        return View(
            zone,
            paint or find_paint(self.streams, options.flags),
            verbose=options.verbose,
            brief=options.brief,
            list_only=options.list_only,
            show_list=options.show_list,
        )

    def page(self, board: Board, zone: Zone, refresh: float | None) -> str:
        """Return the Board as a page."""
        from handoff_core import data
        from handoff_core.board import html

        style, script = (data.read(f"refs/view/{name}").decode("utf-8").strip() for name in ("page.css", "page.js"))
        return html.render(
            board,
            zone,
            style=style,
            script=script,
            refresh=None if refresh is None else max(2.0, refresh),
            show_list=self.options.show_list,
        )

    def write_page(self, board: Board, zone: Zone, refresh: float | None = None) -> None:
        """Write the page to its file; raise HandoffError if that is refused or fails (view.md 11.7)."""
        from handoff_core.commands.view_page import write_page

        write_page(self.options.html or "", self.page(board, zone, refresh), self.project)


def _refuse_pairs(flags: dict[str, Any]) -> None:
    given = {f"--{key.replace('_', '-')}" for key, value in flags.items() if value not in (None, False, [])}
    for group in TOGETHER:
        pair = [flag for flag in group if flag in given]
        if len(pair) > 1:
            raise UsageError(f"{pair[0]} and {pair[1]} cannot be given together")
    for flag in ("--until", "--bell"):
        if flag in given and "--watch" not in given:
            raise UsageError(f"{flag} needs --watch")
    if flags["req_id"] == "":
        raise UsageError("argument --req-id: the name of a slice is not empty")
    if flags["html"] == "":
        raise UsageError("argument --html: the name of a file is not empty")


def _watch_seconds(text: str | None) -> float | None:
    if not text:
        return None if text is None else WATCH_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not WATCH_LEAST <= seconds <= WATCH_MOST:
        raise UsageError(f"argument --watch: {text} is not a number of seconds from 0.2 to 3600")
    return seconds


def _zone(text: str | None) -> Zone | None:
    if text is None:
        return None
    zone = find_zone(text)
    if zone is None:
        raise UsageError(f"argument --tz: {text} is not a zone: UTC, local, an IANA name, +hh:mm or -hh:mm")
    return zone


def _now(text: str | None) -> Moment | None:
    if text is None:
        return None
    moment = read_moment(text)
    if moment is None:
        raise UsageError(f"argument --now: {text} is not an ISO 8601 date-time")
    return moment


def _since(text: str | None) -> tuple[str, int] | None:
    """Return `--since` as a line, an age in microseconds or an instant; raise UsageError if it is none of them."""
    if text is None:
        return None
    number = text[1:] if text[:1] == "L" else text[:-1]
    if number.isascii() and number.isdigit() and len(number) <= LONGEST_AGE:
        if text[0] == "L":
            return "line", int(number)
        if text[-1] in AGE_UNITS:
            return "age", int(number) * AGE_UNITS[text[-1]] * SECOND
    moment = read_moment(text)
    if moment is None:
        raise UsageError(f"argument --since: {text} is not L<line>, <n>s, <n>m, <n>h, <n>d or an ISO 8601 date-time")
    return "moment", moment


def _no_records(streams: Streams, board: Board, options: Options) -> int:
    """Say that the slice asked for has no records, and which slices there are."""
    if options.json:
        from handoff_core.board import jsonform

        streams.out(jsonform.render(board))
    names = board["_names"]
    if board["log"]["state"] == "missing":
        held = f"no handoff log at {board['log']['path']}"
    elif names:
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        held = f"the log holds {', '.join(names[:NAMES_SHOWN])}{more}"
    else:
        held = "the log holds no slice"
    streams.note(f"no records for {clean(options.req_id or '')}; {held}")
    return NO_MATCH


# The terminal


def find_paint(streams: Streams, flags: dict[str, Any]) -> Paint:
    """Return what stdout can show: width, colour, characters (view.md 8.1)."""
    from handoff_core.board.paint import LOOSE_WIDTH, Paint

    terminal = streams.is_terminal("stdout")
    width, cut = _columns(), True
    if width is None:
        width, cut = (_terminal_size(streams)[0], True) if terminal else (LOOSE_WIDTH, False)
    return Paint(width, cut=cut, colour=_wants_colour(flags, terminal=terminal), ascii_only=flags["ascii"])


def _plain_paint(ascii_only: bool) -> Paint:
    from handoff_core.board.paint import Paint

    return Paint(ascii_only=ascii_only)


def _columns() -> int | None:
    """Return the width that `COLUMNS` names, None if it is no whole number."""
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_AGE else None


def _terminal_size(streams: Streams) -> tuple[int, int]:
    try:
        size = os.get_terminal_size(streams.stdout.fileno())  # type: ignore[union-attr]
    except (OSError, ValueError, AttributeError):
        return 80, 24
    return size.columns or 80, size.lines or 24


def _wants_colour(flags: dict[str, Any], *, terminal: bool) -> bool:
    """Say whether colour is used: the flags beat the variables, the variables beat the terminal."""
    if flags["color"] or flags["no_color"]:
        return bool(flags["color"])
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (terminal and os.environ.get("TERM") != "dumb")
