"""`view --watch`: shows the board again whenever something on it changes.

Follows view.md 12. What is shown differs by where it goes: frames on a terminal, a line per change elsewhere, a JSON
object per change, or a page that is replaced.
"""

from __future__ import annotations

import os
import time

from handoff_core.board.clock import iso
from handoff_core.board.words import NAMELESS, STATES
from handoff_core.errors import DONE, INTERRUPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.paint import Line, Paint
    from handoff_core.commands.view import Options, Printer
    from handoff_core.commands.view_source import BoardSource
    from handoff_core.text import Streams

    Board = dict[str, Any]

GLANCE_SECONDS = 0.1
"""Seconds between two looks at the size of the terminal."""

BUSY_SHARE = 5
"""A board is made again no sooner than after this many times the time it took, however often it is looked at."""

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
HOME, CLEAR_LINE, CLEAR_BELOW, BELL = "\x1b[H", "\x1b[K", "\x1b[J", "\x07"


def watch(streams: Streams, source: BoardSource, options: Options, printer: Printer) -> int:
    """Follow the ledger until interrupted, or until what `--until` waits for; return the exit code."""
    shown = _screen(streams, options, printer)
    try:
        shown.begin()
        return _follow(source, options, shown)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        shown.end()


def _screen(streams: Streams, options: Options, printer: Printer) -> _Screen:
    if options.json:
        return _JsonLines(streams, options, printer)
    if options.html is not None or options.markdown:
        return _Whole(streams, options, printer)
    if streams.is_terminal("stdout"):
        return _Terminal(streams, options, printer)
    return _Changes(streams, options, printer)


def _follow(source: BoardSource, options: Options, shown: _Screen) -> int:
    before: tuple[object, ...] | None = None
    while True:
        started = time.monotonic()
        signature = source.signature()
        board = source.board()
        shown.show(board, source, changed=signature != before)
        before = signature
        if options.until and is_over(board, options):
            return DONE
        took = time.monotonic() - started
        shown.wait(max((options.seconds or 0) - took, took * BUSY_SHARE, 0.0))


def watched(board: Board, options: Options) -> list[Board]:
    """Return the slices that are shown, as lines of the list: the one asked for, or all of them."""
    if options.req_id is None:
        return list(board["slices"])
    return [each for each in board["slices"] if board["boards"] and each["req_id"] == board["boards"][0]["req_id"]]


def is_over(board: Board, options: Options) -> bool:
    """Say whether what `--until` waits for has come."""
    slices = watched(board, options)
    if options.until == "you":
        return any(each["person"] for each in slices)
    # With --open the list leaves out what is done, so an empty one of a log with slices is all done.
    some = slices or (options.req_id is None and board["log"]["slices"])
    return bool(some) and all(each["state"] == "done" for each in slices)


class _Screen:
    """Where a followed board is shown."""

    def __init__(self, streams: Streams, options: Options, printer: Printer) -> None:
        self.streams = streams
        self.options = options
        self.printer = printer
        self.facts: object = None

    def begin(self) -> None:
        """Make ready."""

    def show(self, board: Board, source: BoardSource, *, changed: bool) -> None:
        """Show a Board; `changed` says that a file it is made from did."""
        raise NotImplementedError

    def wait(self, seconds: float) -> None:
        """Wait until the next look."""
        time.sleep(seconds)

    def end(self) -> None:
        """Leave the screen as it was found."""

    def is_news(self, board: Board, *, changed: bool) -> bool:
        """Say whether a file changed, or, by the clock alone, a state or a headline."""
        facts = [(each["req_id"], each["state"], each["headline"]) for each in board["slices"]]
        news = changed or facts != self.facts
        self.facts = facts
        return news


class _JsonLines(_Screen):
    def show(self, board: Board, source: BoardSource, *, changed: bool) -> None:
        """Print the Board as one line."""
        if self.is_news(board, changed=changed):
            self.streams.out(self.printer.text(board, source.zone, one_line=True))


