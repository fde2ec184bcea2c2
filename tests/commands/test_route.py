"""`route` from outside: every vector, its flags, its exit codes, and logs of any kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import unittest
from typing import Any
from unittest import mock

from handoff_core import data
from handoff_core.layout import find_project
from handoff_core.ledger import exclusive_lock

from tests.records import a_build_pass, a_design_block, a_prd_entry, a_request, a_start
from tests.support import ProjectCase, Result, shared, vectors

Vector = dict[str, Any]


class VectorsTest(ProjectCase):
    def test_every_vector_holds(self) -> None:
        for vector in vectors("route.jsonl"):
            with self.subTest(vector["name"]):
                if "prd" in vector and shutil.which("git") is None:
                    self.skipTest("the scope lock asks git, which is not installed")
                self.setUp()
                self.judge(vector, self.run_here("route", *self.prepare(vector)))

    def prepare(self, vector: Vector) -> list[str]:
        """Write the vector's files and return its flags."""
        if not vector.get("layout_absent"):
            text = vector["layout_text"] if "layout_text" in vector else toml(vector["layout"])
            self.write("scripts/layout.toml", bytes.fromhex(vector.get("layout_hex", "")) or text)
        if vector.get("raw_log") is not None:
            self.write(".scratch/handoff.jsonl", vector["raw_log"].encode("utf-8", "surrogatepass"))
        elif vector["log"] is not None:
            self.write(".scratch/handoff.jsonl", lines(vector["log"]))
        flags = []
        if vector.get("schemas") == "permissive":
            for name in data.names("schemas/scratch"):
                self.write(f"loose/{name}", "{}")
            flags += ["--schemas", "loose"]
        if "prd" in vector:
            self.commit(vector["prd"])
        if vector["req_id"] is not None:
            flags += ["--req-id", vector["req_id"]]
        if "at" in vector:
            flags += ["--at", str(vector["at"])]
        return [*flags, "--all"] if vector.get("all") else flags

    def commit(self, prd: dict[str, Any]) -> None:
        if prd.get("head") is not None:
            self.write("docs/prd.md", prd["head"])
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        for step in (["init", "-q"], ["add", "docs"], ["commit", "-q", "--allow-empty", "-m", "base"]):
            if step[0] != "add" or prd.get("head") is not None:
                subprocess.run([*git, *step], cwd=self.root, check=True, capture_output=True)
        if "worktree_hex" in prd:
            self.write("docs/prd.md", bytes.fromhex(prd["worktree_hex"]))
        elif prd.get("worktree") is not None:
            self.write("docs/prd.md", prd["worktree"])
        elif prd.get("head") is not None:
            os.remove(os.path.join(self.root, "docs/prd.md"))

    def judge(self, vector: Vector, result: Result) -> None:
        expect = vector["expect"]
        if expect == "usage-error":
            self.assertEqual((result.code, result.out), (2, ""))
            return
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertTrue(result.out.isascii() and result.out.endswith("\n") and result.out.count("\n") == 1)
        printed = json.loads(result.out)
        wanted, got = (expect, printed) if isinstance(expect, list) else ([expect], [printed])
        self.assertEqual(len(wanted), len(got))
        for one, decision in zip(wanted, got, strict=True):
            self.judge_decision(one, decision)

    def judge_decision(self, expect: dict[str, Any], decision: dict[str, Any]) -> None:
        context = decision.get("context", {})
        for key in ("decision", "rule", "next", "req_id"):
            if key in expect:
                self.assertEqual(decision.get(key), expect[key])
        for key, value in expect.get("context", {}).items():
            self.assertIn(key, context)
            self.assertEqual(context[key], value)
        for key, value in expect.get("context_prefix", {}).items():
            self.assertTrue(context[key].startswith(value), context[key])
        for dotted in expect.get("absent", []):
            self.assertFalse(holds_path(decision, dotted.split(".")), dotted)
        if "keys" in expect:
            self.assertEqual(list(decision), expect["keys"])
        if "context_keys" in expect:
            self.assertEqual(list(context), expect["context_keys"])
        errors = "\n".join(decision.get("errors", []) + context.get("errors", []))
        for piece in expect.get("errors_contain", []):
            self.assertIn(piece, errors)
        for piece in expect.get("errors_lack", []):
            self.assertNotIn(piece, errors)
        if "errors_at" in expect:
            at_top = expect["errors_at"] == "top"
            self.assertEqual(("errors" in decision, "errors" in context), (at_top, not at_top))


