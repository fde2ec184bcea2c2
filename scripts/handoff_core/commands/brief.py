"""`validate HANDOFF.md`: reads a brief and the facts of its repository, and prints the verdict of the gate.

Follows gate.md 1, 2 and 8. Runs none but read-only Git commands and writes nothing.
"""

from __future__ import annotations

import os
import stat

from handoff_core.brief.answer import FORMATS
from handoff_core.brief.gate import SIZE_LIMIT, YES, GitFacts, judge, judge_unreadable
from handoff_core.errors import DONE, REFUSED, HandoffError, os_text
from handoff_core.git import GitError
from handoff_core.git_facts import changed_paths, resolve_commit, work_tree
from handoff_core.jsonl import JsonError, decode, parse
from handoff_core.layout import find_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.text import Streams

FILESET_FILES = frozenset(
    {
        "BOARD.md",
        "HANDOFF.llm.json",
        "HANDOFF.md",
        "HANDOFF.summary.json",
        "LEDGER.jsonl",
        "ROUTE.json",
        "TOOLS.md",
        "manifest.json",
        "redactions.json",
        "timeline.jsonl",
    }
)
"""The names that a fileset gives its files (capture.md 10): no manifest makes another file its own."""

MANIFEST_LIMIT = 16 * 1024 * 1024
SCRATCH = ".scratch"


def validate_brief(
    streams: Streams,
    *,
    target: str,
    json: bool = False,
    format: str | None = None,  # noqa: A002 - the flag's name on the command line
    require_clean: bool = False,
    root: str | None = None,
    **_project: Any,
) -> int:
    """Print the answer of the gate for one brief and return 0 for `VALID: YES`, else 1 (gate.md 1).

    A target that cannot be read is one line on stderr and 1.
    """
    try:
        data = read_file(target, SIZE_LIMIT + 1)
    except HandoffError as error:
        return streams.report(error)
    facts = git_facts(os.path.abspath(target), find_root(root))
    if len(data) > SIZE_LIMIT:
        verdict = judge_unreadable(f"the file is larger than {SIZE_LIMIT} bytes", facts, require_clean=require_clean)
    else:
        try:
            verdict = judge(decode(data), facts, require_clean=require_clean)
        except JsonError as error:
            verdict = judge_unreadable(error.reason, facts, require_clean=require_clean)
    streams.out(FORMATS["json" if json else format or "text"](verdict, target))
    return DONE if verdict.valid() == YES else REFUSED


def read_file(path: str, limit: int) -> bytes:
    """Return the first `limit` bytes of a regular file; raise HandoffError for a link or any other kind of file."""
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NOCTTY"):
        flags |= getattr(os, name, 0)
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise HandoffError(f"{path} is a symbolic link, not a regular file; name the file itself")
        descriptor = os.open(path, flags)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise HandoffError(f"{path} is not a regular file")
            return _read_up_to(descriptor, limit)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise HandoffError(f"cannot read {path}: {os_text(error)}") from None
    except ValueError as error:
        raise HandoffError(f"cannot read {path}: {error}") from None


def _read_up_to(descriptor: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(descriptor, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def git_facts(path: str, root: str) -> GitFacts | None:
    """Return what Git knows of the work tree that holds the file `path`; None without a repository or without Git."""
    folder = os.path.dirname(path)
    found = work_tree(folder)
    if found is None:
        return None

    def resolve(commit: str) -> str | None:
        return resolve_commit(folder, commit)

    return GitFacts(resolve, _dirty(*found, path, root))


def _dirty(top: str, prefix: str, path: str, root: str) -> list[str] | None:
    """Return the changed paths that count against the brief, None where Git does not tell (gate.md 2)."""
    folder, name = os.path.split(path)
    own = {prefix + file for file in {name} | _own_files(folder, name)}
    try:
        changed = changed_paths(top)
        for entry in list(changed):
            if entry.endswith("/") and prefix.startswith(entry):
                changed.remove(entry)  # an untracked folder around the brief: look at what is in it
                changed += changed_paths(top, entry)
    except GitError:
        return None
    scratch = (SCRATCH + "/", _scratch_of(root, top))
    return [entry for entry in changed if entry not in own and not entry.startswith(scratch)]


def _scratch_of(root: str, top: str) -> str:
    """Return the project's own `.scratch/` relative to the top of the work tree."""
    try:
        relative = os.path.relpath(os.path.realpath(root), os.path.realpath(top)).replace(os.sep, "/")
    except ValueError:  # two drives
        relative = "."
    return f"{SCRATCH}/" if relative == "." else f"{relative}/{SCRATCH}/"


def _own_files(folder: str, name: str) -> set[str]:
    """Return the names beside a brief that belong to its fileset, empty where no manifest lists the brief."""
    try:
        manifest = parse(decode(read_file(os.path.join(folder, "manifest.json"), MANIFEST_LIMIT + 1)))
    except (HandoffError, JsonError):
        return set()
    files = manifest.get("files") if isinstance(manifest, dict) else None
    entries = [entry for entry in files if isinstance(entry, dict)] if isinstance(files, list) else []
    listed = {own for own in FILESET_FILES if any(entry.get("name") == own for entry in entries)}
    return listed | {"manifest.json"} if name in listed else set()
