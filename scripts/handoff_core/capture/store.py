"""Keeps filesets: lock, temporary folder, publishing in one swap, INDEX.json and PROJECT.md (capture.md 3).

A build writes into a new folder and swaps it in at the end: whatever ends it early leaves the old fileset whole.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import suppress

from handoff_core import ledger
from handoff_core.capture.manifest import digest_of
from handoff_core.capture.names import safe_name
from handoff_core.errors import LOCK_BUSY, HandoffError, os_text
from handoff_core.text import escape_json, plain
from handoff_core.text_markdown import cell, code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

PROJECTS = "projects"
INDEX = "INDEX.json"
PROJECT_PAGE = "PROJECT.md"
LOCK = ".lock"
MANIFEST = "manifest.json"
SUMMARY = "HANDOFF.summary.json"
MANIFEST_LIMIT = 16 * 1024 * 1024
NOTES_LINE = "<!-- notes below this line are kept -->\n"
OBJECTIVE_LENGTH = 80

_MARK_LENGTH = 8
"""Random bytes in the name of a temporary folder."""

_LEFT_OVER = re.compile(r"\.(tmp|old)-(.+)-[0-9a-f]{16}", re.DOTALL)
_CREATE = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def make_folders(path: str) -> None:
    """Make a folder and those above it, readable by the owner alone (0700 less the umask)."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue
        _own_folder(folder)


def _own_folder(folder: str) -> None:
    """Let the owner use a folder that was made just now, whatever the umask took away."""
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    if os.name != "nt" and mode & 0o700 != 0o700:
        os.chmod(folder, mode | 0o700)


class _LockName:
    """The store's lock file as the ledger's lock takes it."""

    def __init__(self, path: str) -> None:
        self.lock = path
        self.lock_shown = os.path.join(os.path.basename(os.path.dirname(path)), LOCK)


def lock_store(store: str) -> tuple[ledger.Lock, str]:
    """Return the store's exclusive lock, and why it is none where it cannot be had (capture.md 3, Publishing).

    Raises HandoffError with exit 75 after ten seconds of waiting for another build.
    """
    try:
        make_folders(store)
        name: Any = _LockName(os.path.join(store, LOCK))
        return ledger.exclusive_lock(name), ""
    except OSError as error:
        return ledger.Lock(None), os_text(error)
    except HandoffError as error:
        if error.code == LOCK_BUSY:
            raise HandoffError("another build holds the store for 10 s; nothing was done", code=LOCK_BUSY) from None
        return ledger.Lock(None), error.problems[0]


# The folder of one build


class Workspace:
    """The temporary folder of one build; its files become the fileset, or go with it."""

    def __init__(self, parent: str, name: str) -> None:
        """Make the folder `.tmp-<name>-<random>` in `parent`; raise HandoffError if that fails."""
        make_folders(parent)
        self._mark = os.urandom(_MARK_LENGTH).hex()
        self.path = os.path.join(parent, f".tmp-{safe_name(name)}-{self._mark}")
        os.mkdir(self.path, 0o700)
        _own_folder(self.path)
        self._scratch = 0

    def create(self, name: str) -> BinaryIO:
        """Return a new file of the fileset, open for reading and writing."""
        descriptor = os.open(os.path.join(self.path, name), _CREATE, 0o600)
        ledger.own_mode(descriptor)
        return os.fdopen(descriptor, "w+b", 1 << 18)

    def scratch(self) -> BinaryIO:
        """Return a temporary file without a name that lasts; it is gone when it is closed, or with the folder."""
        self._scratch += 1
        path = os.path.join(self.path, f".scratch-{self._scratch}")
        file = self.create(os.path.basename(path))
        with suppress(OSError):  # Windows keeps the name of an open file; `publish` removes it.
            os.unlink(path)
        return file

    def discard(self) -> None:
        """Remove the folder with all that is in it."""
        remove_flat(self.path)

    def publish(self, target: str) -> None:
        """Sync every file and the folder, and put the folder in the place of `target` in one swap."""
        for name in sorted(os.listdir(self.path), key=lambda name: (name == MANIFEST, name)):
            path = os.path.join(self.path, name)
            if name.startswith(".scratch-"):
                os.unlink(path)
                continue
            descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
            try:
                ledger.flush(descriptor)
            finally:
                os.close(descriptor)
        ledger.flush_folder(self.path)
        parent, name = os.path.split(target)
        make_folders(parent)
        beside = os.path.join(parent, f".tmp-{safe_name(name)}-{self._mark}")
        if beside != self.path:
            os.rename(self.path, beside)
            self.path = beside
        # A signal in the middle would end a build that is done; it is let through again when the command ends.
        with ledger.SignalsHeld():
            _swap(self.path, target, os.path.join(parent, f".old-{name}-{self._mark}"))
            ledger.flush_folder(parent)


