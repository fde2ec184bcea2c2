"""Finds sessions in the stores of all harnesses: `--list`, `--latest`, a lone `--session` (capture.md 2.3).

Of a file only its head is read; databases are asked. Nothing is written. Environment and home folder are handed in.
"""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

from handoff_core.capture import jsonlines
from handoff_core.capture.globs import chosen, fits
from handoff_core.capture.names import choose_session, stem_of
from handoff_core.capture.readers import table
from handoff_core.capture.stores import expanded, fixed_part
from handoff_core.capture.times import clock_text, utc_of
from handoff_core.capture.turns import Record, Session
from handoff_core.errors import NO_MATCH, NOTHING_TO_BUILD, HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from handoff_core.capture.database import Database

HEAD = 256 * 1024
"""Bytes of a file that are read to know its session."""

SHOWN = 10
"""Ids that the message about several fitting sessions names."""


class Found(NamedTuple):
    """A session that was found, as `--list` shows it; `updated` is its last change, `bytes` the size of its file."""

    harness: str
    session: str
    project_dir: str
    updated: str
    bytes: int
    path: str


class _Candidate(NamedTuple):
    """A session with what decides whether and where it is listed."""

    row: Found
    ids: tuple[str, ...]
    changed: float
    here: bool
    """Whether it is a session of the wanted working folder."""


def sessions(
    environ: Mapping[str, str],
    home: str,
    project_dir: str | None,
    root: str,
    from_: str,
    include: Iterable[str],
    exclude: Iterable[str],
) -> list[Found]:
    """Return the sessions whose recorded working folder is `project_dir` (None: every one), newest first."""
    search = _Search(environ, home, project_dir, root, from_, include, exclude)
    return [candidate.row for candidate in search.sorted() if candidate.here]


def latest(**search: Any) -> Found:
    """Return the session that was written last, arguments as `sessions`; raise HandoffError (exit 4) without one."""
    found = sessions(**search)
    if not found:
        folder = search["project_dir"]
        where = f" of {folder}" if folder is not None else ""
        raise HandoffError(
            f"no session{where} was found", "build --list --project-dir '*' shows all sessions", NOTHING_TO_BUILD
        )
    return found[0]


def by_id(wanted: str, **search: Any) -> Found:
    """Return the session with an id, else the only one whose id begins so; arguments as `sessions`.

    The id is any that its records carry, or the stem of its file. Raises HandoffError: exit 3 if several fit, exit 4
    if none does.
    """
    known = [candidate for candidate in _Search(**search, thorough=True).sorted() if candidate.here]
    exact = [candidate.row for candidate in known if wanted in candidate.ids]
    fitting = exact or [c.row for c in known if any(name.startswith(wanted) for name in c.ids)]
    if not fitting:
        raise HandoffError(
            f"no session '{wanted}' was found", "build --list --project-dir '*' shows all sessions", NOTHING_TO_BUILD
        )
    if len(fitting) > 1:
        more = f", +{len(fitting) - SHOWN} more" if len(fitting) > SHOWN else ""
        shown = ", ".join(f"{row.session} ({row.path})" for row in fitting[:SHOWN]) + more
        raise HandoffError(f"'{wanted}' fits several sessions: {shown}", "give more of the id", NO_MATCH)
    return fitting[0]


def holds_many(row: Found) -> bool:
    """Say whether the source of a session holds others as well, so that its id has to pick it."""
    return os.path.isdir(row.path) or row.path.endswith(".db")