class FlagsTest(ProjectCase):
    def setUp(self) -> None:
        super().setUp()
        self.records = [
            a_prd_entry(),
            a_design_block(req_id="REQ-OTHER-001"),
            a_prd_entry(req_id=""),
            a_design_block(),
        ]
        self.write(".scratch/handoff.jsonl", lines(self.records))

    def decided(self, *flags: str) -> Any:
        result = self.run_here("route", *flags)
        self.assertEqual((result.code, result.err), (0, ""))
        return json.loads(result.out)

    def test_contradicting_flags_are_usage_errors(self) -> None:
        for flags in (
            ["--all", "--req-id", "REQ-LOAN-001"],
            ["--rules", "--req-id", "REQ-LOAN-001"],
            ["--rules", "--at", "1"],
            ["--rules", "--all"],
            ["--rules", "--explain"],
            ["--rules", "--exit-code"],
            ["--format", "json"],
            ["--explain=xml"],
            ["--rules", "--format", "xml"],
            ["--nonsense"],
            ["extra"],
        ):
            with self.subTest(flags):
                result = self.run_here("route", *flags)
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertRegex(result.err, r"^usage: handoff\.py route .*\nhandoff\.py: [^\n]+\n$")

    def test_a_line_that_is_none_is_a_usage_error(self) -> None:
        for at in ("0", "5", "-1", "+1", "1.0", "1e0", "", " 1", "1_0", "١", "x", "9" * 5000):
            with self.subTest(at):
                result = self.run_here("route", f"--at={at}")
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertTrue(result.err.startswith("usage: handoff.py route"))

    def test_an_absent_or_empty_log_has_no_lines(self) -> None:
        self.write(".scratch/handoff.jsonl", "")
        self.assertEqual(self.run_here("route", "--at", "1").code, 2)
        os.remove(self.log)
        self.assertEqual(self.run_here("route", "--at", "1").code, 2)

    def test_a_log_that_cannot_be_opened_is_dirty_with_and_without_a_line(self) -> None:
        os.remove(self.log)
        os.mkdir(self.log)
        for flags in ([], ["--at", "3"], ["--all"], ["--req-id", "REQ-LOAN-001"]):
            decision = self.decided(*flags)
            decision = decision[0] if flags == ["--all"] else decision
            self.assertEqual(list(decision), ["decision", "rule", "reason", "errors"])
            self.assertEqual(decision["rule"], "dirty-log")
            self.assertRegex(decision["errors"][0], r"^cannot read \.scratch/handoff\.jsonl: ")

    def test_at_a_line_is_the_log_cut_there(self) -> None:
        decided = [self.decided("--at", str(line)) for line in (1, 2, 3, 4)]
        self.assertEqual([decision["rule"] for decision in decided],
                         ["prd-approved", "design-approved", "missing-req-id", "design-approved"])  # fmt: skip
        self.assertEqual(decided[3], self.decided())
        for line, decision in enumerate(decided, 1):
            self.write(".scratch/handoff.jsonl", lines(self.records[:line]))
            self.assertEqual(self.decided(), decision)

    def test_damage_after_the_line_is_not_seen_and_before_it_is(self) -> None:
        self.write(".scratch/handoff.jsonl", lines(self.records[:1]) + "{\n" + lines(self.records[1:]) + '{"torn')
        self.assertEqual(self.decided("--at", "1")["rule"], "prd-approved")
        self.assertEqual(self.decided("--at", "2")["errors"], ["line 2: " + self.word_of("{")])
        self.assertEqual(self.decided("--at", "6")["errors"][0], "line 6: missing trailing newline")

    def word_of(self, line: str) -> str:
        """Return what `validate` says of a line."""
        path = self.write("one.jsonl", line + "\n")
        return self.run_here("validate", path).err.split("line 1: ")[1].split("\n")[0]

    def test_all_gives_one_decision_per_slice_in_order_of_first_appearance(self) -> None:
        every = self.decided("--all")
        self.assertEqual([decision["req_id"] for decision in every], ["REQ-LOAN-001", "REQ-OTHER-001"])
        self.assertEqual(every, [self.decided("--req-id", decision["req_id"]) for decision in every])
        self.assertEqual(self.decided("--all", "--req-id="), every)

    def test_what_precedes_the_choice_of_a_slice_stands_alone(self) -> None:
        self.write(".scratch/handoff.jsonl", lines([a_prd_entry(req_id=7)]))
        self.assertEqual([decision["rule"] for decision in self.decided("--all")], ["missing-req-id"])
        self.write("scripts/layout.toml", "x")
        self.assertEqual([decision["rule"] for decision in self.decided("--all")], ["layout-unreadable"])

    def test_an_empty_req_id_counts_as_absent(self) -> None:
        self.assertEqual(self.decided("--req-id", ""), self.decided())

    def test_the_exit_code_tells_the_decision(self) -> None:
        self.assertEqual(self.run_here("route", "--exit-code").code, 0)
        self.write(".scratch/handoff.jsonl", lines([*self.records, a_design_block(verdict="refactor-first")]))
        self.assertEqual(self.run_here("route", "--exit-code").code, 10)
        self.assertEqual(self.run_here("route", "--exit-code", "--all").code, 10)
        self.write(".scratch/handoff.jsonl", lines([*self.records, a_request(target="human")]))
        self.assertEqual(self.run_here("route", "--exit-code").code, 11)
        self.write(".scratch/handoff.jsonl", "{\n")
        self.assertEqual(self.run_here("route", "--exit-code", "--all").code, 11)
        self.assertEqual(self.run_here("route").code, 0)

    def test_a_broken_layout_is_told_in_the_reason(self) -> None:
        self.write("scripts/layout.toml", "x")
        decision = self.decided()
        self.assertEqual(list(decision), ["decision", "rule", "reason"])
        self.assertIn("scripts/layout.toml exists but cannot be parsed: ", decision["reason"])

    def test_malformed_extras_are_told_in_the_reason(self) -> None:
        self.write("scripts/layout.toml", 'harness.extra_reviewers = ["style-reviewer", ""]')
        decision = self.decided()
        self.assertEqual((decision["rule"], decision["req_id"]), ("layout-invalid", "REQ-LOAN-001"))
        self.assertIn("item 2 is not a non-empty string", decision["reason"])

    def test_without_schemas_every_gate_fails_closed(self) -> None:
        os.mkdir(os.path.join(self.root, "none"))
        decision = self.decided("--schemas", "none")
        self.assertEqual(decision["rule"], "design-gate-failed")
        self.assertIn("no schema for record type 'design-block' in none", decision["context"]["errors"][0])

    def test_route_writes_nothing(self) -> None:
        before = sorted(os.walk(self.root))
        self.decided("--all")
        self.assertEqual(sorted(os.walk(self.root)), before)


