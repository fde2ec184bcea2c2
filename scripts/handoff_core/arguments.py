"""The judge of calls that are not plainly spelled: argparse, with its help and its usage errors.

Imported only for help, for an error and for rare spellings, since argparse costs milliseconds at every start. Imports
`cli` for the table and `errors`.
"""

from __future__ import annotations

import argparse
import re

from handoff_core.cli import COMMANDS, PROGRAM
from handoff_core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from handoff_core.cli import Command
    from handoff_core.text import Streams


def judged_options(command: Command, arguments: Sequence[str], streams: Streams) -> dict[str, Any] | None:
    """Return the options of a call, None if it asked for help, which is printed; raise UsageError for a bad one."""
    parser = _parser(command)
    try:
        return vars(parser.parse_args(arguments))
    except _HelpRequestedError:
        streams.out(parser.format_help())
        return None


def usage_line(command: Command) -> str:
    """Return the usage of a command as one line."""
    return " ".join(_parser(command).format_usage().split())


def command_help(command: Command) -> str:
    """Return the help of one command."""
    return _parser(command).format_help()


def program_help() -> str:
    """Return the help of the program: its commands, a line each."""
    width = max(len(row.name) for row in COMMANDS)
    rows = "\n".join(f"  {row.name:<{width}}  {row.help}" for row in COMMANDS)
    return (
        f"usage: {PROGRAM} <command> [flags]\n\n"
        "How teams of coding agents pass work on: a sealed ledger, a computed next step, verified hand-overs.\n\n"
        f"commands:\n{rows}\n\n"
        f"`{PROGRAM} <command> --help` says more; `{PROGRAM} --version` prints the version.\n"
    )


class _HelpRequestedError(Exception):
    """Leave the parser because `--help` was given."""


class _Help(argparse.Action):
    """Ask for the help text without printing it on the process's own stdout."""

    def __call__(self, *_arguments: object) -> NoReturn:
        raise _HelpRequestedError


class _Parser(argparse.ArgumentParser):
    """A parser that reports a usage error instead of ending the process.

    A word of a dash and a digit is a value, also where it is no number: `--tz -05:00`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._negative_number_matcher = re.compile("-[0-9]")

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


class _Formatter(argparse.HelpFormatter):
    """Help of one width everywhere, whatever the terminal."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{**options, "max_help_position": 28, "width": 100})


def _parser(command: Command) -> _Parser:
    parser = _Parser(
        prog=f"{PROGRAM} {command.name}",
        description=command.help[0].upper() + command.help[1:] + ".",
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action=_Help, nargs=0, default=argparse.SUPPRESS, help="print this help")
    for flag in command.flags:
        parser.add_argument(*flag.names, **flag.options)
    return parser
