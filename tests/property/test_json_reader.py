"""The strict reader agrees with `json.loads` on all it accepts, and says why where it accepts less."""

from __future__ import annotations

import json
import unittest
from typing import TYPE_CHECKING

from handoff_core import jsonl
from handoff_core.ledger import scan
from handoff_core.routing.reader import read_history
from handoff_core.text import HIDDEN

from tests.property.tools import FEW, JSON, given, st

if TYPE_CHECKING:
    from collections.abc import Callable

STRICTER = r"^(duplicate key: |byte order mark|nesting too deep|number |(NaN|-?Infinity) is not|lone surrogate)"
PIECES = st.sampled_from(["{", "}", "[", "]", ",", ":", '"', "\\", " ", "\t", "\r", "0", "-", "1e400", "NaN", "null", "tru",
                          '"a"', '"a":1', '{"a":1,"a":2}', "\\ud800", '"\\ud83d\\ude00"', '"\\udc00"', "\ufeff", "\x1f",
                          "\u2028", "9" * 101, "[" * 101, "]" * 101, '{"a":' * 60, "\u00e9", "1.5", "Infinity", "\x00"])  # fmt: skip


@st.composite
def texts(draw: Callable[..., object]) -> str:
    """Return a JSON text in some spelling, often with a piece cut out or put in."""
    ascii_only, gap = draw(st.booleans()), draw(st.sampled_from(["", " ", "\t ", "\r"]))
    text = json.dumps(draw(JSON), ensure_ascii=bool(ascii_only), separators=(f"{gap},", f":{gap}"))
    for _ in range(int(str(draw(st.integers(0, 2))))):
        start = int(str(draw(st.integers(0, len(text)))))
        end = start + int(str(draw(st.integers(0, 2))))
        text = text[:start] + str(draw(PIECES)) + text[end:]
    return text


LINES = texts() | st.lists(PIECES, max_size=6).map("".join)


def outcome(read: Callable[[str], object], text: str) -> str:
    """Return the value in a form that tells 1, 1.0 and true apart, or the reason why there is none."""
    try:
        return repr(read(text))
    except jsonl.JsonError as error:
        return f"refused: {error.reason}"


class ReaderTest(unittest.TestCase):
    @FEW
    @given(LINES)
    def test_what_is_accepted_is_what_json_loads_reads(self, text: str) -> None:
        found = outcome(jsonl.parse, text)
        try:
            expected = repr(json.loads(text))
        except (ValueError, RecursionError):
            self.assertRegex(found, "^refused: ")
            return
        if found != expected:
            self.assertRegex(found.removeprefix("refused: "), STRICTER)

    @FEW
    @given(st.lists(LINES.map(lambda text: text.replace("\n", " ")), min_size=1, max_size=5))
    def test_the_reader_of_many_lines_reads_each_as_the_reader_of_one(self, lines: list[str]) -> None:
        read = jsonl.plain_reader("\n".join(lines).encode())
        for line in lines:
            self.assertEqual(outcome(read, line), outcome(jsonl.parse, line), line)

    @FEW
    @given(st.lists(LINES.map(lambda text: text.replace("\n", " ")), max_size=5), st.booleans())
    def test_route_finds_the_problems_that_the_strict_reader_finds(self, lines: list[str], ended: bool) -> None:
        data = ("\n".join(lines) + "\n" * ended).encode()
        history, problems = read_history(data, None, every_slice=True)
        entries, due = scan(data)
        due = [problem for problem in due if "lone surrogate" not in str(problem)]
        self.assertEqual(list(map(str, problems)), list(map(str, due)))
        if not due and len(entries) == data.count(b"\n"):
            self.assertEqual(history.records, len(entries))

    @FEW
    @given(JSON)
    def test_every_written_form_reads_back_as_the_same_value_and_hides_nothing(self, value: object) -> None:
        for written in (jsonl.dump_line(value), jsonl.dump_ascii(value)):
            self.assertEqual(outcome(jsonl.parse, written), repr(value))
            self.assertFalse({chr(code) for code in (*range(0x20), *HIDDEN)} & set(written))
        self.assertTrue(jsonl.dump_ascii(value).isascii())


if __name__ == "__main__":
    unittest.main()
