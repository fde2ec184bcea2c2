"""`.handoff-install.json`: what an installation consists of, so that the next run can renew it or take it out.

Follows hooks.md 8.4. Beside the keys of that section `undo` holds what a removal must give back: the files and folders
that were made, and the look that containers of merged files had.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from handoff_core.errors import HandoffError
from handoff_core.jsonl import JsonError, decode, parse
from handoff_core.setup.harnesses import NAMES, Options

if TYPE_CHECKING:
    from handoff_core.setup.merge import Undo

PATH = ".handoff-install.json"
SCHEMA_VERSION = "1"

PLACES = (
    "scripts/handoff.py",
    "scripts/handoff_core/",
    "schemas/scratch/",
    ".claude/hooks/handoff-",
    ".claude/skills/handoff-",
    ".agents/skills/handoff-",
    ".github/hooks/handoff.json",
    ".opencode/plugins/handoff.js",
)
"""Where recorded files may lie: a record that names any other is not believed."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MODE = re.compile(r"0[0-7]{3}")


class Record(NamedTuple):
    """What stands: `files` maps a path to its digest and mode, `merged` a path to the names of our entries.

    `made` are the files and folders (with a final `/`) that init created and would not find again as its own.
    """

    version: str
    harnesses: tuple[str, ...]
    options: Options
    files: dict[str, tuple[str, str]]
    merged: dict[str, list[str]]
    blocks: tuple[str, ...]
    made: tuple[str, ...]
    containers: dict[str, Undo]


def write(record: Record) -> bytes:
    """Return the record's bytes; the same installation gives the same."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "version": record.version,
        "harnesses": list(record.harnesses),
        "options": record.options._asdict(),
        "files": {path: {"sha256": digest, "mode": mode} for path, (digest, mode) in record.files.items()},
        "merged": record.merged,
        "blocks": sorted(record.blocks),
        "undo": {"made": sorted(record.made), "containers": record.containers},
    }
    ordered = {name: _sorted(part) for name, part in value.items()}
    return (json.dumps(ordered, indent=2) + "\n").encode()


def _sorted(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: value[name] if name in ("sha256", "mode") else _sorted(value[name]) for name in _order(value)}


def _order(value: dict[str, Any]) -> list[str]:
    return list(value) if "sha256" in value else sorted(value)


def read(data: bytes, version: str) -> Record:
    """Return the record in `data`; raise HandoffError if it is broken or was written by a newer program."""
    try:
        value = parse(decode(data))
    except JsonError as error:
        raise _broken(error.reason) from None
    if not isinstance(value, dict) or not isinstance(value.get("version"), str):
        raise _broken("it holds no installation")
    if value.get("schema_version") != SCHEMA_VERSION or _newer(value["version"], version):
        problem = f"{PATH} was written by handoff {value['version']}; this is {version}"
        raise HandoffError(problem, "use the newer program, or uninstall with it first")
    try:
        return _record(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _broken(f"{type(error).__name__}: {error}") from None


def _record(value: dict[str, Any]) -> Record:
    options = Options(**value["options"])
    undo = value.get("undo", {})
    record = Record(
        value["version"],
        tuple(_texts(value["harnesses"], NAMES)),
        options,
        {_own_path(path): _file(file) for path, file in value["files"].items()},
        {_path(path): _texts(names) for path, names in value["merged"].items()},
        tuple(_path(path) for path in _texts(value["blocks"])),
        tuple(_path(path.rstrip("/")) + "/" * path.endswith("/") for path in _texts(undo.get("made", []))),
        {_path(path): _undo(table) for path, table in undo.get("containers", {}).items()},
    )
    _check_options(options)
    return record


def _check_options(options: Options) -> None:
    if not isinstance(options.python, str) or not all(isinstance(value, bool) for value in options[1:]):
        raise ValueError("options are of the wrong kind")


def _texts(value: Any, allowed: tuple[str, ...] = ()) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of names is due")
    if allowed and not set(value) <= set(allowed):
        raise ValueError(f"unknown harness in {value}")
    return list(value)


def _undo(table: Any) -> Undo:
    if not isinstance(table, dict) or not all(text is None or isinstance(text, str) for text in table.values()):
        raise ValueError("undo.containers is of the wrong kind")
    for text in table.values():
        if text is not None:
            parse(text)
    return dict(table)


def _path(path: str) -> str:
    """Return a path of the project; raise ValueError for one that leads out of it or below `.scratch` or `.git`."""
    parts = path.split("/")
    odd = any(part in ("", ".", "..") or ":" in part or "\\" in part for part in parts)
    if odd or parts[0].lower() in (".scratch", ".git"):
        raise ValueError(f"{path} is no path of an installation")
    return path


def _own_path(path: str) -> str:
    if not path.startswith(PLACES):
        raise ValueError(f"{path} is no file of an installation")
    return _path(path)


def _file(value: Any) -> tuple[str, str]:
    return _fits(value["sha256"], _DIGEST), _fits(value["mode"], _MODE)


def _fits(text: str, form: re.Pattern[str]) -> str:
    if not form.fullmatch(text):
        raise ValueError(f"{text} has the wrong form")
    return text


def _newer(theirs: str, ours: str) -> bool:
    return _numbers(theirs) > _numbers(ours)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version)[:3])


def _broken(reason: str) -> HandoffError:
    return HandoffError(
        f"{PATH} cannot be read: {reason}", "restore it from version control, or remove it and run init"
    )
