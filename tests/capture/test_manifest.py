"""`verify`: what it refuses in a manifest and in a folder, and that it reads nothing else and changes nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import threading
import time
import unittest
from typing import Any

from handoff_core.capture import verify as engine
from handoff_core.capture.entry_names import fault_of, fold, shown
from handoff_core.capture.sealed_folder import DEPTH_LIMIT, SealedFolder, UnfitFile

from tests.capture.filesets import (
    SEAL,
    TURNS,
    computed,
    expanded,
    load,
    make_fileset,
    put,
    reseal,
    spoil,
    write_manifest,
)
from tests.support import Result, run, vectors

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOT_READ_AGAIN = "the source was not read again; --against SOURCE compares with it"
FILES = ("HANDOFF.md", "HANDOFF.summary.json", "HANDOFF.llm.json", "timeline.jsonl", "TOOLS.md", "redactions.json")
CONTRACT = {
    "RESULT": "DONE",
    "WHAT_CHANGED": "retry in uploader.py",
    "VALIDATION": "unit tests",
    "EVIDENCE": "nowhere/proof.txt",
    "BLOCKERS": "none",
    "RISKS": "none",
    "FOLLOW_UP": "none",
}


def a_contract(**changes: str | None) -> str:
    lines = {**CONTRACT, **changes}
    return "\n" + "".join(f"{word}: {value}\n" for word, value in lines.items() if value is not None)


def snapshot(folder: str) -> list[tuple[Any, ...]]:
    """Return every name below `folder` with kind, size and times, so that any change shows."""
    told: list[tuple[Any, ...]] = []
    for where, folders, files in os.walk(folder):
        for name in sorted([*folders, *files]):
            found = os.lstat(os.path.join(where, name))
            told.append((where, name, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ino, found.st_nlink))
    return told


class FilesetCase(unittest.TestCase):
    """A test with a good fileset `self.folder` in a project `self.root` of its own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-verify-")
        self.addCleanup(holder.cleanup)
        self.root = os.path.realpath(holder.name)
        os.mkdir(os.path.join(self.root, ".scratch"))
        self.folder = os.path.join(self.root, "F")
        make_fileset(self.folder)

    def verify(self, *flags: str, folder: str | None = None) -> Result:
        return run("verify", folder or self.folder, *flags, cwd=self.root)

    def refuse(self, *names: str) -> None:
        """Expect exit 1, and each name in a problem line."""
        before = snapshot(self.root)
        told = self.verify()
        self.assertEqual((told.code, told.out), (1, ""), told.err)
        problems = [line for line in told.err.splitlines() if line.startswith("handoff.py: verify: ")]
        self.assertTrue(problems, told.err)
        for line in told.err.splitlines():
            self.assertTrue(line.startswith("handoff.py: ") and line.isprintable(), line)
        for name in names:
            self.assertTrue(any(name in line for line in problems), f"{name} not in {problems}")
        self.assertEqual(snapshot(self.root), before)

    def accept(self, contract: str = "none") -> Result:
        told = self.verify()
        self.assertEqual(told.code, 0, told.err)
        digest = load(self.folder)["manifest_sha256"]
        count = len(load(self.folder)["files"])
        self.assertEqual(told.out, f"OK s1 turns=5 files={count} contract={contract} manifest={digest}\n")
        return told


