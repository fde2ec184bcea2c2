"""Run `python3 -m handoff_core`: the same program as `scripts/handoff.py`."""

from handoff_core.cli import console

if __name__ == "__main__":
    console()
