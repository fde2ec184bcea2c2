"""What the work cost: calls folded out of transcripts, given to dispatches, and priced.

Follows view.md 13. Lines of transcripts come in, totals go out; which files they stand in is the command's affair.
Imports `records` and the board's parts.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from itertools import pairwise

from handoff_core import records as r
from handoff_core.board.clock import SECOND, Moment, read_moment
from handoff_core.board.dispatches import Sign, dispatches
from handoff_core.board.rows import is_int, items, members
from handoff_core.board.steps import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from handoff_core.board.rows import Row, Slice
    from handoff_core.board.steps import Step

COUNTS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
CACHE_FACTORS = (0.10, 1.25, 2.00)
"""Prices of cache reads and writes, times the input price, where none is given."""

MOST_TOKENS = 10**15
RECEIPT_SECONDS = 60
TIME_SECONDS = 5
ROOT_BEFORE_SECONDS, ROOT_AFTER_SECONDS = 600, 300
SYNTHETIC = "<synthetic>"

_RECEIPT = re.compile(r"appended ([a-z][a-z0-9-]*) at line ([1-9][0-9]{0,8})\b")
_TELLING = (b'"usage"', b"appended ", b'"timestamp"')


class Call:
    """One call of a model: when, which model, and its token counts in the order of COUNTS."""

    __slots__ = ("counts", "model", "moment")

    def __init__(self, moment: Moment | None, model: str, counts: list[int]) -> None:
        self.moment = moment
        self.model = model
        self.counts = counts

    def fold(self, other: Call) -> None:
        """Take in another writing of the same call: the larger counts, the earlier time."""
        self.counts = list(map(max, self.counts, other.counts))
        if other.moment is not None and (self.moment is None or other.moment < self.moment):
            self.moment = other.moment
        if self.model == SYNTHETIC:
            self.model = other.model


class Transcript:
    """What the board needs of one transcript; `agent` is None for a session of root.

    `receipts` are `(type, line, moment)` of records it was told it had appended; `returned` says that it ends with a
    message of the agent that asks for no tool.
    """

    __slots__ = ("agent", "calls", "first", "last", "receipts", "returned", "session")

    def __init__(self, session: str, agent: str | None) -> None:
        self.session = session
        self.agent = agent
        self.calls: dict[object, Call] = {}
        self.receipts: list[tuple[str, int, Moment | None]] = []
        self.first: Moment | None = None
        self.last: Moment | None = None
        self.returned = False


def agent_name(value: object) -> str | None:
    """Return the agent of an `agentType`: without plugin prefixes, the routine variant as the implementer."""
    if not isinstance(value, str):
        return None
    name = value.rsplit(":", 1)[-1]
    return (r.IMPLEMENTER if name == r.ROUTINE else name) or None


def read_transcript(lines: Iterable[bytes], session: str, agent: str | None) -> Transcript:
    """Return what a transcript's lines hold, read in one pass; lines that are no JSON objects are skipped."""
    transcript = Transcript(session, agent)
    for line in lines:
        if not any(word in line for word in _TELLING):
            continue
        try:
            item = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            continue
        if isinstance(item, dict) and not (agent is None and item.get("isSidechain") is True):
            _take(item, transcript)
    _drop_empty(transcript)
    return transcript


def _take(item: dict[str, Any], transcript: Transcript) -> None:
    moment = read_moment(item.get("timestamp"))
    if moment is not None:
        transcript.first = moment if transcript.first is None else min(transcript.first, moment)
        transcript.last = moment if transcript.last is None else max(transcript.last, moment)
    message = members(item.get("message"))
    kind = item.get("type")
    if kind == "assistant":
        transcript.returned = _ends_turn(message)
        if isinstance(message.get("usage"), dict):
            _take_call(item, message, moment, transcript)
    elif kind == "user":
        transcript.returned = False
        for words in _tool_results(message.get("content")):
            for found in _RECEIPT.finditer(words):
                transcript.receipts.append((found[1], int(found[2]), moment))


def _ends_turn(message: dict[str, Any]) -> bool:
    uses_tool = any(isinstance(part, dict) and part.get("type") == "tool_use" for part in items(message.get("content")))
    return not uses_tool and message.get("stop_reason") in ("end_turn", "stop_sequence")


def _take_call(item: dict[str, Any], message: dict[str, Any], moment: Moment | None, transcript: Transcript) -> None:
    model = message.get("model")
    call = Call(moment, model if isinstance(model, str) and model else "?", _counts(message["usage"]))
    names = (item.get("requestId"), message.get("id"))
    key: object = next((name for name in names if isinstance(name, str) and name), len(transcript.calls))
    if key in transcript.calls:
        transcript.calls[key].fold(call)
    else:
        transcript.calls[key] = call


