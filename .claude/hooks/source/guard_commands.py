"""How commands write: one table from a command's name to the rule that judges its words (hooks.md 4.5).

A rule gets a `Call` and denies it through `Call.write` (a file) or `Call.write_tree` (a file or a folder above one).
Commands that are not in the table only read, as far as the guard knows.
"""

from __future__ import annotations

import os

import guard_words as marks
from guard_paths import exists, is_folder
from guard_shell import ELSEWHERE, Denied, Trouble, command_name, is_name, united
from guard_words import STAR, UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Optional

    from guard_shell import Call, Folders

    Rule = Callable[[Call], None]
    Options = list[tuple[str, str]]

FLAG_PREFIX = 4  # a long flag may be shortened to that many characters


# Options


def split_options(words: list[str], valued: str = "", longs: str = "", glued: str = "") -> tuple[Options, list[str]]:
    """Return the options, each with its value, and the operands.

    `valued`: letters that take the rest of the word or the next word; `glued`: letters that take only the rest of it.
    `longs`: long flags whose value may be the next word. Clusters are taken apart.
    """
    options: Options = []
    operands: list[str] = []
    names = longs.split()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            return options, operands + words[at:]
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if not equals and any(long.startswith(name) for long in names) and at < len(words):
                value, at = words[at], at + 1
            options.append((name, value))
        elif word[:1] == "-" and len(word) > 1:
            rest = cluster(word[1:], valued, glued, options)
            if rest and at < len(words):
                options.append((rest, words[at]))
                at += 1
        else:
            operands.append(word)
    return options, operands


def cluster(letters: str, valued: str, glued: str, options: Options) -> str:
    """Add the flags of one cluster; return the flag whose value is the next word, if there is one."""
    for at, letter in enumerate(letters):
        rest = letters[at + 1 :]
        if letter in valued and not rest:
            return "-" + letter
        options.append(("-" + letter, rest if letter in valued or letter in glued else ""))
        if letter in valued or letter in glued:
            return ""
    return ""


def has(options: Options, *names: str) -> bool:
    """Return whether one of the flags is given, long ones also shortened."""
    return any(is_flag(given, name) for given, _ in options for name in names)


def is_flag(given: str, name: str) -> bool:
    """Return whether the given flag is the named one, perhaps shortened."""
    return given == name or (given[:2] == "--" and len(given) >= FLAG_PREFIX and name.startswith(given))


def values(options: Options, *names: str) -> list[str]:
    """Return the values of the named flags."""
    return [value for given, value in options if any(is_flag(given, name) for name in names)]


def first_operand(words: list[str], valued: str, longs: str) -> int:
    """Return where the first operand stands, options in front of it passed over."""
    names = longs.split()
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if word[:1] not in "-+" or len(word) < 2:
            return at
        at += 1
        if word[:2] == "--":
            at += "=" not in word and any(long.startswith(word) for long in names)
        elif word[-1] in valued and not any(letter in valued for letter in word[1:-1]):
            at += 1
    return at


# Wrappers: the command stands behind their options


def wrapper(valued: str = "", longs: str = "", skipped: int = 0) -> Rule:
    """Return the rule of a command that runs the words behind its options and `skipped` operands."""

    def rule(call: Call) -> None:
        words = call.words[1:]
        at = first_operand(words, valued, longs)
        folder = ""
        for flag, value in split_options(words[:at], valued, longs)[0]:
            if flag in ("-o", "--output") and call.name in ("time", "strace", "ltrace"):
                call.write(value, f"`{call.name} -o`")
            if flag in ("-C", "-D", "--chdir") and call.name in ("env", "sudo"):
                folder = value
            if flag in ("-S", "--split-string"):
                words[at:at] = value.split()
        at += skipped
        while at < len(words) and is_assignment(words[at]):
            name, _, value = words[at].partition("=")
            call.reader.assign(name, [plain(value)])
            at += 1
        inside(call, folder, words[at:])

    return rule


def inside(call: Call, folder: str, words: list[str]) -> None:
    """Judge the words as a command, in another folder if one is given."""
    if not words:
        return
    before = call.reader.folders
    if folder:
        call.reader.folders = folders_of(call, folder)[0]
    call.again(words)
    if folder:
        call.reader.folders = before


def is_assignment(word: str) -> bool:
    """Return whether the word is `NAME=value`."""
    return "=" in word and is_name(word.partition("=")[0])