def _swap(new: str, target: str, old: str) -> None:
    """Rename the old fileset away and the new one into its place; put the old one back if that fails."""
    had_one = os.path.lexists(target)
    if had_one and not os.listdir(target):
        os.rmdir(target)
        had_one = False
    try:
        if had_one:
            os.rename(target, old)
        os.rename(new, target)
    except BaseException:
        if had_one and not os.path.lexists(target):
            os.rename(old, target)
        raise
    if had_one:
        remove_flat(old)


def remove_flat(folder: str) -> None:
    """Remove a folder of ours: its files, then itself; what cannot be removed stays for the next build's sweep."""
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:
        return


def sweep(folder: str, only: str | None = None) -> None:
    """Mend what a killed build left in `folder`: put an old fileset back, remove temporary folders (capture.md 3).

    `only` limits that to left-overs of one target. Nothing but folders with a name of ours that hold plain files is
    touched. The store's lock must be held.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        found = _LEFT_OVER.fullmatch(name)
        path = os.path.join(folder, name)
        if found is None or (only is not None and found[2] not in (only, safe_name(only))) or not _is_flat(path):
            continue
        target = os.path.join(folder, found[2])
        if found[1] == "old" and not os.path.lexists(target):
            os.rename(path, target)
        else:
            remove_flat(path)


def _is_flat(path: str) -> bool:
    """Say whether `path` is a real folder that holds regular files alone."""
    if os.path.islink(path) or not os.path.isdir(path):
        return False
    with os.scandir(path) as entries:
        return all(entry.is_file(follow_symlinks=False) for entry in entries)


def sweep_store(store: str) -> None:
    """Mend what killed builds left anywhere in the store."""
    sweep(store)
    projects = os.path.join(store, PROJECTS)
    sweep(projects)
    for project in folders_in(projects):
        sweep(os.path.join(projects, project))


# What the store holds


def folders_in(path: str) -> list[str]:
    """Return the sorted names of the folders in `path`, without links and hidden ones; empty where there is none."""
    try:
        with os.scandir(path) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith("."))
    except OSError:
        return []


def read_manifest(folder: str) -> dict[str, Any] | None:
    """Return the manifest of a fileset, None if there is none or it is damaged: not whole, or not as it was sealed."""
    value = read_object(os.path.join(folder, MANIFEST), MANIFEST_LIMIT)
    if value is None or not isinstance(value.get("session"), str) or not isinstance(value.get("turn_count"), int):
        return None
    return value if value.get("manifest_sha256") == digest_of(value) else None


def read_object(path: str, limit: int) -> dict[str, Any] | None:
    """Return the JSON object in a regular file of at most `limit` bytes, None if there is none."""
    from handoff_core.jsonl import JsonError, decode, parse

    data = read_regular(path, limit)
    if data is None:
        return None
    try:
        value = parse(decode(data))
    except JsonError:
        return None
    return value if isinstance(value, dict) else None


def read_regular(path: str, limit: int) -> bytes | None:
    """Return the bytes of a regular file, followed through no link; None if there is none or it is too large."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        try:
            data = opened.read(limit + 1)
        except OSError:
            return None
    return data if len(data) <= limit else None


