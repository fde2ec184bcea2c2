"""Same sources, arguments and clock, same bytes: another umask, zone, locale, folder and hash seed (P42)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest

from tests.capture.vector_cases import World, cases, tree
from tests.support import REPOSITORY

ENTRY = os.path.join(REPOSITORY, "scripts", "handoff.py")
SETTINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONHASHSEED": "7", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
)
MASKS = (0o022, 0o077, 0)


class SameBytes(unittest.TestCase):
    def test_a_session_gives_the_same_files_wherever_it_is_built(self) -> None:
        for name in ("n70-", "n06-", "c14-", "n12-"):
            source, vector = next((source, vector) for source, vector in cases("cn") if vector["name"].startswith(name))
            with self.subTest(vector["name"]):
                trees = [self.built(source, vector["sources"], number) for number in range(len(SETTINGS))]
                self.assertGreaterEqual(len(trees[0]), 7)
                self.assertEqual(trees[1], trees[0])
                self.assertEqual(trees[2], trees[0])

    def built(self, source: str, names: list[str], number: int) -> dict[str, str]:
        """Build in a process of its own, from another folder each time, and return the digests of the files."""
        world = World(self, {}, source)
        here = world.at("a/b/c"[: 2 * number + 1])
        os.makedirs(here, exist_ok=True)
        environment = {**world.environment(), **SETTINGS[number], "PATH": os.environ.get("PATH", "")}
        paths = [os.path.relpath(world.at(name), here) for name in names]
        command = [sys.executable, ENTRY, "build", *paths, "--root", world.project, "--out", world.at("out")]
        done = subprocess.run(
            command, cwd=here, env=environment, umask=MASKS[number], capture_output=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = tree(world.at("out"))
        shutil.rmtree(world.at("out"))
        return found


if __name__ == "__main__":
    unittest.main()
