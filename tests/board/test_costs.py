"""What calls are, whose they are and what they cost (view.md 13)."""

from __future__ import annotations

import json
import unittest
from typing import Any

from handoff_core.board.clock import Moment, iso, read_moment
from handoff_core.board.costs import Prices, Total, Transcript, agent_name, attribute, model_id, read_transcript
from handoff_core.board.rows import slices
from handoff_core.data import read

SLICE = "REQ-KITE-001"
START = read_moment("2026-11-20T10:00:00Z") or Moment(0)
CLOCK = Moment(START + 3600 * 1_000_000)


def at(seconds: float) -> str:
    """Return the stamp that many seconds after the start."""
    return iso(Moment(START + int(seconds * 1_000_000))).replace("Z", ".5Z")


def a_record(kind: str, author: str, seconds: float, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "req_id": SLICE, "ts": at(seconds), "author": author, **fields}


def a_call(seconds: float, request: str | None = None, **usage: Any) -> dict[str, Any]:
    line: dict[str, Any] = {"type": "assistant", "timestamp": at(seconds)}
    line["message"] = {"model": usage.pop("model", "claude-opus-5"), "usage": usage, "content": []}
    return {**line, "requestId": request} if request else line


def a_receipt(seconds: float, kind: str, line: int) -> dict[str, Any]:
    content = [{"type": "tool_result", "content": [{"type": "text", "text": f"appended {kind} at line {line}\n"}]}]
    return {"type": "user", "timestamp": at(seconds), "message": {"content": content}}


def a_transcript(lines: list[Any], agent: str | None, session: str = "s1") -> Transcript:
    raw = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return read_transcript(raw, session, agent)


def prices(**pricing: Any) -> Prices:
    table = Prices(json.loads(read("refs/pricing.json")))
    table.override(pricing)
    return table


LOG = list(
    enumerate(
        [
            a_record("intake-decision", "human", 0, request="r", decisions=[]),
            a_record("dispatch-start", "product-requirements-expert", 30, responding_to=[1]),
            a_record("prd-entry", "product-requirements-expert", 90),
            a_record("dispatch-start", "feature-implementer", 120, responding_to=[3]),
            a_record("build-failure", "feature-implementer", 200),
            a_record("dispatch-start", "feature-implementer", 220, responding_to=[5]),
            a_record("build-pass", "feature-implementer", 300),
            a_record("grader-features", "change-grader", 330),
            a_record("grader-verdict", "change-grader", 390, responding_to=[8]),
        ],
        1,
    )
)


def spent(*transcripts: Transcript) -> dict[int | None, list[str]]:
    """Return the models of the calls given to each line."""
    found: dict[int | None, list[str]] = {}
    costs = attribute(slices(LOG, CLOCK), transcripts, prices())
    for spend in costs.of(SLICE).spends:
        found.setdefault(spend.line, []).extend(call.model for call in spend.calls)
    return found


