"""The documents in refs: their links resolve, and what they say of the program is what the code says."""

from __future__ import annotations

import json
import os
import re
import unittest

from handoff_core import data
from handoff_core.brief import words
from handoff_core.brief.answer import as_text
from handoff_core.brief.frontmatter import parse
from handoff_core.brief.gate import GitFacts, judge
from handoff_core.capture import contract, policy
from handoff_core.capture.readers.table import READERS
from handoff_core.capture.turns import CLASSES, classify

from tests.support import REPOSITORY

REFS = os.path.join(REPOSITORY, "refs")
DOCUMENTS = (
    "ADAPTERS.md",
    "bootstrap.md",
    "brief-checklist.md",
    "handbook.md",
    "protocol.md",
    "roles.md",
    "validator.md",
)
COMMIT = "1f2e3d4c5b6a79880123456789abcdef01234567"


def document(name: str) -> str:
    with open(os.path.join(REFS, name), encoding="utf-8") as opened:
        return opened.read()


def without_fences(text: str) -> str:
    return re.sub(r"(?ms)^(`{3,}).*?^\1[ \t]*$", "", text)


def reader_cells() -> list[list[str]]:
    """Return what the code says of each reader: the first three columns of the table in ADAPTERS.md."""
    cells = []
    for reader in READERS:
        stores = "<br>".join(f"`{store.pattern}`" + (" (many)" if store.many else "") for store in reader.stores)
        cells.append([f"`{reader.name}`", reader.harness or "any", stores or "–"])
    return cells


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def example(name: str) -> str:
    """Return the answer that validator.md shows under `name`."""
    brief = re.search(r"(?s)```markdown\n(.*?)```", document("protocol.md"))
    assert brief is not None
    text = brief[1]
    dirty: list[str] = []
    if name == "warnings":
        text = text.replace("next_agent: auditor", "next_agent: backend").replace(
            "producer: backend", "producer: auditor"
        )
        text = text.replace("status: ready_for_review", "status: verified_fail\nbounce_count: 3")
        dirty = ["notes.txt"]
    if name == "no":
        text = text.replace(f"scope_sha: {COMMIT}", "scope_sha: HEAD").split("## Verification")[0]
    return as_text(judge(text, GitFacts(lambda commit: commit, dirty)), "HANDOFF.md")


class Links(unittest.TestCase):
    def test_every_document_is_there_and_shipped(self) -> None:
        for name in DOCUMENTS:
            with self.subTest(name):
                self.assertTrue(document(name).startswith("# "))
                self.assertEqual(data.read(f"refs/{name}").decode(), document(name))

    def test_every_link_resolves(self) -> None:
        for name in DOCUMENTS:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(document(name))):
                with self.subTest(name, target=target):
                    path, _, anchor = target.partition("#")
                    self.assertNotIn("://", target, "the documents link to each other alone")
                    self.assertTrue(os.path.isfile(os.path.join(REFS, path or name)), target)
                    headings = re.findall(r"(?m)^#+ (.*)$", without_fences(document(path or name)))
                    self.assertTrue(not anchor or anchor in map(slug, headings), target)

    def test_every_document_is_reached_from_another(self) -> None:
        texts = {name: document(name) for name in DOCUMENTS}
        for name in DOCUMENTS:
            if name not in ("ADAPTERS.md", "brief-checklist.md"):  # entry points for people
                with self.subTest(name):
                    self.assertTrue(any(f"({name}" in text for other, text in texts.items() if other != name))

    def test_fences_are_closed_and_no_line_ends_in_blanks(self) -> None:
        for name in DOCUMENTS:
            with self.subTest(name):
                self.assertEqual(document(name).count("```") % 2, 0)
                self.assertNotRegex(document(name), r"(?m)[ \t]+$")
                self.assertTrue(document(name).endswith("\n"))


class Protocol(unittest.TestCase):
    def setUp(self) -> None:
        self.text = document("protocol.md")

    def test_the_example_passes_the_gate(self) -> None:
        self.assertTrue(example("yes").startswith("VALID: YES\n"), example("yes"))

    def test_roles_and_statuses_are_those_of_the_gate(self) -> None:
        row = next(line for line in self.text.splitlines() if line.startswith("| `next_agent`"))
        self.assertEqual(tuple(re.findall(r"`(\w+)`", row))[1:], words.ROLES)
        statuses = self.text.split("## Statuses")[1].split("\n## ")[0]
        self.assertEqual(tuple(re.findall(r"(?m)^\| `(\w+)`", statuses)), words.STATUSES)
        due = re.findall(r"(?m)^\| `(\w+)` \| [^|]+ \| due \|", statuses)
        self.assertEqual(tuple(due), words.COMPLETIONS)

    def test_each_status_goes_where_the_gate_expects_it(self) -> None:
        statuses = self.text.split("## Statuses")[1].split("\n## ")[0]
        for status in words.STATUSES:
            row = next(line for line in statuses.splitlines() if line.startswith(f"| `{status}`"))
            told = set(re.findall(r"\w+", row.split("|")[4])) & set(words.ROLES)
            expected = {*words.usual_next(status, None), *words.usual_next(status, words.EPIC)}
            with self.subTest(status):
                self.assertEqual(told, expected)

    def test_the_blocks_have_exactly_the_fields_of_the_gate(self) -> None:
        for title, fields in ((words.EVIDENCE, words.EVIDENCE_FIELDS), (words.PACKET, words.PACKET_FIELDS)):
            blocks = re.findall(rf"(?s)```markdown\n## {title}\n(.*?)```", self.text)
            with self.subTest(title):
                self.assertEqual(len(blocks), 1)
                self.assertEqual(tuple(re.findall(r"\*\*(.+?):\*\*", blocks[0])), fields)

    def test_the_vague_phrases_are_those_of_the_gate(self) -> None:
        table = self.text.split("| instead of | write |")[1].split("\n\n")[0]
        told = tuple(line.split("|")[1].strip() for line in table.splitlines()[2:])
        self.assertEqual(told, words.VAGUE_PHRASES)

    def test_the_contract_has_the_words_results_and_levels_of_verify(self) -> None:
        block = next(found for found in re.findall(r"(?s)```text\n(.*?)```", self.text) if "RESULT:" in found)
        self.assertEqual(tuple(re.findall(r"(?m)^([A-Z_]+):", block)), contract.WORDS)
        judged = contract.judge_contract(block, lambda _: False, lambda _: False)
        self.assertEqual(judged.level, contract.CLAIMED)
        for word in (*contract.RESULTS, contract.NONE, contract.INCOMPLETE, contract.CLAIMED, contract.SUPPORTED):
            self.assertIn(f"`{word}`", self.text)

    def test_every_key_of_the_table_is_known_to_the_example_or_named_optional(self) -> None:
        block = re.search(r"(?s)```markdown\n(---.*?---)\n", self.text)
        assert block is not None
        keys = set(re.findall(r"`(\w+)`", self.text.split("## Keys of the frontmatter")[1].split("###")[0]))
        self.assertLessEqual(set(parse(block[1].split("\n"))), keys)


