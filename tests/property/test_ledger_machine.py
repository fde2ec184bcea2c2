"""A ledger in any life: appended to, written by hand, torn, repaired, its seal late. The model is a list of records."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from typing import Any

from handoff_core import seal
from handoff_core.schema import SchemaSet

from tests.property.route_model import Model
from tests.property.tools import FEW, RuleBasedStateMachine, invariant, precondition, rule, settings, st
from tests.records import a_build_pass, a_design_block, a_prd_entry, a_request, a_start, an_intake
from tests.support import run

Record = dict[str, Any]
SLICES = st.sampled_from(["REQ-KITE-014", "REQ-LOOM-022"])
RECORDS = st.sampled_from([an_intake, a_prd_entry, a_design_block, a_build_pass, a_start, a_request])
DRESS = st.fixed_dictionaries(
    {}, optional={"notes": st.sampled_from(["\u202e\x1b[2J", "\u00e9\u2028", "\x7f\ufeff", "a" * 9000])}
)


class LedgerMachine(RuleBasedStateMachine):
    """Drives one project; `records` and `written` are what its log must hold, `tail` what follows the last line feed."""

    def __init__(self) -> None:
        super().__init__()
        self.holder = tempfile.TemporaryDirectory(prefix="handoff-test-")
        self.root = self.holder.name
        os.mkdir(os.path.join(self.root, ".scratch"))
        self.log = os.path.join(self.root, ".scratch", "handoff.jsonl")
        self.seal = os.path.join(self.root, ".scratch", "handoff.seal")
        self.records: list[Record] = []
        self.by_hand: set[int] = set()
        self.tail = b""
        self.written = b""

    def teardown(self) -> None:
        self.holder.cleanup()

    def read(self, path: str) -> bytes:
        """Return the bytes of a file, none if it is not there."""
        if not os.path.exists(path):
            return b""
        with open(path, "rb") as opened:
            return opened.read()

    def add(self, data: bytes) -> None:
        """Write to the log as a program that knows nothing of it does."""
        with open(self.log, "ab") as opened:
            opened.write(data)
        self.written += data

    def take_appended(self, record: Record, before: bytes) -> None:
        """Take over what append wrote behind `before`: one line that holds the record, with a time of its own."""
        self.written = self.read(self.log)
        assert self.written.startswith(before)
        line = self.written[len(before) :]
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        stored = json.loads(line)
        assert {**stored, "ts": 0} == {**record, "ts": 0}
        self.records.append(stored)

    @precondition(lambda self: not self.tail)
    @rule(make=RECORDS, req_id=SLICES, dress=DRESS)
    def append(self, make: Any, req_id: str, dress: Record) -> None:
        record = make(req_id=req_id, **dress)
        result = run("append", record["type"], "--root", self.root, stdin=json.dumps(record))
        assert result.code == 0, result.err
        assert result.out == f"appended {record['type']} at line {len(self.records) + 1}\n"
        self.take_appended(record, self.written)

    @precondition(lambda self: not self.tail)
    @rule(record=st.sampled_from([b"[]", b'{"type": "note"}', b"{", b'{"type": "prd-entry"}', b"\xff"]))
    def refuse(self, record: bytes) -> None:
        assert run("append", "prd-entry", "--root", self.root, stdin=record).code == 1

    @precondition(lambda self: not self.tail)
    @rule(make=RECORDS, req_id=SLICES)
    def write_by_hand(self, make: Any, req_id: str) -> None:
        record = make(req_id=req_id)
        self.add(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        self.records.append(record)
        self.by_hand.add(len(self.records))

    @precondition(lambda self: not self.tail)
    @rule(make=RECORDS, part=st.floats(0.01, 0.99))
    def crash_while_writing(self, make: Any, part: float) -> None:
        whole = json.dumps(make()).encode()
        self.tail = whole[: max(1, int(len(whole) * part))]
        self.add(self.tail)

    @precondition(lambda self: not self.tail)
    @rule(make=RECORDS, after=RECORDS)
    def crash_before_the_line_feed_and_append(self, make: Any, after: Any) -> None:
        cut, record = make(), after()
        self.add(json.dumps(cut).encode())
        result = run("append", record["type"], "--root", self.root, stdin=json.dumps(record))
        assert result.code == 0, result.err
        assert "had no newline; added it" in result.err
        self.records.append(cut)
        self.by_hand.add(len(self.records))
        self.take_appended(record, self.written + b"\n")

    @precondition(lambda self: self.tail)
    @rule(make=RECORDS)
    def append_behind_a_torn_line(self, make: Any) -> None:
        record = make()
        result = run("append", record["type"], "--root", self.root, stdin=json.dumps(record))
        assert result.code == 1
        assert "torn record" in result.err

    @precondition(lambda self: self.tail)
    @rule()
    def repair(self) -> None:
        assert run("validate", "--repair-tail", "--root", self.root).code == 0
        torn = os.path.join(self.root, ".scratch", f"handoff.torn-{len(self.records) + 1}")
        assert self.read(torn) == self.tail
        os.unlink(torn)  # a second repair of this line would refuse to write over it
        self.written = self.written[: -len(self.tail)]
        self.tail = b""

    @precondition(lambda self: not self.tail)
    @rule(make=RECORDS, req_id=SLICES)
    def crash_before_the_seal(self, make: Any, req_id: str) -> None:
        before = self.read(self.seal)
        self.append(make, req_id, {})
        with open(self.seal, "wb") as opened:
            opened.write(before)
        self.by_hand.add(len(self.records))  # the next append cannot tell who wrote what the seal does not cover

    @precondition(lambda self: self.read(self.seal) and not self.tail)
    @rule(place=st.floats(0, 0.999))
    def tamper_and_undo(self, place: float) -> None:
        covered = self.read(self.seal).count(b"\n")
        sealed = b"".join(line + b"\n" for line in self.written.split(b"\n")[:covered])
        at = int(len(sealed) * place)
        changed = bytes([self.written[at] ^ 1])
        with open(self.log, "wb") as opened:
            opened.write(self.written[:at] + changed + self.written[at + 1 :])
        line = self.written[:at].count(b"\n") + 1
        report = seal.check(self.read(self.log), self.read(self.seal), "the seal")
        assert [(code, number) for code, number, _ in report.problems] == [("seal-mismatch", line)]
        assert run("validate", "--root", self.root).code == 1
        with open(self.log, "wb") as opened:
            opened.write(self.written)

    @invariant()
    def the_log_holds_what_was_written_and_nothing_else(self) -> None:
        assert self.read(self.log) == self.written
        whole = self.written[: len(self.written) - len(self.tail)]
        assert [json.loads(line) for line in whole.splitlines()] == self.records

    @invariant()
    def the_seal_tells_the_truth(self) -> None:
        sealed = self.read(self.seal)
        if sealed:
            report = seal.check(self.written, sealed, "the seal")
            assert (report.problems, report.torn) == ([], False)
            assert set(report.raw) == self.by_hand
        if self.records:
            assert run("validate", "--root", self.root).code == (1 if self.tail else 0)

    @invariant()
    def route_decides_on_what_the_log_holds(self) -> None:
        result = run("route", "--root", self.root)
        assert (result.code, result.err) == (0, "")
        decision = json.loads(result.out)
        if self.tail:
            assert decision["rule"] == "dirty-log"
            return
        answer = Model(self.records, {}, None, SchemaSet(None, "", {}).check, list).decide()
        for key in ("decision", "next", "rule", "req_id"):
            assert decision.get(key) == answer.get(key)


LedgerTest = LedgerMachine.TestCase
LedgerTest.settings = settings(FEW, max_examples=20, stateful_step_count=15)


if __name__ == "__main__":
    unittest.main()
