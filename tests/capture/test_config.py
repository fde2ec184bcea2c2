"""Tests of `handoff.config.json` (capture.md 4)."""

from __future__ import annotations

import json
import os
from typing import Any

from handoff_core.capture import config
from handoff_core.errors import HandoffError

from tests.support import ProjectCase

WHOLE = {
    "$schema": "./handoff.config.schema.json",
    "version": 1,
    "handoff_dir": "briefs",
    "project_name": "orbit",
    "implementer_role": "frontend",
    "max_brief_tokens": 1000,
    "capture": {"subagents": True, "include": ["*.jsonl"], "exclude": ["old/**"], "max_tool_output": 40},
}


class Configuration(ProjectCase):
    def read_config(self, value: Any, start: str = "") -> config.Config:
        self.write(config.NAME, value if isinstance(value, (bytes, str)) else json.dumps(value))
        return config.read_config(os.path.join(self.root, start), self.root)

    def refusal(self, value: Any) -> list[str]:
        with self.assertRaises(HandoffError) as caught:
            self.read_config(value)
        self.assertEqual(caught.exception.code, 2)
        return caught.exception.problems

    def test_without_a_file_every_default_holds(self) -> None:
        found = config.read_config(self.root, self.root)
        self.assertIsNone(found.folder)
        self.assertEqual((found.max_brief_tokens, found.implementer_role, found.subagents), (30000, "backend", False))

    def test_every_key_acts(self) -> None:
        found = self.read_config(WHOLE)
        self.assertEqual(found.handoff_dir, os.path.join(self.root, "briefs"))
        self.assertEqual((found.project_name, found.implementer_role), ("orbit", "frontend"))
        self.assertEqual((found.max_brief_tokens, found.max_tool_output, found.subagents), (1000, 40, True))
        self.assertEqual((found.include, found.exclude), (["*.jsonl"], ["old/**"]))

    def test_the_nearest_file_counts_but_none_above_the_root(self) -> None:
        self.write("a/" + config.NAME, '{"project_name": "near"}')
        self.write("a/b/c.txt", "")
        self.assertEqual(self.read_config({"project_name": "far"}, "a/b").project_name, "near")
        inner = os.path.join(self.root, "inner")
        os.mkdir(inner)
        self.assertEqual(config.read_config(inner, inner).project_name, "")

    def test_from_outside_the_root_the_one_in_the_root_counts(self) -> None:
        self.write(config.NAME, '{"project_name": "mine"}')
        self.assertEqual(config.read_config(os.sep, self.root).project_name, "mine")

    def test_any_other_key_is_named(self) -> None:
        self.assertEqual(self.refusal({"redact": False}), [f"{config.NAME}: redact: no such key"])
        self.assertEqual(self.refusal({"capture": {"redact": 1}}), [f"{config.NAME}: capture.redact: no such key"])

    def test_any_other_type_or_value_is_named(self) -> None:
        wrong: dict[str, list[Any]] = {
            "$schema": ["x.json", 1],
            "version": [2, "1", True, 1.0],
            "handoff_dir": ["", " ", 1, "a\0b"],
            "project_name": ["", None, []],
            "implementer_role": ["Backend", "", 1],
            "max_brief_tokens": [999, 100001, "1000", 1000.5, True],
            "capture": [[], "x"],
        }
        for key, values in wrong.items():
            for value in values:
                with self.subTest(key=key, value=value):
                    (problem,) = self.refusal({key: value})
                    self.assertIn(f"{config.NAME}: {key}: ", problem)

    def test_any_other_value_below_capture_is_named(self) -> None:
        wrong = {"subagents": 1, "include": "x", "exclude": [""], "max_tool_output": -1}
        problems = self.refusal({"capture": wrong})
        self.assertEqual([problem.split(": ")[1] for problem in problems], [f"capture.{key}" for key in wrong])

    def test_the_file_is_strict_json_of_limited_size(self) -> None:
        for data in ('{"version": 1, "version": 1}', "{", "\ufeff{}", "[]", b"\xff", '{"version": NaN}'):
            with self.subTest(data=data):
                self.assertIn(config.NAME, self.refusal(data)[0])
        padding = " " * (config.SIZE_LIMIT - 2)
        self.assertIsNotNone(self.read_config("{}" + padding).folder)
        self.assertEqual(self.refusal("{}" + padding + " "), [f"{config.NAME}: larger than 65536 bytes"])

    def test_a_folder_in_its_place_is_refused(self) -> None:
        os.mkdir(os.path.join(self.root, config.NAME))
        with self.assertRaises(HandoffError):
            config.read_config(self.root, self.root)

    def test_the_store_stays_inside_the_root_behind_every_link(self) -> None:
        os.symlink(os.sep, os.path.join(self.root, "out"))
        for folder in ("..", "../x", "/tmp", ".", "out/x", "a/../.."):
            with self.subTest(folder):
                self.assertIn("handoff_dir", self.refusal({"handoff_dir": folder})[0])

    def test_the_store_is_relative_to_the_files_own_folder(self) -> None:
        self.write("a/" + config.NAME, '{"handoff_dir": "../briefs"}')
        found = config.read_config(os.path.join(self.root, "a"), self.root)
        self.assertEqual(found.handoff_dir, os.path.join(self.root, "briefs"))
