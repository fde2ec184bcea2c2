"""The money of one slice as the Board holds it: by agent, by stage, and first pass against rework.

Follows view.md 13.5. Imports `records` and the board's parts.
"""

from __future__ import annotations

from handoff_core import records as r
from handoff_core.board.costs import Total
from handoff_core.board.rows import cleaned
from handoff_core.board.steps import GRADE, UNATTRIBUTED, is_rework, stages
from handoff_core.board.words import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.board.costs import Prices, SliceCosts, Spend
    from handoff_core.board.steps import Step

PARTS = ("first_pass", "rework", "grade", "unattributed")


def part_of(stage: str) -> str:
    """Return which part of the work a stage belongs to."""
    if stage in (GRADE, UNATTRIBUTED):
        return stage
    return "rework" if is_rework(stage) else "first_pass"


def money_json(spent: SliceCosts | None, prices: Prices, steps: list[Step]) -> dict[str, Any] | None:
    """Return the money of a slice, None if nothing was spent that is known."""
    if spent is None or not spent.spends:
        return None
    ledger = _Ledger(spent.spends, prices, steps)
    total = ledger.total(spent.spends)
    agents = ledger.agents()
    shown: dict[str, Any] = {
        "currency": cleaned(prices.currency),
        "prices_as_of": cleaned(prices.as_of),
        "prices_from": prices.source,
        "total": total,
        "root": ledger.total([spend for spend in spent.spends if spend.agent == r.ROOT]),
        "agents": agents,
        "stages": ledger.stages(),
    }
    for part in PARTS:
        shown[part] = ledger.total(ledger.of_part(part))
    shown["unpriced"] = total["unpriced"]
    shown["transcripts"] = spent.transcripts()
    return shown


def step_money(spent: SliceCosts | None, prices: Prices) -> dict[int, dict[str, Any]]:
    """Return the total of each step by the line it begins at; root's calls are of no step."""
    totals: dict[int, Total] = {}
    for spend in spent.spends if spent else ():
        if spend.agent != r.ROOT and spend.line is not None:
            totals.setdefault(spend.line, Total(prices)).add(spend.calls)
    return {line: _clean_models(total.json()) for line, total in totals.items()}


class _Ledger:
    def __init__(self, spends: list[Spend], prices: Prices, steps: list[Step]) -> None:
        self.spends = spends
        self.prices = prices
        self.stage_of = {row.line: step.stage for step in steps for row in step.all_rows}
        self.order = [*stages(steps), UNATTRIBUTED]

    def total(self, spends: list[Spend]) -> dict[str, Any]:
        total = Total(self.prices)
        for spend in spends:
            total.add(spend.calls)
        return _clean_models(total.json())

    def stage(self, spend: Spend) -> str:
        return UNATTRIBUTED if spend.line is None else self.stage_of[spend.line]

    def of_part(self, part: str) -> list[Spend]:
        return [spend for spend in self.spends if part_of(self.stage(spend)) == part]

    def stages(self) -> list[dict[str, Any]]:
        by_stage: dict[str, list[Spend]] = {}
        for spend in self.spends:
            by_stage.setdefault(self.stage(spend), []).append(spend)
        return [{"stage": stage, **self.total(by_stage[stage])} for stage in self.order if stage in by_stage]

    def agents(self) -> list[dict[str, Any]]:
        """Return one total per agent, dearest first; what is unknown comes last."""
        by_agent: dict[str, list[Spend]] = {}
        for spend in self.spends:
            by_agent.setdefault(spend.agent, []).append(spend)
        rows = [self._agent(agent, spends) for agent, spends in by_agent.items()]
        return sorted(rows, key=lambda row: (row["usd"] is None, -(row["usd"] or 0), -row["total_input"], row["label"]))

    def _agent(self, agent: str, spends: list[Spend]) -> dict[str, Any]:
        row = {"agent": cleaned(agent), "label": label(agent), **self.total(spends)}
        for part in PARTS[:3]:
            mine = Total(self.prices)
            for spend in spends:
                if part_of(self.stage(spend)) == part:
                    mine.add(spend.calls)
            row[f"{part}_usd"] = mine.usd()
        return row


def _clean_models(total: dict[str, Any]) -> dict[str, Any]:
    for each in total["unpriced"]:
        each["model"] = cleaned(each["model"])
    return total
