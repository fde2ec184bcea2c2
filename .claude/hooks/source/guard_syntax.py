"""The rarer syntax of the shell: keywords, heredocs, parameters, arrays, functions (hooks.md 4.4).

Its functions work on a `Reader` of `guard_shell`, which imports this module where a text needs it.
"""

from __future__ import annotations

import guard_words as marks
from guard_shell import (
    BRANCHES,
    CLOSERS,
    ENDS,
    MOST_CHOICES,
    NAME_REST,
    OPENERS,
    PASSED,
    QUOTES,
    Trouble,
    Word,
    is_name,
    joined,
    printed,
    words_of,
)
from guard_words import UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_shell import Call, Frame, Piece, Reader, Shared


def set_positional(reader: Reader, words: list[str]) -> None:
    """Give `$0`, `$1` … and `$@` their values; words[0] is `$0`."""
    for number, word in enumerate(words):
        reader.assign(str(number), [plain(word)])
    for name in "@*":
        reader.assign(name, [" ".join(map(plain, words[1:]))])


def skip_parentheses(reader: Reader, at: int) -> int:
    """Return the position behind the parenthesis that closes a pattern."""
    depth = 0
    while at < reader.end:
        char = reader.text[at]
        if char == "\\":
            at += 1
        elif char in "'\"":
            at = reader.find(char, at + 1)
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return at + 1
        at += 1
    raise Trouble("an open parenthesis")


def array(reader: Reader) -> list[str]:
    """Read the words of an array up to its parenthesis; each may be the value."""
    values: list[str] = []
    while True:
        reader.blanks(newlines=True)
        if reader.pos >= reader.end:
            raise Trouble("an open array")
        if reader.text[reader.pos] == ")":
            reader.pos += 1
            return values or [""]
        if reader.text[reader.pos] in ENDS:
            raise Trouble("an operator in an array")
        values += [field for text in reader.word().texts for field in marks.fields(text)]


def process(reader: Reader) -> str:
    """Judge a process substitution and return a path that stands for it."""
    nested = reader.inner(reader.text, reader.pos + 2)
    nested.program(")")
    reader.pos = nested.pos
    return reader.shared.stream(nested.output())


def backquoted(reader: Reader, pieces: list[Piece], quoted: bool = False) -> bool:
    """Judge a command substitution in backquotes."""
    text, at, code = reader.text, reader.pos + 1, []
    while True:
        if at >= reader.end:
            raise Trouble("an open backquote")
        char = text[at]
        if char == "`":
            break
        if char == "\\" and text[at + 1 : at + 2] in ("`", "\\", "$", '"' if quoted else "`"):
            at += 1
        code.append(text[at])
        at += 1
    reader.pos = at + 1
    nested = reader.inner("".join(code), 0)
    nested.program("")
    pieces.append(printed(nested.output(), quoted))
    return False


def ansi(reader: Reader) -> str:
    """Read a text in `$'…'`."""
    at = reader.pos + 2
    while at < reader.end and reader.text[at] != "'":
        at += 2 if reader.text[at] == "\\" else 1
    if at >= reader.end:
        raise Trouble("an open $'")
    from guard_expand import decode

    start, reader.pos = reader.pos + 2, at + 1
    return decode(reader.text[start:at])


def parameter(reader: Reader) -> list[str]:
    """Read the rest of `${…}` and return its possible values."""
    text = reader.text
    prefix = text[reader.pos : reader.pos + 1]
    if prefix in ("!", "#", "^", "=", "~") and text[reader.pos + 1 : reader.pos + 2] not in ("}", ""):
        reader.pos += 1
    elif text.startswith("(P)", reader.pos):
        prefix, reader.pos = "!", reader.pos + 3
    start = reader.pos
    while reader.pos < reader.end and text[reader.pos] in NAME_REST:
        reader.pos += 1
    if reader.pos == start and text[start : start + 1] in tuple("@*?$!-"):
        reader.pos += 1
    values = reader.value(text[start : reader.pos]) if reader.pos > start else [UNKNOWN]
    if prefix == "!":
        values = [one for name in values for one in reader.value(name)]
    name = text[start : reader.pos]
    operand = read_operand(reader)
    if prefix == "#":
        return [UNKNOWN]
    if operand and operand[0].lstrip(":") == "=" and is_name(name):
        reader.assign(name, applied(values, *operand))
    return applied(values, *operand) if operand else values