class ExplainTest(ProjectCase):
    def setUp(self) -> None:
        super().setUp()
        self.write(".scratch/handoff.jsonl", lines([a_prd_entry(), a_design_block(), a_build_pass()]))

    def test_an_explanation_lists_the_rows_tried(self) -> None:
        decision = json.loads(self.run_here("route", "--explain").out)
        self.assertEqual(list(decision)[-1], "explain")
        explain = decision.pop("explain")
        self.assertEqual(decision, json.loads(self.run_here("route").out))
        self.assertEqual((explain["lines"], explain["state"]), (3, "review"))
        self.assertIn("(line 3)", explain["entered"])
        self.assertEqual(explain["rows"][0], {"rule": "no-active-slice", "state": "any", "guard": "no_log",
                                              "holds": False, "facts": {"log_absent": False}})  # fmt: skip
        self.assertEqual(explain["rows"][-1]["facts"], {"undispatched": decision["next"]})
        self.assertEqual([row["holds"] for row in explain["rows"]], [False] * (len(explain["rows"]) - 1) + [True])
        self.assertEqual({row["state"] for row in explain["rows"]}, {"any", "review"})
        build = next(row for row in explain["rows"] if row["guard"] == "no_build_pass")
        self.assertEqual(build["facts"], {"build_pass": 3})

    def test_the_state_is_null_where_no_row_needed_it(self) -> None:
        for log, line_count in (("{\n", 1), (None, 0), (b"\xff\n", 0)):
            os.remove(self.log) if log is None else self.write(".scratch/handoff.jsonl", log)
            explain = json.loads(self.run_here("route", "--explain=json").out)["explain"]
            self.assertEqual((explain["lines"], explain["state"], explain["entered"]), (line_count, None, None))

    def test_text_is_for_people(self) -> None:
        text = self.run_here("route", "--explain=text").out
        self.assertTrue(text.startswith("slice REQ-LOAN-001\nstate review: "))
        self.assertIn("\n  no  any      no-active-slice            no_log(log_absent=false)\n", text)
        self.assertIn("\n  yes review   reviews-needed             a_reviewer_is_undispatched(undispatched=[", text)
        self.assertRegex(text, r"\ndispatch code-quality-reviewer, [a-z, -]+: reviews-needed: [^\n]+\n$")

    def test_text_of_records_cannot_steer_a_terminal(self) -> None:
        record = a_request(target="human\u202e\x1b[2J", author="\x9bx")
        self.write(".scratch/handoff.jsonl", lines([record, a_start("\u2066\x1bx")]))
        text = self.run_here("route", "--explain=text").out
        self.assertFalse(set("\x1b\x9b\u202e\u2066") & set(text))


