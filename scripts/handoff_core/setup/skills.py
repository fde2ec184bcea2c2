"""Checks a SKILL.md against the rules of hooks.md 10; reads text, touches no file. Imports nothing of ours."""

from __future__ import annotations

import re

LINES = 150
KEYS = ("name", "description", "license", "compatibility", "metadata")
NAMES = ("handoff-append", "handoff-board", "handoff-capture", "handoff-routing")
"""The skills that are shipped."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ROW = re.compile(r"(?P<inner> *)(?P<key>[a-z_-]+):(?: +(?P<value>.*))?")


def problems(folder: str, text: str) -> list[str]:
    """Return what is wrong with the SKILL.md of the skill in `folder`, each as a clause without a subject."""
    found = [f"has {LINES} lines or more"] if text.count("\n") >= LINES else []
    try:
        fields = frontmatter(text)
    except ValueError as error:
        return [*found, str(error)]
    found += [f"has the key {key}" for key in fields if key not in KEYS]
    found += [f"lacks the key {key}" for key in KEYS if key not in fields]
    return found + [text for check in (_name, _texts, _metadata) for text in check(folder, fields)]


def frontmatter(text: str) -> dict[str, str | dict[str, str]]:
    """Return the frontmatter's keys: each a text, or a map of texts; raise ValueError where it cannot be read."""
    lines = text.split("\n")
    if lines[0] != "---" or "---" not in lines[1:]:
        raise ValueError("has no frontmatter")
    fields: dict[str, str | dict[str, str]] = {}
    table: dict[str, str] = {}
    for line in lines[1 : lines.index("---", 1)]:
        row = _ROW.fullmatch(line)
        if row is None:
            raise ValueError(f"has a line in its frontmatter that cannot be read: {line}")
        target = table if row["inner"] else fields
        if row["key"] in target:
            raise ValueError(f"has the key {row['key']} twice")
        if row["inner"]:
            table[row["key"]] = _plain(row["value"] or "")
        elif row["value"]:
            fields[row["key"]] = _plain(row["value"])
        else:
            table = {}
            fields[row["key"]] = table
    return fields


def _plain(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _name(folder: str, fields: dict[str, str | dict[str, str]]) -> list[str]:
    name = fields.get("name", folder)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > 64:
        return ["has a name that is not 1 to 64 of a-z, 0-9 and -"]
    return [] if name == folder else [f"is named {name}, not like its folder"]


def _texts(_folder: str, fields: dict[str, str | dict[str, str]]) -> list[str]:
    found = []
    for key, limit in (("description", 1024), ("license", 64), ("compatibility", 500)):
        value = fields.get(key, " ")
        if not isinstance(value, str) or not 1 <= len(value) <= limit:
            found.append(f"has a {key} that is no text of 1 to {limit} characters")
    return found


def _metadata(_folder: str, fields: dict[str, str | dict[str, str]]) -> list[str]:
    value = fields.get("metadata", {})
    return [] if isinstance(value, dict) else ["has metadata that is no map of texts"]