class _Whole(_Screen):
    """The page or the Markdown document, whole at each change."""

    told = False

    def show(self, board: Board, source: BoardSource, *, changed: bool) -> None:
        """Replace the page and name its file the first time, or print the document."""
        if not self.is_news(board, changed=changed):
            return
        if self.options.html in (None, "-"):
            self.streams.out(self.printer.text(board, source.zone, self.options.seconds))
            return
        self.printer.write_page(board, source.zone, self.options.seconds)
        if not self.told:
            self.streams.out(f"{self.options.html}\n")
            self.told = True


class _Changes(_Screen):
    """One line for each change of a slice's state or headline, and of the log's."""

    def __init__(self, streams: Streams, options: Options, printer: Printer) -> None:
        super().__init__(streams, options, printer)
        self.known: dict[object, tuple[str, str]] = {}
        self.log_state = ""

    def show(self, board: Board, source: BoardSource, *, changed: bool) -> None:
        """Print what changed."""
        del source, changed
        stamp, log = iso(board["generated"]["at"]), board["log"]
        if log["state"] != self.log_state and log["state"] in LOG_WORDS:
            self.streams.out(f"{stamp} {log['path']} {log['state'].upper()} {LOG_WORDS[log['state']]}\n")
        self.log_state = log["state"]
        for each in watched(board, self.options):
            now = (each["state"], each["headline"])
            if self.known.get(each["req_id"]) != now:
                self.known[each["req_id"]] = now
                word = STATES[each["state"]][0]
                self.streams.out(f"{stamp} {each['req_id'] or NAMELESS} {word} {each['headline']}\n")


LOG_WORDS = {
    "missing": "There is no handoff log.",
    "unreadable": "The log cannot be read.",
    "empty": "The handoff log is empty.",
    "dirty": "The log is damaged; route stops every slice.",
}


class _Terminal(_Screen):
    """Frames on the alternate screen, redrawn in place."""

    def __init__(self, streams: Streams, options: Options, printer: Printer) -> None:
        super().__init__(streams, options, printer)
        self.last: tuple[Board, BoardSource] | None = None
        self.frame = ""
        self.needed: set[object] | None = None
        self.size = (0, 0)

    def begin(self) -> None:
        """Enter the alternate screen and hide the cursor."""
        self.streams.out(ENTER)

    def show(self, board: Board, source: BoardSource, *, changed: bool) -> None:
        """Draw a frame if it differs from the last one; ring when a slice begins to need a person."""
        del changed
        self.last = (board, source)
        self._draw()
        needed: set[object] = {each["req_id"] for each in watched(board, self.options) if each["person"]}
        if self.options.bell and self.needed is not None and needed - self.needed:
            self.streams.out(BELL)
        self.needed = needed

    def wait(self, seconds: float) -> None:
        """Wait, and draw again as soon as the terminal's size changes."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(GLANCE_SECONDS, left))
            if self._size() != self.size:
                self._draw()

    def end(self) -> None:
        """Leave the alternate screen and print what happens now where it can be read later."""
        from handoff_core.board.terminal import banner, log_banner

        text = LEAVE
        if self.last is not None:
            board, source = self.last
            view = self.printer.view(source.zone)
            lines = log_banner(board, view) if board["problems"] else []
            for each in board["boards"]:
                lines += banner(each, view)
            text += view.paint.print(lines)
        try:
            self.streams.out(text)
        except (BrokenPipeError, OSError, ValueError):
            return

    def _size(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(self.streams.stdout.fileno())  # type: ignore[union-attr]
        except (OSError, ValueError, AttributeError):
            return 80, 24
        return size.columns or 80, size.lines or 24

    def _draw(self) -> None:
        from handoff_core.board.terminal import page

        if self.last is None:
            return
        board, source = self.last
        size = self._size()
        view = self.printer.view(source.zone)
        frame = frame_of(page(board, view), view.paint, size[1])
        if frame != self.frame or size != self.size:
            self.streams.out(frame)
        self.frame, self.size = frame, size


def frame_of(lines: list[Line], paint: Paint, height: int) -> str:
    """Return one frame: as many whole lines as fit, each cleared to its end, and how many more there are."""
    rows = paint.print(lines).split("\n")[:-1]
    if len(rows) > height:
        hidden = len(rows) - height + 1
        rows = [*rows[: height - 1], paint.spell(f"… {hidden} more lines")]
    return HOME + "\n".join(f"{row}{CLEAR_LINE}" for row in rows) + CLEAR_BELOW
