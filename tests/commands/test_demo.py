"""`demo` plays a whole slice quickly, says so when an answer is wrong, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import tempfile
import time
import unittest
from unittest import mock

from handoff_core.commands import demo
from handoff_core.setup import story

from tests.setup.helpers import changed, snapshot
from tests.support import Result, run


class DemoTest(unittest.TestCase):
    """A test with a temporary folder of its own in the place of the machine's."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-demo-test-")
        self.addCleanup(holder.cleanup)
        self.folder = os.path.realpath(holder.name)
        patch = mock.patch.object(tempfile, "tempdir", self.folder)
        patch.start()
        self.addCleanup(patch.stop)

    def demo(self, *flags: str) -> Result:
        return run("demo", *flags)

    def test_every_answer_is_the_expected_one_and_nothing_is_left(self) -> None:
        began = time.process_time()
        result = self.demo()
        self.assertEqual((result.code, result.err), (0, ""), result.out)
        self.assertLess(time.process_time() - began, 2)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertRegex(result.out.splitlines()[-1], r"^handoff demo: all \d+ answers as expected$")

    def test_it_shows_the_whole_way(self) -> None:
        out = self.demo().out
        for said in (
            '"next": ["product-requirements-expert"], "rule": "intake-ready"',
            "unknown field 'acceptance_critera' — did you mean 'acceptance_criteria'?",
            '"next": ["feature-implementer"], "rule": "build-retry"',
            '"next": ["feature-implementer"], "rule": "process-findings"',
            '"next": ["change-grader"], "rule": "grade"',
            '"rule": "feature-complete"',
            "line 3: differs from its seal",
            "handoff-log-guard.py is asked: echo",
            "[REDACTED:github-pat:1]",
            "OK demo-session",
        ):
            self.assertIn(said, out)
        self.assertNotIn(story.KEY, out)
        self.assertNotIn(self.folder, out)
        self.assertLessEqual(max(len(line) for line in out.splitlines()), demo.WIDTH + 1)

    def test_a_kept_folder_is_a_project_that_validates(self) -> None:
        result = self.demo("--keep")
        folder = result.out.splitlines()[-1]
        self.assertEqual(os.path.dirname(folder), self.folder)
        self.assertEqual(run("validate", "--strict", "--root", folder).code, 0)
        self.assertEqual(run("verify", os.path.join(folder, story.FILESET)).code, 0)
        with open(os.path.join(folder, story.FILESET, "HANDOFF.md"), encoding="utf-8") as opened:
            self.assertNotIn(story.KEY, opened.read())

    def test_the_machine_form_is_one_line_of_ascii(self) -> None:
        result = self.demo("--json")
        value = json.loads(result.out)
        self.assertEqual(list(value), ["version", "steps", "ok"])
        self.assertEqual((value["ok"], result.out.count("\n"), result.out.isascii()), (True, 1, True))
        self.assertTrue(all(step["ok"] for step in value["steps"]))
        self.assertIn("folder", json.loads(self.demo("--json", "--keep").out))

    def test_a_wrong_answer_is_said_and_fails(self) -> None:
        steps = (("A step that cannot hold.", (story.Call(("route",), None, story.decides("grade")),)),)
        with mock.patch.object(story, "STEPS", steps):
            result = self.demo()
        self.assertEqual(result.code, 1)
        self.assertIn("demo: step 1: the answer to `handoff.py route` is not the expected one", result.err)
        self.assertEqual(result.out.splitlines()[-1], "handoff demo: 1 of 1 answers not as expected")
        self.assertEqual(os.listdir(self.folder), [])

    def test_it_writes_only_below_its_folder_and_needs_neither_git_nor_a_locale(self) -> None:
        with tempfile.TemporaryDirectory() as here, mock.patch.dict(os.environ, {"PATH": here, "LC_ALL": "C"}):
            before = snapshot(here)
            os.chmod(here, 0o555)
            result = run("demo", cwd=here)
            os.chmod(here, 0o755)
            self.assertEqual((result.code, result.err), (0, ""), result.out)
            self.assertEqual(changed(before, snapshot(here)), [])

    def test_without_a_temporary_folder_there_is_one_clear_line(self) -> None:
        with mock.patch.object(tempfile, "tempdir", os.path.join(self.folder, "missing")):
            result = self.demo()
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertIn("handoff.py: the demo needs a temporary folder: ", result.err)


class StoryTest(unittest.TestCase):
    def test_the_checks_on_answers_can_fail(self) -> None:
        good = story.Answer(0, '{"rule": "grade", "next": ["a"]}\n', "")
        for holds, check in (
            (True, story.decides("grade", "a")),
            (False, story.decides("grade")),
            (False, story.decides("other", "a")),
            (False, story.receipt(1)),
            (False, story.refused("grade")),
            (False, story.prints("absent")),
        ):
            self.assertEqual(check(good), holds)
        names = ("FRONTMATTER", "SHA-PRESENT", "SHA-FRESH", "ROUTING", "CONTENT", "GIT-STATE")
        lines = dict.fromkeys(names, "PASS")
        for change, holds in (
            ({}, True),
            ({"GIT-STATE": "WARN"}, True),
            ({"GIT-STATE": "FAIL"}, False),
            ({"CONTENT": "WARN"}, False),
            ({"ROUTING": "FAIL"}, False),
        ):
            out = "".join(f"  {name}: {verdict} - x\n" for name, verdict in (lines | change).items())
            self.assertEqual(story.gate_holds(story.Answer(1, out, "")), holds, change)
        self.assertFalse(story.gate_holds(story.Answer(1, "", "no such file")))