class Reading(unittest.TestCase):
    def test_one_call_is_written_several_times_and_counts_once(self) -> None:
        lines = [
            a_call(5, "r1", input_tokens=3, output_tokens=1, cache_read_input_tokens=9),
            a_call(4, "r1", input_tokens=3, output_tokens=400, cache_read_input_tokens=8),
            a_call(6, "r2", output_tokens=1),
            a_call(7, output_tokens=1),
            a_call(8, output_tokens=1),
        ]
        found = a_transcript(lines, "x")
        self.assertEqual(len(found.calls), 4)
        folded = found.calls["r1"]
        self.assertEqual(folded.counts, [3, 400, 9, 0, 0])
        self.assertEqual(folded.moment, read_moment(at(4)))

    def test_cache_writes_are_split_by_their_lifetime(self) -> None:
        shapes: list[tuple[dict[str, Any], list[int]]] = [
            ({"cache_creation_input_tokens": 7}, [7, 0]),
            ({"cache_creation_input_tokens": 7, "cache_creation": {"ephemeral_1h_input_tokens": 5}}, [2, 5]),
            ({"cache_creation_input_tokens": 3, "cache_creation": {"ephemeral_1h_input_tokens": 5}}, [0, 5]),
            ({"cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5}}, [4, 5]),
        ]
        for usage, counts in shapes:
            call = a_transcript([a_call(1, "r", **usage)], "x").calls["r"]
            self.assertEqual(call.counts[3:], counts)

    def test_what_is_no_whole_number_counts_as_nothing(self) -> None:
        call = a_transcript([a_call(1, "r", input_tokens=True, output_tokens=-3, cache_read_input_tokens=2.5)], "x")
        self.assertEqual(call.calls["r"].counts, [0, 0, 0, 0, 0])

    def test_lines_that_are_no_objects_are_skipped(self) -> None:
        deep = b'"usage"' + b"[" * 100_000
        lines = [b'{"usage" broken', b'["usage"]', b"\xff usage", deep, a_call(1, "r", output_tokens=1)]
        self.assertEqual(len(a_transcript(lines, "x").calls), 1)

    def test_calls_the_harness_made_up_do_not_exist(self) -> None:
        lines = [a_call(1, "a", model="<synthetic>"), a_call(2, "b", model="<synthetic>", output_tokens=1)]
        self.assertEqual(list(a_transcript(lines, "x").calls), ["b"])

    def test_an_agent_has_returned_when_its_last_word_asks_for_no_tool(self) -> None:
        end = a_call(1)
        end["message"]["stop_reason"] = "end_turn"
        tool = a_call(2)
        tool["message"] |= {"stop_reason": "end_turn", "content": [{"type": "tool_use"}]}
        self.assertTrue(a_transcript([end], "x").returned)
        self.assertFalse(a_transcript([tool], "x").returned)
        self.assertFalse(a_transcript([end, a_receipt(3, "x", 1)], "x").returned)
        self.assertFalse(a_transcript([a_call(1)], "x").returned)

    def test_side_chains_are_left_out_of_roots_sessions(self) -> None:
        lines = [{**a_call(1, "a", output_tokens=1), "isSidechain": True}, a_call(2, "b", output_tokens=1)]
        self.assertEqual(list(a_transcript(lines, None).calls), ["b"])
        self.assertEqual(list(a_transcript(lines, "x").calls), ["a", "b"])

    def test_an_agent_is_named_without_its_plugin(self) -> None:
        self.assertEqual(agent_name("team:sub:test-reviewer"), "test-reviewer")
        self.assertEqual(agent_name("team:feature-implementer-routine"), "feature-implementer")
        self.assertIsNone(agent_name(3))


class Whose(unittest.TestCase):
    def test_a_receipt_proves_a_dispatch(self) -> None:
        lines = [a_call(500, output_tokens=1), a_receipt(91, "prd-entry", 3)]
        self.assertEqual(spent(a_transcript(lines, "product-requirements-expert")), {2: ["claude-opus-5"]})

    def test_a_receipt_of_another_type_agent_or_time_proves_nothing(self) -> None:
        late = [a_call(5000, output_tokens=1)]
        for receipt, agent in (
            (a_receipt(91, "build-pass", 3), "product-requirements-expert"),
            (a_receipt(91, "prd-entry", 3), "system-design-expert"),
            (a_receipt(190, "prd-entry", 3), "product-requirements-expert"),
            (a_receipt(91, "prd-entry", 99), "product-requirements-expert"),
        ):
            found = attribute(slices(LOG, CLOCK), [a_transcript([*late, receipt], agent)], prices()).of(SLICE)
            self.assertEqual(found.by_receipt, 0)

    def test_without_receipts_time_decides(self) -> None:
        lines = [a_call(118, output_tokens=1), a_call(199, output_tokens=1)]
        self.assertEqual(spent(a_transcript(lines, "feature-implementer")), {4: ["claude-opus-5"] * 2})
        self.assertEqual(spent(a_transcript([a_call(326, output_tokens=1)], "change-grader")), {8: ["claude-opus-5"]})

    def test_a_transcript_of_two_dispatches_is_divided_midway(self) -> None:
        models = [a_call(s, model=f"m{s}", output_tokens=1) for s in (150, 209, 211, 250)]
        lines = [*models, a_receipt(200, "build-failure", 5), a_receipt(300, "build-pass", 7)]
        found = spent(a_transcript(lines, "feature-implementer"))
        self.assertEqual(found, {4: ["m150", "m209"], 6: ["m211", "m250"]})

    def test_what_fits_nowhere_but_began_meanwhile_is_unattributed(self) -> None:
        self.assertEqual(spent(a_transcript([a_call(100, output_tokens=1)], "doc-reviewer")), {None: ["claude-opus-5"]})
        self.assertEqual(spent(a_transcript([a_call(3000, output_tokens=1)], "doc-reviewer")), {})

    def test_roots_calls_belong_to_the_record_that_comes_next(self) -> None:
        agent = a_transcript([a_receipt(31, "dispatch-start", 2)], "product-requirements-expert")
        calls = [a_call(s, model=f"m{s}", output_tokens=1) for s in (-601, -599, 100, 395, 600, 800)]
        root = a_transcript(calls, None)
        self.assertEqual(spent(agent, root), {1: ["m-599"], 4: ["m100"], 9: ["m395", "m600"]})
        self.assertEqual(spent(root), {})
        self.assertEqual(spent(agent, a_transcript(calls, None, "other")), {})

    def test_a_call_that_two_sessions_hold_counts_once(self) -> None:
        agents = [a_transcript([a_receipt(31, "dispatch-start", 2)], "product-requirements-expert", s) for s in "ab"]
        roots = [a_transcript([a_call(100, "same", output_tokens=1)], None, session) for session in "ab"]
        self.assertEqual(spent(*agents, *roots), {4: ["claude-opus-5"]})


class Amounts(unittest.TestCase):
    def total(self, *calls: dict[str, Any], **pricing: Any) -> dict[str, Any]:
        return Total(prices(**pricing)).add(a_transcript(list(calls), "x").calls.values()).json()

    def test_each_kind_of_token_has_its_price(self) -> None:
        usage: dict[str, Any] = {"input_tokens": 10**6, "output_tokens": 10**6, "cache_read_input_tokens": 10**6}
        usage |= {"cache_creation": {"ephemeral_5m_input_tokens": 10**6, "ephemeral_1h_input_tokens": 10**6}}
        total = self.total(a_call(1, **usage))
        self.assertAlmostEqual(total["usd"], 5 + 25 + 0.5 + 6.25 + 10)
        self.assertEqual((total["hit_pct"], total["total_input"]), (25, 4 * 10**6))

    def test_the_longest_match_of_the_model_gives_the_price(self) -> None:
        for model, usd in (
            ("claude-opus-4-1-20250805", 15),
            ("claude-opus-4-20250514", 15),
            ("us.anthropic.claude-opus-4-5-v1", 5),
            ("openrouter/anthropic/Claude-Sonnet-4.5", 3),
        ):
            total = self.total(a_call(1, model=model, input_tokens=10**6))
            self.assertEqual((total["usd"], total["estimated"], total["complete"]), (usd, False, True), model)

    def test_a_family_gives_an_estimate(self) -> None:
        total = self.total(a_call(1, model="acme/haiku-next", input_tokens=10**6))
        self.assertEqual((total["usd"], total["estimated"]), (1, True))

    def test_no_price_is_unknown_and_never_free(self) -> None:
        total = self.total(a_call(1, model="nova", input_tokens=7, output_tokens=1))
        self.assertIsNone(total["usd"])
        self.assertFalse(total["complete"])
        self.assertEqual(total["unpriced"], [{"model": "nova", "calls": 1, "tokens": 8}])
        mixed = self.total(a_call(1, model="nova", input_tokens=7), a_call(2, input_tokens=10**6))
        self.assertEqual((mixed["usd"], mixed["complete"]), (5, False))

    def test_nothing_costs_nothing(self) -> None:
        total = self.total()
        self.assertEqual((total["calls"], total["usd"], total["complete"], total["hit_pct"]), (0, 0, True, None))

    def test_the_layout_overrides_and_adds(self) -> None:
        table = Prices(json.loads(read("refs/pricing.json")))
        notes = table.override(
            {
                "as_of": "2027-01-01",
                "models": {
                    "claude-opus-5": {"input": 1, "output": 2, "cache_read": 3},
                    "nova": {"input": 4, "output": 0.5},
                    "half": {"input": 1},
                    "negative": {"input": -1, "output": 1},
                    "endless": {"input": float("inf"), "output": 1},
                    "odd": 3,
                },
            }
        )
        self.assertEqual((table.as_of, table.source, len(notes)), ("2027-01-01", "layout", 4))
        self.assertIn('[pricing.models."half"] needs input and output, numbers of 0 or more; ignored', notes[0])
        opus, nova = table.of("claude-opus-5"), table.of("NOVA-2")
        self.assertEqual(opus and opus.prices, (1, 2, 3, 1.25, 2.0))
        self.assertEqual(nova and nova.prices[:2], (4, 0.5))

    def test_a_model_is_named_without_its_vendor(self) -> None:
        self.assertEqual(model_id("bedrock/us.Claude-Opus-5"), "claude-opus-5")
        self.assertEqual(model_id("acme/x/Nova"), "nova")


if __name__ == "__main__":
    unittest.main()
