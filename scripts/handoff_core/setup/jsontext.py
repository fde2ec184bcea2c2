"""Edits the text of a JSON document in place: keys, order, indentation and spelling around an edit stay as they are.

Follows hooks.md 8.2. A *path* is a tuple of object keys and list indices. Imports `jsonl` alone.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from handoff_core import jsonl

if TYPE_CHECKING:
    Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class Node(NamedTuple):
    """One value of a document and where it stands: `text[start:end]`.

    `children` are its items or members in order, `keys` the members' names with the places where they begin; both are
    empty for a plain value.
    """

    value: Any
    start: int
    end: int
    children: list[Node]
    keys: list[tuple[str, int]]

    def child_start(self, index: int) -> int:
        """Return where the child with this index begins, its key included."""
        return self.keys[index][1] if self.keys else self.children[index].start


def read(text: str) -> Node:
    """Return the root of a strictly read JSON document; raises JsonError."""
    jsonl.parse(text)
    return _value(text, _skip(text, 0))


def find(root: Node, path: Path) -> Node | None:
    """Return the value at `path`, None where there is none."""
    node = root
    for step in path:
        index = _index(node, step)
        if index is None:
            return None
        node = node.children[index]
    return node


def add(text: str, path: Path, value: object, key: str | None = None) -> str:
    """Return the text with `value` as the last item of the list at `path`, or the last member named `key`."""
    node = _required(text, path)
    style = _Style(text)
    if not node.children:
        inside = text[node.start + 1 : node.end - 1]
        return text[: node.start + 1] + style.first(text, node, value, key, inside) + text[node.end - 1 :]
    last = node.children[-1].end
    return text[:last] + style.next(text, node, value, key) + text[last:]


def replace(text: str, path: Path, value: object) -> str:
    """Return the text with the value at `path` replaced."""
    node = _required(text, path)
    style = _Style(text)
    written = style.render(value, style.line_indent(text, node.start), spread=style.spread and _is_spread(text, node))
    return text[: node.start] + written + text[node.end :]


def put_back(text: str, path: Path, original: str) -> str:
    """Return the text with the value at `path` replaced by this JSON text, as it stands."""
    node = _required(text, path)
    return text[: node.start] + original + text[node.end :]


def remove(text: str, path: Path) -> str:
    """Return the text without the item or member at `path`; the inverse of `add` while nothing else changed."""
    parent = _required(text, path[:-1])
    index = _index(parent, path[-1])
    if index is None:
        raise KeyError(path)
    if index:
        return text[: parent.children[index - 1].end] + text[parent.children[index].end :]
    if len(parent.children) > 1:
        return text[: parent.child_start(0)] + text[parent.child_start(1) :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def source(text: str, node: Node) -> str:
    """Return the text of a value."""
    return text[node.start : node.end]


def without_comments(text: str) -> str:
    """Return the text of a JSON document with comments and trailing commas blanked out, everything else in place."""
    pieces = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    blanked = pieces.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)
    commas = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=[ \t\r\n]*[\]}])')
    return commas.sub(lambda found: found[0] if found[0][0] == '"' else " ", blanked)


# Reading


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, start: int) -> Node:
    if text[start] in "{[":
        return _container(text, start)
    value, end = _DECODER.raw_decode(text, start)
    return Node(value, start, end, [], [])


def _container(text: str, start: int) -> Node:
    named = text[start] == "{"
    children: list[Node] = []
    keys: list[tuple[str, int]] = []
    at = _skip(text, start + 1)
    while text[at] not in "]}":
        if named:
            key, end = _DECODER.raw_decode(text, at)
            keys.append((key, at))
            at = _skip(text, _skip(text, end) + 1)
        child = _value(text, at)
        children.append(child)
        at = _skip(text, child.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    values = [child.value for child in children]
    value = dict(zip([key for key, _ in keys], values, strict=True)) if named else values
    return Node(value, start, at + 1, children, keys)


def _index(node: Node, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if not node.keys and 0 <= step < len(node.children) else None
    return next((index for index, (key, _) in enumerate(node.keys) if key == step), None)


def _required(text: str, path: Path) -> Node:
    node = find(read(text), path)
    if node is None:
        raise KeyError(path)
    return node


def _is_spread(text: str, node: Node) -> bool:
    return "\n" in source(text, node)


# Writing


class _Style:
    """How a document is laid out: its line end, its indentation, and whether it has one value a line."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        body = text.strip(" \t\r\n")
        self.spread = "\n" in body or len(_SPACE.sub("", body)) <= len("{}")
        found = re.search(r"\n([ \t]+)\S", text)
        self.unit = found[1] if found else "  "
        self.tight = not self.spread and '": ' not in body

    def line_indent(self, text: str, at: int) -> str:
        """Return the blanks at the beginning of the line on which `at` stands."""
        line = text[text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def first(self, text: str, node: Node, value: object, key: str | None, inside: str) -> str:
        """Return what stands between the brackets of an empty container once it holds `value`."""
        if not self.spread:
            return self._member(key) + self.render(value, "", spread=False)
        base = self.line_indent(text, node.start)
        item = self.newline + base + self.unit + self._member(key) + self.render(value, base + self.unit, spread=True)
        return item + (inside if "\n" in inside else self.newline + base)

    def next(self, text: str, node: Node, value: object, key: str | None) -> str:
        """Return what follows the last child of a container to add `value`: on its own line where those are."""
        start = node.child_start(len(node.children) - 1)
        before = text[text.rfind("\n", 0, start) + 1 : start]
        if "\n" not in text[node.start : start] or before.strip(" \t"):
            comma = "," if self.tight else ", "
            return comma + self._member(key) + self.render(value, "", spread=False)
        return "," + self.newline + before + self._member(key) + self.render(value, before, spread=True)

    def _member(self, key: str | None) -> str:
        return "" if key is None else json.dumps(key) + (":" if self.tight else ": ")

    def render(self, value: object, indent: str, *, spread: bool) -> str:
        """Return the JSON text of a value: one line, or spread with short lists of words on one line."""
        separators = (",", ":") if self.tight else (", ", ": ")
        flat = json.dumps(value, separators=separators)
        plain = isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value)
        if not spread or not isinstance(value, (dict, list)) or not value or plain:
            return flat
        deeper = indent + self.unit
        if isinstance(value, dict):
            rows = [f"{self._member(key)}{self.render(item, deeper, spread=True)}" for key, item in value.items()]
            opening, closing = "{", "}"
        else:
            rows = [self.render(item, deeper, spread=True) for item in value]
            opening, closing = "[", "]"
        glue = "," + self.newline + deeper
        return opening + self.newline + deeper + glue.join(rows) + self.newline + indent + closing
