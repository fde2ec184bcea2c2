"""Read a shell text as a shell does and judge each simple command that it would run (hooks.md 4.4).

One pass: a `Reader` walks the text once, expands each word as soon as it is read, and hands each simple command to
`guard_commands`. It keeps what decides where a path leads: the folders a command may run in, the variables, the links
that were made. Code inside the text (substitutions, `sh -c`, function calls) is read by a further Reader.

`Denied` ends the reading at the first command that would change a protected file, `Trouble` where it can't be read.
"""

from __future__ import annotations

import guard_words as marks
from guard_words import UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard_paths import Paths

    Folders = tuple[str, ...]
    Piece = str | list[str]

DEEPEST = 12
MOST_WORK = 20_000
MOST_CHOICES = 64
ELSEWHERE = "/nowhere/made-by-mktemp"
STREAM = "/dev/fd/of-the-guard-"

NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
NAME_REST = NAME_START | frozenset("0123456789")
ENDS = frozenset(" \t\n;&|<>()")
SPECIAL = frozenset("\\'\"$`*?[{},~") | ENDS
DIGITS = frozenset("0123456789")
BAR_ENDS = frozenset('"\\$`')
OPERATORS = (";;&", ";;", ";&", ";|", "&&", "||", "|&", "&|", "&!", "\n", ";", "&", "|", "(", ")")
WRITES = (
    "&>>|", "&>>!", "&>>", "&>|", "&>!", "&>", ">>&|", ">>&!", ">>&", ">&|", ">&!", ">&", ">>|", ">>!", ">>", ">|",
    ">!", ">", "<>",
)  # fmt: skip
REDIRECTIONS = (*WRITES, "<<<", "<<-", "<<", "<&", "<")
OPENERS = {"{": "{", "if": "if", "while": "loop", "until": "loop", "select": "loop", "for": "loop", "foreach": "loop"}
CLOSERS = {"}": "{", "fi": "if", "done": "loop", "end": "loop", "esac": "case"}
BRANCHES = ("else", "elif")
PASSED = ("then", "do", "!", "always")
KEYWORDS = frozenset((*OPENERS, *CLOSERS, *BRANCHES, *PASSED, "case", "function", "[[", "in", "time", "coproc"))
BEFORE_GROUP = ("time", "coproc", "nohup", "command", "!", "-p")


class Denied(Exception):  # noqa: N818 - it is a verdict, not a fault
    """A command would change a protected file: `name` is the file, `how` what would change it."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(name, how)
        self.name = name
        self.how = how


class Trouble(Exception):  # noqa: N818 - hooks.md 2.4 calls it so
    """The text can't be read or judged."""


class Word:
    """One word: its possible texts, and its text if it was spelled without any quoting or expansion."""

    __slots__ = ("bare", "head", "kept", "texts")

    def __init__(self, texts: list[str], bare: str = "", head: str = "", kept: bool = True) -> None:
        self.texts = texts
        self.bare = bare
        self.head = head
        self.kept = kept


class Frame:
    """An open group, condition or loop: what held when it began, and what its branches have left."""

    __slots__ = (
        "body",
        "branches",
        "entry",
        "exits",
        "fed",
        "function",
        "kind",
        "link",
        "lost",
        "out",
        "piped",
        "reads",
        "stdin",
        "vars",
        "won",
    )

    def __init__(self, kind: str, entry: Folders, variables: dict[str, list[str]], stdin: str | None) -> None:
        self.kind = kind
        self.entry = entry
        self.vars = variables
        self.stdin = stdin
        self.branches: list[Folders] = []
        self.out: list[str] = []
        self.reads = False  # a shell in it reads its code from the group's stdin
        self.function = ""
        self.body = 0
        self.link = ""  # the operator before the next command of the list
        self.won: Folders = entry  # the folders if the list has succeeded so far
        self.lost: Folders = ()  # the folders if it has failed
        self.piped = False  # the next command reads from a pipe
        self.fed: str | None = None  # and this text, as far as it is known
        self.exits = False  # it leaves the shell without a condition

    def state(self) -> str:
        """Return how the group ends: ok, exit, or ? if nobody knows."""
        if self.exits and self.kind == "{":
            return "exit"
        return "ok" if self.kind in ("{", "(") else "?"


