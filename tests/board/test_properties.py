"""What holds of every board, whatever the log (view.md 17.2)."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import shutil
import tempfile
import unicodedata
import unittest
from typing import Any

from handoff_core.board.words import PERSON, SENTENCES
from handoff_core.routing.table import ROUTE

from tests.board.view_vectors import SGR, call, lines_bytes, log_bytes, needs_shared, set_up, write
from tests.support import vectors

NOW = ["--now", "2026-11-27T10:00:00Z"]
FORMS = (["--verbose"], ["--markdown"], ["--json"], ["--html", "-"], ["--brief", "--all"], ["--ascii", "--all"])
SOUP: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "",
    "human",
    "x\x1b[31m\u202e\u200b\n- [ ] <b>",
    [],
    {},
    [1, "a", None, {}],
    {"tag": "clarify", "location": 3},
    "2026-11-27T09:00:00",
    "2099-01-01T00:00:00Z",
    "e\u0301\u0301\u0301\u0301\u0301\u0301",
)
BROKEN = ("", "{", "[1]", '{"a": 1, "a": 2}', "NaN", "\u2028", "<<<<<<< ours")


def logs() -> list[dict[str, Any]]:
    """Return cases with a log, one for each kind of log."""
    cases = [case for case in vectors("view.jsonl") if not needs_shared(case) and log_bytes(case)]
    seen: dict[bytes, dict[str, Any]] = {}
    for case in cases:
        seen.setdefault(log_bytes(case) or b"", case)
    return list(seen.values())


def spoiled(records: list[Any], chance: random.Random) -> list[Any]:
    """Return a log with values, lines and the order of records spoiled."""
    made = copy.deepcopy([record for record in records if isinstance(record, dict)])
    for _ in range(len(made) // 2):
        record = chance.choice(made)
        record[chance.choice([*record, "type", "req_id"])] = chance.choice(SOUP)
    lines: list[Any] = list(made)
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(BROKEN))
    if chance.random() < 0.3:
        chance.shuffle(lines)
    return lines


class Project:
    """A throw-away project with one log."""

    def __init__(self, test: unittest.TestCase, case: dict[str, Any]) -> None:
        folder = tempfile.mkdtemp(prefix="handoff-view-")
        test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.root = os.path.join(folder, "project")
        self.environment = set_up(case, self.root)

    def view(self, *arguments: str, **environment: str) -> str:
        """Return what `view` prints; anything but success is an error."""
        result = call(self.root, {**self.environment, **environment}, list(arguments))
        if result.code != 0 or "Traceback" in result.err or "internal error" in result.err:
            raise AssertionError(f"{arguments}: {result.code} {result.err}")
        return result.out

    def board(self, *arguments: str) -> dict[str, Any]:
        """Return the Board as JSON."""
        found: dict[str, Any] = json.loads(self.view(*arguments, "--json"))
        return found


class EveryBoard(unittest.TestCase):
    def test_any_mix_of_sound_and_broken_lines_gives_a_board_in_every_form(self) -> None:
        chance = random.Random(20261127)
        cases = logs()
        for number in range(25):
            case = chance.choice(cases)
            lines = spoiled([json_or_text(line) for line in (log_bytes(case) or b"").split(b"\n")[:-1]], chance)
            project = Project(self, {"log": lines, "env": {"COLUMNS": str(chance.choice((40, 61, 100, 140)))}})
            with self.subTest(number=number, lines=lines):
                for form in FORMS:
                    self.assertTrue(project.view(*NOW, *form))
                self.check_sums(project.board("--all", *NOW))

    def test_the_same_arguments_give_the_same_bytes(self) -> None:
        for case in logs()[:6]:
            project = Project(self, case)
            with self.subTest(case["name"]):
                for form in FORMS:
                    self.assertEqual(project.view(*NOW, *form), project.view(*NOW, *form))

    def test_sums_agree(self) -> None:
        for case in logs():
            with self.subTest(case["name"]):
                self.check_sums(Project(self, case).board("--all", *NOW))

    def check_sums(self, found: dict[str, Any]) -> None:
        for board in found["boards"]:
            time, rounds, counts = board["time"], board["reviews"]["rounds"], board["counts"]
            if time["wall_seconds"] is not None:
                self.assertAlmostEqual(time["busy_seconds"] + time["waiting_seconds"], time["wall_seconds"], 2)
            lines = [line for step in board["steps"] for line in step["lines"]]
            self.assertEqual(len(lines), counts["records"])
            self.assertEqual(len(set(lines)), counts["records"])
            if rounds:
                self.assertEqual(rounds[-1]["open"], counts["findings_open"])
                self.assertEqual(rounds[-1]["critical_open"], counts["findings_critical_open"])
                self.assertEqual(sum(each["opened"] for each in rounds), counts["findings"])
            self.check_money(board["money"])

    def check_money(self, money: dict[str, Any] | None) -> None:
        if money is None:
            return
        groups = (money["agents"], money["stages"], [money[part] for part in PARTS])
        for key in ("calls", "input", "output", "cache_read", "cache_write_5m", "cache_write_1h"):
            for group in groups:
                self.assertEqual(sum(total[key] for total in group), money["total"][key])
        for group in groups:
            self.assertAlmostEqual(sum(total["usd"] or 0 for total in group), money["total"]["usd"] or 0, 5)

    def test_filters_change_steps_findings_and_shown_only(self) -> None:
        for case in logs()[:8]:
            project = Project(self, case)
            whole = project.board("--all", *NOW)
            for flags in (["--agent", "test"], ["--type", "build-pass"], ["--since", "L5"]):
                with self.subTest(case["name"], flags=flags):
                    narrowed = project.board("--all", *NOW, *flags)
                    for board, other in zip(whole["boards"], narrowed["boards"], strict=True):
                        for key in ("steps", "findings", "shown"):
                            self.assertLessEqual(len(other[key]), len(board[key] or "shown"))
                            del board[key], other[key]
                    self.assertEqual(narrowed["boards"], whole["boards"])
                    whole = project.board("--all", *NOW)

    def test_a_replay_equals_the_board_of_the_lines_up_to_there(self) -> None:
        case = next(case for case in vectors("view.jsonl") if case["name"] == "example-a-finished")
        project = Project(self, case)
        for line in (1, 7, 14, 19, 27, 40):
            with self.subTest(line=line):
                cut = Project(self, {**case, "log": case["log"][:line]})
                clock = case["log"][line - 1]["ts"]
                replayed, first = project.board("--at", str(line)), cut.board("--now", clock)
                self.assertEqual(replayed["generated"].pop("at_line"), line)
                del first["generated"]["at_line"]
                self.assertEqual(replayed, first)

    def test_the_decision_is_that_of_route(self) -> None:
        from tests.support import run

        for case in logs():
            if "layout" in case:
                continue
            project = Project(self, case)
            for board in project.board("--all", *NOW)["boards"]:
                if board["req_id"] is None:
                    continue
                with self.subTest(case["name"], req_id=board["req_id"]):
                    routed = json.loads(run("route", "--req-id", board["req_id"], cwd=project.root).out)
                    self.assertEqual(board["now"]["decision"], routed["decision"])
                    self.assertEqual(board["now"]["rule"], routed["rule"])
                    self.assertEqual(board["now"]["next"], routed.get("next", []))

    def test_no_line_is_wider_than_the_screen(self) -> None:
        for case in logs():
            project = Project(self, case)
            for width in (40, 57, 133):
                text = project.view("--all", *NOW, "--verbose", COLUMNS=str(width))
                with self.subTest(case["name"], width=width):
                    command = re.compile(r'python3 scripts/handoff.py append|\{"type"| "author"|EOF')
                    wide = [line for line in text.splitlines() if columns(line) > width and not command.match(line)]
                    self.assertEqual(wide, [])

    def test_text_with_colour_stripped_of_it_equals_text_without(self) -> None:
        for case in logs()[:10]:
            project = Project(self, case)
            with self.subTest(case["name"]):
                coloured = project.view("--all", *NOW, "--color", COLUMNS="90")
                self.assertEqual(SGR.sub("", coloured), project.view("--all", *NOW, "--no-color", COLUMNS="90"))

    def test_no_character_that_is_cleaned_away_is_in_any_output(self) -> None:
        hostile = "".join(map(chr, [*range(1, 0x20), *range(0x7F, 0xA0), 0xAD, *range(0x200B, 0x2010)]))
        hostile += "\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041 end"
        case = next(case for case in vectors("view.jsonl") if case["name"] == "repeated-finding")
        log = [{**record, "req_id": hostile, **spiked(record, hostile)} for record in case["log"]]
        project = Project(self, {"log": log})
        for form in FORMS:
            with self.subTest(form=form):
                text = project.view(*NOW, *form).replace("\n", "").replace("\u2060", "")
                odd = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\u200c\u200d"}
                self.assertEqual(odd, set())
                self.assertIn("end", text)

    def test_every_rule_has_a_sentence_and_every_block_a_text_for_the_person(self) -> None:
        self.assertEqual({row.rule for row in ROUTE} - set(SENTENCES), set())
        blocked = {row.rule for row in ROUTE if row.then.decision == "blocked"}
        self.assertIn("human-consultation", blocked)
        self.assertEqual(blocked - set(PERSON), set())


PARTS = ("first_pass", "rework", "grade", "unattributed")


def json_or_text(line: bytes) -> Any:
    """Return a line of a log as a record where it is one."""
    try:
        return json.loads(line)
    except ValueError:
        return line.decode("utf-8", "replace")


def spiked(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the text fields of a record with hostile text in each."""
    texts: dict[str, Any] = {key: text for key in ("request", "title", "summary", "architectural_fit") if key in record}
    findings = [
        {**finding, "location": text, "description": text, "fix": text, "severity": "critical"}
        for finding in record.get("findings", [])
    ]
    return {**texts, "findings": findings} if findings else texts


