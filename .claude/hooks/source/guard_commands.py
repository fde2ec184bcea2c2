"""Find the rule that judges a command: one table from names to the module whose TABLE holds the rule (hooks.md 4.5).

A rule gets a `Call` and denies it through `Call.write` (a file) or `Call.write_tree` (a file or a folder above one).
Commands that are not in a table only read, as far as the guard knows. A module is compiled when one of its commands
occurs; a test compares its TABLE with the names here.
"""

from __future__ import annotations

from guard_words import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from guard_shell import Call

    Rule = Callable[[Call], None]

MODULES = {
    "guard_builtins": (
        "cd chdir pushd popd mkdir export declare local readonly typeset integer float set shopt setopt read "
        "alias eval trap . source exit return true : sleep unset false echo print printf cat head tail tac pwd "
        "mktemp basename dirname realpath readlink"
    ),
    "guard_wrappers": (
        "env sudo doas nohup builtin setsid unbuffer busybox toybox noglob nocorrect fakeroot eatmydata npx bunx "
        "uvx proxychains torsocks firejail valgrind rlwrap unshare setpriv systemd-run dbus-run-session - coproc "
        "command exec time nice ionice stdbuf timeout gtimeout chrt taskset chroot repeat setarch strace ltrace "
        "caffeinate xvfb-run flock uv poetry pdm rye pipenv hatch pipx conda mamba micromamba"
    ),
    "guard_operands": (
        "tee sponge gtee rm grm trash trash-put rimraf srm wipe del unlink rmdir shred truncate gtruncate chmod "
        "chown chgrp setfacl chattr chflags fallocate dos2unix unix2dos mac2unix unix2mac gzip gunzip bzip2 "
        "bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress rename prename rename.ul file-rename "
        "mkfifo mknod dd gdd sort shuf gpg gpg2 pandoc cc gcc g++ clang clang++ c++ ld as rustc go iconv objcopy "
        "jsonnet openssl tcpdump yq jaq prettier black uniq xxd"
    ),
    "guard_copies": "cp mv ln install rsync scp gcp gmv gln ginstall link",
    "guard_writers": (
        "sed gsed tar gtar bsdtar unzip curl wget script patch apply_patch applypatch ed ex vi vim nvim gvim rvim "
        "view nano pico emacs emacsclient micro joe mcedit red"
    ),
    "guard_search": "find gfind xargs gxargs parallel ls grep egrep fgrep",
    "guard_git": "git",
    "guard_programs": (
        "sh bash zsh dash ksh ash rbash mksh fish at batch su runuser watch python pypy node nodejs deno bun perl "
        "ruby php lua luajit tclsh ipython rscript osascript julia awk gawk mawk nawk pwsh powershell cmd"
    ),
}
HOMES = {name: module for module, listed in MODULES.items() for name in listed.split()}

# Commands that only print or succeed: their rules matter where somebody uses what they print.
PRINTERS = names(
    "echo print printf cat head tail tac pwd ls grep egrep fgrep basename dirname realpath readlink true : sleep"
)
SUCCEEDING = names("echo print printf pwd true : sleep")

# Modules whose commands write only through the words of another command, a redirection, or a name that they spell out.
QUIET_MODULES = ("guard_builtins", "guard_wrappers", "guard_search", "guard_git", "guard_programs")
LOUD = "time strace ltrace find gfind perl ruby awk gawk mawk nawk pwsh powershell cmd"
# Words that can change a file without being a command's name.
OTHER_WORDS = "checkout restore clean stash output delete json replace editor insert"


def telling_words() -> list[str]:
    """Return the words of which a command must hold one to change a file that it doesn't name; letters only."""
    loud = [name for name, module in HOMES.items() if module not in QUIET_MODULES]
    found = set()
    for name in [*loud, *LOUD.split(), *OTHER_WORDS.split()]:
        letters = "".join(char if char.isalpha() else " " for char in name)
        found.add(max(letters.split(), key=len))
    return sorted(found)


def rules(names: str, rule: Rule) -> dict[str, Rule]:
    """Return a table that gives each name the rule."""
    return dict.fromkeys(names.split(), rule)


def judge(call: Call, used: bool) -> None:
    """Judge one command by the tables; `--output=FILE` counts for every command.

    `used`: whether somebody uses what it prints.
    """
    name = call.name
    if name not in HOMES and name[-1:].isdigit():
        name = name.rstrip("0123456789.-")
    if name in PRINTERS and not used and call.words[1:2] != ["-v"]:
        call.state = "ok" if name in SUCCEEDING else "?"
    elif name in HOMES:
        table: dict[str, Rule] = __import__(HOMES[name]).TABLE
        table[name](call)
    judge_output_flags(call, call.words)


def judge_output_flags(call: Call, words: Iterable[str]) -> None:
    """Deny `--output=FILE` and its kin."""
    for word in words:
        if word.startswith("--output") and "=" in word:
            call.write(word.partition("=")[2], f"`{call.name}` writing its output")
