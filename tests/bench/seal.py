"""Measure what the seal adds to an append: its own time against a whole process, medians of one run.

python3 tests/bench/seal.py [--rounds 40]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts")
sys.path.insert(0, SCRIPTS)

from handoff_core import cli, seal  # noqa: E402 - the path is set just above

RECORD = {"type": "consultation-request", "req_id": "REQ-SEAL-001", "author": "a", "target": "b", "context": "c"}


def main() -> int:
    """Run the benchmark; exit 1 if the seal adds more than a tenth to an append."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    data = json.dumps({**RECORD, "question": "d"}).encode()
    real, sealing, whole = seal.extend, [], []

    def timed(*arguments: Any) -> Any:
        begun = time.perf_counter()
        answer = real(*arguments)
        sealing.append(time.perf_counter() - begun)
        return answer

    with tempfile.TemporaryDirectory(prefix="handoff-bench-") as folder:
        os.makedirs(os.path.join(folder, ".scratch"))
        os.chdir(folder)
        setattr(seal, "extend", timed)  # noqa: B010 - the stand-in is looser than the original
        command = [sys.executable, os.path.join(SCRIPTS, "handoff.py"), "append", "consultation-request"]
        for _ in range(rounds):
            cli.main(command[2:], io.BytesIO(data), io.BytesIO(), io.BytesIO())
            begun = time.perf_counter()
            subprocess.run(command, input=data, capture_output=True, check=True)
            whole.append(time.perf_counter() - begun)
        os.chdir(os.path.dirname(folder))
    share = statistics.median(sealing) / statistics.median(whole)
    print(
        f"seal {statistics.median(sealing) * 1000:.2f} ms of an append of {statistics.median(whole) * 1000:.1f} ms:",
        end=" ",
    )
    print(f"{share:.1%} (promised: at most 10%)")
    return 1 if share > 0.1 else 0


if __name__ == "__main__":
    sys.exit(main())