def read_operand(reader: Reader) -> tuple[str, list[str]] | None:
    """Read the operator of `${name…}` and the possible texts behind it, up to the closing brace."""
    text, start = reader.text, reader.pos
    if text[reader.pos : reader.pos + 1] == "[":
        reader.pos = reader.find("]", reader.pos) + 1
        start = reader.pos
    while reader.pos < reader.end and text[reader.pos] in ":-=+?#%/^,@~":
        reader.pos += 1
    operator = text[start : reader.pos]
    pieces: list[Piece] = []
    while reader.pos < reader.end and text[reader.pos] != "}":
        if text[reader.pos] in QUOTES:
            QUOTES[text[reader.pos]](reader, pieces)
        else:
            pieces.append(text[reader.pos])
            reader.pos += 1
    if reader.pos >= reader.end:
        raise Trouble("an open ${")
    reader.pos += 1
    return (operator, joined(pieces, reader.shared)) if operator or pieces else None


def define(reader: Reader, name: str) -> None:
    """Mark the group that follows as the body of a function."""
    reader.words = []
    reader.defining = name


def next_branch(reader: Reader) -> None:
    """Begin another branch of the innermost condition."""
    frame = reader.frames[-1]
    if frame.kind not in ("if", "case"):
        return
    frame.branches.append(reader.folders)
    reader.folders = frame.won = frame.entry
    frame.lost = ()
    frame.link = ""


def patterns(reader: Reader) -> None:
    """Read the patterns of the next branch of a `case`, or the `esac` in their place."""
    if reader.frames[-1].kind != "case":
        return
    reader.blanks(newlines=True)
    if reader.text[reader.pos : reader.pos + 1] == "(":
        reader.pos += 1
    while reader.pos < reader.end:
        reader.blanks(newlines=True)
        char = reader.text[reader.pos : reader.pos + 1]
        if char == ")":
            reader.pos += 1
            return
        if char == "|":
            reader.pos += 1
        elif char in ENDS or not char:
            return
        elif reader.word().bare == "esac":
            reader.leave("case")
            return


def keyword(reader: Reader, word: str) -> bool:
    """Carry out a keyword; return False if the word is an ordinary one here."""
    if word in CLOSERS:
        reader.finish("")
        return reader.leave(CLOSERS[word])
    if reader.closed:
        reader.finish("")
    if word in BRANCHES:
        reader.settle(reader.frames[-1])
        next_branch(reader)
    elif word in PASSED:
        reader.frames[-1].link = ""
    elif word == "function":
        reader.blanks()
        name = reader.word().texts[0]
        reader.blanks()
        if reader.text.startswith("(", reader.pos) and reader.blank_parentheses():
            reader.pos = reader.find(")", reader.pos) + 1
        define(reader, name)
    elif word == "case":
        case(reader)
    elif word == "[[":
        condition(reader)
    elif word in ("for", "select", "foreach"):
        loop(reader)
    elif word in OPENERS:
        reader.enter(OPENERS[word])
    else:
        return False
    return True


def case(reader: Reader) -> None:
    """Read `case WORD in` and the patterns of the first branch."""
    reader.blanks()
    reader.word()
    reader.blanks(newlines=True)
    if reader.pos < reader.end and reader.text[reader.pos] not in ENDS:
        reader.word()
    reader.enter("case")
    patterns(reader)


def condition(reader: Reader) -> None:
    """Read `[[ … ]]`, in which operators compare."""
    while True:
        reader.blanks(newlines=True)
        if reader.pos >= reader.end:
            raise Trouble("an open [[")
        if reader.text[reader.pos] in ENDS and reader.text[reader.pos : reader.pos + 2] not in ("<(", ">("):
            reader.pos += 1
        elif reader.word().bare == "]]":
            reader.words.append(Word(["[["]))
            return