class Vectors(FilesetCase):
    def test_every_public_vector_is_accepted_or_refused(self) -> None:
        for vector in vectors("manifest.jsonl"):
            needs = vector.get("needs")
            if needs and (needs == "root") != IS_ROOT:
                continue
            with self.subTest(vector["id"], why=vector["why"]):
                self.renew()
                if "ops" in vector:
                    spoil(self.folder, vector["ops"], reseal_at_end=vector.get("reseal", True))
                else:
                    self.list_name(expanded(vector["name"]))
                started = time.monotonic()
                if vector["expect"] == "ok":
                    self.assertEqual(self.verify().code, 0, self.verify().err)
                else:
                    self.refuse(*vector.get("names", ()))
                self.assertLess(time.monotonic() - started, vector.get("seconds", 5))
                self.assertEqual(self.verify(), self.verify(), "two runs, two answers")

    def renew(self) -> None:
        for name in os.listdir(self.root):
            path = os.path.join(self.root, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        os.mkdir(os.path.join(self.root, ".scratch"))
        make_fileset(self.folder)

    def list_name(self, name: str) -> None:
        manifest = load(self.folder)
        try:
            inside = os.path.realpath(os.path.join(self.folder, name)).startswith(self.root + os.sep)
            if inside and not os.path.lexists(os.path.join(self.folder, name)):
                put(self.folder, name, "x\n")
        except (OSError, ValueError):
            pass  # this file system cannot hold the name; it is listed all the same
        digest = hashlib.sha256(b"x\n").hexdigest()
        manifest["files"].append({"name": name, "bytes": 2, "sha256": digest})
        write_manifest(self.folder, manifest)


class Names(unittest.TestCase):
    def test_plain_names_are_safe(self) -> None:
        safe = ["a", "a.b", ".a", "-a", "a b", " a", "a/b", "a/.b", "%2e%2e/x", "a~b", "a/~b", "é.md", "😀", "日本語"]
        safe += [
            "COM",
            "COM10",
            "CONSOLE",
            "a.con",
            "nul-1",
            "a*?\"<>|$;&'",
            "x" * 255,
            "é" * 127,
            "..a",
            "...a",
            "a..b",
        ]
        for name in safe:
            with self.subTest(name):
                self.assertIsNone(fault_of(name))

    def test_every_kind_of_unsafe_name_has_its_reason(self) -> None:
        cases = {
            "": "empty",
            "/a": "slash",
            "//a": "slash",
            "~": "tilde",
            "~a/b": "tilde",
            "a//b": "empty part",
            "a/": "empty part",
            ".": "part .",
            "..": "part .",
            "a/../b": "part .",
            "a/..": "part .",
            "./a": "part .",
            "a.": "dot or a blank",
            "a ": "dot or a blank",
            "a /b": "dot or a blank",
            "a./b": "dot or a blank",
            "a\u00a0": "dot or a blank",
            "a\u3000/b": "dot or a blank",
            "...": "dot or a blank",
            "a\\b": "backslash",
            "C:a": "colon",
            "a:stream": "colon",
            "e\u0301": "normal form",
            "\u212b": "normal form",
            "x" * 256: "255 bytes",
            "é" * 128: "255 bytes",
            "a/" * 127 + "aa": "255 bytes",
        }
        for name, reason in cases.items():
            with self.subTest(name):
                self.assertIn(reason, fault_of(name) or "")

    def test_devices_are_refused_in_any_case_place_and_with_any_extension(self) -> None:
        stems = ["CON", "PRN", "AUX", "NUL", *(f"COM{n}" for n in range(10)), *(f"LPT{n}" for n in range(10))]
        for stem in [*stems, "COM¹", "CONIN$"]:
            for name in (stem, stem.lower(), f"{stem}.txt", f"{stem}.tar.gz", f"{stem} .x", f"a/{stem}", f"{stem}/a"):
                with self.subTest(name):
                    self.assertIsNotNone(fault_of(name))

    def test_characters_that_act_or_hide_are_refused(self) -> None:
        marks = [*range(0x20), 0x7F, *range(0x80, 0xA0), 0xAD, 0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F)]
        marks += [
            *range(0x2060, 0x2070),
            0xFEFF,
            0xFFF9,
            0x034F,
            0x115F,
            0x3164,
            0x180E,
            0xE0001,
            0xE0041,
            0xE007F,
            0xD800,
        ]
        marks.remove(0x2065)  # not assigned
        for mark in marks:
            with self.subTest(f"U+{mark:04X}"):
                self.assertIn("control or invisible", fault_of(f"a{chr(mark)}b") or "")

    def test_twins_fold_to_one(self) -> None:
        for left, right in (("A", "a"), ("é", "E\u0301"), ("ß", "SS"), ("İ", "i\u0307"), ("ſ", "S"), ("K", "\u212a")):
            with self.subTest(left=left, right=right):
                self.assertEqual(fold(left), fold(right))
        self.assertNotEqual(fold("a"), fold("b"))

    def test_a_name_is_shown_as_it_is_unless_it_could_mislead(self) -> None:
        self.assertEqual(shown("é a.md"), "é a.md")
        self.assertEqual(shown(""), '""')
        self.assertEqual(shown("a\u202eb"), '"a\\u202eb"')
        self.assertEqual(shown("a\udc80"), '"a\\udc80"')
        self.assertLess(len(shown("\x1b" * 9000)), 300)