class Shared:
    """What all readers of one call share: the paths, the bodies of heredocs to be passed over, counters."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.streams: list[str | None] = []
        self.work = 0
        self.made: set[str] = set()  # folders that the text makes itself

    def spend(self, amount: int = 1) -> None:
        """Count work that isn't bounded by the length of the text; raise Trouble when it is too much."""
        self.work += amount
        if self.work > MOST_WORK:
            raise Trouble("too much to judge")

    def stream(self, text: str | None) -> str:
        """Return a path that stands for a process substitution with this output."""
        self.streams.append(text)
        return STREAM + str(len(self.streams) - 1)

    def stream_text(self, path: str) -> str | None:
        """Return what can be read from such a path, or None if it is none or nobody knows."""
        number = path[len(STREAM) :]
        return self.streams[int(number)] if path.startswith(STREAM) and number.isdigit() else None


class Call:
    """One simple command on its way through the tables: its words, its stdin as far as known, its reader."""

    __slots__ = ("name", "out", "reader", "state", "stdin", "words")

    def __init__(self, reader: Reader, words: list[str], stdin: str | None) -> None:
        self.reader = reader
        self.words = words
        self.name = command_name(words[0]) if words else ""
        self.stdin = stdin
        self.out: str | None = None  # what it prints, as far as known
        self.state = "?"  # whether it succeeds: ok, fail, ?

    def write(self, text: str, how: str = "") -> None:
        """Deny the call if the text names a protected file."""
        self.reader.shared.spend(len(self.reader.folders) - 1)
        for folder in self.reader.folders:
            name = self.reader.paths.protected(text, folder)
            if name:
                raise Denied(name, how or f"`{self.name}`")

    def write_tree(self, text: str, how: str = "") -> None:
        """Deny the call if the text names a protected file or a folder above one."""
        self.write(text, how)
        for folder in self.reader.folders:
            name = self.reader.paths.above_protected(text, folder)
            if name:
                raise Denied(name, how or f"`{self.name}`")

    def again(self, words: list[str], stdin: str | None = None) -> None:
        """Judge other words as a command in the same place."""
        self.reader.shared.spend()
        call = Call(self.reader, words, self.stdin if stdin is None else stdin)
        self.reader.judge(call)
        self.out, self.state = call.out, call.state

    def code(self, text: str, positional: Iterable[str] = ()) -> str | None:
        """Judge shell code that the command would run; return what it prints, as far as known."""
        reader = self.reader.inner(plain(text), 0)
        if positional:
            import guard_syntax

            guard_syntax.set_positional(reader, list(positional))
        reader.frames[0].stdin = self.stdin
        reader.program("")
        return reader.output()


def command_name(word: str) -> str:
    """Return the name of a command: its last path component, letter case aside."""
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return name[1:] if name[:1] == "=" else name.removesuffix(".exe")


