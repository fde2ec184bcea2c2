"""Checks that the files of a fileset tell the same story (capture.md 13, steps 6 and 7).

Pure: bytes and values are handed in, texts of problems come back. Imports `turns` and `manifest`.
"""

from __future__ import annotations

import json

from handoff_core.capture.manifest import PAYLOAD
from handoff_core.capture.turns import CLASSES, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

SHOWN_LINES = 5
"""Bad lines of a timeline that are named one by one."""

SUMMARY_VERSION = "2.1.0-summary"
PAYLOAD_VERSION = "2.1.0"
REDACTIONS_VERSION = "2.1.0-redactions"

SHARED_KEYS = (
    "session", "project", "generated_at", "objective", "objective_characters", "state_characters", "open_loops",
    "open_loops_total", "evidence_class", "counts", "tools", "first_utc", "last_utc", "artifacts", "provenance",
)  # fmt: skip
"""The keys that summary and payload share, each with one value (capture.md 10.2)."""

SUMMARY_KEYS = ("schema_version", "state_now", *SHARED_KEYS)
PAYLOAD_KEYS = (*SUMMARY_KEYS, "timeline_omitted", "timeline", "tool_calls")

RECORD_KEYS = ("used", "merged", "skipped", "bad")
_TOOL_KEYS = ("seq", "ts", "class", "text")
_TOOL_EXTRAS = ("tool", "call", "pair", "error")


class Timeline:
    """Count the turns of a timeline line by line, and name the lines that are none.

    `wanted` maps turn numbers to what the payload says of them; what differs is kept in `differing`.
    """

    def __init__(self, wanted: dict[int, Any] | None = None) -> None:
        self.turns = 0
        self.counts = dict.fromkeys(CLASSES, 0)
        self.calls = self.results = self.pairs = self.failed = 0
        self.first_utc: str | None = None
        self.last_utc: str | None = None
        self.by_source: dict[object, int] = {}
        self.differing: list[int] = []
        self._wanted = wanted or {}
        self._open: dict[int, tuple[object, ...]] = {}
        self._bad: list[str] = []
        self._bad_count = 0

    def take(self, line: bytes) -> Any:
        """Read the next line, without its line feed, and return the turn that stands on it, None if it is none."""
        self.turns += 1
        turn = _object_on(line)
        if turn is None:
            self._complain("is not a JSON object")
            return None
        if turn.get("seq") != self.turns or type(turn.get("seq")) is not int:
            self._complain(f"does not have seq {self.turns}")
        if turn.get("class") not in CLASSES or not isinstance(turn.get("text"), str):
            self._complain("has no known class or no text")
            return None
        self._count(turn)
        wanted = self._wanted.get(self.turns)
        if wanted is not None and json.dumps(wanted) != json.dumps(turn):
            self.differing.append(self.turns)
        return turn

    def line_problems(self) -> list[str]:
        """Return what is wrong with single lines, the first ones by number."""
        more = self._bad_count - len(self._bad)
        return [*self._bad, f"+{more} more such lines"] if more else self._bad

    def tools(self) -> dict[str, int]:
        """Return the numbers that the manifest has under `tools`."""
        unpaired = self.calls + self.results - 2 * self.pairs
        numbers = {"calls": self.calls, "results": self.results, "paired": self.pairs}
        return {**numbers, "unpaired": unpaired, "failed": self.failed}

    def _count(self, turn: dict[str, Any]) -> None:
        self.counts[turn["class"]] += 1
        source = turn.get("src", 0)
        source = source if type(source) is int else None
        self.by_source[source] = self.by_source.get(source, 0) + 1
        self.failed += turn.get("error") is True
        utc = turn.get("utc")
        if isinstance(utc, str):
            self.first_utc = utc if self.first_utc is None else min(self.first_utc, utc)
            self.last_utc = utc if self.last_utc is None else max(self.last_utc, utc)
        kind = turn.get("kind")
        self.calls += kind == "tool_call"
        self.results += kind == "tool_result"
        if "pair" in turn or (turn["class"] == TOOL and "call" in turn):
            self._pair(turn)

    def _pair(self, turn: dict[str, Any]) -> None:
        """Match a turn that names its partner; remember one that may become a partner."""
        call = (turn.get("call"), turn.get("src"), turn.get("agent"))
        if "pair" not in turn:
            self._open[self.turns] = (*call, turn.get("kind"))
            return
        self.pairs += 1
        earlier = self._open.pop(turn["pair"], None) if type(turn["pair"]) is int else None
        if earlier is None or earlier[:3] != call or {earlier[3], turn.get("kind")} != {"tool_call", "tool_result"}:
            self._complain("is paired with no earlier turn of the same call")

    def _complain(self, text: str) -> None:
        self._bad_count += 1
        if len(self._bad) < SHOWN_LINES:
            self._bad.append(f"line {self.turns} {text}")


