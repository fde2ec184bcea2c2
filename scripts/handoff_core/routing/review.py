"""The facts of a slice in review, up to its completion (route.md 10 to 12).

Imports `layout`, `gates`, `records` and `routing.facts`, `findings`, `ladder`, `reading`, `roster`, `rounds`, `slice`.
"""

from __future__ import annotations

from handoff_core.gates import GRAY_IS_RESERVED
from handoff_core.records import (
    BUILD_PASS,
    DISPATCH_START,
    GRADER_VERDICT,
    IMPLEMENTER,
    PLANNER,
    REVIEW_FEEDBACK,
    REVIEW_PLAN,
)
from handoff_core.routing import roster, rounds
from handoff_core.routing.facts import ABSENT, fact
from handoff_core.routing.findings import count_for_root, owners_of, refusal
from handoff_core.routing.ladder import SILENT_STARTS, Ladder
from handoff_core.routing.reading import (
    ESCALATE,
    after,
    by,
    count_tagged,
    dissents,
    dissents_substantively,
    field,
    findings,
    last_of,
    line_of,
)
from handoff_core.routing.slice import Slice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]

NO_ROSTER = "$.roster: a plan by review-planner must name who reviews; it names nobody"

CHURN = 3
"""Substantive dissents of one reviewer in one pass that end it (route.md 14.2)."""


