"""Which Non-Goals of the PRD were reworded or removed since the last commit (route.md 9.4.1).

Asks git and reads one file of the tree; the rules about overrides are the router's. Imports `git`, `ledger`, `records`.
"""

from __future__ import annotations

import os

from handoff_core import git
from handoff_core.errors import HandoffError
from handoff_core.jsonl import JsonError, decode
from handoff_core.ledger import read_bytes
from handoff_core.records import PRD_PATH

TREE_LIMIT = 4_000_000
"""Bytes of the tree's file at most."""


def changed_non_goals(root: str) -> list[str] | None:
    """Return the ids whose row at HEAD is reworded or gone in the tree, by code point; None if that is unknown."""
    try:
        committed = _committed(root)
        before = non_goals(decode(committed)) if committed is not None else {}
        if not before:
            return []
        now = non_goals(decode(_in_tree(root)))
    except (git.GitError, HandoffError, JsonError):
        return None
    return sorted(non_goal for non_goal, row in before.items() if now.get(non_goal) != row)


def non_goals(text: str) -> dict[str, str]:
    """Return the Non-Goals rows of a document by id, each as its whole trimmed line; a repeated id keeps the last."""
    import re

    row = re.compile(r" {0,3}\|[ \t]*(NG-[0-9]+)[ \t]*\|")
    matches = ((row.match(line), line) for line in text.split("\n"))
    return {match[1]: line.strip() for match, line in matches if match}


def _committed(root: str) -> bytes | None:
    """Return the document at HEAD, None without a repository, a commit or the document; raise GitError."""
    if not git.has_commit(root):
        return None
    listed = git.run(root, "ls-tree", "-z", "HEAD", "--", PRD_PATH).split(b"\0")[0]
    if not listed:
        return None
    mode, kind, name = listed.split(b"\t", 1)[0].split(b" ")
    if kind != b"blob" or mode == b"120000":
        raise git.GitError(f"{PRD_PATH} is no regular file at HEAD")
    return git.run(root, "cat-file", "blob", name.decode("ascii"))


def _in_tree(root: str) -> bytes:
    """Return the document in the tree, empty if it is missing; raise HandoffError if it cannot be read."""
    path = os.path.join(root, *PRD_PATH.split("/"))
    try:
        data = read_bytes(path, PRD_PATH, TREE_LIMIT + 1)
    except HandoffError:
        if os.path.isdir(os.path.dirname(path)):
            raise
        data = None  # `docs` is no folder, so the document is missing
    if data is not None and len(data) > TREE_LIMIT:
        raise HandoffError(f"{PRD_PATH} is larger than {TREE_LIMIT} bytes")
    return data or b""