class _Search:
    """One look into the stores."""

    def __init__(
        self,
        environ: Mapping[str, str],
        home: str,
        project_dir: str | None,
        root: str,
        from_: str,
        include: Iterable[str],
        exclude: Iterable[str],
        *,
        thorough: bool = False,
    ) -> None:
        self.environ = environ
        self.home = home
        self.wanted = None if project_dir is None else os.path.realpath(project_dir)
        self.project = root if project_dir is None else project_dir
        self.from_ = from_
        self.include = list(include)
        self.exclude = list(exclude)
        self.thorough = thorough
        """Whether every id in a head is looked for, and every session of a database, not the main ones alone."""

    def sorted(self) -> list[_Candidate]:
        """Return what was found, newest first, then by path and id."""
        found = {(candidate.row.path, candidate.row.session): candidate for candidate in self.candidates()}
        return sorted(found.values(), key=lambda c: (-c.changed, c.row.path, c.row.session))

    def candidates(self) -> Iterator[_Candidate]:
        """Yield the sessions of every store; what cannot be read is no session."""
        for row in table.READERS:
            if self.from_ not in ("auto", row.name):
                continue
            for store in row.stores:
                for path in self.paths(store.pattern):
                    take = self.of_store if store.many else self.of_file
                    try:
                        yield from take(row, path)
                    except (HandoffError, OSError):
                        continue

    def paths(self, pattern: str) -> Iterator[str]:
        """Yield what matches a store's pattern, is no companion of a session, and is chosen; links are not followed."""
        whole = expanded(pattern, self.environ, self.home, self.project)
        if not os.path.isabs(whole):
            return
        folder = fixed_part(whole)
        inner = whole[len(folder) + 1 :]
        for relative in _walk(folder, inner.split("/")):
            if not _is_companion(folder, relative) and chosen(relative, self.include, self.exclude):
                yield os.path.join(folder, *relative.split("/"))

    def of_file(self, row: table.Reader, path: str) -> Iterator[_Candidate]:
        """Yield the session of a file."""
        status = os.stat(path)
        text = _head(path)
        session = Session()
        _take_facts(row, path, text, session, thorough=self.thorough)
        stem = _stem(row.name, path)
        name = choose_session("", stem, session.ids)
        folder = os.path.dirname(path) if row.name == "aider" else session.folder
        here = self.fits(folder) or self.fits_otherwise(row.name, path, text)
        if here and not folder and self.wanted is not None:
            folder = self.project
        found = Found(row.name, name, folder, clock_text(int(status.st_mtime)), status.st_size, path)
        yield _Candidate(found, (name, *session.ids, stem), status.st_mtime, here)

    def of_store(self, row: table.Reader, path: str) -> Iterator[_Candidate]:
        """Yield the sessions of a database or a store folder; those of subagents only where an id is looked for."""
        if not os.path.exists(path):
            return
        module: Any = __import__(f"handoff_core.capture.readers.{row.module}", fromlist=["sessions"])
        changed, size = _last_change(path)
        for item in module.sessions(_opened(path)):
            if item.parent and not self.thorough:
                continue
            when = _seconds(item.updated) or changed
            found = Found(row.name, item.id, item.folder, clock_text(int(when)), size, path)
            yield _Candidate(found, (item.id,), when, self.fits(item.folder))

    def fits(self, folder: str) -> bool:
        """Say whether a working folder is the wanted one or lies inside it, links resolved."""
        if self.wanted is None:
            return True
        if not folder or not os.path.isabs(folder):
            return False
        real, wanted = os.path.normcase(os.path.realpath(folder)), os.path.normcase(self.wanted)
        return real == wanted or real.startswith(wanted.rstrip(os.sep) + os.sep)

    def fits_otherwise(self, reader: str, path: str, text: str) -> bool:
        """Say whether a session that records no folder tells it by a digest (Gemini) or by a name (Cursor)."""
        if self.wanted is None:
            return True
        if reader == "gemini":
            found = _HASH.search(text)
            return found is not None and found[1] in {_digest(folder) for folder in (self.wanted, self.project)}
        if reader == "cursor":
            parts = path.replace(os.sep, "/").split("/")
            return parts[parts.index("projects") + 1] == _NO_NAME.sub("-", self.wanted).strip("-")
        return False


_HASH = re.compile(r'"projectHash"\s*:\s*"([0-9a-f]{64})"')
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")


def _digest(folder: str) -> str:
    from hashlib import sha256

    return sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()


# Files


def _walk(folder: str, parts: list[str]) -> Iterator[str]:
    """Yield the paths below `folder`, relative with `/`, that match a pattern given as its parts; sorted."""
    waiting = [""]
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            waiting = [base for start in waiting for base in _folders_below(folder, start)]
        else:
            waiting = [
                f"{base}/{name}".lstrip("/") for base in waiting for name in _entries(folder, base, part, last=last)
            ]
    yield from sorted(waiting)


def _entries(folder: str, base: str, part: str, *, last: bool) -> list[str]:
    """Return the names in a folder that match one part: folders, at the last part anything but links."""
    try:
        with os.scandir(os.path.join(folder, *base.split("/"))) as entries:
            return [
                entry.name
                for entry in entries
                if fits(entry.name, part) and not entry.is_symlink() and (last or entry.is_dir(follow_symlinks=False))
            ]
    except OSError:
        return []


def _folders_below(folder: str, base: str) -> Iterator[str]:
    yield base
    for name in _entries(folder, base, "*", last=False):
        yield from _folders_below(folder, f"{base}/{name}".lstrip("/"))


