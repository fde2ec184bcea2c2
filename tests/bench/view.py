"""Measure the board: its start against that of Python itself, a large ledger, the size of a page.

    python3 tests/bench/view.py [--rounds 20] [--python PYTHON]

Makes a fresh virtual environment, so that no site package slows the start; runs all commands in shuffled rounds and
prints medians. The exit status is 1 if a promise is missed.
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
from typing import Any

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENTRY = os.path.join(REPOSITORY, "scripts", "handoff.py")
REVIEWERS = ("code-quality-reviewer", "test-reviewer", "security-reviewer", "doc-reviewer")
DESCRIPTION = ("The light is too dim to be seen from the tower at night, and no test looks. " * 12)[:850]
START_RATIO = 4.0
LARGE_SECONDS = 1.0
PAGE_BYTES = 300_000


class Writer:
    """Writes the records of one slice, a few seconds apart."""

    def __init__(self, req_id: str, first_line: int, hour: int) -> None:
        self.req_id = req_id
        self.first_line = first_line
        self.hour = hour
        self.records: list[dict[str, Any]] = []

    def add(self, kind: str, author: str, **fields: Any) -> int:
        """Add a record and return its line."""
        seconds = 7 * len(self.records)
        stamp = f"2026-11-{1 + self.hour // 24:02d}T{self.hour % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.5Z"
        self.records.append({"type": kind, "req_id": self.req_id, "ts": stamp, "author": author, **fields})
        return self.first_line + len(self.records) - 1


def a_slice(number: int, first_line: int, length: int, description: str) -> list[dict[str, Any]]:
    """Return the records of a slice that goes from review to review."""
    made = Writer(f"REQ-KITE-{number:03d}", first_line, number)
    asked = made.add("intake-decision", "human", request="Kites fly at night.", decisions=[])
    made.add("dispatch-start", "product-requirements-expert", responding_to=[asked])
    targets = {"acceptance_criteria": ["A kite shines."], "file_targets": ["src/kite.py"], "test_names": ["test_kite"]}
    entry = made.add(
        "prd-entry", "product-requirements-expert", title="Kites", summary="They carry a light.", **targets
    )
    made.add("dispatch-start", "system-design-expert", responding_to=[entry])
    paths = {"architectural_fit": "It fits.", "primary_paths": ["src/kite.py"]}
    last = made.add("design-block", "system-design-expert", verdict="minor", **paths)
    while len(made.records) < length:
        made.add("dispatch-start", "feature-implementer", responding_to=[last])
        build = made.add("build-pass", "feature-implementer", gate_checks_run=["lint", "test"])
        for reviewer in REVIEWERS:
            made.add("dispatch-start", reviewer, responding_to=[build])
        for reviewer in REVIEWERS:
            finding = {"tag": "blocked", "severity": "fixable", "description": description}
            finding["location"] = f"src/kite_{len(made.records)}.py:{len(made.records)}"
            last = made.add("review-feedback", reviewer, verdict="changes_requested", findings=[finding])
    return made.records[:length]


def a_project(folder: str, name: str, slices: int, length: int, description: str) -> str:
    """Write a project with a ledger and return its path."""
    root = os.path.join(folder, name)
    os.makedirs(os.path.join(root, ".scratch"))
    records: list[dict[str, Any]] = []
    for number in range(slices):
        records += a_slice(number, len(records) + 1, length, description)
    with open(os.path.join(root, ".scratch", "handoff.jsonl"), "w", encoding="utf-8") as opened:
        opened.writelines(json.dumps(record) + "\n" for record in records)
    return root


def main() -> int:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handoff-bench-") as folder:
        return measure(folder, options.rounds, options.python)


def measure(folder: str, rounds: int, base: str) -> int:
    """Run every command in shuffled rounds and return the exit status."""
    environment = os.path.join(folder, "venv")
    subprocess.run([base, "-m", "venv", "--without-pip", environment], check=True)
    python = os.path.join(environment, "bin", "python")
    small = a_project(folder, "small", 1, 200, DESCRIPTION)
    large = a_project(folder, "large", 50, 200, "The light is too dim.")
    commands = {
        "python -c pass": (small, ["-c", "pass"]),
        "view, 200 records": (small, [ENTRY, "view"]),
        "view --list, 10000 records": (large, [ENTRY, "view", "--list"]),
    }
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    quiet["CLAUDE_PROJECTS_ROOT"] = os.path.join(folder, "none")

    def run(root: str, arguments: list[str]) -> bytes:
        command = [python, *arguments]
        return subprocess.run(command, cwd=root, env=quiet, capture_output=True, check=True).stdout

    times: dict[str, list[float]] = {name: [] for name in commands}
    for root, arguments in commands.values():  # the first run compiles the modules
        run(root, arguments)
    load = os.getloadavg()[0]
    for _ in range(rounds):
        for name in random.sample(list(commands), len(commands)):
            begun = time.perf_counter()
            run(*commands[name])
            times[name].append(time.perf_counter() - begun)
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {rounds} rounds")
    print(f"load before {load:.2f}, after {os.getloadavg()[0]:.2f}")
    return report(times, len(run(small, [ENTRY, "view", "--html", "-"])))


def report(times: dict[str, list[float]], page: int) -> int:
    """Print what was measured beside what is promised; return 1 if a promise is missed."""
    medians = {name: statistics.median(found) for name, found in times.items()}
    bare, small, large = medians.values()
    promises = (
        (
            f"view of 200 records: {small / bare:.2f} times the start of Python, at most {START_RATIO}",
            small / bare <= 4,
        ),
        (f"view --list of 10000 records: {large:.3f} s, less than {LARGE_SECONDS}", large < LARGE_SECONDS),
        (f"page of 200 records: {page} bytes, less than {PAGE_BYTES}", page < PAGE_BYTES),
    )
    for name, median in medians.items():
        print(f"{name:<28} {median * 1000:8.1f} ms")
    for words, kept in promises:
        print(f"{'kept' if kept else 'MISSED':<7} {words}")
    return 0 if all(kept for _, kept in promises) else 1


if __name__ == "__main__":
    sys.exit(main())