def loop(reader: Reader) -> None:
    """Read the head of a `for`: its variable takes each of the words."""
    reader.enter("loop")
    reader.blanks()
    if reader.text.startswith("((", reader.pos) or reader.pos >= reader.end or reader.text[reader.pos] in ENDS:
        return
    name = reader.word().texts[0]
    reader.blanks(newlines=True)
    closer = ""
    if reader.text.startswith("(", reader.pos):
        reader.pos += 1
        closer = ")"
    elif reader.text[reader.pos : reader.pos + 2] == "in" and reader.text[reader.pos + 2 : reader.pos + 3] in ENDS | {
        ""
    }:
        reader.pos += 2
    else:
        reader.assign(name, reader.value("@"))
        return
    values: list[str] = []
    while True:
        reader.blanks(newlines=bool(closer))
        if reader.pos >= reader.end or (
            reader.text[reader.pos] in ENDS and reader.text[reader.pos : reader.pos + 2] not in ("<(", ">(")
        ):
            break
        values += [field for text in reader.word().texts for field in marks.fields(text)]
    if closer and reader.text.startswith(closer, reader.pos):
        reader.pos += 1
    reader.shared.spend(len(reader.vars) >> 6)
    reader.vars = {**reader.vars, name: distinct(values) or [""]}
    reader.lent = False


def heredoc(reader: Reader, indented: bool) -> None:
    """Find the body of a heredoc, which begins behind the line, and put it on stdin."""
    delimiter, is_quoted = read_delimiter(reader)
    if reader.line_end < reader.pos:
        reader.line_end = end_of_line(reader)
    start = reader.skips.get(reader.line_end, reader.line_end + 1)
    body, end = cut_body(reader, start, delimiter, indented)
    reader.skips[reader.line_end] = end
    reader.body = body if is_quoted else expanded(reader, body)


def read_delimiter(reader: Reader) -> tuple[str, bool]:
    """Read the delimiter of a heredoc without expanding it; return it and whether it is quoted."""
    text, start, done = reader.text, reader.pos, []
    while reader.pos < reader.end and text[reader.pos] not in ENDS:
        char = text[reader.pos]
        if char == "\\":
            done.append(text[reader.pos + 1 : reader.pos + 2])
            reader.pos += 2
        elif char in "'\"":
            close = reader.find(char, reader.pos + 1)
            done.append(text[reader.pos + 1 : close])
            reader.pos = close + 1
        else:
            if char != "$" or text[reader.pos + 1 : reader.pos + 2] not in ("'", '"'):
                done.append(char)
            reader.pos += 1
    return "".join(done), any(char in "'\"\\" for char in text[start : reader.pos])


def end_of_line(reader: Reader) -> int:
    """Return where the current line ends: at a line break outside quotes, substitutions and comments."""
    text, at = reader.text, reader.pos
    open_ones: list[str] = []
    while at < reader.end:
        char = text[at]
        inside = open_ones[-1] if open_ones else ""
        if char == "\\":
            at += 1
        elif char == '"':
            if inside == '"':
                open_ones.pop()
            else:
                open_ones.append(char)
        elif inside == '"':
            if text.startswith("$(", at):
                open_ones.append("(")
                at += 1
        elif char == "'":
            at = reader.find("'", at + 1)
        elif char == "\n":
            break
        elif char == "#" and text[at - 1] in " \t;&|(":
            return find_or_end(reader, "\n", at)
        elif char == "(":
            open_ones.append("(")
        elif char == ")" and inside == "(":
            open_ones.pop()
        at += 1
    return min(at, reader.end)


def find_or_end(reader: Reader, char: str, at: int) -> int:
    """Return where the character stands next, or the end of the text."""
    found = reader.text.find(char, at)
    return reader.end if found < 0 else found


