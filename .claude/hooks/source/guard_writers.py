"""How commands write the files that their operands and options name (hooks.md 4.5)."""

from __future__ import annotations

from guard_commands import rules
from guard_options import has, split_options, values
from guard_words import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_options import Options
    from guard_shell import Call


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


LONGEST_PATH = 1024


def sed_line(call: Call, line: str) -> None:
    """Judge the `w FILE` and `e COMMAND` in one line of a sed script."""
    for at, char in enumerate(line[-LONGEST_PATH:], max(0, len(line) - LONGEST_PATH)):
        rest = line[at + 1 :].strip() if char in "wWe" else ""
        if char in "wW" and rest:
            call.write(rest, "sed's `w`")
        elif char == "e" and rest and (at == 0 or line[at - 1] in "0123456789$/!{; ") and line[at + 1] == " ":
            call.code(rest)


def tar(call: Call) -> None:
    """Judge `tar`: the archive it writes, members it unpacks by name, files it removes."""
    words = call.words[1:]
    if words and words[0][:1] != "-":
        words = ["-" + words[0], *words[1:]]
    options, operands = split_options(
        words, "fCTXbgKNVILFH", "--file --directory --files-from --exclude --exclude-from"
    )
    if words and "f" in words[0][1:-1] and words[0][:2] != "--" and values(options, "-f")[0:1] != [""]:
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
        return [("-" + letter, "") for letter in letters if letter != "f"] + [
            ("-f", words[1] if len(words) > 1 else "")
        ], words[2:]
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


TABLE: dict[str, Rule] = {
    **rules("sed gsed", sed),
    **rules("tar gtar bsdtar", tar),
    "unzip": unpack,
    **rules("curl wget", fetch),
    "script": script_command,
    "patch": patch,
    **rules("apply_patch applypatch", apply_patch),
    **rules("ed ex vi vim nvim gvim rvim view nano pico emacs emacsclient micro joe mcedit red", editor),
}
