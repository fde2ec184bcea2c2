"""Commands that write their operands, or the file that a flag or a place names (hooks.md 4.5)."""

from __future__ import annotations

from guard_builtins import pass_on, pass_stdin
from guard_commands import rules
from guard_options import has, split_options, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_shell import Call


def operands_rule(valued: str = "", longs: str = "", reading: str = "", tree: bool = False) -> Rule:
    """Return the rule of a command that changes its operands; none if one of the `reading` flags is given."""

    def rule(call: Call) -> None:
        options, operands = split_options(call.words[1:], valued, longs)
        if reading and has(options, *reading.split()):
            return
        for operand in dict.fromkeys(operands):
            (call.write_tree if tree else call.write)(operand)

    return rule


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
        for at, flag in enumerate(call.words[1:], 2):
            value = "".join(call.words[at : at + 1])
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


def both(first: Rule, second: Rule) -> Rule:
    """Return the rule that is the two rules, one after the other."""

    def rule(call: Call) -> None:
        first(call)
        second(call)

    return rule


TABLE: dict[str, Rule] = {
    **rules("tee sponge gtee", both(operands_rule(), pass_stdin)),
    **rules("rm grm trash trash-put rimraf srm wipe del unlink", operands_rule(tree=True)),
    "rmdir": operands_rule(),
    "shred": operands_rule("ns", "--iterations --size --random-source", tree=True),
    **rules("truncate gtruncate", operands_rule("sr", "--size --reference")),
    **rules("chmod chown chgrp", operands_rule("", "--reference --from", tree=True)),
    "setfacl": operands_rule("mMxX", "--modify --remove --set --restore", tree=True),
    "chattr": attributes,
    "chflags": operands_rule(tree=True),
    "fallocate": operands_rule("lo", "--length --offset"),
    **rules("dos2unix unix2dos mac2unix unix2mac", operands_rule("ic", "--info")),
    **rules("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress", compress),
    **rules("rename prename rename.ul file-rename", operands_rule()),
    **rules("mkfifo mknod", operands_rule("m")),
    **rules("dd gdd", dd),
    "sort": both(output_rule("-o --output", "kStT"), pass_on),
    "shuf": output_rule("-o --output", "enir"),
    **rules("gpg gpg2", output_rule("-o --output", "ru")),
    "pandoc": output_rule("-o --output", "ftr"),
    **rules("cc gcc g++ clang clang++ c++ ld as rustc go iconv objcopy jsonnet", word_output_rule("-o", "--output")),
    "openssl": word_output_rule("-out"),
    "tcpdump": word_output_rule("-w"),
    **rules("yq jaq", in_place_rule("-i", "--inplace", "--in-place")),
    **rules("prettier black", in_place_rule("-w", "--write")),
    "uniq": both(second_operand_rule("fsw"), pass_on),
    "xxd": second_operand_rule("clsgo"),
}