def run_wrapper(call: Call) -> None:
    """Judge the command of `uv run …`, `poetry run …` and their kin."""
    words = call.words[1:]
    if "run" in words[:6]:
        words = words[words.index("run") + 1 :]
        longs = "--with --python --project --directory --package --extra --group --env-file --with-editable --env --name"
        call.again(words[first_operand(words, "pn", longs) :] or ["true"])


def command_builtin(call: Call) -> None:
    """Judge the words behind `command`, unless it only looks a name up."""
    words = call.words[1:]
    at = first_operand(words, "", "")
    if at < len(words) and not any(letter in word for word in words[:at] for letter in "vV"):
        call.again(words[at:])


def flock(call: Call) -> None:
    """Judge the command that runs under a lock; locking a file changes nothing in it."""
    words = call.words[1:]
    at = first_operand(words, "wEc", "--timeout --wait --conflict-exit-code") + 1
    words = words[at:]
    if words[:1] and words[0] in ("-c", "--command"):
        call.code(" ".join(words[1:2]))
    elif words:
        call.again(words)


# Folders and variables


def folders_of(call: Call, text: str) -> tuple[Folders, bool]:
    """Return the folders that the text may name in the folders in force, and whether all of them exist."""
    found: list[str] = []
    sure = True
    paths = call.reader.paths
    for folder in call.reader.folders:
        path = paths.absolute(text, folder)
        if UNKNOWN in path:
            found.append(path)
            sure = False
        elif marks.STAR in path or marks.ANY in path or marks.SET in path or marks.WILD in path:
            found += paths.matching_folders(path) or [UNKNOWN]
            sure = False
        else:
            found.append(path)
            sure = sure and (is_folder(path) or path in call.reader.shared.made)
    return united([tuple(found)]), sure


def change_folder(call: Call) -> None:
    """Move to another folder, as `cd` does."""
    reader = call.reader
    _, operands = split_options([word for word in call.words[1:] if word != "-"])
    if "-" in call.words[1:]:
        target = reader.before
    else:
        target = operands[0] if operands else reader.paths.home
    before = reader.folders
    reader.folders, sure = folders_of(call, target)
    reader.before = before[0] if len(before) == 1 else UNKNOWN
    call.state = "ok" if sure else "?"


def push_folder(call: Call) -> None:
    """Move as `pushd` does; without an operand it swaps the two topmost folders."""
    reader = call.reader
    if any(word[:1] not in "+-" for word in call.words[1:]):
        before = reader.folders
        change_folder(call)
        reader.pushed.append(before)
    elif reader.pushed:
        reader.folders, reader.pushed[-1] = reader.pushed[-1], reader.folders


def pop_folder(call: Call) -> None:
    """Move back as `popd` does."""
    reader = call.reader
    if reader.pushed:
        reader.folders = reader.pushed.pop()
        call.state = "ok"


def make_folder(call: Call) -> None:
    """Remember the folders that the command itself makes."""
    _, operands = split_options(call.words[1:], "mZ", "--mode")
    for operand in operands:
        call.reader.shared.made.update(folders_of(call, operand)[0])
    call.state = "ok"


def declare(call: Call) -> None:
    """Carry out the assignments of `export`, `declare` and their kin."""
    for word in call.words[1:]:
        if is_assignment(word):
            name, _, value = word.partition("=")
            call.reader.assign(name, [call.reader.assigned_text(value)])
    call.state = "ok"


def set_words(call: Call) -> None:
    """Carry out `set -- WORD…`."""
    words = call.words[1:]
    if "--" in words:
        call.reader.set_positional(["", *words[words.index("--") + 1 :]])
    set_options(call)


def set_options(call: Call) -> None:
    """Note options that let patterns match names with a leading dot."""
    text = "".join(call.words).lower().replace("_", "")
    if "dotglob" in text or "globdots" in text:
        call.reader.paths.match_dots()
    call.state = "ok"


def read_variable(call: Call) -> None:
    """Give the variable of `read` the lines of its stdin, as far as they are known."""
    _, operands = split_options(call.words[1:], "adinNptu")
    lines = [line for line in (call.stdin or "").split("\n") if line] or [UNKNOWN]
    for operand in operands:
        if is_name(operand):
            call.reader.assign(operand, lines if len(operands) == 1 else [UNKNOWN])


def make_alias(call: Call) -> None:
    """Remember the aliases that the command defines."""
    for word in call.words[1:]:
        name, equals, value = word.partition("=")
        if equals:
            call.reader.aliases = {**call.reader.aliases, name: plain(value)}


