"""The files that `init` copies into a project, read from a checkout, a wheel, a zipapp or a vendored copy alike.

Follows hooks.md 8.1. Imports `data` alone.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from handoff_core import data

ENTRY = "scripts/handoff.py"
PACKAGE = "scripts/handoff_core"
SCHEMAS = "schemas/scratch"
REFS = "refs"
INSIDE = "_shipped"
"""Where a copied program keeps the files it reads, so that they do not mix with the project's own `refs`."""
HOOKS = ".claude/hooks"
SKILLS = ".claude/skills"
OTHER_SKILLS = ".agents/skills"

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def program() -> dict[str, bytes]:
    """Return the program's files: their path in a project and their bytes."""
    files = {ENTRY: data.read(ENTRY)}
    for name in _package_names():
        files[f"{PACKAGE}/{name}"] = _package_bytes(name)
    for name in _all_names(REFS):
        files[f"{PACKAGE}/{INSIDE}/{name}"] = data.read(name)
    for name in data.names(SCHEMAS):
        if name.endswith(".schema.json"):
            files[f"{SCHEMAS}/{name}"] = data.read(f"{SCHEMAS}/{name}")
    return files


def _all_names(folder: str) -> list[str]:
    """Return the paths of the files below a shipped folder, sorted; a name below which there are others is a folder."""
    found = []
    for name in data.names(folder):
        path = f"{folder}/{name}"
        found += _all_names(path) or [path]
    return found


def hooks(names: tuple[str, ...]) -> dict[str, bytes]:
    """Return the hooks with these names."""
    return {f"{HOOKS}/{name}": data.read(f"{HOOKS}/{name}") for name in names}


def skills(folder: str = SKILLS) -> dict[str, bytes]:
    """Return the skills' files, placed in `folder`; none where this copy of the program has none."""
    return {
        f"{folder}/{skill}/{name}": data.read(f"{SKILLS}/{skill}/{name}")
        for skill in data.names(SKILLS)
        if skill.startswith("handoff-")
        for name in data.names(f"{SKILLS}/{skill}")
    }


def is_own_checkout(root: str) -> bool:
    """Say whether the running program is the one that lies in this project."""
    own = os.path.join(root, *PACKAGE.split("/"))
    return os.path.realpath(own) == os.path.realpath(_PACKAGE_FOLDER)


def _package_names() -> list[str]:
    """Return the names of the package's own files, sorted, with `/` between folders; compiled files are left out."""
    if os.path.isdir(_PACKAGE_FOLDER):
        found = []
        for folder, folders, names in os.walk(_PACKAGE_FOLDER):
            folders[:] = [name for name in folders if name not in ("__pycache__", INSIDE)]
            inner = os.path.relpath(folder, _PACKAGE_FOLDER).replace(os.sep, "/")
            found += [name if inner == "." else f"{inner}/{name}" for name in names]
    else:
        found = _archived_names()
    return sorted(name for name in found if name.endswith((".py", ".typed")))


def _archived_names() -> list[str]:
    import zipfile

    with zipfile.ZipFile(_loader().archive) as archive:
        prefix = _PACKAGE_FOLDER[len(_loader().archive) + 1 :].replace(os.sep, "/") + "/"
        names = [name[len(prefix) :] for name in archive.namelist() if name.startswith(prefix)]
    return [name for name in names if not name.startswith(f"{INSIDE}/") and not name.endswith("/")]


def _package_bytes(name: str) -> bytes:
    return bytes(_loader().get_data(os.path.join(_PACKAGE_FOLDER, *name.split("/"))))


def _loader() -> Any:
    spec = sys.modules["handoff_core"].__spec__
    return spec.loader if spec else None
