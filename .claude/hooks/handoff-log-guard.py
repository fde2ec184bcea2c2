#!/usr/bin/env python3
"""Deny a tool call that would change the hand-off ledger past its own program; be silent about all others.

Started as `python3 -I -S handoff-log-guard.py [--harness NAME]`, the call as JSON on stdin. It never approves and exits
with 0 (hooks.md 4). A look at the raw bytes ends most calls; only what is left compiles the judging part, which stands
below as text: the modules `source/guard_*.py`, put here by `source/embed.py`, each compiled when it is first imported.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 32 * 1024 * 1024

# Without one of these pieces or words in a command, nothing in it can write a file that it does not name.
PIECES = (b"handoff", b"scratch", b">", b"\\", b"'", b"`", b"$", b"*", b"?", b"~", b"mcp__", b"patch")
# Words, from the table of commands by embed.py.
WORDS = frozenset(
    (
        b" apply applypatch as awk black bsdtar bunzip bzip c cc chattr checkout chflags chgrp chmod chown clang"
        b" clean cmd compress cp curl dd del delete ed editor emacs emacsclient ex fallocate find g gawk gcc gcp gdd"
        b" gfind ginstall gln gmv go gpg grm gsed gtar gtee gtruncate gunzip gvim gzip iconv insert install jaq joe"
        b" json jsonnet ld link ln ltrace lz lzma mawk mcedit micro mkfifo mknod mv nano nawk nvim objcopy openssl"
        b" output pandoc patch perl pico powershell prename prettier pwsh red rename replace restore rimraf rm rmdir"
        b" rsync ruby rustc rvim scp script sed setfacl shred shuf sort sponge srm stash strace tar tcpdump tee time"
        b" trash truncate uncompress uniq unix unlink unlzma unxz unzip unzstd vi view vim wget wipe xxd xz yq zstd"
    ).split()
)
TO_WORDS = bytes(code if 97 <= code <= 122 else 32 for code in range(256))


def is_harmless(data: bytes) -> bool:
    """Return whether the raw bytes of a call show that it can't be denied; in doubt they don't.

    Double quotes around plain text and the commonest redirections are taken out first, as a shell would.
    """
    data = data.lower()
    if b'"command"' not in data or data.count(b'path"') != data.count(b'transcript_path"'):
        return False
    if data.count(b"{") != data.count(b'{"') + data.count(b"{}"):
        return False
    data = data.replace(b'\\"', b"").replace(b"\\n", b" ").replace(b"2>&1", b" ").replace(b">/dev/null", b" ")
    if any(piece in data for piece in PIECES):
        return False
    return WORDS.isdisjoint(data.translate(TO_WORDS).split())


def main() -> int:
    """Read the call, have it judged if need be, and return the exit code."""
    data = sys.stdin.buffer.read(LIMIT + 1)
    if is_harmless(data):
        return 0
    start: dict[str, Callable[..., int]] = {}
    exec(compile(TEXTS["guard_start"], "<guard_start>", "exec"), start)  # noqa: S102 - the text is part of this file
    return start["run"](data, sys.argv[1:], TEXTS)


TEXTS = {
    "guard_start": r'''
"""Start the judging part of the guard: import the modules that the hook file carries as text, and print the verdict."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

LIMIT = 32 * 1024 * 1024


