"""Helpers for the tests of init and doctor: trees as values, and settings as people write them."""

from __future__ import annotations

import os
import stat

Tree = dict[str, tuple[str, bytes]]


def snapshot(root: str) -> Tree:
    """Return every file and folder below `root`: its kind and mode, and its bytes; compiled files are left out."""
    found: Tree = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
        for name in (*folders, *names):
            full = os.path.join(folder, name)
            path = os.path.relpath(full, root).replace(os.sep, "/")
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                found[path] = ("link", os.fsencode(os.readlink(full)))
            elif stat.S_ISDIR(status.st_mode):
                found[path] = ("folder", b"")
            else:
                with open(full, "rb") as opened:
                    found[path] = (f"file {stat.S_IMODE(status.st_mode):04o}", opened.read())
    return found


def changed(before: Tree, after: Tree) -> list[str]:
    """Return the paths that differ between two trees, for a message that can be read."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


FOREIGN_GROUP = """\
{
    "model": "opus",
    "limit": 1.50,
    "name": "caf\\u00e9",
    "hooks": {
        "PostToolUse": [],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./lint.sh"}]}
        ]
    },
    "permissions": {"deny": ["Read(./.env)"]}
}
"""
SETTINGS = {
    "no settings": None,
    "an empty object": "{}",
    "an empty object and a line end": "{}\n",
    "an empty object with a blank in it": "{ }\n",
    "an empty object over two lines": "{\n}\n",
    "an empty list of hooks": '{\n  "hooks": {\n    "PreToolUse": [ ]\n  }\n}\n',
    "an empty table of hooks": '{"hooks": { }}',
    "an empty table over two lines": '{\n  "hooks": {\n  }\n}\n',
    "other keys": '{\n  "theme": "dark"\n}\n',
    "no line end": '{\n  "theme": "dark"\n}',
    "somebody's own hooks": FOREIGN_GROUP,
    "tabs": '{\n\t"hooks": {\n\t\t"PreToolUse": []\n\t},\n\t"z": [1, 2]\n}\n',
    "Windows line ends": '{\r\n  "a": 1,\r\n  "hooks": {}\r\n}\r\n',
    "one line": '{"a": 1, "hooks": {"PreToolUse": [{"matcher": "X", "hooks": []}]}}\n',
    "no blanks": '{"a":1,"hooks":{"PreToolUse":[]},"b":2}',
    "odd layout": '{ "a" : 1\n,  "hooks" : { "PreToolUse" : [ { "matcher" : "X" , "hooks" : [ ] } ] } }\n\n',
}
"""Claude Code settings as people have them, by what is special about them."""
