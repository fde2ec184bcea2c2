"""An installed project works by itself: wired, one append through the allow hook, wired again, and taken out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipapp

from handoff_core.setup import probe

from tests.setup.helpers import FOREIGN_GROUP, changed, snapshot
from tests.support import REPOSITORY

APPEND = "python3 scripts/handoff.py append intake-decision <<'EOF'\n%s\nEOF\n"
INTAKE = {
    "type": "intake-decision",
    "req_id": "REQ-NEW-001",
    "author": "human",
    "request": "Add a page.",
    "decisions": [],
}


class VendoredTest(unittest.TestCase):
    """A test with a foreign project in `self.root` and this Python as the only `python3`."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-vendored-")
        self.addCleanup(holder.cleanup)
        base = os.path.realpath(holder.name)
        self.root, self.bin = os.path.join(base, "project"), os.path.join(base, "bin")
        os.makedirs(os.path.join(self.root, ".claude"))
        os.mkdir(self.bin)
        os.symlink(os.path.realpath(sys.executable), os.path.join(self.bin, "python3"))
        for path, text in (
            ("README.md", "# Theirs\n"),
            (".claude/settings.json", FOREIGN_GROUP),
            (".gitignore", "*.o"),
        ):
            with open(os.path.join(self.root, path), "w", encoding="utf-8") as opened:
                opened.write(text)

    def start(self, script: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["PATH"] = os.pathsep.join((self.bin, "/usr/bin", "/bin"))
        return subprocess.run(
            [sys.executable, script, *words],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=self.root,
            env=environment,
        )

    def here(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the project's own copy of the program."""
        return self.start("scripts/handoff.py", *words, stdin=stdin)

    def test_the_whole_life_of_an_installation(self) -> None:
        before = snapshot(self.root)
        installed = self.start(os.path.join(REPOSITORY, "scripts", "handoff.py"), "init", "--root", self.root)
        self.assertEqual((installed.returncode, installed.stderr), (0, ""), installed.stdout)
        wired = snapshot(self.root)

        doctor = self.here("doctor")
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        self.assertIn("vendored copy unmodified", doctor.stdout)

        command = APPEND % json.dumps(INTAKE)
        payload = json.dumps(probe.shell_call(command, self.root, self.root)).encode()
        with open(os.path.join(self.root, ".claude", "settings.json"), encoding="utf-8") as opened:
            hook = json.load(opened)["hooks"]["PreToolUse"][1]["hooks"][0]
        words = [word.replace("${CLAUDE_PROJECT_DIR}", self.root) for word in (sys.executable, *hook["args"])]
        reply = probe.start(words, payload, self.root, {"CLAUDE_PROJECT_DIR": self.root})
        self.assertEqual(probe.decision(reply.out), "allow")
        appended = self.here("append", "intake-decision", stdin=json.dumps(INTAKE))
        self.assertEqual(appended.stdout, "appended intake-decision at line 1\n")
        self.assertEqual(json.loads(self.here("route").stdout)["next"], ["product-requirements-expert"])

        again = self.here("init")
        self.assertEqual((again.returncode, again.stderr), (0, ""), again.stdout)
        self.assertEqual({line.split(" ")[0] for line in again.stdout.splitlines()}, {"same"})
        ours = [path for path in changed(wired, snapshot(self.root)) if not path.startswith(".scratch")]
        self.assertEqual(ours, [])

        removed = self.here("init", "--uninstall")
        self.assertEqual((removed.returncode, removed.stderr), (0, ""), removed.stdout)
        left = [path for path in changed(before, snapshot(self.root)) if not path.startswith(".scratch")]
        self.assertEqual(left, [])

    def test_a_copy_installs_another_project_and_plays_the_demo(self) -> None:
        origin = os.path.join(REPOSITORY, "scripts", "handoff.py")
        self.assertEqual(self.start(origin, "init", "--root", self.root).returncode, 0)
        with tempfile.TemporaryDirectory() as other, tempfile.TemporaryDirectory() as third:
            self.assertEqual(self.start(origin, "init", "--root", other).returncode, 0)
            self.assertEqual(self.here("init", "--root", third).returncode, 0)
            self.assertEqual(changed(snapshot(other), snapshot(third)), [])
        played = self.here("demo")
        self.assertEqual(played.returncode, 0, played.stdout)

    def test_a_wheel_and_a_zipapp_install_what_a_checkout_installs(self) -> None:
        with tempfile.TemporaryDirectory() as base:
            built = os.path.join(base, "built")
            _wheel_layout(built)
            zipped = os.path.join(base, "handoff.pyz")
            zipapp.create_archive(built, zipped)
            trees = []
            for number, script in enumerate((os.path.join(REPOSITORY, "scripts", "handoff.py"), built, zipped)):
                root = os.path.join(base, str(number))
                os.mkdir(root)
                installed = self.start(script, "init", "--root", root, "--harness", "all")
                self.assertEqual((installed.returncode, installed.stderr), (0, ""), installed.stdout)
                trees.append(snapshot(root))
        self.assertEqual(changed(trees[0], trees[1]), [])
        self.assertEqual(changed(trees[0], trees[2]), [])

    def test_a_copy_does_not_take_its_own_changes_for_what_was_installed(self) -> None:
        self.start(os.path.join(REPOSITORY, "scripts", "handoff.py"), "init", "--root", self.root)
        path = os.path.join(self.root, ".claude", "hooks", "handoff-allow.py")
        with open(path, "a", encoding="utf-8") as opened:
            opened.write("# changed\n")
        again = self.here("init")
        self.assertEqual(again.returncode, 1)
        self.assertIn("keep .claude/hooks/handoff-allow.py [was changed since it was installed", again.stdout)
        self.assertIn("hooks         changed since installed", self.here("doctor").stdout)
        os.unlink(path)
        missing = self.here("init")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("is missing from this copy of handoff", missing.stderr)


def _wheel_layout(folder: str) -> None:
    """Lay the program out as a wheel does: the files that it ships lie inside the package."""
    no_caches = shutil.ignore_patterns("__pycache__")
    package = os.path.join(folder, "handoff_core")
    shutil.copytree(os.path.join(REPOSITORY, "scripts", "handoff_core"), package, ignore=no_caches)
    for part in ("schemas", "refs", ".claude/skills", ".claude/hooks"):
        source = os.path.join(REPOSITORY, *part.split("/"))
        shutil.copytree(source, os.path.join(package, "_shipped", *part.split("/")), ignore=no_caches)
    os.makedirs(os.path.join(package, "_shipped", "scripts"))
    shutil.copy(os.path.join(REPOSITORY, "scripts", "handoff.py"), os.path.join(package, "_shipped", "scripts"))
    with open(os.path.join(folder, "__main__.py"), "w", encoding="utf-8") as opened:
        opened.write("from handoff_core.cli import console\n\nconsole()\n")
