"""Measure what grows with the ledger and what must not.

    python3 tests/bench/scale.py [--records 100000] [--rounds 7]

Prints, for one ledger of that many records: an append (of a type without a log-wide rule) against one to an empty
ledger; `route` and `validate` against `json.loads` on every line of the same file; the seal's share of an append. All
in one run, medians of shuffled rounds, the time of `python -c pass` taken off where a bare loop is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENTRY = os.path.join(REPOSITORY, "scripts", "handoff.py")
REQUEST = {
    "type": "consultation-request",
    "req_id": "REQ-SCALE-001",
    "author": "feature-implementer",
    "target": "system-design-expert",
    "context": "Holds and renewals share a table.",
    "question": "Which of them wins when both come in at once?",
}
LOADS = """
import json, sys, time
begun = time.perf_counter()
with open(sys.argv[1], encoding="utf-8") as opened:
    for line in opened:
        json.loads(line)
print(time.perf_counter() - begun)
"""


def ledger(path: str, records: int) -> None:
    """Write a ledger of that many valid records in slices of twenty: the shapes of a slice that runs through."""
    stamp = "2026-01-02T03:04:05.000006+00:00"
    with open(path, "w", encoding="utf-8") as opened:
        for number in range(records):
            req_id = f"REQ-{''.join(chr(65 + int(digit)) for digit in str(number // 20))}-001"
            step = number % 20
            head: dict[str, Any] = {"type": "", "req_id": req_id, "ts": stamp}
            if step == 0:
                record = {**head, "type": "dispatch-start", "author": "system-design-expert", "responding_to": [0]}
            elif step == 1:
                record = {
                    **head,
                    "type": "design-block",
                    "author": "system-design-expert",
                    "verdict": "covered",
                    "architectural_fit": "The loan table has it, and nothing else is touched by this change.",
                    "primary_paths": ["src/loans.py", "src/holds.py"],
                }
            elif step % 2 == 0:
                record = {**head, "type": "dispatch-start", "author": "feature-implementer", "responding_to": [number]}
            else:
                record = {
                    **head,
                    "type": "build-pass",
                    "author": "feature-implementer",
                    "gate_checks_run": ["format", "lint", "test", "build"],
                    "duration_seconds": 41.5,
                    "notes": "All checks passed; the renewal is refused when somebody else waits for the book. " * 3,
                }
            opened.write(json.dumps(record) + "\n")


def timed(command: list[str], folder: str, stdin: bytes = b"") -> float:
    """Return the seconds that a process takes."""
    quiet = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    begun = time.perf_counter()
    run = subprocess.run(command, input=stdin, cwd=folder, env=quiet, capture_output=True, check=False)
    if run.returncode:
        raise SystemExit(f"{' '.join(command[2:])}: exit {run.returncode}: {run.stderr.decode()[:200]}")
    return time.perf_counter() - begun


def main() -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handoff-scale-") as folder:
        large, empty = os.path.join(folder, "large"), os.path.join(folder, "empty")
        for project in (large, empty):
            os.makedirs(os.path.join(project, ".scratch"))
        log = os.path.join(large, ".scratch", "handoff.jsonl")
        ledger(log, options.records)
        return _measure(large, empty, log, options)


def _measure(large: str, empty: str, log: str, options: argparse.Namespace) -> int:
    program = [sys.executable, ENTRY]
    append, record = [*program, "append", "consultation-request"], json.dumps(REQUEST).encode()
    loads = [sys.executable, "-c", LOADS, log]
    runs: dict[str, Callable[[], float]] = {
        "pass": lambda: timed([sys.executable, "-c", "pass"], empty),
        "json.loads on every line": lambda: float(subprocess.run(loads, capture_output=True, check=True).stdout),
        "append, empty ledger": lambda: timed(append, empty, record),
        "append, large ledger": lambda: timed(append, large, record),
        "route, large ledger": lambda: timed([*program, "route"], large),
        "validate, large ledger": lambda: timed([*program, "validate"], large),
    }
    for run in runs.values():  # compiles the modules and seals the log
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name in random.sample(list(runs), len(runs)):
            times[name].append(runs[name]())
    median = {name: statistics.median(found) for name, found in times.items()}
    base = median["json.loads on every line"]
    print(f"{options.records} records, {os.path.getsize(log) / 1e6:.1f} MB, {options.rounds} rounds,", end=" ")
    print(f"load {os.getloadavg()[0]:.2f}")
    for name, seconds in median.items():
        print(f"{name:<26} {seconds * 1000:8.1f} ms   {seconds / base:5.2f} x json.loads")
    more = (median["append, large ledger"] - median["append, empty ledger"]) * 1000
    print(f"append costs {more:+.1f} ms more on the large ledger (promised: at most 10)")
    route, validate = median["route, large ledger"] / base, median["validate, large ledger"] / base
    print(
        f"route {route:.2f} x json.loads (promised: at most 1.5, sealed 0.5); validate {validate:.2f} x (promised: 2.5)"
    )
    return 1 if more > 10 or route > 1.5 or validate > 2.5 else 0


if __name__ == "__main__":
    sys.exit(main())
