"""Builds a fileset: reads the sources, compares with what is there, writes all anew, swaps it in (capture.md 1 to 10).

The command hands in options, policy, ledger slice, clock and commit. Imports modules of `capture` alone.
"""

from __future__ import annotations

import os
import stat

from handoff_core.capture import fileset, growth, names, sniff
from handoff_core.capture.changes import Changes, matched
from handoff_core.capture.companions import subagent_files
from handoff_core.capture.derived import Derived
from handoff_core.capture.manifest import BRIEF, PAYLOAD, REDACTIONS, SUMMARY, TIMELINE, TOOLS
from handoff_core.capture.reading import Earlier, Tally, read_source
from handoff_core.capture.source import Folder, Source
from handoff_core.capture.store import MANIFEST, MANIFEST_LIMIT, PROJECTS, check_target, filed_under, read_regular
from handoff_core.capture.timeline import Preparer, Stream, Timeline, tools_head
from handoff_core.capture.turns import TOKEN_KINDS, Session
from handoff_core.errors import DAMAGED_SOURCE, NOTHING_TO_BUILD, HandoffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO

    from handoff_core.capture.growth import Captured
    from handoff_core.capture.joining import Joined
    from handoff_core.capture.policy import Policy
    from handoff_core.capture.redact import Redactor
    from handoff_core.capture.store import Workspace

NAMED_BAD = 5
OVERRIDES = ("harness", "model", "project", "objective")


class Options:
    """What one build is asked for, flags and configuration together."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.named = True
        """Whether a person named the sources; discovered ones are not."""
        self.from_ = "auto"
        self.session = ""
        self.out: str | None = None
        self.subagents = False
        self.overrides: dict[str, str | None] = {}
        """What the flags say: a text, an empty one to take an override back, None for no flag."""
        self.allow_bad_lines = False
        self.redact = True
        self.include: list[str] = []
        self.exclude: list[str] = []
        self.max_tool_output = 0
        self.max_brief_tokens = 30000
        self.project_name = ""
        self.store = ""
        self.clock = ""
        self.commit: str | None = None

    def recorded(self) -> dict[str, Any]:
        """Return what the manifest keeps of the options (capture.md 10.5)."""
        return {
            "from": self.from_,
            "subagents": self.subagents,
            "redact": self.redact,
            "allow_bad_lines": self.allow_bad_lines,
            "include": self.include,
            "exclude": self.exclude,
            "max_tool_output": self.max_tool_output,
            "max_brief_tokens": self.max_brief_tokens,
        }


class Refused(HandoffError):  # noqa: N818 - the word of `--json`
    """Report a session that gives no fileset: no turns (exit 4) or damaged records (exit 5)."""

    def __init__(self, problem: str, fix: str, code: int, bad_lines: list[dict[str, Any]]) -> None:
        super().__init__(problem, fix, code)
        self.bad_lines = bad_lines


class Result:
    """What a build came to, for the result line and `--json`."""

    def __init__(self, status: str, folder: str, manifest: dict[str, Any]) -> None:
        self.status = status
        self.folder = folder
        self.manifest = manifest
        self.new = 0
        self.bad_lines: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []


class Reading:
    """One pass over sources into a timeline of their own."""

    def __init__(self, workspace: Workspace, options: Options, title: str, number: int) -> None:
        self.workspace = workspace
        self.title = title
        self.prefix = f".pass-{number}-"
        self.names = {name: self.prefix + name for name in (TIMELINE, TOOLS)}
        """What the files are called until they are finished."""
        self.derived = Derived(4 * options.max_brief_tokens)
        self.streams = {name: Stream(workspace.create(own)) for name, own in self.names.items()}
        self.timeline = Timeline(self.streams[TIMELINE], self.streams[TOOLS], self.derived, title)
        self.tallies: list[Tally] = []

    def drop(self) -> None:
        """Close and remove the files of a pass that came to nothing."""
        for name, stream in self.streams.items():
            stream.file.close()
            os.unlink(self.path(name))

    def path(self, name: str) -> str:
        """Return where a file of this pass lies until it is finished."""
        return os.path.join(self.workspace.path, self.names[name])

    def finish(self) -> None:
        """Close the files and give them their names; an open file cannot be renamed everywhere."""
        for name, stream in self.streams.items():
            stream.close()
            os.rename(self.path(name), os.path.join(self.workspace.path, name))

    def retitle(self, title: str) -> None:
        """Write TOOLS.md again under the session's right name, which is known only at the end."""
        old, before = self.streams[TOOLS], self.names[TOOLS]
        old.flush()
        name = f"{self.prefix}again-{TOOLS}"
        stream = self.streams[TOOLS] = Stream(self.workspace.create(name))
        stream.write(tools_head(title))
        old.file.seek(len(tools_head(self.title).encode()))
        while block := old.file.read(1 << 20):
            stream.raw(block)
        old.file.close()
        os.unlink(os.path.join(self.workspace.path, before))
        self.names[TOOLS], self.title = name, title


