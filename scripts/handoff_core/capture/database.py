"""Opens SQLite databases for reading, rows of the write-ahead log included; changes no byte (capture.md 2.1)."""

from __future__ import annotations

import os
import sqlite3

from handoff_core.errors import HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from tempfile import TemporaryDirectory
    from typing import Any

_WRITE_AHEAD = b"\x02\x02"
"""Bytes 18 and 19 of a database that keeps a write-ahead log."""


class Database(sqlite3.Connection):
    """A read-only connection whose rows come with one clear error where they cannot be read."""

    shown = ""
    holder: TemporaryDirectory[str] | None = None
    """The folder of a private copy; it goes with the connection."""

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one after the other; raise HandoffError if the database is damaged or busy."""
        try:
            yield from self.execute(statement, values)
        except sqlite3.Error as error:
            raise unreadable(self.shown, error) from None

    def close(self) -> None:
        """Close the connection and remove a private copy."""
        super().close()
        if self.holder is not None:
            self.holder.cleanup()


def unreadable(shown: str, error: Exception) -> HandoffError:
    """Return the error of a database that cannot be read."""
    return HandoffError(f"cannot read the database {shown}: {error}")


def connect(path: str) -> Database:
    """Return an open read-only connection; raise HandoffError if `path` is no database that can be read."""
    shown = os.path.basename(path)
    try:
        return _private(path, shown) if _needs_copy(path) else _opened(path, shown)
    except (OSError, sqlite3.Error) as error:
        raise unreadable(shown, error) from None


def tables(path: str) -> dict[str, set[str]]:
    """Return the columns of each table of a database; raise HandoffError if it cannot be read."""
    database = connect(path)
    try:
        names = [str(name) for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: {str(column) for (column,) in database.rows("SELECT name FROM pragma_table_info(?)", name)}
            for name in names
        }
    finally:
        database.close()


def _needs_copy(path: str) -> bool:
    """Say whether reading in place would change what lies there.

    The index `-shm` of a write-ahead log is made by whoever opens the database first; where it is missing nobody has
    the database open, so a copy is whole. A journal that is left over has to be rolled back, in a copy.
    """
    if os.path.exists(path + "-journal"):
        return True
    with open(path, "rb") as opened:
        keeps_log = opened.read(20)[18:20] == _WRITE_AHEAD
    return keeps_log and not os.path.exists(path + "-shm")


def _private(path: str, shown: str) -> Database:
    import shutil
    from tempfile import TemporaryDirectory

    holder = TemporaryDirectory(prefix="handoff-", ignore_cleanup_errors=True)
    copy = os.path.join(holder.name, "copy.db")
    shutil.copyfile(path, copy)
    for suffix in ("-wal", "-journal"):
        if os.path.isfile(path + suffix):
            shutil.copyfile(path + suffix, copy + suffix)
    database = _opened(copy, shown, "mode=rw")
    database.holder = holder
    return database


def _opened(path: str, shown: str, how: str = "mode=ro&readonly_shm=1") -> Database:
    """Open a database; in place, the index of its write-ahead log is not written to either."""
    from urllib.parse import quote

    address = "file:" + quote(os.path.abspath(path).replace(os.sep, "/")) + "?" + how
    database = sqlite3.connect(address, uri=True, factory=Database, isolation_level=None, check_same_thread=False)
    database.shown = shown
    # Bytes that are no UTF-8 become U+FFFD, as everywhere.
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    for statement in ("PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "BEGIN"):
        database.execute(statement)
    # A deferred transaction begins with its first read: from here on every row is of one state.
    database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return database
