"""The scope lock: each way in which an override has the owner's word or lacks it (route.md 9.4.1)."""

from __future__ import annotations

import unittest
from typing import Any

from handoff_core.routing.overrides import scope_errors

from tests.records import a_prd_entry, a_start, an_intake

LINES = {
    1: an_intake(request="No fines, ever.", decisions=["Fines are fine.", 3]),
    2: {"type": "consultation-response", "author": "human", "answer": "Fees are fine."},
    3: {"type": "consultation-response", "author": "root", "answer": "Fines are fine."},
    4: a_start(),
}
ENTRIES = {line: (line, record) for line, record in LINES.items()}


def override(**given: Any) -> dict[str, Any]:
    return {"non_goal_id": "NG-1", "owner_decision": " Fines are ", "source": "intake:1", **given}


class ScopeLockTest(unittest.TestCase):
    def errors(self, *items: Any, delta: list[str] | None = None, owner_spoke: bool = False) -> list[str]:
        entry = (9, a_prd_entry(scope_overrides=list(items)))
        return scope_errors(entry, ["NG-1"] if delta is None else delta, ENTRIES, owner_spoke=owner_spoke)

    def test_the_owners_word_unlocks(self) -> None:
        self.assertEqual(self.errors(override()), [])
        self.assertEqual(self.errors(override(source="consultation:2", owner_decision="Fees")), [])
        self.assertEqual(self.errors(override(source="dispatch", owner_decision="anything")), [])

    def test_an_unknown_delta_fails_closed_with_one_error(self) -> None:
        entry = (9, a_prd_entry(scope_overrides=[3]))
        (error,) = scope_errors(entry, None, ENTRIES, owner_spoke=False)
        self.assertIn("docs/prd.md", error)

    def test_a_changed_row_must_be_covered(self) -> None:
        odds: tuple[Any, ...] = (None, {}, "x", [])
        for nothing in odds:
            entry = (9, a_prd_entry(scope_overrides=nothing))
            errors = scope_errors(entry, ["NG-1", "NG-2"], ENTRIES, owner_spoke=False)
            self.assertEqual([("NG-1" in error, "NG-2" in error) for error in errors], [(True, False), (False, True)])

    def test_an_item_without_an_id_is_named_by_its_place(self) -> None:
        odds: tuple[Any, ...] = (3, [], {}, {"non_goal_id": ""}, {"non_goal_id": ["NG-1"]})
        for item in odds:
            errors = self.errors(override(), item)
            self.assertEqual(len(errors), 1)
            self.assertIn("item 2", errors[0])

    def test_an_item_for_a_row_that_did_not_change_is_an_error(self) -> None:
        (error,) = self.errors(override(), delta=[])
        self.assertIn("NG-1", error)

    def test_a_quote_must_not_be_empty(self) -> None:
        for quote in ("", "  ", None, 3, ["Fines"]):
            self.assertEqual(len(self.errors(override(owner_decision=quote))), 1)

    def test_dispatch_does_not_count_once_the_owner_spoke_in_the_log(self) -> None:
        (error,) = self.errors(override(source="dispatch"), owner_spoke=True)
        self.assertIn("dispatch", error)

    def test_a_source_is_spelled_exactly_and_holds_the_quote(self) -> None:
        for source in ("intake:01", "intake:0", "intake:", "intake:1 ", "intake:1234567890", "intake:١", "Intake:1", "",
                       None, 1, ["intake:1"], "intake:2", "intake:3", "intake:4", "intake:5", "consultation:1",
                       "consultation:2", "consultation:3", "dispatch "):  # fmt: skip
            with self.subTest(source=source):
                (error,) = self.errors(override(source=source))
                self.assertIn("NG-1", error)
                self.assertTrue(not isinstance(source, str) or f'"{source}"' in error or not source.isascii())

    def test_a_request_is_no_decision(self) -> None:
        self.assertEqual(len(self.errors(override(owner_decision="No fines"))), 1)


if __name__ == "__main__":
    unittest.main()
