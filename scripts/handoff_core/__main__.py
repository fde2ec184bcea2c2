"""Run `python3 -m handoff_core`, or the zipapp: the same program as `scripts/handoff.py`."""

import sys

if __name__ == "__main__":
    try:
        from handoff_core.cli import console

        console()
    except KeyboardInterrupt:
        sys.exit(130)
