"""The command line: one table of commands, strict flags, and the one place that turns an error into text.

Follows ledger.md 3 and product.md, Commands. A command's module is imported only when it is called.
"""

from __future__ import annotations

import gc
import os
import sys

from handoff_core.errors import DONE, INTERRUPTED, REFUSED, HandoffError, UsageError, quick_signal
from handoff_core.text import Streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, BinaryIO, NoReturn

PROGRAM = "handoff.py"
SCHEMA_VERSION = 1


class Flag:
    """One argument of a command: its names and what argparse is told about it."""

    __slots__ = ("names", "options")

    def __init__(self, *names: str, **options: Any) -> None:
        self.names = names
        self.options = options

    @property
    def positional(self) -> bool:
        """Say whether this is an argument without a dash."""
        return not self.names[0].startswith("-")

    @property
    def many(self) -> bool:
        """Say whether any number of words may be given."""
        return self.options.get("nargs") == "*"

    @property
    def dest(self) -> str:
        """Return the keyword that a command takes the value under."""
        return str(self.options.get("dest") or self.names[0].lstrip("-").replace("-", "_"))

    @property
    def default(self) -> Any:
        """Return the value without the flag."""
        if self.options.get("action") == "store_true":
            return False
        default = self.options.get("default")
        return list(default) if isinstance(default, list) else default

    def take(self, options: dict[str, Any], waiting: list[str], value: str | None) -> bool:
        """Put the flag's value into `options`, a separate one from the end of `waiting`; say whether it is plain."""
        action = self.options.get("action")
        if action == "store_true":
            options[self.dest] = True
            return value is None
        if value is None and self.options.get("nargs") == "?":
            if waiting and not waiting[-1].startswith("-"):
                return False
            options[self.dest] = self.options["const"]
            return True
        if value is None:
            value = waiting.pop() if waiting else "-"
            if value.startswith("-") and value[1:2] not in tuple("0123456789"):  # -5 and -05:00 are values
                return False
        if value not in self.options.get("choices", (value,)):
            return False
        options[self.dest] = [*options[self.dest], value] if action == "append" else value
        return True


class Command:
    """One row of COMMANDS: `function` of `handoff_core.commands.<module>` runs it with the flags as keywords."""

    __slots__ = ("flags", "function", "help", "module", "name")

    def __init__(self, name: str, module: str, function: str, help_text: str, *flags: Flag) -> None:
        self.name = name
        self.module = module
        self.function = function
        self.help = help_text
        self.flags = flags


def switch(name: str, help_text: str, **options: Any) -> Flag:
    """Return a flag without a value."""
    return Flag(name, action="store_true", help=help_text, **options)


def value(name: str, metavar: str, help_text: str, **options: Any) -> Flag:
    """Return a flag with one value."""
    return Flag(name, metavar=metavar, help=help_text, **options)


def values(name: str, metavar: str, help_text: str) -> Flag:
    """Return a flag that may be given several times."""
    return Flag(name, metavar=metavar, help=help_text, action="append", default=[])


ROOT = value(
    "--root", "DIR", "the project root (default: the nearest folder with .scratch, scripts/handoff.py or .git)"
)
PROJECT = (
    ROOT,
    value("--file", "LOG", "the ledger (default: .scratch/handoff.jsonl under the root)"),
    value("--schemas", "DIR", "the schema folder (default: schemas/scratch under the root, else the shipped ones)"),
    value("--layout", "FILE", "the layout (default: scripts/layout.toml under the root)"),
)
REQ_ID = value("--req-id", "ID", "the slice")
JSON = switch("--json", "print JSON")

