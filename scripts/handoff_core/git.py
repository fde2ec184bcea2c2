"""Asks git; the one module that starts processes. Imports nothing of ours.

Every call has fixed arguments, no pager, no editor, no hooks and no file system monitor, so that a hostile
repository configuration starts nothing (reliability.md P61).
"""

from __future__ import annotations

import os

TIMEOUT = 30.0
"""Seconds until a git command is given up."""

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of output that are read at most."""

_SAFE = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.untrackedCache=false",
    "-c", "core.quotePath=false",
    "-c", "core.attributesFile=/dev/null",
    "-c", "diff.external=",
    "-c", "submodule.recurse=false",
    "-c", "protocol.allow=never",
)  # fmt: skip


class GitError(Exception):
    """Say that git could not be asked: not installed, too slow, too much output, or it failed."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def run(root: str, *arguments: str) -> bytes:
    """Return what `git <arguments>` prints when it is run in `root`.

    Raises GitError, with git's exit status where it ran, if it cannot be started, ends with another status than 0,
    runs for more than 30 seconds or prints more than 64 MiB.
    """
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 - fixed program, arguments of ours
            ["git", *_SAFE, *arguments],  # noqa: S607 - git is found on the person's own PATH
            cwd=root,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"git did not answer within {TIMEOUT:.0f} seconds") from None
    except (OSError, ValueError) as error:
        raise GitError(f"git cannot be started: {error}") from None
    if done.returncode != 0:
        detail = done.stderr.decode("utf-8", "replace").strip().split("\n", 1)[0]
        raise GitError(detail or f"git ended with status {done.returncode}", done.returncode)
    if len(done.stdout) > OUTPUT_LIMIT:
        raise GitError(f"git printed more than {OUTPUT_LIMIT} bytes")
    return done.stdout


def has_commit(root: str) -> bool | None:
    """Say whether the repository around `root` has a commit; None where there is no repository.

    Raises GitError if git cannot be asked.
    """
    try:
        run(root, "rev-parse", "--git-dir")
    except GitError as error:
        if error.status == 128 and not _broken_repository(root):
            return None
        raise
    try:
        run(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitError as error:
        if error.status == 1:
            return False
        raise
    return True


def _broken_repository(root: str) -> bool:
    """Say whether a `.git` entry stands at or above `root`: then git's refusal is a failure, not an absence."""
    folder = os.path.realpath(root)
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


def _environment() -> dict[str, str]:
    """Return the person's environment without the variables that point git elsewhere or make it run something."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}


def last_commit_time(root: str, *paths: str) -> int | None:
    """Return the committer time of the last commit that touches `paths`, in seconds; None if there is none.

    Paths are relative to `root`. Raises GitError if git cannot be asked.
    """
    printed = run(root, "log", "-1", "--format=%ct", "--no-show-signature", "HEAD", "--", *paths).strip()
    try:
        return int(printed) if printed else None
    except ValueError:
        raise GitError("git log printed no time") from None


def dirty_paths(root: str, *paths: str) -> list[str]:
    """Return what differs from HEAD below `paths`, staged or not, deleted, untracked or ignored; relative to `root`.

    A rename is a deletion and an addition. Raises GitError if git cannot be asked.
    """
    where = run(root, "rev-parse", "--show-prefix").decode("utf-8", "surrogateescape").rstrip("\n")
    changed = run(
        root, *no_filters(root), "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--ignore-submodules=all", "HEAD", "--", *paths,
    )  # fmt: skip
    staged = run(root, "diff", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", "HEAD",
        "--", *paths)  # fmt: skip
    untracked = run(root, "ls-files", "--others", "--full-name", "-z", "--", *paths)
    names = {name for block in (changed, staged, untracked) for name in block.split(b"\0") if name}
    decoded = (name.decode("utf-8", "surrogateescape") for name in names)
    return sorted(name[len(where) :] for name in decoded if name.startswith(where))


def no_filters(root: str) -> list[str]:
    """Return git options that switch off every content filter which the repository's configuration names."""
    try:
        listed = run(
            root, "config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$"
        )
    except GitError as error:
        if error.status == 1:
            return []
        raise
    names = [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]
    return [part for name in names for part in ("-c", f"{name}=" + ("false" if name.endswith(".required") else ""))]
