"""Runs one case of view.jsonl in this process and says what does not hold (view.md 17.1)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from typing import Any
from unittest import mock

from tests.support import SHARED, Result, run

SGR = re.compile(r"\x1b\[[0-9;]*m")
FORMS = {"--markdown", "--color", "--no-color", "--ascii", "--verbose", "-v", "--brief", "--json"}
CLEARED = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")


def needs_shared(case: dict[str, Any]) -> bool:
    """Say whether a case rests on a ledger that the repository does not hold."""
    return "ledger" in case and SHARED is None


def log_bytes(case: dict[str, Any]) -> bytes | None:
    """Return the log of a case, None if it has none."""
    if "log_raw" in case:
        return str(case["log_raw"]).encode("utf-8", "surrogatepass")
    if "log_b64" in case:
        return base64.b64decode(case["log_b64"])
    if "ledger" in case:
        with open(os.path.join(SHARED or "", "ledgers", case["ledger"]), "rb") as opened:
            return opened.read()
    return None if case.get("log") is None else lines_bytes(case["log"])


def lines_bytes(lines: list[Any]) -> bytes:
    """Return a list of records and raw lines as the bytes of a log."""
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass")


def seal_bytes(over: bytes, lines: int | None, raw: set[int]) -> bytes:
    """Return a seal over the first `lines` lines of a log."""
    chain, end, made = bytes(32), 0, []
    for number, line in enumerate(over.split(b"\n")[:-1][:lines], 1):
        chain = hashlib.sha256(chain + line + b"\n").digest()
        end += len(line) + 1
        entry: dict[str, Any] = {"line": number, "end": end, "chain": chain.hex()}
        made.append(json.dumps({**entry, "raw": True} if number in raw else entry, separators=(",", ":")))
    return "".join(f"{each}\n" for each in made).encode()


def write(path: str, data: bytes) -> None:
    """Write a file and the folders above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as opened:
        opened.write(data)


def set_up(case: dict[str, Any], root: str) -> dict[str, str]:
    """Make the project of a case and return its environment."""
    for folder in (".scratch", "scripts"):
        os.makedirs(os.path.join(root, folder))
    data = log_bytes(case)
    if data is not None:
        write(os.path.join(root, ".scratch", "handoff.jsonl"), data)
    if "layout" in case:
        write(os.path.join(root, "scripts", "layout.toml"), case["layout"].encode())
    if "seal" in case:
        seal = case["seal"]
        over = lines_bytes(seal["over"]) if "over" in seal else data or b""
        sealed = seal_bytes(over, seal.get("lines"), set(seal.get("raw", [])))
        write(os.path.join(root, ".scratch", "handoff.seal"), sealed)
    projects = f"{root}-projects"
    os.makedirs(projects)
    slug = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(root))
    for path, content in (case.get("transcripts") or {}).items():
        written = lines_bytes(content) if isinstance(content, list) else json.dumps(content).encode()
        write(os.path.join(projects, slug, path), written)
    for path, text in (case.get("files") or {}).items():
        write(os.path.join(root, path), text.encode())
    return {"CLAUDE_PROJECTS_ROOT": projects, **(case.get("env") or {})}


def call(root: str, environment: dict[str, str], arguments: list[str]) -> Result:
    """Run `view` in a project with just these variables about screens and transcripts."""
    kept = {key: value for key, value in os.environ.items() if key not in CLEARED}
    with mock.patch.dict(os.environ, {**kept, **environment}, clear=True):
        return run("view", *arguments, cwd=root)


def failures(case: dict[str, Any], root: str) -> list[str]:
    """Return what does not hold of a case, run in the empty folder `root`."""
    environment = set_up(case, root)
    expect = case["expect"]
    result = call(root, environment, case.get("args", []))
    found = text_failures(expect, result)
    for path in expect.get("files_unchanged", []):
        with open(os.path.join(root, path), encoding="utf-8") as opened:
            if opened.read() != case["files"][path]:
                found.append(f"{path} changed")
    if "json_subset" in expect:
        printed = call(root, environment, [*json_arguments(case.get("args", [])), "--json"])
        found += mismatches(expect["json_subset"], json.loads(printed.out))
    return found


def text_failures(expect: dict[str, Any], result: Result) -> list[str]:
    """Return what does not hold of the text that was printed; runs of blanks count as one."""
    found = []
    flat = squeeze(result.out)
    if "exit" in expect and result.code != expect["exit"]:
        found.append(f"exit {result.code}, not {expect['exit']}: {result.err}")
    found += [f"stdout lacks {text!r}" for text in expect.get("stdout_contains", []) if squeeze(text) not in flat]
    found += [f"stdout has {text!r}" for text in expect.get("stdout_not_contains", []) if squeeze(text) in flat]
    found += [f"stderr lacks {text!r}" for text in expect.get("stderr_contains", []) if text not in result.err]
    if "max_width" in expect:
        widest = max(len(SGR.sub("", line)) for line in result.out.splitlines())
        found += [f"a line is {widest} wide"] if widest > expect["max_width"] else []
    if expect.get("ascii_only") and not result.out.isascii():
        found.append("stdout is not ASCII")
    return found


def squeeze(text: str) -> str:
    """Return text with runs of blanks as one."""
    return re.sub(r"[ \t]+", " ", text)


def json_arguments(arguments: list[str]) -> list[str]:
    """Return the arguments without those that choose another form than JSON."""
    kept, skip = [], False
    for argument in arguments:
        if skip or argument in FORMS:
            skip = False
        elif argument == "--html":
            skip = True
        else:
            kept.append(argument)
    return kept


def mismatches(pattern: Any, value: Any, where: str = "$") -> list[str]:
    """Return where a JSON value does not match a pattern (view.md 17.1, Matching)."""
    if isinstance(pattern, dict):
        special = next((key for key in pattern if key in SPECIAL), None)
        if special is not None:
            return [] if SPECIAL[special](pattern[special], value) else [f"{where}: {pattern} wanted, got {value!r}"]
        if not isinstance(value, dict):
            return [f"{where}: an object wanted, got {value!r}"]
        missing = [f"{where}.{key} is missing" for key in pattern if key not in value]
        inside = (mismatches(item, value[key], f"{where}.{key}") for key, item in pattern.items() if key in value)
        return missing + [text for texts in inside for text in texts]
    if isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            return [f"{where}: {len(pattern)} elements wanted, got {value!r}"]
        pairs = enumerate(zip(pattern, value, strict=True))
        return [text for index, (p, v) in pairs for text in mismatches(p, v, f"{where}[{index}]")]
    same = pattern == value and isinstance(pattern, bool) == isinstance(value, bool)
    return [] if same else [f"{where}: {pattern!r} wanted, got {value!r}"]


def _contains(patterns: list[Any], value: Any) -> bool:
    found = value if isinstance(value, list) else []
    return all(any(not mismatches(pattern, item) for item in found) for pattern in patterns)


SPECIAL: dict[str, Any] = {
    "$len": lambda length, value: len(value) == length,
    "$approx": lambda pair, value: isinstance(value, int | float) and abs(value - pair[0]) <= pair[1],
    "$contains": _contains,
    "$match": lambda pattern, value: isinstance(value, str) and re.search(pattern, value) is not None,
}
