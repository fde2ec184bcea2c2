"""Lay out, run and judge the capture vectors of `tests/data/capture`, in this process (their README has the keys).

Every successful build is also held to what must be true of any fileset: files, digests, counts, sequence, fences.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.support import DATA, Result, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLASSES = ("USER", "AGENT", "TOOL", "THOUGHT", "OTHER")
FIXED = ("HANDOFF.md", "HANDOFF.summary.json", "HANDOFF.llm.json", "timeline.jsonl", "TOOLS.md", "redactions.json")
MANIFEST = "manifest.json"
CONTRACT = "## Evidence contract"
CLOCK = "1780315200"

_HIDDEN = "\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f"
_UNSAFE_MARKDOWN = re.compile(f"[\x00-\x08\x0b-\x1f{_HIDDEN}]")
_UNSAFE_JSON = re.compile(f"[{_HIDDEN}]")
_JOIN = re.compile(rb"@@JOIN:([^@]*)@@")
_REPEAT = re.compile(rb"@@REPEAT:([^@|]*)\|(\d+)@@")


def cases(names: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield folder and expectation of every case whose name begins with one of the letters."""
    base = os.path.join(DATA, "capture")
    found = 0
    for name in sorted(os.listdir(base)):
        path = os.path.join(base, name, "expected.json")
        if name.startswith(tuple(names) or "") and os.path.isfile(path):
            found += 1
            with open(path, encoding="utf-8") as opened:
                yield os.path.dirname(path), json.load(opened)
    if not found:
        raise ValueError("tests/data/capture holds no such case")


def expand(data: bytes) -> bytes:
    """Return a source file with its templates filled in."""
    data = _JOIN.sub(lambda match: match[1].replace(b"|", b""), data)
    return _REPEAT.sub(lambda match: match[1] * int(match[2]), data)


def plain(value: Any) -> str:
    """Return a text of an expectation, joined where it is written in parts."""
    return "".join(value["parts"]) if isinstance(value, dict) else str(value)