class Carried:
    """Imports the modules that the hook file carries."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def find_spec(self, name: str, *_: object) -> object:
        """Return the spec of a carried module, or None for any other."""
        return type(sys.__spec__)(name, self) if name in self.texts else None  # type: ignore[arg-type]

    def create_module(self, _: object) -> None:
        """Leave it to the interpreter to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run the module's text."""
        name = module.__name__
        exec(compile(self.texts[name], f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - part of the hook file


def looks_plain(data: bytes) -> bool:
    """Return whether the call is a plain command that changes nothing; in doubt and trouble it is not."""
    if len(data) > LIMIT or (b">" in data and b".scratch" in data):
        return False
    try:
        from guard_json import parse_json
        from guard_plain import is_plain

        return is_plain(parse_json(data.decode("utf-8-sig")))
    except Exception:  # noqa: BLE001 - the full judgement knows what to make of it
        return False


def harness_of(arguments: list[str]) -> str:
    """Return the harness that the arguments name; it only picks the form of the answer."""
    return arguments[1] if arguments[:1] == ["--harness"] and len(arguments) > 1 else "claude"


def run(data: bytes, arguments: list[str], texts: dict[str, str]) -> int:
    """Judge the call, write the denial if there is one, and return the exit code."""
    sys.meta_path.insert(0, Carried(texts))  # type: ignore[arg-type]
    if looks_plain(data):
        return 0
    import guard_payload

    if len(data) > LIMIT:
        data = b"[" + data  # beyond the limit a call is not readable
    line = guard_payload.answer(data, harness_of(arguments))
    try:
        sys.stdout.buffer.write(line.encode("ascii"))
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):
        sys.stdout = None  # nothing is left to be flushed, which would change the exit code
        sys.stderr.write("handoff: this call would change the hand-off ledger\n")
        return 2
    return 0
''',
    "guard_json": r'''
"""Read JSON with the scanner of the standard library, without the `json` package, whose import takes longer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError or RecursionError for anything else."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    text = text.strip(" \t\n\r")
    value, end = make_scanner(Settings())(text, 0)  # type: ignore[arg-type]
    if end != len(text):
        raise ValueError("text behind the value")
    return value


class Settings:
    """How the scanner of the standard library reads JSON, as `json.loads` sets it up."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: Mapping[str, str] = {}

    @staticmethod
    def parse_constant(name: str) -> Any:
        """Refuse NaN and Infinity."""
        raise ValueError(name)
''',
    "guard_words": r'''
"""Marks inside words: what a shell would expand is kept as a mark of its own until it is known what it names.

The reader (`guard_shell`) turns unquoted pattern characters into these marks, which are noncharacters of Unicode and so
never part of a text; quoted ones stay what they are. Imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = "\ufdd0"  # text that nobody knows before the command runs
STAR, ANY, SET = "\ufdd1", "\ufdd2", "\ufdd3"  # * ? [
OPEN, COMMA, CLOSE = "\ufdd4", "\ufdd5", "\ufdd6"  # { , }
TILDE = "\ufdd7"  # an unquoted ~ where it is expanded
SPLIT = "\ufdd8"  # a blank out of an unquoted variable
WILD = "\ufdd9"  # any text, slashes among it, whose letters are known to be harmless

PLAIN = {ord(STAR): "*", ord(ANY): "?", ord(SET): "[", ord(OPEN): "{", ord(COMMA): ",", ord(CLOSE): "}"}
PLAIN.update({ord(TILDE): "~", ord(SPLIT): " "})
LIVE = {ord("*"): STAR, ord("?"): ANY, ord("["): SET, ord(" "): SPLIT, ord("\t"): SPLIT, ord("\n"): SPLIT}
FOREIGN = dict.fromkeys(range(64976, 65008), "�")
FOREIGN[0] = ""


def names(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def foreign(text: str) -> str:
    """Return the text of a payload without NUL and without characters that are marks here."""
    return text if text.isascii() and "\0" not in text else text.translate(FOREIGN)


def plain(text: str) -> str:
    """Return the text as it was typed; unknown pieces stay unknown."""
    return text if text.isascii() else text.translate(PLAIN)


def live(text: str) -> str:
    """Return the value of an unquoted variable: its blanks split words and its pattern characters match."""
    return text.translate(LIVE)


def fields(text: str) -> list[str]:
    """Return the words that a shell makes of one word: braces expanded, then split at blanks out of variables."""
    if text.isascii():
        return [text]
    words = [text]
    if OPEN in text:
        from guard_expand import expand_braces

        words = expand_braces(text)
    if SPLIT not in text:
        return words
    return [part for word in words for part in word.split(SPLIT) if part]


def known_pieces(text: str) -> list[str]:
    """Return the pieces of a text that are known."""
    return [piece for piece in text.split(UNKNOWN) if piece]


def unique(values: Iterable[str]) -> list[str]:
    """Return the values without repetitions, in order."""
    return list(dict.fromkeys(values))
''',
    "guard_plain": r'''
"""A second quick look: say of a plain command that it changes nothing, without reading the shell's whole syntax.

Plain are words of harmless characters and quotes that hold no expansion, the operators `;`, `&&`, `||`, `|`, line
breaks, redirections to ordinary files, and heredocs with a quoted delimiter. Whatever else occurs is left to the full
judgement, as is every command that the tables know, but for a few that only read. It may leave too much to that, never
too little: a test compares both on all vectors and on random commands.
"""

from __future__ import annotations

from guard_words import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 20_000
BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,-=")
EXPANDED = frozenset('$`\\!"')
SESSION_ROOTS = (b"CLAUDE_PROJECT_DIR", b"CURSOR_PROJECT_DIR", b"GEMINI_PROJECT_DIR")
ENDINGS = ("jsonl", "seal", "lock")
ENDS = ("\n", ";", "&&", "||", "|")
ARGUMENTS = names("command description timeout run_in_background")
READERS = names("echo printf cat head tail ls grep egrep fgrep true sleep pwd")
# All other names of the tables and the shell's own words.
KNOWN = names(
    "! - . : [[ alias always apply_patch applypatch as ash at awk basename bash batch black bsdtar builtin bun "
    "bunx bunzip2 busybox bzip2 c++ caffeinate case cc cd chattr chdir chflags chgrp chmod chown chroot chrt "
    "clang clang++ cmd command compress conda coproc cp curl dash dbus-run-session dd declare del deno dirname do "
    "doas done dos2unix eatmydata ed elif else emacs emacsclient end env esac eval ex exec exit export fakeroot "
    "fallocate false fi file-rename find firejail fish float flock for foreach function g++ gawk gcc gcp gdd "
    "gfind ginstall git gln gmv go gpg gpg2 grm gsed gtar gtee gtimeout gtruncate gunzip gvim gxargs gzip hatch "
    "iconv if in install integer ionice ipython jaq joe jsonnet julia ksh ld link ln local ltrace lua luajit lz4 "
    "lzma mac2unix mamba mawk mcedit micro micromamba mkdir mkfifo mknod mksh mktemp mv nano nawk nice nocorrect "
    "node nodejs noglob nohup npx nvim objcopy openssl osascript pandoc parallel patch pdm perl php pico pipenv "
    "pipx poetry popd powershell prename prettier print proxychains pushd pwsh pypy python rbash read readlink "
    "readonly realpath red rename rename.ul repeat return rimraf rlwrap rm rmdir rscript rsync ruby runuser rustc "
    "rvim rye scp script sed select set setarch setfacl setopt setpriv setsid sh shopt shred shuf sort source "
    "sponge srm stdbuf strace su sudo systemd-run tac tar taskset tclsh tcpdump tee then time timeout torsocks "
    "toybox trap trash trash-put truncate typeset unbuffer uncompress uniq unix2dos unix2mac unlink unlzma unset "
    "unshare until unxz unzip unzstd uv uvx valgrind vi view vim watch wget while wipe xargs xvfb-run xxd xz yq "
    "zsh zstd"
)
GIT_READERS = names(
    "status log diff show add commit push pull fetch branch blame rev-parse tag remote grep describe check-ignore"
)
NEAR = ("handoff", "scratch", "claude", "settings", "layout", "hooks", "script")


class Full(Exception):  # noqa: N818 - it is no fault
    """The command needs the full judgement."""


def is_plain(payload: Any) -> bool:
    """Return whether a call is a plain shell command that changes no protected file."""
    if not isinstance(payload, dict) or payload.get("tool_name") != "Bash":
        return False
    arguments, cwd = payload.get("tool_input"), payload.get("cwd")
    if not isinstance(arguments, dict) or not isinstance(cwd, str) or set(arguments) - ARGUMENTS:
        return False
    command = arguments.get("command")
    if not isinstance(command, str) or len(command) > LONGEST or cwd[:1] != "/":
        return False
    try:
        Plain(command, cwd).judge()
    except Full:
        return False
    return True


class Plain:
    """Reads one plain command; raises Full where it is not plain."""

    def __init__(self, text: str, cwd: str) -> None:
        self.text = text
        self.cwd = cwd
        self.at = 0

    def judge(self) -> None:
        """Read all simple commands."""
        while self.at < len(self.text):
            self.simple()

    def simple(self) -> None:
        """Read one simple command up to the operator behind it, and the bodies of its heredocs."""
        words: list[str] = []
        tags: list[str] = []
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in " \t":
                self.at += 1
            elif char in "<>" or (char == "2" and text.startswith(("2>", "1>"), self.at)):
                self.redirection(tags)
            elif char in BARE or char in "'\"":
                words.append(self.word())
            else:
                end = next((one for one in ENDS if text.startswith(one, self.at)), "")
                self.at += len(end)
                if not end or (tags and end != "\n") or (text.startswith("&", self.at) and end == "|"):
                    raise Full
                break
        check(words, bool(tags))
        for tag in tags:
            self.body(tag)

    def word(self) -> str:
        """Read one word and return it without its quotes."""
        text, done = self.text, []
        while self.at < len(text) and text[self.at] not in " \t\n;&|<>":
            char = text[self.at]
            start = self.at + 1
            if char in "'\"":
                close = text.find(char, start)
                inner = text[start:close]
                if close < 0 or (char == '"' and EXPANDED & set(inner)):
                    raise Full
                done.append(inner)
                self.at = close + 1
            elif char in BARE:
                done.append(char)
                self.at += 1
            else:
                raise Full
        return "".join(done)

    def redirection(self, tags: list[str]) -> None:
        """Read one redirection: of a descriptor, to a file that is none of ours, from a file, or a quoted heredoc."""
        text = self.text
        if text.startswith(("2>&1", "1>&2"), self.at):
            self.at += 4
            return
        if text[self.at] in "12":
            self.at += 1
        sign = next(one for one in (">>", ">", "<<", "<") if text.startswith(one, self.at))
        self.at += len(sign)
        self.at += len(text[self.at : self.at + 9]) - len(text[self.at : self.at + 9].lstrip(" "))
        if sign == "<<":
            quote = text[self.at : self.at + 1]
            tag = self.word() if quote in ("'", '"') else ""
            if not tag.isalnum() or len(tags) > 0:
                raise Full
            tags.append(tag)
            return
        if self.at >= len(text) or (text[self.at] not in BARE and text[self.at] not in "'\""):
            raise Full
        target = self.word()
        if sign != "<":
            self.check_target(target)

    def check_target(self, target: str) -> None:
        """Raise Full unless a target is new or an ordinary file, reached without links, with no name of ours near."""
        if target == "/dev/null":
            return
        near = (self.cwd + "/" + target).lower() if target[:1] != "/" else target.lower()
        if not target.isascii() or target[-1:] in (" ", ".", "/", "") or "$" in target or ".." in target:
            raise Full
        if (
            any(name in target.lower() for name in NEAR)
            or "/.claude" in near
            or "handoff_core" in near
            or "/scripts" in near
        ):
            raise Full
        folder, _, _ = target.rpartition("/")
        parts = folder.split("/") if folder else []
        for count in range(1, len(parts) + 1):
            if "/".join(parts[:count]) and self.kind("/".join(parts[:count])) not in (0, 0o040000):
                raise Full
        if self.kind(target) not in (0, 0o100000):
            raise Full
        self.check_ledgers()

    def check_ledgers(self) -> None:
        """Raise Full if a ledger around here is a link, because then its file has another name, too."""
        from posix import environ

        folders = [environ[name].decode("utf-8", "surrogateescape") for name in SESSION_ROOTS if environ.get(name)]
        folder = self.cwd
        while folder:
            folders.append(folder)
            folder = folder.rpartition("/")[0]
        for folder in folders:
            if folder[:1] != "/" or self.kind(folder + "/.scratch") not in (0, 0o040000):
                raise Full
            if any(self.kind(f"{folder}/.scratch/handoff.{end}") not in (0, 0o100000) for end in ENDINGS):
                raise Full

    def kind(self, path: str) -> int:
        """Return what a path is: 0 if there is nothing, the kind of its mode, or 1 for a file with several names."""
        try:
            from posix import lstat
        except ImportError:
            raise Full from None
        try:
            found = lstat(path if path[:1] == "/" else self.cwd + "/" + path)
        except FileNotFoundError:
            return 0
        except (OSError, ValueError):
            raise Full from None
        kind = found.st_mode & 0o170000
        return 1 if kind == 0o100000 and found.st_nlink > 1 else kind

    def body(self, tag: str) -> None:
        """Pass over the body of a heredoc."""
        end = ("\n" + self.text[self.at :] + "\n").find("\n" + tag + "\n")
        if end < 0:
            raise Full
        self.at = min(len(self.text), self.at + end + len(tag) + 1)


def check(words: list[str], heredoc: bool) -> None:
    """Raise Full unless the command is one that only reads, whatever its words are."""
    if not words:
        if heredoc:
            raise Full
        return
    name = words[0].rpartition("/")[2].lower()
    if "=" in words[0] or any(word.startswith("--output") for word in words):
        raise Full
    if name == "git" and len(words) > 1 and words[1] in GIT_READERS and not heredoc:
        return
    if name in ("python3", "python") and len(words) > 1 and words[1].endswith(".py") and words[1][:1] not in "-/":
        return
    letters = name.removesuffix(".exe").rstrip("0123456789.-")
    if (name in KNOWN or letters in KNOWN or not letters or not name.isascii()) and name not in READERS:
        raise Full
    if name == "printf" and words[1:2] == ["-v"]:
        raise Full
''',
    "guard_expand": r'''
"""What braces and backslash escapes stand for. Imports only the marks."""

from __future__ import annotations

from guard_words import CLOSE, COMMA, OPEN, WILD, foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


MOST_WORDS = 64
MOST_BRACES = 1000
DEEPEST = 16
BRACES = {ord(OPEN): "{", ord(COMMA): ",", ord(CLOSE): "}"}
OCTAL, HEX = "01234567", "0123456789abcdefABCDEF"
ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def expand_braces(text: str) -> list[str]:
    """Return the words that braces stand for; past 64 words out of several braces they stand for any text."""
    braces = pairs(text)
    if braces is None:
        return [collapsed(text)]
    done = [""]
    at = 0
    for start in sorted(braces):
        if start < at:
            continue
        end, commas = braces[start]
        choices = choices_of(text, start, end, commas)
        if len(done) > 1 and len(done) * len(choices) > MOST_WORDS:
            return [collapsed(text)]
        before = text[at:start]
        done = [head + before + choice for head in done for choice in choices]
        at = end + 1
    return [(head + text[at:]).translate(BRACES) for head in done]


def collapsed(text: str) -> str:
    """Return the text with everything between its first and its last brace standing for any text."""
    before, _, rest = text.partition(OPEN)
    return before.translate(BRACES) + WILD + rest.rpartition(CLOSE)[2].translate(BRACES)


def pairs(text: str) -> dict[int, tuple[int, list[int]]] | None:
    """Return where each closed brace ends and where its own commas stand; None if they are nested too deep."""
    found: dict[int, tuple[int, list[int]]] = {}
    open_ones: list[tuple[int, list[int]]] = []
    for at, char in enumerate(text):
        if char == OPEN:
            open_ones.append((at, []))
        elif char == COMMA and open_ones:
            open_ones[-1][1].append(at)
        elif char == CLOSE and open_ones:
            start, commas = open_ones.pop()
            found[start] = (at, commas)
            if len(open_ones) > DEEPEST:
                return None
    return found if len(found) <= MOST_BRACES else None


def choices_of(text: str, start: int, end: int, commas: list[int]) -> list[str]:
    """Return what the brace between these positions stands for."""
    if not commas:
        inner = text[start + 1 : end]
        return numbered(inner) or ["{" + choice + "}" for choice in inner_choices(inner)]
    cuts = [start, *commas, end]
    pieces = [text[cuts[at] + 1 : cuts[at + 1]] for at in range(len(cuts) - 1)]
    return [choice for piece in pieces for choice in inner_choices(piece)]


def inner_choices(piece: str) -> list[str]:
    """Return the words of a piece inside a brace, which may hold braces of its own."""
    return expand_braces(piece) if OPEN in piece else [piece]


def numbered(piece: str) -> list[str]:
    """Return the words of a sequence such as `1..3` or `a..c`, or nothing if it is none."""
    first, dots, rest = piece.partition("..")
    last = rest.split("..", 1)[0]
    if not dots or not first or not last:
        return []
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        return ordered(int(first[:9]), int(last[:9]), str)
    if len(first) == len(last) == 1:
        return ordered(ord(first), ord(last), chr)
    return []


def ordered(first: int, last: int, spell: Callable[[int], str]) -> list[str]:
    """Return the spelled numbers from first to last, or one word for any text if they are too many."""
    if abs(first - last) >= MOST_WORDS * 4:
        return [WILD]
    step = 1 if last >= first else -1
    return [spell(number) for number in range(first, last + step, step)]


def decode(text: str) -> str:
    r"""Return the text with the escapes of `$'…'`, `echo -e` and `printf` decoded."""
    if "\\" not in text:
        return text
    done, at, end = [], 0, len(text)
    while at < end:
        slash = text.find("\\", at)
        if slash < 0 or slash + 1 == end:
            done.append(text[at:])
            break
        done.append(text[at:slash])
        piece, at = escape(text, slash + 1)
        done.append(piece)
    return "".join(done).replace("\0", "")


def escape(text: str, at: int) -> tuple[str, int]:
    """Return the character of the escape whose letter stands at `at`, and where the escape ends."""
    char = text[at]
    if char in ESCAPES:
        return ESCAPES[char], at + 1
    if char in "xuU":
        return number(text, at + 1, HEX, {"x": 2, "u": 4, "U": 8}[char], 16) or ("\\" + char, at + 1)
    if char in OCTAL:
        return number(text, at, OCTAL, 4 if char == "0" else 3, 8) or ("", at + 1)
    if char == "c" and at + 1 < len(text):
        return chr(ord(text[at + 1]) & 31), at + 2
    return (char if char in "\\'\"?" else "\\" + char), at + 1


def number(text: str, start: int, digits: str, most: int, base: int) -> tuple[str, int] | None:
    """Return the character that up to `most` digits name and where they end, or None without a digit."""
    end = start
    while end < len(text) and end - start < most and text[end] in digits:
        end += 1
    if end == start:
        return None
    code = int(text[start:end], base)
    if base == 8:
        code &= 255
    return (foreign(chr(code)) if code < 0x110000 else "\ufffd"), end
''',
    "guard_paths": r'''
"""Say whether a path is a protected file, or a folder above one, by what it names (hooks.md 4.1, 4.2).

A path is text that may hold marks of `guard_words`; a folder is an absolute path, or text with an unknown piece.
Reads the file system and one line of layout.toml, writes nothing.
"""

from __future__ import annotations

import os
import stat

from guard_words import ANY, SET, STAR, TILDE, UNKNOWN, WILD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEDGER = (".scratch/handoff.jsonl", ".scratch/handoff.seal", ".scratch/handoff.lock")
TOOL_FILES = ("scripts/handoff.py", "scripts/layout.toml")
TOOL_TREES = ("scripts/handoff_core", ".claude/hooks")
SETTINGS = ".claude/settings"
ROOT_MARKS = (".scratch", "scripts/handoff.py", ".git")
SESSION_ROOTS = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
STREAM = "::$data"
OWN_FOLDER = ("/proc/self/cwd", "/proc/thread-self/cwd")
MARKS = frozenset((STAR, ANY, SET, UNKNOWN, WILD))
DRIVES = os.name == "nt"


def fold(path: str) -> str:
    """Return the path in the form in which paths are compared: slashes, and letter case aside."""
    return path.replace("\\", "/").casefold()


def is_absolute(path: str) -> bool:
    """Return whether the path begins at a root."""
    return path[:1] == "/" or (DRIVES and path[1:3] == ":/")


def exists(path: str) -> bool:
    """Return whether there is a file or folder of that path; a path that can't be one is none."""
    try:
        os.stat(path)
    except (OSError, ValueError):
        return False
    return True


def is_folder(path: str) -> bool:
    """Return whether the path is a folder, links followed."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def folder_root(cwd: str) -> str:
    """Return the nearest folder from `cwd` upwards that looks like a project's root, else `cwd`."""
    folder = cwd
    while True:
        if any(exists(folder + "/" + mark) for mark in ROOT_MARKS):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return cwd
        folder = above


class Paths:
    """The protected files of a call: those under the session's root and those under the root around `cwd`."""

    def __init__(self, cwd: object, environ: Mapping[str, str]) -> None:
        here = os.getcwd()
        session = [os.path.join(here, environ[name]) for name in SESSION_ROOTS if environ.get(name)]
        if not isinstance(cwd, str) or not cwd or "\0" in cwd:
            cwd = session[0] if session else here
        self.cwd = self.normal(os.path.join(here, cwd).replace("\\", "/"))
        self.home = environ.get("HOME") or environ.get("USERPROFILE") or UNKNOWN
        self.project = environ.get("CLAUDE_PROJECT_DIR", "")
        self.roots: list[str] = []
        self.files: dict[str, str] = {}
        self.trees: dict[str, str] = {}
        self.settings: list[str] = []
        self.above: dict[str, str] = {}
        self.near: list[str] = []
        self.links: dict[str, str] = {}
        self.real_folders: dict[str, str] = {}
        self.known: dict[tuple[str, str], str] = {}
        self.dots = False  # whether patterns match a leading dot, too
        self.numbers: dict[tuple[int, int], str] | None = None
        for root in dict.fromkeys([*session, folder_root(self.cwd)]):
            self.protect(self.normal(root.replace("\\", "/")))

    def protect(self, root: str) -> None:
        """Add the protected files under a root, as spelled and with links resolved."""
        forms = dict.fromkeys((root, os.path.realpath(root).replace("\\", "/")))
        self.roots += [fold(form) for form in forms]
        tools = self.protects_tools(root)
        for form in forms:
            base = "" if form == "/" else form
            for name in LEDGER + (TOOL_FILES if tools else ()):
                self.add_file(f"{base}/{name}", name)
            for name in TOOL_TREES if tools else ():
                self.trees[fold(f"{base}/{name}")] = name + "/"
                self.add_above(f"{base}/{name}/x", name + "/")
            if tools:
                self.settings.append(fold(f"{base}/{SETTINGS}"))
                self.add_above(f"{base}/{SETTINGS}", SETTINGS + "*.json")

    @staticmethod
    def protects_tools(root: str) -> bool:
        """Return whether the root's layout.toml asks to protect the tools, too."""
        path = root + "/scripts/layout.toml"
        if not exists(path):
            return False
        import guard_layout

        return guard_layout.protects_tools(path)

    def add_file(self, path: str, name: str) -> None:
        """Add one protected file, which may itself be a link or lie behind one."""
        for form in (path, os.path.realpath(path).replace("\\", "/")):
            self.files[fold(form)] = name
            self.add_above(form, name)
            self.near.append(fold(os.path.dirname(form)))

    def add_above(self, path: str, name: str) -> None:
        """Add the folders above a protected path."""
        folder = os.path.dirname(path)
        while fold(folder) not in self.above:
            self.above[fold(folder)] = name
            folder = os.path.dirname(folder)

    # Spelling

    @staticmethod
    def normal(path: str) -> str:
        """Return an absolute path without `.`, `..` and empty components."""
        parts: list[str] = []
        for part in path.split("/"):
            if part == "..":
                del parts[-1:]
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts) if DRIVES and path[1:2] == ":" else "/" + "/".join(parts)

    def absolute(self, text: str, folder: str) -> str:
        """Return the path that the text names in this folder; with an unknown beginning it stays as it is."""
        text = text.replace("\\", "/")
        if text[:1] == TILDE:
            text = self.from_home(text, folder)
        for own in OWN_FOLDER:
            if text == own or text.startswith(own + "/"):
                text = folder + text[len(own) :]
        if text[:1] in (UNKNOWN, WILD):
            return text
        if not is_absolute(text):
            text = folder + "/" + text
        return text if text[:1] == UNKNOWN else self.follow(self.normal(text))

    def from_home(self, text: str, folder: str) -> str:
        """Return the text with its leading tilde replaced by what it stands for."""
        name, slash, rest = text[1:].partition("/")
        start = {"": self.home, "+": folder}.get(name, UNKNOWN)
        return start + slash + rest

    def follow(self, path: str) -> str:
        """Return the path with links that the command itself has made resolved."""
        for _ in range(8 if self.links else 0):
            link = path
            while link and link not in self.links:
                link = link.rpartition("/")[0]
            if not link:
                break
            path = self.normal(self.links[link] + path[len(link) :])
        return path

    def resolved(self, path: str) -> str:
        """Return the path with the file system's links resolved."""
        folder, name = os.path.split(path)
        if folder not in self.real_folders:
            self.real_folders[folder] = os.path.realpath(folder)
        spelled = os.path.join(self.real_folders[folder], name)
        try:
            return os.path.realpath(spelled) if stat.S_ISLNK(os.lstat(spelled).st_mode) else spelled
        except (OSError, ValueError):
            return spelled

    @staticmethod
    def trimmed(path: str) -> str:
        """Return the path without what some systems ignore at its end: a stream name, blanks, dots."""
        if path[-len(STREAM) :].casefold() == STREAM:
            path = path[: -len(STREAM)]
        head, slash, last = path.rpartition("/")
        return head + slash + (last.rstrip(" .") or last)

    # Identity

    def protected(self, text: str, folder: str) -> str:
        """Return the name of the protected file that the text names in this folder, or an empty text."""
        key = (text, folder)
        if key not in self.known:
            self.known[key] = self.find(text, folder) if text else ""
        return self.known[key]

    def find(self, text: str, folder: str) -> str:
        """Return the name of the protected file that the text names, by spelling, links or file number."""
        path = self.absolute(text, folder)
        if MARKS & set(path):
            return self.match_file(text, path)
        for form in dict.fromkeys((path, self.trimmed(path))):
            name = self.listed(fold(form)) or self.listed(fold(self.resolved(form))) or self.same_file(form)
            if name:
                return name
        return ""

    def listed(self, folded: str) -> str:
        """Return the name under which a folded path is protected, or an empty text."""
        if folded in self.files:
            return self.files[folded]
        for tree, name in self.trees.items():
            if folded.startswith(tree + "/"):
                return name
        for start in self.settings:
            if folded.startswith(start) and folded.endswith(".json") and "/" not in folded[len(start) :]:
                return SETTINGS + "*.json"
        return ""

    def same_file(self, path: str) -> str:
        """Return the name of the protected file that has the device and number of this one, or an empty text."""
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return ""
        if self.numbers is None:
            self.numbers = dict(self.file_numbers())
        return self.numbers.get((found.st_dev, found.st_ino), "") if found.st_ino else ""

    def file_numbers(self) -> Iterator[tuple[tuple[int, int], str]]:
        """Yield device and number of each protected file that exists, with its name."""
        for path in self.every_file():
            try:
                found = os.stat(path)
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(found.st_mode):
                yield (found.st_dev, found.st_ino), self.listed(path) or path

    def every_file(self) -> Iterator[str]:
        """Yield the folded path of each protected file, of the trees those that exist."""
        yield from self.files
        for tree in self.trees:
            yield tree + "/x"
            for folder, _, names in os.walk(tree):
                yield from (fold(f"{folder}/{name}") for name in names)
        for start in self.settings:
            yield from (start + end for end in (".json", ".local.json"))

    # Patterns and unknown pieces

    def match_file(self, text: str, path: str) -> str:
        """Return the name of a protected file that a text with patterns or unknown pieces could name."""
        import guard_match

        return guard_match.match_file(self, text, path)

    def above_protected(self, text: str, folder: str) -> str:
        """Return the name of a protected file that lies below the folder which the text names, or an empty text."""
        if not text:
            return ""
        path = self.absolute(text, folder)
        if MARKS & set(path):
            import guard_match

            return guard_match.match_folder(self, text, path)
        forms = (path, self.trimmed(path), self.resolved(path))
        return next((self.above[fold(form)] for form in forms if fold(form) in self.above), "")

    def add_link(self, place: str, aim: str) -> None:
        """Remember a link that the command itself makes."""
        self.links[place] = aim
        self.known.clear()

    def is_root(self, text: str, folder: str) -> bool:
        """Return whether the text names one of the roots."""
        path = self.absolute(text, folder)
        return fold(path) in self.roots or fold(self.resolved(path)) in self.roots

    def below(self, path: str) -> list[str]:
        """Return where the protected files lie below a folder, each relative to it and folded."""
        forms = [fold(form).rstrip("/") + "/" for form in dict.fromkeys((path, self.resolved(path)))]
        found = [one[len(form) :] for one in self.every_file() for form in forms if one.startswith(form)]
        return list(dict.fromkeys(found))
