"""Text out of other people's hands, in all four forms of the board (render.jsonl, reliability.md 6)."""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
import unittest
from html.parser import HTMLParser
from typing import Any

from handoff_core.text_view import clean, lines

from tests.board.view_vectors import call, set_up
from tests.support import vectors

NOW = ["--now", "2026-11-20T10:12:00Z"]
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
SYNTAX = re.compile(r"(?<!\\)[\\`*_\[\]|~$^{}!#<>]")
VOID = {"meta", "link", "input", "br"}


def text_of(value: Any) -> str:
    """Return the text of a vector, written out."""
    if isinstance(value, dict):
        return "".join(piece * count for piece, count in value["$repeat"])
    return str(value)


def a_log(text: str) -> list[dict[str, Any]]:
    """Return a log whose last review holds a text as the description of a finding."""
    case = next(case for case in vectors("view.jsonl") if case["name"] == "corrected-review-stays-in-its-round")
    log: list[dict[str, Any]] = case["log"][:12]
    finding = {"tag": "blocked", "severity": "critical", "location": "a.py:1", "description": text}
    return [*log[:-1], {**log[-1], "findings": [finding]}]


def shown(text: str, *flags: str) -> str:
    """Return what `view` prints of a log with a text in it."""
    with tempfile.TemporaryDirectory(prefix="handoff-view-") as folder:
        root = os.path.join(folder, "project")
        environment = set_up({"log": a_log(text)}, root)
        result = call(root, environment, [*NOW, *flags])
    if result.code or result.err:
        raise AssertionError(result)
    return result.out


def unescaped(text: str) -> str:
    """Return Markdown text as a reader shows it."""
    text = ESCAPED.sub(r"\1", text.replace("\u2060", ""))
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text


class Outline(HTMLParser):
    """Reads a page: its elements with their attributes, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.depth: list[str] = []
        self.text: list[str] = []
        self.comments = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        if tag not in VOID:
            self.depth.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.depth.pop() != tag:
            raise AssertionError(f"{tag} ends what it did not begin")

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        del data
        self.comments += 1


def outline(page: str) -> Outline:
    """Return what an HTML parser makes of a page."""
    found = Outline()
    found.feed(page)
    found.close()
    return found


class Hostile(unittest.TestCase):
    def vectors(self) -> list[dict[str, Any]]:
        """Return the vectors that a ledger can hold: half a surrogate pair never gets into a record."""
        return [each for each in vectors("render.jsonl") if each.get("source") != "transcript"]

    def check(self, each: dict[str, Any], text: str) -> None:
        for piece in each.get("has", []):
            self.assertIn(piece, text)
        for piece in each.get("lacks", []):
            self.assertNotIn(piece, text)
        starts = tuple(each.get("no_line_starts", ()))
        self.assertFalse([line for line in text.splitlines() if starts and line.lstrip().startswith(starts)])

    def test_nothing_steers_a_terminal(self) -> None:
        for each in self.vectors():
            with self.subTest(each["id"]):
                text = shown(text_of(each["text"]), "--verbose")
                odd = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\u200c\u200d"]
                self.assertEqual(odd, [])
                if each["surface"] == "terminal":
                    self.check(each, text)

    def test_nothing_is_markup_in_markdown(self) -> None:
        for each in self.vectors():
            with self.subTest(each["id"]):
                page = shown(text_of(each["text"]), "--markdown", "--verbose")
                if each["surface"] == "markdown":
                    self.check(each, page)
                row = next(line for line in page.splitlines() if line.startswith("| L12.1 |"))
                cell = row.split(" | ")[4]
                words = cell.split("<br>")
                self.assertEqual("\n".join(map(unescaped, words)), lines(text_of(each["text"])))
                for word in words:
                    self.assertFalse(SYNTAX.search(ESCAPED.sub("", word)), word)
                plain = shown("plain", "--markdown", "--verbose")
                self.assertEqual(len(page.splitlines()), len(plain.splitlines()))

    def test_nothing_is_an_element_of_the_page(self) -> None:
        plain = outline(shown("plain", "--html", "-"))
        for each in self.vectors():
            with self.subTest(each["id"]):
                text = text_of(each["text"])
                page = shown(text, "--html", "-")
                found = outline(page)
                if each["surface"] == "html":
                    self.check(each, page)
                breaks = found.elements.count(("br", ())) - plain.elements.count(("br", ()))
                self.assertEqual(breaks, max(lines(text).count("\n"), 0))
                same = [element for element in found.elements if element != ("br", ())]
                if clean(text):
                    self.assertEqual(same, [element for element in plain.elements if element != ("br", ())])
                    for line in lines(text)[:4000].split("\n"):
                        self.assertIn(line, "".join(found.text))
                self.assertEqual((found.comments, found.depth), (0, []))


class Page(unittest.TestCase):
    def test_the_policy_names_the_style_and_the_script_by_their_digests(self) -> None:
        import base64
        import hashlib

        page = shown("plain", "--html", "-")
        for name in ("style", "script"):
            self.assertEqual(page.count(f"<{name}>"), 1)
            text = page.split(f"<{name}>")[1].split(f"</{name}>")[0]
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{name}-src 'sha256-{digest}'", page)

    def test_the_page_names_no_machine_and_no_address(self) -> None:
        page = shown("plain", "--html", "-")
        for word in ("http://", "https://", "//", "@import", "url(", " on", "/tmp", os.path.expanduser("~")):
            body = page.split("<body>")[1].split("<script>")[0] if word in ("//", " on") else page
            if word == " on":
                self.assertIsNone(re.search(r"<[^>]* on[a-z]+=", body))
            else:
                self.assertNotIn(word, body)


if __name__ == "__main__":
    unittest.main()
