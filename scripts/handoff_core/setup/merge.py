"""Puts our entries into a harness's JSON and takes them out again, byte for byte where nobody changed anything.

Follows hooks.md 8.2, Merges. What an empty or missing container looked like before is kept in `undo`, a table from
its dotted path to its text, None where it was missing; the path of the whole document is the empty text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from handoff_core.jsonl import JsonError
from handoff_core.setup import jsontext
from handoff_core.setup.harnesses import FLAT, GROUP, HOOK_FOLDER, ITEM, MEMBER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from handoff_core.setup.harnesses import Entry
    from handoff_core.setup.jsontext import Path

    Undo = dict[str, str | None]

SAME = "same"
OLD = "old"
CHANGED = "changed"
MISSING = "missing"

_ROOTS = (
    r"\$CLAUDE_PROJECT_DIR|\$\{CLAUDE_PROJECT_DIR\}|\$\(git rev-parse --show-toplevel\)|\$GEMINI_PROJECT_DIR"
    r"|\$\{CURSOR_PROJECT_DIR:-\.\}|\."
)
_KNOWN = re.compile(
    rf"(?P<python>\S+(?: -3\S*)?)(?P<flags>(?: -[IS]| -IS)*) (?:(?:{_ROOTS})/)?{re.escape(HOOK_FOLDER)}/"
    r"(?P<file>handoff-[a-z-]+\.py)(?: --harness (?P<harness>[a-z]+))?"
)


class Merged(NamedTuple):
    """A merged document: its text (None: no file is left), the names of our entries, `undo`, and why any were kept."""

    text: str | None
    names: list[str]
    undo: Undo
    kept: list[str]


class _ConflictError(Exception):
    """Report that a container that an entry needs is of another kind."""


def merge(
    text: str | None, wanted: Sequence[Entry], leaving: Iterable[Entry], recorded: list[str], undo: Undo
) -> Merged:
    """Return the document with the wanted entries in it and the leaving ones taken out.

    `text` is None where there is no file. `recorded` names the entries that an earlier run put there; of those that
    leave only these are taken out. Raises JsonError for a document that is not strict JSON.
    """
    work = _Work("{}\n" if text is None else text, {"": None} if text is None else dict(undo))
    try:
        inner_first = sorted(leaving, key=lambda entry: not entry.path)
        gone = [entry for entry in inner_first if entry.name in recorded and work.take_out(entry)]
        ours = [entry.name for entry in wanted if work.put_in(entry) or entry.name in recorded]
    except _ConflictError as conflict:
        return Merged(text, recorded, undo, [str(conflict)])
    stay = [name for name in recorded if name not in ours and name not in {entry.name for entry in gone}]
    names = ours + [name for name in stay if name in work.changed]
    final = work.final(names)
    return Merged(final, names if final is not None else [], work.undo if names else {}, work.kept)


def read_loosely(text: str) -> Any:
    """Return the value of a JSON document that may hold comments; raises JsonError."""
    try:
        return jsontext.read(text).value
    except JsonError:
        return jsontext.read(jsontext.without_comments(text)).value


def state(value: Any, entry: Entry) -> str:
    """Say how an entry stands in a document's value: SAME, OLD (an older form of ours), CHANGED or MISSING."""
    container = value_at(value, entry.path)
    if entry.kind == MEMBER:
        if not isinstance(container, dict) or entry.key not in container:
            return MISSING
        return SAME if container[entry.key] == entry.value else CHANGED
    if entry.kind == ITEM:
        return SAME if isinstance(container, list) and entry.value in container else MISSING
    found = [_compare(entry, group, hook) for _, group, hook in _hooks(container, entry)]
    return next((word for word in (SAME, OLD, CHANGED) if word in found), MISSING)


def value_at(value: Any, path: Path) -> Any:
    """Return what stands at a path of object keys, None where there is nothing."""
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


# Hooks


