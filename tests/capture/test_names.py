"""Tests of the names of folders, sessions and projects (capture.md 3)."""

from __future__ import annotations

import unittest
from hashlib import sha256

from handoff_core.capture import names


def hexed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class SafeNames(unittest.TestCase):
    def test_a_plain_text_is_its_own_name(self) -> None:
        for text in ("run-7f3a", "A.b_c-9", "x", "0", "a" * 80, "console", "com10", "lpt", "nul-1"):
            with self.subTest(text):
                self.assertEqual(names.safe_name(text), text)

    def test_any_other_text_becomes_a_slug_and_a_digest(self) -> None:
        cases = {
            "..": "session",
            "": "session",
            "../../etc": "etc",
            "Ärger im Büro": "rger-im-b-ro",
            "a b": "a-b",
            "-a": "a",
            "a.": "a",
            "NUL": "nul",
            "con.txt": "con.txt",
            "Lpt9.a.b": "lpt9.a.b",
            "a~b": "a-b",
            "\ud800": "session",
            "b" * 81: "b" * 40,
        }
        for text, slug in cases.items():
            with self.subTest(text):
                self.assertEqual(names.safe_name(text), f"{slug}~{hexed(text)}")

    def test_a_slug_cut_at_forty_keeps_no_mark_at_its_end(self) -> None:
        self.assertEqual(names.safe_name("a" * 39 + " b c"), f"{'a' * 39}~{hexed('a' * 39 + ' b c')}")

    def test_projects_are_shorter_than_sessions(self) -> None:
        self.assertEqual(names.safe_name("p" * 48, names.PROJECT_LENGTH), "p" * 48)
        self.assertIn("~", names.safe_name("p" * 49, names.PROJECT_LENGTH))

    def test_no_own_name_holds_a_tilde(self) -> None:
        self.assertFalse(names.is_safe("a~0123456789ab"))


class Stems(unittest.TestCase):
    def test_endings_go_again_and_again(self) -> None:
        cases = {
            "a/b.jsonl": "b",
            "b.jsonl.zst": "b",
            "b.json.txt.md.log.db": "b",
            "b.zstd": "b",
            "b.tar": "b.tar",
            "/x/.jsonl": ".jsonl",
            "C:\\logs\\run.log": "run",
        }
        for path, stem in cases.items():
            with self.subTest(path):
                self.assertEqual(names.stem_of(path), stem)

    def test_a_file_named_alike_in_every_session_takes_the_name_of_its_folder(self) -> None:
        for path in ("id/events.jsonl", "id/session.jsonl.zstd", "id/full.jsonl", "id/api_conversation_history.json"):
            with self.subTest(path):
                self.assertEqual(names.stem_of("/home/" + path), "id")

    def test_the_same_word_with_another_ending_is_an_ordinary_name(self) -> None:
        for path, stem in {"id/session.txt": "session", "id/events.md": "events", "events.jsonl": "events"}.items():
            with self.subTest(path):
                self.assertEqual(names.stem_of(path), stem)


class Choices(unittest.TestCase):
    def test_the_session_is_the_given_one_the_stem_in_a_record_the_first_id_or_the_stem(self) -> None:
        self.assertEqual(names.choose_session("mine", "stem", ["a"]), "mine")
        self.assertEqual(names.choose_session("", "stem", ["a", "stem"]), "stem")
        self.assertEqual(names.choose_session("", "stem", ["a", "b"]), "a")
        self.assertEqual(names.choose_session("", "stem", []), "stem")

    def test_a_thread_names_a_project_in_its_last_part(self) -> None:
        cases = {
            "--work-api--": "api",
            "--home-me-x--": "",
            "--a--b-shop--": "shop",
            "work-api": "",
            "----": "",
            "--" + "p" * 49 + "--": "",
            "--a-b c--": "",
        }
        for thread, project in cases.items():
            with self.subTest(thread):
                self.assertEqual(names.project_of_thread(thread), project)

    def test_a_folder_of_any_platform_ends_in_its_last_part(self) -> None:
        for folder, part in {"/work/shop/": "shop", "C:\\work\\shop": "shop", "/": "", "": "", "shop": "shop"}.items():
            with self.subTest(folder):
                self.assertEqual(names.last_part(folder), part)


if __name__ == "__main__":
    unittest.main()
