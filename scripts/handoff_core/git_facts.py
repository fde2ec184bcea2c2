"""What a repository says of commits and of its work tree. Imports `git` alone."""

from __future__ import annotations

import os

from handoff_core import git


def resolve_commit(folder: str, commit: str) -> str | None:
    """Return the full id of the one commit that begins with `commit`, ignoring case (gate.md 2).

    None if there is none, if there are several, if a branch or a tag of that name is in the way, and without Git.
    """
    try:
        printed = git.run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}")
    except git.GitError:
        return None
    lines = printed.decode("ascii", "replace").split()
    return lines[0] if len(lines) == 1 and lines[0].startswith(commit.lower()) else None


def work_tree(folder: str) -> tuple[str, str] | None:
    """Return the top of the work tree around `folder` and the folder's path in it, empty or with a slash at its end.

    None where no work tree holds the folder, and without Git.
    """
    try:
        if git.run(folder, "rev-parse", "--is-inside-work-tree").strip() != b"true":
            return None
        top = git.run(folder, "rev-parse", "--show-toplevel")
        prefix = git.run(folder, "rev-parse", "--show-prefix")
    except git.GitError:
        return None
    return os.fsdecode(top.removesuffix(b"\n")), os.fsdecode(prefix.removesuffix(b"\n"))


def changed_paths(top: str, *folders: str) -> list[str]:
    """Return the paths that `git status` names, relative to the top of the work tree.

    An untracked folder is one path with a slash at its end; with `folders`, every untracked file in them is named.
    Raises git.GitError.
    """
    depth = "all" if folders else "normal"
    printed = git.run(
        top, *git.no_filters(top), "status", "--porcelain=v1", "-z", f"--untracked-files={depth}",
        "--no-renames", "--ignore-submodules=dirty", "--", *folders,
    )  # fmt: skip
    return [os.fsdecode(entry[3:]) for entry in printed.split(b"\0") if entry]
