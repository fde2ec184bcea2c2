"""One source of a session: opened read-only, read once to the length it has at the start, hashed while it is read.

Hands out records, documents and lines to a reader, and counts what is damaged, healed or replaced (capture.md 2).
"""

from __future__ import annotations

import os
import stat
import time
from hashlib import sha256

from handoff_core.capture import jsonlines
from handoff_core.capture.background import Background
from handoff_core.capture.turns import Record
from handoff_core.errors import REFUSED, USAGE, HandoffError, os_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any, BinaryIO

DOCUMENT_LIMIT = 256 * 1024 * 1024
"""Bytes of a JSON document that is read whole (capture.md 6)."""

BAD_LINES_KEPT = 100
CHUNK = 1 << 19
WAIT_SECONDS = 0.2
WAIT_STEP = 0.02

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SQLITE_MAGIC = b"SQLite format 3"
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_MARK = b"\xef\xbb\xbf"
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _brackets(line: bytes, most: int) -> int:
    """Return the number of opening brackets and braces, or a greater one than `most`; quicker than counting them."""
    return len(line.split(b"[", most + 1)) + len(line.split(b"{", most + 1)) - 2


class Counted:
    """What is found out about a source while it is read."""

    def __init__(self, shape: str) -> None:
        self.shape = shape
        self.reader = ""
        self.agent: str | None = None
        self.bytes = 0
        self.bad = 0
        self.bad_lines: list[dict[str, Any]] = []
        self.tail_bytes = self.healed = self.replaced = 0
        self.spilled = {"found": 0, "missing": 0}
        self.sidecars: list[dict[str, Any]] = []
        self.allowed: Callable[[str], None] | None = None
        """Judges the path of a sidecar by the permission policy; raises HandoffError."""

    def damaged(self, at: int | str, why: str) -> None:
        """Count a record that cannot be read, at a line number or another place."""
        self.bad += 1
        if len(self.bad_lines) < BAD_LINES_KEPT:
            self.bad_lines.append({"line": at, "why": why})


