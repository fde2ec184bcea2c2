"""The one error class of the program and the exit codes it carries (product.md, Commands)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DONE = 0
REFUSED = 1
USAGE = 2
NO_MATCH = 3
NOTHING_TO_BUILD = 4
DAMAGED_SOURCE = 5
LOCK_BUSY = 75
INTERRUPTED = 130


class HandoffError(Exception):
    """Report one or more problems that end a command.

    `problems` are printed one a line in their order, `fix` is a last line that says what to do; `code` is the exit
    status (product.md, Commands).
    """

    def __init__(self, problems: str | list[str], fix: str = "", code: int = REFUSED) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        self.fix = fix
        self.code = code
        super().__init__("; ".join(self.lines()))

    def lines(self) -> list[str]:
        """Return the diagnostics without their `handoff.py: ` prefix, in the order in which they are printed."""
        return [*self.problems, self.fix] if self.fix else self.problems


class UsageError(HandoffError):
    """Report a call that cannot be understood; the usage text is printed with it (exit 2)."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, code=USAGE)


def os_text(error: OSError) -> str:
    """Return the operating system's words for `error`, such as `Permission denied`."""
    return error.strerror or str(error) or type(error).__name__


def quick_signal() -> Any:
    """Return the interpreter's signal functions without the names that cost a millisecond at every start."""
    return __import__("_signal")
