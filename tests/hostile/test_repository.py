"""Promises P61, P63: a hostile repository runs nothing, a hostile layout hangs nothing; odd repositories are audited."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
import unittest
from typing import Any

from tests.records import a_build_failure, a_design_block, a_prd_entry, lines
from tests.support import ProjectCase


class RepositoryCase(ProjectCase):
    def git(self, *arguments: str, cwd: str | None = None) -> str:
        """Run git with an identity of its own."""
        who = {
            f"GIT_{role}_{what}": "t@example.invalid" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        date = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
        environment = {**os.environ, **who, **date, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", *arguments]
        done = subprocess.run(command, cwd=cwd or self.root, env=environment, check=True, capture_output=True)
        return done.stdout.decode()

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "-m", "state", "--no-verify")

    def uncovered(self) -> list[str]:
        """Return the paths that the audit calls uncovered."""
        result = self.run_here("audit-autofix")
        return [line.removeprefix("handoff.py: ").split(": uncommitted")[0] for line in result.err.splitlines()]


class HostileRepository(RepositoryCase):
    def test_hooks_filters_monitors_and_pagers_of_a_repository_are_not_run(self) -> None:
        self.git("init", "-q")
        self.commit(**{"docs/system-design.md": "one\n", "docs/prd.md": "| NG-1 | no |\n", ".gitattributes": ""})
        canary = os.path.join(self.root, "CANARY")
        script = self.write("evil.sh", f"#!/bin/sh\ntouch '{canary}'\ncat\n")
        os.chmod(script, 0o755)
        for key in ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external", "filter.evil.clean",
            "filter.evil.process", "filter.evil.smudge", "diff.evil.textconv", "diff.evil.command"):  # fmt: skip
            self.git("config", key, script)
        self.git("config", "filter.evil.required", "true")
        for hook in ("post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman"):
            path = self.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch '{canary}'\n")
            os.chmod(path, stat.S_IRWXU)
        self.write(".gitattributes", "* filter=evil diff=evil\n")
        self.write("docs/system-design.md", "two\n")
        self.write("docs/prd.md", "| NG-1 | reworded |\n")
        self.write(".scratch/handoff.jsonl", lines(a_prd_entry()))
        for argv in (("audit-autofix",), ("route",)):
            self.run_here(*argv)
        self.append(a_design_block())
        self.assertFalse(os.path.exists(canary))
        self.assertEqual(self.uncovered(), ["docs/system-design.md"])

    def test_a_value_that_looks_like_an_option_or_a_command_stays_data(self) -> None:
        self.git("init", "-q")
        self.commit(**{"docs/system-design.md": "one\n"})
        for odd in (
            "--output=CANARY",
            "$(touch CANARY)",
            "`touch CANARY`",
            "../../CANARY",
            "-c core.pager=touch CANARY",
        ):
            record = a_design_block(primary_paths=[odd], req_id="REQ-ODD-001", notes=odd)
            self.append(record)
            self.run_here("latest", "--type", odd, f"--req-id={odd}")
            self.run_here("route", f"--req-id={odd}")
        self.assertFalse(os.path.exists(os.path.join(self.root, "CANARY")))


class OddRepositories(RepositoryCase):
    def test_without_a_commit_the_audit_says_so(self) -> None:
        self.git("init", "-q")
        expected = "autofix audit clean: 0 record(s) validated, no commit yet — direct-edit detection starts at the first commit\n"
        self.assertEqual(self.run_here("audit-autofix").out, expected)

    def test_names_outside_ascii_and_with_odd_characters_are_covered_by_their_own_name(self) -> None:
        self.git("init", "-q")
        self.commit(README="x\n")
        names = ["docs/adr/größe.md", "docs/adr/a b.md", 'docs/adr/quo"te.md', "docs/adr/tab\there.md"]
        for name in names:
            self.write(name, "new\n")
        self.assertEqual([path.replace(" ", "") for path in self.uncovered()],
            sorted(name.replace(" ", "").replace("\t", "") for name in names))  # fmt: skip
        record = a_design_block(primary_paths=names, ts="2026-02-01T00:00:00+00:00")
        self.write(".scratch/handoff.jsonl", lines(record))
        self.assertEqual(self.run_here("audit-autofix").code, 0)

    def test_a_worktree_and_a_folder_inside_a_repository_are_audited_by_their_own_paths(self) -> None:
        self.git("init", "-q")
        self.commit(**{"docs/system-design.md": "one\n", "inner/docs/system-design.md": "one\n"})
        tree = os.path.join(self.root, "tree")
        self.git("worktree", "add", "-q", tree, "-b", "other")
        self.write("tree/docs/system-design.md", "two\n")
        os.makedirs(os.path.join(tree, ".scratch"))
        result = self.run_here("audit-autofix", "--root", tree)
        self.assertIn("docs/system-design.md: uncommitted change", result.err)
        self.assertEqual(self.run_here("audit-autofix").code, 0)
        self.write("inner/docs/system-design.md", "two\n")
        os.makedirs(os.path.join(self.root, "inner", ".scratch"))
        result = self.run_here("audit-autofix", "--root", os.path.join(self.root, "inner"))
        self.assertTrue(result.err.startswith("handoff.py: docs/system-design.md: uncommitted change"), result.err)

    def test_a_submodule_is_audited_as_a_repository_of_its_own(self) -> None:
        self.git("init", "-q")
        self.commit(README="x\n")
        inner = os.path.join(self.root, "part")
        os.mkdir(inner)
        self.git("init", "-q", cwd=inner)
        self.write("part/docs/system-design.md", "one\n")
        self.git("add", "-A", cwd=inner)
        self.git("commit", "-q", "-m", "state", cwd=inner)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", "./part", "part")
        self.git("commit", "-q", "-m", "part")
        self.write("part/docs/system-design.md", "two\n")
        os.mkdir(os.path.join(inner, ".scratch"))
        self.assertEqual(self.run_here("audit-autofix").code, 0)
        self.assertEqual(self.run_here("audit-autofix", "--root", inner).code, 1)

    def test_a_rename_is_a_deletion_and_an_addition(self) -> None:
        self.git("init", "-q")
        self.commit(**{"docs/adr/one.md": "the same text\n" * 20})
        self.git("mv", "docs/adr/one.md", "docs/adr/two.md")
        self.assertEqual(self.uncovered(), ["docs/adr/one.md", "docs/adr/two.md"])


class HostileLayout(ProjectCase):
    def test_whatever_stands_in_a_layout_a_command_ends_within_two_seconds(self) -> None:
        odd: dict[str, Any] = {
            "brackets": "a = " + "[" * 5_000,
            "tables": "a = " + "{ b = " * 2_000,
            "dotted": ".".join("a" * 1 for _ in range(10_000)) + " = 1",
            "digits": "a = " + "9" * 5_000,
            "not a number": "a = nan\nb = inf",
            "mark": "\ufeffa = 1",
            "nul": "a = '\x00'",
            "large": "a = '" + "x" * 70_000 + "'",
            "pattern": "test_name_pattern = '^(a+)+$'",
            "text for a list": "[harness]\nextra_reviewers = 'x'\nauto_grade = 'false'\n[gate]\nverbs = 3",
        }
        self.write(".scratch/handoff.jsonl", lines(a_prd_entry(test_names=["a" * 9_000 + "!"]), a_build_failure()))
        for name, text in odd.items():
            self.write("scripts/layout.toml", text)
            for argv in (("validate",), ("route",), ("append", "prd-entry")):
                begun = time.monotonic()
                result = self.run_here(*argv, stdin=json.dumps(a_prd_entry(test_names=["a" * 9_000 + "!"])))
                with self.subTest(layout=name, command=argv):
                    self.assertLess(time.monotonic() - begun, 2)
                    self.assertNotIn("internal error", result.err)
                    self.assertNotIn("Traceback", result.err)


if __name__ == "__main__":
    unittest.main()
