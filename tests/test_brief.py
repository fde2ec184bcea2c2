"""The gate of a brief: every rule of gate.md, the strict frontmatter reader, and the command around them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import unittest
from typing import TYPE_CHECKING, Any

from handoff_core.brief import words
from handoff_core.brief.answer import FORMATS, as_json, as_text
from handoff_core.brief.body import Body
from handoff_core.brief.frontmatter import FrontmatterError, parse
from handoff_core.brief.gate import GitFacts, Verdict, judge

from tests.support import DATA, ProjectCase, run, vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ONE = "1f2e3d4c5b6a79880123456789abcdef01234567"
TWO = "9b8c7d6e5f40312233445566778899aabbccddee"
HANDBACK = {
    "next_agent": "auditor",
    "reason": '"Story S3 is built."',
    "producer": "backend",
    "status": "ready_for_review",
    "close_type": "story",
    "scope_sha": ONE,
}
EVIDENCE = {
    "Commands run": "`make test`",
    "Output summary": "make test: exit 0",
    "Commit SHA verified": ONE,
    "Files changed or reviewed": "src/cart.py",
    "Unresolved concerns": "none",
}
PACKET = {
    "Objective": "Refuse negative quantities.",
    "Files in scope": "src/lines.py",
    "Files out of bounds": "none",
    "Context": "LineError stays the only error type.",
    "Verification command": "make test",
    "Expected next route": "auditor",
}


def a_block(title: str, fields: dict[str, str], **changes: str | None) -> str:
    merged = {**fields, **{name.replace("_", " "): value for name, value in changes.items()}}
    rows = [f"- **{name}:** {value}\n" for name, value in merged.items() if value is not None]
    return f"## {title}\n\n" + "".join(rows)


def a_brief(body: str | None = None, **changes: str | None) -> str:
    keys = {**HANDBACK, **changes}
    rows = [f"{key}: {value}\n" for key, value in keys.items() if value is not None]
    text = "- `src/cart.py` changed\n\n" + a_block("Verification Evidence", EVIDENCE) if body is None else body
    return "---\n" + "".join(rows) + "---\n\n" + text


def an_assignment(body: str | None = None, **changes: str | None) -> str:
    keys = {"next_agent": "backend", "producer": "planner", "status": None, "close_type": None, "scope_sha": None}
    return a_brief(a_block("Work Packet", PACKET) if body is None else body, **{**keys, **changes})


def facts(known: Sequence[str] = (ONE, TWO), dirty: Sequence[str] | None = ()) -> GitFacts:
    def resolve(commit: str) -> str | None:
        found = [full for full in known if full.startswith(commit.lower())]
        return found[0] if len(found) == 1 else None

    return GitFacts(resolve, dirty)


def results(verdict: Verdict) -> dict[str, str]:
    """Return the lines that do not pass."""
    return {label: verdict.result(label) for label in words.LABELS if verdict.result(label) != "PASS"}


class GateCase(unittest.TestCase):
    def judged(self, text: str, **known: Any) -> dict[str, str]:
        return results(judge(text, facts(**known)))

    def expect(self, expected: dict[str, str], text: str, says: str = "") -> None:
        verdict = judge(text, facts())
        self.assertEqual(results(verdict), expected, text)
        self.assertIn(says, "\n".join(finding.text for finding in verdict.findings))


class Vectors(unittest.TestCase):
    def test_every_public_vector_gets_its_verdict(self) -> None:
        for vector in vectors("gate.jsonl"):
            with self.subTest(vector["name"], why=vector["why"]):
                told = vector["git"]
                known = told and facts(told["known_shas"], ["left-over.txt"] if told["dirty"] else [])
                clean = "--require-clean" in vector.get("args", [])
                verdict = judge(vector["handoff_md"], known, require_clean=clean)
                self.assertEqual({label: verdict.result(label) for label in words.LABELS}, vector["expect"]["checks"])
                self.assertEqual(verdict.valid(), vector["expect"]["valid"])
                self.assertEqual(json.loads(as_json(verdict, "x.md"))["valid"], vector["expect"]["valid"])


class Frontmatter(unittest.TestCase):
    def read(self, *lines: str) -> dict[str, object]:
        values = parse(["---", *lines, "---"])
        return {key: value.items if value.style == "list" else value.text for key, value in values.items()}

    def test_values_stay_text(self) -> None:
        told = self.read("a: 0123456", "b: true", "c: 2026-01-01", "d: null", "e: 1.0", "f: ~", "g: a:b")
        expected = {"a": "0123456", "b": "true", "c": "2026-01-01", "d": "null", "e": "1.0", "f": "~", "g": "a:b"}
        self.assertEqual(told, expected)

    def test_quotes_are_read_and_comments_cut_plain_text_only(self) -> None:
        cases = {
            r'k: "a \" \\ \/ \n \t \r \u00e9"': 'a " \\ / \n \t \r é',
            r'k: "\ud83d\ude00"': "😀",
            "k: 'it''s'": "it's",
            "k: ''": "",
            'k: "a # b"': "a # b",
            'k: "a" # b': "a",
            "k: 'a'\t# b": "a",
            "k: a # b": "a",
            "k: a\t#b": "a",
            "k: a#b": "a#b",
            "k:\ta  ": "a",
            "k: -1": "-1",
            "k: ?x": "?x",
            "k: :x": ":x",
            "k: <x>": "<x>",
            "k: a]": "a]",
        }
        for line, text in cases.items():
            with self.subTest(line):
                self.assertEqual(self.read(line), {"k": text})

    def test_lists_are_flat_and_stand_inline_or_below(self) -> None:
        cases = {
            ("k: []",): [],
            ("k: [ ] # none",): [],
            ("k: [a, \"b, c\", 'd']",): ["a", "b, c", "d"],
            ("k: [a b , c]",): ["a b", "c"],
            ("k:", "- a", "", "  # between", "  - 'b'", "-   c # cut"): ["a", "b", "c"],
            ("k: # none yet", "- a"): ["a"],
        }
        for lines, items in cases.items():
            with self.subTest(lines):
                self.assertEqual(self.read(*lines), {"k": items})

    def test_a_key_without_a_value_is_absent(self) -> None:
        self.assertEqual(self.read("a:", "b: # nothing", "c: x", "   ", "# a comment", "   # another"), {"c": "x"})

    def test_blanks_may_follow_the_dashes_and_dots_end_nothing(self) -> None:
        self.assertEqual([*parse(["---  ", "a: x", "--- "])], ["a"])
        with self.assertRaisesRegex(FrontmatterError, "no `key: value`"):
            self.read("a: x", "...")

    def test_what_is_not_known_is_refused_with_its_line(self) -> None:
        cases = {
            "an indented key": ["  a: x"],
            "a tab in the indentation": ["\t# comment"],
            "no key": ["just text"],
            "a key with a dot": ["a.b: x"],
            "a key that begins with a digit": ["1a: x"],
            "no blank after the colon": ["a:x"],
            "a key twice": ["a: x", "a: y"],
            "an unnamed key twice": ["zz: x", "zz: x"],
            "an unterminated quote": ['a: "x'],
            "an unterminated single quote": ["a: 'x''"],
            "an unterminated list": ["a: [x"],
            "a list that a comment cuts": ["a: [x #]"],
            "text after a quote": ['a: "x" y'],
            "a comment glued to a quote": ['a: "x"#y'],
            "text after a bracket": ["a: [x] y"],
            "an unknown escape": [r'a: "\q"'],
            "an escape without digits": [r'a: "\u12"'],
            "half a surrogate pair": [r'a: "\ud800"'],
            "a colon before a blank": ["a: b: c"],
            "a colon before a tab": ["a: b:\tc"],
            "a colon at the end": ["a: b:"],
            "an empty item": ["a: [x, ]"],
            "an empty item first": ["a: [, x]"],
            "an empty item in the middle": ["a: [x,, y]"],
            "a nested list": ["a: [[x]]"],
            "a nested mapping": ["a: [{x}]"],
            "a bracket in an item": ["a: [x [y]]"],
            "an item without a key": ["- x"],
            "an item after a value": ["a: x", "- y"],
            "an item after an inline list": ["a: [x]", "- y", "b"],
            "an item that is a mapping": ["a:", "- b: c"],
            "an item that is a list": ["a:", "- [b]"],
            "an item without a text": ["a:", "- # nothing"],
            "a dash alone": ["a:", "-"],
            **{f"a plain text beginning with {mark}": [f"a: {mark}x"] for mark in "{}],&*!|>%@`"},
            **{f"{mark} alone": [f"a: {mark}"] for mark in "-?:"},
            **{f"{mark} before a blank": [f"a: {mark} x"] for mark in "-?:"},
        }
        for name, lines in cases.items():
            with self.subTest(name), self.assertRaises(FrontmatterError) as caught:
                self.read(*lines)
            self.assertIn(caught.exception.line, (len(lines) + 1, len(lines)), name)

    def test_an_inline_list_takes_no_items_below(self) -> None:
        with self.assertRaises(FrontmatterError):
            self.read("a: [x]", "- y")

    def test_long_input_is_read_in_linear_time(self) -> None:
        size = 400_000
        shapes = [
            'a: "' + "\\n" * size,
            "a: '" + "''" * size,
            "a: [" + "x," * size,
            "a: " + ": " * size,
            "a: " + " #" * size,
            'a: "x"' + " " * size + "y",
            "a" * size,
            " " * size + "x",
        ]
        started = time.process_time()
        for shape in shapes:
            with self.subTest(shape[:12]), self.assertRaises(FrontmatterError):
                self.read(shape, "broken")
        self.assertLess(time.process_time() - started, 8)


class BodyReading(unittest.TestCase):
    def field(self, text: str, name: str = "N", title: str = "T") -> str | None:
        section = Body(text.split("\n"), 1).section(title)
        return None if section is None else section.field(name)

    def test_a_section_has_exactly_its_title_at_level_two(self) -> None:
        for heading in ("## T", "##  T  ", "## T ##", "   ## T", "##\tT #####"):
            with self.subTest(heading):
                self.assertEqual(self.field(f"{heading}\n- **N:** x"), "x")
        for heading in ("# T", "### T", "##T", "## t", "    ## T", "## T x", "## **T**", "> ## T"):
            with self.subTest(heading):
                self.assertIsNone(self.field(f"{heading}\n- **N:** x"))

    def test_a_section_ends_at_the_next_heading_of_level_one_or_two(self) -> None:
        self.assertIsNone(self.field("## T\n## U\n- **N:** x"))
        self.assertIsNone(self.field("## T\n# U\n- **N:** x"))
        self.assertEqual(self.field("## T\n### U\n- **N:** x"), "x")
        self.assertEqual(self.field("## T\n```\n## U\n```\n- **N:** x"), "x")

    def test_a_field_is_a_list_item_with_exactly_its_name(self) -> None:
        for item in ("- **N:** x", "* **N:** x", "+ **N:** x", "   - **N:** x", "-\t**N:** x", "- **N:**x"):
            with self.subTest(item):
                self.assertEqual(self.field(f"## T\n{item}"), "x")
        for item in ("**N:** x", "- N: x", "- **N**: x", "- **n:** x", "    - **N:** x", "1. **N:** x", "-**N:** x"):
            with self.subTest(item):
                self.assertIsNone(self.field(f"## T\n{item}"))

    def test_the_first_field_of_a_name_counts(self) -> None:
        self.assertEqual(self.field("## T\n- **N:** x\n- **N:** y"), "x")

    def test_the_value_goes_on_in_indented_lines_until_another_line(self) -> None:
        self.assertEqual(self.field("## T\n- **N:**\n  a\n\tb\n c"), "a\nb")
        self.assertEqual(self.field("## T\n- **N:**\n\n  a"), "")
        self.assertEqual(self.field("## T\n- **N:**\n  \n  a"), "")
        self.assertEqual(self.field("## T\n- **N:**\n text"), "")

    def test_placeholders_and_empty_fences_are_no_value(self) -> None:
        for value in (
            "",
            "   ",
            "TBD",
            "`TODO`",
            "...",
            "…",
            "<one command a line>",
            "``",
            "\n  ```\n  ```",
            "\n  - TBD",
        ):
            with self.subTest(value):
                self.assertEqual(self.field(f"## T\n- **N:** {value}"), "")
        for value in ("none", "TBD later", "<a> and <b>", "....", "-"):
            with self.subTest(value):
                self.assertEqual(self.field(f"## T\n- **N:** {value}"), value)

    def test_a_fence_ends_only_at_as_many_of_its_own_marks(self) -> None:
        inside = "- **N:** x"
        for fence, end in (("```", "~~~"), ("````", "```"), ("~~~", "~~~ x"), ("```", "    ```"), ("```", "")):
            with self.subTest(fence=fence, end=end):
                self.assertIsNone(self.field(f"## T\n{fence}\n{end}\n{inside}"))
        for fence, end in (("```", "```"), ("```", "`````"), ("~~~ `a`", "~~~  "), ("   ```text", "  ```")):
            with self.subTest(fence=fence, end=end):
                self.assertEqual(self.field(f"## T\n{fence}\n{end}\n{inside}"), "x")
        self.assertEqual(self.field(f"## T\n``` a`b\n{inside}"), "x", "no fence: a backquote in the rest of the line")

    def test_a_body_of_headings_and_blank_lines_is_empty(self) -> None:
        for text in ("", "\n\n", "# A\n\n## B ##\n", "#\n", " \t "):
            with self.subTest(text):
                self.assertTrue(Body(text.split("\n"), 1).is_empty())
        for text in ("#A", "x", "```\n# A\n```", "    # code"):
            with self.subTest(text):
                self.assertFalse(Body(text.split("\n"), 1).is_empty())

    def test_there_is_something_to_act_on(self) -> None:
        acts = ["- x", "* x", "1. x", "2) x", "see `x`", "in src/a", "~/notes", "/etc/x", "a\\b", "main.py", "a.toml"]
        acts += [
            ".gitignore",
            "Makefile",
            "at 1f2e3d4",
            "the files",
            "a CHECK",
            "a finding",
            "Tests",
            "acceptance",
            "Verification",
        ]
        for text in acts:
            with self.subTest(text):
                self.assertTrue(Body([text], 1).is_actionable())
        for text in ("go on", "as before.", "e.g. this", "i.e. that", "profile it", "protest", "1f2e3d", "-x", "3.14"):
            with self.subTest(text):
                self.assertFalse(Body([text], 1).is_actionable())


class FrontmatterLine(GateCase):
    def test_a_whole_handback_passes(self) -> None:
        self.expect({}, a_brief())
        self.expect({}, an_assignment())

    def test_reason_must_be_there_and_be_one_text(self) -> None:
        for reason in (None, '""', '"  "', "TBD", '"<why>"', "[a, b]", "…"):
            with self.subTest(reason):
                self.expect({"FRONTMATTER": "FAIL"}, a_brief(reason=reason), "reason")

    def test_plain_punctuation_or_a_comment_in_the_reason_warns(self) -> None:
        for mark in ":;,.!?#&*|>%@\"'[]{}`":
            with self.subTest(mark):
                self.expect({"FRONTMATTER": "WARN"}, a_brief(reason=f"a{mark}b"), "not quoted")
        self.expect({"FRONTMATTER": "WARN"}, a_brief(reason="fixes issue #12"), "comment cuts")
        self.expect({}, a_brief(reason="story three-four (done) <x ~ = + / is ready"))

    def test_a_long_reason_warns_from_200_characters_on(self) -> None:
        self.expect({}, a_brief(reason=f'"{"é" * 199}"'))
        self.expect({"FRONTMATTER": "WARN"}, a_brief(reason=f'"{"é" * 200}"'), "200")

    def test_a_producer_must_be_there_and_should_be_a_role(self) -> None:
        for producer in (None, '""', "TODO"):
            with self.subTest(producer):
                self.assertEqual(self.judged(a_brief(producer=producer))["FRONTMATTER"], "FAIL")
        for producer in ("codex", "Backend", '" backend"'):
            with self.subTest(producer):
                self.assertEqual(self.judged(a_brief(producer=producer))["FRONTMATTER"], "WARN")

    def test_words_are_spelled_exactly(self) -> None:
        for key in ("close_type", "status"):
            for value in ('""', "Story", "verified-pass", "DONE", "[story]", '"<status>"', '"story "'):
                with self.subTest(key=key, value=value):
                    self.assertEqual(self.judged(a_brief(**{key: value}))["FRONTMATTER"], "FAIL")

    def test_a_bounce_count_is_decimal_digits(self) -> None:
        for value in ("0", "2", "007"):
            with self.subTest(value):
                self.expect({}, a_brief(bounce_count=value))
        for value in ("-1", "1.0", "three", '""', "[1]", '"1 "', "²", "١"):
            with self.subTest(value):
                self.expect({"FRONTMATTER": "FAIL"}, a_brief(bounce_count=value), "bounce_count")

    def test_an_evidence_flag_is_yes_or_no_and_needs_a_status(self) -> None:
        for value in ("true", "FALSE", "Yes", "no"):
            with self.subTest(value):
                self.expect({}, a_brief(evidence_present=value))
        for value in ("1", "maybe", '""', "[true]"):
            with self.subTest(value):
                self.expect({"FRONTMATTER": "FAIL"}, a_brief(evidence_present=value), "evidence_present")
        self.expect({"FRONTMATTER": "FAIL"}, a_brief(status=None, evidence_present="true"), "without a status")
        self.expect({}, a_brief(status=None, evidence_present="false"))

    def test_an_unreadable_block_leaves_only_what_needs_no_key(self) -> None:
        expected = {"FRONTMATTER": "FAIL", "SHA-PRESENT": "WARN", "SHA-FRESH": "WARN", "ROUTING": "FAIL"}
        self.expect(expected, a_brief(reason='"open'), "line 3: an unterminated quote")
        self.expect({**expected, "CONTENT": "FAIL"}, "", "does not begin with")
        self.expect({**expected, "CONTENT": "WARN"}, "---\nx\n---\ngo on")
        self.expect({**expected, "CONTENT": "FAIL"}, "---\n- `a/b`: x\n---\n# only a heading\n")
        self.expect(expected, "# Notes\n\n- do `x`\n\n---\n")
        broken = judge(a_brief(reason="|"), facts(dirty=["x"]))
        self.assertEqual(broken.result("GIT-STATE"), "WARN")


class ShaLines(GateCase):
    def test_a_close_type_needs_a_scope_sha(self) -> None:
        for close_type in ("story", "nonsense"):
            self.assertEqual(self.judged(a_brief(scope_sha=None, close_type=close_type))["SHA-PRESENT"], "FAIL")
        self.expect({"SHA-PRESENT": "WARN"}, a_brief(scope_sha=None, close_type=None))

    def test_ids_are_7_to_40_hexadecimal_digits(self) -> None:
        for value in ("HEAD", "main", ONE[:6], ONE + "0", "TBD", f"[{ONE}]", '""', f'"{ONE} "', "0x" + ONE[:8]):
            for key in ("scope_sha", "prior_sha"):
                with self.subTest(key=key, value=value):
                    self.expect({"SHA-PRESENT": "FAIL", "SHA-FRESH": "WARN"}, a_brief(**{key: value}), key)
        for value in (ONE[:7], ONE.upper(), f'"{ONE[:12]}"'):
            with self.subTest(value):
                self.expect({}, a_brief(scope_sha=value))

    def test_ids_must_resolve(self) -> None:
        self.expect({"SHA-FRESH": "FAIL"}, a_brief(scope_sha="deadbeef"), "scope_sha deadbeef")
        self.expect({"SHA-FRESH": "FAIL"}, an_assignment(prior_sha="deadbeef"), "prior_sha")
        evidence = a_block("Verification Evidence", EVIDENCE, Commit_SHA_verified="`deadbeef`")
        self.expect({"SHA-FRESH": "FAIL"}, a_brief("- x\n" + evidence), "Commit SHA verified")

    def test_evidence_of_another_commit_warns(self) -> None:
        evidence = a_block("Verification Evidence", EVIDENCE, Commit_SHA_verified=TWO)
        self.expect({"SHA-FRESH": "WARN"}, a_brief("- x\n" + evidence), "another commit")
        shorter = a_block("Verification Evidence", EVIDENCE, Commit_SHA_verified=ONE[:9].upper())
        self.expect({}, a_brief("- x\n" + shorter))

    def test_without_a_repository_ids_warn_and_nothing_to_look_up_passes(self) -> None:
        self.assertEqual(results(judge(a_brief(), None)), {"SHA-FRESH": "WARN", "GIT-STATE": "WARN"})
        self.assertEqual(results(judge(an_assignment(), None)), {"GIT-STATE": "WARN"})

    def test_evidence_that_is_not_due_is_not_looked_up(self) -> None:
        evidence = a_block("Verification Evidence", EVIDENCE, Commit_SHA_verified="deadbeef")
        self.expect({}, an_assignment(a_block("Work Packet", PACKET) + evidence))


class RoutingLine(GateCase):
    def test_the_next_agent_is_a_role(self) -> None:
        for value in (None, "Claude", "gemini", '""', "[auditor]", "auditor and planner", '"<role>"'):
            with self.subTest(value):
                self.expect({"ROUTING": "FAIL"}, a_brief(next_agent=value), "next_agent")
        for value in ("Auditor", '" auditor "', '"AUDITOR"'):
            with self.subTest(value):
                self.expect({"ROUTING": "WARN"}, a_brief(next_agent=value), "read as auditor")

    def test_the_finalizer_takes_epics_from_the_auditor_only(self) -> None:
        passed = {"status": "verified_pass", "next_agent": "finalizer"}
        self.expect({}, a_brief(**passed, close_type="epic", producer="auditor"))
        self.expect({"ROUTING": "FAIL"}, a_brief(**passed, producer="auditor"), "epic only")
        for producer in ("validator", "planner", "user", '"Auditor"'):
            with self.subTest(producer):
                told = self.judged(a_brief(**passed, close_type="epic", producer=producer))
                self.assertEqual(told["ROUTING"], "FAIL")

    def test_an_epic_goes_to_auditor_or_finalizer(self) -> None:
        for role in ("planner", "backend", "frontend", "validator", "user"):
            with self.subTest(role):
                text = a_brief(close_type="epic", next_agent=role, status="verified_pass", producer="auditor")
                self.assertEqual(self.judged(text)["ROUTING"], "FAIL")

    def test_nobody_but_the_user_hands_work_to_himself(self) -> None:
        self.expect({"ROUTING": "FAIL"}, an_assignment(producer="planner", next_agent="planner"), "itself")
        self.expect({"ROUTING": "FAIL", "FRONTMATTER": "WARN"}, an_assignment(producer="Planner", next_agent="planner"))
        self.expect({}, an_assignment(producer="user", next_agent="user"))

    def test_a_status_has_its_usual_next_agents(self) -> None:
        usual = {
            "ready_for_review": {"auditor"},
            "verified_pass": {"planner", "backend", "frontend"},
            "verified_fail": {"planner", "backend", "frontend"},
            "blocked_missing_context": {"user"},
            "blocked_implementation_failure": {"planner", "user"},
            "escalate_to_user": {"user"},
        }
        self.assertEqual(set(usual), set(words.STATUSES))
        for status, agents in usual.items():
            producer = "backend" if status == "ready_for_review" else "auditor"
            for role in ("planner", "backend", "frontend", "auditor", "validator", "user"):
                if role == producer:
                    continue
                level = "FAIL" if status == "escalate_to_user" else "WARN"
                expected = {} if role in agents else {"ROUTING": level}
                with self.subTest(status=status, role=role):
                    self.expect(expected, a_brief(status=status, next_agent=role, producer=producer))

    def test_a_completion_comes_from_the_role_that_can_give_it(self) -> None:
        for status, roles, role in (
            ("ready_for_review", {"backend", "frontend"}, "auditor"),
            ("verified_pass", {"auditor", "validator"}, "planner"),
            ("verified_fail", {"auditor", "validator"}, "planner"),
        ):
            for producer in words.ROLES:
                if producer != role:
                    expected = {} if producer in roles else {"ROUTING": "WARN"}
                    with self.subTest(status=status, producer=producer):
                        self.expect(expected, a_brief(status=status, next_agent=role, producer=producer))

    def test_the_third_bounce_to_an_implementer_warns(self) -> None:
        failed = {"status": "verified_fail", "producer": "auditor"}
        for count, expected in (("2", {}), ("002", {}), ("3", {"ROUTING": "WARN"}), ("9" * 9000, {"ROUTING": "WARN"})):
            with self.subTest(count[:9]):
                self.expect(expected, a_brief(**failed, next_agent="backend", bounce_count=count))
        self.expect({}, a_brief(**failed, next_agent="planner", bounce_count="3"))


class ContentLine(GateCase):
    def test_an_empty_body_fails_and_a_vague_one_warns(self) -> None:
        self.expect({"CONTENT": "FAIL"}, a_brief("# Heading\n\n", status=None), "empty")
        self.expect({"CONTENT": "WARN"}, a_brief("Go on.\n", status=None), "names no file")

    def test_each_field_of_the_evidence_is_needed(self) -> None:
        for name in words.EVIDENCE_FIELDS:
            for value in (None, "", "TBD", "<text>"):
                with self.subTest(name=name, value=value):
                    block = a_block("Verification Evidence", {**EVIDENCE, name: value})  # type: ignore[dict-item]
                    self.assertEqual(self.judged(a_brief("- x\n\n" + block)), {"CONTENT": "FAIL"})

    def test_evidence_is_due_for_a_completion_or_when_it_is_claimed(self) -> None:
        for status in words.STATUSES:
            expected = "FAIL" if status in words.COMPLETIONS else None
            with self.subTest(status):
                self.assertEqual(self.judged(a_brief("- x", status=status)).get("CONTENT"), expected)
        blocked = {"status": "blocked_missing_context", "next_agent": "user"}
        self.expect({"CONTENT": "FAIL"}, a_brief("- x", **blocked, evidence_present="YES"))
        self.expect({}, a_brief("- x", **blocked, evidence_present="no"))

    def test_the_verified_commit_is_concrete(self) -> None:
        for value in ("HEAD", f"{ONE} (HEAD)", "HEAD~1", "origin/HEAD", "the last one", ONE[:6], ONE + "0"):
            with self.subTest(value):
                block = a_block("Verification Evidence", EVIDENCE, Commit_SHA_verified=value)
                self.assertEqual(self.judged(a_brief("- x\n\n" + block))["CONTENT"], "FAIL")
        for value in (f"`{ONE}`", f"commit {ONE[:8]}, AHEAD of main", f"sha1:{ONE}"):
            with self.subTest(value):
                block = a_block("Verification Evidence", EVIDENCE, Commit_SHA_verified=value)
                self.assertEqual(self.judged(a_brief("- x\n\n" + block)), {})

    def test_each_field_of_the_work_packet_is_wanted(self) -> None:
        for name in words.PACKET_FIELDS:
            for value in (None, "", "…", "<text>"):
                with self.subTest(name=name, value=value):
                    block = a_block("Work Packet", {**PACKET, name: value})  # type: ignore[dict-item]
                    self.expect({"CONTENT": "WARN"}, an_assignment("- x\n\n" + block), name)

    def test_vague_phrases_are_found_across_lines_and_in_any_case(self) -> None:
        for phrase in words.VAGUE_PHRASES:
            written = phrase.upper().replace(" ", "\n    ", 1)
            block = a_block("Work Packet", PACKET, Context=f"We {written}.")
            with self.subTest(phrase):
                self.expect({"CONTENT": "WARN"}, an_assignment(block), "vague")

    def test_only_a_planner_that_assigns_an_implementer_needs_a_packet(self) -> None:
        self.expect({"CONTENT": "WARN"}, an_assignment("- x"), "Work Packet")
        self.expect({"CONTENT": "WARN"}, an_assignment("- x", next_agent="frontend"))
        self.expect({}, an_assignment("- x", next_agent="auditor"))
        self.expect({}, an_assignment("- x", producer="user"))


class GitStateLine(unittest.TestCase):
    def state(self, dirty: Sequence[str] | None, *, require_clean: bool) -> str:
        return judge(a_brief(), facts(dirty=dirty), require_clean=require_clean).result("GIT-STATE")

    def test_a_dirty_tree_warns_or_fails(self) -> None:
        self.assertEqual(self.state([], require_clean=True), "PASS")
        self.assertEqual(self.state(["x"], require_clean=False), "WARN")
        self.assertEqual(self.state(["x"], require_clean=True), "FAIL")

    def test_a_state_that_git_does_not_tell_is_never_a_pass(self) -> None:
        self.assertEqual(self.state(None, require_clean=False), "WARN")
        self.assertEqual(self.state(None, require_clean=True), "FAIL")


class Answer(unittest.TestCase):
    def test_the_text_has_exactly_these_lines(self) -> None:
        expected = (
            "VALID: YES\n"
            "CHECKS:\n"
            "  FRONTMATTER:    PASS - readable, 6 keys\n"
            "  SHA-PRESENT:    PASS - every commit id is concrete\n"
            "  SHA-FRESH:      PASS - 2 commit id(s) resolve\n"
            "  ROUTING:        PASS - next is auditor after ready_for_review\n"
            "  CONTENT:        PASS - evidence is complete\n"
            "  GIT-STATE:      PASS - the work tree is clean\n"
            "SUMMARY: The brief passes all twelve points.\n"
            "BLOCKERS: none\n"
        )
        self.assertEqual(as_text(judge(a_brief(), facts()), "x.md"), expected)

    def test_a_no_numbers_every_failing_finding(self) -> None:
        told = as_text(judge(a_brief(status="done", scope_sha="HEAD", bounce_count="x"), facts(dirty=["y"])), "x.md")
        self.assertTrue(told.startswith("VALID: NO\n"))
        end = told.split("BLOCKERS:\n")[1]
        self.assertRegex(end, r"\A  1\. FRONTMATTER: .*\n  2\. FRONTMATTER: .*\n  3\. SHA-PRESENT: .*\n\Z")

    def test_warnings_only_has_no_blockers(self) -> None:
        told = as_text(judge(a_brief(), facts(dirty=["y"])), "x.md")
        self.assertTrue(told.startswith("VALID: WARNINGS-ONLY\n"))
        self.assertTrue(told.endswith("BLOCKERS: none\n"))

    def test_details_are_one_clean_line_of_200_characters_at_most(self) -> None:
        hostile = "\x1b[31m\u202e" + "é\u200b" * 500
        told = as_text(
            judge(a_brief(status=f'"{hostile}"', next_agent=f'"{hostile}"'), facts(dirty=["\x07\u2028" * 50])), "x"
        )
        for line in told.splitlines():
            self.assertLessEqual(len(line), 2 + 16 + 7 + 200)
        self.assertNotRegex(told, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e]")
        self.assertEqual(told.count("\n"), told.count("  ") and len(told.splitlines()))

    def test_json_is_one_line_of_ascii_with_every_finding(self) -> None:
        told = as_json(judge(a_brief(status='"é"'), facts()), "dé.md")
        self.assertTrue(told.isascii())
        self.assertEqual(told.count("\n"), 1)
        answer = json.loads(told)
        self.assertEqual([*answer], ["file", "valid", "checks", "summary", "blockers"])
        self.assertEqual([*answer["checks"]], list(words.LABELS))
        self.assertEqual([*answer["checks"]["FRONTMATTER"]], ["result", "detail", "findings"])
        self.assertEqual([*answer["checks"]["FRONTMATTER"]["findings"][0]], ["level", "point", "text"])
        self.assertEqual(answer["blockers"][0][:13], "FRONTMATTER: ")

    def test_github_annotations_name_level_file_and_line(self) -> None:
        told = FORMATS["github"](judge(a_brief(status="done"), facts(dirty=["a%b"])), "a,b:c.md")
        self.assertIn("::error file=a%2Cb%3Ac.md,line=5::FRONTMATTER: ", told)
        self.assertIn("::warning file=a%2Cb%3Ac.md,line=1::GIT-STATE: uncommitted changes: a%25b\n", told)
        self.assertEqual(FORMATS["github"](judge(a_brief(), facts()), "x.md"), "")

    def test_sarif_has_one_result_for_each_finding(self) -> None:
        answer = json.loads(FORMATS["sarif"](judge(a_brief(status="done"), facts(dirty=["x"])), "x y.md"))
        results_told = answer["runs"][0]["results"]
        self.assertEqual([told["ruleId"] for told in results_told], ["gate/FRONTMATTER", "gate/GIT-STATE"])
        self.assertEqual([told["level"] for told in results_told], ["error", "warning"])
        place = results_told[0]["locations"][0]["physicalLocation"]
        self.assertEqual(place, {"artifactLocation": {"uri": "x%20y.md"}, "region": {"startLine": 5}})

    def test_a_verdict_written_in_the_body_changes_nothing(self) -> None:
        fake = as_text(judge(a_brief(), facts()), "x.md")
        self.assertEqual(judge(a_brief("- x\n\n" + fake), facts()).valid(), "NO")


class Command(ProjectCase):
    """`validate HANDOFF.md` in real repositories."""

    def setUp(self) -> None:
        super().setUp()
        if shutil.which("git") is None:
            self.skipTest("git is not installed")

    def git(self, *arguments: str) -> str:
        named = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *named, *arguments],
            cwd=self.root,
            env={**kept, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull},
            check=True,
            capture_output=True,
        )
        return done.stdout.decode().strip()

    def commit(self) -> str:
        self.git("init", "-q")
        self.write("src/cart.py", "x = 1\n")
        self.git("add", "src")
        self.git("commit", "-q", "-m", "one")
        return self.git("rev-parse", "HEAD")

    def brief_of(self, commit: str, path: str = "HANDOFF.md") -> None:
        self.write(path, a_brief().replace(ONE, commit))

    def test_a_brief_in_a_clean_repository_is_valid(self) -> None:
        self.brief_of(self.commit())
        self.write(".scratch/handoff.jsonl", "x")
        told = self.run_here("validate", "HANDOFF.md")
        self.assertEqual((told.code, told.err), (0, ""))
        self.assertTrue(told.out.startswith("VALID: YES\nCHECKS:\n"), told.out)

    def test_a_short_id_and_capitals_resolve_and_a_branch_of_that_name_does_not(self) -> None:
        commit = self.commit()
        self.brief_of(commit[:9].upper())
        self.assertEqual(self.run_here("validate", "HANDOFF.md").code, 0)
        self.git("branch", "deadbeef")
        self.brief_of("deadbeef")
        self.assertIn("SHA-FRESH:      FAIL", self.run_here("validate", "HANDOFF.md").out)

    def test_the_id_of_a_tree_or_a_tag_is_no_commit(self) -> None:
        self.commit()
        self.git("tag", "-a", "-m", "t", "v1")
        for name in ("HEAD^{tree}", "v1"):
            with self.subTest(name):
                self.brief_of(self.git("rev-parse", name))
                self.assertIn("SHA-FRESH:      FAIL", self.run_here("validate", "HANDOFF.md").out)

    def test_changes_elsewhere_make_the_tree_dirty(self) -> None:
        self.brief_of(self.commit())
        changes: dict[str, Callable[[], object]] = {
            "changed": lambda: self.write("src/cart.py", "x = 2\n"),
            "new": lambda: self.write("new.txt", "x"),
            "renamed": lambda: self.git("mv", "src/cart.py", "src/other.py"),
            "deleted": lambda: self.git("rm", "-q", "src/cart.py"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                change()
                told = self.run_here("validate", "HANDOFF.md")
                self.assertEqual(told.code, 1)
                self.assertIn("GIT-STATE:      WARN - uncommitted changes: ", told.out)
                self.assertIn("GIT-STATE:      FAIL", self.run_here("validate", "HANDOFF.md", "--require-clean").out)
                self.git("reset", "-q", "--hard")
                self.git("clean", "-q", "-f", "-e", "HANDOFF.md")

    def test_the_files_of_its_own_fileset_do_not_count(self) -> None:
        commit = self.commit()
        self.brief_of(commit, "out/HANDOFF.md")
        files = [{"name": name} for name in ("HANDOFF.md", "timeline.jsonl", "evil.py", "../src/cart.py")]
        self.write("out/manifest.json", json.dumps({"files": files}))
        self.write("out/timeline.jsonl", "")
        self.assertEqual(self.run_here("validate", "out/HANDOFF.md").code, 0)
        self.write("out/evil.py", "")
        self.assertIn("out/evil.py", self.run_here("validate", "out/HANDOFF.md").out)
        os.unlink(os.path.join(self.root, "out/evil.py"))
        self.write("src/cart.py", "x = 3\n")
        self.assertIn("src/cart.py", self.run_here("validate", "out/HANDOFF.md").out)

    def test_without_a_manifest_the_neighbours_count(self) -> None:
        self.brief_of(self.commit(), "out/HANDOFF.md")
        self.assertEqual(self.run_here("validate", "out/HANDOFF.md").code, 0)
        self.write("out/timeline.jsonl", "")
        self.assertIn("out/timeline.jsonl", self.run_here("validate", "out/HANDOFF.md").out)

    def test_no_filter_or_monitor_of_the_repository_runs(self) -> None:
        self.brief_of(self.commit())
        canary = os.path.join(self.root, ".scratch", "canary")
        self.write(".git/info/attributes", "* filter=evil\n")
        self.git("config", "filter.evil.clean", f"touch {canary}; cat")
        self.git("config", "core.fsmonitor", f"touch {canary}; false")
        self.write("src/cart.py", "x = 1 \n")
        self.assertEqual(self.run_here("validate", "HANDOFF.md").code, 1)
        self.assertFalse(os.path.exists(canary))

    def test_a_file_outside_any_repository_warns(self) -> None:
        self.brief_of(ONE)
        told = self.run_here("validate", "HANDOFF.md")
        self.assertIn("SHA-FRESH:      WARN - no Git repository", told.out)
        self.assertIn("GIT-STATE:      WARN - no Git repository", told.out)

    def test_what_is_no_text_fails_as_an_unreadable_block(self) -> None:
        self.write("a.md", b"---\nreason: \xff\n---\n")
        self.write("b.md", b"---\n" + b"x" * (4 * 1024 * 1024))
        for name, reason in (
            ("a.md", "not valid UTF-8: byte 0xff at offset 12"),
            ("b.md", "larger than 4194304 bytes"),
        ):
            with self.subTest(name):
                told = self.run_here("validate", name)
                self.assertEqual((told.code, told.err), (1, ""))
                levels = dict(re.findall(r"  ([A-Z-]+): +(PASS|WARN|FAIL)", told.out))
                self.assertEqual(
                    [levels[label] for label in words.LABELS], ["FAIL", "WARN", "WARN", "FAIL", "FAIL", "WARN"]
                )
                self.assertIn(reason, told.out)

    def test_a_file_of_exactly_four_mebibytes_is_read(self) -> None:
        text = an_assignment()
        self.write("a.md", text + "x" * (4 * 1024 * 1024 - len(text)))
        self.assertIn("VALID: WARNINGS-ONLY", self.run_here("validate", "a.md").out)

    def test_what_is_no_regular_file_is_one_line_and_never_hangs(self) -> None:
        self.write("a.md", an_assignment())
        os.symlink("a.md", os.path.join(self.root, "link.md"))
        os.mkfifo(os.path.join(self.root, "pipe.md"))
        os.mkdir(os.path.join(self.root, "folder.md"))
        for name, reason in (
            ("link.md", "symbolic link"),
            ("pipe.md", "not a regular file"),
            ("folder.md", "regular file"),
            ("none.md", "No such file"),
            ("a\0.md", "null"),
        ):
            with self.subTest(name):
                told = self.run_here("validate", name)
                self.assertEqual((told.code, told.out), (1, ""))
                self.assertRegex(told.err, r"\Ahandoff\.py: [^\n]+\n\Z")
                self.assertIn(reason, told.err)

    def test_several_targets_are_named_and_the_worst_code_counts(self) -> None:
        self.brief_of(self.commit())
        self.write("b.md", "")
        told = self.run_here("validate", "HANDOFF.md", "b.md", "none.md")
        self.assertEqual(told.code, 1)
        self.assertEqual(re.findall("(?m)^FILE: (.*)$", told.out), ["HANDOFF.md", "b.md", "none.md"])
        self.assertEqual(told.out.count("VALID: "), 2)

    def test_validating_changes_nothing(self) -> None:
        self.brief_of(self.commit())
        before = {
            name: os.stat(os.path.join(self.root, ".git", name)).st_mtime_ns for name in os.listdir(f"{self.root}/.git")
        }
        self.run_here("validate", "HANDOFF.md")
        after = {
            name: os.stat(os.path.join(self.root, ".git", name)).st_mtime_ns for name in os.listdir(f"{self.root}/.git")
        }
        self.assertEqual(before, after)


class Documents(unittest.TestCase):
    def test_the_vectors_are_there(self) -> None:
        self.assertGreater(os.path.getsize(os.path.join(DATA, "gate.jsonl")), 0)

    def test_the_help_names_the_brief(self) -> None:
        self.assertIn("brief", run("validate", "--help").out)


if __name__ == "__main__":
    unittest.main()