def _counts(usage: dict[str, Any]) -> list[int]:
    """Return the token counts of a call; a cache write without a lifetime is a five-minute one."""
    hour = five = 0
    written = _whole(usage.get("cache_creation_input_tokens"))
    creation = usage.get("cache_creation")
    if isinstance(creation, dict):
        hour = _whole(creation.get("ephemeral_1h_input_tokens"))
        five = max(written - hour, 0)
        if "ephemeral_5m_input_tokens" in creation:
            five = _whole(creation["ephemeral_5m_input_tokens"])
    else:
        five = written
    simple = (usage.get("input_tokens"), usage.get("output_tokens"), usage.get("cache_read_input_tokens"))
    return [*map(_whole, simple), five, hour]


def _whole(value: object) -> int:
    return min(value, MOST_TOKENS) if is_int(value) and value > 0 else 0


def _tool_results(content: object) -> Iterable[str]:
    for part in items(content):
        if not isinstance(part, dict) or part.get("type") != "tool_result":
            continue
        body = part.get("content")
        if isinstance(body, str):
            yield body
        for piece in items(body):
            words = members(piece).get("text")
            if isinstance(words, str):
                yield words


def _drop_empty(transcript: Transcript) -> None:
    """Drop the calls that the harness made up itself and that used nothing."""
    calls = transcript.calls
    transcript.calls = {key: call for key, call in calls.items() if call.model != SYNTHETIC or any(call.counts)}


class Spend:
    """Calls of an agent that belong to a slice; `line` is that of a record of their step, None if that is unknown."""

    __slots__ = ("agent", "calls", "line")

    def __init__(self, agent: str, line: int | None, calls: list[Call]) -> None:
        self.agent = agent
        self.line = line
        self.calls = calls


class SliceCosts:
    """What was spent on one slice, and how many transcripts were given to it in which way."""

    __slots__ = ("by_receipt", "by_time", "sessions", "spends", "unmatched")

    def __init__(self) -> None:
        self.spends: list[Spend] = []
        self.sessions: set[str] = set()
        self.by_receipt = self.by_time = self.unmatched = 0

    def transcripts(self) -> dict[str, int]:
        """Return the numbers of transcripts as the Board holds them."""
        return {
            "agents": self.by_receipt + self.by_time + self.unmatched,
            "sessions": len(self.sessions),
            "by_receipt": self.by_receipt,
            "by_time": self.by_time,
            "unmatched": self.unmatched,
        }


class Costs:
    """What the transcripts say: costs by slice, and signs of life by the line of a dispatch-start."""

    __slots__ = ("prices", "signs", "slices")

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.slices: dict[str | None, SliceCosts] = {}
        self.signs: dict[int, Sign] = {}

    def of(self, req_id: str | None) -> SliceCosts:
        """Return the costs of a slice, to be added to."""
        return self.slices.setdefault(req_id, SliceCosts())


def attribute(groups: Sequence[Slice], transcripts: Sequence[Transcript], prices: Prices) -> Costs:
    """Return whose calls these are (view.md 13.3)."""
    return _Attribution(groups, prices).run(transcripts)


class _Place:
    """A step that a transcript may belong to, with its slice."""

    __slots__ = ("group", "step")

    def __init__(self, group: Slice, step: Step) -> None:
        self.group = group
        self.step = step