class Source(Counted):
    """One file of a session; see `turns.py` for what a reader may ask of it."""

    def __init__(self, path: str, spool: Callable[[], BinaryIO]) -> None:
        """Open `path`; `spool` gives a temporary file for what must be unpacked or decoded first.

        Raises HandoffError: exit 2 where there is none, exit 1 where it cannot be read or is no regular file.
        """
        self.path = path
        self.name = os.path.basename(path)
        self.folder = os.path.dirname(path)
        super().__init__("lines")
        self.sha256 = ""
        self._spool = spool
        self._file = open_regular(path)
        self._raw = self._file
        self._length = self._raw_length = os.fstat(self._file.fileno()).st_size
        self._encoding = "utf-8"
        self._start = 0
        self._hash = sha256()
        self._document: Any = None
        self.head = os.pread(self._file.fileno(), 64, 0) if hasattr(os, "pread") else self._peek_head()
        self._decode_outside()

    def _peek_head(self) -> bytes:
        head = self._file.read(64)
        self._file.seek(0)
        return head

    def close(self) -> None:
        """Close the source."""
        self._file.close()
        self._raw.close()

    @property
    def is_database(self) -> bool:
        """Say whether the file is an SQLite database."""
        return self.head.startswith(SQLITE_MAGIC)

    def _decode_outside(self) -> None:
        """Unpack zstd and turn UTF-16 into UTF-8, into a temporary file; step over a byte order mark."""
        if self.head.startswith(ZSTD_MAGIC):
            from handoff_core.capture import zstd

            self._hash_whole()
            self._take_over(self._spool(), lambda file: zstd.unpack(self.path, file))
            self.head = self._peek_head()
        encoding = _UTF16.get(self.head[:2])
        if encoding is not None and not self.is_database:
            if not self.sha256:
                self._hash_whole()
            whole = self._file
            self._encoding = encoding
            self._take_over(self._spool(), lambda file: self._from_utf16(whole, file, encoding))
            self.head = self._peek_head()
        self._start = len(_MARK) if self.head.startswith(_MARK) else 0

    def _take_over(self, spooled: BinaryIO, fill: Callable[[BinaryIO], object]) -> None:
        fill(spooled)
        spooled.flush()
        self._length = spooled.seek(0, os.SEEK_END)
        spooled.seek(0)
        self._file = spooled

    def _from_utf16(self, whole: BinaryIO, out: BinaryIO, encoding: str) -> None:
        from codecs import getincrementaldecoder

        decoder = getincrementaldecoder(encoding)("replace")
        whole.seek(2)
        while True:
            block = whole.read(CHUNK)
            text = decoder.decode(block, not block)
            self.replaced += text.count("\ufffd") if block or text else 0
            out.write(text.encode("utf-8", "replace"))
            if not block:
                return

    def _hash_whole(self) -> None:
        """Hash the file as it lies there, up to the length it had at the start."""
        digest, left = sha256(), self._raw_length
        self._raw.seek(0)
        while left and (block := self._raw.read(min(CHUNK, left))):
            digest.update(block)
            left -= len(block)
        self._raw.seek(0)
        self.bytes, self.sha256 = self._raw_length - left, digest.hexdigest()

    # Lines

    def records(self) -> Iterator[Record]:
        """Yield the records of a line format, once; damage, healing and replacements are counted here."""
        return self._records(counting=True)

    def peek(self) -> Iterator[Record]:
        """Yield the same records for a look ahead; nothing is counted or hashed, and it may stop anywhere."""
        return self._records(counting=False)

    def _records(self, *, counting: bool) -> Iterator[Record]:
        scan, refused, nesting = jsonlines.scan, jsonlines.REFUSED, jsonlines.NESTING
        for number, offset, line, ended in self._lines(counting=counting):
            # The common line holds one sound object and nothing else: it is read here, without a call of ours.
            try:
                text = line.decode()
                value, end = scan(text, 0)
            except refused:
                yield from self._odd_line(number, offset, line, ended=ended, counting=counting)
                continue
            if (end != len(text) and text[end:].strip(jsonlines.BLANKS)) or (
                end > 2 * nesting and _brackets(line, nesting) > nesting
            ):
                yield from self._odd_line(number, offset, line, ended=ended, counting=counting)
                continue
            yield Record(value, number, offset)

    def _odd_line(self, number: int, offset: int, line: bytes, *, ended: bool, counting: bool) -> Iterator[Record]:
        """Yield the records of a line that is not simply one value, and count what is wrong with it."""
        text = self._text(line, counting=counting)
        found, damage, healed = jsonlines.values(text)
        if damage is not None and not ended and counting:
            waited = self._waited(line)
            if waited is not line:
                line, ended = waited, True
                text = self._text(line, counting=False)
                found, damage, healed = jsonlines.values(text)
        for value in found:
            yield Record(self._whole(value, counting=counting), number, offset)
        if not counting:
            return
        self.healed += healed
        if damage is not None and ended:
            self.damaged(number, damage.reason)
        elif damage is not None:
            self.tail_bytes = len(text[damage.at :].encode("utf-8", "replace"))

    def _waited(self, line: bytes) -> bytes:
        """Return an unfinished last line with what was written to it within 0.2 seconds."""
        if self._file is not self._raw:
            return line
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            time.sleep(WAIT_STEP)
            self._raw.seek(self._raw_length)
            more = self._raw.readline()
            if more.endswith(b"\n"):
                self._hash.update(more)
                self._raw_length += len(more)
                self.bytes, self.sha256 = self._raw_length, self._hash.hexdigest()
                return line + more[:-1]
        return line

    def _whole(self, value: Any, *, counting: bool) -> Any:
        counted = [0]
        value = jsonlines.without_halves(value, counted)
        if counting:
            self.replaced += counted[0]
        return value

    def _text(self, line: bytes, *, counting: bool) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            text = line.decode("utf-8", "replace")
            if counting:
                self.replaced += text.count("\ufffd") - line.count(b"\xef\xbf\xbd")
            return text

    def _lines(self, *, counting: bool) -> Iterator[tuple[int, int, bytes, bool]]:
        """Yield number, offset, bytes (without the line feed) of each line, and whether a line feed ends it."""
        number, offset = 0, self._start
        begun: list[bytes] = []
        for block in self._blocks(counting=counting):
            lines = block.split(b"\n")
            begun.append(lines[0])
            if len(lines) == 1:
                continue
            lines[0] = b"".join(begun)
            begun = [lines.pop()]
            for line in lines:
                number += 1
                yield number, offset, line, True
                offset += len(line) + 1
        last = b"".join(begun)
        if last:
            yield number + 1, offset, last, False

    def _blocks(self, *, counting: bool) -> Iterator[bytes]:
        """Yield the bytes behind the byte order mark, up to the length at the start; hash them all when counting."""
        if not counting or self.sha256:
            yield from self._read_blocks(lambda _block: None)
            return
        if self._length <= CHUNK:
            self.bytes = yield from self._read_blocks(self._hash.update)
        else:
            hashing = Background(self._hash.update)
            try:
                self.bytes = yield from self._read_blocks(hashing.submit)
            finally:
                hashing.finish()
        self.sha256 = self._hash.hexdigest()

    def _read_blocks(self, take: Callable[[bytes], object]) -> Generator[bytes, None, int]:
        """Yield the same bytes, hand the whole blocks to `take`, and return how many bytes there were."""
        self._file.seek(0)
        at, skipped = 0, self._start
        while at < self._length and (block := self._file.read(min(CHUNK, self._length - at))):
            take(block)
            at += len(block)
            yield block[skipped:]
            skipped = 0
            if self._file.tell() != at:
                self._file.seek(at)
        return at

    def text_lines(self) -> Iterator[tuple[int, int, str]]:
        """Yield number, offset and text of each line, once; the line end is taken off."""
        for number, offset, line, ended in self._lines(counting=True):
            text = self._text(line, counting=True)
            yield number, offset, text.removesuffix("\r") if ended else text

    def value_at_place(self, record: Record) -> Any:
        """Return the value of a record of `peek` again, where its line holds that value alone."""
        if record.byte is None:
            raise ValueError("the record has no offset")
        self._file.seek(record.byte)
        line = self._file.readline(self._length - record.byte)
        return jsonlines.values(self._text(line, counting=False))[0][0]

    def unstamped(self, offset: int | None) -> int | None:
        """Return an offset as the manifest's turns name it: only of lines that are UTF-8 in the file itself."""
        return None if self._encoding != "utf-8" else offset

    def position(self) -> tuple[int, int]:
        """Return how many bytes were read, and how many there are."""
        try:
            return self._file.tell(), self._length
        except ValueError:
            return self._length, self._length

    # A look at the beginning

    def beginning(self, limit: int) -> str:
        """Return at most the first `limit` bytes as text, without a byte order mark."""
        self._file.seek(self._start)
        return self._file.read(min(limit, max(self._length - self._start, 0))).decode("utf-8", "replace")

    def first_line(self) -> str:
        """Return the first line that is not blank, without its line feed."""
        return next((text for text in self._full_lines()), "")

    def has_second_line(self) -> bool:
        """Say whether another line that is not blank follows the first one."""
        lines = self._full_lines()
        return next(lines, None) is not None and next(lines, None) is not None

    def has_line(self, beginning: str) -> bool:
        """Say whether a line begins with a text."""
        wanted = beginning.encode()
        return any(line.startswith(wanted) for _, _, line, _ in self._lines(counting=False))

    def _full_lines(self) -> Iterator[str]:
        for _, _, line, _ in self._lines(counting=False):
            text = self._text(line, counting=False)
            if text.strip():
                yield text.rstrip("\n")

    # Documents

    def document(self) -> Any:
        """Return the value of a JSON document, read whole; raise Damage if it is none.

        Raises HandoffError for one over 256 MB.
        """
        if self._document is None:
            self._document = self._parsed(self.whole())
        return self._document

    def whole(self) -> str:
        """Return the text of the source; raise HandoffError if it is over 256 MB."""
        if self._length > DOCUMENT_LIMIT:
            raise HandoffError(f"{self.name}: a JSON document over 256 MB is not read")
        self._file.seek(0)
        data = self._file.read(self._length)
        if self._file is self._raw:
            self.bytes, self.sha256 = len(data), sha256(data).hexdigest()
        before, self.replaced = self.replaced, 0
        text = self._text(data[self._start :], counting=True)
        self.replaced = max(before, self.replaced)
        return text

    def _parsed(self, text: str) -> Any:
        start = len(text) - len(text.lstrip(" \t\r\n"))
        value, end = jsonlines.value_at(text, start)
        if text[end:].strip(" \t\r\n"):
            raise jsonlines.Damage(jsonlines.TEXT_AFTER, end)
        return self._whole(value, counting=True)

    def read_again(self) -> None:
        """Forget the document, and open a file that is rewritten whole a second time (formats.md 9)."""
        self._document = None
        if self._file is not self._raw:
            return
        self._file.close()
        self._file = self._raw = open_regular(self.path)
        self._length = self._raw_length = os.fstat(self._file.fileno()).st_size

    # Databases and folders

    def database(self) -> Any:
        """Return a read-only connection to an SQLite database, the log beside it included; hash both."""
        from handoff_core.capture import database

        self._hash_database()
        return database.connect(self.path)

    def tables(self) -> dict[str, set[str]]:
        """Return the tables of a database with their columns; raise HandoffError if it cannot be read."""
        from handoff_core.capture import database

        return database.tables(self.path)

    def _hash_database(self) -> None:
        digest, size = sha256(), 0
        for path in (self.path, self.path + "-wal"):
            try:
                with open(path, "rb") as opened:
                    while block := opened.read(CHUNK):
                        digest.update(block)
                        size += len(block)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise HandoffError(f"cannot read {self.name}: {os_text(error)}") from None
        self.bytes, self.sha256 = size, digest.hexdigest()

    # What goes wrong, and what belongs to it

    def sidecar(self, name: str, size: int | None = None) -> str | None:
        """Return the text of a file by its path relative to the source's folder, None where it is not to be had.

        It must be a regular file, not behind a link, of `size` bytes where that is given.
        """
        path = os.path.join(self.folder, *name.split("/"))
        if self.allowed is not None:
            self.allowed(path)
        try:
            if stat.S_ISLNK(os.lstat(path).st_mode):
                return None
            with open_regular(path) as opened:
                length = os.fstat(opened.fileno()).st_size
                if size is not None and length != size:
                    return None
                data = opened.read(length)
        except (OSError, HandoffError):
            return None
        self.sidecars.append({"name": os.path.basename(path), "bytes": len(data), "sha256": sha256(data).hexdigest()})
        return self._text(data, counting=True)