def put(path: str, data: bytes) -> None:
    """Write a file and the folders above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as opened:
        opened.write(data)


def tree(top: str) -> dict[str, str]:
    """Return the digest of every file below `top`, and where its links lead."""
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, top)
            if os.path.islink(path):
                found[shown] = "link " + os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as opened:
                    found[shown] = hashlib.sha256(opened.read()).hexdigest()
    return found


class World:
    """A project and a home folder of one case, and runs of the program in them."""

    def __init__(self, case: unittest.TestCase, vector: dict[str, Any], source: str | None = None) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-capture-")
        case.addCleanup(holder.cleanup)
        self.top = os.path.realpath(holder.name)
        self.project, self.home = os.path.join(self.top, "proj"), os.path.join(self.top, "home")
        os.makedirs(os.path.join(self.project, ".scratch"))
        os.makedirs(self.home)
        if source is not None:
            self._copy(source)
        self._lay_out(vector)

    def _copy(self, source: str) -> None:
        for folder, _, names in os.walk(source):
            for name in names:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, source)
                if relative == "expected.json":
                    continue
                with open(path, "rb") as opened:
                    data = opened.read()
                whole = name.endswith((".zst", ".zstd", ".db"))
                put(os.path.join(self.project, relative), data if whole else expand(data))

    def _lay_out(self, vector: dict[str, Any]) -> None:
        for name, text in vector.get("home", {}).items():
            put(os.path.join(self.home, name), text.replace("{PROJ}", self.project).encode())
        for name, at in vector.get("mtimes", {}).items():
            os.utime(os.path.join(self.home, name), (at, at))
        for name, target in vector.get("links", {}).items():
            os.symlink(target.replace("{HOME}", self.home).replace("{PROJ}", self.project), self.at(name))
        for name, script in vector.get("make_db", {}).items():
            self._make_database(name, script, wal=vector.get("wal", False))
        if vector.get("git"):
            self._make_repository()

    def _make_database(self, name: str, script: str, *, wal: bool) -> None:
        with open(self.at(script), encoding="utf-8") as opened:
            statements = opened.read()
        os.remove(self.at(script))
        work = os.path.join(self.top, "work.db")
        connection = sqlite3.connect(work, isolation_level=None)
        if wal:
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma wal_autocheckpoint=0")
        connection.executescript(statements)
        for end in ("", "-wal", "-shm"):
            if os.path.exists(work + end):
                shutil.copy(work + end, self.at(name + end))
        connection.close()

    def _make_repository(self) -> None:
        put(self.at(".gitignore"), b".scratch/\n")
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
            environment = {**os.environ, **self.environment()}
            command = ["git", *who, *words]
            subprocess.run(command, cwd=self.project, env=environment, check=True, capture_output=True)

    def at(self, name: str) -> str:
        """Return a path in the project."""
        return os.path.join(self.project, name)

    def environment(self) -> dict[str, str]:
        """Return the variables that a run gets besides those of this process."""
        return {
            "HOME": self.home,
            "USERPROFILE": self.home,
            "TZ": "UTC",
            "SOURCE_DATE_EPOCH": CLOCK,
            "GIT_CEILING_DIRECTORIES": self.top,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, *argv: str) -> Result:
        """Run the program in the project, without the variables of whoever runs the tests."""
        kept = {name: value for name, value in os.environ.items() if not _FOREIGN.match(name)}
        with mock.patch.dict(os.environ, {**kept, **self.environment()}, clear=True):
            return run(*argv, cwd=self.project)

    def build(self, *argv: str) -> tuple[Result, Any]:
        """Run `build --json` and return the result and the value on stdout, None without one."""
        done = self.run("build", *argv, "--json")
        return done, json.loads(done.out) if done.out.strip() else None


_FOREIGN = re.compile(r"(HANDOFF|CLAUDE|CODEX|GEMINI|COPILOT|DSH|XDG|FREEBUFF|GIT_)")


class Fileset:
    """The files of one fileset, read and taken apart."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.raw: dict[str, bytes] = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as opened:
                self.raw[name] = opened.read()
        self.text = {name: data.decode("utf-8") for name, data in self.raw.items()}
        self.value = {name: json.loads(text) for name, text in self.text.items() if name.endswith(".json")}
        lines = self.text["timeline.jsonl"].split("\n")
        self.ends_well = lines.pop() == ""
        self.turns = [json.loads(line) for line in lines]
        self.manifest = self.value[MANIFEST]
        self.summary = self.value["HANDOFF.summary.json"]
        self.payload = self.value["HANDOFF.llm.json"]

    def has(self, name: str, text: str) -> bool:
        """Say whether a file holds a text; of the timeline, whether a turn does."""
        if name == "timeline.jsonl":
            return any(text in turn["text"] for turn in self.turns)
        return text in self.text.get(name, "")

    def problems(self) -> Iterator[str]:
        """Yield what breaks a rule that every fileset keeps."""
        yield from self._sealed()
        yield from self._counted()
        yield from self._written()

    def _sealed(self) -> Iterator[str]:
        listed = {entry["name"]: entry for entry in self.manifest["files"]}
        if set(listed) != set(self.raw) - {MANIFEST}:
            yield f"the manifest lists {sorted(listed)}, the folder holds {sorted(self.raw)}"
        if not set(FIXED) <= set(self.raw) or list(listed) != sorted(listed):
            yield "a fixed file is missing, or the list is not sorted"
        for name, entry in listed.items():
            part = self.raw.get(name, b"")
            part = part[: entry["bytes"]] if entry.get("open_tail") else part
            if (len(part), hashlib.sha256(part).hexdigest()) != (entry["bytes"], entry["sha256"]):
                yield f"{name}: size or digest differs from the manifest"
        rest = {key: value for key, value in self.manifest.items() if key != "manifest_sha256"}
        text = json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
        if self.manifest["manifest_sha256"] != hashlib.sha256(text.encode()).hexdigest():
            yield "manifest_sha256 does not fit"

    def _counted(self) -> Iterator[str]:
        counts = {name: sum(turn["class"] == name for turn in self.turns) for name in CLASSES}
        for value in (self.manifest, self.summary, self.payload):
            if value["counts"] != counts:
                yield f"counts {value['counts']} instead of {counts}"
        if [turn["seq"] for turn in self.turns] != list(range(1, len(self.turns) + 1)) or not self.ends_well:
            yield "seq is not dense, or the timeline does not end with a line feed"
        if self.manifest["turn_count"] != len(self.turns):
            yield "turn_count differs"
        for source in self.manifest["sources"]:
            records = source["records"]
            if records["read"] != sum(records[key] for key in ("used", "merged", "skipped", "bad")):
                yield f"the records of {source['name']} do not add up"

    def _written(self) -> Iterator[str]:
        for name, text in self.text.items():
            unsafe = _UNSAFE_MARKDOWN if name.endswith(".md") else _UNSAFE_JSON
            if name != "LEDGER.jsonl" and (found := unsafe.search(text)):
                yield f"{name}: raw U+{ord(found[0]):04X}"
        brief, tools = (list(outside_fences(self.text[name])) for name in ("HANDOFF.md", "TOOLS.md"))
        if (
            brief.count(CONTRACT) != 1
            or None in brief
            or None in tools
            or not self.text["HANDOFF.md"].startswith("---\n")
        ):
            yield "a fence is open, or the brief does not have its frontmatter and one contract"
        missing = [turn["seq"] for turn in self.turns if turn["class"] == "TOOL" and not self._has_section(turn["seq"])]
        if missing:
            yield f"TOOLS.md lacks the turns {missing}"

    def _has_section(self, seq: int) -> bool:
        return f"\n## [{seq}] " in self.text["TOOLS.md"]