def evaluate(call: Call) -> None:
    """Judge the text of `eval`, which runs in this very shell."""
    text = " ".join(plain(word) for word in call.words[1:])
    reader = call.reader.inner(text, 0)
    reader.program("")
    call.reader.folders, call.reader.vars = reader.folders, reader.vars
    call.reader.functions, call.reader.aliases = reader.functions, reader.aliases
    call.reader.lent = True
    call.out = reader.output()


def trap(call: Call) -> None:
    """Judge the code of a trap."""
    _, operands = split_options(call.words[1:])
    if len(operands) > 1:
        call.code(operands[0])


def source(call: Call) -> None:
    """Judge what `source` reads, if the text shows it."""
    for word in call.words[1:2]:
        text = call.reader.shared.stream_text(word)
        if text is None and word in STDIN:
            text = call.stdin
        if text is not None:
            call.words = ["eval", text]
            evaluate(call)


def leave(call: Call) -> None:
    """Note that nothing behind `exit` or `return` runs."""
    call.state = "exit"


def succeed(call: Call) -> None:
    """Note that the command succeeds."""
    call.state = "ok"


def fail(call: Call) -> None:
    """Note that the command fails."""
    call.state = "fail"


# What commands print, as far as it is known

STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def echo(call: Call) -> None:
    """Print the words."""
    words, decoded = call.words[1:], False
    while words and words[0][:1] == "-" and len(words[0]) > 1 and not set(words[0][1:]) - set("neE"):
        decoded = decoded or "e" in words[0]
        words = words[1:]
    text = " ".join(words) + "\n"
    call.out = marks.decode(text) if decoded else text
    call.state = "ok"


def print_format(call: Call) -> None:
    """Print as `printf` does."""
    words = call.words[1:]
    if words[:1] == ["-v"] and len(words) > 2:
        call.reader.assign(words[1], [formatted(words[2], words[3:])])
    else:
        words = words[1:] if words[:1] == ["--"] else words
        call.out = formatted(words[0], words[1:]) if words else None
    call.state = "ok"


def formatted(form: str, words: list[str]) -> str:
    """Return what `printf` makes of a format and words; the format is used again while words are left."""
    done: list[str] = []
    rest = list(words)
    pieces = conversions(marks.decode(plain(form)))
    taken = sum(piece[:1] == "%" and piece != "%%" for piece in pieces)
    while True:
        for piece in pieces:
            if piece[:1] != "%":
                done.append(piece)
            elif piece == "%%":
                done.append("%")
            else:
                word = rest.pop(0) if rest else ""
                done.append(marks.decode(word) if piece == "%b" else word)
        if not rest or not taken:
            return "".join(done)


def conversions(form: str) -> list[str]:
    """Return a format cut into plain pieces and conversions."""
    pieces: list[str] = []
    at = 0
    while at < len(form):
        percent = form.find("%", at)
        if percent < 0:
            return [*pieces, form[at:]]
        end = percent + 1
        while end < len(form) and form[end] in "-+ #0123456789.*":
            end += 1
        pieces += [form[at:percent], "%" + form[end : end + 1]]
        at = end + 1
    return pieces


def pass_on(call: Call) -> None:
    """Print stdin, or what a process substitution prints."""
    _, operands = split_options(call.words[1:], "nckt" if call.name != "cat" else "")
    texts = [call.stdin if word in STDIN else call.reader.shared.stream_text(word) for word in operands or ["-"]]
    if all(text is not None for text in texts):
        call.out = "".join(text for text in texts if text is not None)


def pass_stdin(call: Call) -> None:
    """Print stdin."""
    call.out = call.stdin


def both(first: Rule, second: Rule) -> Rule:
    """Return the rule that is the two rules, one after the other."""

    def rule(call: Call) -> None:
        first(call)
        second(call)

    return rule


def print_folder(call: Call) -> None:
    """Print the folder in force."""
    call.out = call.reader.folders[0] if len(call.reader.folders) == 1 else UNKNOWN
    call.state = "ok"


def make_temporary(call: Call) -> None:
    """Print a name that lies elsewhere."""
    call.out = ELSEWHERE + "/" + str(len(call.reader.shared.made))
    call.reader.shared.made.add(call.out)
    call.state = "ok"


def print_part(call: Call) -> None:
    """Print the last or the leading part of a path, or the path made absolute."""
    _, operands = split_options(call.words[1:], "s")
    if not operands:
        return
    path = operands[0].rstrip("/") or "/"
    if call.name == "basename":
        call.out = path.rpartition("/")[2].removesuffix(operands[1] if len(operands) > 1 else "")
    elif call.name == "dirname":
        call.out = path.rpartition("/")[0] or ("/" if path[:1] == "/" else ".")
    elif len(call.reader.folders) == 1:
        call.out = call.reader.paths.absolute(path, call.reader.folders[0])


