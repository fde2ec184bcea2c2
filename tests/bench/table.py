"""Run all benchmarks of this folder in one command and print what each of them prints, under its name.

    python3 tests/bench/table.py [--only startup] [--only scale]

Each keeps its own limits; the exit status is 1 if one of them is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from typing import Any
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))


def benchmarks() -> list[str]:
    """Return the names of the benchmarks that stand beside this file."""
    names = (os.path.splitext(name) for name in sorted(os.listdir(HERE)))
    return [stem for stem, ending in names if ending == ".py" and stem not in {"__init__", "table"}]


def run(name: str) -> int:
    """Run one benchmark with the flags that it has by itself and return its exit status."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", os.path.join(HERE, f"{name}.py"))
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with mock.patch.object(sys, "argv", [f"{name}.py"]):
        return int(module.main() or 0)


def main() -> int:
    """Run the benchmarks one after another; print their tables and how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=benchmarks(), action="append")
    options = parser.parse_args()
    missed = []
    for name in options.only or benchmarks():
        print(f"== {name}", flush=True)
        begun = time.monotonic()
        if run(name):
            missed.append(name)
        print(f"-- {name}: {time.monotonic() - begun:.0f} s\n", flush=True)
    print(f"missed: {', '.join(missed)}" if missed else "every limit is kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.path[:0] = [HERE, os.path.dirname(os.path.dirname(HERE))]
    sys.exit(main())
