"""Editing JSON text in place keeps every byte around the edit, and an addition can be taken back."""

from __future__ import annotations

import json
import random
import unittest
from typing import Any

from handoff_core.jsonl import JsonError
from handoff_core.setup import jsontext

from tests.setup.helpers import SETTINGS

VALUE = {"matcher": "Bash", "hooks": [{"command": "x", "args": ["-I", "-S"]}]}


class ReadTest(unittest.TestCase):
    def test_each_value_knows_the_text_it_stands_in(self) -> None:
        text = ' {"a": [1, "x\\u0041", {"b": null}], "c": -1.5e3}\n'
        root = jsontext.read(text)
        for path, expected in (
            (("a", 1), '"x\\u0041"'),
            (("a", 2), '{"b": null}'),
            (("c",), "-1.5e3"),
            ((), text.strip()),
        ):
            node = jsontext.find(root, path)
            assert node is not None
            self.assertEqual(jsontext.source(text, node), expected)
        self.assertEqual(root.value, json.loads(text))

    def test_what_is_no_strict_json_is_refused(self) -> None:
        for text in ("", "{} {}", '{"a": 1, "a": 2}', "{// no\n}", "[1,]", "\ufeff{}"):
            with self.subTest(text=text), self.assertRaises(JsonError):
                jsontext.read(text)

    def test_a_path_that_leads_nowhere_finds_nothing(self) -> None:
        root = jsontext.read('{"a": [1], "b": {}}')
        for path in (("x",), ("a", 1), ("a", "b"), ("a", 0, "x"), ("b", 0)):
            with self.subTest(path=path):
                self.assertIsNone(jsontext.find(root, path))


class AddTest(unittest.TestCase):
    def test_an_addition_to_what_is_not_empty_can_be_taken_back_byte_for_byte(self) -> None:
        for name, text in SETTINGS.items():
            if not text or not jsontext.read(text).children:
                continue
            with self.subTest(name):
                added = jsontext.add(text, (), VALUE, "ours")
                self.assertEqual(json.loads(added), json.loads(text) | {"ours": VALUE})
                self.assertEqual(jsontext.remove(added, ("ours",)), text)

    def test_an_addition_takes_the_indentation_of_its_neighbours(self) -> None:
        text = '{\n    "a": [\n        {"x": 1}\n    ]\n}\n'
        added = jsontext.add(text, ("a",), {"y": [1, 2], "z": {"w": True}})
        expected = (
            '{\n    "a": [\n        {"x": 1},\n        {\n            "y": [1, 2],\n'
            '            "z": {\n                "w": true\n            }\n        }\n    ]\n}\n'
        )
        self.assertEqual(added, expected)

    def test_a_document_on_one_line_stays_on_one_line(self) -> None:
        self.assertEqual(jsontext.add('{"a":[]}', ("a",), VALUE).count("\n"), 0)
        self.assertEqual(jsontext.add('{"a": [1]}', ("a",), 2), '{"a": [1, 2]}')
        self.assertEqual(jsontext.add('{"a":[1]}', ("a",), {"b": 2}), '{"a":[1,{"b":2}]}')

    def test_windows_line_ends_stay(self) -> None:
        added = jsontext.add('{\r\n  "a": 1\r\n}\r\n', (), VALUE, "b")
        self.assertEqual(added.count("\n"), added.count("\r\n"))

    def test_the_first_of_several_can_be_removed(self) -> None:
        self.assertEqual(jsontext.remove('{"a": 1, "b": 2}', ("a",)), '{"b": 2}')
        self.assertEqual(jsontext.remove("[\n  1,\n  2\n]", (0,)), "[\n  2\n]")
        with self.assertRaises(KeyError):
            jsontext.remove("{}", ("a",))

    def test_random_edits_change_nothing_but_what_they_name(self) -> None:
        dice = random.Random(20260105)
        for _ in range(300):
            value = _random_value(dice, 3)
            if not isinstance(value, dict):
                continue
            text = json.dumps(value, indent=dice.choice((None, 2, "\t")), ensure_ascii=dice.random() < 0.5)
            path = _random_container(dice, value)
            key = "added" if isinstance(_at(value, path), dict) else None
            added = jsontext.add(text, path, VALUE, key)
            place = (*path, key or len(_at(value, path)))
            self.assertEqual(_at(json.loads(added), place), VALUE)
            taken = jsontext.remove(added, place)
            self.assertEqual(json.loads(taken), value)
            if _at(value, path):
                self.assertEqual(taken, text)


class CommentTest(unittest.TestCase):
    def test_comments_and_trailing_commas_are_blanked_out_and_texts_are_not(self) -> None:
        text = '{ // one\n "a": "http://x /* no */", /* two\n lines */ "b": [1,],\n}'
        self.assertEqual(json.loads(jsontext.without_comments(text)), {"a": "http://x /* no */", "b": [1]})
        self.assertEqual(len(jsontext.without_comments(text)), len(text))


def _random_value(dice: random.Random, depth: int) -> object:
    kind = dice.randrange(6 if depth else 4)
    if kind == 5:
        return {f"k{number}é\n": _random_value(dice, depth - 1) for number in range(dice.randrange(4))}
    if kind == 4:
        return [_random_value(dice, depth - 1) for _ in range(dice.randrange(4))]
    return (None, 1.5, 'te"xt\\ ,]}', True)[kind]


def _random_container(dice: random.Random, value: Any) -> jsontext.Path:
    path: jsontext.Path = ()
    while True:
        here = _at(value, path)
        steps = list(here) if isinstance(here, dict) else list(range(len(here)))
        inner = [step for step in steps if isinstance(here[step], (dict, list))]
        if not inner or dice.random() < 0.4:
            return path
        path = (*path, dice.choice(inner))


def _at(value: Any, path: jsontext.Path) -> Any:
    for step in path:
        value = value[step]
    return value
