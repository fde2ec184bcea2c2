"""Reads, writes and removes files of a project without following a link out of it (hooks.md 8.2).

Every write goes to a temporary file beside its target, is synced, gets its mode, and is renamed.
"""

from __future__ import annotations

import os
import re
import stat

from handoff_core.errors import os_text

TEMPORARY = ".handoff-tmp-"
OLD = ".handoff-old"
LIMIT = 16 * 1024 * 1024
"""Bytes of a file beyond which it is not read."""


class Problem(Exception):  # noqa: N818 - it is reported and the run goes on
    """Say why a path can be neither read nor written."""


class Tree:
    """The files below one project root, by their paths with `/`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real = os.path.realpath(root)

    def full(self, path: str) -> str:
        """Return the path as the system takes it."""
        return os.path.join(self.root, *path.split("/"))

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, None where there is none; raise Problem for a link, a folder, a device, or trouble."""
        status = self.status(path)
        if status is None:
            return None
        try:
            with open(self.full(path), "rb") as opened:
                data = opened.read(LIMIT + 1)
        except OSError as error:
            raise Problem(f"cannot be read: {os_text(error)}") from None
        if len(data) > LIMIT:
            raise Problem(f"is larger than {LIMIT} bytes")
        return data

    def mode(self, path: str) -> int | None:
        """Return the permission bits of a file, None where there is none."""
        status = self.status(path)
        return None if status is None else stat.S_IMODE(status.st_mode)

    def status(self, path: str) -> os.stat_result | None:
        """Return what the system says of a regular file, None where there is none; raise Problem for anything else."""
        self._check_folders(path)
        try:
            status = os.lstat(self.full(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Problem(f"cannot be read: {os_text(error)}") from None
        if stat.S_ISLNK(status.st_mode):
            raise Problem("is a symbolic link")
        if stat.S_ISDIR(status.st_mode):
            raise Problem("is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise Problem("is no regular file")
        return status

    def missing_folders(self, path: str) -> list[str]:
        """Return the folders on the way to `path` that do not exist, outermost first, each with a final `/`."""
        parts = path.split("/")[:-1]
        folders = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
        return [folder + "/" for folder in folders if not os.path.lexists(self.full(folder))]

    def write(self, path: str, data: bytes, mode: int) -> None:
        """Write a file whole, with this mode; raise Problem if that fails, with the old file as it was."""
        self._check_folders(path)
        target = self.full(path)
        folder, name = os.path.split(target)
        try:
            os.makedirs(folder, exist_ok=True)
            self.sweep(path)
            temporary = os.path.join(folder, f".{name}{TEMPORARY}{os.urandom(8).hex()}")
            try:
                _write_new(temporary, data, mode)
                os.replace(temporary, target)
            except BaseException:
                _unlink(temporary)
                raise
        except OSError as error:
            raise Problem(f"cannot be written: {os_text(error)}") from None

    def set_aside(self, path: str) -> str:
        """Rename a file to `<name>.handoff-old`, with a number if that is taken; return the new path."""
        number = 1
        while os.path.lexists(self.full(aside := path + OLD + (f".{number}" if number > 1 else ""))):
            number += 1
        try:
            os.rename(self.full(path), self.full(aside))
        except OSError as error:
            raise Problem(f"cannot be moved aside: {os_text(error)}") from None
        return aside

    def remove(self, path: str) -> None:
        """Remove a file and what Python compiled from it."""
        try:
            os.unlink(self.full(path))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Problem(f"cannot be removed: {os_text(error)}") from None
        self.sweep(path)
        if path.endswith(".py"):
            self._remove_compiled(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty; a link or a folder in use stays."""
        full = self.full(path.rstrip("/"))
        try:
            self._check_folders(path.rstrip("/"))
            if not os.path.islink(full):
                os.rmdir(full)
        except (OSError, Problem):
            return

    def sweep(self, path: str) -> None:
        """Remove what a killed run left beside `path`."""
        folder, name = os.path.split(self.full(path))
        left = re.compile(rf"\.{re.escape(name)}{re.escape(TEMPORARY)}[0-9a-f]{{16}}")
        try:
            found = [other for other in os.listdir(folder) if left.fullmatch(other)]
        except OSError:
            return
        for other in found:
            _unlink(os.path.join(folder, other))

    def _remove_compiled(self, path: str) -> None:
        folder, name = os.path.split(self.full(path))
        cache = os.path.join(folder, "__pycache__")
        compiled = re.compile(rf"{re.escape(name[:-3])}\.[A-Za-z0-9_.-]+\.pyc")
        try:
            for other in os.listdir(cache):
                if compiled.fullmatch(other):
                    _unlink(os.path.join(cache, other))
            os.rmdir(cache)
        except OSError:
            return

    def _check_folders(self, path: str) -> None:
        """Raise Problem if a folder on the way to `path` is a link out of the root, or no folder."""
        folder = self.root
        for part in path.split("/")[:-1]:
            folder = os.path.join(folder, part)
            shown = os.path.relpath(folder, self.root).replace(os.sep, "/")
            if os.path.islink(folder) and not self._is_inside(os.path.realpath(folder)):
                raise Problem(f"{shown} is a symbolic link out of the project")
            if os.path.lexists(folder) and not os.path.isdir(folder):
                raise Problem(f"{shown} is no folder")

    def _is_inside(self, real: str) -> bool:
        return real == self._real or real.startswith(self._real.rstrip(os.sep) + os.sep)


def _write_new(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    with open(descriptor, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    os.chmod(path, mode)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
