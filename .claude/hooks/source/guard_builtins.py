"""Commands that change nothing but where and what the shell is, and what commands print (hooks.md 4.4)."""

from __future__ import annotations

from guard_commands import rules
from guard_options import split_options
from guard_places import folders_of, is_assignment
from guard_shell import ELSEWHERE, is_name
from guard_words import UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_shell import Call


def change_folder(call: Call) -> None:
    """Move to another folder, as `cd` does."""
    reader = call.reader
    _, operands = split_options([word for word in call.words[1:] if word != "-"])
    target = operands[0] if operands else reader.paths.home
    if "-" in call.words[1:]:
        target = reader.before
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
        import guard_syntax

        guard_syntax.set_positional(call.reader, ["", *words[words.index("--") + 1 :]])
    set_options(call)


def set_options(call: Call) -> None:
    """Note options that let patterns match names with a leading dot."""
    text = "".join(call.words).lower().replace("_", "")
    if "dotglob" in text or "globdots" in text:
        call.reader.paths.dots = True
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
            call.reader.shared.spend(len(call.reader.aliases) >> 6)
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


STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def echo(call: Call) -> None:
    """Print the words."""
    words, decoded = call.words[1:], False
    while words and words[0][:1] == "-" and len(words[0]) > 1 and not set(words[0][1:]) - set("neE"):
        decoded = decoded or "e" in words[0]
        words = words[1:]
    text = " ".join(words) + "\n"
    if decoded:
        from guard_expand import decode

        text = decode(text)
    call.out = text
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
    from guard_expand import decode

    done: list[str] = []
    rest = list(words)
    pieces = conversions(decode(plain(form)))
    taken = sum(piece[:1] == "%" and piece != "%%" for piece in pieces)
    while True:
        for piece in pieces:
            if piece[:1] != "%":
                done.append(piece)
            elif piece == "%%":
                done.append("%")
            else:
                word = rest.pop(0) if rest else ""
                done.append(decode(word) if piece == "%b" else word)
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


TABLE: dict[str, Rule] = {
    **rules("cd chdir", change_folder),
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
    **rules("echo print", echo),
    "printf": print_format,
    **rules("cat head tail tac", pass_on),
    "pwd": print_folder,
    "mktemp": make_temporary,
    **rules("basename dirname realpath readlink", print_part),
}