# fmt: off
COMMANDS = (
    Command(
        "append",
        "append",
        "append",
        "check one record from stdin and add it to the ledger as one line",
        Flag("type", help="the record type, such as build-pass"),
        value("--record", "FILE", "read the record from FILE instead of stdin (- is stdin)"),
        switch("--dry-run", "print the line that would be written and write nothing"),
        switch("--as-engine", "sign a review-plan as review-plan-engine"),
        *PROJECT,
    ),
    Command(
        "route",
        "route",
        "route",
        "print the one next step, computed from the ledger",
        value("--req-id", "ID", "decide on this slice (default: the slice of the last line)"),
        value("--at", "LINE", "decide as if the ledger ended after this line"),
        switch("--all", "print a JSON array with one decision for each slice"),
        Flag(
            "--explain",
            nargs="?",
            const="json",
            choices=("json", "text"),
            metavar="json|text",
            help="also show each row that was tried",
        ),
        switch("--exit-code", "exit 0 for dispatch, 10 for escalate, 11 for blocked"),
        switch("--rules", "print the rule table and stop"),
        Flag(
            "--format",
            choices=("text", "markdown", "json", "mermaid"),
            metavar="FORMAT",
            help="the form of --rules: text, markdown, json or mermaid",
        ),
        *PROJECT,
    ),
    Command(
        "latest",
        "query",
        "latest",
        "print the last record of a type",
        value("--type", "T", "the record type", required=True),
        value("--req-id", "R", "only records of this slice"),
        switch("--with-line", "put the line number and a tab before the record"),
        switch("--pretty", "print the record indented, under its line number"),
        *PROJECT,
    ),
    Command(
        "next-retry",
        "query",
        "next_retry",
        "print the number that the next build-failure must carry",
        value("--req-id", "R", "the slice", required=True),
        *PROJECT,
    ),
    Command(
        "show",
        "query",
        "show",
        "print raw entries for people, damage included",
        value("--last", "N", "how many entries at the end (default 10; 0 means all)", default="10"),
        value("--type", "T", "only records of this type"),
        value("--req-id", "R", "only records of this slice"),
        switch("--json", "print one record a line and nothing else"),
        switch("--follow", "go on printing new entries until interrupted"),
        *PROJECT,
    ),
    Command(
        "validate",
        "validate",
        "validate",
        "check the whole ledger and its seal, or a HANDOFF.md",
        Flag("targets", nargs="*", metavar="TARGET", help="a ledger, or a brief whose name ends in .md"),
        Flag(
            "--format",
            choices=("text", "json", "github", "sarif"),
            metavar="FORMAT",
            help="text (default), json, github or sarif",
        ),
        switch("--json", "the same as --format json"),
        switch("--strict", "turn warnings into errors"),
        switch("--require-seal", "a missing seal is an error"),
        switch("--require-clean", "a brief whose repository holds uncommitted changes is not valid"),
        switch("--allow-missing", "a missing ledger counts as an empty one"),
        switch("--quiet", "print no warnings, no notes and no result line"),
        switch("--repair-tail", "move a torn last line out of the way"),
        *PROJECT,
    ),
    Command(
        "view",
        "view",
        "view",
        "show the board: where every slice stands",
        value("--req-id", "ID", "the board of this slice only"),
        switch("--all", "the slice list, then every board"),
        switch("--list", "the slice list only"),
        values("--agent", "A", "only steps and findings of this agent; may be repeated"),
        values("--type", "T", "only steps that hold a record of this type; may be repeated"),
        value("--since", "WHEN", "only what is newer: L<line>, <n>s, <n>m, <n>h, <n>d or a stamp"),
        switch("--open", "only open dispatches and findings"),
        Flag("--verbose", "-v", action="store_true", help="whole texts, all marks and facets"),
        switch("--brief", "only the head, what happens now and the findings that are not closed"),
        switch("--color", "force colour"),
        switch("--no-color", "forbid colour"),
        switch("--markdown", "print GitHub Markdown"),
        switch("--json", "print the board as JSON"),
        value("--html", "FILE", "write one HTML file (- is stdout)"),
        switch("--ascii", "print nothing outside ASCII"),
        value("--tz", "ZONE", "zone of printed times: UTC, local, an IANA name or +hh:mm"),
        value("--at", "LINE", "the board as of this line"),
        value("--now", "STAMP", "this moment instead of the clock"),
        Flag("--watch", nargs="?", const="", metavar="SECONDS", help="follow the ledger"),
        Flag("--until", choices=("you", "done"), metavar="you|done", help="with --watch: stop then"),
        switch("--bell", "with --watch: ring when a person must act"),
        switch("--no-cost", "read no transcripts"),
        value("--projects", "DIR", "the folder with transcripts"),
        *PROJECT,
    ),
    Command(
        "audit-autofix",
        "audit",
        "audit_autofix",
        "check that document fixes by root stay inside their bounds",
        *PROJECT,
    ),
    Command(
        "build",
        "capture",
        "build",
        "pack a session into a sealed fileset",
        Flag("sources", nargs="*", metavar="SOURCE", help="the session's file, database or folder"),
        value("--from", "HARNESS", "the reader (default: by content)", dest="from_", default="auto"),
        switch("--latest", "the session of this project that was written last"),
        switch("--list", "print the sessions found and stop"),
        value("--session", "ID", "pick, name or find the session"),
        value("--project-dir", "DIR", "sessions of this working folder (* means all)"),
        value("--out", "DIR", "the folder that becomes the fileset"),
        switch("--subagents", "also capture the transcripts of subagents"),
        value("--harness", "NAME", "override the harness's name"),
        value("--model", "NAME", "override the model's name"),
        value("--project", "NAME", "override the project's name"),
        value("--objective", "TEXT", "override the objective"),
        value("--req-id", "REQ", "join this slice of the ledger"),
        switch("--allow-bad-lines", "go on without damaged records"),
        switch("--no-redact", "keep secrets"),
        values("--include", "GLOB", "which files of a folder count; may be repeated"),
        values("--exclude", "GLOB", "which files do not count; may be repeated"),
        switch("--json", "print one JSON object"),
        switch("--quiet", "print no result line, no notes, no progress"),
        *PROJECT,
    ),
    Command(
        "verify",
        "verify",
        "verify",
        "check that a fileset is whole and unchanged",
        Flag("fileset", metavar="DIR|ID", help="the fileset's folder or its session id"),
        values("--against", "SOURCE", "derive the fileset again from its source; may be repeated"),
        JSON,
        ROOT,
    ),
    Command(
        "init",
        "init",
        "init",
        "wire this repository for handoff, upgrade or remove it",
        value("--harness", "LIST", "harnesses to wire: auto, all, none, or names joined by commas"),
        switch("--dry-run", "write nothing, show what would be done"),
        switch("--diff", "show each change as a diff"),
        switch("--uninstall", "remove what init wrote and nobody changed"),
        switch("--force", "replace files that somebody changed, keeping the old ones beside them"),
        switch("--shell-form", "register the hooks as one shell command, for older clients"),
        switch("--deny-rule", "add deny rules for the ledger as a second net"),
        value("--python", "CMD", "the Python command that hooks are started with (default: python3)"),
        switch("--track-ledger", "prepare the ledger for version control"),
        switch("--no-program", "leave the program itself out"),
        switch("--no-skills", "leave the skills out"),
        JSON,
        ROOT,
    ),
    Command(
        "doctor",
        "doctor",
        "doctor",
        "say what is wired, what is not, and how to mend it",
        value("--harness", "LIST", "harnesses to check: auto, all, none, or names joined by commas"),
        JSON,
        ROOT,
    ),
    Command(
        "demo",
        "demo",
        "demo",
        "play a whole slice in a throw-away folder",
        switch("--keep", "leave the folder and print its path last"),
        JSON,
    ),
    Command("completion", "shell", "completion",
        "print the completion script of a shell",
        Flag("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")),
    Command("man", "shell", "man",
        "print the manual page"),
)
# fmt: on


