#!/usr/bin/env python3
"""Put the judging modules of this folder into the two hook files as text; with `--check`, only say whether they differ.

Run `python3 .claude/hooks/source/embed.py` after a change to a module here. A test fails while they differ.
"""

from __future__ import annotations

import os
import sys
import textwrap

FOLDER = os.path.dirname(os.path.abspath(__file__))
START = "TEXTS = {"
WORDS = ("# Words, from the table of commands by embed.py.\nWORDS = frozenset(\n", "TO_WORDS")
END = '\nif __name__ == "__main__":'
CARRIED = {
    "handoff-allow.py": ("allow_judge",),
    "handoff-log-guard.py": (
        "guard_start",
        "guard_json",
        "guard_words",
        "guard_plain",
        "guard_expand",
        "guard_paths",
        "guard_match",
        "guard_layout",
        "guard_shell",
        "guard_syntax",
        "guard_options",
        "guard_places",
        "guard_commands",
        "guard_builtins",
        "guard_wrappers",
        "guard_operands",
        "guard_copies",
        "guard_writers",
        "guard_search",
        "guard_git",
        "guard_programs",
        "guard_code",
        "guard_files",
        "guard_payload",
    ),
}


def read(path: str) -> str:
    """Return the text of a file."""
    with open(path, encoding="utf-8", newline="") as opened:
        return opened.read()


def embedded(name: str) -> str:
    """Return the hook file's text with its modules as they stand in this folder."""
    hook = read(os.path.join(os.path.dirname(FOLDER), name))
    head, _, rest = hook.partition("\n" + START)
    _, marker, tail = rest.rpartition(END)
    if WORDS[0] in head:
        head = with_words(head)
    texts = "".join(entry(module) for module in CARRIED[name])
    return f"{head}\n{START}\n{texts}}}\n{marker}{tail}"


def with_words(head: str) -> str:
    """Return the head of the guard with the words out of its table of commands."""
    sys.path.insert(0, FOLDER)
    import guard_commands

    before, start, rest = head.partition(WORDS[0])
    lines = textwrap.wrap(" ".join(guard_commands.telling_words()), 105)
    words = "\n".join(f'        b" {line}"' for line in lines)
    return f"{before}{start}    (\n{words}\n    ).split()\n)\n{WORDS[1]}{rest.partition(WORDS[1])[2]}"


def entry(module: str) -> str:
    """Return one module as an entry of the table of texts; raise ValueError if it can't stand in a raw text."""
    text = read(os.path.join(FOLDER, module + ".py"))
    if "'''" in text or not text.endswith("\n"):
        raise ValueError(
            f"{module}.py can't be carried as a raw text: it holds three single quotes or lacks a line end"
        )
    return f"    \"{module}\": r'''\n{text}''',\n"


def main(arguments: list[str]) -> int:
    """Write the hook files, or compare them, and return the exit code."""
    for name in CARRIED:
        path = os.path.join(os.path.dirname(FOLDER), name)
        text = embedded(name)
        if text == read(path):
            continue
        if "--check" in arguments:
            sys.stderr.write(f"{name} does not carry the modules as they stand; run embed.py\n")
            return 1
        with open(path, "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
