"""Measure how long the hooks take, as ratios to `python3 -I -S -c pass` of the same interpreter in one run.

    python3 tests/bench/hooks.py [--rounds 30]

Runs all cases in shuffled rounds and prints a table of medians. The limits are those of hooks.md 5; the exit status is
1 if one is missed.
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

HOOKS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ".claude", "hooks")
ALLOW = os.path.join(HOOKS, "handoff-allow.py")
GUARD = os.path.join(HOOKS, "handoff-log-guard.py")
EARLY, FULL = 1.3, 3.5
APPEND = (
    "python3 scripts/handoff.py append build-pass <<'EOF'\n"
    + json.dumps({"type": "build-pass", "notes": "x" * 400})
    + "\nEOF"
)
CASES = (
    ("allow, nothing to do with it", ALLOW, "git status && npm test", EARLY),
    ("allow, route", ALLOW, "python3 scripts/handoff.py route", FULL),
    ("allow, append", ALLOW, APPEND, FULL),
    ("guard, nothing to do with it", GUARD, "git status && npm test", EARLY),
    ("guard, a quoted message", GUARD, "git commit -m 'say what it does'", FULL),
    ("guard, a redirection elsewhere", GUARD, "make test > docs/log 2>&1", FULL),
    ("guard, append", GUARD, APPEND, FULL),
    ("guard, a read", GUARD, "tail -n 5 .scratch/handoff.jsonl | jq .type", FULL),
    ("guard, a raw write", GUARD, "echo '{}' >> .scratch/handoff.jsonl", FULL),
)


def payload(command: str, root: str) -> bytes:
    """Return a call as Claude Code sends it."""
    call = {
        "session_id": "s",
        "transcript_path": "/h/t.jsonl",
        "cwd": root,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
    }
    return json.dumps({**call, "tool_input": {"command": command}}).encode()


def seconds(arguments: list[str], data: bytes, root: str) -> float:
    """Return how long one start takes."""
    environ = {"HOME": root, "CLAUDE_PROJECT_DIR": root}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-I", "-S", *arguments], input=data, env=environ, cwd=root, capture_output=True, check=False
    )
    return time.perf_counter() - start


def measure(rounds: int, root: str) -> dict[str, float]:
    """Return the median of each case in seconds, and that of a bare start under an empty name."""
    runs = [("", ["-c", "pass"], b"")] + [(name, [hook], payload(command, root)) for name, hook, command, _ in CASES]
    times: dict[str, list[float]] = {name: [] for name, _, _ in runs}
    chosen = random.Random(1)
    for _ in range(rounds):
        for name, arguments, data in chosen.sample(runs, len(runs)):
            times[name].append(seconds(arguments, data, root))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description="Measure how long the hooks take.")
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as root:
        for name in ("scripts/handoff.py", ".scratch/handoff.jsonl"):
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w", encoding="utf-8"):
                pass
        found = measure(rounds, root)
    bare = found[""]
    print(f"python3 -I -S -c pass: {bare * 1000:.1f} ms, median of {rounds}")
    missed = 0
    for name, _, _, limit in CASES:
        ratio = found[name] / bare
        missed += ratio > limit
        print(
            f"{name:34} {found[name] * 1000:7.1f} ms  {ratio:5.2f}  (at most {limit}){'  MISSED' if ratio > limit else ''}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