class Review(Slice):
    """The facts of the review phase and of completion."""

    # The build-pass (10.1)

    @fact
    def build_pass_errors(self) -> list[str]:
        """Return what the build-pass's gate says."""
        return self.gate_of(self.build_pass)

    @property
    def _pass_line(self) -> int:
        return line_of(self.build_pass)

    @fact
    def _feedback_after(self) -> list[Entry]:
        """Return all review-feedback of the pass."""
        return after(self.of(REVIEW_FEEDBACK), self._pass_line)

    @fact
    def undecided(self) -> int | None:
        """Return the line of the first feedback from P to B with an `escalate` finding, if none follows B."""
        if self.build_pass is None or self._feedback_after:
            return None
        before = line_of(last_of(self.of(BUILD_PASS)[:-1]))
        between = after(self.of(REVIEW_FEEDBACK), before)
        return next((entry[0] for entry in between if count_tagged(entry, ESCALATE)), None)

    # The plan and its roster (10.2)

    @fact
    def _plans(self) -> list[Entry]:
        return after(self.of(REVIEW_PLAN), self._pass_line)

    @property
    def plan(self) -> Entry | None:
        """Return the latest review-plan after B."""
        return last_of(self._plans)

    @property
    def plan_risk(self) -> Any:
        """Return the plan's risk as it is."""
        return field(self.plan, "risk")

    @property
    def plan_author(self) -> Any:
        """Return the plan's author as it is."""
        return field(self.plan, "author")

    @fact
    def planner_starts(self) -> int:
        """Return the number of the planner's dispatch-starts after the plan."""
        return len(after(by(self.of(DISPATCH_START), PLANNER), line_of(self.plan)))

    @fact
    def gray_errors(self) -> list[str]:
        """Return the one error of a gray plan that is not the engine's."""
        return [GRAY_IS_RESERVED]

    @fact
    def nameless_plan(self) -> bool:
        """Say whether the plan is to be bounced for its empty roster."""
        return self.plan is not None and roster.names_nobody(self.plan, self._plans[:-1])

    @fact
    def roster_errors(self) -> list[str]:
        """Return the one error of a planner's plan without roster."""
        return [NO_ROSTER]

    @fact
    def roster_gap(self) -> str | None:
        """Return why the full roster reviews: null, `no-plan`, `unauthored-plan` or `invalid-plan`."""
        return roster.gap_of(self.plan, self._plans[:-1], self.full_roster)

    @fact
    def pass_roster(self) -> list[str]:
        """Return who reviews this build, in full-roster order."""
        if self.plan is None or self.roster_gap is not None:
            return self.full_roster
        named = self.plan[1]["roster"]
        return [name for name in self.full_roster if name in named]

    # Rounds (10.3)

    @fact
    def cycle_start(self) -> int:
        """Return the line of the last design-block with a valid supersede, else 0."""
        return line_of(last_of(self.superseding))

    @fact
    def _windows(self) -> list[rounds.Window]:
        builds = [line for line, _ in after(self.of(BUILD_PASS), self.cycle_start)]
        return rounds.windows_of(builds, self.of(REVIEW_FEEDBACK), self.full_roster)

    @fact
    def round(self) -> int:
        """Return 1 plus the number of windows of the cycle that hold a substantive dissent."""
        return rounds.round_after(self._windows)

    @property
    def round_context(self) -> dict[str, object]:
        """Return what a reviewer is told of the round."""
        return rounds.context_of(self.round)

    @property
    def prompt_note(self) -> str:
        """Return the short note for a reviewer outside the pass."""
        return rounds.short_note(self.round)

    # Who still owes a review (10.4)

    @fact
    def ladder(self) -> Ladder:
        """Return where each reviewer of the pass stands."""
        return Ladder(after(self.entries, self._pass_line), self.pass_roster)

    @property
    def stalled(self) -> list[str]:
        """Return the reviewers with two or more silent starts."""
        return self.ladder.stalled()

    @property
    def retry(self) -> list[str]:
        """Return the reviewers with one silent start."""
        return self.ladder.retry()

    @property
    def undispatched(self) -> list[str]:
        """Return the reviewers who neither started nor answered since B."""
        return self.ladder.undispatched()

    # The gate on each feedback (10.5)

    @fact
    def refused(self) -> dict[str, Any] | None:
        """Return the first reviewer whose current feedback has errors: `reviewer`, `errors`, `repeats`."""
        for reviewer, current in self.ladder.answers().items():
            earlier = [entry for entry in by(self._feedback_after, reviewer) if entry[0] < current[0]]
            refused = refusal(reviewer, current, earlier, self.round, self.gate_of)
            if refused:
                return refused
        return None

    # Ceilings (10.6)

    @fact
    def _dissenting(self) -> dict[str, Entry]:
        return {name: entry for name, entry in self.ladder.answers().items() if dissents(entry)}

    @property
    def dissent(self) -> list[str]:
        """Return the reviewers of the pass whose current feedback dissents, in roster order."""
        return list(self._dissenting)

    @fact
    def substantive_dissent(self) -> list[str]:
        """Return those of them who dissent substantively."""
        return [name for name, entry in self._dissenting.items() if dissents_substantively(entry)]

    @fact
    def empty_dissent(self) -> list[str]:
        """Return those of them whose dissent holds no finding."""
        return [name for name, entry in self._dissenting.items() if not findings(entry)]

    @fact
    def churners(self) -> list[str]:
        """Return the full-roster reviewers with three or more substantive dissents after B, by code point."""
        substantive = list(filter(dissents_substantively, self._feedback_after))
        return sorted(name for name in self.full_roster if len(by(substantive, name)) >= CHURN)

    @fact
    def truncation_run(self) -> int:
        """Return the number of passes up to this one that drew truncated dissent alone; 0 if this one did not."""
        if not self.dissent or self.substantive_dissent:
            return 0
        return 1 + rounds.truncated_run(self._windows)

    # The split (10.7)

    @fact
    def escalate_findings(self) -> int:
        """Return E: number of findings tagged `escalate` in the current feedback of the pass."""
        return sum(count_tagged(entry, ESCALATE) for entry in self.ladder.answers().values())

    @property
    def capped_escalations(self) -> object:
        """Return E if above 0, else absent."""
        return self.escalate_findings or ABSENT

    @property
    def halt_after(self) -> object:
        """Return true if E is above 0, else absent."""
        return True if self.escalate_findings else ABSENT

    @fact
    def _owners(self) -> list[str]:
        return owners_of(self.ladder.answers().values())

    @property
    def owners(self) -> list[str]:
        """Return who fixes the open findings; the tier agent stands in the implementer's place."""
        return [self.tier if name == IMPLEMENTER else name for name in self._owners]

    @property
    def owner_tier_reason(self) -> object:
        """Return `tier_reason` if the implementer is an owner, else absent."""
        return self.tier_reason if IMPLEMENTER in self._owners else ABSENT

    @fact
    def root_autofix(self) -> int:
        """Return the number of findings of the dissenting records that root applies itself."""
        return count_for_root(self._dissenting.values())

    # Dissent from outside the pass (10.8)

    @fact
    def _outstanding(self) -> dict[str, Entry]:
        in_cycle = after(self.of(REVIEW_FEEDBACK), self.cycle_start)
        outside = (name for name in self.full_roster if name not in self.pass_roster)
        latest = ((name, last_of(by(in_cycle, name))) for name in outside)
        return {name: entry for name, entry in latest if entry is not None and dissents(entry)}

    @property
    def outstanding(self) -> list[str]:
        """Return the full-roster members outside the pass whose latest feedback of the cycle dissents."""
        return list(self._outstanding)

    @fact
    def outstanding_stalled(self) -> list[str]:
        """Return those of them who started twice or more since that feedback."""
        starts = self.of(DISPATCH_START)
        since = {name: after(by(starts, name), entry[0]) for name, entry in self._outstanding.items()}
        return [name for name, silent in since.items() if len(silent) >= SILENT_STARTS]

    # Completion (12)

    @fact
    def grade(self) -> Entry | None:
        """Return the last record if it is a grader-verdict, else the latest one after B."""
        latest = self.latest(GRADER_VERDICT)
        if latest is None or latest is self.last:
            return latest
        return latest if self.build_pass is not None and latest[0] > self._pass_line else None

    @property
    def grading_off(self) -> bool:
        """Say whether `harness.auto_grade` is `false`."""
        return self.layout_value("harness.auto_grade") is False
