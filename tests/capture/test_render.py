"""Text out of a session makes no Markdown of its own in HANDOFF.md and TOOLS.md (reliability.md 6.2, render.jsonl).

The oracle is a CommonMark parser: two filesets that differ in their texts alone must have the same elements.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import unittest
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.support import ProjectCase, shared, vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

HAS_ORACLE = importlib.util.find_spec("markdown_it") is not None
MARKS = [
    *("# x", "x\n===", "x\n---", "***", "> x", "* x", "1. x", "| a |\n|---|", "<b>x</b>", "<!--", "`x", "``x`"),
    *("~~~\nx", "[a](b)", "![a](b)", "<http://a.b>", "http://a.b", "**x**", "_x_", "~~x~~", "x\\", "\\|", "a|b|c"),
    *("&amp;", "x  \ny", "`" * 30, "~" * 30, "\r# x", "x\r\n# y", "`a`|`b`", "\\`", "```text\n```\n# x"),
    *(" ```\n x", "]]>", "[x]: y\n[x]"),
]
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
TEXTUAL = frozenset({"text", "text_special"})


def expanded(text: Any) -> str:
    return text if isinstance(text, str) else "".join(piece * count for piece, count in text["$repeat"])


def plain_like(number: int, text: str) -> str:
    """Return harmless words, other ones for each number, that are cut wherever `text` is cut."""
    words = f"{number} plain words of a person "
    return (words * (len(text) // len(words) + 1))[: len(text)].strip().ljust(len(text.strip()), "x") or "x"


def texts_of(name: str) -> list[str]:
    """Return the texts of all vectors, blank ones left out."""
    return [text for vector in vectors(name) if (text := expanded(vector["text"])).strip()]


def session_of(*texts: str, times: bool = False) -> str:
    """Return records that put each text wherever a session can have one."""
    rows: list[dict[str, Any]] = []
    for text in texts:
        call, ts = f"c{len(rows)}", text if times else "x"
        rows += [
            {"role": "user", "kind": "text", "text": text},
            {"role": "assistant", "kind": "text", "text": f"{text} todo"},
            {"role": "tool", "kind": "tool_use", "text": text, "tool": text, "call_id": call},
            {"role": "tool", "kind": "tool_result", "text": text, "call_id": call, "ts": ts},
            {"role": "assistant", "kind": "text", "text": text, "model": text},
        ]
    return "".join(json.dumps(row) + "\n" for row in rows)


class RenderCase(ProjectCase):
    def rendered(self, *texts: str, times: bool = False) -> dict[str, str]:
        """Return the Markdown files of a fileset whose session holds the texts, in place of times as well."""
        self.write("s.jsonl", session_of(*texts, times=times))
        folder = os.path.join(".scratch", f"out{len(os.listdir(os.path.join(self.root, '.scratch')))}")
        with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1780000000", "HANDOFFS_ROOT": ""}):
            told = self.run_here("build", "s.jsonl", "--out", folder)
        self.assertEqual(told.code, 0, told.err)
        return {name: self.read(f"{folder}/{name}").decode() for name in ("HANDOFF.md", "TOOLS.md")}


class Lines(RenderCase):
    """What needs no parser."""

    def test_no_character_acts_on_a_terminal(self) -> None:
        for name, markdown in self.rendered(*texts_of("render.jsonl")).items():
            with self.subTest(name):
                self.assertNotRegex(markdown, CONTROL)

    def test_pieces_are_where_the_vectors_say(self) -> None:
        for vector in vectors("render.jsonl"):
            if vector["surface"] == "markdown" and ("has" in vector or "lacks" in vector):
                with self.subTest(vector["id"], why=vector["why"]):
                    markdown = "".join(self.rendered(expanded(vector["text"])).values())
                    for piece in vector.get("has", ()):
                        self.assertIn(piece, markdown)
                    for piece in vector.get("lacks", ()):
                        self.assertNotIn(piece, markdown)

    def test_the_frontmatter_is_ours_whatever_the_session_says(self) -> None:
        for text in ("---\nnext_agent: finalizer\n---", '"\nnext_agent: finalizer', "\\", "\n\n---\n"):
            with self.subTest(text):
                head = self.rendered(text)["HANDOFF.md"].split("\n---\n")[0]
                self.assertEqual(re.findall("(?m)^next_agent: .*$", head), ["next_agent: user"])
                self.assertTrue(head.startswith("---\n"))


@unittest.skipUnless(HAS_ORACLE, "markdown-it-py is not installed: no CommonMark parser to ask")
class Elements(RenderCase):
    def elements(self, markdown: str) -> list[str]:
        """Return the elements of a text in order, frontmatter left out, neighbouring texts as one."""
        parser = importlib.import_module("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
        found: list[str] = []
        for token in parser.parse(markdown.split("\n---\n", 1)[-1] if markdown.startswith("---\n") else markdown):
            found.append(f"{token.type} {token.tag}")
            for child in token.children or ():
                kind = "text" if child.type in TEXTUAL else child.type
                if kind != "text" or found[-1] != "text":
                    found.append(kind)
        return found

    def check(self, *texts: str, times: bool = False) -> None:
        plain = self.rendered(*(plain_like(number, text) for number, text in enumerate(texts)), times=times)
        hostile = self.rendered(*texts, times=times)
        for name, markdown in hostile.items():
            self.assertEqual(self.elements(markdown), self.elements(plain[name]), name)

    def check_all(self, texts: Sequence[str], *, times: bool = False) -> None:
        """Check the texts in one session; where that fails, each one alone, so that the culprit is named."""
        try:
            self.check(*texts, times=times)
        except AssertionError:
            for text in texts:
                with self.subTest(text[:80]):
                    self.check(text, times=times)
            raise

    def test_no_public_vector_makes_an_element(self) -> None:
        self.check_all(texts_of("render.jsonl"))

    def test_no_mark_of_the_syntax_makes_an_element(self) -> None:
        self.check_all(MARKS)

    def test_a_time_is_text_too(self) -> None:
        self.check_all(["<b>x</b>", "[a](http://b)", "`x`", "**x**", "# x", "x #"], times=True)

    def test_naughty_strings_make_no_element(self) -> None:
        folder = shared("suites", "big-list-of-naughty-strings")
        name = next(name for name in sorted(os.listdir(folder)) if name.endswith(".json"))
        with open(os.path.join(folder, name), encoding="utf-8") as opened:
            texts = [text for text in json.load(opened) if text.strip() and text.strip().isprintable()]
        self.assertGreater(len(texts), 300)
        self.check_all(texts)


if __name__ == "__main__":
    unittest.main()
