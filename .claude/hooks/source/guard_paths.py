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
