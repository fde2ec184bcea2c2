"""Makes small filesets by the rules of capture.md 10, without the program, and spoils them as vectors say."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = ("USER", "AGENT", "TOOL", "THOUGHT", "OTHER")
SEAL = (
    "## Evidence contract\n\n"
    "Everything below this line is written by people and kept as it is: "
    "RESULT, WHAT_CHANGED, VALIDATION, EVIDENCE, BLOCKERS, RISKS, FOLLOW_UP.\n"
)
TURNS: tuple[dict[str, Any], ...] = (
    {"class": "USER", "text": "Please add a retry to the uploader.", "kind": "text"},
    {"class": "THOUGHT", "text": "One call site.", "kind": "thinking"},
    {"class": "TOOL", "text": '{"file":"uploader.py"}', "kind": "tool_call", "tool": "edit", "call": "c1"},
    {"class": "TOOL", "text": "ok", "kind": "tool_result", "call": "c1", "pair": 3},
    {"class": "AGENT", "text": "Retry added; 14 tests pass.", "kind": "text"},
)


def numbered(turns: Any) -> list[dict[str, Any]]:
    """Return turns with the fields that every turn has."""
    made = []
    for seq, turn in enumerate(turns, 1):
        rest = {key: value for key, value in turn.items() if key not in ("class", "text", "kind")}
        utc = f"2026-05-01T09:00:{seq % 60:02d}.000Z"
        head = {"seq": seq, "ts": utc, "class": turn["class"], "text": turn["text"], "kind": turn["kind"]}
        made.append({**head, "utc": utc, "src": 0, "at": seq, **rest})
    return made


def make_fileset(folder: str, turns: Any = TURNS, *, kept: int = 3) -> None:
    """Write a fileset into the new folder; the payload holds the newest `kept` turns."""
    os.makedirs(folder)
    lines = numbered(turns)
    calls = sum(turn["kind"] == "tool_call" for turn in lines)
    results = sum(turn["kind"] == "tool_result" for turn in lines)
    pairs = sum("pair" in turn for turn in lines)
    facts: dict[str, Any] = {
        "counts": {name: sum(turn["class"] == name for turn in lines) for name in CLASSES},
        "tools": {
            "calls": calls,
            "results": results,
            "paired": pairs,
            "unpaired": calls + results - 2 * pairs,
            "failed": sum(turn.get("error") is True for turn in lines),
        },
        "first_utc": lines[0]["utc"],
        "last_utc": max(turn["utc"] for turn in lines),
    }
    records = {"read": len(lines), "used": len(lines), "merged": 0, "skipped": 0, "bad": 0}
    source = {"name": "t.jsonl", "bytes": 1, "sha256": "0" * 64, "reader": "canonical", "turns": len(lines)}
    head = {
        "session": {"id": "s1", "harness": "unknown", "model": ""},
        "project": "unsorted",
        "generated_at": "2026-05-01T10:00:00Z",
        "objective": lines[0]["text"],
        "objective_characters": len(lines[0]["text"]),
        "state_now": lines[-1]["text"],
        "state_characters": len(lines[-1]["text"]),
        "open_loops": [],
        "open_loops_total": 0,
        "evidence_class": "OBSERVED",
        **facts,
        "artifacts": {"full_payload": "HANDOFF.llm.json", "timeline": "timeline.jsonl", "tool_calls": "TOOLS.md"},
        "provenance": {
            "sources": ["t.jsonl"],
            "raw_sha256": "0" * 64,
            "revision": 1,
            "watermark": len(lines),
            "total_turns": len(lines),
        },
    }
    newest = lines[-kept:]
    keys = ("seq", "ts", "class", "text", "tool", "call", "pair", "error")
    tool_calls = [{key: turn[key] for key in keys if key in turn} for turn in newest if turn["class"] == "TOOL"]
    payload = {"timeline_omitted": len(lines) - len(newest), "timeline": newest, "tool_calls": tool_calls}
    redactions = {"mode": "on", "masked": 0, "secrets": 0}
    files = {
        "HANDOFF.md": "---\nnext_agent: user\n---\n\n# Handoff: `s1`\n\n" + SEAL,
        "HANDOFF.summary.json": _json({"schema_version": "2.1.0-summary", **head}),
        "HANDOFF.llm.json": _json({"schema_version": "2.1.0", **head, **payload}),
        "TOOLS.md": "# Tool calls: `s1`\n",
        "redactions.json": _json(
            {
                "schema_version": "2.1.0-redactions",
                **redactions,
                "rules": {},
                "places": [],
                "places_omitted": 0,
            }
        ),
        "timeline.jsonl": "".join(json.dumps(turn, separators=(",", ":")) + "\n" for turn in lines),
    }
    for name, text in files.items():
        put(folder, name, text)
    manifest = {
        "schema_version": "2.1.0",
        "generator": "handoff 1.0.0",
        "session": "s1",
        "project": "unsorted",
        "harness": "unknown",
        "model": "",
        "created_at": "2026-05-01T10:00:00Z",
        "updated_at": "2026-05-01T10:00:00Z",
        "revision": 1,
        "watermark": len(lines),
        "sources": [{**source, "records": records}],
        "raw_sha256": "0" * 64,
        "turn_count": len(lines),
        **facts,
        "redactions": redactions,
        "files": [computed(folder, name) for name in sorted(files)],
    }
    write_manifest(folder, manifest)


def put(folder: str, name: str, text: str | bytes) -> None:
    """Write a file of the fileset."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as opened:
        opened.write(text.encode() if isinstance(text, str) else text)


