"""Commands that choose their files themselves: find, xargs, parallel, ls, grep (hooks.md 4.5).

`find` is judged by walking its expression for each protected file below its roots, and for each folder on the way.
"""

from __future__ import annotations

import guard_words as marks
from guard_commands import rules
from guard_options import first_operand, has, split_options, values
from guard_paths import fold
from guard_places import folders_of, inside
from guard_words import UNKNOWN, names, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from guard_commands import Rule
    from guard_shell import Call

    Node = tuple[Any, ...]
    Truth = tuple[bool, bool]  # it may hold, it may not hold

MAYBE: Truth = (True, True)
YES: Truth = (True, False)
FIND_VALUES = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -maxdepth "
    "-mindepth -newer -anewer -cnewer -mtime -atime -ctime -mmin -amin -cmin -size -perm -user -group -uid -gid "
    "-inum -links -samefile -fstype -used -printf -fprint -fprint0 -fls -context -regextype -files0-from -newermt "
    "-newerct"
)
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")

NEUTRAL = "a-file-like-any-other"


class Entry:
    """One file or folder that find would come to: how it spells it, its depth, and whether it is a folder."""

    __slots__ = ("depth", "folder", "pruned", "runs", "spelled")

    def __init__(self, spelled: str, depth: int, folder: bool) -> None:
        self.spelled = spelled
        self.depth = depth
        self.folder = folder
        self.pruned = False
        self.runs: list[tuple[str, list[str]]] = []


def find(call: Call) -> None:
    """Judge `find`: what its actions would do to each protected file that it can reach."""
    words = call.words[1:]
    at = 0
    while at < len(words) and (words[at] in ("-L", "-P", "-H", "-D") or words[at].startswith("-O")):
        at += 2 if words[at] == "-D" else 1
    start = at
    while at < len(words) and words[at][:1] not in "-(!,)":
        at += 1
    tree, _ = parse_either(words, at, call)
    lines: list[str] = []
    for root in words[start:at] or ["."]:
        walk(call, tree, [Entry(root, 0, folder=True), Entry(f"{root}/{NEUTRAL}", 1, folder=False)], "")
        for chain in chains(call, root, words[at:]):
            lines += walk(call, tree, chain, " ".join(words[at:]))
    call.out = "".join(line + "\n" for line in marks.unique(lines)) or UNKNOWN


def chains(call: Call, root: str, expression: list[str]) -> list[list[Entry]]:
    """Return, for each protected file below the root, the entries that find comes to on the way to it."""
    paths = call.reader.paths
    if any(paths.protected(root, folder) for folder in call.reader.folders):
        return [[Entry(root, 0, folder=False)]]
    rests: list[str] = []
    for folder in folders_of(call, root)[0]:
        if UNKNOWN in folder:
            told = any(name in fold(plain(word)) for word in [root, *expression] for name in ("handoff", "scratch"))
            rests += [name for name in dict.fromkeys(paths.files.values()) if told]
        else:
            rests += paths.below(folder)
    return [way(root, rest) for rest in marks.unique(rests)]


def way(root: str, rest: str) -> list[Entry]:
    """Return the entries from the root down to a file below it."""
    parts = rest.split("/")
    spelled = [root, *(root.rstrip("/") + "/" + "/".join(parts[: count + 1]) for count in range(len(parts)))]
    return [Entry(one, depth, depth < len(parts)) for depth, one in enumerate(spelled)]


def walk(call: Call, tree: Node, chain: list[Entry], expression: str) -> list[str]:
    """Judge the actions on each entry of a chain down to a pruned one; return the lines that find prints."""
    lines = []
    acts = any(word in expression for word in (*FIND_RUNS, "-delete", "-print", "-ls", "-fprint"))
    for entry in chain:
        holds, _ = evaluate(tree, entry, certain=True)
        for name, words in entry.runs:
            act(call, entry, name, words)
        if (holds and not acts) or any(name == "-print" for name, _ in entry.runs):
            lines.append(entry.spelled)
        if entry.pruned:
            break
    return lines


def act(call: Call, entry: Entry, name: str, words: list[str]) -> None:
    """Judge one action on one entry."""
    if name == "-delete" and not entry.folder:
        call.write(entry.spelled, "`find -delete`")
    elif name in FIND_RUNS:
        folder, _, last = entry.spelled.rpartition("/")
        there = name.endswith("dir")
        spelled = "./" + last if there else entry.spelled
        inside(call, (folder or ".") if there else "", [word.replace("{}", spelled) for word in words])