class Folder(Counted):
    """A store folder as a source: a tree of JSON files (formats.md 6); same bookkeeping as `Source`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = os.path.basename(os.path.abspath(path))
        self.folder = path
        super().__init__("folder")
        self._hash = sha256()

    @property
    def sha256(self) -> str:
        """Return the digest of the files read so far, in reading order."""
        return self._hash.hexdigest()

    def position(self) -> tuple[int, int]:
        """Return how many bytes were read; how many there are is not known before."""
        return self.bytes, self.bytes

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def unstamped(self, offset: int | None) -> int | None:
        """Return no offset: a record of a folder is a file."""
        return offset

    def files(self, pattern: str) -> list[str]:
        """Return the regular files that match `pattern` (one `*` a path part), sorted, relative with `/`."""
        found = [""]
        for part in pattern.split("/"):
            found = [f"{base}/{name}".lstrip("/") for base in found for name in self._matching(base, part)]
        return sorted(name for name in found if os.path.isfile(os.path.join(self.path, name)))

    def _matching(self, base: str, part: str) -> list[str]:
        from fnmatch import fnmatchcase

        try:
            names = os.listdir(os.path.join(self.path, *base.split("/")))
        except OSError:
            return []
        here = os.path.join(self.path, base)
        return sorted(n for n in names if fnmatchcase(n, part) and not os.path.islink(os.path.join(here, n)))

    def load(self, name: str) -> Any:
        """Return the JSON value of a file, hashed; one that cannot be read is counted as damaged and gives None."""
        try:
            with open_regular(os.path.join(self.path, *name.split("/"))) as opened:
                data = opened.read()
        except HandoffError:
            self.damaged(name, "cannot be read")
            return None
        self._hash.update(data)
        self.bytes += len(data)
        found, damage, _ = jsonlines.values(data.decode("utf-8-sig", "replace"))
        if damage is not None or len(found) != 1:
            self.damaged(name, damage.reason if damage else jsonlines.NOT_JSON)
            return None
        counted = [0]
        value = jsonlines.without_halves(found[0], counted)
        self.replaced += counted[0]
        return value


def open_regular(path: str) -> BinaryIO:
    """Open a regular file for reading, unbuffered, without waiting for a pipe; raise HandoffError."""
    shown = os.path.basename(path)
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise HandoffError(f"{shown}: no such source", code=USAGE) from None
    except OSError as error:
        raise HandoffError(f"cannot read {shown}: {os_text(error)}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise HandoffError(f"cannot read {shown}: not a regular file", code=REFUSED)
    return os.fdopen(descriptor, "rb", 1 << 16)
