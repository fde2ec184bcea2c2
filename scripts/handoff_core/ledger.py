"""The ledger file: its lock, its readers and the one write that appends a line.

Follows ledger.md 2 and 4.4 to 4.8. A record is one JSON object, an entry a record with its line number. Imports
`errors`, `jsonl`, `layout`, `text` alone; `fcntl` or `msvcrt` only when a lock is taken.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from handoff_core.errors import LOCK_BUSY, HandoffError, os_text, quick_signal
from handoff_core.jsonl import JsonError, decode, parse, plain_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from handoff_core.layout import Project

    Record = dict[str, Any]
    Entry = tuple[int, Record]

LOCK_SECONDS = 10.0
LOCK_PAUSE = 0.01
LOCK_BYTE = 0x7FFF_FFFF
"""Where Windows locks one byte: far beyond the end of the empty lock file."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_CONTENDED = (errno.EACCES, errno.EDEADLK) if os.name == "nt" else (errno.EAGAIN, errno.EWOULDBLOCK)
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")


# Reading


def read_log_bytes(project: Project, offset: int = 0) -> bytes | None:
    """Return the bytes of the log from `offset`, None if there is no file; raise HandoffError if it cannot be read."""
    return read_bytes(project.log, project.log_shown, offset=offset)


def read_bytes(path: str, shown: str, limit: int | None = None, *, offset: int = 0) -> bytes | None:
    """Return the bytes of a regular file, None if there is none; raise HandoffError `cannot read <shown>: …`.

    At most `limit` bytes are read. A FIFO or device is refused without being waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_BLOCK | _PLAIN)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _cannot_read(shown, error) from None
    try:
        kind = not_regular(os.fstat(descriptor).st_mode)
        if kind:
            raise HandoffError(f"cannot read {shown}: {kind}")
        if offset:
            os.lseek(descriptor, offset, os.SEEK_SET)
        return _read_all(descriptor) if limit is None else read_exactly(descriptor, limit)
    except OSError as error:
        raise _cannot_read(shown, error) from None
    finally:
        os.close(descriptor)


def not_regular(mode: int) -> str:
    """Return what keeps a file of this mode from being a log, empty for a regular file."""
    if stat.S_ISREG(mode):
        return ""
    return os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "not a regular file"


def missing_log(project: Project) -> str:
    """Return the message for a log that does not exist."""
    return f"no handoff log at {project.log_shown}"


class Problem:
    """One thing the strict reader finds; `line` is None where it concerns the whole file."""

    __slots__ = ("line", "text")

    def __init__(self, line: int | None, text: str) -> None:
        self.line = line
        self.text = text

    def __str__(self) -> str:
        """Return the message as the commands print it."""
        return self.text if self.line is None else f"line {self.line}: {self.text}"


def decoded_log(data: bytes) -> str:
    """Return the log's text; raise HandoffError `log is not valid UTF-8: …` (ledger.md 2.2)."""
    try:
        return decode(data)
    except JsonError as error:
        line = data.count(b"\n", 0, int(error.reason.rsplit(" ", 1)[1])) + 1
        raise HandoffError(f"log is {error.reason} (line {line})") from None


def scan(data: bytes) -> tuple[list[Entry], list[Problem]]:
    """Return the entries and the problems of a log, read strictly (ledger.md 2.2)."""
    try:
        lines = decoded_log(data).split("\n")
    except HandoffError as error:
        return [], [Problem(None, text) for text in error.problems]
    problems = []
    if lines[-1]:
        problems.append(Problem(len(lines), "missing trailing newline"))
    else:
        lines.pop()
    entries: list[Entry] = []
    read = plain_reader(data)
    for number, line in enumerate(lines, 1):
        try:
            record = read(line)
        except JsonError as error:
            problems.append(Problem(number, _line_problem(line, error)))
            continue
        if isinstance(record, dict):
            entries.append((number, record))
        else:
            problems.append(Problem(number, "not a JSON object"))
    return entries, problems


def parse_strict(data: bytes) -> tuple[list[Entry], list[str]]:
    """Return the entries and the problems of a log as the texts that commands print (ledger.md 2.2)."""
    entries, problems = scan(data)
    return entries, [str(problem) for problem in problems]


def parse_lenient(data: bytes) -> list[Entry]:
    """Return the lines that parse as objects with their physical numbers; the rest is dropped (ledger.md 2.2)."""
    entries: list[Entry] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        record = parse_object(line)
        if record is not None:
            entries.append((number, record))
    return entries


