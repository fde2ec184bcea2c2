"""Several clones share ledgers through git: what refs/scale.md promises, with real merges."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from typing import Any

from tests.records import a_request
from tests.support import ProjectCase, Result, run

ATTRIBUTES = ".scratch/handoff.jsonl -text -merge\n.scratch/handoff.seal -text -merge\n"


class Clones(ProjectCase):
    def setUp(self) -> None:
        super().setUp()
        self.origin = os.path.join(self.root, "origin.git")
        self.git("init", "-q", "--bare", self.origin, cwd=self.root)
        self.a = self.clone("a")
        self.put(self.a, ".gitattributes", ATTRIBUTES)
        self.append_in(self.a, "REQ-A-001")
        self.commit(self.a, "start")
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.a)
        self.b = self.clone("b")

    def git(self, *arguments: str, cwd: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        who = {
            f"GIT_{role}_{what}": "t@example.invalid" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]
        return subprocess.run(
            [*command, *arguments], cwd=cwd, env=environment, check=check, capture_output=True, text=True
        )

    def clone(self, name: str) -> str:
        folder = os.path.join(self.root, name)
        self.git("clone", "-q", self.origin, folder, cwd=self.root)
        self.git("checkout", "-q", "-B", "main", cwd=folder)
        os.makedirs(os.path.join(folder, ".scratch"), exist_ok=True)
        return folder

    def put(self, clone: str, name: str, text: str) -> None:
        with open(os.path.join(clone, name), "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)

    def get(self, clone: str, name: str) -> bytes:
        with open(os.path.join(clone, name), "rb") as opened:
            return opened.read()

    def append_in(self, clone: str, req_id: str, *flags: str, **fields: Any) -> Result:
        record = json.dumps(a_request(req_id=req_id, **fields))
        result = run("append", "consultation-request", *flags, stdin=record, cwd=clone)
        self.assertEqual(result.code, 0, result.err)
        return result

    def commit(self, clone: str, message: str) -> None:
        self.git("add", "-A", "-f", "--", ".", ":!.scratch/*.lock", cwd=clone)
        self.git("commit", "-q", "-m", message, cwd=clone)

    def validate(self, clone: str, *targets: str) -> Result:
        return run("validate", "--require-seal", *targets, cwd=clone)

    def test_a_ledger_that_only_grew_elsewhere_arrives_with_every_line_and_its_seal(self) -> None:
        self.append_in(self.a, "REQ-A-001", question="Second?")
        self.commit(self.a, "grow")
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.a)
        self.git("pull", "-q", "--ff-only", "origin", "main", cwd=self.b)
        self.assertEqual(self.get(self.b, ".scratch/handoff.jsonl"), self.get(self.a, ".scratch/handoff.jsonl"))
        self.assertEqual(self.validate(self.b).out, "2 records valid\n")
        self.assertEqual(self.append_in(self.b, "REQ-A-001").out, "appended consultation-request at line 3\n")

    def diverge(self) -> None:
        """Let both clones append to the same ledger, and fetch one into the other."""
        self.append_in(self.a, "REQ-A-001", question="A?")
        self.commit(self.a, "a grows")
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.a)
        self.append_in(self.b, "REQ-B-001", question="B?")
        self.commit(self.b, "b grows")
        self.git("fetch", "-q", "origin", cwd=self.b)

    def test_two_ledgers_that_both_grew_are_a_conflict_and_each_side_stays_whole(self) -> None:
        self.diverge()
        before = self.get(self.b, ".scratch/handoff.jsonl")
        merged = self.git("merge", "origin/main", cwd=self.b, check=False)
        self.assertNotEqual(merged.returncode, 0)
        self.assertEqual(self.get(self.b, ".scratch/handoff.jsonl"), before)
        for name in ("jsonl", "seal"):
            shown = self.git("show", f"MERGE_HEAD:.scratch/handoff.{name}", cwd=self.b).stdout
            self.put(self.b, f".scratch/other.{name}", shown)
        self.git("checkout", "-q", "--ours", "--", ".scratch/handoff.jsonl", ".scratch/handoff.seal", cwd=self.b)
        self.commit(self.b, "both kept")
        judged = self.validate(self.b, ".scratch/handoff.jsonl", ".scratch/other.jsonl")
        self.assertEqual(judged.code, 0, judged.err)
        self.assertEqual(judged.out.count("2 records valid"), 2)
        self.assertEqual(self.get(self.b, ".scratch/other.jsonl"), self.get(self.a, ".scratch/handoff.jsonl"))

    def test_a_union_merge_is_seen_and_its_first_line_named(self) -> None:
        self.put(self.b, ".gitattributes", "*.jsonl merge=union\n*.seal merge=union\n")
        self.commit(self.b, "careless")
        self.diverge()
        self.git("merge", "-q", "origin/main", cwd=self.b, check=False)
        judged = self.validate(self.b)
        self.assertEqual(judged.code, 1)
        self.assertRegex(judged.err, r"line [23]: differs from its seal|handoff\.seal: line \d is not a seal entry")

    def test_committed_conflict_marks_are_named_and_stop_the_route(self) -> None:
        self.put(self.b, ".gitattributes", "")
        self.commit(self.b, "careless")
        self.diverge()
        self.git("merge", "origin/main", cwd=self.b, check=False)
        self.assertIn("invalid JSON (git conflict marker)", self.validate(self.b).err)
        decision = json.loads(run("route", cwd=self.b).out)
        self.assertEqual((decision["decision"], decision["rule"]), ("blocked", "dirty-log"))

    def test_one_ledger_for_each_clone_merges_without_a_conflict(self) -> None:
        for clone, name in ((self.a, "clone-a"), (self.b, "clone-b")):
            self.append_in(clone, f"REQ-{name[-1].upper()}-002", "--file", f".scratch/{name}.jsonl")
            self.commit(clone, name)
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.a)
        self.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main", cwd=self.b)
        judged = self.validate(self.b, ".scratch/clone-a.jsonl", ".scratch/clone-b.jsonl", ".scratch/handoff.jsonl")
        self.assertEqual((judged.code, judged.out.count("records valid")), (0, 3), judged.err)

    def test_converted_line_ends_are_seen_at_the_first_line(self) -> None:
        text = self.get(self.b, ".scratch/handoff.jsonl").replace(b"\n", b"\r\n").decode()
        with open(os.path.join(self.b, ".scratch", "handoff.jsonl"), "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
        self.assertIn("line 1: differs from its seal", self.validate(self.b).err)

    def test_a_worktree_has_a_ledger_of_its_own(self) -> None:
        tree = os.path.join(self.root, "tree")
        self.git("worktree", "add", "-q", tree, "-b", "other", cwd=self.a)
        self.append_in(tree, "REQ-A-001", question="In the tree?")
        self.assertEqual(self.get(tree, ".scratch/handoff.jsonl").count(b"\n"), 2)
        self.assertEqual(self.get(self.a, ".scratch/handoff.jsonl").count(b"\n"), 1)


class OtherVersions(ProjectCase):
    def test_a_ledger_of_another_version_is_read_and_goes_on(self) -> None:
        older = [
            {"type": "grader-verdict", "req_id": "REQ-OLD-001", "verdict": "skim", "added_later": {"x": 1}},
            {"type": "brand-new-type", "req_id": "REQ-OLD-001", "author": "somebody"},
            a_request(req_id="REQ-OLD-001", a_new_field=[1, 2], seq=7),
        ]
        self.write(".scratch/handoff.jsonl", "".join(json.dumps(record) + "\n" for record in older))
        self.assertEqual(self.run_here("latest", "--type", "brand-new-type").code, 0)
        self.assertEqual(json.loads(self.run_here("route").out)["rule"], "consultation-dispatch")
        self.assertEqual(self.run_here("view", "--no-cost").code, 0)
        self.assertEqual(
            self.append(a_request(req_id="REQ-OLD-001", a_new_field=1)).out, "appended consultation-request at line 4\n"
        )
        self.assertIn("line 2: no schema for record type 'brand-new-type'", self.run_here("validate").err)


if __name__ == "__main__":
    unittest.main()
