"""The public capture vectors, one subtest each (capture.md, formats.md)."""

from __future__ import annotations

import os
import shutil
import unittest
from typing import TYPE_CHECKING, Any

from tests.capture import vector_cases
from tests.capture.vector_cases import Fileset, World, can_unpack, cases, judge, judge_result, judge_traces, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Vectors(unittest.TestCase):
    """Each case has a project and a home folder of its own."""

    maxDiff = None

    def test_single_builds_hold_what_their_case_expects(self) -> None:
        for source, vector in cases():
            if "steps" in vector or "discover" in vector:
                continue
            with self.subTest(vector["name"]):
                if "zstd" in vector.get("needs", ()) and not can_unpack():
                    self.skipTest("neither the program zstd nor Python 3.14 is here")
                self.assertEqual(list(self.single(source, vector)), [])

    def single(self, source: str, vector: dict[str, Any]) -> Iterator[str]:
        args = vector.get("args", [])
        runs = [("", args, vector.get("expect", {}))]
        if "lenient" in vector:
            runs.append(("lenient: ", [*args, *vector["lenient"]["args"]], vector["lenient"]["expect"]))
        for label, words, expect in runs:
            world = World(self, vector, source)
            problems = list(self.one_build(world, vector["sources"], words, expect))
            if expect.get("deterministic"):
                problems += self.twice(world, source, vector)
            yield from (label + problem for problem in problems)

    def one_build(self, world: World, sources: list[str], words: list[str], expect: dict[str, Any]) -> Iterator[str]:
        """Build once, and yield all that is not as it should be."""
        before = tree(world.top)
        done, report = world.build(*sources, *words)
        yield from judge_result(done, report, expect)
        yield from judge_traces(world, report, before)
        if done.code or report is None:
            return
        made = Fileset(report["dir"])
        yield from judge(made, expect)
        yield from self.settled(world, made)
        folder = os.path.relpath(made.folder, world.project)
        if folder != expect.get("dir", folder) or not folder.startswith(expect.get("dir_under", "")):
            yield f"dir {folder}"
        after = tree(world.project)
        for name in expect.get("untouched", ()):
            if after.get(name) != before.get(os.path.join("proj", name)):
                yield f"{name} was touched"
        if "brief" in expect:
            checked = world.run("validate", os.path.join(made.folder, "HANDOFF.md"))
            if not checked.out.startswith(f"VALID: {expect['brief']}\n"):
                yield f"the gate says {checked.out[:400]}"

    def settled(self, world: World, made: Fileset) -> Iterator[str]:
        """Yield what `verify` says of a fresh fileset, and whether it changed anything."""
        before = tree(world.top)
        checked = world.run("verify", made.folder)
        if checked.code:
            yield f"verify: {checked.err[:300]}"
        if tree(world.top) != before:
            yield "verify changed something"

    def twice(self, world: World, source: str, vector: dict[str, Any]) -> Iterator[str]:
        """Yield the files that a build elsewhere, in another time zone, writes otherwise."""
        elsewhere = World(self, vector, source)
        with vector_cases.time_zone("Asia/Tokyo"):
            _, again = elsewhere.build(*vector["sources"], *vector.get("args", []))
        _, first = world.build(*vector["sources"], *vector.get("args", []))
        one, two = Fileset(first["dir"]), Fileset(again["dir"])
        yield from (f"{name} differs" for name in {*one.raw, *two.raw} if one.raw.get(name) != two.raw.get(name))

    def test_builds_in_a_row_hold_what_each_step_expects(self) -> None:
        for source, vector in cases("g"):
            if "steps" in vector:
                with self.subTest(vector["name"]):
                    self.assertEqual(list(self.steps(source, vector)), [])

    def steps(self, source: str, vector: dict[str, Any]) -> Iterator[str]:
        world = World(self, {}, source)
        hidden = os.path.join(world.top, "steps")
        os.mkdir(hidden)
        for name in os.listdir(world.project):
            if name != ".scratch":
                os.rename(world.at(name), os.path.join(hidden, name))
        folder = ""
        for number, step in enumerate(vector["steps"], 1):
            shutil.copy(os.path.join(hidden, step["file"]), world.at(step["as"]))
            for operation in step.get("edit_before", ()):
                edit(folder, operation)
            words = [*vector.get("args", []), *step.get("args", [])]
            problems, folder = self.step(world, step, words, folder)
            yield from (f"step {number}: {problem}" for problem in problems)

    def step(self, world: World, step: dict[str, Any], words: list[str], folder: str) -> tuple[list[str], str]:
        """Run one step; return what is wrong and the folder of the fileset."""
        before, expect = tree(world.top), step["expect"]
        done, report = world.build(*step.get("sources", [step["as"]]), *words)
        problems = [*judge_result(done, report, expect), *judge_traces(world, report, before)]
        if expect.get("up_to_date") and report.get("status") != "up-to-date":
            problems.append(f"status {report.get('status')}")
        if expect.get("no_file_changed") and tree(world.top) != before:
            problems.append("a file changed")
        if done.code == 0 and report:
            folder = report["dir"]
            made = Fileset(folder)
            problems += [*judge(made, expect), *self.settled(world, made)]
        return problems, folder

    def test_sessions_are_found_listed_and_chosen(self) -> None:
        found = 0
        for source, vector in cases("n"):
            for step in vector.get("discover", ()):
                found += 1
                with self.subTest(vector["name"], args=step["args"]):
                    self.assertEqual(list(self.discovery(World(self, vector, source), step)), [])
        self.assertGreater(found, 0)

    def discovery(self, world: World, step: dict[str, Any]) -> Iterator[str]:
        before, expect = tree(world.top), step["expect"]
        done, report = world.build(*step["args"])
        yield from judge_result(done, report, expect)
        if "sessions" in expect:
            names = [entry["session"] for entry in report]
            if names != expect["sessions"] or tree(world.top) != before:
                yield f"listed {names}, or changed something"
        elif "session" in expect and done.code == 0 and report["session"] != expect["session"]:
            yield f"session {report['session']}"


def edit(folder: str, operation: dict[str, Any]) -> None:
    """Change a file of a fileset between two steps."""
    path = os.path.join(folder, operation["file"])
    with open(path, "rb") as opened:
        data = opened.read()
    with open(path, "wb") as opened:
        opened.write(EDITS[operation["op"]](data, operation))


EDITS: dict[str, Callable[[bytes, dict[str, Any]], bytes]] = {
    "append": lambda data, operation: data + operation["text"].encode(),
    "write": lambda _, operation: operation["text"].encode(),
    "truncate": lambda data, operation: data[: operation["keep_bytes"]],
    "replace": lambda data, operation: data.replace(operation["old"].encode(), operation["new"].encode()),
}


if __name__ == "__main__":
    unittest.main()
