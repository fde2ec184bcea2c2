"""What the checks of `doctor` look at: one project, its record, and what its registrations say."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from handoff_core.setup import harnesses, merge, probe
from handoff_core.setup.files import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from handoff_core.setup.files import Tree
    from handoff_core.setup.harnesses import Options
    from handoff_core.setup.record import Record

OK, WARN, FAIL, SKIP = "ok", "warn", "fail", "skip"

_PYTHON = re.compile(r"[A-Za-z0-9_./:@%+,=~-]+(?: -3[0-9.]*)?")
_PYTHON_NAME = re.compile(r"(py|python|pypy)[0-9.]*(\.exe)?")


class Result(NamedTuple):
    """One line of the doctor: what was checked, how it stands, and what to do about it."""

    id: str
    status: str
    text: str
    fix: str = ""


class Registered(NamedTuple):
    """A command line that a harness starts a hook with: words, or one text for the shell."""

    harness: str
    hook: str
    command: list[str] | str


class Site:
    """One project as the checks see it; `validate` returns the JSON answer of that command, None without one."""

    def __init__(
        self,
        tree: Tree,
        previous: Record | None,
        chosen: tuple[str, ...],
        home: str,
        validate: Callable[[], dict[str, Any] | None],
    ) -> None:
        self.tree = tree
        self.record = previous
        self.chosen = chosen
        self.home = home
        self.validate = validate
        self.options: Options = previous.options if previous else harnesses.Options()
        self.registered: list[Registered] = []
        self._bare: dict[str, float] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file of the project, None where it is missing or cannot be read."""
        try:
            return self.tree.read(path)
        except Problem:
            return None

    def json(self, path: str) -> Any:
        """Return the value of a JSON file of the project or the home folder (`~/…`), comments allowed; else None."""
        from handoff_core.jsonl import JsonError, decode

        try:
            if path.startswith("~/"):
                with open(os.path.join(self.home, *path[2:].split("/")), "rb") as opened:
                    data: bytes | None = opened.read()
            else:
                data = self.read(path)
            return None if data is None else merge.read_loosely(decode(data))
        except (OSError, JsonError):
            return None

    def toml(self, path: str) -> Any:
        """Return the table of a TOML file of the project or the home folder (`~/…`); None where it cannot be read."""
        import tomllib

        try:
            if path.startswith("~/"):
                with open(os.path.join(self.home, *path[2:].split("/")), "rb") as opened:
                    return tomllib.load(opened)
            return tomllib.loads((self.read(path) or b"").decode("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None

    def program(self, name: str) -> str | None:
        """Return the path of a program; None where there is none, or where it lies in the project.

        What a repository brings along is never started because its configuration names it.
        """
        found = shutil.which(name)
        if found is None:
            return None
        real, root = os.path.realpath(found), os.path.realpath(self.tree.root)
        inside = os.path.abspath(found).startswith(self.tree.root + os.sep) or real.startswith(root + os.sep)
        return None if inside else found

    def python(self, command: str) -> list[str] | None:
        """Return a Python command as words with its program's path; None where it is none that may be started."""
        if not _PYTHON.fullmatch(command):
            return None
        first, *rest = command.split(" ")
        if not _PYTHON_NAME.fullmatch(first.rpartition("/")[2]):
            return None
        found = self.program(first)
        return None if found is None else [found, *rest]

    def bare_start(self, python: list[str]) -> float:
        """Return the seconds that a bare start of this Python takes, the best of three."""
        name = " ".join(python)
        if name not in self._bare:
            command = [*python, "-I", "-S", "-c", "pass"]
            times = [probe.start(command, b"", self.tree.root, {}).seconds for _ in range(3)]
            self._bare[name] = min(times)
        return self._bare[name]

    def command(self, hook: dict[str, Any]) -> list[str] | str | None:
        """Return what a registered hook starts, ready to be started; None for a form that init never wrote."""
        form = merge.known_form(hook)
        python = form and self.python(form["python"])
        if form is None or python is None:
            return None
        arguments = hook.get("args")
        if not isinstance(arguments, list):
            return str(hook.get("command"))
        words = [str(word).replace("${CLAUDE_PROJECT_DIR}", self.tree.root) for word in arguments]
        return [*python, *words[len(form["python"].split(" ")) - 1 :]]