''',
    "guard_match": r'''
"""Say whether a path with patterns or unknown pieces could be a given path (hooks.md 4.4).

A pattern is a list of tokens; the positions in the candidate that are reached so far go along as a set.
"""

from __future__ import annotations

from guard_paths import fold
from guard_words import ANY, SET, STAR, UNKNOWN, WILD, known_pieces, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard_paths import Paths

    Token = tuple[str, str]


def match_file(paths: Paths, text: str, path: str) -> str:
    """Return the name of a protected file that a text with patterns or unknown pieces could name, or an empty text."""
    if UNKNOWN in path:
        tail = fold(path.rpartition(UNKNOWN)[2])
        for name in dict.fromkeys(paths.files.values()):
            if tail.endswith("/" + name):
                return name
        if not could_spell(text):
            return ""
    tokens = tokens_of(fold(path))
    for candidate in paths.every_file():
        if matches(tokens, candidate, paths.dots):
            return paths.listed(candidate) or candidate
    return ""


def match_folder(paths: Paths, text: str, path: str) -> str:
    """Return the name of a protected file below a folder that the text could name, or an empty text."""
    if UNKNOWN in path and not could_spell(text):
        return ""
    tokens = tokens_of(fold(path))
    candidates = paths.near if UNKNOWN in path else paths.above
    return next((paths.above[one] for one in candidates if matches(tokens, one, paths.dots)), "")


