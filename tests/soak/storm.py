"""A seeded storm of writers, killers and readers, and Jepsen's three sets at its end; not part of CI.

    python3 tests/soak/storm.py [--minutes 10] [--seed N] [--writers 6]

*Lost*: acknowledged and not there any more. *Unexpected*: there, but never tried. *Recovered*: there, but not
acknowledged. Exit 1 if a record is lost or unexpected, if a receipt names another record, or if the seal finds a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENTRY = os.path.join(REPOSITORY, "scripts", "handoff.py")
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")


class Storm:
    """Shared state of the threads: what was tried, what was acknowledged, and what readers saw."""

    def __init__(self, folder: str, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.tried: set[str] = set()
        self.acknowledged: dict[str, int] = {}
        self.repaired = self.killed = self.reads = 0
        self.faults: list[str] = []
        self.guard = threading.Lock()
        self.over = threading.Event()

    def start(self, *argv: str) -> subprocess.Popen[bytes]:
        """Start the program in the storm's project."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, ENTRY, *argv], cwd=self.folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def write(self, number: int) -> None:
        """Append records of many sizes; let some appends be killed or interrupted at a random moment."""
        chance = random.Random(f"{self.seed}-{number}")
        count = 0
        while not self.over.is_set():
            count += 1
            name = f"w{number}-{count}"
            size = chance.choice((10, 200, 4_000, 60_000, 900_000 if chance.random() < 0.05 else 10))
            record = {
                "type": "consultation-request",
                "req_id": "REQ-SOAK-001",
                "author": name,
                "target": "system-design-expert",
                "context": "x" * size,
                "question": "q",
            }
            with self.guard:
                self.tried.add(name)
            process = self.start("append", "consultation-request")
            timer = None
            if chance.random() < 0.4:
                sent = getattr(signal, chance.choice(SIGNALS))
                timer = threading.Timer(chance.uniform(0.01, 0.12), process.send_signal, (sent,))
                timer.start()
            out, err = process.communicate(json.dumps(record).encode())
            if timer is not None:
                timer.cancel()
            self.note(name, process.returncode, out.decode(), err.decode())

    def note(self, name: str, code: int, out: str, err: str) -> None:
        """Remember one append's answer; repair a torn tail that a kill left."""
        receipt = re.search(r"at line (\d+)", out)
        with self.guard:
            if receipt:
                self.acknowledged[name] = int(receipt[1])
            elif code < 0 or code == 130 or "init_import_site" in err:  # the last: before any line of ours ran
                self.killed += 1
            elif "torn record" in err:
                self.repaired += self.start("validate", "--repair-tail").wait() == 0
            elif code != 75:
                self.faults.append(f"{name}: exit {code}: {err.strip()}")

    def read(self) -> None:
        """Read beside the writers: every reading is a prefix of whole lines."""
        while not self.over.is_set():
            process = self.start("validate", "--format", "json")
            answer = json.loads(process.communicate()[0])
            self.reads += 1
            bad = [found for found in answer["findings"] if found["level"] == "error"]
            if any(
                "trailing newline" not in found["message"] and "invalid JSON" not in found["message"] for found in bad
            ):
                self.faults.append(f"a reader saw {bad}")

    def report(self) -> int:
        """Print the three sets and return the exit code."""
        log = os.path.join(self.folder, ".scratch", "handoff.jsonl")
        with open(log, "rb") as opened:
            stored = opened.read().split(b"\n")
        names = [json.loads(line)["author"] for line in stored[:-1]]
        there = set(names)
        lost = set(self.acknowledged) - there
        unexpected = there - self.tried
        recovered = there - set(self.acknowledged)
        wrong = [name for name, line in self.acknowledged.items() if line > len(names) or names[line - 1] != name]
        final = json.loads(self.start("validate", "--format", "json").communicate()[0])
        print(f"seed {self.seed}: {len(self.tried)} tried, {len(self.acknowledged)} acknowledged, {self.killed} killed")
        print(f"{self.repaired} torn tails moved away, {self.reads} readings, {len(stored) - 1} lines in the log")
        print(f"lost {len(lost)}, unexpected {len(unexpected)}, recovered {len(recovered)}")
        print(f"receipts that name another record: {len(wrong)}; last verdict: valid={final['valid']}")
        for fault in self.faults[:10]:
            print("fault:", fault[:300])
        return 1 if lost or unexpected or wrong or self.faults else 0


def main() -> int:
    """Run the storm and print its three numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--writers", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handoff-soak-") as folder:
        os.mkdir(os.path.join(folder, ".scratch"))
        storm = Storm(folder, options.seed)
        threads = [threading.Thread(target=storm.write, args=(number,)) for number in range(options.writers)]
        threads.append(threading.Thread(target=storm.read))
        for thread in threads:
            thread.start()
        time.sleep(options.minutes * 60)
        storm.over.set()
        for thread in threads:
            thread.join()
        return storm.report()


if __name__ == "__main__":
    sys.exit(main())
