"""Tests of what readers are built from: classes, joined texts, known ids, tokens (capture.md 5), and background work."""

from __future__ import annotations

import unittest
from unittest import mock

from handoff_core.capture import turns
from handoff_core.capture.background import Background
from handoff_core.capture.turns import Known, Session, Turn, answered, called, classify, joined, said, thought


class Classes(unittest.TestCase):
    def test_the_first_line_of_the_general_table_that_fits_decides(self) -> None:
        cases = {
            ("user", "tool_result"): ("TOOL", "tool_result"),
            ("assistant", "TOOL_USE"): ("TOOL", "tool_call"),
            ("", "function_call_output"): ("TOOL", "tool_result"),
            ("", "function_call"): ("TOOL", "tool_call"),
            ("tool", ""): ("TOOL", "tool"),
            ("Tool", "log"): ("TOOL", "tool"),
            ("assistant", "reasoning"): ("THOUGHT", "thinking"),
            ("user", "rethinking"): ("THOUGHT", "thinking"),
            ("User", "ai"): ("USER", "text"),
            ("", "Human"): ("USER", "text"),
            ("assistant", ""): ("AGENT", "text"),
            ("", "AI"): ("AGENT", "text"),
            ("developer", "message"): ("OTHER", "system"),
            ("", ""): ("OTHER", "system"),
        }
        for (role, kind), expected in cases.items():
            with self.subTest(role=role, kind=kind):
                self.assertEqual(classify(role, kind), expected)

    def test_a_call_id_makes_a_result_of_the_role_tool_alone(self) -> None:
        self.assertEqual(classify("tool", "", has_call=True), ("TOOL", "tool_result"))
        self.assertEqual(classify("", "tool", has_call=True), ("TOOL", "tool"))


class Joined(unittest.TestCase):
    def shown(self, *parts: Turn) -> list[tuple[str, str]]:
        return [(turn.class_, turn.text) for turn in joined(parts)]

    def test_neighbours_of_one_class_and_kind_are_one_turn(self) -> None:
        self.assertEqual(
            self.shown(
                said("USER", "a"), said("USER", " \n"), said("USER", "b"), said("OTHER", "c"), said("USER", "d")
            ),
            [("USER", "a\nb"), ("OTHER", "c"), ("USER", "d")],
        )
        self.assertEqual(self.shown(thought("a"), thought("b")), [("THOUGHT", "a\nb")])

    def test_calls_and_results_stay_apart_and_stay_without_text(self) -> None:
        self.assertEqual(
            self.shown(said("AGENT", "a"), called("x", "1", None), answered("1", ""), said("AGENT", "b")),
            [("AGENT", "a"), ("TOOL", None), ("TOOL", ""), ("AGENT", "b")],
        )


class KnownIds(unittest.TestCase):
    def test_what_was_added_is_known_before_and_after_the_set_becomes_a_table(self) -> None:
        with mock.patch.object(turns, "FEW_IDS", 128):
            known = Known()
            for number in range(5000):
                self.assertNotIn(f"id-{number}", known)
                known.add(f"id-{number}")
                known.add(f"id-{number}")
            self.assertTrue(all(f"id-{number}" in known for number in range(5000)))
            self.assertFalse(any(f"other-{number}" in known for number in range(5000)))


class Tokens(unittest.TestCase):
    def test_numbers_of_one_request_count_once_the_greatest_of_each(self) -> None:
        session = Session()
        session.count_tokens("r", {"input": 10, "output": 1})
        session.count_tokens("r", {"input": 10, "output": 8, "cache_read": None})
        session.count_tokens("s", {"input": 5, "output": -1, "reasoning": 0})
        session.count_tokens(None, {"input": 1.5, "output": True})
        self.assertEqual(session.usage, {"input": 15, "output": 8})

    def test_requests_are_remembered_sixteen_back(self) -> None:
        session = Session()
        for request in [*range(17), 0]:
            session.count_tokens(request, {"input": 1})
        self.assertEqual(session.usage, {"input": 18})

    def test_totals_count_their_increase_and_a_fall_starts_anew(self) -> None:
        session = Session()
        for total in (10, 10, 25, 5, 7):
            session.count_total({"input": total})
        self.assertEqual(session.usage, {"input": 32})


class InTheBackground(unittest.TestCase):
    def test_blocks_are_taken_in_order_and_all_of_them(self) -> None:
        taken: list[bytes] = []
        background = Background(taken.append)
        for number in range(50):
            background.submit(b"%d" % number)
        background.finish()
        background.submit(b"later")
        background.finish()
        self.assertEqual(taken, [*(b"%d" % number for number in range(50)), b"later"])

    def test_an_error_is_raised_where_the_work_was_handed_over(self) -> None:
        def fail(_block: bytes) -> None:
            raise OSError(28, "No space left on device")

        background = Background(fail)
        with self.assertRaisesRegex(OSError, "No space left"):
            for _ in range(100):
                background.submit(b"x")
        with self.assertRaisesRegex(OSError, "No space left"):
            background.submit(b"x")
        with self.assertRaisesRegex(OSError, "No space left"):
            background.finish()
        Background(fail).finish()


if __name__ == "__main__":
    unittest.main()