def matching_folders(paths: Paths, pattern: str) -> list[str]:
    """Return the folders above protected files that an absolute pattern could match."""
    tokens = tokens_of(fold(pattern))
    return [folder for folder in paths.above if matches(tokens, folder, paths.dots)]


def pattern_fits(pattern: str, name: str) -> bool:
    """Return whether a pattern for one component could match the name."""
    return matches(tokens_of(fold(pattern)), fold(name), False)


def could_spell(text: str) -> bool:
    """Return whether the known pieces of a path with unknown ones are enough to suspect a protected name."""
    pieces = [fold(plain(piece)) for piece in known_pieces(text)]
    return sum(map(len, pieces)) >= 4 and any("scratch" in piece or "handoff" in piece for piece in pieces)


def tokens_of(pattern: str) -> list[Token]:
    """Return the tokens of a folded path with marks."""
    tokens: list[Token] = []
    at, end = 0, len(pattern)
    while at < end:
        char = pattern[at]
        at += 1
        if char == STAR and pattern[at : at + 2] == STAR + "/" and pattern[at - 2 : at - 1] in ("/", ""):
            tokens.append(("folders", ""))
            at += 2
        elif char in (UNKNOWN, WILD):
            tokens.append(("all", ""))
        elif char in (STAR, ANY):
            tokens.append(("star" if char == STAR else "any", ""))
        elif char == SET:
            close = pattern.find("]", at + (2 if pattern[at : at + 1] in ("!", "^") else 1))
            tokens.append(("is", "[") if close < 0 else ("set", pattern[at:close]))
            at = at if close < 0 else close + 1
        else:
            tokens.append(("is", char))
    return tokens


def matches(tokens: list[Token], path: str, dots: bool) -> bool:
    """Return whether the pattern could match the whole path; with `dots` it matches leading dots, too."""
    fixed = blocked(path, dots)
    reached = {0}
    for kind, value in tokens:
        reached = STEPS[kind](reached, path, value, fixed)
        if not reached:
            return False
    return len(path) in reached


def blocked(path: str, dots: bool) -> frozenset[int]:
    """Return the positions that a pattern character can't stand for: slashes, dots at the start of a component."""
    starts = (at for at, char in enumerate(path) if char == "." and path[at - 1 : at] in ("/", "") and not dots)
    return frozenset([*(at for at, char in enumerate(path) if char == "/"), *starts, len(path)])


def step_is(reached: set[int], path: str, value: str, _fixed: frozenset[int]) -> set[int]:
    """Return the positions behind one fixed character."""
    return {at + 1 for at in reached if path[at : at + 1] == value}