def _hooks(container: Any, entry: Entry) -> Iterator[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """Yield each hook of a list that names the entry's file: its path in the list, its group, itself."""
    for index, group in enumerate(container if isinstance(container, list) else ()):
        if not isinstance(group, dict):
            continue
        if entry.kind == FLAT:
            if names_file(group, entry.file):
                yield (index,), group, group
            continue
        inner = group.get("hooks")
        for place, hook in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(hook, dict) and names_file(hook, entry.file):
                yield (index, "hooks", place), group, hook


def names_file(hook: dict[str, Any], file: str) -> bool:
    """Say whether a registered hook starts one of our files: its command or an argument names it."""
    return file in command_line(hook)


def command_line(hook: dict[str, Any]) -> str:
    """Return a registered hook's command and arguments as one line without quotes, empty where there are none."""
    command, arguments = hook.get("command"), hook.get("args")
    parts = [command, *(arguments if isinstance(arguments, list) else ())]
    return " ".join(part for part in parts if isinstance(part, str)).replace('"', "")


def known_form(hook: dict[str, Any]) -> re.Match[str] | None:
    """Return the parts `python`, `flags`, `file`, `harness` of a command line that some version of init wrote."""
    return _KNOWN.fullmatch(command_line(hook))


def _compare(entry: Entry, group: dict[str, Any], hook: dict[str, Any]) -> str:
    want = entry.value["hooks"][0] if entry.kind == GROUP else entry.value
    if entry.kind == GROUP and group.get("matcher") != entry.value["matcher"]:
        return CHANGED
    if hook == want:
        return SAME
    written = {"command", "args"}
    plain = all(name in written or hook[name] == want.get(name) for name in hook)
    return OLD if plain and known_form(hook) else CHANGED


class _Work:
    """A document in work: its text, what its containers were, and what had to be kept."""

    def __init__(self, text: str, undo: Undo) -> None:
        jsontext.read(text)
        self.text = text
        self.undo = undo
        self.kept: list[str] = []
        self.changed: list[str] = []

    def put_in(self, entry: Entry) -> bool:
        """Put an entry in if it is missing, renew an older form; say whether it is ours to take out again."""
        root = jsontext.read(self.text)
        if not isinstance(root.value, dict):
            raise _ConflictError("the document is no object")
        found = state(root.value, entry)
        hook = entry.kind in (GROUP, FLAT)
        if found == SAME:
            return hook
        if found == CHANGED:
            self._keep(entry)
            return hook
        if found == OLD:
            self._renew(entry)
            return True
        self._open(entry)
        self._note_empty(entry.path)
        key = entry.key if entry.kind == MEMBER else None
        self.text = jsontext.add(self.text, entry.path, entry.value, key)
        return True

    def take_out(self, entry: Entry) -> bool:
        """Take an entry out; say whether it is gone. One that somebody changed stays and is noted."""
        value = jsontext.read(self.text).value
        found = state(value, entry)
        needed = not entry.path and self.undo.get("", "") is None and len(value) > 1
        if found == MISSING or needed:
            return True
        if found == CHANGED:
            self._keep(entry)
            return False
        if entry.kind == MEMBER:
            self._remove((*entry.path, entry.key))
        elif entry.kind == ITEM:
            self._remove((*entry.path, value_at(value, entry.path).index(entry.value)))
        else:
            self._remove_hook(entry, value)
        return True

    def final(self, names: list[str]) -> str | None:
        """Return the text, None if it is a document of our own making in which nothing is left."""
        left = jsontext.read(self.text).value
        ours_alone = self.undo.get("", "") is None and not names
        return None if ours_alone and not left else self.text

    def _keep(self, entry: Entry) -> None:
        self.changed.append(entry.name)
        if entry.name != "version":
            self.kept.append(f"{entry.name} was changed by somebody")

    def _renew(self, entry: Entry) -> None:
        value = jsontext.read(self.text).value
        for where, group, hook in _hooks(value_at(value, entry.path), entry):
            if _compare(entry, group, hook) == OLD:
                want = entry.value["hooks"][0] if entry.kind == GROUP else entry.value
                self.text = jsontext.replace(self.text, (*entry.path, *where), want)
                return

    def _open(self, entry: Entry) -> None:
        """Make the containers on the way to an entry; a plain word where patterns are due becomes the rule for `*`."""
        for depth in range(1, len(entry.path) + 1):
            path = entry.path[:depth]
            kind = dict if depth < len(entry.path) or entry.kind == MEMBER else list
            node = jsontext.find(jsontext.read(self.text), path)
            if node is None:
                self._note_empty(path[:-1])
                self.text = jsontext.add(self.text, path[:-1], kind(), path[-1])
                self.undo[".".join(path)] = None
            elif isinstance(node.value, str) and kind is dict and depth == len(entry.path):
                self.undo[".".join(path)] = jsontext.source(self.text, node)
                self.text = jsontext.replace(self.text, path, {"*": node.value})
            elif not isinstance(node.value, kind):
                noun = "list" if kind is list else "object"
                raise _ConflictError(f"{'.'.join(path)} is no {noun}")

    def _note_empty(self, path: tuple[str, ...]) -> None:
        node = jsontext.find(jsontext.read(self.text), path)
        if node is not None and not node.children and self.undo.get(".".join(path), "") is not None:
            self.undo[".".join(path)] = jsontext.source(self.text, node)

    def _remove_hook(self, entry: Entry, value: Any) -> None:
        for where, group, hook in _hooks(value_at(value, entry.path), entry):
            if _compare(entry, group, hook) in (SAME, OLD):
                alone = entry.kind == GROUP and len(group["hooks"]) == 1
                self._remove((*entry.path, *(where[:1] if alone else where)))
                return

    def _remove(self, path: Path) -> None:
        """Remove what is at `path`; give a container that this empties its old look, or remove it if it was ours."""
        self.text = jsontext.remove(self.text, path)
        above = path[:-1]
        name = ".".join(str(step) for step in above)
        if name not in self.undo:
            return
        before = self.undo[name]
        node = jsontext.find(jsontext.read(self.text), above)
        if node is None:
            return
        if before is not None and _is_as_before(node.value, jsontext.read(before).value):
            self.text = jsontext.put_back(self.text, above, before)
            del self.undo[name]
        elif before is None and not node.children and above:
            del self.undo[name]
            self._remove(above)


def _is_as_before(now: Any, before: Any) -> bool:
    """Say whether a container holds what it held before: nothing, or the rule that a plain word became."""
    return bool(now == ({"*": before} if isinstance(before, str) else before))