def outside_fences(text: str) -> Iterator[str | None]:
    """Yield the lines outside fences, and None for a fence that is never closed."""
    mark = ""
    for line in text.split("\n"):
        found = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if not mark:
            if found and not (found[1][0] == "`" and "`" in found[2]):
                mark = found[1]
                continue
            yield line
        elif found and found[1][0] == mark[0] and len(found[1]) >= len(mark) and not found[2].strip():
            mark = ""
    if mark:
        yield None


def _sources(manifest: dict[str, Any], key: str) -> list[Any]:
    return [source[key] for source in manifest["sources"]]


def _of_kind(fileset: Fileset, kind: str) -> list[dict[str, Any]]:
    return [turn for turn in fileset.turns if turn["kind"] == kind]


FACTS: dict[str, Callable[[Fileset], Any]] = {
    "turns": lambda made: len(made.turns),
    "counts": lambda made: made.manifest["counts"],
    "classes": lambda made: [turn["class"] for turn in made.turns],
    "kinds": lambda made: [turn["kind"] for turn in made.turns],
    "tool_calls": lambda made: len(_of_kind(made, "tool_call")),
    "tool_results": lambda made: len(_of_kind(made, "tool_result")),
    "tool_names": lambda made: [turn.get("tool") for turn in _of_kind(made, "tool_call")],
    "paired": lambda made: sum("pair" in turn for turn in made.turns),
    "failed": lambda made: sum(turn.get("error") is True for turn in made.turns),
    "first_utc": lambda made: made.manifest["first_utc"],
    "last_utc": lambda made: made.manifest["last_utc"],
    "session": lambda made: made.manifest["session"],
    "project": lambda made: made.manifest["project"],
    "harness": lambda made: made.manifest["harness"],
    "model": lambda made: made.manifest["model"],
    "objective": lambda made: made.payload["objective"],
    "state_now": lambda made: made.payload["state_now"],
    "open_loops_total": lambda made: made.summary["open_loops_total"],
    "evidence_class": lambda made: made.summary["evidence_class"],
    "revision": lambda made: made.manifest["revision"],
    "watermark": lambda made: made.manifest["watermark"],
    "usage": lambda made: made.manifest["usage"],
    "agents": lambda made: sorted({turn["agent"] for turn in made.turns if "agent" in turn}),
    "readers": lambda made: _sources(made.manifest, "reader"),
    "kept": lambda made: sum(_sources(made.manifest, "kept")),
    "rewritten": lambda made: sum(_sources(made.manifest, "rewritten")),
    "merged": lambda made: [records["merged"] for records in _sources(made.manifest, "records")],
    "raw_sha256": lambda made: made.manifest["raw_sha256"],
    "contract": lambda made: "contract_sha256" in made.manifest,
    "spilled": lambda made: {
        key: sum(spilled[key] for spilled in _sources(made.manifest, "spilled")) for key in ("found", "missing")
    },
}
"""What an expectation names beside how it is read from a fileset."""


def judge(made: Fileset, expect: dict[str, Any]) -> Iterator[str]:
    """Yield what differs between a fileset and its expectation."""
    yield from made.problems()
    for key, read in FACTS.items():
        if key in expect and (got := read(made)) != expect[key]:
            yield f"{key}: {str(got)[:300]} instead of {str(expect[key])[:300]}"
    if "records" in expect and _folded(_sources(made.manifest, "records")) != _folded(expect["records"]):
        yield f"records: {_sources(made.manifest, 'records')} instead of {expect['records']}"
    if "pairs" in expect:
        pairs = {str(turn["seq"]): turn["pair"] for turn in made.turns if "pair" in turn}
        if pairs != expect["pairs"]:
            yield f"pairs: {pairs} instead of {expect['pairs']}"
    yield from _judge_texts(made, expect)
    yield from _judge_brief(made, expect)


def _folded(records: list[dict[str, int]]) -> list[list[int]]:
    """Return records with merged and skipped together: the split is checked where it matters."""
    return [[r["read"], r["used"], r["merged"] + r["skipped"], r["bad"]] for r in records]


