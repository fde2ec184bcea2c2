"""Start handoff from a checkout: refuse an old Python, guard the import path, call the program."""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write("handoff.py: Python 3.11 or later is needed; this is %d.%d\n" % sys.version_info[:2])  # noqa: UP031
    sys.exit(2)

_own = __file__.replace("\\", "/").rpartition("/")[0] or "."
sys.path[:] = [folder for folder in sys.path if folder not in ("", _own)]
import os  # noqa: E402 - only now can no file of the project stand in for a module

_real = os.path.dirname(os.path.realpath(__file__))
sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != _real] + [_real]

if __name__ == "__main__":
    try:
        from handoff_core.cli import console  # the path is right only now

        console()
    except KeyboardInterrupt:
        sys.exit(130)