class Builder:
    """The steps of one build; `run` takes them in order."""

    def __init__(
        self,
        options: Options,
        workspace: Workspace,
        policy: Policy,
        redactor: Redactor,
        joined: Joined | None,
        tick: Callable[[Source | Folder], None],
    ) -> None:
        self.options = options
        self.workspace = workspace
        self.policy = policy
        self.redactor = redactor
        self.preparer = Preparer(redactor, options.max_tool_output)
        self.joined = joined
        self.tick = tick
        self.facts = fileset.Facts()
        self.overrides: dict[str, str | None] = {}
        self.given_session = ""
        self.uncaptured = 0
        self.passes: list[Reading] = []

    def run(self) -> Result:
        """Read, compare, write and publish; raise HandoffError, `Refused` where there is nothing to build."""
        try:
            return self.built()
        finally:
            self.close()

    def close(self) -> None:
        """Close every file of every pass; one that is finished is closed already."""
        for reading in self.passes:
            for stream in reading.streams.values():
                stream.abandon()

    def built(self) -> Result:
        """Take all the steps."""
        options, mask = self.options, self.redactor.mask
        paths: list[tuple[str, str | None]] = [(path, None) for path in options.sources]
        for path, _ in paths:
            mask(os.path.basename(path))
        self.given_session = mask(options.session)
        self.overrides = {key: mask(text) if text else text for key, text in options.overrides.items()}
        sources = self.with_subagents(paths)
        reading = self.read(sources)
        self.refuse_nothing(reading)
        session = self.session_of(reading)
        target, project = self.target_of(session, reading)
        self.policy.require("R1", target, named=options.out is not None)
        old = check_target(target, session, os.path.basename(target))
        if old is not None and (order := _recorded_order(old, reading.tallies)) is not None:
            reading.drop()
            reading = self.read([sources[index] for index in order])
        self.fill_facts(reading, old, session, project)
        changes = None
        if old is not None:
            reading, changes = self.grow(reading, old, target)
        return self.finish(reading, old, target, changes)

    # Reading

    def with_subagents(self, paths: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
        """Return the sources with the transcripts of their subagents, or count those that stay out."""
        options = self.options
        found = [entry for path, _ in paths for entry in subagent_files(path, options.include, options.exclude)]
        given = {os.path.realpath(path) for path, _ in paths}
        found = [(path, agent) for path, agent in found if os.path.realpath(path) not in given]
        if options.subagents:
            return [*paths, *found]
        self.uncaptured = len(found)
        return paths

    def read(self, sources: list[tuple[str, str | None]]) -> Reading:
        """Read every source into a new timeline."""
        title = self.given_session or names.stem_of(os.path.abspath(sources[0][0]))
        reading = self.new_pass(title)
        earlier = Earlier() if len(sources) > 1 else None
        for number, (path, agent) in enumerate(sources):
            self.policy.require("R0", path, named=self.options.named)
            source = self.open(path)
            session = Session(self.options.session, subagents=self.options.subagents, agent=agent)
            session.mask = self.redactor.mask
            tally = Tally(source, session)
            reading.tallies.append(tally)
            try:
                read_source(tally, number, reading.timeline, self.preparer, earlier, lambda: self.tick(source))  # noqa: B023 - called within the turn of the loop
            finally:
                source.close()
        reading.timeline.finish()
        return reading

    def new_pass(self, title: str) -> Reading:
        """Return a new timeline to be written; `title` is the session's name as far as it is known."""
        reading = Reading(self.workspace, self.options, title, len(self.passes))
        self.passes.append(reading)
        return reading

    def open(self, path: str) -> Source | Folder:
        """Open a source, and find its reader and shape."""
        wanted = self.options.from_
        source: Source | Folder
        if os.path.isdir(path):
            source = Folder(path)
            source.reader = "opencode" if wanted == "auto" else wanted
        else:
            source = Source(path, self.workspace.scratch)
            if wanted == "auto":
                source.reader = sniff.sniff(source)
            else:
                source.reader, source.shape = wanted, sniff.shape_for(source, wanted)
        source.allowed = lambda name: self.policy.require("R0", name, named=self.options.named)
        return source

    def refuse_nothing(self, reading: Reading) -> None:
        """Raise Refused where there are no turns (it beats the other), or damaged records nobody allowed."""
        bad = [row for tally in reading.tallies for row in _bad_lines(tally, self.redactor.mask)]
        total = sum(tally.source.bad for tally in reading.tallies)
        if not reading.timeline.seq:
            shown = ", ".join(self.redactor.mask(tally.source.name) for tally in reading.tallies)
            damaged = f"; {_damage(reading.tallies, self.redactor.mask)}" if total else ""
            raise Refused(f"no turns in {shown}{damaged}", "", NOTHING_TO_BUILD, bad)
        if total and not self.options.allow_bad_lines:
            fix = "nothing was built; --allow-bad-lines goes on without them"
            raise Refused(_damage(reading.tallies, self.redactor.mask), fix, DAMAGED_SOURCE, bad)

    # Names

    def session_of(self, reading: Reading) -> str:
        """Return the session's id, the first that fits (capture.md 3)."""
        first = reading.tallies[0]
        ids = [found for tally in reading.tallies for found in tally.session.ids]
        if first.source.shape in ("database", "folder") and first.session.ids:
            return first.session.ids[0]
        path = os.path.abspath(first.source.path)
        if first.source.reader == "aider" and not self.given_session:
            return self.redactor.mask(f"aider-{os.path.basename(os.path.dirname(path))}")
        return names.choose_session(self.given_session, self.redactor.mask(names.stem_of(path)), ids)

    def target_of(self, session: str, reading: Reading) -> tuple[str, str]:
        """Return the folder of the fileset and the project; raise HandoffError for a project that may not change."""
        options, given = self.options, self.overrides.get("project")
        if options.out is not None:
            there = check_target(os.path.abspath(options.out), session, options.out)
            filed = there.get("project") if there else None
        else:
            filed = filed_under(options.store, session)
        if given and filed and given != filed:
            raise HandoffError(f"this session is filed under the project {filed}; --project cannot move it")
        project = given or filed or options.project_name or self.project_found(reading) or names.UNSORTED
        project = self.redactor.mask(project)
        if options.out is not None:
            return os.path.abspath(options.out), project
        folders = (names.safe_name(project, names.PROJECT_LENGTH), names.safe_name(session))
        return os.path.join(options.store, PROJECTS, *folders), project

    def project_found(self, reading: Reading) -> str:
        """Return the project that the sources name, empty if none does."""
        sessions = [tally.session for tally in reading.tallies]
        thread = next((found for s in sessions if (found := names.project_of_thread(s.thread))), "")
        folder = next((found for s in sessions if (found := names.last_part(s.folder))), "")
        first = reading.tallies[0].source
        if first.reader == "aider":
            folder = folder or os.path.basename(os.path.dirname(os.path.abspath(first.path)))
        return thread or folder

    def fill_facts(self, reading: Reading, old: dict[str, Any] | None, session: str, project: str) -> None:
        """Put names, times, options and sources together."""
        facts, options, mask = self.facts, self.options, self.redactor.mask
        facts.session, facts.project = session, project
        kept = old.get("overrides") if old else None
        overrides = dict(kept) if type(kept) is dict else {}
        for key, text in self.overrides.items():
            if text:
                overrides[key] = text
            elif text is not None:
                overrides.pop(key, None)
        facts.overrides = {key: overrides[key] for key in OVERRIDES if key in overrides}
        sessions = [tally.session for tally in reading.tallies]
        first = reading.tallies[0].source.reader
        by_reader = "unknown" if first in ("canonical", "text") else first
        facts.harness = facts.overrides.get("harness") or next((s.harness for s in sessions if s.harness), by_reader)
        facts.model = facts.overrides.get("model") or next((s.model for s in sessions if s.model), "")
        facts.created_at = facts.updated_at = options.clock
        facts.options = options.recorded()
        facts.mode = self.redactor.mode
        facts.commit = options.commit
        facts.joined = self.joined
        facts.sources = [tally.row(mask) for tally in reading.tallies]
        facts.usage = _sum_of(s.usage for s in sessions)
        if old is not None:
            facts.created_at = str(old.get("created_at") or options.clock)
            facts.revision = int(old["revision"]) + 1

    # Growing

    def grow(self, reading: Reading, old: dict[str, Any], target: str) -> tuple[Reading, Changes]:
        """Compare with the fileset that is there; where captured turns stay, write the timeline anew with them."""
        try:
            with open_there(target, TIMELINE) as file:
                captured = growth.Captured(file)
                changes = self.changes_of(old, reading, captured, growth.Captured(reading.streams[TIMELINE].file))
                if changes.needs_merge():
                    reading = self.merge(reading, changes)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HandoffError(
                f"{TIMELINE} of the fileset in the way cannot be read ({type(error).__name__}); it is not built over",
                "move the fileset away, or check it with verify",
            ) from None
        return reading, changes

    def changes_of(self, old: dict[str, Any], reading: Reading, captured: Captured, fresh: Captured) -> Changes:
        """Return what becomes of every source."""
        return Changes(old, reading.tallies, captured, fresh)

    def merge(self, reading: Reading, changes: Changes) -> Reading:
        """Write the timeline anew, captured turns that are no longer in a source, or in none given, included."""
        merged = self.new_pass(self.facts.session)
        rows = changes.write(merged.timeline)
        merged.timeline.finish()
        reading.drop()
        merged.tallies = reading.tallies
        self.facts.sources = rows
        self.facts.usage = _sum_of((self.facts.usage, changes.usage_kept))
        return merged

    # Writing

    def finish(self, reading: Reading, old: dict[str, Any] | None, target: str, changes: Changes | None) -> Result:
        """Write what depends on everything else, and publish, unless nothing is new."""
        facts = self.facts
        if changes is not None:
            changes.mark(facts.sources)
        if old is not None and changes is not None and self.is_same(old, changes, target):
            result = Result("up-to-date", target, old)
        else:
            facts.watermark = max(reading.timeline.seq, int(old["watermark"]) if old else 0)
            facts.warnings = self.warnings(reading, changes)
            facts.tail = (
                fileset.tail_of(read_regular(os.path.join(target, BRIEF), MANIFEST_LIMIT) or b"") if old else b""
            )
            manifest = self.write(reading)
            self.workspace.publish(target)
            result = Result("built", target, manifest)
            result.new = changes.added if changes is not None else reading.timeline.seq
        # What the policy ignores concerns this machine, not the session: it is said, and not written into the brief.
        result.warnings = [*self.warnings(reading, changes), *self.policy.warnings]
        result.notes = self.notes(reading)
        result.bad_lines = [row for tally in reading.tallies for row in _bad_lines(tally, self.redactor.mask)]
        return result

    def is_same(self, old: dict[str, Any], changes: Changes, target: str) -> bool:
        """Say whether a build would say nothing that the fileset does not say (capture.md 8)."""
        facts = self.facts
        keys = ("name", "bytes", "sha256", "kept")
        before = [[row.get(key) for key in keys] for row in old.get("sources", ())]
        after = [[row[key] for key in keys] for row in facts.sources]
        told = (old.get("overrides"), old.get("options"), (old.get("ledger") or {}).get("lines"))
        joined = self.joined
        if (
            joined is not None
            and read_regular(os.path.join(target, "LEDGER.jsonl"), len(joined.ledger)) != joined.ledger
        ):
            return False
        lines = joined.manifest()["lines"] if joined else None
        return (
            not changes.added
            and not changes.rewritten
            and before == after
            and told
            == (
                facts.overrides,
                facts.options,
                lines,
            )
        )

    def warnings(self, reading: Reading, changes: Changes | None) -> list[str]:
        """Return what was lost, kept back or replaced, one line each (capture.md 5.6)."""
        rows = self.facts.sources
        found = [
            f"{row['name']}: the last line is unfinished; its {row['tail_bytes']} bytes are not included"
            for row in rows
            if row["tail_bytes"]
        ]
        bad = sum(row["records"]["bad"] for row in rows)
        missing = sum(row["spilled"]["missing"] for row in rows)
        if bad:
            found.append(f"{bad} damaged records were left out")
        if missing:
            found.append(f"{missing} spilled outputs are not beside the session; their previews are kept")
        found += _history(reading.tallies)
        found += changes.warnings() if changes is not None else []
        found += [line for tally in reading.tallies for line in tally.session.warnings]
        if self.redactor.mode == "off":
            found.append("secrets are kept (--no-redact)")
        return found

    def notes(self, reading: Reading) -> list[str]:
        """Return what is worth knowing, one line each."""
        missing = self.uncaptured + sum(tally.session.missing_subagents for tally in reading.tallies)
        notes = [line for tally in reading.tallies for line in tally.session.notes]
        if missing and not self.options.subagents:
            notes.append(f"{missing} subagent transcripts were not captured; --subagents adds them")
        return notes

    def write(self, reading: Reading) -> dict[str, Any]:
        """Write every file of the fileset into the temporary folder, the manifest last; return it."""
        facts, derived, places = self.facts, reading.derived, reading.timeline.places
        self._scan_names(places)
        if reading.title != facts.session:
            reading.retitle(facts.session)
        newest = fileset.newest_turns(reading.streams[TIMELINE].file, derived)
        files = {
            SUMMARY: fileset.json_file(fileset.summary(facts, derived)),
            PAYLOAD: fileset.json_file(fileset.payload(facts, derived, newest)),
            REDACTIONS: fileset.json_file(fileset.redactions(places, facts.mode)),
        }
        if facts.joined is not None:
            files["LEDGER.jsonl"] = facts.joined.ledger
            files["ROUTE.json"] = facts.joined.route.encode()
            files["BOARD.md"] = facts.joined.board.encode()
        brief = fileset.sealed_brief(facts, derived, places)
        entries = [fileset.stream_entry(name, stream) for name, stream in reading.streams.items()]
        reading.finish()
        entries += [fileset.entry(name, len(data), _sha256(data)) for name, data in (*files.items(), (BRIEF, brief))]
        for name, data in (*files.items(), (BRIEF, brief + facts.tail)):
            self._put(name, data)
        manifest = fileset.manifest(facts, derived, places, entries)
        self._put(MANIFEST, fileset.json_file(manifest))
        return manifest

    def _put(self, name: str, data: bytes) -> None:
        with self.workspace.create(name) as file:
            file.write(data)

    def _scan_names(self, places: Any) -> None:
        """Count what was masked outside of the turns; such a place has the number 0."""
        facts = self.facts
        if facts.mode == "off":
            return
        fields = [(key, getattr(facts, key)) for key in ("session", "project", "harness", "model")]
        fields += [("source", row["name"]) for row in facts.sources]
        fields += [("objective", facts.overrides["objective"])] if "objective" in facts.overrides else []
        if facts.joined is not None:
            fields.append(("ledger", facts.joined.ledger.decode("utf-8", "replace")))
        for field, text in fields:
            places.scan(text, 0, field)


def open_there(folder: str, name: str) -> BinaryIO:
    """Return a file of a fileset opened for reading; raise OSError for a link or anything that is no regular file."""
    path = os.path.join(folder, name)
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(0, f"{name} is no regular file")
    return open(path, "rb")


def _recorded_order(old: dict[str, Any], tallies: list[Tally]) -> list[int] | None:
    """Return the order in which the sources are to be read again, None where they were read in it."""
    known = [str(row.get("name")) for row in old.get("sources", ())]
    found = matched(known, [tally.session.mask(tally.source.name) for tally in tallies])
    order = [found[index] for index in sorted(found)]
    order += [index for index in range(len(tallies)) if index not in order]
    return order if order != sorted(order) else None


def _bad_lines(tally: Tally, mask: Callable[[str], str]) -> list[dict[str, Any]]:
    name = mask(tally.source.name)
    return [{"source": name, **bad} for bad in tally.source.bad_lines]


def _damage(tallies: list[Tally], mask: Callable[[str], str]) -> str:
    """Return the words for damaged records: source, number, and the first five places."""
    told = []
    for tally in tallies:
        source = tally.source
        if source.bad:
            places = [_place(bad) for bad in source.bad_lines[:NAMED_BAD]]
            more = f", +{source.bad - len(places)} more" if source.bad > len(places) else ""
            told.append(f"{mask(source.name)}: {source.bad} damaged records: {', '.join(places)}{more}")
    return "; ".join(told)


def _place(bad: dict[str, Any]) -> str:
    line = bad["line"]
    return f"{'line ' if type(line) is int else ''}{line} ({bad['why']})"


def _history(tallies: list[Tally]) -> list[str]:
    """Return where the history of a fork is, and whether it was given, too."""
    ids = {found for tally in tallies for found in tally.session.ids}
    found = []
    for tally in tallies:
        for number, thread in tally.session.history:
            given = "which was given" if thread in ids else "which was not given"
            found.append(f"the history before record {number} is in thread {thread}, {given}")
    return found


def _sum_of(usages: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for usage in usages:
        for kind, number in usage.items():
            total[kind] = total.get(kind, 0) + number
    return {kind: total[kind] for kind in TOKEN_KINDS if total.get(kind)}


def _sha256(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()
