"""The effort tier: what each record does to it (route.md 11)."""

from __future__ import annotations

import unittest
from typing import Any

from handoff_core.routing.tiers import choose_tier

from tests.records import a_build_failure, a_build_pass, a_design_block, a_feedback, a_finding, a_start

ROUTINE = a_design_block(implementation_effort="routine")
BUILT = [ROUTINE, a_start(), a_build_pass()]
FIX = a_finding(tag="autofix")
MIXED = a_finding(tag="blocked")
DESIGN_QUESTION = a_finding(tag="blocked", location="docs/system-design.md:3")


def dissent(*findings: Any) -> dict[str, Any]:
    return a_feedback(verdict="changes_requested", findings=list(findings))


class TierTest(unittest.TestCase):
    def check(self, log: list[dict[str, Any]], agent: str, reason: str) -> None:
        name = "feature-implementer" + ("-routine" if agent == "routine" else "")
        self.assertEqual(choose_tier(enumerate(log, 1)), (name, reason))

    def test_without_a_rating_nothing_is_chosen(self) -> None:
        self.check([], "implementer", "effort:unrated")
        self.check([a_design_block(), *BUILT[1:], dissent(FIX)], "implementer", "effort:unrated")
        self.check([a_design_block(implementation_effort=["routine"])], "implementer", "effort:unrated")

    def test_a_rating_counts_until_the_next_block_and_activates_for_good(self) -> None:
        self.check([ROUTINE], "routine", "initial:rated-routine")
        self.check([a_design_block(implementation_effort="involved")], "implementer", "initial")
        self.check([ROUTINE, a_design_block()], "implementer", "initial")
        self.check([a_design_block(), ROUTINE], "routine", "initial:rated-routine")

    def test_a_failure_retires_the_routine_agent(self) -> None:
        self.check([ROUTINE, a_start(), a_build_failure()], "implementer", "routine-retired")
        self.check([ROUTINE, a_build_failure()], "implementer", "routine-retired")
        self.check([ROUTINE, a_start(), a_build_failure(), ROUTINE], "implementer", "routine-retired")

    def test_a_failure_of_the_implementer_is_a_recovery(self) -> None:
        rated = a_design_block(implementation_effort="involved")
        self.check([rated, a_start(), a_build_failure()], "implementer", "recovery")

    def test_only_the_implementers_start_opens_a_window(self) -> None:
        rated = a_design_block(implementation_effort="involved")
        self.check([rated, a_start("test-reviewer"), a_build_failure()], "implementer", "routine-retired")

    def test_an_approval_or_a_truncation_leaves_the_build_as_it_is(self) -> None:
        self.check(BUILT, "implementer", "no-substantive-dissent")
        self.check([*BUILT, a_feedback()], "implementer", "no-substantive-dissent")
        self.check([*BUILT, dissent(a_finding(tag="truncation"))], "implementer", "no-substantive-dissent")

    def test_a_fix_round_of_autofixes_stays_with_the_routine_agent(self) -> None:
        self.check([*BUILT, dissent(FIX)], "routine", "fix-round:all-autofix")
        self.check([*BUILT, dissent(FIX, DESIGN_QUESTION)], "routine", "fix-round:all-autofix")

    def test_anything_else_in_the_first_fix_round_retires_it(self) -> None:
        for findings in ([FIX, MIXED], [], [a_finding(tag="escalate", location="docs/prd.md")], [FIX, 3]):
            self.check([*BUILT, dissent(*findings)], "implementer", "routine-retired")
        self.check([*BUILT, {**dissent(), "findings": None}], "implementer", "routine-retired")
        self.check([*BUILT, a_feedback(findings=[a_finding(tag="escalate")]), dissent(FIX)],
                   "implementer", "routine-retired")  # fmt: skip

    def test_a_mixed_fix_round_of_an_involved_slice_is_mixed(self) -> None:
        rated = a_design_block(implementation_effort="involved")
        self.check([rated, *BUILT[1:], dissent(MIXED)], "implementer", "fix-round:mixed")
        self.check([rated, *BUILT[1:], dissent(FIX)], "routine", "fix-round:all-autofix")

    def test_dissent_on_a_fix_round_by_the_routine_agent_retires_it(self) -> None:
        fixed = [*BUILT, dissent(FIX), a_start(), a_build_pass()]
        self.check(fixed, "implementer", "no-substantive-dissent")
        self.check([*fixed, dissent(FIX)], "implementer", "routine-retired")
        self.check([*fixed, dissent(a_finding(tag="truncation"))], "implementer", "no-substantive-dissent")

    def test_records_of_other_types_do_nothing(self) -> None:
        kinds: tuple[Any, ...] = ("note", None, [], {}, "review-plan", "grader-verdict")
        others = [{"type": kind} for kind in kinds]
        self.check([*others, ROUTINE, *others], "routine", "initial:rated-routine")


if __name__ == "__main__":
    unittest.main()
