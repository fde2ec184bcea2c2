"""Measure how fast sessions are read, built and verified, against a bare pass of json.loads over the same lines.

    python3 tests/bench/capture.py [--megabytes 200] [--rounds 5] [--memory 1000] [--python PYTHON]

Repeats the shared Claude Code and Codex transcripts to the wanted size, with new record ids each time, so that no record
counts as captured before. Rounds are interleaved, the cache is warm, medians of processor time are printed (that of
one process, as it would pass on a quiet machine). With --memory, a session of so
many megabytes with records of up to one megabyte is built, and the peak of resident memory printed. The limits are those
of capture.md 6; the exit status is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(REPOSITORY, "scripts")
ENTRY = os.path.join(SCRIPTS, "handoff.py")
SHARED = os.path.join(os.path.dirname(REPOSITORY), "shared", "transcripts")

SETS = {"claude-code": "claude-code/s*.jsonl", "codex": "codex/**/rollout-*.jsonl"}
LIMITS = {"reading": 60, "build --no-redact": 40, "build": 25}
"""Percent of the speed of the bare pass that each must reach at least."""

MEMORY_LIMIT = 64 * 1024
"""Kilobytes of resident memory."""

BARE = """
import json, sys, time
begun = time.process_time()
for line in open(sys.argv[1], "rb"):
    try:
        json.loads(line)
    except ValueError:
        pass
print(time.process_time() - begun)
"""
READING = """
import sys, time
sys.path.insert(0, sys.argv[2])
import tempfile
from handoff_core.capture import sniff
from handoff_core.capture.readers.table import function, reader
from handoff_core.capture.source import Source
from handoff_core.capture.turns import Session
begun = time.process_time()
source = Source(sys.argv[1], tempfile.TemporaryFile)
fates, open_calls, turns = {}, set(), 0
for _, made, fate in function(reader(sniff.sniff(source)))(source, Session()):
    fates[fate] = fates.get(fate, 0) + 1
    for turn in made:
        turns += 1
        if turn.call is not None:
            open_calls ^= {turn.call}
print(time.process_time() - begun)
"""
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def main() -> int:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    if not os.path.isdir(SHARED):
        print("../shared/transcripts is not here")
        return 2
    print(f"load before {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="handoff-bench-") as folder:
        os.mkdir(os.path.join(folder, ".scratch"))
        missed = sum(_measure(folder, name, options) for name in SETS)
        if options.memory:
            missed += _memory(folder, options)
    print(f"load after {os.getloadavg()[0]:.2f}")
    return 1 if missed else 0


def _repeated(folder: str, name: str, megabytes: int) -> str:
    """Write the transcripts of one harness again and again, and return the file."""
    parts = []
    for path in sorted(glob.glob(os.path.join(SHARED, SETS[name]), recursive=True)):
        with open(path, "rb") as opened:
            parts.append(opened.read().rstrip(b"\n") + b"\n")
    block = b"".join(parts)
    made = os.path.join(folder, f"{name}.jsonl")
    with open(made, "wb") as opened:
        opened.writelines(
            block.replace(b'"uuid":"', b'"uuid":"%d-' % number).replace(b'"id":"msg_', b'"id":"msg_%d' % number)
            for number in range(max(1, megabytes * 1_000_000 // len(block)))
        )
    return made


def _commands(folder: str, source: str, python: str) -> dict[str, list[str]]:
    out = os.path.join(folder, "out")
    build = [python, ENTRY, "build", source, "--session", "bench", "--allow-bad-lines", "--quiet", "--root", folder]
    return {
        "bare": [python, "-c", BARE, source],
        "reading": [python, "-c", READING, source, SCRIPTS],
        "build --no-redact": [*build, "--out", out, "--no-redact"],
        "build": [*build, "--out", out],
        "verify": [python, ENTRY, "verify", out, "--root", folder],
    }


def _measure(folder: str, name: str, options: argparse.Namespace) -> int:
    source = _repeated(folder, name, options.megabytes)
    commands = _commands(folder, source, options.python)
    times: dict[str, list[float]] = {what: [] for what in commands}
    for _ in range(options.rounds):
        for what, command in commands.items():
            if what.startswith("build"):
                shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
            begun = _children()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            spent = _children() - begun
            times[what].append(float(done.stdout) if what in ("bare", "reading") else spent)
    size = os.path.getsize(source) / 1e6
    os.unlink(source)
    return _print(name, size, {what: statistics.median(found) for what, found in times.items()})


def _children() -> float:
    """Return the processor time of all children so far, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def _print(name: str, size: float, medians: dict[str, float]) -> int:
    print(f"{name}, {size:.0f} MB")
    missed = 0
    for what, seconds in medians.items():
        percent = 100 * medians["bare"] / seconds
        limit = LIMITS.get(what, 0)
        if what == "verify":
            limit = round(100 * medians["bare"] / medians["build"])
        missed += percent < limit
        promise = f"  (at least {limit} %{', MISSED' if percent < limit else ''})" if limit else ""
        print(f"  {what:<20} {seconds:7.2f} s {size / seconds:7.1f} MB/s {percent:6.1f} %{promise}")
    return missed


def _memory(folder: str, options: argparse.Namespace) -> int:
    """Build a large synthetic session and print the peak of resident memory."""
    source = os.path.join(folder, "large.jsonl")
    _write_large(source, options.memory)
    command = _commands(folder, source, options.python)["build"]
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True)
    peak = int(done.stdout)
    missed = peak > MEMORY_LIMIT
    print(f"{os.path.getsize(source) / 1e6:.0f} MB built in {time.perf_counter() - begun:.0f} s")
    print(f"  peak {peak / 1024:.1f} MB (at most {MEMORY_LIMIT / 1024:.0f} MB{', MISSED' if missed else ''})")
    return int(missed)


def _write_large(path: str, megabytes: int) -> None:
    """Write short records, and every so often one of almost a megabyte, up to a million of them."""
    short = (
        "The importer reads the rows one after the other, and keeps no more of them than it must — not even two. " * 6
    )
    left = megabytes * 1_000_000
    number = 0
    with open(path, "wb") as opened:
        while left > 0:
            long = number % 3000 == 2999
            data = (json.dumps(_record(number, short * 1500 if long else short), ensure_ascii=False) + "\n").encode()
            opened.write(data)
            left -= len(data)
            number += 1


def _record(number: int, text: str) -> dict[str, object]:
    """Return a prompt, an answer with a call, or its result."""
    step = number % 3
    stamp = f"2026-05-{1 + number // 86400 % 28:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
    call = f"toolu_{number // 3:024d}"
    content: list[object] = [
        [{"type": "text", "text": text}],
        [{"type": "text", "text": text}, {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}],
        [{"type": "tool_result", "tool_use_id": call, "content": text}],
    ]
    role = "assistant" if step == 1 else "user"
    return {
        "type": role,
        "uuid": f"{number:08x}-0000-4000-8000-{number:012x}",
        "sessionId": "bench",
        "timestamp": stamp,
        "message": {"role": role, "id": f"msg_{number}", "content": content[step]},
    }


if __name__ == "__main__":
    sys.exit(main())