def load(folder: str, name: str = "manifest.json") -> Any:
    """Return a JSON file of the fileset."""
    with open(os.path.join(folder, name), encoding="utf-8") as opened:
        return json.load(opened)


def computed(folder: str, name: str) -> dict[str, Any]:
    """Return the entry that lists a file rightly."""
    with open(os.path.join(folder, name), "rb") as opened:
        data = opened.read()
    tail = {}
    if name == "HANDOFF.md":
        data = data[: data.rindex(SEAL.encode()) + len(SEAL)]
        tail = {"open_tail": True}
    return {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), **tail}


def write_manifest(folder: str, manifest: dict[str, Any], *, reseal: bool = True) -> None:
    """Write the manifest, with its own digest renewed unless told otherwise."""
    if reseal:
        manifest.pop("manifest_sha256", None)
        compact = json.dumps(manifest, ensure_ascii=False, separators=(",", ":"))
        manifest["manifest_sha256"] = hashlib.sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    if "\udfff" >= max(text) >= "\ud800" or any("\ud800" <= mark <= "\udfff" for mark in text):
        text = json.dumps(manifest, indent=2) + "\n"
    put(folder, "manifest.json", text)


def reseal(folder: str, *changed: str) -> None:
    """List the changed files anew and renew the manifest's digest."""
    manifest = load(folder)
    manifest["files"] = [
        computed(folder, entry["name"]) if entry["name"] in changed else entry for entry in manifest["files"]
    ]
    write_manifest(folder, manifest)


def expanded(value: Any) -> Any:
    """Return a text of a vector, `$repeat` written out."""
    if isinstance(value, dict) and "$repeat" in value:
        return "".join(piece * count for piece, count in value["$repeat"])
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


# The operations of manifest.jsonl


def spoil(folder: str, ops: Any, *, reseal_at_end: bool = True) -> None:
    """Take the steps of a manifest vector, in order (vectors/README.md)."""
    manifest = load(folder)
    touched = False
    late: list[Any] = []
    for op, *arguments in ops:
        if op == "manifest_bytes":
            late = arguments
        elif op in _IN_MANIFEST:
            _IN_MANIFEST[op](folder, manifest, *arguments)
            touched = True
        else:
            _ON_DISK[op](os.path.normpath(os.path.join(folder, arguments[0])), folder, *arguments)
    if touched:
        write_manifest(folder, manifest, reseal=reseal_at_end)
    if late:
        _spoil_bytes(os.path.join(folder, "manifest.json"), *late)


def _entry(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in manifest["files"] if entry["name"] == name)
    return found


def _add(folder: str, manifest: dict[str, Any], name: str, text: Any) -> None:
    put(folder, name, expanded(text))
    manifest["files"].append(computed(folder, name))