def console() -> NoReturn:
    """Run the program on the process's own streams and end the process; never returns."""
    gc.disable()  # a command is over before a cycle matters; a large ledger would be walked again and again
    raise_on_signals()
    streams = [getattr(stream, "buffer", None) for stream in (sys.stdin, sys.stdout, sys.stderr)]
    code = _guarded(sys.argv[1:], Streams(*streams))
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
    os._exit(code)  # all is written and closed: taking a large ledger apart object by object would only cost time


def main(argv: Sequence[str], stdin: BinaryIO | None, stdout: BinaryIO | None, stderr: BinaryIO | None) -> int:
    """Run one command and return its exit code; no input of any kind ends in a traceback.

    The streams are binary; None stands for a closed descriptor. Signals that an append held back are dropped: it was
    acknowledged.
    """
    signal = quick_signal()
    if not hasattr(signal, "pthread_sigmask"):
        return _guarded(argv, Streams(stdin, stdout, stderr))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        return _guarded(argv, Streams(stdin, stdout, stderr))
    finally:
        while held := signal.sigpending() - before:
            signal.sigwait(held)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _guarded(argv: Sequence[str], streams: Streams) -> int:
    """Run one command; turn every error into text and an exit code."""
    try:
        return _run(list(argv), streams)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        if sys.stdout is not None and streams.stdout is sys.stdout.buffer:
            silence(sys.stdout.fileno())
        return REFUSED
    except HandoffError as error:
        return streams.report(error)
    except Exception as error:  # the last net under every command
        if os.environ.get("HANDOFF_DEBUG"):
            raise
        hint = "set HANDOFF_DEBUG=1 for a traceback"
        streams.note(f"internal error: {type(error).__name__}: {error} ({hint})")
        return REFUSED


