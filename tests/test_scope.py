"""Which Non-Goals changed: rows of the document, git HEAD against the tree, and failing closed."""

from __future__ import annotations

import os
import shutil
import subprocess
import unittest
from unittest import mock

from handoff_core import git, scope

from tests.support import ProjectCase

TABLE = "# PRD\n\n| id | what |\n| --- | --- |\n| NG-1 | No fines. |\n| NG-2 | No e-mail. |\n"


class RowsTest(unittest.TestCase):
    def test_a_row_is_a_bar_an_id_and_a_bar(self) -> None:
        rows = {
            "| NG-1 | a |": "NG-1",
            "   |\tNG-02\t| b": "NG-02",
            "|NG-3|": "NG-3",
            "| NG-4 | c \r": "NG-4",
            "    | NG-5 | four spaces |": None,
            "\t| NG-5 | a tab |": None,
            "| NG-5 without a bar": None,
            "| NG- | no digits |": None,
            "| NG-٣ | digits of another script |": None,
            "| ng-5 | lower case |": None,
            "x | NG-5 |": None,
            "| NG-5x |": None,
        }
        for line, name in rows.items():
            with self.subTest(line):
                self.assertEqual(scope.non_goals(line), {} if name is None else {name: line.strip()})

    def test_only_a_line_feed_ends_a_row_and_a_repeated_id_keeps_the_last(self) -> None:
        self.assertEqual(scope.non_goals("| NG-1 | a\u2028| NG-2 | b\n| NG-1 | c |"), {"NG-1": "| NG-1 | c |"})


@unittest.skipIf(shutil.which("git") is None, "the delta is asked of git, which is not installed")
class DeltaTest(ProjectCase):
    def git(self, *words: str, cwd: str | None = None) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=cwd or self.root, check=True, capture_output=True)

    def commit(self, text: str = TABLE, where: str = "docs/prd.md") -> None:
        self.write(where, text)
        self.git("init", "-q")
        self.git("add", where)
        self.git("commit", "-q", "-m", "base")

    def delta(self) -> list[str] | None:
        return scope.changed_non_goals(self.root)

    def test_without_repository_commit_document_or_rows_nothing_changed(self) -> None:
        self.write("docs/prd.md", TABLE)
        self.assertEqual(self.delta(), [])
        self.git("init", "-q")
        self.assertEqual(self.delta(), [])
        self.git("commit", "-q", "--allow-empty", "-m", "empty")
        self.assertEqual(self.delta(), [])
        self.commit("no rows\n")
        self.write("docs/prd.md", b"\xff")
        self.assertEqual(self.delta(), [])

    def test_a_reworded_or_missing_row_changed_and_a_new_one_is_free(self) -> None:
        self.commit()
        self.assertEqual(self.delta(), [])
        self.write("docs/prd.md", TABLE.replace("\n", "\r\n") + "| NG-3 | new |\n")
        self.assertEqual(self.delta(), [])
        self.write("docs/prd.md", TABLE.replace("fines", "fees"))
        self.assertEqual(self.delta(), ["NG-1"])
        self.write("docs/prd.md", "| NG-2 | other |\n")
        self.assertEqual(self.delta(), ["NG-1", "NG-2"])

    def test_a_missing_document_has_lost_every_row(self) -> None:
        self.commit()
        os.remove(os.path.join(self.root, "docs/prd.md"))
        self.assertEqual(self.delta(), ["NG-1", "NG-2"])
        os.rmdir(os.path.join(self.root, "docs"))
        self.assertEqual(self.delta(), ["NG-1", "NG-2"])
        self.write("docs", "a file")
        self.assertEqual(self.delta(), ["NG-1", "NG-2"])

    def test_the_path_is_relative_to_the_project_also_below_the_repositorys_top(self) -> None:
        self.commit(where="app/docs/prd.md")
        self.write("app/docs/prd.md", "")
        self.assertEqual(scope.changed_non_goals(os.path.join(self.root, "app")), ["NG-1", "NG-2"])
        self.assertEqual(self.delta(), [])

    def test_what_cannot_be_read_is_unknown(self) -> None:
        self.commit()
        self.write("docs/prd.md", TABLE.encode() + b"\xff")
        self.assertIsNone(self.delta())
        self.write("docs/prd.md", TABLE + "x" * scope.TREE_LIMIT)
        self.assertIsNone(self.delta())
        self.write("docs/prd.md", TABLE + "x" * (scope.TREE_LIMIT - len(TABLE)))
        self.assertEqual(self.delta(), [])
        os.remove(os.path.join(self.root, "docs/prd.md"))
        os.mkdir(os.path.join(self.root, "docs/prd.md"))
        self.assertIsNone(self.delta())

    def test_without_git_and_with_a_broken_repository_it_is_unknown(self) -> None:
        self.commit()
        with mock.patch("handoff_core.git.run", side_effect=git.GitError("git cannot be started")):
            self.assertIsNone(self.delta())
        self.write(".git/HEAD", "nonsense")
        self.assertIsNone(self.delta())


if __name__ == "__main__":
    unittest.main()
