"""Copies, moves and links: their target, what falls into it, and the sources of some (hooks.md 4.5)."""

from __future__ import annotations

import os

import guard_words as marks
from guard_commands import rules
from guard_match import pattern_fits
from guard_options import has, split_options, values
from guard_paths import exists, is_folder
from guard_places import folders_of
from guard_words import STAR, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_options import Options
    from guard_shell import Call


COPY_OPTIONS = {
    "cp": ("St", "--suffix --target-directory"),
    "mv": ("St", "--suffix --target-directory"),
    "ln": ("St", "--suffix --target-directory"),
    "install": ("Stgmo", "--suffix --target-directory --mode --owner --group"),
    "rsync": (
        "efTBM@",
        "--rsh --filter --exclude --include --exclude-from --include-from --files-from --log-file --temp-dir",
    ),
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
    operands = list(dict.fromkeys(operands))
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
            if pattern_fits(name, found):
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


def link_command(call: Call) -> None:
    """Judge `link OLD NEW`."""
    for word in call.words[1:3]:
        call.write(word, "a hard link by `link`")


TABLE: dict[str, Rule] = {
    **rules("cp mv ln install rsync scp gcp gmv gln ginstall", copy),
    "link": link_command,
}