# Writers


def operands_rule(valued: str = "", longs: str = "", reading: str = "", tree: bool = False) -> Rule:
    """Return the rule of a command that changes its operands; none if one of the `reading` flags is given."""

    def rule(call: Call) -> None:
        options, operands = split_options(call.words[1:], valued, longs)
        if reading and has(options, *reading.split()):
            return
        for operand in operands:
            (call.write_tree if tree else call.write)(operand)

    return rule


COPY_OPTIONS = {
    "cp": ("St", "--suffix --target-directory"),
    "mv": ("St", "--suffix --target-directory"),
    "ln": ("St", "--suffix --target-directory"),
    "install": ("Stgmo", "--suffix --target-directory --mode --owner --group"),
    "rsync": ("efTBM@", "--rsh --filter --exclude --include --exclude-from --include-from --files-from --log-file --temp-dir"),
    "scp": ("cFiJloPSDX", ""),
}


def copy(call: Call) -> None:
    """Judge a copy, move or link: the target, what falls into it, and for some the sources."""
    name = {"ginstall": "install", "gcp": "cp", "gmv": "mv", "gln": "ln"}.get(call.name, call.name)
    valued, longs = COPY_OPTIONS[name]
    options, operands = split_options(call.words[1:], valued, longs)
    if name == "install" and has(options, "-d", "--directory"):
        return
    if has(options, "-n", "--dry-run") and name == "rsync":
        return
    targets = values(options, "-t", "--target-directory") if name in ("cp", "mv", "ln", "install") else []
    symbolic = name in ("cp", "ln") and has(options, "-s", "--symbolic", "--symbolic-link")
    into = bool(targets)
    if not into:
        targets, operands = operands[-1:], operands[:-1]
    if name == "ln" and not operands and targets:
        operands, targets, into = targets, ["."], True
    judge_sources(call, name, options, operands, symbolic)
    for target in targets:
        judge_target(call, target, operands, into, has(options, "-T", "--no-target-directory"))
        if name == "rsync" and any(flag.startswith("--del") for flag, _ in options):
            call.write_tree(target, "`rsync --delete`")
        if symbolic:
            remember_links(call, operands, target)
    for value in values(options, "--log-file"):
        call.write(value)


def judge_sources(call: Call, name: str, options: Options, operands: list[str], symbolic: bool) -> None:
    """Deny what the command does to its sources: moving them away, or making a second name."""
    for operand in operands:
        if name == "mv" or has(options, "--remove-source-files"):
            call.write_tree(operand)
        elif (name == "ln" and not symbolic) or (name == "cp" and has(options, "-l", "--link")):
            call.write(operand, f"a hard link by `{call.name}`")


def judge_target(call: Call, target: str, operands: list[str], into: bool, exact: bool) -> None:
    """Deny a target that is a protected file, or a folder into which a source of its name would fall."""
    call.write(target)
    for folder in folders_of(call, target)[0]:
        takes = into or len(operands) > 1 or target[-1:] == "/" or is_folder(folder) or UNKNOWN in folder
        for operand in operands:
            contents = exact or operand.endswith("/.") or (call.name == "rsync" and operand[-1:] == "/")
            if takes and not contents:
                falls_into(call, target, operand)
            if contents or not takes:
                covers(call, target, operand)


def falls_into(call: Call, target: str, operand: str) -> None:
    """Deny if the source's own name, put into the target, is a protected file or a folder above one."""
    parent, _, name = operand.replace("\\", "/").rstrip("/").rpartition("/")
    if name in ("", ".", ".."):
        covers(call, target, operand)
        return
    how = f"`{call.name}` into its folder"
    if not any(char in name for char in (UNKNOWN, STAR, marks.ANY, marks.SET, marks.WILD)):
        call.write(f"{target}/{name}", how)
        if any(is_folder(path) for path in folders_of(call, operand)[0]):
            call.write_tree(f"{target}/{name}", how)
        return
    for folder in folders_of(call, parent or ("/" if operand[:1] == "/" else "."))[0]:
        for found in listing(folder):
            if call.reader.paths.pattern_fits(name, found):
                call.write(f"{target}/{found}", how)


def listing(folder: str) -> list[str]:
    """Return the names in a folder, or none if it can't be listed."""
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []


def covers(call: Call, target: str, operand: str) -> None:
    """Deny copying a tree over a folder if the tree holds a protected file's counterpart."""
    paths = call.reader.paths
    for folder in folders_of(call, target)[0]:
        for rest in paths.below(folder) if UNKNOWN not in folder else []:
            for source_folder in folders_of(call, operand)[0]:
                if exists(f"{source_folder}/{rest}"):
                    call.write(f"{target}/{rest}", f"`{call.name}` of a tree over it")


def remember_links(call: Call, operands: list[str], target: str) -> None:
    """Remember links to protected files or folders above them that the command makes."""
    paths = call.reader.paths
    for folder in call.reader.folders:
        for operand in operands:
            place = paths.absolute(target, folder)
            if is_folder(place):
                place = paths.absolute(target + "/" + operand.rstrip("/").rpartition("/")[2], folder)
            aim = paths.absolute(operand, place.rpartition("/")[0] or "/")
            if UNKNOWN not in place + aim and (paths.protected(aim, "/") or paths.above_protected(aim, "/")):
                paths.add_link(place, aim)


def output_rule(flags: str, valued: str = "", longs: str = "") -> Rule:
    """Return the rule of a command that writes the value of these flags."""
    names = flags.split()
    letters = valued + "".join(name[1] for name in names if len(name) == 2)

    def rule(call: Call) -> None:
        options, _ = split_options(call.words[1:], letters, f"{flags} {longs}")
        for value in values(options, *names):
            call.write(value, f"`{call.name}` writing its output")

    return rule


def word_output_rule(*names: str) -> Rule:
    """Return the rule of a command that writes the word behind one of these flags, whatever else it takes."""

    def rule(call: Call) -> None:
        for flag, value in zip(call.words[1:], [*call.words[2:], ""]):
            if flag in names:
                call.write(value, f"`{call.name} {flag}`")
            for name in names:
                if len(name) == 2 and flag.startswith(name) and len(flag) > 2:
                    call.write(flag[2:], f"`{call.name} {name}`")

    return rule


def dd(call: Call) -> None:
    """Judge `dd of=FILE`."""
    for word in call.words[1:]:
        if word.startswith("of="):
            call.write(word[3:], "`dd of=`")


class Fetcher:
    """How a command that fetches addresses is told where to write: flags with values, output flags, folder flag."""

    __slots__ = ("folder", "longs", "outputs", "valued")

    def __init__(self, valued: str, longs: str, outputs: str, folder: str) -> None:
        self.valued = valued
        self.longs = f"{outputs} {folder} {longs}"
        self.outputs = outputs.split()
        self.folder = folder


FETCHERS = {
    "curl": Fetcher(
        "oHdXueAbFTKmyYzrwCEDPQct",
        "--header --data --url --request --user",
        "-o --output -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr",
        "--output-dir",
    ),
    "wget": Fetcher(
        "OoaPUtTwQeDAR",
        "--header --post-data --user-agent",
        "-O --output-document -o --output-file -a --append-output",
        "-P --directory-prefix",
    ),
}


def fetch(call: Call) -> None:
    """Judge `curl` and `wget`: the named output, or the last part of the address in the folder in force."""
    fetcher = FETCHERS[call.name]
    options, operands = split_options(call.words[1:], fetcher.valued, fetcher.longs)
    for value in values(options, *fetcher.outputs):
        call.write(value, f"`{call.name}` writing its output")
    if call.name == "curl":
        by_name = has(options, "-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name")
    else:
        by_name = not has(options, "-O", "--output-document")
    folder = [*values(options, *fetcher.folder.split()), "."][0]
    for operand in operands if by_name else ():
        call.write(f"{folder}/{operand.rstrip('/').rpartition('/')[2]}", f"`{call.name}`")


def sed(call: Call) -> None:
    """Judge `sed`: files changed in place, and `w` and `e` commands of its script."""
    options, operands = split_options(call.words[1:], "efl", "--expression --file --line-length", "iI")
    scripts = values(options, "-e", "--expression")
    if has(options, "-i", "-I", "--in-place"):
        for operand in operands:
            call.write(operand, "`sed -i`")
    if not scripts and not has(options, "-f", "--file"):
        scripts = operands[:1]
    for script in scripts:
        for line in plain(script).split("\n"):
            sed_line(call, line)


