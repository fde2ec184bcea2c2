"""What `append` reads: the vectors of `json.jsonl`, the public parsing suite, the naughty strings."""

from __future__ import annotations

import base64
import contextlib
import glob
import json
import os
import subprocess
import sys
import time
import unittest
from typing import Any

from handoff_core.jsonl import JsonError, decode, parse

from tests.records import REQ, a_request
from tests.support import SCRIPTS, ProjectCase, Result, shared, vectors

ENTRY = os.path.join(SCRIPTS, "handoff.py")
ACCEPTED_ON_PURPOSE = {
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
}
REFUSED_ON_PURPOSE = {"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"}


def text_of(spec: Any) -> str:
    """Return a text of a vector, its repeats written out."""
    if isinstance(spec, dict):
        return "".join(piece * count for piece, count in spec["$repeat"])
    return str(spec)


class JsonVectors(ProjectCase):
    def test_every_vector_holds(self) -> None:
        for vector in vectors("json.jsonl"):
            with self.subTest(vector["id"]):
                for name in ("handoff.jsonl", "handoff.seal", "handoff.lock"):
                    path = os.path.join(self.root, ".scratch", name)
                    if os.path.exists(path):
                        os.unlink(path)
                begun = time.monotonic()
                result = self.outcome(vector)
                self.assertLess(time.monotonic() - begun, vector.get("seconds", 10))
                self.judge(vector, result)

    def outcome(self, vector: dict[str, Any]) -> Result:
        if "stdin_kind" in vector:
            return self.special(vector)
        data = base64.b64decode(vector["stdin_b64"]) if "stdin_b64" in vector else None
        return self.run_here(*vector["args"], stdin=text_of(vector["stdin"]).encode() if data is None else data)

    def special(self, vector: dict[str, Any]) -> Result:
        kind = vector["stdin_kind"]
        if kind == "closed":
            return self.run_here(*vector["args"], stdin=None)
        if os.name != "posix":
            raise unittest.SkipTest("needs terminals and pipes of POSIX")
        command = [sys.executable, ENTRY, *vector["args"]]
        if kind == "empty":
            return self.run_here(*vector["args"], stdin=b"")
        if kind == "tty":
            import pty

            leader, follower = pty.openpty()
            run = subprocess.run(command, stdin=follower, cwd=self.root, capture_output=True, timeout=10, check=False)
            os.close(leader)
            os.close(follower)
            return Result(run.returncode, run.stdout.decode(), run.stderr.decode())
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.root
        )
        with contextlib.suppress(BrokenPipeError):
            while process.poll() is None:
                process.stdin.write(b"x" * 65_536)  # type: ignore[union-attr]
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()  # type: ignore[union-attr]
        process.stdin = None
        out, err = process.communicate()
        return Result(process.returncode, out.decode(), err.decode())

    def judge(self, vector: dict[str, Any], result: Result) -> None:
        exits = vector["exit"] if isinstance(vector["exit"], list) else [vector["exit"]]
        self.assertIn(result.code, exits, result.err)
        self.assertNotIn("Traceback", result.err)
        if vector["expect"] == "reject":
            self.assertFalse(os.path.exists(self.log))
            self.assertIn("handoff.py: ", result.err)
            return
        stored = self.read(".scratch/handoff.jsonl").decode()
        self.assertEqual(stored.count("\n"), 1)
        for piece in vector.get("line_has", []):
            self.assertIn(piece, stored)
        for piece in vector.get("line_lacks", []):
            self.assertNotIn(piece, stored)


class ParsingSuite(unittest.TestCase):
    def test_each_file_is_accepted_or_refused_as_an_ordinary_error(self) -> None:
        files = sorted(glob.glob(os.path.join(shared("suites", "JSONTestSuite", "test_parsing"), "*.json")))
        self.assertEqual(len(files), 318)
        for path in files:
            name = os.path.basename(path)
            accepted = name in ACCEPTED_ON_PURPOSE or (name.startswith("y_") and name not in REFUSED_ON_PURPOSE)
            with open(path, "rb") as opened:
                data = opened.read()
            with self.subTest(name):
                try:
                    parse(decode(data))
                except JsonError as error:
                    self.assertFalse(accepted, error.reason)
                    self.assertTrue(error.reason)
                else:
                    self.assertTrue(accepted)


class ParsingSuiteThroughAppend(ProjectCase):
    def test_no_file_of_the_suite_is_a_record_and_each_gets_one_clear_line(self) -> None:
        for path in sorted(glob.glob(os.path.join(shared("suites", "JSONTestSuite", "test_parsing"), "*.json"))):
            with open(path, "rb") as opened:
                result = self.run_here("append", "build-pass", stdin=opened.read())
            with self.subTest(os.path.basename(path)):
                self.assertEqual((result.code, result.out), (1, ""))
                self.assertRegex(result.err, r"\Ahandoff\.py: [^\n]+\n\Z")
                self.assertFalse(os.path.exists(self.log))


class NaughtyStrings(ProjectCase):
    def test_each_is_stored_given_back_equal_and_printed_harmlessly(self) -> None:
        with open(shared("suites", "big-list-of-naughty-strings", "blns.json"), encoding="utf-8") as opened:
            strings = [text for text in json.load(opened) if text]
        for number, text in enumerate(strings, 1):
            with self.subTest(number=number):
                self.assertEqual(
                    self.append(a_request(question=text)).out, f"appended consultation-request at line {number}\n"
                )
        log = self.read(".scratch/handoff.jsonl").decode()
        self.assertEqual(log.count("\n"), len(strings))
        self.assertEqual([json.loads(line)["question"] for line in log.split("\n")[:-1]], strings)
        self.assertEqual(self.run_here("validate").code, 0)
        shown = self.run_here("show", "--last", "0").out
        hidden = [character for character in shown if character != "\n" and not character.isprintable()]
        self.assertEqual(
            [c for c in hidden if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or 0x2028 <= ord(c) <= 0x202E], []
        )

    def test_each_as_a_slice_name_is_answered(self) -> None:
        self.append(a_request())
        with open(shared("suites", "big-list-of-naughty-strings", "blns.json"), encoding="utf-8") as opened:
            strings = json.load(opened)
        for text in strings:
            with self.subTest(text=text):
                result = self.run_here("latest", "--type", "consultation-request", f"--req-id={text}")
                self.assertIn(result.code, (0, 3))

    def test_the_last_record_given_back_is_the_one_that_was_appended(self) -> None:
        text = "\u202e right to left, \x85 next line, \x1b[31m red, \U000e0041 tag, \u200d joiner"
        self.append(a_request(question=text))
        result = self.run_here("latest", "--type", "consultation-request", "--req-id", REQ)
        self.assertEqual(json.loads(result.out)["question"], text)
        self.assertTrue(set(result.out) & {"\u202e", "\x85", "\x1b", "\U000e0041"} == set())
        self.assertIn("\u200d", result.out)


if __name__ == "__main__":
    unittest.main()
