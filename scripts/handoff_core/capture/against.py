"""Derives a fileset anew from its sources and compares it byte for byte (capture.md 13, `--against`).

Turns marked as gone, sources that are not given, and what came from the ledger are taken from the fileset.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256

from handoff_core.capture.build import Builder, Options, open_there
from handoff_core.capture.changes import Changes
from handoff_core.capture.contract import SEAL_LINES
from handoff_core.capture.fileset import GENERATOR
from handoff_core.capture.growth import Change, unnumbered
from handoff_core.capture.manifest import BRIEF, LEDGER_FILES, PAYLOAD, REDACTIONS, SUMMARY, TIMELINE, TOOLS
from handoff_core.capture.redact import Redactor
from handoff_core.capture.source import open_regular
from handoff_core.capture.store import MANIFEST, MANIFEST_LIMIT, Workspace, read_object, read_regular
from handoff_core.capture.timeline import turn_of
from handoff_core.errors import HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

    from handoff_core.capture.build import Reading
    from handoff_core.capture.growth import Captured
    from handoff_core.capture.reading import Tally
    from handoff_core.capture.turns import Turn

_COMPARED = (TIMELINE, TOOLS, PAYLOAD, SUMMARY, REDACTIONS, BRIEF)
_UNCOMPARED = ("contract_sha256", "manifest_sha256")
_CHUNK = 1 << 20
_BRIEF_LIMIT = 64 * 1024 * 1024
_REWRITTEN = re.compile(r"^- warning: (rewritten from turn \d+ on; \d+ captured turns were replaced)$", re.MULTILINE)
_SECTION = re.compile(r"^## Ledger\n\n(.*?)\n(?=## )", re.MULTILINE | re.DOTALL)
_FRONT = re.compile(r"^(next_agent|status|reason|story_title): (.*)$", re.MULTILINE)


def compare(folder: str, manifest: dict[str, Any], sources: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return what differs between a fileset and its sources, as names and problems, and the notes on what fits.

    Raises HandoffError (exit 2) for a source that does not exist.
    """
    for path in sources:
        if not os.path.lexists(path):
            raise HandoffError(f"{path}: no such source", code=2)
    if not _same_version(str(manifest.get("generator"))):
        found = f"was written by {manifest.get('generator')}; {GENERATOR} cannot derive it anew"
        return [(MANIFEST, found)], []
    rows = {str(row.get("name")): row for row in manifest.get("sources", ()) if isinstance(row, dict)}
    problems = [problem for path in sources for problem in _source_problems(path, rows)]
    if problems:
        return problems, []
    try:
        return _derived_problems(folder, manifest, sources)
    except HandoffError as error:
        return [(MANIFEST, f"cannot be derived anew: {error.problems[0]}")], []
    except (OSError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        # A manifest that is sealed anew can hold anything; what does not fit is named by the other checks.
        return [(MANIFEST, f"cannot be derived anew: {type(error).__name__}: {error}")], []


def _same_version(generator: str) -> bool:
    return generator.split(".")[:2] == GENERATOR.split(".")[:2]


def _source_problems(path: str, rows: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one source before it is read by its reader: unknown, grown, other bytes."""
    name = Redactor().mask(os.path.basename(os.path.abspath(path)))
    row = next((row for known, row in rows.items() if _plain(known) == _plain(name)), None)
    if row is None:
        yield name, "is no source of this fileset"
        return
    if os.path.isdir(path) or _is_database(path):
        return
    with open_regular(path) as file:
        size, wanted = os.fstat(file.fileno()).st_size, int(row["bytes"])
        digest, left = sha256(), wanted
        while left and (block := file.read(min(_CHUNK, left))):
            digest.update(block)
            left -= len(block)
    unchanged = digest.hexdigest() == row["sha256"] and not left
    if size > wanted:
        state = "the captured part is unchanged" if unchanged else "the captured part was changed"
        yield name, f"source grew: {wanted} of {size} bytes were captured; {state}"
    elif not unchanged:
        yield name, f"source differs: {size} bytes with another sha256 than the {wanted} bytes captured"


def _plain(name: str) -> str:
    return str(unnumbered(name))


def _is_database(path: str) -> bool:
    with open_regular(path) as file:
        return file.read(15) == b"SQLite format 3"


def _derived_problems(
    folder: str, manifest: dict[str, Any], sources: Sequence[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="handoff-verify-") as holder:
        workspace = Workspace(holder, "verify")
        try:
            deriver = _Deriver(folder, manifest, sources, workspace)
            try:
                derived = deriver.derive()
            finally:
                deriver.close()
            problems = [*_differences(folder, workspace.path, manifest, derived)]
        finally:
            workspace.discard()
    notes = [f"{name}: re-read, {turns} turns" for name, turns in deriver.read_again] if not problems else []
    return problems, notes


def _differences(
    folder: str, anew: str, manifest: dict[str, Any], derived: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the files that differ from those derived anew, the timeline first, and where they begin to."""
    for name in _COMPARED:
        with open_there(folder, name) as there, open(os.path.join(anew, name), "rb") as here:
            wanted = os.fstat(here.fileno()).st_size
            at = _first_difference(there, here, wanted, open_tail=name == BRIEF)
        if at is not None:
            yield name, f"differs from what its sources give, from line {at} on"
    keys = dict.fromkeys((*manifest, *derived))
    differing = [k for k in keys if k not in _UNCOMPARED and k != "files" and manifest.get(k) != derived.get(k)]
    if differing:
        yield MANIFEST, f"differs from what the sources give in {', '.join(differing)}"


def _first_difference(there: BinaryIO, here: BinaryIO, size: int, *, open_tail: bool) -> int | None:
    """Return the number of the first line that differs, None if there is none."""
    line, left = 1, size
    while left:
        new = here.read(min(_CHUNK, left))
        old = there.read(len(new))
        if old != new:
            same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
            return line + int(new.count(b"\n", 0, same))
        line += new.count(b"\n")
        left -= len(new)
    return line if there.read(1) and not open_tail else None


class _Anyone:
    """Lets every path be read: the person named the sources, and nothing but a temporary folder is written."""

    warnings: tuple[str, ...] = ()

    def require(self, _risk: str, _path: str, *, named: bool) -> None:
        """Let it be."""
        del named


class _Deriver(Builder):
    """A build that takes names, times and numbers from the manifest that is there."""

    def __init__(self, folder: str, manifest: dict[str, Any], sources: Sequence[str], workspace: Workspace) -> None:
        options = _options_of(manifest, sources)
        joined = _joined_of(folder, manifest) if "ledger" in manifest else None
        policy: Any = _Anyone()
        super().__init__(options, workspace, policy, Redactor(enabled=options.redact), joined, lambda _source: None)
        self.folder = folder
        self.manifest = manifest
        self.read_again: list[tuple[str, int]] = []

    def derive(self) -> dict[str, Any]:
        """Write every file anew into the temporary folder and return the manifest."""
        manifest, facts, mask = self.manifest, self.facts, self.redactor.mask
        for path in self.options.sources:
            mask(os.path.basename(path))
        self.given_session = str(manifest["session"])
        sources = self.with_subagents([(path, None) for path in self.options.sources])
        known = {str(row["name"]) for row in manifest["sources"]}
        sources = [entry for entry in sources if entry[1] is None or mask(os.path.basename(entry[0])) in known]
        order = [str(row["name"]) for row in manifest["sources"]]
        sources.sort(key=lambda entry: _position(order, mask(os.path.basename(os.path.abspath(entry[0])))))
        reading = self.read(sources)
        self.read_again = [(mask(tally.source.name), tally.turns) for tally in reading.tallies]
        self.fill_facts(reading, manifest, str(manifest["session"]), str(manifest["project"]))
        self.take_recorded(partial=len(sources) < len(order))
        reading, changes = self.grow(reading, manifest, self.folder)
        changes.mark(facts.sources)
        if len(sources) < len(order):
            facts.usage = manifest["usage"]
        facts.warnings = self.warnings(reading, changes)
        return self.write(reading)

    def take_recorded(self, *, partial: bool) -> None:
        """Take from the manifest what the sources do not say."""
        facts, manifest = self.facts, self.manifest
        facts.revision, facts.watermark = manifest["revision"], manifest["watermark"]
        facts.created_at, facts.updated_at = manifest["created_at"], manifest["updated_at"]
        facts.options = manifest["options"]
        facts.commit = manifest["git"]["commit"]
        if partial:
            facts.harness, facts.model = manifest["harness"], manifest["model"]

    def changes_of(self, old: dict[str, Any], reading: Reading, captured: Captured, fresh: Captured) -> Changes:
        """Return what becomes of every source: captured turns marked as gone stay, all others are read anew."""
        brief = read_regular(os.path.join(self.folder, BRIEF), _BRIEF_LIMIT) or b""
        rewritten = _REWRITTEN.findall(brief.decode("utf-8", "replace"))
        return _Recorded(old, reading.tallies, captured, fresh, rewritten)


class _Recorded(Changes):
    """What becomes of every source when nothing but a comparison is wanted."""

    def __init__(
        self,
        old: dict[str, Any],
        tallies: Sequence[Tally],
        captured: Captured,
        fresh: Captured,
        rewritten: list[str],
    ) -> None:
        self.rewritten_lines = list(rewritten)
        super().__init__(old, tallies, captured, fresh)

    def change_of(self, before: int | None, new: array[int]) -> Change:
        """Return the captured turns marked as gone, before and behind those of the source."""
        del new
        if before is None:
            return Change()
        marks = [value.get("gone") is True for value in self.captured.turns(before)]
        front = next((index for index, gone in enumerate(marks) if not gone), len(marks))
        behind = next((index for index, gone in enumerate(reversed(marks[front:])) if not gone), 0)
        change = Change(front=front, behind=behind)
        change.rewritten = self.old_rows[before]["rewritten"]
        return change

    def shift(self) -> int:
        """Return nothing where the recorded numbers are taken, else what a build would."""
        return 0 if any(new is None for _, new in self.order) else super().shift()

    def warnings(self) -> list[str]:
        """Return the lines on what was kept, and those on what was replaced as the brief has them."""
        waiting = iter(self.rewritten_lines)
        lines = super().warnings()
        return [next(waiting, line) if line.startswith("rewritten from turn ") else line for line in lines]

    def new_turns(self, now: int) -> Iterator[tuple[dict[str, Any], Turn]]:
        """Yield the turns just read; where not all sources are given, secrets get the numbers that they had."""
        before = next(old for old, new in self.order if new == now)
        if before is None or all(new is not None for _, new in self.order):
            yield from super().new_turns(now)
            return
        captured = (value for value in self.captured.turns(before) if value.get("gone") is not True)
        for value, turn in super().new_turns(now):
            recorded = next(captured, None)
            if recorded is not None and turn.masked:
                known = turn_of(recorded)
                for field in turn.masked:
                    if unnumbered(getattr(known, field)) == unnumbered(getattr(turn, field)):
                        setattr(turn, field, getattr(known, field))
            yield value, turn


def _position(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _options_of(manifest: dict[str, Any], sources: Sequence[str]) -> Options:
    recorded = manifest["options"]
    options = Options()
    options.sources = list(sources)
    options.from_ = recorded["from"]
    options.session = str(manifest["session"])
    options.subagents = recorded["subagents"]
    options.redact = recorded["redact"]
    options.allow_bad_lines = True
    options.include, options.exclude = recorded["include"], recorded["exclude"]
    options.max_tool_output = recorded["max_tool_output"]
    options.max_brief_tokens = recorded["max_brief_tokens"]
    options.clock = manifest["updated_at"]
    return options


class _Joined:
    """The slice as the fileset holds it: it came from the ledger, and is compared with nothing."""

    def __init__(self, folder: str, manifest: dict[str, Any]) -> None:
        brief = (read_regular(os.path.join(folder, BRIEF), _BRIEF_LIMIT) or b"").decode("utf-8", "replace")
        files = [read_regular(os.path.join(folder, name), _BRIEF_LIMIT) or b"" for name in LEDGER_FILES]
        self.ledger = files[0]
        self.route, self.board = (data.decode("utf-8", "replace") for data in files[1:])
        self._manifest = manifest["ledger"]
        self._summary = (read_object(os.path.join(folder, SUMMARY), MANIFEST_LIMIT) or {}).get("ledger")
        section = _SECTION.search(brief.rpartition(SEAL_LINES)[0])
        self._section = section.group(1) if section else ""
        front = dict(_FRONT.findall(brief.partition("\n---\n")[0]))
        self.req_id = str(self._manifest["req_id"])
        self.next_agent = front.get("next_agent", "user")
        self.status = front.get("status")
        self.reason, self.title = (_unquoted(front.get(key, '""')) for key in ("reason", "story_title"))

    def manifest(self) -> object:
        """Return what the manifest says of the slice."""
        return self._manifest

    def summary(self) -> object:
        """Return what summary and payload say of the slice."""
        return self._summary

    def section(self) -> str:
        """Return the lines of the brief's section."""
        return self._section


def _joined_of(folder: str, manifest: dict[str, Any]) -> Any:
    return _Joined(folder, manifest)


def _unquoted(text: str) -> str:
    import json

    try:
        value = json.loads(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