def sed_line(call: Call, line: str) -> None:
    """Judge the `w FILE` and `e COMMAND` in one line of a sed script."""
    for at, char in enumerate(line[:2000]):
        rest = line[at + 1 :].strip()
        if char in "wW" and rest:
            call.write(rest, "sed's `w`")
        elif char == "e" and rest and (at == 0 or line[at - 1] in "0123456789$/!{; ") and line[at + 1] == " ":
            call.code(rest)


def in_place_rule(*names: str) -> Rule:
    """Return the rule of a command that changes its operands only with one of these flags."""

    def rule(call: Call) -> None:
        options, operands = split_options(call.words[1:])
        if has(options, *names):
            for operand in operands:
                call.write(operand, f"`{call.name}` in place")

    return rule


def second_operand_rule(valued: str) -> Rule:
    """Return the rule of a command whose second operand is its output."""

    def rule(call: Call) -> None:
        _, operands = split_options(call.words[1:], valued)
        for operand in operands[1:2]:
            call.write(operand, f"`{call.name}` writing its output")

    return rule


def tar(call: Call) -> None:
    """Judge `tar`: the archive it writes, members it unpacks by name, files it removes."""
    words = call.words[1:]
    if words and words[0][:1] != "-":
        words = ["-" + words[0], *words[1:]]
    options, operands = split_options(words, "fCTXbgKNVILFH", "--file --directory --files-from --exclude --exclude-from")
    if words and "f" in words[0][1:-1] and words[0][:2] != "--" and not values(options, "-f")[0:1] == [""]:
        options, operands = old_style(words, options, operands)
    if has(options, "-c", "-r", "-u", "-A", "--create", "--append", "--update", "--concatenate"):
        for value in values(options, "-f", "--file"):
            call.write(value, "`tar` writing an archive")
    if has(options, "--remove-files"):
        for operand in operands:
            call.write_tree(operand)
    if has(options, "-x", "--extract", "--get"):
        folder = [*values(options, "-C", "--directory"), "."][0]
        for operand in operands:
            call.write(f"{folder}/{operand}", "`tar` unpacking over it")


def old_style(words: list[str], options: Options, operands: list[str]) -> tuple[Options, list[str]]:
    """Return options and operands of a first word whose `f` stands before other letters, as in `tar fc FILE`."""
    letters = words[0][1:]
    behind = letters[letters.index("f") + 1 :]
    if behind and not set(behind) - set("cxrutvzjJkpaO"):
        return [("-" + letter, "") for letter in letters if letter != "f"] + [("-f", words[1] if len(words) > 1 else "")], words[2:]
    return options, operands


def unpack(call: Call) -> None:
    """Judge `unzip` with members by name."""
    options, operands = split_options(call.words[1:], "dxP")
    if not has(options, "-l", "-p", "-t", "-v", "-Z"):
        folder = [*values(options, "-d"), "."][0]
        for operand in operands[1:]:
            call.write(f"{folder}/{operand}", "`unzip` over it")


def script_command(call: Call) -> None:
    """Judge `script FILE -c COMMAND`."""
    options, operands = split_options(call.words[1:], "cEoIOBTm", "--command --log-out --log-io --log-in --log-timing")
    for target in operands[:1] + values(options, "-O", "-B", "-T", "--log-out", "--log-io", "--log-timing"):
        call.write(target)
    for code in values(options, "-c", "--command"):
        call.code(code)


def editor(call: Call) -> None:
    """Judge an editor: its files, and files that its commands name."""
    import guard_code

    for word in call.words[1:]:
        if word[:1] not in "-+":
            call.write(word)
        guard_code.judge_mention(call, word)
    if call.stdin:
        guard_code.judge_mention(call, call.stdin)


def patch(call: Call) -> None:
    """Judge `patch`: its operand, its output, and the files that a patch on stdin names."""
    import guard_code

    valued = "iodpBDFrYzVg"
    options, operands = split_options(call.words[1:], valued, "--input --output --directory --strip")
    if has(options, "--dry-run", "-C", "--check"):
        return
    for target in operands[:1] + values(options, "-o", "--output"):
        call.write(target)
    folder = [*values(options, "-d", "--directory"), ""][0]
    if call.stdin:
        strip = [*values(options, "-p", "--strip"), ""][0]
        guard_code.judge_patch(call, call.stdin, folder, int(strip) if strip.isdigit() else 0)


def apply_patch(call: Call) -> None:
    """Judge a patch that a shell hands to the harness's own patch tool."""
    import guard_code

    for text in [*call.words[1:], call.stdin or ""]:
        guard_code.judge_patch(call, plain(text))