class Reader:
    """Reads one text from `pos` on; `program` judges all of it up to its end or to a closing parenthesis."""

    def __init__(self, shared: Shared, text: str, folders: Folders, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise Trouble("nested too deep")
        self.shared = shared
        self.paths = shared.paths
        self.text = text
        self.pos = 0
        self.end = len(text)
        self.depth = depth
        self.folders = folders
        self.before = UNKNOWN  # the folder that `cd -` goes back to
        self.pushed: list[Folders] = []
        self.vars: dict[str, list[str]] = {}
        self.aliases: dict[str, str] = {}
        self.functions: dict[str, tuple[str, int, int]] = {}
        self.calling: frozenset[str] = frozenset()
        self.lent = False  # the variables are also held by a frame: copy before a change
        self.skips: dict[int, int] = {}  # where a line ends whose heredoc bodies follow: where they end
        self.line_end = -1
        self.frames = [Frame("top", folders, self.vars, None)]
        self.words: list[Word] = []
        self.redirections: list[tuple[str, Word]] = []
        self.body: str | None = None  # the text that a redirection puts on stdin
        self.assigned = False
        self.defining = ""  # the function whose body begins with the next group
        self.closed: Frame | None = None  # the group that has just ended and may have redirections

    def inner(self, text: str, pos: int) -> Reader:
        """Return a reader for code inside this one, which can't change what holds here."""
        reader = Reader(self.shared, text, self.folders, self.depth + 1)
        reader.pos = pos
        reader.before = self.before
        reader.pushed = list(self.pushed)
        reader.vars = self.vars
        reader.lent = self.lent = True
        reader.aliases = self.aliases
        reader.functions = self.functions
        reader.calling = self.calling
        if text is self.text:
            reader.skips = self.skips
        return reader

    def output(self) -> str | None:
        """Return what the program prints, as far as known; None if nothing of it is known."""
        out = self.frames[0].out
        return "".join(out) if out else None

    # Variables

    def assign(self, name: str, values: list[str], add: bool = False) -> None:
        """Give a variable its possible values; in a branch that may not run the old ones stay possible."""
        if self.lent:
            self.vars = dict(self.vars)
            self.shared.spend(len(self.vars) >> 6)
            self.lent = False
        old = self.vars.get(name, [])
        if add:
            values = [head + tail for head in old or [""] for tail in values]
        if self.is_conditional():
            values = old + values
        if len(values) > 1:
            values = marks.unique(values)
            self.shared.spend(len(values))
        self.vars[name] = values

    def is_conditional(self) -> bool:
        """Return whether the current command may be left out."""
        return any(frame.link or frame.kind in ("if", "loop", "case") for frame in self.frames[-8:])

    def value(self, name: str) -> list[str]:
        """Return the possible values of a variable; a name that nothing is known about has an unknown one."""
        if name in self.vars:
            return self.vars[name]
        if name == "PWD":
            return list(self.folders)
        if name == "OLDPWD":
            return [self.before]
        if name == "HOME":
            return [self.paths.home]
        if name == "CLAUDE_PROJECT_DIR" and self.paths.project:
            return [self.paths.project]
        return [UNKNOWN]

    # Words

    def word(self) -> Word:
        """Return the word at the current position, expanded as far as it is known."""
        text, start, at, end = self.text, self.pos, self.pos, self.end
        while at < end and text[at] not in SPECIAL:
            at += 1
        head = text[start:at]
        if at == end or (text[at] in ENDS and text[at] not in "(<>"):
            self.pos = at
            return Word([head], head, head)
        self.pos = at
        pieces: list[Piece] = [head] if head else []
        kept = self.rest_of_word(pieces)
        raw = text[start : self.pos]
        return Word(
            joined(pieces, self.shared),
            raw if raw in ("{", "}", "{}", "[[") else "" if kept or raw != head else head,
            head,
            kept or bool(head),
        )

    def rest_of_word(self, pieces: list[Piece]) -> bool:
        """Read the pieces of a word up to its end; return whether it is kept even if it is empty."""
        text, kept = self.text, False
        while self.pos < self.end:
            char = text[self.pos]
            if char in ENDS:
                if not self.glued(char, pieces):
                    break
            elif char in QUOTES:
                kept = QUOTES[char](self, pieces) or kept
            elif char in "*?[{},":
                pieces.append(MARK[char])
                self.pos += 1
            elif char == "~":
                before = pieces[-1] if pieces else ""
                starts = not pieces or (isinstance(before, str) and before[-1:] in ("=", ":"))
                pieces.append(marks.TILDE if starts else "~")
                self.pos += 1
            else:
                start = self.pos
                while self.pos < self.end and text[self.pos] not in SPECIAL:
                    self.pos += 1
                pieces.append(text[start : self.pos])
        return kept

    def glued(self, char: str, pieces: list[Piece]) -> bool:
        """Read a parenthesis or substitution that belongs to the word; return False if the word ends here."""
        text, at = self.text, self.pos
        if char in "<>" and text[at + 1 : at + 2] == "(" and not self.in_arithmetic():
            import guard_syntax

            pieces.append(guard_syntax.process(self))
            return True
        if char != "(" or self.in_arithmetic():
            return False
        head = "".join(piece for piece in pieces if isinstance(piece, str))
        if head in KEYWORDS or self.blank_parentheses():
            return False
        if head[-1:] == "=" and is_name(head[:-1].rstrip("+")):
            self.pos += 1
            import guard_syntax

            pieces.append(guard_syntax.array(self))
            return True
        if not pieces:
            return False
        import guard_syntax

        self.pos = guard_syntax.skip_parentheses(self, at)
        pieces.append(marks.STAR)
        return True

    def blank_parentheses(self) -> bool:
        """Return whether `()` stands here, as after the name of a function."""
        at = self.pos + 1
        while at < self.end and self.text[at] in " \t":
            at += 1
        return self.text[at : at + 1] == ")"

    def find(self, char: str, at: int) -> int:
        """Return where the character stands next; raise Trouble if it doesn't."""
        found = self.text.find(char, at)
        if found < 0:
            raise Trouble(f"an open {char}")
        return found

    def escaped(self, pieces: list[Piece]) -> bool:
        """Read a backslash and what it quotes; before a line break both vanish."""
        char = self.text[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if char != "\n":
            pieces.append(char)
        return char != "\n"

    def single(self, pieces: list[Piece]) -> bool:
        """Read a text in single quotes."""
        close = self.find("'", self.pos + 1)
        pieces.append(self.text[self.pos + 1 : close])
        self.pos = close + 1
        return True

    def double(self, pieces: list[Piece]) -> bool:
        """Read a text in double quotes."""
        self.pos += 1
        self.quoted(pieces, '"')
        return True

    def quoted(self, pieces: list[Piece], close: str) -> None:
        """Read quoted text with its expansions up to the closing quote, or to the end where there is none."""
        text, special = self.text, BAR_ENDS
        while True:
            start = self.pos
            at = start
            while at < self.end and text[at] not in special:
                at += 1
            if at > start:
                pieces.append(text[start:at])
            self.pos = at
            if at >= self.end:
                if close:
                    raise Trouble('an open "')
                return
            char = text[at]
            if char == close:
                self.pos += 1
                return
            if char == "\\":
                following = text[at + 1 : at + 2]
                pieces.append("" if following == "\n" else following if following in '"\\$`' else char + following)
                self.pos += 2
            elif char == "$":
                self.dollar(pieces, quoted=True)
            elif char == "`":
                self.backquoted(pieces, quoted=True)
            else:
                pieces.append(char)
                self.pos += 1

    def dollar(self, pieces: list[Piece], quoted: bool = False) -> bool:
        """Read what a dollar sign begins; return whether it is a quote."""
        text, at = self.text, self.pos + 1
        char = text[at : at + 1]
        if char == "(":
            reader = self.inner(self.text, at + 1)
            reader.program(")")
            self.pos = reader.pos
            pieces.append(printed(reader.output(), quoted))
        elif char == "{":
            self.pos = at + 1
            import guard_syntax

            pieces.append([value if quoted else marks.live(value) for value in guard_syntax.parameter(self)])
        elif char == "'" and not quoted:
            import guard_syntax

            pieces.append(guard_syntax.ansi(self))
            return True
        elif char == '"' and not quoted:
            self.pos = at
            return self.double(pieces)
        elif char in NAME_START:
            end = at
            while end < self.end and text[end] in NAME_REST:
                end += 1
            self.pos = end
            pieces.append([value if quoted else marks.live(value) for value in self.value(text[at:end])])
        elif char and char in "0123456789@*#?$!-":
            self.pos = at + 1
            pieces.append([value if quoted else marks.live(value) for value in self.value(char)])
        else:
            self.pos = at
            pieces.append("$")
        return False

    # Between words

    def blanks(self, newlines: bool = False) -> None:
        """Pass over blanks and continued lines, and over line breaks and comments if asked to."""
        text = self.text
        while self.pos < self.end:
            char = text[self.pos]
            if char in " \t":
                self.pos += 1
            elif char == "\\" and text[self.pos + 1 : self.pos + 2] == "\n":
                self.pos += 2
            elif char == "\n" and newlines:
                self.pos = self.skips.get(self.pos, self.pos + 1)
            elif char == "#" and newlines:
                self.comment()
            else:
                return

    def comment(self) -> None:
        """Pass over a comment up to the end of its line."""
        found = self.text.find("\n", self.pos)
        self.pos = self.end if found < 0 else found

    def in_arithmetic(self) -> bool:
        """Return whether a `((` is open, in which `<<`, `#` and `(` mean something else."""
        return any(frame.kind == "((" for frame in self.frames[-4:])

    def program(self, closer: str) -> None:
        """Judge commands up to the end of the text, or up to a parenthesis that nothing here has opened."""
        text = self.text
        while True:
            self.blanks()
            if self.pos >= self.end:
                self.finish("")
                if closer:
                    raise Trouble("an open parenthesis")
                return
            char = text[self.pos]
            if char == "#" and not self.in_arithmetic():
                self.comment()
            elif char in ENDS:
                if self.operator(char) and closer:
                    return
            else:
                self.take(self.word())

    def operator(self, char: str) -> bool:
        """Read one operator; return whether it is a parenthesis that ends the program."""
        text, at = self.text, self.pos
        if char in "<>" or text.startswith("&>", at):
            self.redirection("")
            return False
        if char == "\n":
            self.pos = self.skips.get(at, at + 1)
            self.finish("\n")
            return False
        if char == "(":
            self.open_parenthesis()
            return False
        sign = next(one for one in OPERATORS if text.startswith(one, at))
        self.pos = at + len(sign)
        self.finish(sign)
        if sign == ")":
            return not self.leave("(")
        if sign in (";;", ";&", ";;&", ";|"):
            import guard_syntax

            guard_syntax.next_branch(self)
            guard_syntax.patterns(self)
        return False

    def open_parenthesis(self) -> None:
        """Read an opening parenthesis: a function's mark, an argument's pattern, or a subshell."""
        if self.words and self.blank_parentheses():
            self.pos = self.find(")", self.pos) + 1
            import guard_syntax

            guard_syntax.define(self, self.words[0].texts[0])
            return
        if self.words and not all(word.bare in BEFORE_GROUP for word in self.words) and not self.in_arithmetic():
            start = self.pos
            import guard_syntax

            self.pos = guard_syntax.skip_parentheses(self, start)
            pieces: list[Piece] = [marks.STAR]
            self.rest_of_word(pieces)
            self.words.append(Word(joined(pieces, self.shared)))
            return
        self.words = []
        arithmetic = self.text.startswith("((", self.pos) or self.in_arithmetic() or (self.is_dollar_arithmetic())
        self.pos += 1
        self.enter("((" if arithmetic else "(")

    def is_dollar_arithmetic(self) -> bool:
        """Return whether the parenthesis at the current position is the second one of `$((`."""
        return self.pos >= 2 and self.text[self.pos - 2 : self.pos] == "$("

    # Frames

    def enter(self, kind: str) -> None:
        """Open a group, condition or loop."""
        parent = self.frames[-1]
        stdin = parent.fed if parent.piped else parent.stdin
        self.sync()
        frame = Frame(kind, self.folders, self.vars, stdin)
        frame.function, self.defining = self.defining, ""
        frame.body = self.pos
        self.lent = True
        self.frames.append(frame)

    def leave(self, kind: str) -> bool:
        """Close the innermost frame of this kind; return whether there was one."""
        kinds = (kind, "((") if kind == "(" else (kind,)
        at = len(self.frames) - 1
        while at > 0 and self.frames[at].kind not in kinds:
            at -= 1
        if at == 0:
            return False
        frame = self.frames[at]
        del self.frames[at:]
        self.settle(frame)
        if frame.function:
            self.shared.spend(len(self.functions) >> 6)
            self.functions = {**self.functions, frame.function: (self.text, frame.body, self.pos)}
            frame.out = []
        if kind == "(" or frame.function:
            self.folders, self.vars, self.lent = frame.entry, frame.vars, True
        elif kind != "{":
            self.folders = united([frame.entry, *frame.branches, self.folders])
        self.closed = frame
        return True

    def settle(self, frame: Frame) -> None:
        """Make the folders those that may be in force when the list ends."""
        self.folders = united([frame.won, frame.lost]) or self.folders

    # Commands

    def take(self, word: Word) -> None:
        """Take one word: as a keyword, an assignment, or a word of the current command."""
        char = self.text[self.pos : self.pos + 1]
        if char in ("<", ">") and self.is_descriptor(word):
            self.redirection(word.bare)
            return
        command_position = not self.words and not self.redirections and not self.assigned
        if command_position and word.bare in KEYWORDS and self.keyword(word.bare):
            return
        if (
            word.bare == "{"
            and all(one.bare in BEFORE_GROUP for one in self.words[:1])
            and len(self.words) <= 2
            and self.words
        ):
            self.words = []
            self.enter("{")
            return
        if word.bare == "[[" and self.words and all(one.bare in BEFORE_GROUP for one in self.words):
            self.words = []
            self.keyword("[[")
            return
        if not self.words and "=" in word.head and self.assignment(word):
            self.assigned = True
            return
        self.words.append(word)

    def keyword(self, word: str) -> bool:
        """Carry out a keyword; return False if the word is an ordinary one here."""
        import guard_syntax

        return guard_syntax.keyword(self, word)

    def backquoted(self, pieces: list[Piece], quoted: bool = False) -> bool:
        """Judge a command substitution in backquotes."""
        import guard_syntax

        return guard_syntax.backquoted(self, pieces, quoted)

    @staticmethod
    def is_descriptor(word: Word) -> bool:
        """Return whether a word that touches a redirection is its descriptor."""
        text = word.texts[0]
        return word.bare.isdigit() or (text[:1] == marks.OPEN and text[-1:] == marks.CLOSE and len(text) > 2)

    def assignment(self, word: Word) -> bool:
        """Carry out an assignment; return whether the word is one."""
        name, _, _ = word.head.partition("=")
        add = name[-1:] == "+"
        if not is_name(name[:-1] if add else name):
            return False
        values = [self.assigned_text(text.partition("=")[2]) for text in word.texts]
        if name == "GLOBIGNORE":
            self.paths.dots = True
        self.assign(name[:-1] if add else name, values, add)
        return True

    def assigned_text(self, text: str) -> str:
        """Return the value that an assignment of this text stores: tildes expanded, nothing else."""
        if text[:1] == marks.TILDE:
            text = self.paths.from_home(text, self.folders[0])
        return plain(text)

    def redirection(self, _descriptor: str) -> None:
        """Read a redirection and its target."""
        text, at = self.text, self.pos
        sign = next(one for one in REDIRECTIONS if text.startswith(one, at))
        if sign.startswith("<<") and sign != "<<<" and self.in_arithmetic():
            self.pos += 2
            return
        if text.startswith((">(", "<("), at) and not self.in_arithmetic():
            self.words.append(self.word())
            return
        if sign[-1] in "!|" and text[at + len(sign) : at + len(sign) + 1] == "(" and sign[-2:] != ">|":
            sign = sign[:-1]
        self.pos = at + len(sign)
        self.blanks()
        if sign in ("<<", "<<-"):
            import guard_syntax

            guard_syntax.heredoc(self, sign == "<<-")
            return
        if self.pos >= self.end or (text[self.pos] in ENDS and text[self.pos : self.pos + 2] not in ("<(", ">(")):
            return
        target = self.word()
        self.redirections.append((sign, target))
        if sign == "<<<":
            self.body = plain(target.texts[0]) + "\n"
        elif sign == "<":
            self.body = self.shared.stream_text(target.texts[0])

    def finish(self, sign: str) -> None:
        """Judge the command that ends here, and note what the operator behind it means for the next one."""
        frame = self.frames[-1]
        words, redirections, closed = self.words, self.redirections, self.closed
        if words or redirections or closed or self.assigned:
            self.words, self.redirections, self.closed = [], [], None
            self.step(frame, words, redirections, closed, sign in ("|", "|&"))
            self.assigned = False
            self.body = None
        if sign in ("&&", "||"):
            frame.link = sign
        elif sign not in ("|", "|&"):
            self.folders = united([frame.won, frame.lost]) or self.folders
            frame.won, frame.lost, frame.link = self.folders, (), ""
        frame.piped = sign in ("|", "|&")

    def sync(self) -> None:
        """Make the folders those in which the next command of the list runs."""
        frame = self.frames[-1]
        if frame.link == "&&":
            self.folders = frame.won or frame.lost
        elif frame.link == "||":
            self.folders = frame.lost or frame.won

    def step(
        self,
        frame: Frame,
        words: list[Word],
        redirections: list[tuple[str, Word]],
        closed: Frame | None,
        to_pipe: bool,
    ) -> None:
        """Judge one member of a list: a simple command, or the redirections of a group that has ended."""
        if not closed:
            self.sync()
        before = closed.entry if closed else self.folders
        stdin = self.body if self.body is not None else frame.fed if frame.piped else frame.stdin
        for sign, target in redirections:
            if sign in WRITES:
                self.redirect(sign, target, before)
        if closed:
            out, state = "".join(closed.out) or None, closed.state()
            if closed.reads and self.body is not None:
                import guard_syntax

                guard_syntax.code_of_group(self, closed)
        else:
            out, state = self.run(words, stdin, to_pipe or self.depth > 0 or len(self.frames) > 1)
        piped = to_pipe or frame.piped
        if to_pipe:
            frame.fed, self.folders = out, before
        else:
            if out is not None:
                frame.out.append(out)
            if frame.piped:
                self.folders = united([before, self.folders])
        self.chain(frame, before, "?" if piped else state)

    def chain(self, frame: Frame, before: Folders, state: str) -> None:
        """Note the folders in which the list goes on, for success and for failure."""
        won = () if state in ("fail", "exit") else self.folders
        lost = () if state in ("ok", "exit") else before
        if frame.link == "&&":
            frame.won, frame.lost = won, united([frame.lost, lost])
        elif frame.link == "||":
            frame.won, frame.lost = united([frame.won, won]), lost
        else:
            frame.won, frame.lost = won, lost
        if state == "exit" and not frame.link:
            frame.exits = True
            frame.won = before

    def redirect(self, sign: str, target: Word, folders: Folders) -> None:
        """Deny a redirection onto a protected file."""
        for text in target.texts:
            if sign[-1] == "&" or sign.rstrip("!|")[-1] == "&":
                bare = text.rstrip("-")
                if not bare or not set(bare) - DIGITS:
                    continue
            for field in marks.fields(text):
                for folder in folders:
                    name = self.paths.protected(field, folder)
                    if name:
                        raise Denied(name, f"a redirection with `{sign}`")

    def combinations(self, words: list[Word]) -> list[list[str]]:
        """Return the possible word lists of a command."""
        if all(len(word.texts) == 1 for word in words):
            return [words_of([(word, word.texts[0]) for word in words])]
        import guard_syntax

        return guard_syntax.combinations(self.shared, words)

    def run(self, words: list[Word], stdin: str | None, used: bool) -> tuple[str | None, str]:
        """Judge a simple command with each combination of its words' values; return what it prints and its state."""
        out, state = None, "ok"
        before, reached = self.folders, []
        for argv in self.combinations(words):
            if not argv:
                continue
            self.folders = before
            call = Call(self, argv, stdin)
            self.judge(call, used)
            out, state = call.out, call.state
            reached.append(self.folders)
        self.folders = united(reached) or before
        return out, state

    def judge(self, call: Call, used: bool = True) -> None:
        """Judge one call by the tables, a function of the text itself, or an alias; `used`: what it prints matters."""
        name = call.words[0]
        if name in self.functions and name not in self.calling:
            import guard_syntax

            guard_syntax.call_function(self, call)
        elif name in self.aliases and name not in self.calling:
            self.shared.spend()
            calling, self.calling = self.calling, self.calling | {name}
            call.again(self.aliases[name].split() + call.words[1:])
            self.calling = calling
        else:
            import guard_commands

            guard_commands.judge(call, used)


def joined(pieces: list[Piece], shared: Shared) -> list[str]:
    """Return the texts that a word's pieces make, each choice with each other one."""
    texts = [""]
    run: list[str] = []  # fixed pieces that wait to be added
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
        elif len(piece) == 1:
            run.append(piece[0])
            shared.spend(len(piece[0]) >> 7)
        elif len(texts) * len(piece) > MOST_CHOICES and len(texts) > 1:
            run.append(UNKNOWN)
        else:
            shared.spend(len(piece))
            fixed = "".join(run)
            texts = [text + fixed + choice for text in texts for choice in piece]
            run = []
    fixed = "".join(run)
    return [text + fixed for text in texts] if fixed else texts


def words_of(chosen: list[tuple[Word, str]]) -> list[str]:
    """Return the words of a command: braces expanded, variables split, what is empty without quotes left out."""
    found: list[str] = []
    for word, text in chosen:
        if text or word.kept:
            found += marks.fields(text)
    return found


def printed(text: str | None, quoted: bool) -> list[str]:
    """Return the values of a command substitution that prints this text."""
    if text is None:
        return [UNKNOWN]
    text = text.rstrip("\n")
    return [text if quoted else marks.live(text)]


def united(choices: list[Folders]) -> Folders:
    """Return all folders of the choices, each once."""
    if len(choices) == 2 and not choices[1]:
        return choices[0]
    return tuple(dict.fromkeys(folder for choice in choices for folder in choice))


def is_name(text: str) -> bool:
    """Return whether the text is a variable's name."""
    return text[:1] in NAME_START and not set(text) - NAME_REST if text else False


MARK = {"*": marks.STAR, "?": marks.ANY, "[": marks.SET, "{": marks.OPEN, "}": marks.CLOSE, ",": marks.COMMA}
QUOTES = {
    "\\": Reader.escaped,
    "'": Reader.single,
    '"': Reader.double,
    "`": Reader.backquoted,
    "$": Reader.dollar,
}


def judge_shell(text: str, paths: Paths, folders: Folders) -> None:
    """Judge a shell command; raise Denied if it would change a protected file, Trouble if it can't be read."""
    shared = Shared(paths)
    Reader(shared, text, folders).program("")


def judge_words(words: list[str], paths: Paths, folders: Folders) -> None:
    """Judge a command that is given as its list of words."""
    reader = Reader(Shared(paths), "", folders)
    reader.judge(Call(reader, words, None))


__all__ = ["Call", "Denied", "Reader", "Trouble", "judge_shell", "judge_words"]
