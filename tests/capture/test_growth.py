"""Sessions that are built again: what grows, stays, goes and comes back (capture.md 8), each verified against its source."""

from __future__ import annotations

import json
import os
from typing import Any
from unittest import mock

from tests.support import ProjectCase, Result

SECRET = "ghp_" + "a8Kd93jfLq20ZxWv" + "Rt7YbN5cMs4EgH1uPq9T"
OTHER_SECRET = "glpat-" + "x7Qm2Rk9Vt4Wz8Lp3Ns6"


def said(role: str, text: str, minute: int, **more: Any) -> dict[str, Any]:
    """Return a canonical record."""
    return {"role": role, "text": text, "ts": f"2026-05-01T09:{minute:02}:00Z", **more}


class GrowthCase(ProjectCase):
    """A project whose session is called `s`."""

    def setUp(self) -> None:
        super().setUp()
        clock = mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1780315200"})
        clock.start()
        self.addCleanup(clock.stop)
        self.folder = os.path.join(self.root, ".scratch", "handoffs", "projects", "unsorted", "s")

    def source(self, name: str, *records: dict[str, Any]) -> str:
        """Write a source of the project."""
        return self.write(name, "".join(json.dumps(record) + "\n" for record in records))

    def build(self, *arguments: str) -> dict[str, Any]:
        """Build, expect success, and return what `--json` says; the fileset must verify."""
        result = self.run_here("build", *arguments, "--session", "s", "--json")
        self.assertEqual(result.code, 0, result.err)
        answer: dict[str, Any] = json.loads(result.out)
        answer["stderr"] = result.err
        checked = self.run_here("verify", answer["dir"])
        self.assertEqual(checked.code, 0, checked.err)
        return answer

    def against(self, *sources: str) -> Result:
        """Verify the fileset against sources."""
        flags = [word for source in sources for word in ("--against", source)]
        return self.run_here("verify", self.folder, *flags)

    def turns(self) -> list[dict[str, Any]]:
        """Return the turns of the fileset."""
        with open(os.path.join(self.folder, "timeline.jsonl"), encoding="utf-8") as opened:
            return [json.loads(line) for line in opened]

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of the fileset."""
        with open(os.path.join(self.folder, "manifest.json"), encoding="utf-8") as opened:
            value: dict[str, Any] = json.load(opened)
        return value


A, B, C, D = (said(role, f"Text number {i} of the session.", i) for i, role in enumerate(("user", "assistant") * 2))


class GrowingSources(GrowthCase):
    """One source after the other."""

    def test_turns_behind_the_captured_ones_are_added(self) -> None:
        """T is the beginning of S: the rest of S is added."""
        self.source("a.jsonl", A, B)
        self.build("a.jsonl")
        self.source("a.jsonl", A, B, C)
        answer = self.build("a.jsonl")
        self.assertEqual((answer["new"], answer["revision"], answer["turns"]), (1, 2, 3))
        self.assertEqual(self.against("a.jsonl").code, 0)

    def test_nothing_new_changes_no_byte(self) -> None:
        """The same source again is up to date, and no file is touched."""
        self.source("a.jsonl", A, B)
        self.build("a.jsonl")
        before = {name: os.stat(os.path.join(self.folder, name)).st_mtime_ns for name in os.listdir(self.folder)}
        answer = self.build("a.jsonl")
        after = {name: os.stat(os.path.join(self.folder, name)).st_mtime_ns for name in os.listdir(self.folder)}
        self.assertEqual((answer["status"], answer["revision"], after), ("up-to-date", 1, before))

    def test_a_source_that_lost_its_beginning_keeps_it_as_gone(self) -> None:
        """S begins with the end of T: the missing front of T stays."""
        self.source("a.jsonl", A, B, C)
        self.build("a.jsonl")
        self.source("a.jsonl", C, D)
        answer = self.build("a.jsonl")
        self.assertIn("warning: 2 captured turns are no longer in the source; they are kept", answer["stderr"])
        self.assertEqual([turn.get("gone") for turn in self.turns()], [True, True, None, None])
        self.assertEqual(self.manifest()["sources"][0]["kept"], 2)
        self.assertEqual(self.against("a.jsonl").code, 0, self.against("a.jsonl").err)
        self.assertEqual(self.build("a.jsonl")["status"], "up-to-date")

    def test_a_source_that_lost_its_end_keeps_it_as_gone(self) -> None:
        """S is the beginning of T: all of T stays, and comes back when S does."""
        self.source("a.jsonl", A, B, C)
        self.build("a.jsonl")
        self.source("a.jsonl", A)
        self.build("a.jsonl")
        self.assertEqual([turn.get("gone") for turn in self.turns()], [None, True, True])
        self.assertEqual(self.against("a.jsonl").code, 0, self.against("a.jsonl").err)
        self.source("a.jsonl", A, B, C, D)
        answer = self.build("a.jsonl")
        self.assertEqual((answer["kept"], answer["turns"], answer["watermark"]), (0, 4, 4))

    def test_anything_else_replaces_and_says_from_where(self) -> None:
        """S and T differ from turn 2 on: S replaces T, the watermark stays."""
        self.source("a.jsonl", A, B, C)
        self.build("a.jsonl")
        self.source("a.jsonl", A, D)
        answer = self.build("a.jsonl")
        self.assertIn("warning: rewritten from turn 2 on; 2 captured turns were replaced", answer["stderr"])
        self.assertEqual((answer["rewritten"], answer["turns"], answer["watermark"]), (2, 2, 3))
        self.assertEqual(self.against("a.jsonl").code, 0, self.against("a.jsonl").err)

    def test_a_source_that_is_not_given_stays(self) -> None:
        """Recorded sources that are not given keep their turns, wherever they stand."""
        self.source("a.jsonl", A, B)
        self.source("b.jsonl", C)
        self.build("a.jsonl", "b.jsonl")
        self.source("b.jsonl", C, D)
        answer = self.build("b.jsonl")
        self.assertEqual((answer["turns"], answer["new"]), (4, 1))
        self.assertEqual([turn["src"] for turn in self.turns()], [0, 0, 1, 1])
        for sources in (("a.jsonl",), ("b.jsonl",), ("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")):
            with self.subTest(sources=sources):
                self.assertEqual(self.against(*sources).code, 0, self.against(*sources).err)

    def test_the_order_of_sources_is_that_of_the_first_build(self) -> None:
        """Sources given the other way round are the same fileset."""
        self.source("a.jsonl", A, B)
        self.source("b.jsonl", B, C)
        self.build("a.jsonl", "b.jsonl")
        self.assertEqual(self.build("b.jsonl", "a.jsonl")["status"], "up-to-date")

    def test_a_turn_that_an_earlier_source_has_counts_once(self) -> None:
        """A record that loses all its turns so is merged, also when the earlier source is not read again."""
        self.source("a.jsonl", A, B)
        self.build("a.jsonl")
        self.source("b.jsonl", A, B, C)
        answer = self.build("b.jsonl")
        self.assertEqual((answer["turns"], answer["new"]), (3, 1))
        self.assertEqual(answer["records"][1], {"read": 3, "used": 1, "merged": 2, "skipped": 0, "bad": 0})

    def test_secrets_keep_apart_when_sources_come_one_by_one(self) -> None:
        """Two secrets never share a number, and the same build gives the same numbers again."""
        self.source("a.jsonl", said("user", f"The first key is {SECRET} here.", 1))
        self.build("a.jsonl")
        self.source("b.jsonl", said("user", f"The second key is {OTHER_SECRET} here.", 2))
        self.build("b.jsonl")
        texts = [turn["text"] for turn in self.turns()]
        self.assertIn("[REDACTED:github-pat:1]", texts[0])
        self.assertIn("[REDACTED:gitlab-pat:2]", texts[1])
        self.assertEqual(self.manifest()["redactions"], {"mode": "on", "masked": 2, "secrets": 2})
        for sources in (("b.jsonl",), ("a.jsonl", "b.jsonl")):
            with self.subTest(sources=sources):
                self.assertEqual(self.against(*sources).code, 0, self.against(*sources).err)
        self.assertEqual(self.build("b.jsonl")["status"], "up-to-date")

    def test_a_grown_source_is_said_to_have_grown(self) -> None:
        """--against names how much was captured, and whether that is unchanged."""
        path = self.source("a.jsonl", A, B)
        size = os.path.getsize(path)
        self.build("a.jsonl")
        self.source("a.jsonl", A, B, C)
        result = self.against("a.jsonl")
        self.assertEqual(result.code, 1)
        self.assertIn(f"source grew: {size} of {os.path.getsize(path)} bytes were captured", result.err)
        self.assertIn("the captured part is unchanged", result.err)


class Overrides(GrowthCase):
    """What the flags say stays until it is said anew."""

    def test_overrides_are_kept_and_taken_back(self) -> None:
        """A later build uses the override again; an empty text takes it back."""
        self.source("a.jsonl", A, B)
        self.build("a.jsonl", "--model", "m1", "--objective", "Do it.")
        self.source("a.jsonl", A, B, C)
        self.assertEqual(self.build("a.jsonl")["model"], "m1")
        self.assertEqual(self.build("a.jsonl", "--model", "")["model"], "")
        self.assertEqual(self.manifest()["overrides"], {"objective": "Do it."})

    def test_a_filed_session_keeps_its_project(self) -> None:
        """Another --project than the one it is filed under is refused."""
        self.source("a.jsonl", A, B)
        self.build("a.jsonl")
        result = self.run_here("build", "a.jsonl", "--session", "s", "--project", "elsewhere")
        self.assertEqual(result.code, 1)
        self.assertIn("is filed under the project unsorted", result.err)


class Refusals(GrowthCase):
    """What is not built over, and what is not built."""

    def test_damaged_records_are_named(self) -> None:
        """Five of them by line and reason, the others by number."""
        lines = [json.dumps(A), "{broken", "[1] x", '{"a": NaN}', "{", "nothing", "more", ""]
        self.write("a.jsonl", "\n".join(lines))
        result = self.run_here("build", "a.jsonl", "--json")
        self.assertEqual(result.code, 5)
        self.assertIn("line 2 (not JSON), line 3 (text after the JSON value)", result.err)
        self.assertIn(", +1 more", result.err)
        answer = json.loads(result.out)
        self.assertEqual((answer["status"], answer["exit"]), ("refused", 5))
        self.assertEqual([bad["line"] for bad in answer["bad_lines"]], [2, 3, 4, 5, 6, 7])

    def test_a_timeline_that_cannot_be_read_is_not_built_over(self) -> None:
        """The fileset stays as it is."""
        self.source("a.jsonl", A, B)
        self.build("a.jsonl")
        path = os.path.join(self.folder, "timeline.jsonl")
        with open(path, "wb") as opened:
            opened.write(b"{}\n")
        self.source("a.jsonl", A, B, C)
        result = self.run_here("build", "a.jsonl", "--session", "s")
        self.assertEqual(result.code, 1)
        self.assertIn("it is not built over", result.err)
        self.assertEqual(self.read(path), b"{}\n")
