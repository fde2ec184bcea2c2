"""Helpers for the tests: run the program in process, find vectors and shared data."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unittest
from typing import TYPE_CHECKING, Any, NamedTuple

from handoff_core import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = os.path.join(REPOSITORY, "scripts")
DATA = os.path.join(REPOSITORY, "tests", "data")
_SHARED = os.path.join(os.path.dirname(REPOSITORY), "shared")
SHARED: str | None = _SHARED if os.path.isdir(os.path.join(_SHARED, "vectors")) else None


class Result(NamedTuple):
    """What one run of the program left: exit code, stdout and stderr as text."""

    code: int
    out: str
    err: str


def run(*argv: str, stdin: bytes | str | None = b"", cwd: str | None = None) -> Result:
    """Run the program in this process and return its exit code and output."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.BytesIO(), io.BytesIO()
    with working_folder(cwd) if cwd else contextlib.nullcontext():
        code = cli.main(argv, None if data is None else io.BytesIO(data), out, err)
    return Result(code, out.getvalue().decode(), err.getvalue().decode())


@contextlib.contextmanager
def working_folder(path: str) -> Iterator[None]:
    """Make `path` the current folder for the length of a `with` block."""
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


class ProjectCase(unittest.TestCase):
    """A test with a fresh project folder of its own, `self.root`, which holds an empty `.scratch`."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-test-")
        self.addCleanup(holder.cleanup)
        self.root = os.path.realpath(holder.name)
        os.mkdir(os.path.join(self.root, ".scratch"))
        self.log = os.path.join(self.root, ".scratch", "handoff.jsonl")
        self.seal = os.path.join(self.root, ".scratch", "handoff.seal")

    def run_here(self, *argv: str, stdin: bytes | str | None = b"") -> Result:
        """Run the program with the project as its current folder."""
        return run(*argv, stdin=stdin, cwd=self.root)

    def append(self, record: dict[str, Any], *flags: str) -> Result:
        """Append one record in the project."""
        return self.run_here("append", record["type"], *flags, stdin=json.dumps(record))

    def write(self, path: str, data: bytes | str) -> str:
        """Write a file of the project and return its path."""
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as opened:
            opened.write(data.encode() if isinstance(data, str) else data)
        return full

    def read(self, path: str) -> bytes:
        """Return the bytes of a file of the project."""
        with open(os.path.join(self.root, path), "rb") as opened:
            return opened.read()


def vectors(name: str) -> list[dict[str, Any]]:
    """Return the vectors of `tests/data/<name>`; an empty file is an error, so that no test passes by accident."""
    with open(os.path.join(DATA, name), encoding="utf-8") as opened:
        found = [json.loads(line) for line in opened if line.strip()]
    if not found:
        raise ValueError(f"tests/data/{name} holds no vector")
    return found


def shared(*parts: str) -> str:
    """Return a path below `../shared`; skip the test with a reason where that folder is absent."""
    if SHARED is None:
        raise unittest.SkipTest("../shared is not here: it holds data of other people that the repository does not")
    return os.path.join(SHARED, *parts)