class Validator(unittest.TestCase):
    def test_the_examples_are_what_the_gate_answers(self) -> None:
        for name in ("yes", "warnings", "no"):
            shown = re.search(rf"(?s)<!-- example: {name} -->\n```text\n(.*?)```", document("validator.md"))
            assert shown is not None
            with self.subTest(name):
                self.assertEqual(shown[1], example(name))

    def test_the_lines_stand_in_the_order_of_the_answer(self) -> None:
        table = document("validator.md").split("Six lines gather the points.")[1].split("\n\n")[1]
        self.assertEqual(tuple(re.findall(r"(?m)^\| `([A-Z-]+)`", table)), words.LABELS)

    def test_there_are_twelve_points(self) -> None:
        points = document("validator.md").split("## The twelve points")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"(?m)^(\d+)\.", points), [str(number) for number in range(1, 13)])


class Roles(unittest.TestCase):
    def test_every_role_has_a_row_and_its_paragraph(self) -> None:
        text = document("roles.md")
        table = text.split("| role |")[1].split("\n\n")[0]
        self.assertEqual(tuple(re.findall(r"(?m)^\| `(\w+)`", table)), words.ROLES)
        headings = " ".join(re.findall(r"(?m)^## (.*)$", text))
        for role in words.ROLES:
            self.assertIn(role, headings)


class Adapters(unittest.TestCase):
    def test_the_table_of_readers_says_what_the_code_says(self) -> None:
        table = document("ADAPTERS.md").split("| versions seen |")[1].split("\n\n")[0]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
        self.assertEqual([row[:3] for row in rows], reader_cells())
        for row in rows:
            with self.subTest(row[0]):
                self.assertEqual(len(row), 6)
                self.assertTrue(all(row))

    def test_the_classes_are_those_of_the_general_table(self) -> None:
        table = document("ADAPTERS.md").split("| test | class | kind |")[1].split("\n\n")[0]
        told = [line.split("|")[2].strip() for line in table.splitlines()[2:]]
        self.assertEqual(sorted(told), sorted(CLASSES))
        asked = [("", "tool_use"), ("", "thinking"), ("user", ""), ("assistant", ""), ("system", "")]
        self.assertEqual([classify(role, kind)[0] for role, kind in asked], told)

    def test_the_example_records_are_json(self) -> None:
        block = re.search(r"(?s)```json\n(.*?)```", document("ADAPTERS.md"))
        assert block is not None
        keys = re.findall(r"(?m)^\| `(\w+)` \|", document("ADAPTERS.md").split("## The readers")[0])
        for line in block[1].splitlines():
            self.assertEqual([*json.loads(line)], keys)


class Policy(unittest.TestCase):
    def test_the_file_is_the_one_that_build_reads_and_it_is_sound(self) -> None:
        self.assertEqual(policy.NAME, "refs/permission-policy.json")
        value = policy.parsed_policy(data.read(policy.NAME))
        self.assertEqual(value["schema_version"], policy.VERSION)

    def test_what_it_grants_is_what_build_does(self) -> None:
        shipped = data.read(policy.NAME)
        judged = policy.read_policy(None, shipped, "/work/project", "/home/somebody")
        cases = {
            ("R0", "/work/project/a"): "ALLOWED",
            ("R1", "/work/project/a"): "ALLOWED",
            ("R2", "/work/project/a"): "NEEDS_AUTH",
            ("R4", "/work/project/a"): "NEEDS_AUTH",
            ("R9", "/work/project/a"): "DENIED",
            ("R0", "/home/somebody/.codex/sessions/a"): "ALLOWED",
            ("R1", "/home/somebody/.codex/sessions/a"): "DENIED",
            ("R0", "/home/somebody/notes"): "NEEDS_AUTH",
            ("R0", "/home/somebody/.ssh/id"): "DENIED",
            ("R0", "/usr/share/a"): "ALLOWED",
            ("R1", "/usr/share/a"): "DENIED",
            ("R0", "/somewhere/else"): "NEEDS_AUTH",
        }
        for (risk, path), verdict in cases.items():
            with self.subTest(risk=risk, path=path):
                self.assertEqual(judged.decide(risk, path)["verdict"], verdict)


if __name__ == "__main__":
    unittest.main()