def parse_slice(data: bytes, req_id: object) -> list[Entry]:
    """Return the entries of one slice, read leniently; lines that cannot name the slice are not parsed.

    A `req_id` that is no text names no slice.
    """
    if not isinstance(req_id, str):
        return []
    name = req_id.encode("utf-8", "surrogatepass")
    entries: list[Entry] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if name in line or b"\\u" in line:
            record = parse_object(line)
            if record is not None and record.get("req_id") == req_id:
                entries.append((number, record))
    return entries


def parse_object(line: bytes | str) -> Record | None:
    """Return the record that a line holds, None if it is anything but one strict JSON object."""
    try:
        record = parse(line if isinstance(line, str) else decode(line))
    except JsonError:
        return None
    return record if isinstance(record, dict) else None


def clean_entries(project: Project, *, missing_is_empty: bool = False) -> list[Entry]:
    """Return all entries of a clean log, read under the shared lock.

    Raises HandoffError with every problem and `log is not clean — run validate` (ledger.md 7).
    """
    with shared_lock(project):
        data = read_log_bytes(project)
    if data is None:
        if missing_is_empty:
            return []
        raise HandoffError([missing_log(project), NOT_CLEAN])
    entries, problems = parse_strict(data)
    if problems:
        raise HandoffError([*problems, NOT_CLEAN])
    return entries


NOT_CLEAN = "log is not clean — run validate"


# Locking


class Lock:
    """Hold an advisory lock for the length of a `with` block; `descriptor` is None where reading goes without."""

    __slots__ = ("descriptor",)

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> Lock:  # noqa: PYI034 - typing.Self is not worth an import on the append path
        """Return the lock, which is already held."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Give the lock back."""
        if self.descriptor is not None:
            if os.name == "nt":
                _windows_lock(self.descriptor, release=True)
            os.close(self.descriptor)


def exclusive_lock(project: Project) -> Lock:
    """Return the writer's lock, making the lock file if need be (ledger.md 2.3).

    Raises HandoffError `cannot lock <path>: …`, or with exit code 75 after ten seconds of waiting.
    """
    shown = project.lock_shown
    try:
        descriptor = os.open(project.lock, os.O_RDWR | os.O_CREAT | _NO_FOLLOW | _NO_BLOCK | _PLAIN, 0o644)
    except (OSError, ValueError) as error:
        words = os_text(error) if isinstance(error, OSError) else str(error)
        raise HandoffError(f"cannot lock {shown}: {words}") from None
    try:
        kind = not_regular(os.fstat(descriptor).st_mode)
        if kind:
            raise HandoffError(f"cannot lock {shown}: {kind}")
        if not _wait_for_lock(descriptor, exclusive=True):
            raise busy(shown)
    except OSError as error:
        os.close(descriptor)
        raise HandoffError(f"cannot lock {shown}: {os_text(error)}") from None
    except BaseException:
        os.close(descriptor)
        raise
    return Lock(descriptor)


