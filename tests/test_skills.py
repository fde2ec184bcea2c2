"""The skills keep the rules of hooks.md 10, and show nothing that the program does not do."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import tempfile
import unittest
from unittest import mock

from handoff_core import __version__, git
from handoff_core.setup import skills

from tests.support import REPOSITORY, Result, run

FOLDER = os.path.join(REPOSITORY, ".claude", "skills")
COMPATIBILITY = "Needs python3 3.11 or later; commands run from the project root."
BLOCK = re.compile(r"^ *```(sh(?: ask| gate)?)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"`(python3 scripts/handoff\.py [^`]+)`")


def text_of(name: str) -> str:
    """Return a skill's SKILL.md."""
    with open(os.path.join(FOLDER, name, "SKILL.md"), encoding="utf-8") as opened:
        return opened.read()


def commands_of(name: str) -> list[tuple[str, str]]:
    """Return the commands that a skill shows, each with the word behind its fence."""
    text = text_of(name)
    blocks = [(kind, "\n".join(line.strip() for line in body.splitlines())) for kind, body in BLOCK.findall(text)]
    return blocks + [("sh", cell) for cell in CELL.findall(text)]


class RulesTest(unittest.TestCase):
    def test_there_are_the_four_skills_and_no_other(self) -> None:
        self.assertEqual(sorted(os.listdir(FOLDER)), list(skills.NAMES))

    def test_each_keeps_the_rules(self) -> None:
        for name in skills.NAMES:
            with self.subTest(name):
                self.assertEqual(skills.problems(name, text_of(name)), [])
                fields = skills.frontmatter(text_of(name))
                self.assertEqual(fields["license"], "MIT")
                self.assertEqual(
                    fields["compatibility"], "Needs python3 3.11 or later; commands run from the project root."
                )
                self.assertEqual(fields["metadata"], {"version": __version__, "author": "the handoff authors"})
                self.assertNotIn(": ", str(fields["description"]), "a plain YAML value holds no colon and blank")

    def test_the_rules_can_be_broken(self) -> None:
        good = text_of("handoff-board")
        for change, problem in (
            (("name: handoff-board", "name: Board"), "has a name that is not 1 to 64 of a-z, 0-9 and -"),
            (("name: handoff-board", "name: handoff-other"), "is named handoff-other, not like its folder"),
            (("license: MIT\n", ""), "lacks the key license"),
            (("license: MIT", "license: MIT\nallowed-tools: Bash"), "has the key allowed-tools"),
            (("license: MIT", "license: MIT\nlicense: MIT"), "has the key license twice"),
            (
                ("compatibility: Needs", "compatibility:\n  - Needs"),
                "has a line in its frontmatter that cannot be read",
            ),
            (("description: Show", "description: " + "x" * 1100), "has a description that is no text of 1 to 1024"),
            (("metadata:", "metadata: text\nother:"), "has metadata that is no map of texts"),
            (("---\nname", "name"), "has no frontmatter"),
            (("# Show", "x\n" * 150 + "# Show"), "has 150 lines or more"),
        ):
            with self.subTest(problem):
                found = skills.problems("handoff-board", good.replace(*change, 1))
                self.assertTrue(any(line.startswith(problem) for line in found), found)

    def test_links_lead_to_files_of_the_skill(self) -> None:
        for name in skills.NAMES:
            for target in re.findall(r"\]\(([^)]+)\)", text_of(name)):
                self.assertTrue(os.path.exists(os.path.join(FOLDER, name, target)), target)

    def test_the_table_of_types_is_that_of_the_schemas(self) -> None:
        rows = re.findall(r"^\| `([a-z-]+)` \| .* \| (`.*`) \|$", text_of("handoff-append"), re.MULTILINE)
        shown = {kind: re.findall(r"`([a-z_]+)`", fields) for kind, fields in rows}
        expected = {}
        folder = os.path.join(REPOSITORY, "schemas", "scratch")
        for file in os.listdir(folder):
            with open(os.path.join(folder, file), encoding="utf-8") as opened:
                schema = json.load(opened)
            common = ("type", "req_id", "ts", "author")
            expected[file.removesuffix(".schema.json")] = [name for name in schema["required"] if name not in common]
        self.assertEqual(
            {kind: sorted(names) for kind, names in shown.items()},
            {kind: sorted(names) for kind, names in expected.items()},
        )

    def test_the_route_specification_is_printed_from_the_program(self) -> None:
        with open(os.path.join(FOLDER, "handoff-routing", "route-spec.md"), encoding="utf-8") as opened:
            self.assertEqual(opened.read(), run("route", "--rules", "--format", "markdown").out)


class CommandsTest(unittest.TestCase):
    """Every command that a skill shows is run in the folder of a played demo."""

    folder: str

    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-skills-")
        cls.addClassCleanup(holder.cleanup)
        with mock.patch.object(tempfile, "tempdir", os.path.realpath(holder.name)):
            cls.folder = run("demo", "--keep").out.splitlines()[-1]
        with contextlib.suppress(git.GitError):
            git.run(cls.folder, "init", "-q")

    def play(self, command: str) -> Result:
        first, _, rest = command.partition("\n")
        words = shlex.split(first)
        self.assertEqual(words[:2], ["python3", "scripts/handoff.py"])
        body = ""
        if "<<" in first:
            delimiter = words[-1].removeprefix("<<")
            self.assertTrue(rest.endswith(f"\n{delimiter}"), command)
            words, body = words[:-1], rest.removesuffix(delimiter)
        return run(*words[2:], stdin=body, cwd=self.folder)

    def test_each_command_does_what_the_skill_says(self) -> None:
        count = 0
        home = os.path.join(self.folder, "home")
        nowhere = dict.fromkeys(("HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "CODEX_HOME"), home)
        with mock.patch.dict(os.environ, nowhere):
            for name in skills.NAMES:
                for kind, command in commands_of(name):
                    count += 1
                    with self.subTest(skill=name, command=command.split("\n", 1)[0]):
                        result = self.play(command)
                        self.assert_answer(kind, command, result)
        self.assertGreater(count, 25)

    def assert_answer(self, kind: str, command: str, result: Result) -> None:
        if "--latest" in command:
            self.assertEqual(result.code, 4, "there is no session of this folder")
        elif kind == "sh gate":
            self.assertIn("VALID: ", result.out)
            self.assertNotIn("FAIL", result.out)
        elif "audit-autofix" in command and not os.path.exists(os.path.join(self.folder, ".git")):
            self.assertIn("cannot read the git worktree state", result.err)
        else:
            self.assertEqual(result.code, 0, result.err)

    def test_the_receipt_that_is_shown_is_the_one_that_comes(self) -> None:
        with tempfile.TemporaryDirectory() as base, mock.patch.object(tempfile, "tempdir", base):
            self.folder = run("demo", "--keep").out.splitlines()[-1]
            first = commands_of("handoff-append")[0][1]
            self.assertIn(self.play(first).out, text_of("handoff-append"))