def parse_either(words: list[str], at: int, call: Call) -> tuple[Node, int]:
    """Parse `A -o B`; return the tree and where it ends."""
    choices = []
    while True:
        part, at = parse_all(words, at, call)
        choices.append(part)
        if at >= len(words) or words[at] not in ("-o", "-or", ","):
            return ("or", choices), at
        at += 1


def parse_all(words: list[str], at: int, call: Call) -> tuple[Node, int]:
    """Parse neighbouring tests, all of which must hold."""
    parts = []
    while at < len(words) and words[at] not in ("-o", "-or", ",", ")"):
        negated = False
        while at < len(words) and words[at] in ("!", "-not", "-a", "-and"):
            negated = negated != (words[at] in ("!", "-not"))
            at += 1
        if at >= len(words):
            break
        part, at = parse_one(words, at, call)
        parts.append(("not", part) if negated else part)
    return ("and", parts), at


def parse_one(words: list[str], at: int, call: Call) -> tuple[Node, int]:
    """Parse one test, action or group."""
    word = words[at]
    if word == "(":
        part, at = parse_either(words, at + 1, call)
        return part, at + 1
    if word in FIND_RUNS:
        end = at + 1
        while end < len(words) and words[end] != ";" and not (words[end] == "+" and words[end - 1] == "{}"):
            end += 1
        return ("run", word, words[at + 1 : end]), end + 1
    if word == "-fprintf":
        call.write("".join(words[at + 1 : at + 2]), "`find -fprintf`")
        return ("test", word, ""), at + 3
    value = "".join(words[at + 1 : at + 2]) if word in FIND_VALUES else ""
    if word in ("-fprint", "-fprint0", "-fls"):
        call.write(value, f"`find {word}`")
    return ("test", word, value), at + (2 if word in FIND_VALUES else 1)


def evaluate(node: Node, entry: Entry, certain: bool) -> Truth:
    """Return whether a tree may hold and may fail for the entry; note the actions that would be reached."""
    kind = node[0]
    if kind == "not":
        holds, fails = evaluate(node[1], entry, certain)
        return fails, holds
    if kind == "run":
        entry.runs.append((node[1], node[2]))
        return MAYBE
    if kind == "test":
        return test(node[1], node[2], entry, certain)
    wanted = kind == "and"
    on, off = True, False  # the next part may be reached; an earlier one may have settled the answer
    for part in node[1]:
        truth = evaluate(part, entry, certain)
        goes_on, settles = truth if wanted else (truth[1], truth[0])
        off = off or settles
        certain = certain and not settles
        on = goes_on
        if not on:
            break
    return (on, off) if wanted else (off, on)


def test(name: str, value: str, entry: Entry, certain: bool) -> Truth:
    """Return the truth of one primary of find for the entry."""
    if name in ("-name", "-iname"):
        return fits(value, entry.spelled.rstrip("/").rpartition("/")[2])
    if name in ("-path", "-ipath", "-wholename", "-iwholename"):
        return fits(value, entry.spelled)
    if name == "-type":
        return ("d" if entry.folder else "f") in value, ("d" if entry.folder else "f") not in value
    if name in ("-maxdepth", "-mindepth") and value.isdigit():
        holds = entry.depth <= int(value) if name == "-maxdepth" else entry.depth >= int(value)
        return holds, not holds
    if name == "-prune":
        entry.pruned = entry.pruned or certain
        return YES
    if name in ("-delete", "-print", "-print0", "-ls", "-printf"):
        entry.runs.append(("-delete" if name == "-delete" else "-print", []))
        return YES
    if name == "-false":
        return False, True
    return YES if name in ("-true", "-depth", "-mount", "-xdev", "-follow", "-noleaf", "-d", "-s", "-x") else MAYBE


def fits(pattern: str, text: str) -> Truth:
    """Return whether the pattern matches the text; an unknown one may."""
    from fnmatch import fnmatchcase

    if UNKNOWN in pattern or UNKNOWN in text:
        return MAYBE
    found = fnmatchcase(fold(plain(text)), plain(pattern).casefold())
    return found, not found


