"""Shells and interpreters: where the code comes from that they run (hooks.md 4.6).

Shell code goes back to the reader; other code goes to `guard_code`, which is compiled only when there is some.
"""

from __future__ import annotations

from guard_builtins import STDIN
from guard_commands import rules
from guard_options import first_operand, split_options, values
from guard_words import UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_shell import Call


def shell(call: Call) -> None:
    """Judge the code of `sh -c`, of a script that the text shows, or on the shell's stdin."""
    words, at, code, from_stdin = call.words, 1, False, call.name in ("at", "batch")
    while at < len(words) and words[at][:1] in ("-", "+") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word == "--":
            break
        if word[:2] == "--":
            at += word in ("--rcfile", "--init-file", "--command")
            code = code or word == "--command"
            continue
        code = code or ("c" in word and word[0] == "-")
        from_stdin = from_stdin or ("s" in word and word[0] == "-")
        at += word[-1] in "oO"
    if code:
        for given in words[at : at + 1]:
            call.out = call.code(given, words[at + 1 :] or ())
        return
    script = words[at] if at < len(words) and not from_stdin else "-"
    text = call.reader.shared.stream_text(script)
    if text is not None:
        call.out = call.code(text, words[at:])
    elif script in STDIN:
        if call.stdin is None:
            for frame in call.reader.frames:
                frame.reads = True
        elif call.stdin != UNKNOWN:
            call.out = call.code(call.stdin, ["", *words[at:]])


def switch_user(call: Call) -> None:
    """Judge `su -c CODE`."""
    options, _ = split_options(call.words[1:], "csugG", "--command --shell --user --group")
    for text in values(options, "-c", "--command"):
        call.code(text)
    if "--" in call.words:
        call.again(call.words[call.words.index("--") + 1 :] or ["true"])


def watch(call: Call) -> None:
    """Judge the code that `watch` repeats."""
    words = call.words[1:]
    at = first_operand(words, "nq", "--interval --equexit")
    call.code(" ".join(words[at:]))


# Letters of flags that take code, of those that take another value, and of those glued to a value.
LANGUAGES = {
    "python": ("c", "WX", ""),
    "pypy": ("c", "WX", ""),
    "ipython": ("c", "", ""),
    "node": ("ep", "rC", ""),
    "nodejs": ("ep", "rC", ""),
    "deno": ("ep", "", ""),
    "bun": ("ep", "r", ""),
    "perl": ("eE", "I", "i0lCDdFmMVx"),
    "ruby": ("e", "rICEFx", "i0KTW"),
    "php": ("rBRE", "dcfFtSz", ""),
    "lua": ("e", "l", ""),
    "luajit": ("e", "lbj", ""),
    "tclsh": ("", "", ""),
    "rscript": ("e", "", ""),
    "osascript": ("e", "ls", ""),
    "julia": ("eE", "LpJ", ""),
}
LONG_CODE = ("--eval", "--print", "--run", "--expression")


class Program:
    """What an interpreter was given: texts of code, operands, a module, and whether it edits its files in place."""

    __slots__ = ("codes", "in_place", "module", "operands")

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.operands: list[str] = []
        self.module = ""
        self.in_place = False


def interpreter(call: Call) -> None:
    """Judge the code that an interpreter is given, and the files that it edits in place."""
    name = call.name if call.name in LANGUAGES else call.name.rstrip("0123456789.-")
    program = read_program(name, call.words[1:])
    if program.in_place:
        for operand in program.operands:
            call.write(operand, f"`{name} -i`")
    if program.module == "json.tool":
        _, operands = split_options(program.operands, "", "--indent")
        for operand in operands[1:2]:
            call.write(operand, "`json.tool` writing its output")
    codes = program.codes
    if not codes and not program.module:
        script = program.operands[0] if program.operands else "-"
        text = call.reader.shared.stream_text(script)
        text = call.stdin if text is None and script in STDIN else text
        codes = [text] if text else []
    for code in codes:
        import guard_code

        guard_code.judge_code(call, plain(code), name)


def read_program(name: str, words: list[str]) -> Program:
    """Return what the words of an interpreter give it."""
    program = Program()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("--") and len(word) > 2:
            flag, equals, value = word.partition("=")
            if flag in LONG_CODE:
                program.codes += [value] if equals else words[at : at + 1]
                at += not equals
        elif word[:1] == "-" and len(word) > 1:
            at += read_cluster(program, name, word[1:], words[at : at + 1])
            if name in ("python", "pypy") and (program.codes or program.module):
                program.operands += words[at:]
                break
        elif word == "eval" and name in ("deno", "bun") and not program.operands:
            program.codes += words[at : at + 1]
            at += 1
        else:
            program.operands.append(word)
            if name not in ("perl", "ruby") or not (program.codes or program.in_place):
                program.operands += words[at:]
                break
    return program


def read_cluster(program: Program, name: str, letters: str, following: list[str]) -> int:
    """Take the flags of one cluster; return how many of the following words they use."""
    code, valued, glued = LANGUAGES[name]
    for at, letter in enumerate(letters):
        rest = letters[at + 1 :]
        if letter in code:
            if rest and name in ("node", "nodejs", "deno", "bun"):
                continue
            program.codes += [rest] if rest else following
            return 0 if rest else 1
        if letter == "m" and name in ("python", "pypy"):
            program.module = rest or "".join(following)
            return 0 if rest else 1
        if letter == "i" and name in ("perl", "ruby"):
            program.in_place = True
        if letter in valued:
            return 0 if rest else 1
        if letter in glued and not (letter in "0l" and rest):
            return 0
    return 0


def awk(call: Call) -> None:
    """Judge awk."""
    import guard_code

    guard_code.awk(call)


def other_shell(call: Call) -> None:
    """Judge the text of `pwsh` and `cmd`."""
    import guard_code

    guard_code.judge_power(call, " ".join(call.words[1:]) + "\n" + (call.stdin or ""))


TABLE: dict[str, Rule] = {
    **rules("sh bash zsh dash ksh ash rbash mksh fish at batch", shell),
    **rules("su runuser", switch_user),
    "watch": watch,
    **rules(" ".join(LANGUAGES), interpreter),
    **rules("awk gawk mawk nawk", awk),
    **rules("pwsh powershell cmd", other_shell),
}