def _judge_texts(made: Fileset, expect: dict[str, Any]) -> Iterator[str]:
    if not made.payload["objective"].startswith(expect.get("objective_prefix", "")[:400]):
        yield "the objective begins otherwise"
    if not made.payload["state_now"].endswith(expect.get("state_ends", "")):
        yield "state_now ends otherwise"
    if not made.summary["state_now"].endswith(expect.get("summary_state_ends", "")):
        yield "state_now of the summary ends otherwise"
    for text in expect.get("open_loops_mention", ()):
        if not any(text in loop for loop in made.summary["open_loops"]):
            yield f"no open loop mentions {text!r}"
    for name, texts in expect.get("contains", {}).items():
        names = list(made.raw) if name == "ALL" else [name]
        yield from (f"{name} lacks {text!r}" for text in map(plain, texts) if not any(made.has(n, text) for n in names))
    for name, texts in expect.get("absent", {}).items():
        names = list(made.raw) if name == "ALL" else [name]
        for text in map(plain, texts):
            if any(made.has(n, text) or (name == "ALL" and text in made.text[n]) for n in names):
                yield f"{name} holds {text[:12]!r}…"
    for text in expect.get("timeline_has", ()):
        if not made.has("timeline.jsonl", text):
            yield f"the timeline lacks {text!r}"
    texts = [turn["text"] for turn in made.turns]
    yield from (f"a turn says {text!r}" for text in expect.get("no_turn", ()) if text in texts)
    if expect.get("no_duplicates") and len(texts) != len(set(texts)):
        yield "a text stands twice"


def _judge_brief(made: Fileset, expect: dict[str, Any]) -> Iterator[str]:
    masked = made.manifest["redactions"]["masked"]
    if not expect.get("masked_min", 0) <= masked <= expect.get("masked_max", 10**9):
        yield f"{masked} masked"
    lines = [*outside_fences(made.text["HANDOFF.md"]), *outside_fences(made.text["TOOLS.md"])]
    for heading, number in expect.get("headings", {}).items():
        if lines.count(heading) != number:
            yield f"{heading!r} stands {lines.count(heading)} times"
    yield from (f"{heading!r} left its fence" for heading in expect.get("no_heading", ()) if heading in lines)
    rows = sum(bool(line and re.match(r"\| \d+ \| [A-Z]+ \|", line)) for line in lines)
    if "rows_max" in expect and not 0 < rows <= expect["rows_max"]:
        yield f"{rows} rows"
    tail = made.text["HANDOFF.md"].rpartition(f"\n{CONTRACT}\n")[2].split("\n")
    yield from (f"the tail lacks {line!r}" for line in expect.get("contract_lines", ()) if line not in tail)


def judge_result(done: Result, report: Any, expect: dict[str, Any]) -> Iterator[str]:
    """Yield what differs between the outcome of a run and its expectation."""
    exits = expect.get("exit", 0)
    if done.code not in (exits if isinstance(exits, list) else [exits]):
        yield f"exit {done.code} instead of {exits}: {done.err.strip()[:300]}"
    if any(not line.startswith("handoff.py: ") and not line.startswith("usage: ") for line in done.err.splitlines()):
        yield f"a line of stderr has no name in front: {done.err[:300]}"
    for text in expect.get("stderr", ()):
        if text.lower() not in done.err.lower():
            yield f"stderr lacks {text!r}: {done.err.strip()[:300]}"
    if "bad_lines" not in expect:
        return
    lines = [entry["line"] for entry in report.get("bad_lines", [])] if report else []
    if lines != expect["bad_lines"]:
        yield f"bad_lines: {lines} instead of {expect['bad_lines']}"
    if done.code == 5:
        yield from (f"stderr lacks line {n}" for n in lines[:5] if not re.search(rf"\bline {n}\b", done.err))


def judge_traces(world: World, report: Any, before: dict[str, str]) -> Iterator[str]:
    """Yield what a build changed outside the fileset and the store."""
    allowed = ["proj/.scratch/"]
    if isinstance(report, dict) and report.get("dir"):
        folder = os.path.relpath(report["dir"], world.top)
        allowed += [folder + "/", folder.rpartition("/projects/")[0] + "/" if "/projects/" in folder else folder + "/"]
    after = tree(world.top)
    for path in {*after, *before}:
        if after.get(path) != before.get(path) and not path.startswith(tuple(allowed)) and "work.db" not in path:
            yield f"changed {path}"


def can_unpack() -> bool:
    """Say whether zstd can be unpacked here."""
    return shutil.which("zstd") is not None or sys.version_info >= (3, 14)


@contextlib.contextmanager
def time_zone(name: str) -> Iterator[None]:
    """Run a block in another time zone."""
    with mock.patch.dict(os.environ, {"TZ": name}):
        yield
