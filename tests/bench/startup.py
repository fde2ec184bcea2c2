"""Measure how long commands take, as ratios to `python -c pass` of the same interpreter in one run.

    python3 tests/bench/startup.py [--rounds 40] [--python PYTHON]

Makes a fresh virtual environment, so that no site package slows the start; runs all commands in shuffled rounds and
prints medians. The limits are those that the project promises; the exit status is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENTRY = os.path.join(REPOSITORY, "scripts", "handoff.py")
LIMITS = {"append": 2.5, "route": 2.8, "latest": 2.3, "next-retry": 2.3, "view": 4.0}

START = {"type": "dispatch-start", "req_id": "REQ-BENCH-001", "author": "feature-implementer", "responding_to": [0]}
DESIGN = {
    "type": "design-block",
    "req_id": "REQ-BENCH-001",
    "ts": "2026-01-01T00:00:00+00:00",
    "author": "system-design-expert",
    "verdict": "covered",
    "architectural_fit": "The reservation table already holds the hold.",
    "primary_paths": ["src/holds.py"],
}


def ledger(records: int) -> str:
    """Return the text of a ledger of that many records, a design-block first and the last one."""
    notes = {**DESIGN, "notes": "A sentence of the usual length, so that the line is as long as lines are. " * 4}
    return "".join(json.dumps(notes) + "\n" for _ in range(records))


def main() -> int:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handoff-bench-") as folder:
        return _measure(folder, options.rounds, options.python)


def _measure(folder: str, rounds: int, base: str) -> int:
    environment = os.path.join(folder, "venv")
    if os.path.realpath(base) == os.path.realpath(sys.executable):
        venv.create(environment, with_pip=False)
    else:
        subprocess.run([base, "-m", "venv", "--without-pip", environment], check=True)
    python = os.path.join(environment, "bin", "python")
    project = os.path.join(folder, "project")
    os.makedirs(os.path.join(project, ".scratch"))
    log = os.path.join(project, ".scratch", "handoff.jsonl")
    with open(log, "w", encoding="utf-8") as opened:
        opened.write(ledger(200))
    request = {
        "type": "consultation-request",
        "req_id": "REQ-BENCH-001",
        "author": "feature-implementer",
        "target": "system-design-expert",
        "context": "c",
        "question": "q",
    }
    commands: dict[str, tuple[list[str], bytes]] = {
        "pass": (["-c", "pass"], b""),
        "append": ([ENTRY, "append", "consultation-request"], json.dumps(request).encode()),
        "append dispatch-start": ([ENTRY, "append", "dispatch-start"], json.dumps(START).encode()),
        "route": ([ENTRY, "route", "--req-id", "REQ-BENCH-001"], b""),
        "latest": ([ENTRY, "latest", "--type", "design-block"], b""),
        "next-retry": ([ENTRY, "next-retry", "--req-id", "REQ-BENCH-001"], b""),
        "view": ([ENTRY, "view", "--no-cost"], b""),
        "validate": ([ENTRY, "validate"], b""),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    load = os.getloadavg()
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for arguments, stdin in commands.values():  # the first run compiles the modules
        subprocess.run([python, *arguments], input=stdin, cwd=project, env=quiet, capture_output=True, check=False)
    for _ in range(rounds):
        for name in random.sample(list(commands), len(commands)):
            arguments, stdin = commands[name]
            begun = time.perf_counter()
            subprocess.run([python, *arguments], input=stdin, cwd=project, env=quiet, capture_output=True, check=False)
            times[name].append(time.perf_counter() - begun)
    return _print(times, python, load)


def _print(times: dict[str, list[float]], python: str, load: tuple[float, float, float]) -> int:
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    base = statistics.median(times["pass"])
    rounds = len(times["pass"])
    print(f"{version}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, {rounds} rounds")
    print(f"load before {load[0]:.2f}, after {os.getloadavg()[0]:.2f}")
    missed = 0
    for name, found in times.items():
        ratio = statistics.median(found) / base
        limit = LIMITS.get(name)
        missed += limit is not None and ratio > limit
        promise = "" if limit is None else f"  (promised: {limit}x{', MISSED' if ratio > limit else ''})"
        print(f"{name:<22} {statistics.median(found) * 1000:7.1f} ms  {ratio:5.2f}x{promise}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
