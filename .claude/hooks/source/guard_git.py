"""git: what puts other contents into the working tree, moves files, or sweeps untracked ones away (hooks.md 4.5)."""

from __future__ import annotations

import guard_words as marks
from guard_options import has, split_options, values
from guard_paths import is_folder
from guard_places import folders_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_shell import Call


def git(call: Call) -> None:
    """Judge git: commands that put other contents into the working tree, move files, or sweep untracked ones away."""
    words = call.words[1:]
    at, folder = 0, ""
    while at < len(words) and words[at][:1] == "-":
        if words[at] == "-C" and at + 1 < len(words):
            folder = words[at + 1] if not folder or words[at + 1][:1] == "/" else f"{folder}/{words[at + 1]}"
        if words[at].startswith("--work-tree="):
            folder = words[at].partition("=")[2]
        if words[at] == "-c" and at + 1 < len(words) and "=!" in words[at + 1]:
            call.code(words[at + 1].partition("=!")[2])
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path") else 1
    rule = GIT.get(words[at]) if at < len(words) else None
    for place, word in enumerate(words[at:]):
        if word == "-o" and words[at] == "archive":
            call.write("".join(words[at + place + 1 : at + place + 2]), "`git archive -o`")
    if rule:
        before = call.reader.folders
        if folder:
            call.reader.folders = folders_of(call, folder)[0]
        rule(call, words[at:])
        call.reader.folders = before


def pathspec(call: Call, text: str) -> str:
    """Return a pathspec as a path: magic taken off, patterns that git itself expands as marks."""
    if text.startswith(":("):
        magic, _, rest = text[2:].partition(")")
        text = "/" + rest if "top" in magic else rest
        text = ":" + text if text.startswith("/") and "top" in magic else text
    if text.startswith(":/"):
        text = (call.reader.paths.roots[-1] if call.reader.paths.roots else "") + "/" + text[2:]
    return text.replace("*", marks.WILD).replace(marks.STAR, marks.WILD).replace("?", marks.ANY)


def git_paths(call: Call, words: list[str], how: str, only_folders_that_are: bool = False) -> None:
    """Deny pathspecs that are a protected file, or a folder above one that is not the root."""
    for word in dict.fromkeys(words):
        text = pathspec(call, word)
        call.write(text, how)
        for folder in call.reader.folders:
            if call.reader.paths.is_root(text, folder):
                continue
            if only_folders_that_are and not is_folder(call.reader.paths.absolute(text, folder)):
                continue
            if marks.WILD in text and text.strip(marks.WILD + "./") == "":
                continue
            call.write_tree(text, how)


def git_checkout(call: Call, words: list[str]) -> None:
    """Judge `git checkout [TREE] -- PATH`, also without the mark."""
    if "--" in words:
        git_paths(call, words[words.index("--") + 1 :], "`git checkout`")
    else:
        _, operands = split_options(words[1:], "bB", "--branch --orphan --conflict --pathspec-from-file")
        git_paths(call, operands, "`git checkout`", only_folders_that_are=True)


def git_restore(call: Call, words: list[str]) -> None:
    """Judge `git restore`; of the index alone it changes no file."""
    options, operands = split_options(words[1:], "s", "--source --conflict --pathspec-from-file")
    if not has(options, "-S", "--staged") or has(options, "-W", "--worktree"):
        git_paths(call, operands, "`git restore`")


def git_rm(call: Call, words: list[str]) -> None:
    """Judge `git rm`; from the index alone it removes no file."""
    options, operands = split_options(words[1:])
    if not has(options, "--cached", "-n", "--dry-run"):
        git_paths(call, operands, "`git rm`")


def git_mv(call: Call, words: list[str]) -> None:
    """Judge `git mv`: the sources, the target, and what falls into it."""
    options, operands = split_options(words[1:])
    if not has(options, "-n", "--dry-run"):
        git_paths(call, operands[:-1], "`git mv`")
        call.again(["cp", *operands], "")


def git_clean(call: Call, words: list[str]) -> None:
    """Deny cleaning that takes ignored files along, or that names a protected file."""
    options, operands = split_options(words[1:], "e", "--exclude")
    if has(options, "-n", "--dry-run"):
        return
    if has(options, "-x", "-X"):
        call.write_tree(call.reader.paths.roots[0], "`git clean` of ignored files")
        call.write_tree(call.reader.paths.cwd, "`git clean` of ignored files")
    git_paths(call, operands, "`git clean`")


def git_stash(call: Call, words: list[str]) -> None:
    """Deny stashing untracked files, and stashing a protected one."""
    if len(words) > 1 and words[1][:1] != "-" and words[1] not in ("push", "save"):
        return
    at = words.index("--") if "--" in words else len(words)
    options, operands = split_options([word for word in words[1:at] if word not in ("push", "save")], "m", "--message")
    if has(options, "-u", "-a", "--include-untracked", "--all"):
        call.write_tree(call.reader.paths.roots[0], "`git stash` of untracked files")
    git_paths(call, ([] if "save" in words[:2] else operands) + words[at + 1 :], "`git stash`")


def git_apply(call: Call, words: list[str]) -> None:
    """Judge a patch on stdin."""
    import guard_code

    options, _ = split_options(words[1:], "pC", "--directory --include --exclude")
    if call.stdin and not has(options, "--check", "--stat", "--numstat", "--summary", "--cached"):
        guard_code.judge_patch(call, call.stdin)


def git_runs(call: Call, words: list[str]) -> None:
    """Judge the command that `git bisect run`, `submodule foreach` or `rebase --exec` starts."""
    options, operands = split_options(words[1:], "x", "--exec")
    for code in values(options, "-x", "--exec"):
        call.code(code)
    if operands[:1] in (["run"], ["foreach"]):
        call.code(" ".join(words[words.index(operands[0]) + 1 :]))


GIT = {
    "checkout": git_checkout,
    "checkout-index": git_checkout,
    "restore": git_restore,
    "rm": git_rm,
    "mv": git_mv,
    "clean": git_clean,
    "stash": git_stash,
    "apply": git_apply,
    "am": git_apply,
    "bisect": git_runs,
    "submodule": git_runs,
    "rebase": git_runs,
}


TABLE: dict[str, Rule] = {"git": git}