def attributes(call: Call) -> None:
    """Judge `chattr`: it can lock a file against its own program."""
    for word in call.words[1:]:
        if word[:1] not in "+-=":
            call.write_tree(word)


def compress(call: Call) -> None:
    """Judge a command that replaces a file by its packed or unpacked form."""
    options, operands = split_options(call.words[1:], "SbMTDo")
    for value in values(options, "-o"):
        call.write(value)
    if not has(options, "-c", "-k", "-l", "-t", "--stdout", "--to-stdout", "--keep", "--list", "--test"):
        for operand in operands:
            call.write(operand)


def link_command(call: Call) -> None:
    """Judge `link OLD NEW`."""
    for word in call.words[1:3]:
        call.write(word, "a hard link by `link`")


# Code and searches live in modules of their own


def in_module(module: str, function: str) -> Rule:
    """Return a rule that is imported when it is needed."""

    def rule(call: Call) -> None:
        getattr(__import__(module), function)(call)

    return rule


def rules(names: str, rule: Rule) -> dict[str, Rule]:
    """Return a table that gives each name the rule."""
    return dict.fromkeys(names.split(), rule)


SHELLS = "sh bash zsh dash ksh ash rbash mksh fish at batch"
INTERPRETERS = "python pypy node nodejs deno bun perl ruby php lua luajit tclsh ipython rscript osascript julia"

TABLE: dict[str, Rule] = {
    # wrappers
    "env": wrapper("uCS", "--unset --chdir --split-string"),
    "sudo": wrapper("ugCDhpRrtTU", "--user --group --chdir --host --prompt --chroot --role --type --other-user"),
    "doas": wrapper("uCa"),
    **rules("nohup builtin setsid unbuffer busybox toybox noglob nocorrect fakeroot eatmydata npx bunx uvx", wrapper()),
    **rules("proxychains torsocks firejail valgrind rlwrap unshare setpriv systemd-run dbus-run-session - coproc", wrapper()),
    "command": command_builtin,
    "exec": wrapper("a"),
    "time": wrapper("fo", "--format --output"),
    "nice": wrapper("n", "--adjustment"),
    "ionice": wrapper("cn", "--class --classdata"),
    "stdbuf": wrapper("ioe", "--input --output --error"),
    **rules("timeout gtimeout", wrapper("ks", "--kill-after --signal", 1)),
    "chrt": wrapper("TPD", "--sched-runtime --sched-period --sched-deadline", 1),
    "taskset": wrapper("", "", 1),
    **rules("chroot repeat setarch", wrapper("", "", 1)),
    **rules("strace ltrace", wrapper("aebIoOpPsSuXU", "--output --trace")),
    "caffeinate": wrapper("tw"),
    "xvfb-run": wrapper("efnpsw"),
    "flock": flock,
    **rules("uv poetry pdm rye pipenv hatch pipx conda mamba micromamba", run_wrapper),
    # the shell's own
    "cd": change_folder,
    **rules("chdir", change_folder),
    "pushd": push_folder,
    "popd": pop_folder,
    "mkdir": make_folder,
    **rules("export declare local readonly typeset integer float", declare),
    "set": set_words,
    **rules("shopt setopt", set_options),
    "read": read_variable,
    "alias": make_alias,
    "eval": evaluate,
    "trap": trap,
    **rules(". source", source),
    **rules("exit return", leave),
    **rules("true : sleep unset", succeed),
    "false": fail,
    # what they print
    "echo": echo,
    "print": echo,
    "printf": print_format,
    **rules("cat head tail tac", pass_on),
    "pwd": print_folder,
    "mktemp": make_temporary,
    **rules("basename dirname realpath readlink", print_part),
    # operands
    **rules("tee sponge gtee", both(operands_rule(), pass_stdin)),
    **rules("rm grm trash trash-put rimraf srm wipe del", operands_rule(tree=True)),
    "unlink": operands_rule(tree=True),
    "rmdir": operands_rule(),
    "shred": operands_rule("ns", "--iterations --size --random-source", tree=True),
    **rules("truncate gtruncate", operands_rule("sr", "--size --reference")),
    **rules("chmod chown chgrp", operands_rule("", "--reference --from", tree=True)),
    "setfacl": operands_rule("mMxX", "--modify --remove --set --restore", tree=True),
    "chattr": attributes,
    "chflags": operands_rule(tree=True),
    "fallocate": operands_rule("lo", "--length --offset"),
    "patch": patch,
    **rules("apply_patch applypatch", apply_patch),
    **rules("ed ex vi vim nvim gvim rvim view nano pico emacs emacsclient micro joe mcedit red", editor),
    **rules("dos2unix unix2dos mac2unix unix2mac", operands_rule("ic", "--info")),
    **rules("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress", compress),
    **rules("rename prename rename.ul file-rename", operands_rule()),
    "script": script_command,
    "mkfifo": operands_rule("m"),
    "mknod": operands_rule("m"),
    # copies
    **rules("cp mv ln install rsync scp gcp gmv gln ginstall", copy),
    "link": link_command,
    # flags and places of an output
    "dd": dd,
    "gdd": dd,
    **rules("curl wget", fetch),
    "sort": both(output_rule("-o --output", "kStT"), pass_on),
    "shuf": output_rule("-o --output", "enir"),
    **rules("gpg gpg2", output_rule("-o --output", "ru")),
    "pandoc": output_rule("-o --output", "ftr"),
    **rules("cc gcc g++ clang clang++ c++ ld as rustc go iconv objcopy jsonnet", word_output_rule("-o", "--output")),
    "openssl": word_output_rule("-out"),
    "tcpdump": word_output_rule("-w"),
    **rules("sed gsed", sed),
    **rules("yq jaq", in_place_rule("-i", "--inplace", "--in-place")),
    **rules("prettier black", in_place_rule("-w", "--write")),
    "uniq": both(second_operand_rule("fsw"), pass_on),
    "xxd": second_operand_rule("clsgo"),
    **rules("tar gtar bsdtar", tar),
    "unzip": unpack,
    # searches and repositories
    "find": in_module("guard_search", "find"),
    "gfind": in_module("guard_search", "find"),
    "xargs": in_module("guard_search", "xargs"),
    "gxargs": in_module("guard_search", "xargs"),
    "parallel": in_module("guard_search", "parallel"),
    "git": in_module("guard_search", "git"),
    "ls": in_module("guard_search", "list_files"),
    **rules("grep egrep fgrep", in_module("guard_search", "grep")),
    # code
    **rules(SHELLS, in_module("guard_code", "shell")),
    **rules("su runuser", in_module("guard_code", "switch_user")),
    "watch": in_module("guard_code", "watch"),
    **rules(INTERPRETERS, in_module("guard_code", "interpreter")),
    **rules("awk gawk mawk nawk", in_module("guard_code", "awk")),
    **rules("pwsh powershell cmd", in_module("guard_code", "other_shell")),
}


