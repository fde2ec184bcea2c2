"""Windows by design: one byte of a separate lock file, far beyond its end, opened binary (reliability.md 1)."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import types
import unittest
from typing import TYPE_CHECKING
from unittest import mock

from handoff_core import ledger
from handoff_core.errors import HandoffError
from handoff_core.layout import find_project

from tests.ledger_vectors import FastClock
from tests.support import ProjectCase

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeMsvcrt(types.ModuleType):
    """Stands in for `msvcrt`: remembers each call, and refuses a byte that somebody holds."""

    LK_UNLCK, LK_NBLCK = 0, 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.calls: list[tuple[str, int, int]] = []
        self.held_by_another = False

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        if mode == self.LK_NBLCK and self.held_by_another:
            raise OSError(errno.EACCES, "Permission denied")
        self.calls.append(("unlock" if mode == self.LK_UNLCK else "lock", place, count))


@contextlib.contextmanager
def windows() -> Iterator[FakeMsvcrt]:
    """Let the ledger believe that it runs on Windows."""
    fake = FakeMsvcrt()
    system = mock.MagicMock(wraps=os)
    for name in ("path", "sep", "curdir", "pardir", "O_RDONLY", "O_RDWR", "O_CREAT", "SEEK_SET", "environ"):
        setattr(system, name, getattr(os, name))
    system.name = "nt"
    contended = (errno.EACCES, errno.EDEADLK)
    with (
        mock.patch.object(ledger, "os", system),
        mock.patch.object(ledger, "_CONTENDED", contended),
        mock.patch.dict(sys.modules, {"msvcrt": fake}),
    ):
        yield fake


class WindowsLock(ProjectCase):
    def test_a_writer_locks_one_byte_far_beyond_the_end_and_frees_it(self) -> None:
        project = find_project(self.root)
        with windows() as fake, ledger.exclusive_lock(project):
            self.assertEqual(fake.calls, [("lock", ledger.LOCK_BYTE, 1)])
        self.assertEqual(fake.calls[1:], [("unlock", ledger.LOCK_BYTE, 1)])
        self.assertEqual(os.path.getsize(project.lock), 0)

    def test_a_reader_locks_the_same_byte_and_goes_without_where_there_is_no_lock_file(self) -> None:
        project = find_project(self.root)
        with windows() as fake:
            with ledger.shared_lock(project):
                self.assertEqual(fake.calls, [])
            self.write(".scratch/handoff.lock", b"")
            with ledger.shared_lock(project):
                self.assertEqual(fake.calls, [("lock", ledger.LOCK_BYTE, 1)])

    def test_a_held_byte_is_waited_for_ten_seconds(self) -> None:
        project = find_project(self.root)
        with windows() as fake, mock.patch.object(ledger, "time", FastClock()):
            fake.held_by_another = True
            with self.assertRaises(HandoffError) as raised:
                ledger.exclusive_lock(project)
        self.assertEqual(raised.exception.code, 75)

    def test_the_binary_flag_is_part_of_every_open(self) -> None:
        with mock.patch.object(os, "O_BINARY", 0x8000, create=True):
            import importlib.util

            spec = importlib.util.spec_from_file_location("ledger_as_on_windows", ledger.__file__)
            self.assertIsNotNone(spec)
            fresh = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
            spec.loader.exec_module(fresh)  # type: ignore[union-attr]
        self.assertTrue(fresh._PLAIN & 0x8000)

    def test_no_module_needs_a_posix_module_to_be_imported(self) -> None:
        import ast

        package = os.path.dirname(ledger.__file__)
        posix_only = {"fcntl", "pwd", "grp", "termios", "tty", "pty", "resource"}
        for base, _, files in os.walk(package):
            for name in filter(lambda file: file.endswith(".py"), files):
                with open(os.path.join(base, name), encoding="utf-8") as opened:
                    tree = ast.parse(opened.read())
                imported = {
                    alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names
                } | {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
                self.assertEqual(imported & posix_only, set(), name)


if __name__ == "__main__":
    unittest.main()
