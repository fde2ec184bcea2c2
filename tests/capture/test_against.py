"""`verify` on filesets that `build` wrote: tampering of every kind, and `--against` the source."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import unittest
from typing import Any
from unittest import mock

from tests.capture.filesets import load, put, write_manifest
from tests.support import ProjectCase, Result, vectors

CLOCK = {"SOURCE_DATE_EPOCH": "1780000000", "HANDOFFS_ROOT": ""}
TOKEN = "ghp_" + "1a2B3c4D5e6F7g8H9i0JkLmNoPqRsTuVwXyZ"
OTHER = "ghp_" + "9z8Y7x6W5v4U3t2S1r0QpOnMlKjIhGfEdCbA"
TURNS = (
    ("user", "text", "Please add a retry to the uploader."),
    ("assistant", "reasoning", "One call site."),
    ("tool", "tool_use", "edit uploader.py"),
    ("tool", "tool_result", "ok"),
    ("assistant", "text", "Retry added; todo: remove the flag."),
)


def records(turns: Any = TURNS, first: int = 0) -> str:
    """Return canonical records, one a line."""
    rows = [
        {"seq": first + n, "ts": f"2026-05-01T09:00:{first + n:02d}Z", "role": role, "kind": kind, "text": text}
        for n, (role, kind, text) in enumerate(turns)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def reseal_everything(folder: str) -> None:
    """List every file as it now is, so that the manifest fits whatever was changed."""
    manifest = load(folder)
    for entry in manifest["files"]:
        with open(os.path.join(folder, entry["name"]), "rb") as opened:
            data = opened.read()
        data = data[: entry["bytes"]] if entry.get("open_tail") else data
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    write_manifest(folder, manifest)


class BuiltCase(ProjectCase):
    """A test with a fileset `F` that was built from `s.jsonl`."""

    def setUp(self) -> None:
        super().setUp()
        patched = mock.patch.dict(os.environ, CLOCK)
        patched.start()
        self.addCleanup(patched.stop)
        self.folder = os.path.join(self.root, "F")

    def build(self, *flags: str, text: str | None = None) -> None:
        if text is not None:
            self.write("s.jsonl", text)
        told = self.run_here("build", "s.jsonl", "--out", "F", *flags)
        self.assertEqual(told.code, 0, told.err)

    def against(self, *sources: str) -> Result:
        flags = [flag for source in sources or ("s.jsonl",) for flag in ("--against", source)]
        return self.run_here("verify", "F", *flags)

    def fits(self, *sources: str) -> Result:
        told = self.against(*sources)
        self.assertEqual(told.code, 0, told.err)
        self.assertNotIn("was not read again", told.err)
        return told

    def differs(self, *says: str, sources: tuple[str, ...] = ()) -> None:
        told = self.against(*sources)
        self.assertEqual((told.code, told.out), (1, ""), told.err)
        for line in told.err.splitlines():
            self.assertTrue(line.startswith("handoff.py: "), line)
        for text in says:
            self.assertIn(text, told.err)

    def replace(self, name: str, old: str, new: str) -> None:
        text = self.read(f"F/{name}").decode()
        self.assertIn(old, text)
        put(self.folder, name, text.replace(old, new))


class Vectors(BuiltCase):
    """The public vectors of tampering, each on a fresh fileset."""

    def test_every_public_vector_gets_its_answer(self) -> None:
        for vector in vectors("tamper.jsonl"):
            with self.subTest(vector["name"], why=vector["why"]):
                self.run_here("build", self.renewed(vector["source"]), "--out", "F")
                for op in vector["ops"]:
                    self.take(op, vector["source"]["name"])
                target = vector.get("target", "{DIR}").replace("{DIR}", "F")
                flags = [flag.replace("{SOURCE}", vector["source"]["name"]) for flag in vector.get("args", [])]
                told = self.run_here("verify", target, *flags)
                self.assertEqual(told.code, vector["expect"]["exit"], told.err)
                for text in vector["expect"]["must_name"]:
                    self.assertIn(text, told.out + told.err)

    def renewed(self, source: dict[str, str]) -> str:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.write(source["name"], source["text"])
        return source["name"]

    def take(self, op: dict[str, Any], source: str) -> None:
        path = os.path.join(self.folder, op.get("file", ""))
        getattr(self, "op_" + op["op"])(path, op, source)

    def op_append(self, path: str, op: dict[str, Any], _source: str) -> None:
        with open(path, "ab") as opened:
            opened.write(op["text"].encode())

    def op_append_source(self, _path: str, op: dict[str, Any], source: str) -> None:
        self.op_append(os.path.join(self.root, source), op, source)

    def op_write(self, _path: str, op: dict[str, Any], _source: str) -> None:
        put(self.folder, op["file"], op["text"])

    def op_delete(self, path: str, _op: dict[str, Any], _source: str) -> None:
        os.unlink(path)

    def op_replace(self, _path: str, op: dict[str, Any], _source: str) -> None:
        self.replace(op["file"], op["old"], op["new"])

    def op_remove_line(self, _path: str, op: dict[str, Any], _source: str) -> None:
        lines = self.read(f"F/{op['file']}").split(b"\n")
        del lines[op["n"]]
        put(self.folder, op["file"], b"\n".join(lines))

    def op_truncate(self, path: str, op: dict[str, Any], _source: str) -> None:
        os.truncate(path, op["keep_bytes"])

    def op_mkdir(self, path: str, _op: dict[str, Any], _source: str) -> None:
        os.makedirs(path)

    def op_mkfifo(self, path: str, _op: dict[str, Any], _source: str) -> None:
        os.mkfifo(path)

    def op_replace_by_fifo(self, path: str, _op: dict[str, Any], _source: str) -> None:
        os.unlink(path)
        os.mkfifo(path)

    def op_move_out_and_symlink(self, path: str, _op: dict[str, Any], _source: str) -> None:
        away = os.path.join(self.root, "moved-" + os.path.basename(path))
        os.rename(path, away)
        os.symlink(away, path)

    def op_json_set(self, _path: str, op: dict[str, Any], _source: str) -> None:
        value = load(self.folder, op["file"])
        *keys, last = op["key"].split(".")
        inner = value
        for key in keys:
            inner = inner[key]
        inner[last] = op["value"]
        put(self.folder, op["file"], json.dumps(value, ensure_ascii=False, indent=2))

    def op_json_del(self, _path: str, op: dict[str, Any], _source: str) -> None:
        value = load(self.folder, op["file"])
        del value[op["key"]]
        put(self.folder, op["file"], json.dumps(value, ensure_ascii=False, indent=2))

    def op_entry_set(self, _path: str, op: dict[str, Any], _source: str) -> None:
        manifest = load(self.folder)
        entry = next(entry for entry in manifest["files"] if entry["name"] == op["file"])
        entry[op["key"]] = entry[op["key"]].upper() if op.get("upper") else op["value"]
        write_manifest(self.folder, manifest, reseal=False)

    def op_entry_del(self, _path: str, op: dict[str, Any], _source: str) -> None:
        manifest = load(self.folder)
        manifest["files"] = [entry for entry in manifest["files"] if entry["name"] != op["file"]]
        write_manifest(self.folder, manifest, reseal=False)

    def op_files_add(self, _path: str, op: dict[str, Any], _source: str) -> None:
        manifest = load(self.folder)
        manifest["files"].append(op["entry"])
        write_manifest(self.folder, manifest, reseal=False)

    def op_reseal_manifest(self, _path: str, op: dict[str, Any], _source: str) -> None:
        if op.get("files"):
            reseal_everything(self.folder)
        else:
            write_manifest(self.folder, load(self.folder))


class Against(BuiltCase):
    def test_a_source_that_fits_is_noted_with_its_turns(self) -> None:
        self.build(text=records())
        told = self.fits()
        self.assertEqual(told.err, "handoff.py: note: s.jsonl: re-read, 5 turns\n")

    def test_nothing_is_left_and_nothing_is_changed(self) -> None:
        self.build(text=records())
        before = {name: self.read(f"F/{name}") for name in os.listdir(self.folder)}
        scratch = os.path.join(self.root, ".scratch")
        there = os.listdir(scratch)
        with mock.patch.dict(os.environ, {"TMPDIR": scratch}), mock.patch.object(tempfile, "tempdir", None):
            self.fits()
        self.assertEqual(os.listdir(scratch), there)
        self.assertEqual({name: self.read(f"F/{name}") for name in os.listdir(self.folder)}, before)

    def test_a_consistent_forgery_of_any_derived_file_is_seen(self) -> None:
        for name, old, new in (
            ("timeline.jsonl", "edit uploader.py", "edit backdoor.py"),
            ("TOOLS.md", "edit uploader.py", "edit backdoor.py"),
            ("HANDOFF.md", "Please add a retry", "Please add a tunnel"),
            ("timeline.jsonl", '"at":3', '"at":2'),
        ):
            with self.subTest(name=name, new=new):
                self.build(text=records())
                self.replace(name, old, new)
                reseal_everything(self.folder)
                self.differs(f"verify: {name}: ")
                shutil.rmtree(self.folder)

    def test_a_forgery_of_all_files_together_is_seen(self) -> None:
        self.build(text=records())
        for name in sorted(os.listdir(self.folder)):
            text = self.read(f"F/{name}").decode()
            put(self.folder, name, text.replace("One call site.", "Two call sites"))
        reseal_everything(self.folder)
        self.assertEqual(self.run_here("verify", "F").code, 0, "integrity is not origin")
        self.differs("verify: timeline.jsonl: ")

    def test_the_facts_of_the_manifest_are_derived_too(self) -> None:
        self.build(text=records())
        for key, value in (("usage", {"input": 7}), ("raw_sha256", "0" * 64), ("harness", "other")):
            with self.subTest(key):
                manifest = load(self.folder)
                before = manifest[key]
                manifest[key] = value
                write_manifest(self.folder, manifest)
                self.differs("manifest.json")
                manifest[key] = before
                write_manifest(self.folder, manifest)
        self.fits()

    def test_a_source_that_grew_is_told_from_one_that_was_changed(self) -> None:
        text = records()
        self.build(text=text)
        size, more = len(text), len(records(TURNS[:1], 5))
        self.write("s.jsonl", text + records(TURNS[:1], 5))
        grew = f"s.jsonl: source grew: {size} of {size + more} bytes were captured; the captured part"
        self.differs(f"{grew} is unchanged")
        self.write("s.jsonl", text.replace("retry", "RETRY") + records(TURNS[:1], 5))
        self.differs(f"{grew} was changed")
        self.write("s.jsonl", text.replace("retry", "RETRY"))
        self.differs("verify: s.jsonl: ")
        self.write("s.jsonl", text[:-10])
        self.differs("verify: s.jsonl: ")

    def test_a_source_of_another_name_is_no_source(self) -> None:
        self.build(text=records())
        self.write("other.jsonl", records())
        self.differs("other.jsonl", sources=("other.jsonl",))

    def test_a_source_that_is_not_there_is_a_usage_error(self) -> None:
        self.build(text=records())
        told = self.against("nowhere.jsonl")
        self.assertEqual((told.code, told.out), (2, ""))
        self.assertIn("nowhere.jsonl", told.err)

    def test_options_and_overrides_are_used_again(self) -> None:
        self.write(
            "handoff.config.json",
            json.dumps({"version": 1, "max_brief_tokens": 1000, "capture": {"max_tool_output": 4}}),
        )
        self.build(
            "--objective",
            "Ship it",
            "--model",
            "m-1",
            "--harness",
            "h",
            text=records([*TURNS, ("tool", "tool_result", "x" * 99)]),
        )
        os.unlink(os.path.join(self.root, "handoff.config.json"))
        self.fits()

    def test_secrets_get_their_numbers_again(self) -> None:
        turns = [*TURNS, ("user", "text", f"use {OTHER} and {TOKEN}"), ("assistant", "text", f"used {TOKEN}")]
        self.build(text=records(turns))
        self.assertIn("REDACTED:github-pat:2", self.read("F/timeline.jsonl").decode())
        self.fits()

    def test_kept_secrets_stay_kept(self) -> None:
        self.build("--no-redact", text=records([*TURNS, ("user", "text", f"use {TOKEN}")]))
        self.fits()

    def test_damaged_records_that_were_allowed_are_left_out_again(self) -> None:
        self.build("--allow-bad-lines", text=records() + "{broken\n" + records(TURNS[:1], 5))
        self.fits()

    def test_turns_that_are_gone_are_taken_over(self) -> None:
        self.build(text=records())
        self.build(text=records(TURNS[:3]))
        self.assertEqual(self.read("F/timeline.jsonl").count(b'"gone":true'), 2)
        self.fits()
        self.build(text=records(TURNS[2:3], 2) + records(TURNS[:2], 7))
        self.assertEqual(self.run_here("verify", "F").code, 0)
        self.fits()

    def test_a_rewritten_source_fits_what_was_rewritten(self) -> None:
        self.build(text=records())
        self.build(text=records([("user", "text", "Something else entirely, please."), *TURNS[1:]]))
        self.assertIn("rewritten from turn 1", self.read("F/HANDOFF.md").decode())
        self.fits()

    def test_a_contract_is_no_difference(self) -> None:
        self.build(text=records())
        put(self.folder, "HANDOFF.md", self.read("F/HANDOFF.md") + b"RESULT: DONE\n")
        self.fits()
        self.build("--model", "m-2")
        self.assertIn("contract_sha256", load(self.folder))
        self.fits()

    def test_several_sources_are_compared_together_or_one_by_one(self) -> None:
        self.write("a.jsonl", records([*TURNS, ("user", "text", f"use {TOKEN}")]))
        self.write("b.jsonl", records([("user", "text", f"and {OTHER}, {TOKEN}"), ("assistant", "text", "done")], 20))
        self.assertEqual(self.run_here("build", "a.jsonl", "b.jsonl", "--out", "F").code, 0)
        for sources in (("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl"), ("a.jsonl",), ("b.jsonl",)):
            with self.subTest(sources):
                self.fits(*sources)
        self.replace("timeline.jsonl", '"text":"done"', '"text":"gone"')
        for name in ("HANDOFF.md", "HANDOFF.llm.json", "HANDOFF.summary.json"):
            text = self.read(f"F/{name}").decode()
            put(self.folder, name, re.sub(r"\bdone\b", "gone", text))
        reseal_everything(self.folder)
        self.differs("timeline.jsonl", sources=("b.jsonl",))

    def test_a_slice_of_the_ledger_is_taken_over(self) -> None:
        record = {
            "type": "prd-entry",
            "req_id": "REQ-A-001",
            "author": "product-requirements-expert",
            "title": "Retry & | more",
            "summary": "s",
            "acceptance_criteria": ["a"],
            "file_targets": ["a.py"],
            "test_names": ["test_a"],
        }
        start = {"type": "dispatch-start", "req_id": "REQ-A-001", "author": record["author"], "responding_to": [0]}
        for made in (start, record):
            told = self.append(made)
            self.assertEqual(told.code, 0, told.err)
        self.build("--req-id", "REQ-A-001", text=records())
        self.fits()

    def test_a_fileset_of_another_release_is_not_derived(self) -> None:
        self.build(text=records())
        manifest = load(self.folder)
        manifest["generator"] = "handoff 99.1.0"
        write_manifest(self.folder, manifest)
        self.differs("manifest.json", "99.1.0")

    def test_a_manifest_without_what_is_needed_is_one_line(self) -> None:
        self.build(text=records())
        whole = load(self.folder)
        for key in (
            "options",
            "sources",
            "session",
            "project",
            "revision",
            "watermark",
            "git",
            "updated_at",
            "overrides",
        ):
            values: tuple[Any, ...] = (None, 7, [], {})
            for value in values:
                if value == whole[key]:
                    continue
                with self.subTest(key=key, value=value):
                    write_manifest(self.folder, {**whole, key: value})
                    told = self.against()
                    self.assertEqual(told.code, 1, told.err)
                    self.assertNotIn("internal error", told.err)

    def test_files_of_other_kinds_are_not_opened(self) -> None:
        self.build(text=records())
        os.unlink(os.path.join(self.folder, "timeline.jsonl"))
        os.mkfifo(os.path.join(self.folder, "timeline.jsonl"))
        self.differs("timeline.jsonl: a pipe", "cannot be derived anew: timeline.jsonl: a pipe")
        self.build_again_with_link()
        self.differs("TOOLS.md: a symbolic link")

    def build_again_with_link(self) -> None:
        shutil.rmtree(self.folder)
        self.build()
        os.rename(os.path.join(self.folder, "TOOLS.md"), os.path.join(self.root, "t.md"))
        os.symlink("../t.md", os.path.join(self.folder, "TOOLS.md"))

    def test_a_source_that_is_no_file_never_hangs(self) -> None:
        self.build(text=records())
        os.unlink(os.path.join(self.root, "s.jsonl"))
        os.mkfifo(os.path.join(self.root, "s.jsonl"))
        told = self.against()
        self.assertEqual(told.code, 1)
        self.assertIn("s.jsonl", told.err)

    def test_a_denied_source_is_not_read(self) -> None:
        self.build(text=records())
        home = os.path.join(self.root, "home")
        self.write("home/.ssh/s.jsonl", records())
        with mock.patch.dict(os.environ, {"HOME": home}):
            told = self.against("home/.ssh/s.jsonl")
        self.assertEqual((told.code, told.out), (1, ""))
        self.assertIn("denies to read home/.ssh/s.jsonl: DENIED_ROOT", told.err)


if __name__ == "__main__":
    unittest.main()
