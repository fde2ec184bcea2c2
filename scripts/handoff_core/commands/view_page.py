"""Writes the page of `view --html`: beside its place, then renamed, and never over a file that is no board.

Follows view.md 11.7.
"""

from __future__ import annotations

import os
import stat

from handoff_core.errors import HandoffError, os_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handoff_core.layout import Project

SIGN = b'<meta name="generator" content="handoff view">'
SIGN_BYTES = 400
FIX = "choose another file"


def write_page(path: str, page: str, project: Project) -> None:
    """Write `page` to `path`; raise HandoffError if the place is refused or cannot be written."""
    reason = refusal(path, project)
    if reason:
        raise HandoffError(f"cannot write {path}: {reason}; {FIX}")
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(page.encode("utf-8"))
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError) as error:
        words = os_text(error) if isinstance(error, OSError) else str(error)
        raise HandoffError(f"cannot write {path}: {words}") from None


def refusal(path: str, project: Project) -> str:
    """Return why a place is not written to, empty if it may be."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        return os_text(error) if isinstance(error, OSError) else str(error)
    real = os.path.realpath(path)
    for guarded, name in ((project.log, "log"), (project.seal, "seal"), (project.lock, "lock")):
        if real == os.path.realpath(guarded):
            return f"it is the {name}"
    if mode is None:
        return ""
    if stat.S_ISDIR(mode):
        return "it is a folder"
    if stat.S_ISLNK(mode):
        return "it is a link"
    return "" if stat.S_ISREG(mode) and _is_board(path) else "it exists and is no board"


def _is_board(path: str) -> bool:
    try:
        with open(path, "rb") as opened:
            return SIGN in opened.read(SIGN_BYTES)
    except OSError:
        return False