def cut_body(reader: Reader, start: int, delimiter: str, indented: bool) -> tuple[str, int]:
    """Return the body of a heredoc that begins at `start`, and where the text goes on behind it."""
    at, lines = start, []
    while at < reader.end:
        stop = find_or_end(reader, "\n", at)
        line = reader.text[at:stop]
        if indented:
            line = line.lstrip("\t")
        at = stop + 1
        if line == delimiter:
            break
        lines.append(line + "\n")
    return "".join(lines), min(at, reader.end)


def expanded(reader: Reader, body: str) -> str:
    """Judge the substitutions in an unquoted body and return it, expanded as far as known."""
    if "$" not in body and "`" not in body and "\\" not in body:
        return body
    nested = reader.inner(body, 0)
    pieces: list[Piece] = []
    nested.quoted(pieces, "")
    return joined(pieces, reader.shared)[0]


def code_of_group(reader: Reader, closed: Frame) -> None:
    """Judge the body behind a group in which a shell reads its code from stdin."""
    nested = reader.inner(reader.body or "", 0)
    nested.folders = closed.entry
    nested.program("")


def call_function(reader: Reader, call: Call) -> None:
    """Judge the body of a function with the words of its call, in this shell."""
    reader.shared.spend(40)
    text, start, end = reader.functions[call.words[0]]
    nested = reader.inner(text[:end], start)
    nested.calling = reader.calling | {call.words[0]}
    nested.skips = {}
    set_positional(nested, call.words)
    nested.frames[0].stdin = call.stdin
    nested.program("")
    reader.folders, reader.vars, reader.lent = nested.folders, nested.vars, True
    call.out = nested.output()


def combinations(shared: Shared, words: list[Word]) -> list[list[str]]:
    """Return the possible word lists of a command; past 64 the k-th values of all words go together."""
    count = 1
    for word in words:
        count *= len(word.texts)
    if count == 1:
        return [words_of([(word, word.texts[0]) for word in words])]
    shared.spend(count if count <= MOST_CHOICES else max(len(word.texts) for word in words) * len(words))
    if count > MOST_CHOICES:
        most = max(len(word.texts) for word in words)
        return [words_of([(word, word.texts[k % len(word.texts)]) for word in words]) for k in range(most)]
    lists: list[list[tuple[Word, str]]] = [[]]
    for word in words:
        lists = [[*one, (word, text)] for one in lists for text in word.texts]
    return [words_of(one) for one in lists]


def applied(values: list[str], operator: str, operands: list[str]) -> list[str]:
    """Return what `${name<operator><operand>}` may stand for."""
    kind = operator.lstrip(":")[:1]
    if kind in ("-", "="):
        return marks.unique([*values, *operands])
    if kind == "+":
        return ["", *operands]
    if kind in ("?", "^", ",", "~", "@"):
        return values
    if kind in ("#", "%"):
        return [stripped(value, kind, operand) for value in values for operand in operands]
    if kind == "/":
        return [replaced(value, operator, operand) for value in values for operand in operands]
    return [UNKNOWN] if operator else values


def stripped(value: str, kind: str, pattern: str) -> str:
    """Return a value without a literal prefix (`#`) or suffix (`%`); with a pattern nobody knows."""
    if any(char in pattern for char in "*?[" + UNKNOWN):
        return UNKNOWN
    return value.removeprefix(pattern) if kind == "#" else value.removesuffix(pattern)


def replaced(value: str, operator: str, operand: str) -> str:
    """Return a value after `/old/new` or `//old/new` with literal texts."""
    old, _, new = operand.partition("/")
    if not old or any(char in operand for char in "*?[#%" + UNKNOWN):
        return UNKNOWN
    return value.replace(old, new, -1 if operator == "//" else 1)


def distinct(values: list[str]) -> list[str]:
    """Return the values of a loop, of those that can't concern a protected file only one."""
    found = marks.unique(values)
    if len(found) <= MOST_CHOICES:
        return found
    telling = [
        value for value in found if set(value) & TELLING or "handoff" in value.lower() or "scratch" in value.lower()
    ]
    return telling or found[:1]


TELLING = frozenset("/*?[~-." + UNKNOWN)
