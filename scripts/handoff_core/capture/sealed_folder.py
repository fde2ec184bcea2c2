"""Opens the files of a fileset without following links and without blocking, and lists what else lies there.

Every part of a path is opened from the folder before it and judged by its descriptor, so nobody who swaps a file for
a link in between gains anything (reliability.md 8). Where the system cannot open from a folder, each part is looked
at before and after. Follows capture.md 13. Imports `errors` alone.
"""

from __future__ import annotations

import os
import stat

from handoff_core.errors import os_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import TracebackType
    from typing import Self

DEPTH_LIMIT = 128
"""Folders inside each other that are looked into; a name of 255 bytes has no more."""

SPARE_ENTRIES = 10_000
"""Entries of one folder that are looked at beyond the listed ones."""

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
_REPARSE_POINT = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnfitFile(Exception):  # noqa: N818 - it says what is wrong with a file, not that the program failed
    """Say why a file of the fileset cannot be read; `reason` is the problem that is reported."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SealedFolder:
    """One folder whose files are opened by safe relative names; use it in a `with` block."""

    __slots__ = ("_by_descriptor", "_top", "path")

    def __init__(self, path: str, *, by_descriptor: bool = _BY_DESCRIPTOR) -> None:
        """Open the folder itself, behind a link if need be: the caller names it. Raises OSError."""
        self.path = path
        self._by_descriptor = by_descriptor
        self._top: int | str = path
        if by_descriptor:
            self._top = os.open(path, _flags("O_DIRECTORY", "O_NONBLOCK"))
        elif not os.path.isdir(path):
            raise NotADirectoryError(20, os.strerror(20), path)

    def __enter__(self) -> Self:
        """Return the open folder."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the folder."""
        self._close(self._top)

    def open(self, name: str) -> int:
        """Return a descriptor of the regular file `name`, whose parts are joined by slashes.

        Raises UnfitFile for anything else, a link among its folders included.
        """
        *folders, last = name.split("/")
        where = self._top
        try:
            for folder in folders:
                inner = self._open_folder(where, folder)
                self._leave(where)
                where = inner
            return self._open_file(where, last)
        except OSError as error:
            raise UnfitFile("missing" if isinstance(error, FileNotFoundError) else os_text(error)) from None
        except ValueError as error:
            raise UnfitFile(str(error)) from None
        finally:
            self._leave(where)

    def strays(self, files: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield path and kind of everything in the folder that is none of `files` and no folder around one.

        Of an unlisted folder its content is named, and the folder itself if it is empty or cannot be read.
        """
        folders = {name[:at] for name in files for at in range(len(name)) if name[at] == "/"}
        yield from self._strays_in(self._top, "", files, folders, DEPTH_LIMIT)

    def _strays_in(
        self, where: int | str, prefix: str, files: Collection[str], folders: Collection[str], depth: int
    ) -> Iterator[tuple[str, str]]:
        for name in self._names(where, len(files) + SPARE_ENTRIES):
            path = prefix + name
            try:
                mode = self._stat(where, name).st_mode
            except OSError:
                if path not in files:
                    yield path, "an entry that cannot be looked at"
                continue
            if not stat.S_ISDIR(mode):
                if path not in files:
                    yield path, kind_of(mode)
                continue
            found = self._strays_below(where, name, path, files, folders, depth)
            if path in folders:
                yield from found
            else:
                first = next(found, None)
                yield (path, "a folder") if first is None else first
                yield from found

    def _strays_below(
        self, where: int | str, name: str, path: str, files: Collection[str], folders: Collection[str], depth: int
    ) -> Iterator[tuple[str, str]]:
        if depth == 0:
            return
        try:
            inner = self._open_folder(where, name)
        except (OSError, UnfitFile):
            yield path, "a folder that cannot be read"
            return
        try:
            yield from self._strays_in(inner, path + "/", files, folders, depth - 1)
        finally:
            self._close(inner)

    def _names(self, where: int | str, limit: int) -> list[str]:
        """Return the sorted names in an open folder; of a folder with more than `limit` entries only so many."""
        names = []
        with os.scandir(where) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > limit:
                    break
        return sorted(names)

    def _stat(self, where: int | str, name: str) -> os.stat_result:
        if isinstance(where, int):
            return os.stat(name, dir_fd=where, follow_symlinks=False)
        return os.lstat(os.path.join(where, name))

    def _open_folder(self, where: int | str, name: str) -> int | str:
        found = self._stat(where, name)
        if not stat.S_ISDIR(found.st_mode) or _is_reparse_point(found):
            raise UnfitFile(f"{name} on its way is {_link_or_kind(found)}, not a folder")
        if isinstance(where, int):
            return os.open(name, _flags("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"), dir_fd=where)
        return os.path.join(where, name)

    def _open_file(self, where: int | str, name: str) -> int:
        """Return a descriptor of a regular file; look before opening, since opening a device can act on it."""
        before = self._stat(where, name)
        if not stat.S_ISREG(before.st_mode) or _is_reparse_point(before):
            raise UnfitFile(f"{_link_or_kind(before)}, not a regular file")
        flags = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY")
        if isinstance(where, int):
            descriptor = os.open(name, flags, dir_fd=where)
        else:
            descriptor = os.open(os.path.join(where, name), flags)
        after = os.fstat(descriptor)
        if not stat.S_ISREG(after.st_mode) or (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
            os.close(descriptor)
            raise UnfitFile("replaced while it was opened")
        return descriptor

    def _leave(self, where: int | str) -> None:
        if where != self._top:
            self._close(where)

    def _close(self, where: int | str) -> None:
        if isinstance(where, int):
            os.close(where)


def kind_of(mode: int) -> str:
    """Return what a file of this mode is, in words."""
    return next((words for test, words in _KINDS if test(mode)), "a file")


def _link_or_kind(found: os.stat_result) -> str:
    return "a symbolic link" if _is_reparse_point(found) else kind_of(found.st_mode)


def _is_reparse_point(found: os.stat_result) -> bool:
    """Say whether a path is a junction or another kind of link that Windows follows by itself."""
    return bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT)


def _flags(*names: str) -> int:
    flags = os.O_RDONLY
    for name in (*names, "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    return flags
