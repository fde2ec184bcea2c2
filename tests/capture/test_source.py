"""Tests of sources: bytes, lines, damage, growth while reading (capture.md 2)."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import unittest
from typing import Any
from unittest import mock

from handoff_core.capture import jsonlines, source
from handoff_core.capture.source import Source
from handoff_core.errors import HandoffError

Bad = list[tuple[Any, str]]


class SourceCase(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="handoff-source-")
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.path = os.path.join(self.folder, "s.jsonl")

    def opened(self, data: bytes) -> Source:
        with open(self.path, "wb") as file:
            file.write(data)
        made = Source(self.path, tempfile.TemporaryFile)
        self.addCleanup(made.close)
        return made

    def read(self, data: bytes) -> tuple[Source, list[tuple[Any, int | str]]]:
        """Return a source that was read to its end, and its values with their places."""
        made = self.opened(data)
        with mock.patch.object(source, "WAIT_SECONDS", 0):
            found = [(record.value, record.at) for record in made.records()]
        self.assertEqual((made.bytes, made.sha256), (len(data), hashlib.sha256(data).hexdigest()))
        return made, found

    def values(self, data: bytes) -> list[Any]:
        return [value for value, _ in self.read(data)[1]]

    def bad(self, data: bytes) -> Bad:
        return [(row["line"], row["why"]) for row in self.read(data)[0].bad_lines]


class Lines(SourceCase):
    def test_only_a_line_feed_ends_a_line(self) -> None:
        text = "a\u2028b\u2029c\x85d\x0be\x0cf"
        data = json.dumps({"t": text}, ensure_ascii=False).replace("\\u000b", "\x0b").replace("\\f", "\x0c")
        self.assertEqual(
            self.values('{"t":"a\u2028b\u2029c\x85d"}\n{"u":1}\r\n[2]'.encode()),
            [{"t": "a\u2028b\u2029c\x85d"}, {"u": 1}, [2]],
        )
        self.assertEqual(self.bad(data.encode() + b"\n"), [(1, "not JSON")])

    def test_places_are_line_numbers_and_offsets_of_bytes(self) -> None:
        made = self.opened('\n{"ä":1}\n \t\n{"b":2} {"c":3}\n'.encode())
        found = [(record.value, record.at, record.byte) for record in made.records()]
        self.assertEqual(found, [({"ä": 1}, 2, 1), ({"b": 2}, 4, 13), ({"c": 3}, 4, 13)])

    def test_a_mark_at_the_start_is_dropped_and_one_inside_is_text(self) -> None:
        made, found = self.read('\ufeff{"a":"\ufeff"}\n'.encode())
        self.assertEqual(found, [({"a": "\ufeff"}, 1)])
        self.assertEqual(made.replaced, 0)

    def test_utf_16_is_decoded_in_either_order(self) -> None:
        for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
            made, found = self.read(mark + '{"a":"ü𝄞"}\n'.encode(encoding))
            self.assertEqual(found, [({"a": "ü𝄞"}, 1)])
            self.assertIsNone(made.unstamped(0))

    def test_bytes_that_do_not_decode_are_replaced_and_counted(self) -> None:
        made, found = self.read(b'{"a":"\xff\xfe \xef\xbf\xbd"}\n')
        self.assertEqual((found, made.replaced), ([({"a": "\ufffd\ufffd \ufffd"}, 1)], 2))

    def test_lines_of_any_length_cross_the_blocks_they_are_read_in(self) -> None:
        texts = ["x" * size for size in (1, source.CHUNK - 9, source.CHUNK, 3 * source.CHUNK + 1, 0, 5)]
        data = b"".join(b'{"t":"%b"}\n' % text.encode() for text in texts)
        self.assertEqual([value["t"] for value in self.values(data)], texts)

    def test_of_a_key_that_comes_twice_the_last_counts_and_any_value_is_a_record(self) -> None:
        self.assertEqual(self.values(b'{"a":1,"a":2}\n"t"\n3\nnull\n[]\n'), [{"a": 2}, "t", 3, None, []])


class DamagedLines(SourceCase):
    def test_the_reasons_are_three_and_what_stands_before_the_damage_counts(self) -> None:
        data = b'{"a":1} x\nx\n{"b":2}{"c":\n{"d":NaN}\n{"e":Infinity}\n[-Infinity]\n{"f":1}\n'
        made, found = self.read(data)
        self.assertEqual([value for value, _ in found], [{"a": 1}, {"b": 2}, {"f": 1}])
        self.assertEqual(made.bad, 6)
        reasons = [(row["line"], row["why"]) for row in made.bad_lines]
        after, no_json = "text after the JSON value", "not JSON"
        self.assertEqual(reasons, [(1, after), (2, no_json), (3, after), (4, no_json), (5, no_json), (6, no_json)])

    def test_five_hundred_levels_are_read_and_one_more_is_damage(self) -> None:
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            inner = "1" if opening != "[" else ""
            for depth, reasons in ((500, []), (501, [(1, "nested too deep")]), (100_000, [(1, "nested too deep")])):
                with self.subTest(opening=opening, depth=depth):
                    text = opening * depth + inner + closing * depth
                    self.assertEqual(self.bad(text.encode() + b"\n"), reasons)

    def test_many_brackets_side_by_side_are_no_depth(self) -> None:
        self.assertEqual(self.bad(b"[" + b"[]," * 5000 + b"{}]\n"), [])
        self.assertEqual(self.bad(json.dumps({"t": "[{" * 5000}).encode() + b"\n"), [])

    def test_numbers_that_python_refuses_are_damage(self) -> None:
        self.assertEqual(self.values(b"1" * 4300 + b"\n")[0], int("1" * 4300))
        self.assertEqual(self.bad(b"1" * 4301 + b"\n"), [(1, "not JSON")])

    def test_a_torn_record_before_the_whole_one_is_healed(self) -> None:
        whole = b'{"timestamp":"t","n":1}'
        for cut in (1, 5, 11, len(whole) - 1):
            made, found = self.read(whole[:cut] + whole + b"\n")
            self.assertEqual(
                ([value for value, _ in found], made.healed, made.bad), ([{"timestamp": "t", "n": 1}], 1, 0)
            )

    def test_a_fragment_of_something_else_is_not_healed(self) -> None:
        made, found = self.read(b'{"timestamp":"x{"timestamp":"t"}\n{"other{"other":1}\n')
        self.assertEqual((found, made.healed, made.bad), ([], 0, 2))

    def test_at_most_a_hundred_places_are_kept_and_all_are_counted(self) -> None:
        made, _ = self.read(b"x\n" * 250)
        self.assertEqual((made.bad, len(made.bad_lines)), (250, 100))


class LiveFiles(SourceCase):
    def test_an_unfinished_last_line_is_neither_record_nor_damage(self) -> None:
        made, found = self.read('{"a":1}\n{"b":"ü'.encode())
        self.assertEqual((found, made.bad, made.tail_bytes), ([({"a": 1}, 1)], 0, 8))

    def test_a_whole_last_line_needs_no_line_feed(self) -> None:
        made, found = self.read(b'{"a":1}\n{"b":2}')
        self.assertEqual((len(found), made.tail_bytes), (2, 0))

    def test_the_rest_of_the_last_line_is_waited_for_once(self) -> None:
        made = self.opened(b'{"a":1}\n{"b":')
        rest = b"2}\n"

        def write() -> None:
            with open(self.path, "ab") as file:
                file.write(rest + b'{"c":3}\n')

        timer = threading.Timer(0.02, write)
        timer.start()
        found = [record.value for record in made.records()]
        timer.join()
        self.assertEqual((found, made.tail_bytes, made.bad), ([{"a": 1}, {"b": 2}], 0, 0))
        self.assertEqual(made.sha256, hashlib.sha256(b'{"a":1}\n{"b":' + rest).hexdigest())

    def test_nothing_beyond_the_length_at_the_start_is_read(self) -> None:
        made = self.opened(b'{"a":1}\n')
        with open(self.path, "ab") as file:
            file.write(b'{"b":2}\n')
        self.assertEqual([record.value for record in made.records()], [{"a": 1}])
        self.assertEqual(made.bytes, 8)


class Documents(SourceCase):
    def test_a_document_is_read_whole_with_its_digest(self) -> None:
        data = b'\xef\xbb\xbf {"messages":\n[{"role":"user","content":"\\ud800"}]} \n'
        made = self.opened(data)
        self.assertEqual(made.document(), {"messages": [{"role": "user", "content": "\ufffd"}]})
        self.assertEqual((made.bytes, made.sha256, made.replaced), (len(data), hashlib.sha256(data).hexdigest(), 1))

    def test_text_after_it_is_damage(self) -> None:
        with self.assertRaises(jsonlines.Damage) as caught:
            self.opened(b"{} x").document()
        self.assertEqual(caught.exception.reason, "text after the JSON value")

    def test_one_over_the_limit_is_refused(self) -> None:
        made = self.opened(b"[" + b" " * 20 + b"]")
        with mock.patch.object(source, "DOCUMENT_LIMIT", 10), self.assertRaisesRegex(HandoffError, "256 MB"):
            made.document()


class Kinds(SourceCase):
    def test_what_is_no_regular_file_is_refused_without_waiting(self) -> None:
        with self.assertRaises(HandoffError) as caught:
            Source(os.path.join(self.folder, "nowhere"), tempfile.TemporaryFile)
        self.assertEqual(caught.exception.code, 2)
        for path in (self.folder, *self.pipe()):
            with self.assertRaises(HandoffError) as caught:
                Source(path, tempfile.TemporaryFile)
            self.assertEqual(caught.exception.code, 1)

    def pipe(self) -> list[str]:
        if not hasattr(os, "mkfifo"):
            return []
        path = os.path.join(self.folder, "pipe")
        os.mkfifo(path)
        return [path]

    def test_a_sidecar_is_a_regular_file_of_the_size_that_is_told(self) -> None:
        made = self.opened(b"{}\n")
        with open(os.path.join(self.folder, "whole.txt"), "wb") as file:
            file.write(b"twelve bytes")
        os.symlink("whole.txt", os.path.join(self.folder, "link.txt"))
        self.assertEqual(made.sidecar("whole.txt", 12), "twelve bytes")
        self.assertEqual(made.sidecar("whole.txt"), "twelve bytes")
        for name, size in (
            ("whole.txt", 11),
            ("link.txt", 12),
            ("none.txt", None),
            ("../" + os.path.basename(self.folder), None),
        ):
            self.assertIsNone(made.sidecar(name, size))
        self.assertEqual([row["name"] for row in made.sidecars], ["whole.txt", "whole.txt"])


if __name__ == "__main__":
    unittest.main()