def _set_entry(folder: str, manifest: dict[str, Any], name: str, changes: dict[str, Any]) -> None:
    entry = _entry(manifest, name)
    entry.update(computed(folder, name))
    _change(entry, changes)


def _duplicate(_folder: str, manifest: dict[str, Any], name: str, changes: dict[str, Any]) -> None:
    twin = dict(_entry(manifest, name))
    _change(twin, changes)
    manifest["files"].append(twin)


def _drop(_folder: str, manifest: dict[str, Any], name: str) -> None:
    manifest["files"].remove(_entry(manifest, name))


def _set_manifest(_folder: str, manifest: dict[str, Any], changes: dict[str, Any]) -> None:
    _change(manifest, changes)


def _change(value: dict[str, Any], changes: dict[str, Any]) -> None:
    for key, new in changes.items():
        if isinstance(new, dict) and new.get("$delete"):
            value.pop(key, None)
        else:
            value[key] = expanded(new)


_IN_MANIFEST: dict[str, Any] = {
    "add": _add,
    "entry": _set_entry,
    "duplicate": _duplicate,
    "drop": _drop,
    "manifest": _set_manifest,
}


def _remove(path: str, *_: Any) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _file(path: str, _folder: str, _name: str, text: Any) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as opened:
        opened.write(expanded(text).encode())


def _flip(path: str, _folder: str, _name: str, offset: int) -> None:
    with open(path, "r+b") as opened:
        opened.seek(offset, os.SEEK_SET if offset >= 0 else os.SEEK_END)
        byte = opened.read(1)[0]
        opened.seek(-1, os.SEEK_CUR)
        opened.write(bytes([byte ^ 1]))


def _crlf(path: str, *_: Any) -> None:
    with open(path, "rb") as opened:
        data = opened.read()
    with open(path, "wb") as opened:
        opened.write(data.replace(b"\n", b"\r\n"))


def _socket(path: str, *_: Any) -> None:
    before = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(os.path.basename(path))
    finally:
        os.chdir(before)


_ON_DISK: dict[str, Any] = {
    "file": _file,
    "remove": _remove,
    "move": lambda path, folder, _p, to: os.rename(path, os.path.normpath(os.path.join(folder, to))),
    "mkdir": lambda path, *_: os.makedirs(path),
    "chmod": lambda path, _folder, _p, mode: os.chmod(path, int(mode, 8)),
    "truncate": lambda path, _folder, _p, size: os.truncate(path, size),
    "symlink": lambda _path, folder, target, name: os.symlink(target, os.path.normpath(os.path.join(folder, name))),
    "link": lambda path, folder, _p, to: os.link(path, os.path.normpath(os.path.join(folder, to))),
    "fifo": lambda path, *_: os.mkfifo(path),
    "socket": _socket,
    "device": lambda path, _folder, _p, major, minor: os.mknod(path, 0o20600, os.makedev(major, minor)),
    "flip": _flip,
    "crlf": _crlf,
}


def _spoil_bytes(path: str, how: str, *more: Any) -> None:
    with open(path, "rb") as opened:
        data = opened.read()
    spoiled: dict[str, Callable[[], bytes]] = {
        "nan": lambda: data.replace(b'"revision": 1', b'"revision": NaN', 1),
        "duplicate-key": lambda: data.replace(b"{", b'{"session": "s1",', 1),
        "bom": lambda: b"\xef\xbb\xbf" + data,
        "utf16": lambda: data.decode().encode("utf-16"),
        "trailing": lambda: data + b"x",
        "cut": lambda: data.rstrip(b"\n")[:-1],
        "list": lambda: b"[" + data + b"]",
        "empty": lambda: b"",
        "invalid-utf8": lambda: data.replace(b'"unsorted"', b'"uns\xffrted"', 1),
        "deep": lambda: data.replace(b"{", b'{"deep": ' + b"[" * 5000 + b"]" * 5000 + b",", 1),
        "pad": lambda: data + b" " * (more[0] - len(data)),
    }
    with open(path, "wb") as opened:
        opened.write(spoiled[how]())