class Manifest(FilesetCase):
    def test_a_good_fileset_is_ok(self) -> None:
        told = self.accept()
        self.assertEqual(
            told.err, "handoff.py: note: the source was not read again; --against SOURCE compares with it\n"
        )

    def test_json_holds_the_whole_answer(self) -> None:
        told = self.verify("--json")
        digest = load(self.folder)["manifest_sha256"]
        self.assertEqual(told.code, 0)
        self.assertEqual(
            json.loads(told.out),
            {
                "ok": True,
                "dir": self.folder,
                "problems": [],
                "notes": [NOT_READ_AGAIN],
                "contract": "none",
                "manifest_sha256": digest,
            },
        )
        put(self.folder, "é\u202e", "")
        told = self.verify("--json")
        self.assertEqual(told.code, 1)
        self.assertTrue(told.out.isascii() and told.out.endswith("}\n") and told.out.count("\n") == 1)
        problem = {"name": '"\\u00e9\\u202e"', "problem": "a file that the manifest does not list"}
        self.assertEqual(json.loads(told.out)["problems"], [problem])

    def test_the_layout_of_the_manifest_does_not_matter(self) -> None:
        put(self.folder, "manifest.json", json.dumps(load(self.folder), indent=7))
        self.accept()

    def test_a_manifest_of_16_mebibytes_is_read_and_one_byte_more_is_not(self) -> None:
        limit = 16 * 1024 * 1024
        spoil(self.folder, [["manifest_bytes", "pad", limit]])
        self.assertEqual(self.verify().code, 0)
        spoil(self.folder, [["manifest_bytes", "pad", limit + 1]])
        self.refuse(f"manifest.json: larger than {limit} bytes")

    def test_an_endless_manifest_costs_nothing(self) -> None:
        os.truncate(os.path.join(self.folder, "manifest.json"), 1 << 40)
        started = time.monotonic()
        self.refuse("manifest.json: larger than")
        self.assertLess(time.monotonic() - started, 2)

    def test_each_flipped_byte_of_each_file_is_seen(self) -> None:
        good = {name: self.read(name) for name in os.listdir(self.folder)}
        for name, data in good.items():
            path = os.path.join(self.folder, name)
            for offset in range(0, len(data), 1 if len(data) < 400 else 37):
                put(self.folder, name, data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
                with self.subTest(name=name, offset=offset), SealedFolder(self.folder) as folder:
                    told = engine.verify(folder, engine.Evidence(lambda _: False, lambda _: False))
                    self.assertFalse(told.fits() and name != "manifest.json")
                    if told.fits():  # white space between the values of the manifest is layout
                        self.assertEqual(json.loads(self.read(name)), json.loads(data))
            put(self.folder, name, data)
            self.assertTrue(os.path.exists(path))

    def read(self, name: str) -> bytes:
        with open(os.path.join(self.folder, name), "rb") as opened:
            return opened.read()

    def test_values_that_are_no_entries_are_named(self) -> None:
        values: tuple[Any, ...] = (7, None, "x", [], {}, {"name": 7})
        for value in values:
            with self.subTest(value=value):
                manifest = load(self.folder)
                manifest["files"].append(value)
                write_manifest(self.folder, manifest)
                self.refuse("manifest.json: entry 7 of files")
                manifest["files"].pop()
                write_manifest(self.folder, manifest)

    def test_files_must_be_a_list_with_something_in_it(self) -> None:
        values: tuple[Any, ...] = (None, {}, [], "x")
        for value in values:
            with self.subTest(value=value):
                spoil(self.folder, [["manifest", {"files": value}]])
                self.refuse("manifest.json: files lists nothing")

    def test_the_six_files_and_with_a_ledger_three_more_must_be_listed(self) -> None:
        for name in (
            "HANDOFF.md",
            "HANDOFF.summary.json",
            "HANDOFF.llm.json",
            "timeline.jsonl",
            "TOOLS.md",
            "redactions.json",
        ):
            with self.subTest(name):
                shutil.rmtree(self.folder)
                make_fileset(self.folder)
                spoil(self.folder, [["drop", name], ["remove", name]])
                self.refuse(f"{name}: not listed")
        shutil.rmtree(self.folder)
        make_fileset(self.folder)
        spoil(self.folder, [["manifest", {"ledger": {"req_id": "R1"}}]])
        self.refuse("LEDGER.jsonl: not listed", "ROUTE.json: not listed", "BOARD.md: not listed")

    def test_only_the_brief_has_an_open_tail(self) -> None:
        spoil(self.folder, [["entry", "TOOLS.md", {"open_tail": True}]])
        self.refuse("TOOLS.md: open_tail")
        spoil(self.folder, [["entry", "TOOLS.md", {"open_tail": {"$delete": True}}]])
        self.accept()
        for value in ({"$delete": True}, False, 1):
            with self.subTest(value=value):
                spoil(self.folder, [["entry", "HANDOFF.md", {"open_tail": value}]])
                self.refuse("HANDOFF.md: open_tail")

    def test_all_problems_are_found_in_the_order_of_the_checks(self) -> None:
        spoil(self.folder, [["manifest", {"turn_count": 9}], ["entry", "TOOLS.md", {"bytes": -1}]])
        put(self.folder, "redactions.json", "{}")
        put(self.folder, "stray", "")
        put(self.folder, "HANDOFF.md", self.read("HANDOFF.md") + b"# Heading\n")
        names = [line.split(": ")[2] for line in self.verify().err.splitlines() if ": verify: " in line]
        first = ["TOOLS.md", "redactions.json", "stray", "HANDOFF.md", "manifest.json"]
        self.assertEqual(names[: len(first)], first)

    def test_a_manifest_that_lists_a_hundred_thousand_files_is_judged_in_time(self) -> None:
        manifest = load(self.folder)
        manifest["files"] += [{"name": f"a/{n}", "bytes": 0, "sha256": "0" * 64} for n in range(20_000)]
        write_manifest(self.folder, manifest)
        started = time.monotonic()
        self.refuse("a/19999: missing")
        self.assertLess(time.monotonic() - started, 15)


class Folder(FilesetCase):
    def test_everything_unlisted_is_named(self) -> None:
        put(self.folder, "sub/deep/a", "")
        os.makedirs(os.path.join(self.folder, "empty/inner"))
        os.symlink("timeline.jsonl", os.path.join(self.folder, "link"))
        os.symlink("/", os.path.join(self.folder, "root"))
        put(self.folder, "Manifest.json", "")
        self.refuse(
            "sub/deep/a: a file that",
            "empty/inner: a folder that",
            "link: a symbolic",
            "root: a symbolic",
            "Manifest.json: a file",
        )

    def test_a_listed_folder_around_a_file_is_no_stray_and_its_other_files_are(self) -> None:
        spoil(self.folder, [["add", "a/b/c", "x"]])
        self.assertEqual(self.verify().code, 0)
        put(self.folder, "a/b/d", "")
        os.mkdir(os.path.join(self.folder, "a/e"))
        self.refuse("a/b/d: a file", "a/e: a folder")

    def test_a_link_on_the_way_is_not_followed(self) -> None:
        spoil(self.folder, [["add", "a/b/c", "x"], ["move", "a", "../real"], ["symlink", "../real", "a"]])
        self.refuse("a/b/c: a on its way is a symbolic link")
        os.unlink(os.path.join(self.folder, "a"))
        spoil(self.folder, [["file", "a", "x"]])
        self.refuse("a/b/c: a on its way is a file, not a folder")

    def test_the_folder_itself_may_be_named_through_a_link(self) -> None:
        os.symlink(self.folder, os.path.join(self.root, "L"))
        self.assertEqual(self.verify(folder=os.path.join(self.root, "L")).code, 0)

    def test_what_is_no_folder_is_refused(self) -> None:
        path = os.path.join(self.root, "plain")
        put(self.root, "plain", "")
        os.symlink("nowhere", os.path.join(self.root, "dangling"))
        os.mkfifo(os.path.join(self.root, "pipe"))
        for name in ("plain", "dangling", "pipe"):
            with self.subTest(name):
                told = self.verify(folder=os.path.join(self.root, name))
                self.assertEqual(told.code, 1)
                self.assertRegex(told.err, rf"\Ahandoff\.py: verify: {name}: cannot be opened as a folder: [^\n]+\n\Z")
        self.assertTrue(os.path.exists(path))

    def test_a_deep_or_crowded_folder_ends_in_time(self) -> None:
        where = self.folder
        for _ in range(DEPTH_LIMIT + 20):
            where = os.path.join(where, "d")
            os.mkdir(where)
        os.mkdir(os.path.join(self.folder, "crowd"))
        for number in range(1200):
            put(self.folder, f"crowd/{number}", "")
        started = time.monotonic()
        self.refuse(".: more than 1000 entries")
        self.assertLess(time.monotonic() - started, 5)

    @unittest.skipIf(IS_ROOT, "root reads every folder")
    def test_a_folder_that_cannot_be_read_is_named(self) -> None:
        os.mkdir(os.path.join(self.folder, "closed"), 0)
        self.refuse("closed: a folder that cannot be read")

    def test_size_decides_before_content(self) -> None:
        spoil(self.folder, [["truncate", "TOOLS.md", 1 << 40]])
        started = time.monotonic()
        self.refuse(f"TOOLS.md: {1 << 40} bytes instead of ")
        self.assertLess(time.monotonic() - started, 2)

    def test_a_sparse_document_or_tail_is_not_held_in_memory(self) -> None:
        spoil(self.folder, [["truncate", "HANDOFF.md", 1 << 40]])
        self.refuse("HANDOFF.md: more than 4194304 bytes behind its sealed part")
        spoil(self.folder, [["entry", "redactions.json", {"bytes": 1 << 40}], ["truncate", "redactions.json", 1 << 40]])
        self.refuse("redactions.json: larger than 67108864 bytes")

    def test_a_file_that_is_swapped_for_a_link_is_never_followed(self) -> None:
        secret = os.path.join(self.root, "secret")
        put(self.root, "secret", "x\n")
        spoil(self.folder, [["add", "a", "x\n"]])
        path, done = os.path.join(self.folder, "a"), threading.Event()

        def swap() -> None:
            while not done.is_set():
                os.unlink(path)
                os.symlink(secret, path)
                os.unlink(path)
                put(self.folder, "a", "y\n")

        worker = threading.Thread(target=swap)
        worker.start()
        try:
            for _ in range(300):
                with SealedFolder(self.folder) as folder:
                    try:
                        descriptor = folder.open("a")
                    except UnfitFile:
                        continue
                    self.assertNotEqual(os.fstat(descriptor).st_ino, os.stat(secret).st_ino)
                    os.close(descriptor)
        finally:
            done.set()
            worker.join()

    def test_no_descriptor_is_left_open(self) -> None:
        if not os.path.isdir("/proc/self/fd"):
            self.skipTest("/proc/self/fd is not here")
        put(self.folder, "a/b", "")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            self.verify()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class WithoutDescriptors(unittest.TestCase):
    """The way for systems that cannot open a file from a folder's descriptor."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-verify-")
        self.addCleanup(holder.cleanup)
        self.top = holder.name
        put(self.top, "a/b", "x")
        os.symlink("b", os.path.join(self.top, "a", "link"))
        os.symlink("a", os.path.join(self.top, "c"))
        os.mkfifo(os.path.join(self.top, "pipe"))

    def test_both_ways_answer_the_same(self) -> None:
        answers = []
        for by_descriptor in (True, False):
            with SealedFolder(self.top, by_descriptor=by_descriptor) as folder:
                told = [
                    self.answer(folder, name) for name in ("a/b", "a/link", "c/b", "pipe", "none", "a", "none/x", "a\0")
                ]
                answers.append((told, list(folder.strays({"a/b"}))))
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0][0][:2], ["read", "a symbolic link, not a regular file"])
        strays = [("a/link", "a symbolic link"), ("c", "a symbolic link"), ("pipe", "a pipe")]
        self.assertEqual(answers[0][1], strays)

    def answer(self, folder: SealedFolder, name: str) -> str:
        try:
            os.close(folder.open(name))
        except UnfitFile as unfit:
            return "a path that holds a NUL" if "null" in unfit.reason else unfit.reason
        return "read"

    def test_a_path_that_is_no_folder_raises(self) -> None:
        for by_descriptor in (True, False):
            with self.assertRaises(OSError):
                SealedFolder(os.path.join(self.top, "a", "b"), by_descriptor=by_descriptor)


class Contents(FilesetCase):
    def change(self, name: str, **changes: Any) -> None:
        value = load(self.folder, name)
        for key, new in changes.items():
            if new is None:
                value.pop(key)
            else:
                value[key] = new
        put(self.folder, name, json.dumps(value))
        reseal(self.folder, name)

    def lines(self, *lines: str) -> None:
        put(self.folder, "timeline.jsonl", "".join(line + "\n" for line in lines))
        reseal(self.folder, "timeline.jsonl")

    def turns(self, *changed: tuple[int, str, Any]) -> None:
        with open(os.path.join(self.folder, "timeline.jsonl"), encoding="utf-8") as opened:
            turns = [json.loads(line) for line in opened]
        for number, key, value in changed:
            turns[number - 1].pop(key, None)
            if value is not None:
                turns[number - 1][key] = value
        self.lines(*(json.dumps(turn) for turn in turns))

    def test_each_fact_of_the_manifest_is_counted_again(self) -> None:
        for key, value in (
            ("turn_count", 6),
            ("turn_count", 5.0),
            ("counts", {"USER": 5}),
            ("tools", {"calls": 1}),
            ("first_utc", "2026-05-01T09:00:00.000Z"),
            ("last_utc", None),
            ("sources", []),
            ("sources", "x"),
        ):
            with self.subTest(key=key, value=value):
                shutil.rmtree(self.folder)
                make_fileset(self.folder)
                spoil(self.folder, [["manifest", {key: value}]])
                self.refuse(f"manifest.json: {key}")
                spoil(self.folder, [["manifest", {key: {"$delete": True}}]])
                self.refuse(f"manifest.json: {key}")

    def test_the_turns_and_records_of_each_source_are_counted_again(self) -> None:
        manifest = load(self.folder)
        manifest["sources"][0]["turns"] = 4
        manifest["sources"][0]["records"]["bad"] = 1
        write_manifest(self.folder, manifest)
        self.refuse("turns of source 1", "records of source 1")
        for records in (None, {}, {"read": True, "used": 1, "merged": 0, "skipped": 0, "bad": 0}):
            with self.subTest(records=records):
                manifest["sources"][0].update(turns=5, records=records)
                write_manifest(self.folder, manifest)
                self.refuse("records of source 1")

    def test_a_turn_of_an_unlisted_source_is_a_problem(self) -> None:
        for source in (1, -1, "0", True):
            with self.subTest(source=source):
                self.turns((5, "src", source))
                self.refuse("manifest.json: the timeline has turns of a source that is not listed")

    def test_lines_that_are_no_turns_are_named(self) -> None:
        good = json.dumps({"seq": 1, "ts": "", "class": "USER", "text": "x", "kind": "text", "src": 0})
        cases = {
            "": "line 1 is not a JSON object",
            "[]": "line 1 is not a JSON object",
            "{": "line 1 is not a JSON object",
            '{"seq": 1, "seq": 1}': "line 1 is not a JSON object",
            '{"seq": NaN}': "line 1 is not a JSON object",
            "[" * 100_000: "line 1 is not a JSON object",
            '{"seq": ' + "1" * 5000 + "}": "line 1 is not a JSON object",
            good.replace("1", "2", 1): "line 1 does not have seq 1",
            good.replace("1", "true", 1): "line 1 does not have seq 1",
            good.replace("1", "1.0", 1): "line 1 does not have seq 1",
            good.replace("USER", "user"): "line 1 has no known class",
            good.replace('"USER"', "[]"): "line 1 has no known class",
            good.replace('"x"', "7"): "line 1 has no known class or no text",
        }
        for line, says in cases.items():
            with self.subTest(line[:40]):
                self.lines(line)
                self.refuse(f"timeline.jsonl: {says}")

    def test_only_the_first_bad_lines_are_named_one_by_one(self) -> None:
        self.lines(*["x"] * 12)
        self.refuse("timeline.jsonl: line 5 is", "timeline.jsonl: +7 more such lines")

    def test_the_last_line_needs_its_line_feed(self) -> None:
        put(self.folder, "timeline.jsonl", "x")
        reseal(self.folder, "timeline.jsonl")
        self.refuse("timeline.jsonl: the last line has no line feed")

    def test_lines_longer_than_a_piece_are_read_whole(self) -> None:
        shutil.rmtree(self.folder)
        long = {"class": "AGENT", "text": "é" * 1_500_000, "kind": "text"}
        make_fileset(self.folder, [*TURNS, long, *TURNS[:1]], kept=1)
        self.assertEqual(self.verify().code, 0, self.verify().err)

    def test_a_pair_points_to_an_earlier_turn_of_the_same_call(self) -> None:
        says = "timeline.jsonl: line 4 is paired with no earlier turn of the same call"
        for changes in (
            [(4, "pair", 1)],
            [(4, "pair", 4)],
            [(4, "pair", 5)],
            [(4, "pair", "3")],
            [(4, "pair", True)],
            [(4, "call", "c2")],
            [(4, "call", None)],
            [(4, "agent", "a1")],
            [(4, "kind", "tool_call")],
            [(3, "kind", "tool")],
        ):
            with self.subTest(changes):
                shutil.rmtree(self.folder)
                make_fileset(self.folder)
                self.turns(*changes)
                self.refuse(says)

    def test_a_turn_pairs_once(self) -> None:
        shutil.rmtree(self.folder)
        make_fileset(self.folder, [*TURNS[:4], TURNS[3]])
        self.refuse("timeline.jsonl: line 5 is paired with no earlier turn")

    def test_a_result_may_come_before_its_call(self) -> None:
        shutil.rmtree(self.folder)
        result = {"class": "TOOL", "text": "ok", "kind": "tool_result", "call": "c1"}
        call = {"class": "TOOL", "text": "x", "kind": "tool_call", "call": "c1", "pair": 2}
        make_fileset(self.folder, [TURNS[0], result, call, TURNS[1], TURNS[4]])
        self.accept()

    def test_each_key_of_the_payloads_is_needed(self) -> None:
        for name in ("HANDOFF.summary.json", "HANDOFF.llm.json"):
            for key in load(self.folder, name):
                with self.subTest(name=name, key=key):
                    shutil.rmtree(self.folder)
                    make_fileset(self.folder)
                    self.change(name, **{key: None})
                    self.refuse(name)

    def test_each_value_of_the_payloads_fits_manifest_and_partner(self) -> None:
        for name in ("HANDOFF.summary.json", "HANDOFF.llm.json"):
            for key in load(self.folder, name):
                with self.subTest(name=name, key=key):
                    shutil.rmtree(self.folder)
                    make_fileset(self.folder)
                    self.change(name, **{key: "changed"})
                    self.refuse(name)

    def test_summary_and_payload_changed_together_must_fit_the_manifest(self) -> None:
        for key, value in (("project", "other"), ("generated_at", "x"), ("provenance", {}), ("session", {"id": "s2"})):
            with self.subTest(key):
                shutil.rmtree(self.folder)
                make_fileset(self.folder)
                for name in ("HANDOFF.summary.json", "HANDOFF.llm.json"):
                    self.change(name, **{key: value})
                self.refuse(f"HANDOFF.llm.json: {key} differs", f"HANDOFF.summary.json: {key} differs")

    def test_a_ledger_stands_in_all_of_them_or_in_none(self) -> None:
        self.change("HANDOFF.summary.json", ledger={"req_id": "R1"})
        self.refuse("HANDOFF.summary.json: ledger differs")
        self.change("HANDOFF.llm.json", ledger={"req_id": "R1"})
        self.refuse("HANDOFF.llm.json: ledger differs from the manifest")

    def test_the_turns_of_the_payload_are_the_newest_of_the_timeline(self) -> None:
        turns = load(self.folder, "HANDOFF.llm.json")["timeline"]
        cases: tuple[dict[str, Any], ...] = (
            {"timeline": [*turns[:-1], {**turns[-1], "text": "99 tests pass."}]},
            {"timeline": [*turns[:-1], {**turns[-1], "at": 5.0}]},
            {"timeline": turns[::-1]},
            {"timeline": turns[1:]},
            {"timeline_omitted": 1},
            {"timeline_omitted": True},
            {"timeline": [1, 2, 3]},
            {"timeline": {}},
            {"tool_calls": []},
        )
        for changes in cases:
            with self.subTest(list(changes)):
                shutil.rmtree(self.folder)
                make_fileset(self.folder)
                self.change("HANDOFF.llm.json", **changes)
                self.refuse("HANDOFF.llm.json: t")

    def test_redactions_fit_the_manifest_and_add_up(self) -> None:
        for key, value in (
            ("schema_version", "2.1.0"),
            ("mode", "off"),
            ("masked", 1),
            ("masked", False),
            ("secrets", 1),
            ("rules", {"jwt": 1}),
            ("rules", []),
            ("places", [1]),
            ("places", {}),
            ("places_omitted", 1),
            ("places_omitted", -1),
        ):
            with self.subTest(key=key, value=value):
                shutil.rmtree(self.folder)
                make_fileset(self.folder)
                self.change("redactions.json", **{key: value})
                self.refuse("redactions.json: ")

    def test_a_document_is_strict_json(self) -> None:
        for text in ("", "[]", "{} x", '{"a": 1, "a": 1}', "\ufeff{}", '{"a": NaN}', "[" * 9000):
            for name in ("HANDOFF.summary.json", "HANDOFF.llm.json", "redactions.json"):
                with self.subTest(name=name, text=text[:20]):
                    put(self.folder, name, text)
                    reseal(self.folder, name)
                    self.refuse(f"{name}: no")

    def test_something_secret_looking_is_noted(self) -> None:
        token = "ghp_" + "1a2B3c4D5e6F7g8H9i0JkLmNoPqRsTuVwXyZ"
        put(self.folder, "HANDOFF.md", self.brief() + a_contract(RISKS=f"the key {token}"))
        told = self.verify()
        self.assertEqual(told.code, 0)
        self.assertIn("note: HANDOFF.md holds something that looks like a secret", told.err)
        self.assertNotIn(token, told.err + told.out)

    def brief(self) -> str:
        with open(os.path.join(self.folder, "HANDOFF.md"), encoding="utf-8") as opened:
            return opened.read()


class Contract(FilesetCase):
    def tail(self, text: str | bytes) -> None:
        with open(os.path.join(self.folder, "HANDOFF.md"), "rb") as opened:
            data = opened.read()
        sealed = data[: data.rindex(SEAL.encode()) + len(SEAL)]
        put(self.folder, "HANDOFF.md", sealed + (text.encode() if isinstance(text, str) else text))

    def test_filling_it_in_is_no_tampering_and_its_level_is_told(self) -> None:
        self.tail(a_contract())
        told = self.accept("claimed")
        self.assertIn("note: the contract is only claimed", told.err)

    def test_what_is_lacking_is_noted(self) -> None:
        for word in CONTRACT:
            for value in (None, "", "  "):
                with self.subTest(word=word, value=value):
                    self.tail(a_contract(**{word: value}))
                    self.assertIn(word, self.accept("incomplete").err)
        for value in ("done", "DONE.", "OK", "DONE PARTIAL"):
            with self.subTest(value):
                self.tail(a_contract(RESULT=value))
                self.assertIn("RESULT is none of", self.accept("incomplete").err)

    def test_the_value_is_the_rest_of_its_own_line_and_the_first_one_counts(self) -> None:
        self.tail(a_contract(EVIDENCE="\nTOOLS.md"))
        self.accept("incomplete")
        self.tail(a_contract() + "RESULT: maybe\n")
        self.accept("claimed")
        self.tail("RESULT: maybe\n" + a_contract())
        self.accept("incomplete")

    def test_words_in_fences_or_inside_lines_do_not_count(self) -> None:
        self.tail("```\n" + a_contract() + "```\n")
        self.accept("none")
        self.tail("so RESULT: DONE\n - RESULT: DONE\nRESULT : DONE\nresult: DONE\n")
        self.accept("none")

    def test_evidence_that_is_here_supports_a_claim(self) -> None:
        put(self.root, "logs/run 1.txt", "x")
        for evidence in ("logs/run 1.txt", "TOOLS.md", "see `TOOLS.md`.", "(timeline.jsonl:3)", "./logs/run 1.txt"):
            with self.subTest(evidence):
                self.tail(a_contract(EVIDENCE=evidence))
                self.accept("supported")

    def test_evidence_outside_or_behind_a_link_supports_nothing(self) -> None:
        os.symlink("/etc", os.path.join(self.root, "etc"))
        for evidence in (
            "/etc/hostname",
            "../F/TOOLS.md",
            "etc/hostname",
            "logs",
            "F",
            ".",
            "~/.bashrc",
            "deadbeef",
            "C:\\x",
        ):
            with self.subTest(evidence):
                self.tail(a_contract(EVIDENCE=evidence))
                self.accept("claimed")

    def test_structure_outside_fences_is_refused(self) -> None:
        for text in (
            "# Heading\n",
            "  ###### Heading\n",
            "#\n",
            "---\nnext_agent: finalizer\n---\n",
            "text\n\n- - -\n",
            "***\n",
            "_ _ _\n",
            "text\n===\n",
            "text\n--\n",
            "===\n",
            "text\r# Heading\n",
            "text\r\n---\r\n",
            "```\n```\n# Heading\n",
        ):
            with self.subTest(text):
                self.tail(text)
                self.refuse("HANDOFF.md: line ")

    def test_text_that_only_looks_like_structure_is_kept(self) -> None:
        for text in (
            "#hashtag\n",
            "    # code\n",
            "```\n# Heading\n---\n```\n",
            "~~~\n# Heading\n",
            "\n===\n",
            "--x\n",
            "a - b - c\n",
            "- [ ] open\n",
        ):
            with self.subTest(text):
                self.tail(text)
                self.accept()

    def test_a_tail_that_is_no_text_is_refused(self) -> None:
        self.tail(b"RESULT: \xff\n")
        self.refuse("HANDOFF.md: behind its sealed part: not valid UTF-8")

    def test_the_sealed_part_ends_with_the_contract_heading(self) -> None:
        put(self.folder, "HANDOFF.md", "---\n---\n" + SEAL + "RESULT: DONE\n")
        spoil(self.folder, [["entry", "HANDOFF.md", {}]])
        self.assertEqual(self.verify().code, 0)
        manifest = load(self.folder)
        entry = next(entry for entry in manifest["files"] if entry["name"] == "HANDOFF.md")
        entry.update(bytes=4, sha256=hashlib.sha256(b"---\n").hexdigest())
        write_manifest(self.folder, manifest)
        self.refuse("HANDOFF.md: the sealed part does not end")


class Lookup(FilesetCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = os.path.join(self.root, ".scratch", "handoffs", "projects")

    def file_under(self, project: str, name: str, session: str = "s1") -> None:
        folder = os.path.join(self.store, project, name)
        make_fileset(folder)
        if session != "s1":
            spoil(folder, [["manifest", {"session": session}]])

    def test_an_id_is_a_folder_or_a_session_exact_before_its_beginning(self) -> None:
        self.file_under("p", "abc")
        self.file_under("p", "abcd", "zz/top")
        for wanted, folder in (("abc", "abc"), ("abcd", "abcd"), ("zz/top", "abcd"), ("zz", "abcd"), ("s1", "abc")):
            with self.subTest(wanted):
                told = run("verify", wanted, "--json", cwd=self.root)
                self.assertEqual(json.loads(told.out)["dir"], os.path.join(self.store, "p", folder))

    def test_several_are_ambiguous_and_none_is_none(self) -> None:
        self.file_under("p", "abc")
        self.file_under("q", "abd")
        told = run("verify", "ab", cwd=self.root)
        self.assertEqual((told.code, told.out), (3, ""))
        self.assertIn("'ab' fits several filesets: projects/p/abc, projects/q/abd", told.err)
        told = run("verify", "nobody", cwd=self.root)
        self.assertEqual((told.code, told.out), (4, ""))
        self.assertIn("no fileset 'nobody'", told.err)

    def test_leftovers_and_links_in_the_store_are_no_filesets(self) -> None:
        self.file_under("p", ".tmp-abc")
        os.symlink(self.folder, os.path.join(self.store, "p", "abc"))
        self.assertEqual(run("verify", "abc", cwd=self.root).code, 4)

    def test_a_folder_comes_before_an_id(self) -> None:
        self.file_under("p", "F")
        told = run("verify", "F", "--json", cwd=self.root)
        self.assertEqual(json.loads(told.out)["dir"], self.folder)

    def test_a_damaged_fileset_is_found_by_its_folder(self) -> None:
        self.file_under("p", "abc")
        put(os.path.join(self.store, "p", "abc"), "manifest.json", "{")
        self.assertEqual(run("verify", "abc", cwd=self.root).code, 1)


class Builder(FilesetCase):
    def test_the_made_fileset_lists_its_files_rightly(self) -> None:
        for entry in load(self.folder)["files"]:
            self.assertEqual(entry, computed(self.folder, entry["name"]))
        mode = os.lstat(os.path.join(self.folder, "manifest.json")).st_mode
        self.assertTrue(stat.S_ISREG(mode))


if __name__ == "__main__":
    unittest.main()