def _object_on(line: bytes) -> dict[str, Any] | None:
    try:
        value = _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key twice")
    return members


def _refuse(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)


# The manifest against the timeline


def manifest_problems(manifest: dict[str, Any], timeline: Timeline) -> Iterator[str]:
    """Yield what the manifest says otherwise than the timeline (step 6)."""
    told = {
        "turn_count": timeline.turns,
        "counts": timeline.counts,
        "tools": timeline.tools(),
        "first_utc": timeline.first_utc,
        "last_utc": timeline.last_utc,
    }
    for key, value in told.items():
        if key not in manifest:
            yield f"{key} is missing"
        elif not _same(manifest[key], value):
            yield f"{key} does not fit the timeline, which has {_brief(value)}"
    yield from _source_problems(manifest.get("sources"), timeline)


def _source_problems(sources: object, timeline: Timeline) -> Iterator[str]:
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources) or not sources:
        yield "sources is no list of objects"
        return
    for number, source in enumerate(sources):
        turns = timeline.by_source.get(number, 0)
        if not _same(source.get("turns"), turns):
            yield f"turns of source {number + 1} does not fit the timeline, which has {turns}"
        if not _adds_up(source.get("records")):
            yield f"records of source {number + 1} do not add up: read is not used + merged + skipped + bad"
    if any(type(number) is not int or not 0 <= number < len(sources) for number in timeline.by_source):
        yield "the timeline has turns of a source that is not listed"


def _adds_up(records: object) -> bool:
    if not isinstance(records, dict):
        return False
    numbers = [records.get(key) for key in ("read", *RECORD_KEYS)]
    sound = [number for number in numbers if type(number) is int and number >= 0]
    return len(sound) == len(numbers) and sound[0] == sum(sound[1:])


# Summary, payload and redactions