def shared_lock(project: Project, seconds: float = LOCK_SECONDS) -> Lock:
    """Return the reader's lock; where none can be had for any reason but contention, go without (ledger.md 2.3).

    Raises HandoffError with exit code 75 if a writer holds the lock for `seconds`.
    """
    try:
        descriptor = os.open(project.lock, os.O_RDONLY | _NO_FOLLOW | _NO_BLOCK | _PLAIN)
    except (OSError, ValueError):
        return Lock(None)
    try:
        if not_regular(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return Lock(None)
        held = _wait_for_lock(descriptor, exclusive=False, seconds=seconds)
    except OSError:
        os.close(descriptor)
        return Lock(None)
    except BaseException:
        os.close(descriptor)
        raise
    if not held:
        os.close(descriptor)
        raise busy(project.lock_shown)
    return Lock(descriptor)


def busy(shown: str) -> HandoffError:
    """Return the error of a lock that another process holds for too long."""
    waited = f"waited {LOCK_SECONDS:.0f} s"
    return HandoffError(f"another writer holds the lock {shown} ({waited}); nothing was done", code=LOCK_BUSY)


def _wait_for_lock(descriptor: int, *, exclusive: bool, seconds: float = LOCK_SECONDS) -> bool:
    """Try for the lock until it is granted or `seconds` are over; say whether it is held."""
    deadline = None
    while not _try_lock(descriptor, exclusive=exclusive):
        now = time.monotonic()
        if deadline is None:
            deadline = now + seconds
        if now >= deadline:
            return False
        time.sleep(min(LOCK_PAUSE, max(deadline - now, 0.0)))
    return True


def _try_lock(descriptor: int, *, exclusive: bool) -> bool:
    """Say whether the lock was granted at once; raise OSError for anything but contention."""
    try:
        if os.name == "nt":
            _windows_lock(descriptor)
        else:
            import fcntl

            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except InterruptedError:
        return False
    except OSError as error:
        if error.errno in _CONTENDED:
            return False
        raise
    return True


def _windows_lock(descriptor: int, *, release: bool = False) -> None:
    """Lock or release one byte of the lock file; Windows knows no shared lock, so readers take turns as well."""
    import msvcrt

    os.lseek(descriptor, LOCK_BYTE, os.SEEK_SET)
    mode = msvcrt.LK_UNLCK if release else msvcrt.LK_NBLCK  # type: ignore[attr-defined,unused-ignore]
    msvcrt.locking(descriptor, mode, 1)  # type: ignore[attr-defined,unused-ignore]


class SignalsHeld:
    """Hold SIGINT, SIGTERM and SIGHUP back for the length of a `with` block (ledger.md 4.8).

    After an error they are let through. After a success they stay held back, since the record is acknowledged and
    only the way out is left; `cli.main` restores the mask for a caller that lives on.
    """

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        """Block the signals where the platform can."""
        signal = quick_signal()
        self._before = None
        if hasattr(signal, "pthread_sigmask"):
            held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
            self._before = signal.pthread_sigmask(signal.SIG_BLOCK, held)

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Let the signals through if the block failed."""
        if kind is not None and self._before is not None:
            signal = quick_signal()
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


# Writing


def check_log_path(project: Project, verb: str = "append to") -> None:
    """Raise HandoffError if the log, or a folder on its path below the root, is no place to write (4.4)."""
    refusal = f"cannot {verb} {project.log_shown}"
    for folder, shown in _folders_below_root(project):
        if os.path.islink(folder):
            raise HandoffError(f"{refusal}: {shown} is a symlink")
    try:
        mode = os.lstat(project.log).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        words = os_text(error) if isinstance(error, OSError) else str(error)
        raise HandoffError(f"{refusal}: {words}") from None
    kind = "it is a symlink" if stat.S_ISLNK(mode) else not_regular(mode)
    if kind:
        raise HandoffError(f"{refusal}: {kind}")


def make_log_folder(project: Project) -> None:
    """Create the folder of the log if it is missing; raise HandoffError if that cannot be done."""
    folder = os.path.dirname(project.log)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise HandoffError(f"cannot append to {project.log_shown}: {os_text(error)}") from None


class OpenLog:
    """The log as one append or repair sees it, under its lock; `size` is its length in bytes before a write.

    `descriptor` is None while the file does not exist; `write` makes it then.
    """

    __slots__ = ("_project", "_verb", "descriptor", "new", "size")

    def __init__(self, project: Project, *, writable: bool = True, verb: str = "append to") -> None:
        self._project = project
        self._verb = verb
        self.new = False
        self.size = 0
        access = os.O_RDWR | os.O_APPEND if writable else os.O_RDONLY
        try:
            self.descriptor: int | None = self._open(access)
        except FileNotFoundError:
            self.descriptor = None
        except (OSError, ValueError) as error:
            raise self._refusal(error) from None

    def __enter__(self) -> OpenLog:  # noqa: PYI034 - typing.Self is not worth an import on the append path
        """Return the opened log."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the log."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def read_from(self, offset: int) -> bytes:
        """Return the bytes of the log from `offset` to its end; raise HandoffError if it cannot be read."""
        if self.descriptor is None:
            return b""
        try:
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            return _read_all(self.descriptor)
        except OSError as error:
            raise self._refusal(error) from None

    def tail(self) -> bytes:
        """Return the bytes after the last line feed; only as much is read as that takes."""
        return self.last_line(self.size, keep_feed=False)

    def last_line(self, end: int, *, keep_feed: bool = True) -> bytes:
        """Return the last line before offset `end`, whose own line feed does not count as its start."""
        start, found = end, b""
        while start > 0:
            step = min(start, 65_536)
            start -= step
            found = self._read_block(start, step) + found
            cut = found.rfind(b"\n", 0, len(found) - keep_feed)
            if cut >= 0:
                return found[cut + 1 :]
        return found

    def count_lines(self) -> int:
        """Return the number of line feeds in the log; it is read in blocks."""
        lines = offset = 0
        while block := self._read_block(offset, 1 << 20):
            lines += block.count(b"\n")
            offset += len(block)
        return lines

    def write(self, payload: bytes) -> None:
        """Write `payload` with one write and flush it to the device, or leave the log as it was (ledger.md 4.8).

        Raises HandoffError, which says whether the log could be restored.
        """
        written = 0
        try:
            if self.descriptor is None:
                self._create()
            descriptor = self.descriptor
            written = os.write(descriptor, payload)  # type: ignore[arg-type]
            if written == len(payload):
                self._flush()
                return
            failure = f"short write ({written} of {len(payload)} bytes)"
        except OSError as error:
            failure = os_text(error)
        except BaseException:
            self._restore(written)
            raise
        refusal = f"cannot append to {self._project.log_shown}: {failure}"
        if self._restore(written):
            raise HandoffError(f"{refusal}; the log is unchanged")
        raise HandoffError(f"{refusal}; the log could not be restored and now ends in a damaged record — run validate")

    def cut(self, size: int) -> None:
        """Cut the log to `size` bytes and flush it to the device; raise HandoffError if that fails."""
        try:
            os.ftruncate(self.descriptor, size)  # type: ignore[arg-type]
            flush(self.descriptor)  # type: ignore[arg-type]
        except OSError as error:
            raise self._refusal(error) from None

    def _open(self, access: int) -> int:
        descriptor = os.open(self._project.log, access | _NO_FOLLOW | _NO_BLOCK | _PLAIN)
        try:
            status = os.fstat(descriptor)
            kind = not_regular(status.st_mode)
            if kind:
                raise HandoffError(f"cannot {self._verb} {self._project.log_shown}: {kind}")
        except BaseException:
            os.close(descriptor)
            raise
        self.size = status.st_size
        return descriptor

    def _create(self) -> None:
        """Make the log, readable and writable by its owner whatever the umask."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _PLAIN
        self.descriptor = os.open(self._project.log, flags, 0o644)
        self.new = True
        own_mode(self.descriptor)

    def _read_block(self, offset: int, count: int) -> bytes:
        if self.descriptor is None:
            return b""
        try:
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            return read_exactly(self.descriptor, count)
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError | ValueError) -> HandoffError:
        words = os_text(error) if isinstance(error, OSError) else str(error)
        return HandoffError(f"cannot {self._verb} {self._project.log_shown}: {words}")

    def _flush(self) -> None:
        flush(self.descriptor)  # type: ignore[arg-type]
        if self.new:
            flush_folder(os.path.dirname(self._project.log))

    def _restore(self, written: int) -> bool:
        """Cut the log back to its old length, or remove a new one; say whether no byte of the record is left."""
        try:
            if self.new:
                os.unlink(self._project.log)
            elif written:
                os.ftruncate(self.descriptor, self.size)  # type: ignore[arg-type]
        except OSError:
            return written == 0
        return True


def own_mode(descriptor: int) -> None:
    """Let the owner read and write a file that was made just now, whatever the umask took away."""
    if os.name == "nt":
        return
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode & 0o600 != 0o600:
        os.fchmod(descriptor, mode | 0o600)


def flush(descriptor: int) -> None:
    """Flush a file to the device; on macOS past the drive's cache where that works."""
    import sys

    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:
            os.fsync(descriptor)
        return
    os.fsync(descriptor)


def flush_folder(folder: str) -> None:
    """Flush a folder to the device, so that a new name in it survives a power cut; Windows cannot and need not."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY | _PLAIN)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _folders_below_root(project: Project) -> Iterator[tuple[str, str]]:
    """Yield each folder between the root and the log, with its name relative to the root; none if it lies elsewhere."""
    relative = os.path.relpath(os.path.dirname(project.log), project.root)
    if relative == os.curdir or relative.split(os.sep)[0] == os.pardir or os.path.isabs(relative):
        return
    folder, shown = project.root, ""
    for part in relative.split(os.sep):
        folder, shown = os.path.join(folder, part), f"{shown}/{part}" if shown else part
        yield folder, shown


def _line_problem(line: str, error: JsonError) -> str:
    if not line or line.isspace():
        return "blank line"
    bare = line.removesuffix("\r")
    if bare.startswith(_CONFLICT_MARKS) or bare == "=======":
        return "invalid JSON (git conflict marker)"
    return f"invalid JSON ({error.reason})"


def _cannot_read(shown: str, error: OSError | ValueError) -> HandoffError:
    words = os_text(error) if isinstance(error, OSError) else str(error)
    return HandoffError(f"cannot read {shown}: {words}")


def _read_all(descriptor: int) -> bytes:
    """Return the bytes from the current place of a file to its end; what there is comes in one read."""
    size = os.fstat(descriptor).st_size
    blocks = [os.read(descriptor, max(size, 0) + 1)]
    while blocks[-1]:
        blocks.append(os.read(descriptor, 1 << 20))
    return blocks[0] if len(blocks) == 2 else b"".join(blocks)


def read_exactly(descriptor: int, count: int) -> bytes:
    """Return `count` bytes from the current place of a file, fewer only where it ends before."""
    blocks = []
    while count > 0 and (block := os.read(descriptor, count)):
        blocks.append(block)
        count -= len(block)
    return b"".join(blocks)