def columns(text: str) -> int:
    """Return how many columns a text takes, judged without the program."""
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(c) in ("W", "F")
        else 1
        for c in text
    )


class Following(unittest.TestCase):
    def test_a_reader_that_goes_on_equals_a_reader_that_begins(self) -> None:
        from handoff_core.board.clock import Moment
        from handoff_core.board.model import Filters
        from handoff_core.commands.view_source import BoardSource
        from handoff_core.layout import find_project

        case = next(case for case in vectors("view.jsonl") if case["name"] == "example-d-damaged")
        raw = case["log_raw"].encode()
        project = Project(self, {"log": []})
        log = os.path.join(project.root, ".scratch", "handoff.jsonl")

        def source() -> BoardSource:
            return BoardSource(
                find_project(project.root),
                zone=None,
                clock=Moment(1_795_773_600_000_000),
                at_line=None,
                filters=lambda _clock: Filters(),
                chosen=lambda listed, _active: listed,
                transcripts=None,
                tell_missing=False,
            )

        going = source()
        pieces = [raw[:0], raw[:1000], raw[:1001], raw[:2000], raw, raw[:700], lines_bytes([{"type": "x"}]), raw]
        for number, piece in enumerate(pieces):
            with self.subTest(number=number):
                write(log, piece)
                self.assertEqual(going.board(), source().board())
        os.unlink(log)
        self.assertEqual(going.board()["log"]["state"], "missing")
        write(log, raw)
        self.assertEqual(going.board(), source().board())


if __name__ == "__main__":
    unittest.main()
