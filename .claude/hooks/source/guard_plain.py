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
