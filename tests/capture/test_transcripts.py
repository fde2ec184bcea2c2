"""Real sessions of other people, held to the counts that were made for them, and to the accounting of every line."""

from __future__ import annotations

import json
import os
import shutil
import unittest
from typing import Any

from tests.capture.vector_cases import Fileset, World, can_unpack, judge, judge_result
from tests.support import shared


def facts() -> list[dict[str, Any]]:
    with open(shared("transcripts", "facts.json"), encoding="utf-8") as opened:
        found: list[dict[str, Any]] = json.load(opened)["files"]
    if not found:
        raise ValueError("facts.json holds no session")
    return found


class Transcripts(unittest.TestCase):
    def world(self, fact: dict[str, Any]) -> World:
        """Return a project that holds one session with what belongs to it."""
        world = World(self, fact)
        path = shared("transcripts", *fact["path"].split("/"))
        beside = os.path.splitext(path)[0]
        companions = [path, path + "-wal", path + "-shm", *([beside] if beside != path else [])]
        for source in companions:
            target = world.at(os.path.basename(source))
            if os.path.isdir(source):
                shutil.copytree(source, target)
            elif os.path.isfile(source):
                shutil.copy(source, target)
        return world

    def test_each_session_has_the_turns_that_were_counted_by_hand(self) -> None:
        for fact in facts():
            with self.subTest(fact["path"]):
                if "zstd" in fact.get("needs", ()) and not can_unpack():
                    self.skipTest("neither the program zstd nor Python 3.14 is here")
                world = self.world(fact)
                name = os.path.basename(fact["path"])
                done, report = world.build(name, *fact.get("args", []))
                problems = list(judge_result(done, report, fact["expect"]))
                if done.code == 0:
                    made = Fileset(report["dir"])
                    problems += [*judge(made, fact["expect"]), *self.unaccounted(made, world.at(name))]
                self.assertEqual(problems, [])

    def unaccounted(self, made: Fileset, path: str) -> list[str]:
        """Return what is wrong with the sum of lines: of JSON lines, every line that is not blank is a record."""
        source = made.manifest["sources"][0]
        records, kinds = source["records"], source["kinds"]
        problems = []
        if sum(kinds.values()) != records["read"] - records["bad"]:
            problems.append(f"kinds count {sum(kinds.values())}, records {records}")
        if path.endswith(".jsonl") and all(type(turn["at"]) is int for turn in made.turns):
            with open(path, "rb") as opened:
                lines = sum(not line.isspace() for line in opened)
            if records["read"] + (source["tail_bytes"] > 0) < lines:
                problems.append(f"{lines} lines, but only {records['read']} records")
        return problems


if __name__ == "__main__":
    unittest.main()