def xargs(call: Call) -> None:
    """Judge the command of `xargs` with the words on its stdin, as far as the pipeline shows them."""
    words = call.words[1:]
    at = first_operand(
        words, "nILPdaEs", "--max-args --replace --max-lines --max-procs --delimiter --arg-file --eof --max-chars"
    )
    options, _ = split_options(words[:at], "nILPdaEs", "--max-args --max-procs --delimiter --arg-file", "iel")
    command = words[at:] or ["echo"]
    replaced = [value or "{}" for value in values(options, "-I", "-i", "--replace")]
    by_line = has(options, "-0", "--null", "-d", "--delimiter", "-L", "--max-lines") or bool(replaced)
    given = words_on_stdin(call.stdin, by_line)
    if replaced:
        for item in given:
            call.again([word.replace(replaced[0], item) for word in command], "")
    elif has(options, "-n", "--max-args", "-L", "--max-lines"):
        for item in given:
            call.again([*command, item], "")
    else:
        call.again([*command, *given], "")


def words_on_stdin(stdin: str | None, by_line: bool) -> list[str]:
    """Return the words that a text on stdin gives; an unknown text gives an unknown word."""
    if stdin is None:
        return [UNKNOWN]
    if by_line:
        return [line for line in stdin.replace("\0", "\n").split("\n") if line]
    return stdin.replace('"', "").replace("'", "").split()


def parallel(call: Call) -> None:
    """Judge the command of GNU parallel with the words behind `:::` or on its stdin."""
    words = call.words[1:]
    at = first_operand(words, "jIaNnLdS", "--jobs --arg-file --colsep --max-args --replace --joblog --results")
    words = words[at:]
    marked = [place for place, word in enumerate(words) if word.startswith(":::")]
    command = words[: marked[0]] if marked else words
    given = (
        [word for word in words[marked[0] :] if not word.startswith(":::")]
        if marked
        else words_on_stdin(call.stdin, True)
    )
    for item in given:
        text = " ".join(command) if "{}" in " ".join(command) else " ".join([*command, "{}"])
        call.code((text if command else "{}").replace("{}", item))


def list_files(call: Call) -> None:
    """Print the protected files that `ls` would list."""
    options, operands = split_options(call.words[1:], "IwT")
    paths = call.reader.paths
    lines: list[str] = []
    for operand in operands or ["."]:
        for folder in call.reader.folders:
            if paths.protected(operand, folder):
                lines.append(operand)
            elif not has(options, "-d"):
                path = paths.absolute(operand, folder)
                lines += [rest for rest in paths.below(path) if "/" not in rest] if UNKNOWN not in path else [UNKNOWN]
    call.out = "".join(line + "\n" for line in marks.unique(lines)) or UNKNOWN


def grep(call: Call) -> None:
    """Print the lines of stdin that match, or with `-l` the named files."""
    options, operands = split_options(call.words[1:], "efmABCd", "--regexp --file --max-count --include --exclude")
    patterns = values(options, "-e", "--regexp") or operands[:1]
    files = operands if values(options, "-e", "--regexp") else operands[1:]
    if has(options, "-l", "--files-with-matches"):
        named = [word for word in files if any(call.reader.paths.protected(word, one) for one in call.reader.folders)]
        call.out = "".join(word + "\n" for word in named) or None
    elif not files and call.stdin is not None and len(patterns) == 1:
        call.out = filtered(
            call.stdin, plain(patterns[0]), has(options, "-v", "--invert-match"), has(options, "-F", "--fixed-strings")
        )


def filtered(text: str, pattern: str, inverted: bool, fixed: bool) -> str:
    """Return the lines that grep would print; all of them if the pattern can't be judged."""
    import re

    if UNKNOWN in pattern or UNKNOWN in text or len(pattern) > 200:
        return text
    try:
        found = re.compile(re.escape(pattern) if fixed else pattern, re.IGNORECASE)
    except re.error:
        return text
    return "".join(line + "\n" for line in text.splitlines() if bool(found.search(line[:1000])) != inverted)


TABLE: dict[str, Rule] = {
    **rules("find gfind", find),
    **rules("xargs gxargs", xargs),
    "parallel": parallel,
    "ls": list_files,
    **rules("grep egrep fgrep", grep),
}