def summary_problems(summary: dict[str, Any], payload: dict[str, Any], manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what the summary says otherwise than payload or manifest (step 7)."""
    yield from _payload_head(summary, manifest, SUMMARY_VERSION, SUMMARY_KEYS)
    for key in (*SHARED_KEYS, "ledger"):
        if (key in summary) != (key in payload) or not _same(summary.get(key), payload.get(key)):
            yield f"{key} differs from the one in {PAYLOAD}"
    state, longer = summary.get("state_now"), payload.get("state_now")
    if isinstance(state, str) and isinstance(longer, str) and not longer.endswith(state):
        yield f"state_now is not the end of the one in {PAYLOAD}"


def payload_problems(payload: dict[str, Any], manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what the payload says otherwise than the manifest, and where its own lists disagree (step 7)."""
    yield from _payload_head(payload, manifest, PAYLOAD_VERSION, PAYLOAD_KEYS)
    turns, omitted = payload.get("timeline"), payload.get("timeline_omitted")
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        yield "timeline is no list of objects"
        return
    if type(omitted) is not int or not _same(manifest.get("turn_count"), omitted + len(turns)):
        yield "timeline_omitted and timeline are not all turns together"
    elif [turn.get("seq") for turn in turns] != list(range(omitted + 1, omitted + len(turns) + 1)):
        yield "timeline does not hold the newest turns in order"
    if not _same(payload.get("tool_calls"), [_tool_call(turn) for turn in turns if turn.get("class") == TOOL]):
        yield "tool_calls differs from the tool turns of its timeline"


def turns_of(payload: dict[str, Any] | None) -> dict[int, Any]:
    """Return the turns that the payload holds by their number, to be compared with the timeline."""
    turns = payload.get("timeline") if payload else None
    listed = turns if isinstance(turns, list) else []
    return {turn["seq"]: turn for turn in listed if isinstance(turn, dict) and type(turn.get("seq")) is int}


def redaction_problems(redactions: dict[str, Any], manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what redactions.json says otherwise than the manifest, and where it does not add up (step 7)."""
    if redactions.get("schema_version") != REDACTIONS_VERSION:
        yield f"schema_version is not {REDACTIONS_VERSION}"
    told = manifest.get("redactions")
    for key in ("mode", "masked", "secrets"):
        if not isinstance(told, dict) or key not in redactions or not _same(told.get(key), redactions[key]):
            yield f"{key} differs from the one in the manifest"
    rules, places, omitted = (redactions.get(key) for key in ("rules", "places", "places_omitted"))
    if not isinstance(rules, dict) or not _is_sum(rules.values(), redactions.get("masked")):
        yield "rules do not add up to masked"
    if not isinstance(places, list) or not _is_sum((len(places), omitted), redactions.get("masked")):
        yield "places and places_omitted do not add up to masked"


def _payload_head(value: dict[str, Any], manifest: dict[str, Any], version: str, keys: Sequence[str]) -> Iterator[str]:
    """Yield what is missing in a payload and what differs from the manifest."""
    missing = [key for key in keys if key not in value]
    if missing:
        yield f"{', '.join(missing)} missing"
    if value.get("schema_version") != version:
        yield f"schema_version is not {version}"
    for key, told in _EXPECTED.items():
        if key in value and not _same(value[key], told(manifest)):
            yield f"{key} differs from the manifest"
    if _slice_of(manifest) != _slice_of(value):
        yield "ledger differs from the manifest"


def _slice_of(value: dict[str, Any]) -> tuple[bool, object]:
    """Return whether a slice of the ledger belongs to the fileset, and its id."""
    ledger = value.get("ledger")
    return "ledger" in value, ledger.get("req_id") if isinstance(ledger, dict) else None


def _same_key(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda manifest: manifest.get(key)


def _session(manifest: dict[str, Any]) -> object:
    return {"id": manifest.get("session"), "harness": manifest.get("harness"), "model": manifest.get("model")}


def _provenance(manifest: dict[str, Any]) -> object:
    sources = manifest.get("sources")
    names = [source.get("name") for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []
    told = {key: manifest.get(key) for key in ("raw_sha256", "revision", "watermark")}
    return {"sources": names, **told, "total_turns": manifest.get("turn_count")}


_EXPECTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "session": _session,
    "project": _same_key("project"),
    "generated_at": _same_key("updated_at"),
    "counts": _same_key("counts"),
    "tools": _same_key("tools"),
    "first_utc": _same_key("first_utc"),
    "last_utc": _same_key("last_utc"),
    "provenance": _provenance,
}
"""What summary and payload must say, by the manifest."""


def _tool_call(turn: dict[str, Any]) -> dict[str, Any]:
    """Return a tool turn as the payload lists it under `tool_calls`."""
    known = {key: turn.get(key) for key in _TOOL_KEYS}
    return {**known, **{key: turn[key] for key in _TOOL_EXTRAS if key in turn}}


def _is_sum(numbers: Any, total: object) -> bool:
    listed = list(numbers)
    return all(type(number) is int and number >= 0 for number in listed) and _same(sum(listed), total)


def _same(left: object, right: object) -> bool:
    """Say whether two JSON values are the same, the order of keys apart; true is never 1 and 1 is never 1.0."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def _brief(value: object) -> str:
    return json.dumps(value)