def step_any(reached: set[int], _path: str, _value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind one character that a pattern may match."""
    return {at + 1 for at in reached if at not in fixed}


def step_set(reached: set[int], path: str, value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind one character of a bracket."""
    return {at + 1 for at in reached if at not in fixed and in_set(path[at], value)}


def step_star(reached: set[int], _path: str, _value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind any run of characters of one component."""
    found: set[int] = set()
    for start in reached:
        at = start
        while at not in found:
            found.add(at)
            if at in fixed:
                break
            at += 1
    return found


def step_folders(reached: set[int], path: str, _value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind any number of whole folders that don't begin with a dot."""
    found: set[int] = set()
    for start in reached:
        at = start
        while at not in found:
            found.add(at)
            slash = path.find("/", at)
            if slash < 0 or (at in fixed and at != slash):
                break
            at = slash + 1
    return found


def step_all(reached: set[int], path: str, _value: str, _fixed: frozenset[int]) -> set[int]:
    """Return the positions behind any text."""
    return set(range(min(reached), len(path) + 1))


STEPS = {
    "is": step_is,
    "any": step_any,
    "set": step_set,
    "star": step_star,
    "folders": step_folders,
    "all": step_all,
}


def in_set(char: str, inside: str) -> bool:
    """Return whether a bracket holds the character in either letter case; a class in it may hold anything."""
    if "[:" in inside:
        return True
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    return any(one in "".join(ranges(body)) for one in (char, char.upper())) != negated


def ranges(body: str) -> Iterator[str]:
    """Yield the characters of a bracket, ranges written out."""
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            first, last = ord(body[at]), ord(body[at + 2])
            yield "".join(map(chr, range(first, min(last, first + 256) + 1)))
            at += 3
        else:
            yield body[at]
            at += 1
''',
    "guard_layout": r'''
"""Find the switch `protect_tools` in layout.toml by a scan of its lines (hooks.md 4.1)."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False


LAYOUT_LIMIT = 64 * 1024


def protects_tools(path: str) -> bool:
    """Return whether the layout asks to protect the tools: anything but `false` does, a slip among it."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
    except (OSError, ValueError):
        return False
    try:
        with open(path, "rb") as opened:
            data = opened.read(LAYOUT_LIMIT + 1)
    except OSError:
        return True
    found = switch_in(data[:LAYOUT_LIMIT].decode("utf-8-sig", "replace"))
    return len(data) > LAYOUT_LIMIT if found is None else found


def switch_in(text: str) -> bool | None:
    """Return the value of `protect_tools` in the text of a layout, or None if it is not set."""
    table, found = "", None
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            table = bare(line.partition("]")[0][1:]) or "?"
            continue
        key, equals, value = line.partition("=")
        if not equals or line.startswith("#"):
            continue
        name = ".".join(bare(part) for part in key.split("."))
        full = f"{table}.{name}" if table else name
        if full == "harness" and "protect_tools" in value:
            value = value.partition("protect_tools")[2].partition("=")[2].strip(" \t}")
        elif full != "harness.protect_tools":
            continue
        found = bool(found) or value.partition("#")[0].strip() != "false"
    return found


def bare(key: str) -> str:
    """Return a part of a key without blanks and quotes."""
    return key.strip().strip("\"'")
''',
    "guard_shell": r'''
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
''',
    "guard_syntax": r'''
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
''',
    "guard_options": r'''
"""Read the options of a command: clusters, values, shortened long flags. Imports nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Options = list[tuple[str, str]]


FLAG_PREFIX = 4  # a long flag may be shortened to that many characters


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
''',
    "guard_places": r'''
"""Where a path of a command leads: the folders that it may name."""

from __future__ import annotations

import guard_words as marks
from guard_paths import is_folder
from guard_shell import is_name, united
from guard_words import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_shell import Call, Folders


def folders_of(call: Call, text: str) -> tuple[Folders, bool]:
    """Return the folders that the text may name in the folders in force, and whether all of them exist."""
    found: list[str] = []
    sure = True
    paths = call.reader.paths
    call.reader.shared.spend(len(call.reader.folders) - 1)
    for folder in call.reader.folders:
        path = paths.absolute(text, folder)
        if UNKNOWN in path:
            found.append(path)
            sure = False
        elif marks.STAR in path or marks.ANY in path or marks.SET in path or marks.WILD in path:
            from guard_match import matching_folders

            found += matching_folders(paths, path) or [UNKNOWN]
            sure = False
        else:
            found.append(path)
            sure = sure and (is_folder(path) or path in call.reader.shared.made)
    return united([tuple(found)]), sure


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
''',
    "guard_commands": r'''
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
''',
    "guard_builtins": r'''
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
''',
    "guard_wrappers": r'''
"""Commands that run the words behind their own options (hooks.md 4.4, Wrappers)."""

from __future__ import annotations

from guard_commands import rules
from guard_options import first_operand, split_options
from guard_places import inside, is_assignment
from guard_words import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_shell import Call


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


def run_wrapper(call: Call) -> None:
    """Judge the command of `uv run …`, `poetry run …` and their kin."""
    words = call.words[1:]
    if "run" in words[:6]:
        words = words[words.index("run") + 1 :]
        longs = (
            "--with --python --project --directory --package --extra --group --env-file --with-editable --env --name"
        )
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


PLAIN = (
    "nohup builtin setsid unbuffer busybox toybox noglob nocorrect fakeroot eatmydata npx bunx uvx proxychains "
    "torsocks firejail valgrind rlwrap unshare setpriv systemd-run dbus-run-session - coproc"
)
TABLE: dict[str, Rule] = {
    **rules(PLAIN, wrapper()),
    "env": wrapper("uCS", "--unset --chdir --split-string"),
    "sudo": wrapper("ugCDhpRrtTU", "--user --group --chdir --host --prompt --chroot --role --type --other-user"),
    "doas": wrapper("uCa"),
    "command": command_builtin,
    "exec": wrapper("a"),
    "time": wrapper("fo", "--format --output"),
    "nice": wrapper("n", "--adjustment"),
    "ionice": wrapper("cn", "--class --classdata"),
    "stdbuf": wrapper("ioe", "--input --output --error"),
    **rules("timeout gtimeout", wrapper("ks", "--kill-after --signal", 1)),
    "chrt": wrapper("TPD", "--sched-runtime --sched-period --sched-deadline", 1),
    **rules("taskset chroot repeat setarch", wrapper("", "", 1)),
    **rules("strace ltrace", wrapper("aebIoOpPsSuXU", "--output --trace")),
    "caffeinate": wrapper("tw"),
    "xvfb-run": wrapper("efnpsw"),
    "flock": flock,
    **rules("uv poetry pdm rye pipenv hatch pipx conda mamba micromamba", run_wrapper),
}
''',
    "guard_operands": r'''
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
''',
    "guard_copies": r'''
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
''',
    "guard_writers": r'''
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
''',
    "guard_search": r'''
"""Commands that choose their files themselves: find, xargs, parallel, ls, grep (hooks.md 4.5).

`find` is judged by walking its expression for each protected file below its roots, and for each folder on the way.
"""

from __future__ import annotations

import guard_words as marks
from guard_commands import rules
from guard_options import first_operand, has, split_options, values
from guard_paths import fold
from guard_places import folders_of, inside
from guard_words import UNKNOWN, names, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from guard_commands import Rule
    from guard_shell import Call

    Node = tuple[Any, ...]
    Truth = tuple[bool, bool]  # it may hold, it may not hold

MAYBE: Truth = (True, True)
YES: Truth = (True, False)
FIND_VALUES = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -maxdepth "
    "-mindepth -newer -anewer -cnewer -mtime -atime -ctime -mmin -amin -cmin -size -perm -user -group -uid -gid "
    "-inum -links -samefile -fstype -used -printf -fprint -fprint0 -fls -context -regextype -files0-from -newermt "
    "-newerct"
)
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")

NEUTRAL = "a-file-like-any-other"


class Entry:
    """One file or folder that find would come to: how it spells it, its depth, and whether it is a folder."""

    __slots__ = ("depth", "folder", "pruned", "runs", "spelled")

    def __init__(self, spelled: str, depth: int, folder: bool) -> None:
        self.spelled = spelled
        self.depth = depth
        self.folder = folder
        self.pruned = False
        self.runs: list[tuple[str, list[str]]] = []


def find(call: Call) -> None:
    """Judge `find`: what its actions would do to each protected file that it can reach."""
    words = call.words[1:]
    at = 0
    while at < len(words) and (words[at] in ("-L", "-P", "-H", "-D") or words[at].startswith("-O")):
        at += 2 if words[at] == "-D" else 1
    start = at
    while at < len(words) and words[at][:1] not in "-(!,)":
        at += 1
    tree, _ = parse_either(words, at, call)
    lines: list[str] = []
    for root in words[start:at] or ["."]:
        walk(call, tree, [Entry(root, 0, folder=True), Entry(f"{root}/{NEUTRAL}", 1, folder=False)], "")
        for chain in chains(call, root, words[at:]):
            lines += walk(call, tree, chain, " ".join(words[at:]))
    call.out = "".join(line + "\n" for line in marks.unique(lines)) or UNKNOWN


def chains(call: Call, root: str, expression: list[str]) -> list[list[Entry]]:
    """Return, for each protected file below the root, the entries that find comes to on the way to it."""
    paths = call.reader.paths
    if any(paths.protected(root, folder) for folder in call.reader.folders):
        return [[Entry(root, 0, folder=False)]]
    rests: list[str] = []
    for folder in folders_of(call, root)[0]:
        if UNKNOWN in folder:
            told = any(name in fold(plain(word)) for word in [root, *expression] for name in ("handoff", "scratch"))
            rests += [name for name in dict.fromkeys(paths.files.values()) if told]
        else:
            rests += paths.below(folder)
    return [way(root, rest) for rest in marks.unique(rests)]


def way(root: str, rest: str) -> list[Entry]:
    """Return the entries from the root down to a file below it."""
    parts = rest.split("/")
    spelled = [root, *(root.rstrip("/") + "/" + "/".join(parts[: count + 1]) for count in range(len(parts)))]
    return [Entry(one, depth, depth < len(parts)) for depth, one in enumerate(spelled)]


def walk(call: Call, tree: Node, chain: list[Entry], expression: str) -> list[str]:
    """Judge the actions on each entry of a chain down to a pruned one; return the lines that find prints."""
    lines = []
    acts = any(word in expression for word in (*FIND_RUNS, "-delete", "-print", "-ls", "-fprint"))
    for entry in chain:
        holds, _ = evaluate(tree, entry, certain=True)
        for name, words in entry.runs:
            act(call, entry, name, words)
        if (holds and not acts) or any(name == "-print" for name, _ in entry.runs):
            lines.append(entry.spelled)
        if entry.pruned:
            break
    return lines


def act(call: Call, entry: Entry, name: str, words: list[str]) -> None:
    """Judge one action on one entry."""
    if name == "-delete" and not entry.folder:
        call.write(entry.spelled, "`find -delete`")
    elif name in FIND_RUNS:
        folder, _, last = entry.spelled.rpartition("/")
        there = name.endswith("dir")
        spelled = "./" + last if there else entry.spelled
        inside(call, (folder or ".") if there else "", [word.replace("{}", spelled) for word in words])


def parse_either(words: list[str], at: int, call: Call) -> tuple[Node, int]:
    """Parse `A -o B`; return the tree and where it ends."""
    choices = []
    while True:
        part, at = parse_all(words, at, call)
        choices.append(part)
        if at >= len(words) or words[at] not in ("-o", "-or", ","):
            return ("or", choices), at
        at += 1


def parse_all(words: list[str], at: int, call: Call) -> tuple[Node, int]:
    """Parse neighbouring tests, all of which must hold."""
    parts = []
    while at < len(words) and words[at] not in ("-o", "-or", ",", ")"):
        negated = False
        while at < len(words) and words[at] in ("!", "-not", "-a", "-and"):
            negated = negated != (words[at] in ("!", "-not"))
            at += 1
        if at >= len(words):
            break
        part, at = parse_one(words, at, call)
        parts.append(("not", part) if negated else part)
    return ("and", parts), at


def parse_one(words: list[str], at: int, call: Call) -> tuple[Node, int]:
    """Parse one test, action or group."""
    word = words[at]
    if word == "(":
        part, at = parse_either(words, at + 1, call)
        return part, at + 1
    if word in FIND_RUNS:
        end = at + 1
        while end < len(words) and words[end] != ";" and not (words[end] == "+" and words[end - 1] == "{}"):
            end += 1
        return ("run", word, words[at + 1 : end]), end + 1
    if word == "-fprintf":
        call.write("".join(words[at + 1 : at + 2]), "`find -fprintf`")
        return ("test", word, ""), at + 3
    value = "".join(words[at + 1 : at + 2]) if word in FIND_VALUES else ""
    if word in ("-fprint", "-fprint0", "-fls"):
        call.write(value, f"`find {word}`")
    return ("test", word, value), at + (2 if word in FIND_VALUES else 1)


def evaluate(node: Node, entry: Entry, certain: bool) -> Truth:
    """Return whether a tree may hold and may fail for the entry; note the actions that would be reached."""
    kind = node[0]
    if kind == "not":
        holds, fails = evaluate(node[1], entry, certain)
        return fails, holds
    if kind == "run":
        entry.runs.append((node[1], node[2]))
        return MAYBE
    if kind == "test":
        return test(node[1], node[2], entry, certain)
    wanted = kind == "and"
    on, off = True, False  # the next part may be reached; an earlier one may have settled the answer
    for part in node[1]:
        truth = evaluate(part, entry, certain)
        goes_on, settles = truth if wanted else (truth[1], truth[0])
        off = off or settles
        certain = certain and not settles
        on = goes_on
        if not on:
            break
    return (on, off) if wanted else (off, on)


def test(name: str, value: str, entry: Entry, certain: bool) -> Truth:
    """Return the truth of one primary of find for the entry."""
    if name in ("-name", "-iname"):
        return fits(value, entry.spelled.rstrip("/").rpartition("/")[2])
    if name in ("-path", "-ipath", "-wholename", "-iwholename"):
        return fits(value, entry.spelled)
    if name == "-type":
        return ("d" if entry.folder else "f") in value, ("d" if entry.folder else "f") not in value
    if name in ("-maxdepth", "-mindepth") and value.isdigit():
        holds = entry.depth <= int(value) if name == "-maxdepth" else entry.depth >= int(value)
        return holds, not holds
    if name == "-prune":
        entry.pruned = entry.pruned or certain
        return YES
    if name in ("-delete", "-print", "-print0", "-ls", "-printf"):
        entry.runs.append(("-delete" if name == "-delete" else "-print", []))
        return YES
    if name == "-false":
        return False, True
    return YES if name in ("-true", "-depth", "-mount", "-xdev", "-follow", "-noleaf", "-d", "-s", "-x") else MAYBE


def fits(pattern: str, text: str) -> Truth:
    """Return whether the pattern matches the text; an unknown one may."""
    from fnmatch import fnmatchcase

    if UNKNOWN in pattern or UNKNOWN in text:
        return MAYBE
    found = fnmatchcase(fold(plain(text)), plain(pattern).casefold())
    return found, not found


def xargs(call: Call) -> None:
    """Judge the command of `xargs` with the words on its stdin, as far as the pipeline shows them."""
    words = call.words[1:]
    at = first_operand(
        words, "nILPdaEs", "--max-args --replace --max-lines --max-procs --delimiter --arg-file --eof --max-chars"
    )
    options, _ = split_options(words[:at], "nILPdaEs", "--max-args --max-procs --delimiter --arg-file", "iel")
    command = words[at:] or ["echo"]
    replaced = [value or "{}" for value in values(options, "-I", "-i", "--replace")]
    by_line = has(options, "-0", "--null", "-d", "--delimiter", "-L", "--max-lines") or bool(replaced)
    given = words_on_stdin(call.stdin, by_line)
    if replaced:
        for item in given:
            call.again([word.replace(replaced[0], item) for word in command], "")
    elif has(options, "-n", "--max-args", "-L", "--max-lines"):
        for item in given:
            call.again([*command, item], "")
    else:
        call.again([*command, *given], "")


def words_on_stdin(stdin: str | None, by_line: bool) -> list[str]:
    """Return the words that a text on stdin gives; an unknown text gives an unknown word."""
    if stdin is None:
        return [UNKNOWN]
    if by_line:
        return [line for line in stdin.replace("\0", "\n").split("\n") if line]
    return stdin.replace('"', "").replace("'", "").split()


def parallel(call: Call) -> None:
    """Judge the command of GNU parallel with the words behind `:::` or on its stdin."""
    words = call.words[1:]
    at = first_operand(words, "jIaNnLdS", "--jobs --arg-file --colsep --max-args --replace --joblog --results")
    words = words[at:]
    marked = [place for place, word in enumerate(words) if word.startswith(":::")]
    command = words[: marked[0]] if marked else words
    given = (
        [word for word in words[marked[0] :] if not word.startswith(":::")]
        if marked
        else words_on_stdin(call.stdin, True)
    )
    for item in given:
        text = " ".join(command) if "{}" in " ".join(command) else " ".join([*command, "{}"])
        call.code((text if command else "{}").replace("{}", item))


def list_files(call: Call) -> None:
    """Print the protected files that `ls` would list."""
    options, operands = split_options(call.words[1:], "IwT")
    paths = call.reader.paths
    lines: list[str] = []
    for operand in operands or ["."]:
        for folder in call.reader.folders:
            if paths.protected(operand, folder):
                lines.append(operand)
            elif not has(options, "-d"):
                path = paths.absolute(operand, folder)
                lines += [rest for rest in paths.below(path) if "/" not in rest] if UNKNOWN not in path else [UNKNOWN]
    call.out = "".join(line + "\n" for line in marks.unique(lines)) or UNKNOWN


def grep(call: Call) -> None:
    """Print the lines of stdin that match, or with `-l` the named files."""
    options, operands = split_options(call.words[1:], "efmABCd", "--regexp --file --max-count --include --exclude")
    patterns = values(options, "-e", "--regexp") or operands[:1]
    files = operands if values(options, "-e", "--regexp") else operands[1:]
    if has(options, "-l", "--files-with-matches"):
        named = [word for word in files if any(call.reader.paths.protected(word, one) for one in call.reader.folders)]
        call.out = "".join(word + "\n" for word in named) or None
    elif not files and call.stdin is not None and len(patterns) == 1:
        call.out = filtered(
            call.stdin, plain(patterns[0]), has(options, "-v", "--invert-match"), has(options, "-F", "--fixed-strings")
        )


def filtered(text: str, pattern: str, inverted: bool, fixed: bool) -> str:
    """Return the lines that grep would print; all of them if the pattern can't be judged."""
    import re

    if UNKNOWN in pattern or UNKNOWN in text or len(pattern) > 200:
        return text
    try:
        found = re.compile(re.escape(pattern) if fixed else pattern, re.IGNORECASE)
    except re.error:
        return text
    return "".join(line + "\n" for line in text.splitlines() if bool(found.search(line[:1000])) != inverted)


TABLE: dict[str, Rule] = {
    **rules("find gfind", find),
    **rules("xargs gxargs", xargs),
    "parallel": parallel,
    "ls": list_files,
    **rules("grep egrep fgrep", grep),
}
''',
    "guard_git": r'''
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
''',
    "guard_programs": r'''
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
''',
    "guard_code": r'''
"""Code inside commands: shells, interpreters, awk, PowerShell, patches (hooks.md 4.6).

Shell code goes back to the reader. Other code is not parsed: it is denied if it names a protected file and holds a
construct that writes, or if it starts a command that would.
"""

from __future__ import annotations

import re

from guard_options import has, split_options, values
from guard_shell import Denied, Trouble
from guard_words import TILDE, UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard_shell import Call

LONGEST = 4096
NAMES = ("handoff.jsonl", "handoff.seal", "handoff.lock")
BOUNDS = frozenset(" \t\n\r'\"`()[]<>|;,=")
VARIABLE = re.compile(r"[{}$%#@&+!]")
LITERAL = re.compile(r"'([^'\n]{0,4096})'|\"([^\"\n]{0,4096})\"|`([^`\n]{0,4096})`")
JOINED = re.compile(r"""(['"])\s{0,40}(?:\+|\.\.?)?\s{0,40}\1""")
BETWEEN = re.compile(r"[\s,\[\]()]*\Z")
FOLDER = re.compile(r"\.scratch\b", re.IGNORECASE)
STREAMS = re.compile(r"(?:stdout|stderr|STDOUT|STDERR|console)(?:\.buffer)?\s*\.\s*write\w*\s*\(|\bwriter\s*\(")
MODE = r"[\"'](?:[rbtU]*[wax+][rwaxbt+U]*)[\"']"
INSIDE = r"(?:[^\n;()]|\([^()\n]{0,200}\)){0,300}?"
WRITING = re.compile(
    rf"""
      write\w*\s*\(                                   # f.write(…), writeFileSync(…), Path.write_text(…)
    | open\w*\s*\({INSIDE},\s*(?:mode\s*=\s*|\{{\s*flags?\s*:\s*)?{MODE}
    | mode\s*=\s*{MODE}
    | \.\s*open\s*\(\s*{MODE}
    | [\"'({{|]\s*(?:\+[<>]|>)                         # perl's modes
    | \bO_(?:WRONLY|RDWR|APPEND|TRUNC|CREAT)\b
    | \b(?:unlink|rename|truncate|ftruncate|rmtree|copyfile|symlink|chmod|chown)\w*\s*\(
    | (?<![.\w])(?:remove|replace|copy\w*|move|link)\s*\(
    | \b(?:os|shutil|fs|File|FileUtils|Deno|Bun)\w*\s*\.\s*
      (?:remove|replace|rename|unlink|truncate|copy|move|rm|cp|delete|link|write)
    | \b(?:appendFile|copyFile|writeFile|createWriteStream|rmSync|rm_rf|rm_f|cpSync|file_put_contents|fputs|fwrite)
    | \b(?:unlink|rename|truncate)\b\s*[\"'(\w$]       # perl and ruby call without parentheses
    | \bfile\s+(?:delete|rename|copy)\b | \bopen\s+\S+\s+[\"'{{]?[wa]\+?   # tcl
    | \binplace\s*=\s*(?:True|1)
    | \b(?:File|IO)\.(?:write|open|new)\b{INSIDE},\s*{MODE}
    | \bFile\.(?:write|delete)\b | \bopen\s*\({INSIDE}\s*\bFile::
    | \bputs?\s*\(?\s*\$?(?!std)\w+\s*,                # puts to a handle
    | \bfopen\s*\({INSIDE},\s*{MODE}
    """,
    re.VERBOSE,
)
TREES = re.compile(
    r"rmtree|rmdir|rm_r|rm_f|rmSync|\brm\s*\(|renam|shutil\.move|(?<![.\w])move\s*\(|\bchmod|\bchown|copytree|cpSync|\.rm\b"
)
STARTS = re.compile(
    r"system|popen|subprocess|spawn|\bexec|child_process|\bqx\b|`|shell_exec|passthru|proc_open|%x|\bos\.exec|Command\s*\(|\brun\s*\("
)
QUOTED_CODE = re.compile(r"(?:\bqx|%x)\s*[{(\[/|!]([^})\]/|!\n]{0,4096})")


def judge_code(call: Call, code: str, language: str) -> None:
    """Deny code that names a protected file and writes, or that starts a command which would."""
    text = JOINED.sub("", code)
    if STARTS.search(text):
        judge_started(call, text)
    if WRITING.search(STREAMS.sub(" ", text)):
        name = named(call, text)
        if name:
            raise Denied(name, f"{language} code that writes")
    if TREES.search(text):
        for literal in literals(text):
            for folder in call.reader.folders:
                name = call.reader.paths.above_protected(literal, folder)
                if name and literal.strip("./"):
                    raise Denied(name, f"{language} code that moves or removes folders")


def judge_started(call: Call, code: str) -> None:
    """Judge the texts in code that starts commands: each as shell code, neighbours as the words of one command."""
    group: list[str] = []
    end = 0
    for found in LITERAL.finditer(code):
        literal = text_of(found)
        if group and not BETWEEN.match(code[end : found.start()]):
            try_words(call, group)
            group = []
        end = found.end()
        group.append(literal)
        try_code(call, literal)
    try_words(call, group)
    for found in QUOTED_CODE.finditer(code):
        try_code(call, found.group(1))


def try_code(call: Call, text: str) -> None:
    """Judge a text as shell code if it can be read as such."""
    try:
        call.code(text)
    except Trouble:
        return


def try_words(call: Call, words: list[str]) -> None:
    """Judge texts as the words of a command."""
    if len(words) > 1:
        for start in range(min(len(words), 4)):
            call.again(words[start:], "")


def literals(code: str) -> Iterator[str]:
    """Yield the quoted texts in code."""
    for found in LITERAL.finditer(code):
        yield text_of(found)


def text_of(found: re.Match[str]) -> str:
    """Return the text between the quotes."""
    return next((group for group in found.groups() if group is not None), "")


def named(call: Call, text: str) -> str:
    """Return the protected file that a text names, quoted or not, or an empty text."""
    paths = call.reader.paths
    folders = call.reader.folders
    for literal in dict.fromkeys(literals(text)):
        for folder in folders:
            name = paths.protected(with_home(literal), folder)
            if name:
                return name
    by_folder = FOLDER.search(text) is not None
    for token in dict.fromkeys(mentions(text)):
        spelled = token if "/" in token or not by_folder else UNKNOWN + "/.scratch/" + token
        for folder in folders:
            name = paths.protected(with_unknown(spelled), folder)
            if name:
                return name
    return ""


def mentions(text: str) -> Iterator[str]:
    """Yield the path-like texts that end in the name of a ledger file."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text.lower() if len(text.lower()) == len(text) else text
    for name in NAMES:
        at = folded.find(name)
        while at >= 0:
            end = at + len(name)
            following = folded[end : end + 1]
            if not (
                following.isalnum()
                or following in ("_", "-")
                or (following == "." and folded[end + 1 : end + 2].isalnum())
            ):
                start = at
                while start > 0 and at - start < LONGEST and text[start - 1] not in BOUNDS:
                    start -= 1
                yield text[start:end].replace("\\\\", "/").replace("\\", "/")
            at = folded.find(name, end)


def with_unknown(token: str) -> str:
    """Return a path out of code, with what stands for a variable as an unknown piece."""
    pieces = VARIABLE.split(token)
    if len(pieces) > 1:
        return UNKNOWN + pieces[-1]
    return UNKNOWN + token if token.startswith("/.scratch/") else with_home(token)


def with_home(token: str) -> str:
    """Return a path whose leading tilde is the home folder, as a function may expand it."""
    return TILDE + token[1:] if token[:1] == "~" else token


def judge_mention(call: Call, text: str) -> None:
    """Deny an editor's command that names a protected file."""
    name = named(call, plain(text)) if any(one in text.lower() for one in NAMES) else ""
    if name:
        raise Denied(name, f"`{call.name}`")


# awk

AWK_FILE = re.compile(r">>?\s*\"([^\"\n]{0,4096})\"")
AWK_NAME = re.compile(r"print[^;}\n]{0,400}?>>?\s*\(?\s*([A-Za-z_]\w*)")
AWK_CODE = re.compile(r"(?:system\s*\(\s*|\|\s*)\"([^\"\n]{0,4096})\"")


def awk(call: Call) -> None:
    """Judge awk: files edited in place, output into files, commands that the program starts."""
    options, operands = split_options(call.words[1:], "FvfieE", "--assign --file --include --source --field-separator")
    programs = values(options, "-e", "--source")
    if not programs and not has(options, "-f", "--file"):
        programs, operands = operands[:1], operands[1:]
    if "inplace" in values(options, "-i", "--include"):
        for operand in operands:
            call.write(operand, "`awk -i inplace`")
    for program in map(plain, programs):
        for found in AWK_FILE.finditer(program):
            call.write(found.group(1), "awk's `print >`")
        for found in AWK_NAME.finditer(program):
            for value in awk_values(found.group(1), options, operands):
                call.write(value, "awk's `print >`")
        for found in AWK_CODE.finditer(program):
            try_code(call, found.group(1))


def awk_values(name: str, options: list[tuple[str, str]], operands: list[str]) -> list[str]:
    """Return the possible values of an awk variable that names an output file."""
    if name in ("FILENAME", "ARGV"):
        return operands
    given = [value for value in [*values(options, "-v", "--assign"), *operands] if value.startswith(name + "=")]
    return [value.partition("=")[2] for value in given]


# PowerShell and cmd

HARMLESS = re.compile(r"\d?>&\d|\d?>\s*(?:\$null|/dev/null|nul\b)|[-=]>", re.IGNORECASE)
POWER_VERBS = re.compile(
    r"(?:add-content|set-content|clear-content|out-file|remove-item|copy-item|move-item|rename-item|new-item|tee-object|export-\w+"
    r"|start-transcript|invoke-webrequest|set-acl|\bac|\bsc|\bclc|\bri|\bcpi|\bmi|\brni|\bni|\btee|\bdel|\berase|\brd|\brmdir|\brm"
    r"|\bmv|\bmove|\bcp|\bcopy|\bxcopy|\brobocopy|\bren|\bicacls|\battrib|\bmklink|\bfsutil|\biwr|\bcurl|\bwget)(?![\w-])"
    r"|writealltext|writealllines|writeallbytes|appendall\w+|streamwriter|file\]?::(?:write|append|delete|move|copy|create|open|replace)"
    r"|-outfile|-inplace|\.delete\(|\.moveto\(|\.copyto\(",
    re.IGNORECASE,
)


def judge_power(call: Call, text: str) -> None:
    """Deny a PowerShell or cmd text that names a protected file with its folder and holds `>` or a writing verb."""
    spelled = plain(text).replace("`", "").replace("^", "").replace('"', "").replace("'", "")
    if ">" not in HARMLESS.sub(" ", spelled) and not POWER_VERBS.search(spelled):
        return
    for token in [*mentions(spelled), *tool_mentions(call, spelled)]:
        name = token.rpartition("/")[2].lower()
        absolute = token.startswith("/")
        inside = (".scratch/" + name) in token.lower() and not absolute
        for folder in call.reader.folders:
            found = call.reader.paths.protected(with_unknown(token), folder)
            if found or inside or ("/" not in token and FOLDER.search(spelled)):
                raise Denied(found or ".scratch/" + name, "a PowerShell or cmd text that writes")


def tool_mentions(call: Call, text: str) -> Iterator[str]:
    """Yield the words of a text, which matter where the tools are protected, too."""
    if call.reader.paths.trees:
        yield from (word.replace("\\", "/") for word in re.split(r"[\s;|,()]+", text) if word)


# Patches

PATCH_HEADS = (
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
    "+++ ",
    "--- ",
    "rename to ",
    "rename from ",
    "copy to ",
)


def judge_patch(call: Call, text: str, folder: str = "", strip: int = 0) -> None:
    """Deny a patch one of whose file lines names a protected file, with or without git's prefixes."""
    for line in text.split("\n"):
        name = patched(line)
        if name is None:
            continue
        first, _, rest = name.partition("/")
        for spelled in (
            name,
            rest if first in ("a", "b", "i", "w", "c", "o") else "",
            "/".join(name.split("/")[strip:]),
        ):
            if spelled:
                call.write(f"{folder}/{spelled}" if folder and spelled[:1] != "/" else spelled, "a patch")


def patched(line: str) -> str | None:
    """Return the file that a line of a patch names, or None."""
    line = line.lstrip(" \t") if line.lstrip(" \t").startswith("***") else line
    for head in PATCH_HEADS:
        if line.startswith(head):
            name = line[len(head) :].partition("\t")[0].strip()
            return name.strip('"')
    return None
''',
    "guard_files": r'''
"""Judge the calls of file tools, patch tools and MCP tools by their arguments (hooks.md 4.3)."""

from __future__ import annotations

from guard_payload import reader_of, spelled
from guard_shell import Call, Trouble
from guard_words import foreign, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard_payload import Tool


EDITORS = names(
    "write edit multiedit multi_edit notebookedit create insert str_replace str_replace_editor "
    "str_replace_based_edit_tool write_file replace delete delete_file edit_file create_file write_to_file "
    "replace_in_file search_replace apply_diff append move rename remove patch apply_patch applypatch "
    "edit_notebook undo_edit"
)
PATCHES = frozenset(("apply_patch", "applypatch", "patch", "apply_diff"))
MCP_VERBS = names("write edit create append move rename copy delete remove patch insert replace truncate save upload")
# Arguments that carry text, in any spelling (compared without `_` and in lower case).
TEXTS = names(
    "content contents newstring oldstring filetext description text newstr oldstr inserttext newsource newtext "
    "oldtext prompt query pattern message title body reason explanation instruction instructions code data value "
    "comment summary replacement search find regex viewrange cellid language subject"
)
PATCH_KEYS = names("patch patchtext diff input command")
DEEPEST = 20


def is_writing_mcp(name: str) -> bool:
    """Return whether the name is that of an MCP tool which writes."""
    return name.startswith("mcp__") and any(verb in name.rpartition("__")[2].lower() for verb in MCP_VERBS)


def judge_paths(tool: Tool, environ: Mapping[str, str]) -> None:
    """Judge the paths and patches among the arguments of a tool that writes files."""
    arguments = tool.arguments
    if tool.name not in EDITORS and not is_writing_mcp(tool.name):
        return
    if arguments.get("command") == "view" and tool.name not in PATCHES:
        return
    reader = reader_of(tool, environ)
    call = Call(reader, [tool.name], None)
    for key, text in texts_of(arguments, "", 0):
        folded = key.replace("_", "").lower()
        if folded in PATCH_KEYS or (tool.name in PATCHES and "\n" in text):
            import guard_code

            guard_code.judge_patch(call, foreign(text))
        if folded not in TEXTS and not (tool.name in PATCHES and "\n" in text):
            call.write(spelled(text), f"`{tool.name}`")
            if tool.name in ("delete", "delete_file", "remove", "move", "rename") or tool.name.startswith("mcp__"):
                judge_folder(call, tool.name, text)


def judge_folder(call: Call, name: str, text: str) -> None:
    """Deny removing or moving a folder above a protected file."""
    last = name.rpartition("__")[2].lower()
    if any(verb in last for verb in ("delete", "remove", "move", "rename")):
        call.write_tree(spelled(text), f"`{name}`")


def texts_of(value: object, key: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the texts among arguments, each with the key it stands under; items of a list have the list's key."""
    if depth > DEEPEST:
        raise Trouble("nested too deep")
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from texts_of(item, name, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item, key, depth + 1)
''',
    "guard_payload": r'''
"""Judge one tool call of any harness: read its shape, find what it would do, word the answer (hooks.md 2, 4.3).

This module and those beside it are carried as text by `handoff-log-guard.py`. They read the file system, and nothing
else; they never approve.
"""

from __future__ import annotations

import os

from guard_json import parse_json
from guard_paths import Paths
from guard_shell import Call, Denied, Reader, Shared, Trouble
from guard_words import TILDE, foreign, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Arguments = dict[str, Any]

NEAR = (b"handoff.jsonl", b"handoff.seal", b"handoff.lock")
UNREADABLE = "This call names the handoff ledger, and the guard can't read it"
RULE = (
    "Only `python3 scripts/handoff.py append <type>` writes the handoff ledger, with the record on stdin by a "
    "quoted heredoc; reading it is free."
)
SHELLS = names(
    "bash shell run_shell_command execute_bash local_shell exec_command run_terminal_cmd terminal run_command"
)
POWER = frozenset(("powershell", "pwsh", "cmd"))
FOLDERS = ("workdir", "working_directory", "dir_path", "cwd", "directory")


class Tool:
    """A tool call in one shape: its name in lower case, its arguments, the folder it begins in."""

    __slots__ = ("arguments", "cwd", "name")

    def __init__(self, name: str, arguments: Arguments, cwd: object) -> None:
        self.name = name
        self.arguments = arguments
        self.cwd = cwd


# Reading


def read_tool(payload: object) -> Tool:
    """Return the tool call in a payload of any harness; raise Trouble if there is none that can be read."""
    if not isinstance(payload, dict):
        raise Trouble("no object")
    name = first(payload, "tool_name", "toolName", "tool")
    arguments = first(payload, "tool_input", "toolArgs", "args")
    cwd = payload.get("cwd")
    if isinstance(arguments, str):
        arguments = parse_json(arguments)
    if name is None and arguments is None and "command" in payload:
        name, arguments = "bash", payload
    if name is None and isinstance(arguments, dict) and "command" in arguments:
        name = "bash"
    if not isinstance(name, str) or not (arguments is None or isinstance(arguments, dict)):
        raise Trouble("no tool call")
    return Tool(name if name.startswith("mcp__") else name.lower(), arguments or {}, cwd)


def first(payload: Arguments, *keys: str) -> Any:
    """Return the value of the first key that is there."""
    return next((payload[key] for key in keys if payload.get(key) is not None), None)


# Judging


def judge_tool(tool: Tool, environ: Mapping[str, str]) -> None:
    """Judge a tool call; raise Denied if it would change a protected file."""
    if tool.name in SHELLS or tool.name in POWER:
        judge_command(tool, environ)
    else:
        import guard_files

        guard_files.judge_paths(tool, environ)


def reader_of(tool: Tool, environ: Mapping[str, str]) -> Reader:
    """Return a reader in the folder that the call begins in."""
    paths = Paths(tool.cwd, environ)
    reader = Reader(Shared(paths), "", (paths.cwd,))
    for key in FOLDERS if tool.arguments.get("command") is not None and "cwd" in FOLDERS else ():
        place = tool.arguments.get(key)
        if isinstance(place, str) and place and not (key == "cwd" and place == tool.cwd):
            reader.folders = (paths.absolute(spelled(place), reader.folders[0]),)
    return reader


def judge_command(tool: Tool, environ: Mapping[str, str]) -> None:
    """Judge the command of a shell tool, which is a text or a list of words."""
    command = tool.arguments.get("command")
    if command is None and "command" not in tool.arguments:
        return
    reader = reader_of(tool, environ)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        if command:
            reader.judge(Call(reader, [foreign(word) for word in command], None))
    elif not isinstance(command, str):
        raise Trouble("a command of the wrong type")
    elif tool.name in POWER:
        import guard_code

        guard_code.judge_power(Call(reader, [tool.name], None), foreign(command))
    else:
        reader.text = foreign(command)
        reader.end = len(reader.text)
        reader.program("")


def spelled(path: str) -> str:
    """Return a path argument in the form that the path rules read."""
    path = foreign(path.removeprefix("file://"))
    return TILDE + path[1:] if path[:1] == "~" else path


# Answering


def quoted(text: str) -> str:
    """Return the text as a JSON string of ASCII on one line, what acts on a terminal replaced."""
    shown = "".join(char if " " <= char <= "~" else "?" for char in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def denial(harness: str, reason: str) -> str:
    """Return the line that denies a call in the form of the harness (hooks.md 2.3)."""
    text = quoted(reason)
    if harness == "copilot":
        return f'{{"permissionDecision": "deny", "permissionDecisionReason": {text}}}\n'
    if harness == "cursor":
        return f'{{"permission": "deny", "user_message": {text}, "agent_message": {text}}}\n'
    if harness in ("gemini", "opencode", "junie"):
        return f'{{"decision": "deny", "reason": {text}}}\n'
    inner = f'{{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": {text}}}'
    return f'{{"hookSpecificOutput": {inner}}}\n'


def judged(payload: object, environ: Mapping[str, str]) -> str | None:
    """Return why the call is denied, or None."""
    try:
        judge_tool(read_tool(payload), environ)
    except Denied as verdict:
        return f"{verdict.how[:1].upper()}{verdict.how[1:]} would change {verdict.name}. {RULE}"
    return None


def answer(data: bytes, harness: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the denying line, or an empty text; trouble is a denial where the ledger is named (hooks.md 2.4)."""
    try:
        reason = judged(parse_json(data.decode("utf-8-sig")), os.environ if environ is None else environ)
    except Exception as fault:  # noqa: BLE001 - a fault in judging must not open the way
        near = data.lower()
        reason = f"{UNREADABLE} ({type(fault).__name__}). {RULE}" if any(name in near for name in NEAR) else None
    return denial(harness, reason) if reason else ""
''',
}

if __name__ == "__main__":
    sys.exit(main())
