"""Makes the whole plan of an installation, an upgrade or a removal before anything is written.

Follows hooks.md 8. Reads the project through `files.Tree` and decides; it writes nothing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from handoff_core.jsonl import JsonError, decode
from handoff_core.setup import blocks, harnesses, merge, record, shipped
from handoff_core.setup.files import Problem

if TYPE_CHECKING:
    from handoff_core.setup.files import Tree
    from handoff_core.setup.harnesses import Entry, Merge, Options, Snippet
    from handoff_core.setup.merge import Undo
    from handoff_core.setup.record import Record

CREATE, UPDATE, MERGE, SAME, KEEP, REMOVE, PRINT = "create", "update", "merge", "same", "keep", "remove", "print"

IGNORE = ".gitignore"
ATTRIBUTES = ".gitattributes"
HOOK_MODE = 0o755
FILE_MODE = 0o644

_CHANGED = "was changed since it was installed"
_FOREIGN = "is somebody's own; --force replaces it"
_COMMENTED = "is no strict JSON ({}); put the entries in by hand"


class Action(NamedTuple):
    """One path and what happens to it: `before` and `after` are its bytes, None where there is no file.

    `aside` asks for the old file to be kept beside the new one; `registers` marks what starts a hook.
    """

    action: str
    path: str
    reason: str = ""
    before: bytes | None = None
    after: bytes | None = None
    mode: int = FILE_MODE
    aside: bool = False
    registers: bool = False


class Plan(NamedTuple):
    """What will be done, in order; the record is None where nothing is left to record.

    `folders` are those that init made and that hold nothing of ours any more.
    """

    actions: list[Action]
    record: Record | None
    snippets: list[Snippet]
    folders: list[str]


def wanted_files(root: str, chosen: tuple[str, ...], options: Options) -> dict[str, tuple[bytes, int]]:
    """Return the files that an installation consists of: their paths, bytes and modes, in the order of writing."""
    files: dict[str, tuple[bytes, int]] = {}
    if options.program and not (shipped.is_own_checkout(root)):
        files |= {path: (data, FILE_MODE) for path, data in shipped.program().items()}
    files |= {path: (data, HOOK_MODE) for path, data in shipped.hooks(harnesses.HOOKS).items()}
    if options.skills:
        files |= {path: (data, FILE_MODE) for path, data in shipped.skills().items()}
        if set(chosen) & set(harnesses.SKILL_READERS):
            files |= {path: (data, FILE_MODE) for path, data in shipped.skills(shipped.OTHER_SKILLS).items()}
    return files


def generated_files(chosen: tuple[str, ...], options: Options) -> dict[str, tuple[bytes, int]]:
    """Return the registrations that are files of their own."""
    return {
        path: (text.encode(), FILE_MODE)
        for name in chosen
        for path, text in harnesses.by_name(name).files(options).items()
    }


class Planner:
    """Plans for one project; `previous` is the record of the last run, None where there is none."""

    def __init__(self, tree: Tree, previous: Record | None, version: str, *, force: bool = False) -> None:
        self._tree = tree
        self._previous = previous
        self._version = version
        self._force = force
        self._own = shipped.is_own_checkout(tree.root)
        self._files: dict[str, tuple[str, str]] = {}
        self._merged: dict[str, list[str]] = {}
        self._blocks: list[str] = []
        self._made: set[str] = set(previous.made) if previous else set()
        self._containers: dict[str, Undo] = {}
        self._snippets: list[Snippet] = []

    def install(self, chosen: tuple[str, ...], options: Options) -> Plan:
        """Return the plan that makes these harnesses and options stand and takes out what is no longer wanted."""
        copied = wanted_files(self._tree.root, chosen, options)
        generated = generated_files(chosen, options)
        actions = [self._file(path, *file) for path, file in copied.items()]
        actions += self._block_actions(_block_lines(options))
        actions += self._merge_actions(chosen, options)
        actions += [self._file(path, *file)._replace(registers=True) for path, file in generated.items()]
        removals = self._removals(copied.keys() | generated.keys())
        for name in chosen:
            self._snippets += harnesses.by_name(name).snippets(options)
        written = self._record(chosen, options)
        first = self._record_action(written)
        named = [first, *actions, *removals]
        others = {snippet.path: None for snippet in self._snippets} | {action.path: "" for action in named}
        prints = [Action(PRINT, path) for path, mark in others.items() if mark is None]
        return Plan([*named, *prints], written, self._snippets, self._idle_folders(written))

    def uninstall(self) -> Plan:
        """Return the plan that takes out everything that was recorded and not changed since."""
        previous = self._previous
        if previous is None:
            return Plan([], None, [], [])
        actions = self._merge_actions((), previous.options)
        actions += self._block_actions({})
        actions += self._removals(frozenset())
        rest = self._record(previous.harnesses, previous.options)
        left = rest if rest.files or rest.merged or rest.blocks else None
        folders = self._idle_folders(left)
        if left is not None:
            left = left._replace(made=tuple(path for path in left.made if path not in folders))
        return Plan([*actions, self._record_action(left)], left, self._snippets, folders)

    def _record(self, chosen: tuple[str, ...], options: Options) -> Record:
        made = sorted(self._made)
        draft = record.Record(
            self._version,
            chosen,
            options,
            dict(self._files),
            {path: names for path, names in self._merged.items() if names},
            tuple(self._blocks),
            tuple(made),
            {path: undo for path, undo in self._containers.items() if undo},
        )
        idle = self._idle_folders(draft)
        return draft._replace(made=tuple(path for path in made if path not in idle))

    def _idle_folders(self, left: Record | None) -> list[str]:
        """Return the folders of our making that no recorded path lies in, innermost first."""
        kept = [] if left is None else [*left.files, *left.merged, *left.blocks]
        folders = [path for path in self._made if path.endswith("/")]
        return sorted((path for path in folders if not any(name.startswith(path) for name in kept)), reverse=True)

    def _record_action(self, left: Record | None) -> Action:
        try:
            before = self._tree.read(record.PATH)
        except Problem as problem:
            return Action(KEEP, record.PATH, str(problem))
        after = None if left is None else record.write(left)
        return Action(_word(before, after), record.PATH, "", before, after)

    # Files

    def _file(self, path: str, data: bytes, mode: int) -> Action:
        entry = (_digest(data), f"{mode:04o}")
        old = self._previous.files.get(path) if self._previous else None
        try:
            current = self._tree.read(path)
        except Problem as problem:
            self._remember(path, old)
            return Action(KEEP, path, str(problem))
        if self._is_source(path):
            return self._own_file(path, old, current)
        if current is not None and current != data:
            ours = old is not None and _digest(current) == old[0]
            if not ours and not self._force:
                self._remember(path, old)
                return Action(KEEP, path, _FOREIGN if old is None else _CHANGED + "; --force replaces it")
            self._files[path] = entry
            return Action(UPDATE, path, "", current, data, mode, aside=not ours)
        self._files[path] = entry
        if current is None:
            self._made.update(self._tree.missing_folders(path))
        return Action(SAME if current == data else CREATE, path, "", current, data, mode)

    def _own_file(self, path: str, old: tuple[str, str] | None, current: bytes | None) -> Action:
        """Judge a file that the running program itself lies in: it cannot be renewed from itself."""
        self._remember(path, old)
        if old is not None and (current is None or _digest(current) != old[0]):
            return Action(KEEP, path, f"{_CHANGED}; run init from another copy of handoff to renew it")
        return Action(SAME, path, "", current, current)

    def _is_source(self, path: str) -> bool:
        return self._own and path.startswith((shipped.PACKAGE, shipped.ENTRY, shipped.SCHEMAS, ".claude/"))

    def _remember(self, path: str, old: tuple[str, str] | None) -> None:
        if old is not None:
            self._files[path] = old

    def _removals(self, wanted: frozenset[str] | set[str]) -> list[Action]:
        """Return what is done with recorded files that are not wanted any more."""
        previous = self._previous
        actions = []
        for path in sorted(set(previous.files) - set(wanted), reverse=True) if previous else ():
            old = previous.files[path] if previous else ("", "")
            if wanted and self._is_source(path) and path.startswith(("scripts/", "schemas/")):
                actions.append(self._own_program_file(path, old))
                continue
            try:
                current = self._tree.read(path)
            except Problem as problem:
                self._files[path] = old
                actions.append(Action(KEEP, path, str(problem)))
                continue
            if current is None:
                continue
            if _digest(current) == old[0]:
                actions.append(Action(REMOVE, path, "", current, None))
            else:
                self._files[path] = old
                actions.append(Action(KEEP, path, _CHANGED))
        return actions

    def _own_program_file(self, path: str, old: tuple[str, str]) -> Action:
        try:
            return self._own_file(path, old, self._tree.read(path))
        except Problem as problem:
            self._files[path] = old
            return Action(KEEP, path, str(problem))

    # Blocks

    def _block_actions(self, wanted: dict[str, list[str]]) -> list[Action]:
        recorded = self._previous.blocks if self._previous else ()
        return [
            self._block(path, wanted.get(path, []))
            for path in (IGNORE, ATTRIBUTES)
            if path in wanted or path in recorded
        ]

    def _block(self, path: str, lines: list[str]) -> Action:
        try:
            before = self._tree.read(path)
            after = blocks.put_in(before or b"", lines) if lines else blocks.take_out(before or b"")
        except (Problem, blocks.BlockError) as problem:
            if self._previous and path in self._previous.blocks:
                self._blocks.append(path)
            return Action(KEEP, path, str(problem))
        if lines:
            self._blocks.append(path)
            if before is None:
                self._made.add(path)
            return self._merged_action(path, before, after)
        gone = not after and path in self._made
        self._made.discard(path)
        return self._merged_action(path, before, None if gone or before is None else after)

    def _merged_action(self, path: str, before: bytes | None, after: bytes | None) -> Action:
        mode = FILE_MODE
        if before is None:
            self._made.update(self._tree.missing_folders(path) if after is not None else ())
        else:
            mode = self._tree.mode(path) or FILE_MODE
        word = _word(before, after)
        return Action(MERGE if word == UPDATE else word, path, "", before, after, mode)

    # Merges

    def _merge_actions(self, chosen: tuple[str, ...], options: Options) -> list[Action]:
        recorded = self._previous.merged if self._previous else {}
        actions = []
        for row in harnesses.HARNESSES:
            wanted = row.merge(options) if row.name in chosen else None
            known = row.merge(options._replace(deny_rule=True))
            if known and (wanted or known.path in recorded):
                entries = wanted.entries if wanted else ()
                actions.append(self._merge(known, entries, recorded.get(known.path, [])))
        return actions

    def _merge(self, known: Merge, wanted: tuple[Entry, ...], recorded: list[str]) -> Action:
        path = known.path
        undo = self._previous.containers.get(path, {}) if self._previous else {}
        names = {entry.name for entry in wanted}
        leaving = [entry for entry in known.entries if entry.name not in names]
        try:
            before = self._tree.read(path)
            text = None if before is None else decode(before)
        except JsonError as error:
            return self._unmerged(path, wanted, recorded, undo, error.reason)
        except Problem as problem:
            return self._unmerged(path, wanted, recorded, undo, "")._replace(reason=str(problem))
        if text is None and not wanted:
            return Action(SAME, path)
        try:
            done = merge.merge(text, wanted, leaving, recorded, undo)
        except JsonError as error:
            return self._loose(known, wanted, recorded, undo, (text or "", error))
        self._merged[path], self._containers[path] = done.names, done.undo
        action = self._merged_action(path, before, None if done.text is None else done.text.encode())
        if done.kept:
            self._snippet(path, wanted)
            reason = "; ".join(done.kept)
            return action._replace(action=KEEP, reason=reason, registers=True)
        return action._replace(registers=bool(wanted))

    def _loose(
        self, known: Merge, wanted: tuple[Entry, ...], recorded: list[str], undo: Undo, read: tuple[str, JsonError]
    ) -> Action:
        """Judge a file with comments or errors, which is not touched: what is wanted may stand in it already."""
        text, error = read
        try:
            value = merge.read_loosely(text)
        except JsonError:
            return self._unmerged(known.path, wanted, recorded, undo, error.reason)
        there = {entry.name for entry in known.entries if merge.state(value, entry) != merge.MISSING}
        stands = all(merge.state(value, entry) == merge.SAME for entry in wanted)
        if stands and (wanted or not there & set(recorded)):
            self._merged[known.path] = [entry.name for entry in wanted]
            self._containers[known.path] = undo
            return Action(SAME, known.path)
        return self._unmerged(known.path, wanted, recorded, undo, "comments")

    def _unmerged(self, path: str, wanted: tuple[Entry, ...], recorded: list[str], undo: Undo, why: str) -> Action:
        self._merged[path], self._containers[path] = recorded, undo
        self._snippet(path, wanted)
        reason = _COMMENTED.format(why) if wanted else f"is no strict JSON ({why}); take the entries out by hand"
        return Action(KEEP, path, reason)

    def _snippet(self, path: str, wanted: tuple[Entry, ...]) -> None:
        if wanted:
            text = merge.merge(None, wanted, (), [], {}).text or ""
            self._snippets.append(harnesses.Snippet(path, text))


def _block_lines(options: Options) -> dict[str, list[str]]:
    if not options.track_ledger:
        return {IGNORE: [".scratch/"]}
    return {
        IGNORE: [".scratch/handoff.lock", ".scratch/handoff.torn-*", ".scratch/handoffs/"],
        ATTRIBUTES: [".scratch/handoff.jsonl -text -merge", ".scratch/handoff.seal -text -merge"],
    }


def _word(before: bytes | None, after: bytes | None) -> str:
    if before == after:
        return SAME
    if before is None:
        return CREATE
    return REMOVE if after is None else UPDATE


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