# Commands of the table that can't change a file but by the words of another command, by a redirection or by a name.
QUIET = frozenset(
    "env sudo doas nohup builtin setsid unbuffer busybox toybox noglob nocorrect fakeroot eatmydata npx bunx uvx proxychains torsocks "
    "firejail valgrind rlwrap unshare setpriv systemd-run dbus-run-session - coproc command exec nice ionice stdbuf timeout gtimeout chrt "
    "taskset chroot repeat setarch caffeinate xvfb-run flock uv poetry pdm rye pipenv hatch pipx conda mamba micromamba cd chdir pushd popd "
    "mkdir export declare local readonly typeset integer float set shopt setopt read alias eval trap . source exit return true : sleep unset "
    "false echo print printf cat head tail tac pwd mktemp basename dirname realpath readlink xargs gxargs parallel git ls grep egrep fgrep sh "
    "bash zsh dash ksh ash rbash mksh fish at batch su runuser watch python pypy node nodejs deno bun php lua luajit tclsh ipython rscript "
    "osascript julia".split()
)
# Words that can change a file without being a command's name.
SUBCOMMANDS = frozenset("checkout restore clean stash output delete tool replace editor insert".split())


def telling_words() -> list[str]:
    """Return the words of which a command must hold one to change a file that it doesn't name; letters only."""
    found = set(SUBCOMMANDS)
    for name in TABLE.keys() - QUIET:
        letters = "".join(char if char.isalpha() else " " for char in name)
        found.add(max(letters.split(), key=len))
    return sorted(found)


def judge(call: Call) -> None:
    """Judge one command by the table; `--output=FILE` counts for every command."""
    rule = TABLE.get(call.name)
    if rule is None and call.name[-1:].isdigit():
        rule = TABLE.get(call.name.rstrip("0123456789.-"))
    if rule is not None:
        rule(call)
    for word in call.words:
        if word.startswith("--output") and "=" in word:
            call.write(word.partition("=")[2], f"`{call.name}` writing its output")


__all__ = ["Denied", "Trouble", "command_name", "judge"]