class ReadingTest(ProjectCase):
    def test_a_busy_lock_ends_with_75(self) -> None:
        self.write(".scratch/handoff.jsonl", lines([a_prd_entry()]))
        waiting = mock.patch("handoff_core.ledger.shared_lock.__defaults__", (0.05,))
        with exclusive_lock(find_project(self.root)), waiting:
            result = self.run_here("route")
        self.assertEqual((result.code, result.out), (75, ""))
        self.assertIn("another writer holds the lock .scratch/handoff.lock", result.err)

    def test_a_log_with_a_problem_is_read_again(self) -> None:
        self.write(".scratch/handoff.jsonl", lines([a_prd_entry()])[:-1])

        def finish(_seconds: float) -> None:
            self.write(".scratch/handoff.jsonl", lines([a_prd_entry()]))

        with mock.patch("time.sleep", finish):
            self.assertEqual(json.loads(self.run_here("route").out)["rule"], "prd-approved")

    def test_a_slow_writer_without_a_lock_is_waited_for(self) -> None:
        self.write(".scratch/handoff.jsonl", lines([a_prd_entry()])[:-1])
        timer = threading.Timer(0.01, self.write, (".scratch/handoff.jsonl", lines([a_prd_entry()])))
        timer.start()
        self.addCleanup(timer.join)
        self.assertEqual(json.loads(self.run_here("route").out)["rule"], "prd-approved")

    def test_every_problem_is_told_in_order(self) -> None:
        self.write(".scratch/handoff.jsonl", b'{}\n\n[]\nNaN\n{"a":1,"a":2}\n1e999\n<<<<<<< x\n{"t\x1b":1')
        decision = json.loads(self.run_here("route").out)
        self.assertEqual([error.split(":")[0] for error in decision["errors"]],
                         ["line 8", *(f"line {number}" for number in range(2, 9))])  # fmt: skip
        self.assertEqual(decision["errors"][0], "line 8: missing trailing newline")
        self.assertIn('line 5: invalid JSON (duplicate key: "a")', decision["errors"])
        self.assertFalse(any("\x1b" in error for error in decision["errors"]))

    def test_every_prefix_of_a_real_ledger_is_decided_alike_cut_or_at_its_line(self) -> None:
        folder = shared("ledgers")
        names = [name for name in sorted(os.listdir(folder)) if name.endswith(".jsonl")]
        self.assertTrue(names)
        for name in names:
            with open(os.path.join(folder, name), "rb") as opened:
                whole = opened.read()
            pieces = whole.split(b"\n")[:-1]
            for line in range(1, len(pieces) + 1):
                with self.subTest(ledger=name, line=line):
                    self.write(".scratch/handoff.jsonl", whole)
                    at = self.run_here("route", "--at", str(line), "--explain")
                    self.write(".scratch/handoff.jsonl", b"\n".join(pieces[:line]) + b"\n")
                    cut = self.run_here("route", "--explain")
                    self.assertEqual((cut.code, cut.err, cut.out), (0, "", at.out))
                    self.assertIn(json.loads(cut.out)["decision"], ("dispatch", "blocked", "escalate"))


def lines(records: list[dict[str, Any]]) -> str:
    """Return the log that holds these records."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def toml(table: dict[str, Any], prefix: str = "") -> str:
    """Return a table as TOML."""
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return text + "".join(f"[{prefix}{key}]\n{toml(value, f'{prefix}{key}.')}" for key, value in tables.items())


def holds_path(value: Any, path: list[str]) -> bool:
    """Say whether an object holds a dotted path."""
    return not path or (isinstance(value, dict) and path[0] in value and holds_path(value[path[0]], path[1:]))


if __name__ == "__main__":
    unittest.main()