def filesets(store: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield project folder, session folder and manifest of each fileset in the store, sorted."""
    projects = os.path.join(store, PROJECTS)
    for project in folders_in(projects):
        for session in folders_in(os.path.join(projects, project)):
            manifest = read_manifest(os.path.join(projects, project, session))
            if manifest is not None:
                yield project, session, manifest


def filed_under(store: str, session: str) -> str | None:
    """Return the project under which a session is already filed, None if it is not."""
    projects, folder = os.path.join(store, PROJECTS), safe_name(session)
    for project in folders_in(projects):
        manifest = read_manifest(os.path.join(projects, project, folder))
        if manifest is not None and manifest["session"] == session:
            name = manifest.get("project")
            return name if isinstance(name, str) else project
    return None


def check_target(target: str, session: str, shown: str) -> dict[str, Any] | None:
    """Return the manifest of the fileset that `target` holds, None where a new one can be put.

    Raises HandoffError for anything else: a file, a link, somebody's folder, another session, a damaged manifest.
    """
    if not os.path.lexists(target):
        return None
    if os.path.islink(target) or not os.path.isdir(target):
        raise HandoffError(f"{shown} is in the way: it is no folder", "name another folder with --out")
    try:
        if not os.listdir(target):
            return None
    except OSError as error:
        raise HandoffError(f"{shown} cannot be listed: {os_text(error)}") from None
    manifest = read_manifest(target)
    if manifest is None:
        what = "a damaged fileset" if os.path.lexists(os.path.join(target, MANIFEST)) else "no fileset"
        raise HandoffError(
            f"{shown} holds {what} (no readable {MANIFEST}) and is not built over",
            "move it away, or name another folder with --out",
        )
    if manifest["session"] != session:
        raise HandoffError(
            f"{shown} holds another session, {code(manifest['session'])[:100]}, and is not built over",
            "name another folder with --out",
        )
    return manifest


# INDEX.json and PROJECT.md


def refresh_index(store: str, project: str) -> None:
    """Write INDEX.json, and PROJECT.md of one project, anew from the manifests; what is as it should be stays."""
    rows = list(filesets(store))
    entries = [_index_entry(*row) for row in rows]
    text = escape_json(json.dumps(entries, ensure_ascii=False, indent=2))
    replace_file(os.path.join(store, INDEX), plain(text + "\n").encode())
    here = [(session, manifest) for folder, session, manifest in rows if folder == project]
    path = os.path.join(store, PROJECTS, project, PROJECT_PAGE)
    page = _project_page(os.path.dirname(path), here)
    replace_file(path, plain(page).encode() + _kept_notes(path))


def _index_entry(project: str, folder: str, manifest: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": folder,
        "session": manifest["session"],
        "project": manifest.get("project"),
        "harness": manifest.get("harness"),
        "turns": manifest["turn_count"],
        "revision": manifest.get("revision"),
        "updated": manifest.get("updated_at"),
        "path": f"{PROJECTS}/{project}/{folder}",
        "manifest_sha256": manifest["manifest_sha256"],
    }


def _project_page(path: str, rows: list[tuple[str, dict[str, Any]]]) -> str:
    name = next((m["project"] for _, m in rows if isinstance(m.get("project"), str)), os.path.basename(path))
    # Python's sort is stable: by session first, then newest first.
    rows = sorted(rows, key=lambda row: row[1]["session"])
    rows.sort(key=lambda row: str(row[1].get("updated_at")), reverse=True)
    lines = [_project_row(os.path.join(path, folder), manifest) for folder, manifest in rows]
    return (
        f"# Project: {code(name)}\n\n"
        "| session | harness | turns | revision | updated | objective |\n"
        "| --- | --- | ---: | ---: | --- | --- |\n" + "".join(lines) + "\n" + NOTES_LINE
    )


def _project_row(folder: str, manifest: dict[str, Any]) -> str:
    summary = read_object(os.path.join(folder, SUMMARY), MANIFEST_LIMIT) or {}
    objective = summary.get("objective")
    texts = [
        code(manifest["session"]).replace("|", "\\|"),
        cell(str(manifest.get("harness") or "")),
        str(manifest["turn_count"]),
        str(manifest.get("revision")),
        cell(str(manifest.get("updated_at"))),
        cell(objective[:OBJECTIVE_LENGTH] if isinstance(objective, str) else ""),
    ]
    return f"| {' | '.join(texts)} |\n"


def _kept_notes(path: str) -> bytes:
    """Return what stands below the comment line of a PROJECT.md, byte for byte."""
    data = read_regular(path, MANIFEST_LIMIT) or b""
    return data.partition(NOTES_LINE.encode())[2]


def replace_file(path: str, data: bytes, before_rename: Callable[[], None] | None = None) -> None:
    """Replace a file in one step: temporary file, sync, rename; a file that holds `data` already is left alone."""
    if read_regular(path, max(len(data), 1)) == data:
        return
    folder, name = os.path.split(path)
    make_folders(folder)
    beside = os.path.join(folder, f".tmp-{name}-{os.urandom(_MARK_LENGTH).hex()}")
    descriptor = os.open(beside, _CREATE, 0o600)
    try:
        ledger.own_mode(descriptor)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            ledger.flush(descriptor)
        if before_rename is not None:
            before_rename()
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    ledger.flush_folder(folder)