class _Attribution:
    def __init__(self, groups: Sequence[Slice], prices: Prices) -> None:
        self.groups = groups
        self.costs = Costs(prices)
        self.rows: dict[int, Row] = {row.line: row for group in groups for row in group.rows}
        self.slice_of = {row.line: group.req_id for group in groups for row in group.rows}
        self.places: dict[int, _Place] = {}
        for group in groups:
            for step in split(group, dispatches(group)):
                place = _Place(group, step)
                self.places.update(dict.fromkeys((row.line for row in step.all_rows), place))
        stamped = [(row.usable, row.line) for row in self.rows.values() if row.usable is not None]
        self.timeline = sorted(stamped)

    def run(self, transcripts: Sequence[Transcript]) -> Costs:
        """Give every transcript to its steps: those with receipts first, since they claim their dispatches."""
        agents = [each for each in transcripts if each.agent is not None]
        claims = {id(each): self._claimed(each) for each in agents}
        claimed = {id(place) for places in claims.values() for place in places}
        live_sessions = set()
        for each in agents:
            places = claims[id(each)]
            by_receipt = bool(places)
            if not places:
                places = self._by_time(each, claimed)
            if places:
                live_sessions.add(each.session)
                self._give(each, places, by_receipt=by_receipt)
            else:
                self._leave_unattributed(each)
        self._root([each for each in transcripts if each.agent is None], live_sessions)
        return self.costs

    def _claimed(self, transcript: Transcript) -> list[_Place]:
        found: dict[int, _Place] = {}
        for kind, line, moment in transcript.receipts:
            if self._is_receipt(kind, line, moment) and self._signed(line, transcript.agent):
                place = self.places[line]
                found[place.step.line] = place
        return [found[line] for line in sorted(found)]

    def _is_receipt(self, kind: str, line: int, moment: Moment | None) -> bool:
        row = self.rows.get(line)
        if row is None or row.type != kind or row.moment is None or moment is None:
            return False
        return abs(row.moment - moment) <= RECEIPT_SECONDS * SECOND

    def _signed(self, line: int, agent: str | None) -> bool:
        return agent is not None and agent_name(self.rows[line].author) == agent

    def _by_time(self, transcript: Transcript, claimed: set[int]) -> list[_Place]:
        if transcript.first is None or transcript.last is None:
            return []
        early, late = transcript.first - TIME_SECONDS * SECOND, transcript.last + TIME_SECONDS * SECOND
        found = {}
        for place in self.places.values():
            step = place.step
            fits = step.dispatch is not None or step.graded
            start = step.first.moment
            if not fits or start is None or id(place) in claimed or agent_name(step.agent) != transcript.agent:
                continue
            if early <= start <= late:
                found[step.line] = place
        return [found[line] for line in sorted(found)]

    def _give(self, transcript: Transcript, places: list[_Place], *, by_receipt: bool) -> None:
        agent = transcript.agent or r.ROOT
        bounds = [_boundary(place.step, after.step) for place, after in pairwise(places)]
        shares: list[list[Call]] = [[] for _ in places]
        for call in transcript.calls.values():
            index = 0 if call.moment is None else bisect_left(bounds, call.moment)
            shares[index].append(call)
        for place, calls in zip(places, shares, strict=True):
            if calls:
                self.costs.of(place.group.req_id).spends.append(Spend(agent, place.step.line, calls))
        for req_id in {place.group.req_id for place in places}:
            spent = self.costs.of(req_id)
            if by_receipt:
                spent.by_receipt += 1
            else:
                spent.by_time += 1
        self._note_sign(transcript, places[-1].step)

    def _note_sign(self, transcript: Transcript, step: Step) -> None:
        if step.dispatch is None:
            return
        known = self.costs.signs.get(step.line)
        if known is None or (transcript.last or 0) >= (known.moment or 0):
            self.costs.signs[step.line] = Sign(transcript.last, returned=transcript.returned)

    def _leave_unattributed(self, transcript: Transcript) -> None:
        """List a transcript that began while a slice was going on under that slice; else it is not ours."""
        began = transcript.first
        spans = []
        for group in self.groups:
            usable = [row.usable for row in group.rows if row.usable is not None]
            if began is not None and usable and min(usable) <= began <= max(usable):
                spans.append((min(usable), group.req_id))
        if spans and transcript.agent is not None:
            spent = self.costs.of(max(spans, key=lambda each: each[0])[1])
            spent.unmatched += 1
            if transcript.calls:
                spent.spends.append(Spend(transcript.agent, None, list(transcript.calls.values())))

    def _root(self, sessions: list[Transcript], live: set[str]) -> None:
        if not self.timeline:
            return
        early = self.timeline[0][0] - ROOT_BEFORE_SECONDS * SECOND
        late = self.timeline[-1][0] + ROOT_AFTER_SECONDS * SECOND
        seen: set[object] = set()
        for session in sessions:
            if session.session not in live and not any(self._is_receipt(*each) for each in session.receipts):
                continue
            for key, call in session.calls.items():
                # A resumed session repeats its past: a call counts once however many files hold it.
                if call.moment is None or not early <= call.moment <= late or (isinstance(key, str) and key in seen):
                    continue
                seen.add(key)
                place = min(bisect_left(self.timeline, (call.moment, 0)), len(self.timeline) - 1)
                line = self.timeline[place][1]
                spent = self.costs.of(self.slice_of[line])
                spent.sessions.add(session.session)
                spent.spends.append(Spend(r.ROOT, line, [call]))


def _boundary(step: Step, after: Step) -> int:
    """Return the instant that divides a transcript between two dispatches: midway between end and start."""
    end, start = step.last.moment, after.first.moment
    if start is None:
        return end or 0
    return start if end is None or end > start else (end + start) // 2


