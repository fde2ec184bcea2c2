"""Reads the files shipped with the program, from a checkout, a wheel or a zipapp alike. Imports nothing of ours."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))


def read(name: str) -> bytes:
    """Return the bytes of the shipped file `name`, such as `schemas/scratch/build-pass.schema.json`.

    Raises FileNotFoundError where there is none, OSError where it cannot be read.
    """
    for base in _bases():
        path = os.path.join(base, *name.split("/"))
        try:
            return bytes(_loader().get_data(path))
        except FileNotFoundError:
            continue
        except OSError:
            if os.path.exists(path):
                raise
    raise FileNotFoundError(2, os.strerror(2), name)


def names(folder: str) -> list[str]:
    """Return the sorted names of the files and folders in the shipped `folder`; empty where there is none."""
    for base in _bases():
        path = os.path.join(base, *folder.split("/"))
        if os.path.isdir(path):
            return sorted(name for name in os.listdir(path) if name != "__pycache__")
    return _archived(folder)


def _loader() -> Any:
    """Return what this package was loaded by: it reads files in folders and in archives."""
    spec = sys.modules["handoff_core"].__spec__
    return spec.loader if spec else None


def _bases() -> tuple[str, str]:
    """Return where shipped files may lie: inside the package (wheel, zipapp), else the checkout around it."""
    return os.path.join(_PACKAGE, "_shipped"), _CHECKOUT


def _archived(folder: str) -> list[str]:
    """Return the names in `folder` of the zip archive that this package was loaded from."""
    archive = getattr(_loader(), "archive", None)
    if archive is None:
        return []
    import zipfile

    found = set()
    with zipfile.ZipFile(archive) as opened:
        for base in _bases():
            prefix = os.path.join(base, folder)[len(archive) + 1 :].replace(os.sep, "/").rstrip("/") + "/"
            inside = (name[len(prefix) :] for name in opened.namelist() if name.startswith(prefix))
            found |= {name.split("/", 1)[0] for name in inside if name}
    return sorted(found)