def _is_companion(folder: str, relative: str) -> bool:
    """Say whether a file belongs to a session: a subagent's transcript, or the packed form of a file that is there."""
    parts = relative.split("/")
    if "subagents" in parts[:-1] or parts[-1].startswith("agent-"):
        return True
    plain = relative.removesuffix(".zst").removesuffix(".zstd")
    return plain != relative and os.path.exists(os.path.join(folder, *plain.split("/")))


def _head(path: str) -> str:
    """Return the head of a regular file, unpacked and decoded."""
    from handoff_core.capture.source import ZSTD_MAGIC, open_regular

    with open_regular(path) as opened:
        data = opened.read(HEAD)
    if data.startswith(ZSTD_MAGIC):
        from handoff_core.capture import zstd

        data = zstd.beginning(path, HEAD)
    return data.decode("utf-8-sig", "replace")


def _stem(reader: str, path: str) -> str:
    if reader == "aider":
        return f"aider-{os.path.basename(os.path.dirname(path))}"
    return stem_of(path)


def _take_facts(row: table.Reader, path: str, text: str, session: Session, *, thorough: bool) -> None:
    """Let the reader tell ids and working folder from the records of a head; a document's are looked up by name."""
    lines = text.split("\n")
    if row.name == "aider":
        return
    if path.endswith(".json") or not _is_object(lines[0]):
        for names, tell in ((_ID_NAMES, session.found_id), (_FOLDER_NAMES, session.found_folder)):
            for found in names.finditer(text):
                tell(json.loads(f'"{found[1]}"'))
        return
    # The last line of a head is cut off unless the file ends there; a line that does not parse is no record here.
    for _ in table.function(row)(_Head(path, lines), session):
        if session.ids and session.folder and not thorough:
            return


_ID_NAMES = re.compile(r'"sessionId"\s*:\s*"((?:[^"\\\n]|\\["\\/bfnrt]){1,300})"')
_FOLDER_NAMES = re.compile(r'"(?:cwd|workspaceRoot|workspace|directory)"\s*:\s*"((?:[^"\\\n]|\\["\\/bfnrt]){1,1000})"')


def _is_object(line: str) -> bool:
    try:
        return type(json.loads(line)) is dict
    except (ValueError, RecursionError):
        return False


class _Head:
    """The head of a file as a source: its whole lines, read as a line format."""

    shape = "lines"
    agent = None

    def __init__(self, path: str, lines: list[str]) -> None:
        self.name = os.path.basename(path)
        self.spilled = {"found": 0, "missing": 0}
        self._lines = lines

    def records(self) -> Iterator[Record]:
        """Yield the records of the whole lines; what is damaged is left out."""
        offset = 0
        for number, line in enumerate(self._lines, 1):
            for value in jsonlines.values(line)[0]:
                yield Record(value, number, offset)
            offset += len(line) + 1

    peek = records

    def value_at_place(self, record: Record) -> Any:
        """Return the value of a record again."""
        return jsonlines.values(self._lines[int(record.at) - 1])[0][0]

    def sidecar(self, _name: str, _size: int | None = None) -> None:
        """Read nothing: the text of a session does not matter here."""


# Databases and store folders


class _Tables:
    """A database as a source of which only its sessions are asked."""

    shape = "database"

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = os.path.basename(path)

    def tables(self) -> dict[str, set[str]]:
        """Return the columns of each table."""
        from handoff_core.capture import database

        return database.tables(self.path)

    def database(self) -> Database:
        """Return an open connection."""
        from handoff_core.capture import database

        return database.connect(self.path)


def _opened(path: str) -> Any:
    if os.path.isdir(path):
        from handoff_core.capture.source import Folder

        return Folder(path)
    return _Tables(path)


def _last_change(path: str) -> tuple[float, int]:
    """Return the time of the last change and the size of a database and its write-ahead log, or of a folder."""
    changed, size = 0.0, 0
    for name in (path, path + "-wal"):
        try:
            status = os.stat(name)
        except OSError:
            continue
        changed = max(changed, status.st_mtime)
        size += 0 if os.path.isdir(name) else status.st_size
    return changed, size


def _seconds(updated: object) -> float:
    """Return a time of a store in seconds since 1970, 0 where it says none: a number, or a text in UTC."""
    if type(updated) is int or type(updated) is float:
        return updated / 1000 if updated > 1e11 else float(updated)
    text = updated if type(updated) is str else ""
    utc = utc_of(text) or utc_of(text + "Z")
    if not utc:
        return 0.0
    from datetime import datetime

    return datetime.fromisoformat(utc).timestamp()