class Rates:
    """Prices per million tokens in the order of COUNTS; `estimated` if only the model's family is known."""

    __slots__ = ("estimated", "prices")

    def __init__(self, entry: dict[str, Any], *, estimated: bool) -> None:
        base, output = entry["input"], entry["output"]
        cache = [
            entry[key] if is_price(entry.get(key)) else base * factor
            for key, factor in zip(COUNTS[2:], CACHE_FACTORS, strict=True)
        ]
        self.prices = (base, output, *cache)
        self.estimated = estimated

    def cost(self, counts: Sequence[int]) -> float:
        """Return the amount of token counts."""
        amounts = (number * price for number, price in zip(counts, self.prices, strict=True))
        return float(sum(amounts)) / 1_000_000


class Prices:
    """A price table: the day it is of, its currency, where it comes from, and rates by beginning of a model's id."""

    __slots__ = ("_families", "_known", "_models", "as_of", "currency", "source")

    def __init__(self, table: dict[str, Any]) -> None:
        self.as_of: str = table["as_of"]
        self.currency: str = table["currency"]
        self.source = "shipped"
        self._models = {entry["match"]: entry for entry in table["models"]}
        self._families = {entry["match"]: entry for entry in table["families"]}
        self._known: dict[str, Rates | None] = {}

    def override(self, pricing: object) -> list[str]:
        """Take in the layout's `[pricing]` and return notes about entries that cannot be used (view.md 13.4)."""
        if not isinstance(pricing, dict):
            return []
        notes = []
        for key in ("as_of", "currency"):
            value = pricing.get(key)
            if value is not None and not isinstance(value, dict | list | bool):
                setattr(self, key, str(value))
                self.source = "layout"
        for match, entry in members(pricing.get("models")).items():
            if isinstance(entry, dict) and is_price(entry.get("input")) and is_price(entry.get("output")):
                self._models[model_id(match)] = entry
                self.source = "layout"
            else:
                needs = "needs input and output, numbers of 0 or more; ignored"
                notes.append(f'layout.toml: [pricing.models."{match}"] {needs}')
        return notes

    def of(self, model: str) -> Rates | None:
        """Return the rates of a model, None if it has no price."""
        if model not in self._known:
            self._known[model] = self._look_up(model_id(model))
        return self._known[model]

    def _look_up(self, model: str) -> Rates | None:
        begins = [match for match in self._models if match and model.startswith(match)]
        if begins:
            return Rates(self._models[max(begins, key=len)], estimated=False)
        inside = [match for match in self._families if match in model]
        return Rates(self._families[max(inside, key=len)], estimated=True) if inside else None


def is_price(value: object) -> bool:
    """Say whether a value is a finite number of 0 or more."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15


def model_id(model: str) -> str:
    """Return a model's id as prices are listed: lower case, without what stands before `claude-` or the last `/`."""
    lower = model.lower()
    start = lower.find("claude-")
    return lower[start:] if start >= 0 else lower.rsplit("/", 1)[-1]


class Total:
    """The sum of calls, kept by model so that what has no price stays visible."""

    __slots__ = ("_models", "_prices")

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._models: dict[str, list[int]] = {}

    def add(self, calls: Iterable[Call]) -> Total:
        """Add calls and return the total."""
        for call in calls:
            sums = self._models.setdefault(call.model, [0] * (1 + len(COUNTS)))
            sums[0] += 1
            for index, number in enumerate(call.counts, 1):
                sums[index] += number
        return self

    def usd(self) -> float | None:
        """Return the amount of all calls with a price; None if there are calls and none has one."""
        rated = [(self._prices.of(model), sums) for model, sums in self._models.items()]
        priced = [rates.cost(sums[1:]) for rates, sums in rated if rates is not None]
        return sum(priced) if priced or not self._models else None

    def json(self) -> dict[str, Any]:
        """Return the total as the Board holds it (view.md 13.5)."""
        sums = [sum(column) for column in zip(*self._models.values(), strict=True)] or [0] * (1 + len(COUNTS))
        calls, counts = sums[0], sums[1:]
        _, _, read, five, hour = counts
        total_input = counts[0] + read + five + hour
        cached = read + five + hour
        weighed = 0.10 * read + 1.25 * five + 2.00 * hour
        rates = {model: self._prices.of(model) for model in self._models}
        return {
            "calls": calls,
            **dict(zip(COUNTS, counts, strict=True)),
            "total_input": total_input,
            "usd": self.usd(),
            "complete": None not in rates.values(),
            "estimated": any(each is not None and each.estimated for each in rates.values()),
            "hit_pct": round(100 * read / total_input) if total_input else None,
            "saved_pct": round(100 * (1 - weighed / cached)) if cached else None,
            "unpriced": [
                {"model": model, "calls": self._models[model][0], "tokens": sum(self._models[model][1:])}
                for model in sorted(rates)
                if rates[model] is None
            ],
        }