def _run(argv: list[str], streams: Streams) -> int:
    name = argv[0] if argv else ""
    command = next((row for row in COMMANDS if row.name == name), None)
    if command is None:
        return _without_command(argv, streams)
    try:
        options = plain_options(command, argv[1:])
        if options is None:
            from handoff_core.arguments import judged_options

            options = judged_options(command, argv[1:], streams)
        if options is None:
            return DONE
        module = __import__(f"handoff_core.commands.{command.module}", fromlist=[command.function])
        if command.module == "shell":
            options |= _about_the_table(command.function)
        return int(getattr(module, command.function)(streams, **options))
    except UsageError as error:
        from handoff_core.arguments import usage_line

        streams.error_text(usage_line(command) + "\n")
        return streams.report(error)


def _about_the_table(function: str) -> dict[str, Any]:
    """Return what the commands that print the table itself are handed besides their flags."""
    if function == "completion":
        return {"commands": COMMANDS}
    from handoff_core import __version__

    return {"commands": COMMANDS, "version": __version__}


def _without_command(argv: list[str], streams: Streams) -> int:
    """Answer a call that names no command: help, the version, or a usage error."""
    if argv[:1] in (["-h"], ["--help"]):
        from handoff_core.arguments import program_help

        streams.out(program_help())
        return DONE
    if argv[:1] == ["--version"]:
        from handoff_core import __version__

        streams.out(f"handoff {__version__} (schemas {SCHEMA_VERSION})\n")
        return DONE
    problem = f"unknown command '{argv[0]}'" if argv else "a command is missing"
    names = ", ".join(row.name for row in COMMANDS)
    streams.error_text(f"usage: {PROGRAM} <command> [flags]\n")
    return streams.report(UsageError(f"{problem} (commands: {names})"))


def plain_options(command: Command, arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the options of a call whose every word is plainly a declared flag, its value or an argument.

    None for anything else, help and errors among it: argparse, which costs milliseconds, is the judge of those, and
    gives the same options wherever this function gives any.
    """
    options = {flag.dest: flag.default for flag in command.flags}
    named = {flag.names[0]: flag for flag in command.flags}
    words: list[str] = []
    stray = False
    waiting = list(reversed(arguments))
    while waiting:
        word = waiting.pop()
        if not word.startswith("-"):
            stray = bool(words) and stray
            words.append(word)
            if stray:
                return None
            continue
        stray = bool(words)
        name, equals, value = word.partition("=")
        flag = named.get(name)
        if flag is None or not flag.take(options, waiting, value if equals else None):
            return None
    return options if _place(command, words, options) else None


def _place(command: Command, words: list[str], options: dict[str, Any]) -> bool:
    """Give the words without a flag to the command's arguments; say whether all is there that must be."""
    for flag in command.flags:
        if flag.positional and flag.many:
            options[flag.dest], words = words, []
        elif flag.positional:
            if not words or words[0] not in flag.options.get("choices", words):
                return False
            options[flag.dest], words = words[0], words[1:]
        elif flag.options.get("required") and options[flag.dest] is None:
            return False
    return not words


def raise_on_signals() -> None:
    """Let SIGTERM and SIGHUP interrupt a command as Ctrl-C does, so that it cleans up and exits 130."""
    signal = quick_signal()

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, interrupt)


def silence(descriptor: int) -> None:
    """Point a descriptor whose reader is gone at the null device, so that nothing complains at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
