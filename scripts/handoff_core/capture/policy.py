"""Decides by the permission policy which paths `build` may read and write (capture.md 12).

The policy's bytes, the root, the home folder and the environment are handed in; paths are resolved here.
"""

from __future__ import annotations

import os
import re

from handoff_core.errors import HandoffError
from handoff_core.jsonl import JsonError, decode, parse
from handoff_core.text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

NAME = "refs/permission-policy.json"
VERSION = "1.1-permission-policy"
READ, WRITE = "R0", "R1"

_LISTS = ("approved_workspaces", "session_stores", "system_read_only_roots", "personal_data_roots", "denied_roots")
_MAPS = ("grants", "risk_to_level")
_READ_LEVELS = frozenset({"DISCOVERY_ONLY", "READ_ONLY"})

ALLOWED, NEEDS_AUTH, DENIED = "ALLOWED", "NEEDS_AUTH", "DENIED"
_VERDICTS = {"allow": ALLOWED, "needs_auth": NEEDS_AUTH}

_CLASSES = (
    ("DENIED_ROOT", "denied"),
    ("APPROVED_WORKSPACE", "workspaces"),
    ("SESSION_STORE", "stores"),
    ("PERSONAL_DATA_PATH", "personal"),
    ("SYSTEM_PATH", "system"),
)
"""Classifications beside the roots of `Policy` that make them, in the order in which they are tried."""

_GRANTED = {"APPROVED_WORKSPACE": (True, True), "SESSION_STORE": (True, False), "SYSTEM_PATH": (True, False)}
"""Whether a class is granted for reading and for anything above; other classes need an authorisation."""


class Policy:
    """One policy file with its roots resolved, for `decide`; `warnings` say what of it is ignored."""

    def __init__(self, own: dict[str, Any], shipped: dict[str, Any], root: str, home: str) -> None:
        self.root = os.path.realpath(root)
        self._typed_root = os.path.abspath(root)
        self.warnings: list[str] = []
        self.grants: dict[str, Any] = own["grants"]
        self.levels: dict[str, Any] = own["risk_to_level"]
        self._home = home
        self.denied = self._roots([*own.get("denied_roots", ()), *shipped.get("denied_roots", ())])
        self.workspaces = self._workspaces(own.get("approved_workspaces", ()))
        self.stores = self._roots(own.get("session_stores", ()))
        self.personal = self._roots(own.get("personal_data_roots", ()))
        self.system = self._roots(own.get("system_read_only_roots", ()))

    def _roots(self, names: Iterable[str]) -> list[str]:
        """Return the roots as they are named and as they are behind links: a typed path is judged without resolving."""
        return _both(path for name in names if (path := self._path(name)))

    def _path(self, name: str) -> str | None:
        """Return a root of the file as an absolute path; None for one of another platform, or without a home folder."""
        if name == "~" or name.startswith("~/"):
            return os.path.join(self._home, *name[2:].split("/")) if self._home else None
        if re.match(r"[A-Za-z]:[\\/]", name):
            return name if os.name == "nt" else None
        return os.path.join(self._typed_root, *name.split("/")) if not name.startswith("/") else name

    def _workspaces(self, names: Iterable[str]) -> list[str]:
        inside = []
        for name in names:
            path = os.path.normpath(self._path(name) or "")
            if is_under(os.path.realpath(path), self.root):
                inside += _both([path])
            else:
                self.warnings.append(f"{NAME}: approved workspace {quote(name)} lies outside the root and is ignored")
        return inside

    def add_store_of_sessions(self, *folders: str) -> None:
        """Count folders where the environment puts sessions among the session stores."""
        self.stores += _both(folder for folder in folders if folder)

    def add_workspace(self, folder: str) -> None:
        """Count the store of filesets among the approved workspaces."""
        self.workspaces += _both([folder])

    def classify(self, path: str) -> str:
        """Return the class of a resolved path, the first that fits (capture.md 12)."""
        return next((name for name, roots in _CLASSES if _under_any(path, getattr(self, roots))), "EXTERNAL_PATH")

    def decide(self, risk: str, path: str) -> dict[str, str]:
        """Return `{verdict, reason, risk, level, classification}` for a path; every link on the way is resolved."""
        real = os.path.realpath(path)
        place = self.classify(real)
        level = self.levels.get(risk)
        if not isinstance(level, str):
            verdict, reason, level = DENIED, f"risk {risk} has no level in the policy", ""
        else:
            verdict, reason = self._verdict(place, level)
        return {"verdict": verdict, "reason": reason, "risk": risk, "level": level, "classification": place}

    def _verdict(self, place: str, level: str) -> tuple[str, str]:
        if place == "DENIED_ROOT":
            return DENIED, "it lies under a denied root"
        granted = _GRANTED.get(place)
        if granted is None:
            return NEEDS_AUTH, f"{place} needs an authorisation"
        if not granted[0 if level in _READ_LEVELS else 1]:
            return DENIED, f"{place} is never written to"
        verdict = _VERDICTS.get(self.grants.get(level, ""), DENIED)
        return verdict, f"the policy grants {level}" if verdict == ALLOWED else f"the policy does not grant {level}"

    def require(self, risk: str, path: str, *, named: bool) -> None:
        """Raise HandoffError (exit 1) unless `path` may be used.

        `named` says that a person gave the path on the command line or in `HANDOFFS_ROOT`: that authorises it where
        the path as typed and the path behind all links fall into one class.
        """
        decision = self.decide(risk, path)
        if decision["verdict"] == ALLOWED:
            return
        typed = os.path.abspath(path)
        place = decision["classification"]
        if decision["verdict"] == NEEDS_AUTH and named and self.classify(typed) == place:
            return
        verb = "read" if risk == READ else "write to"
        if decision["verdict"] == DENIED:
            raise HandoffError(f"the permission policy denies to {verb} {path}: {place}, {decision['reason']}")
        raise HandoffError(
            f"the permission policy asks for an authorisation to {verb} {path}: {place}",
            "name the path itself on the command line, not a link to it",
        )


def _both(paths: Iterable[str]) -> list[str]:
    """Return each path as an absolute one, and as it is behind all links."""
    return [spelled for path in paths for spelled in dict.fromkeys((os.path.abspath(path), os.path.realpath(path)))]


def is_under(path: str, root: str) -> bool:
    """Say whether `path` is `root` or lies in it; whole components are compared."""
    path, root = os.path.normcase(path), os.path.normcase(root)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _under_any(path: str, roots: Iterable[str]) -> bool:
    return any(is_under(path, root) for root in roots)


def read_policy(own: bytes | None, shipped: bytes, root: str, home: str) -> Policy:
    """Return the policy of the project's own file, else of the shipped one; a broken file raises HandoffError."""
    base = parsed_policy(shipped)
    return Policy(base if own is None else parsed_policy(own), base, root, home)


def parsed_policy(data: bytes) -> dict[str, Any]:
    """Return a policy file as a checked object (gate.md 9); raise HandoffError naming what is broken."""
    try:
        value = parse(decode(data))
    except JsonError as error:
        raise HandoffError(f"{NAME}: no strict JSON: {error.reason}") from None
    if not isinstance(value, dict):
        raise HandoffError(f"{NAME}: not a JSON object")
    problems = [f"{NAME}: {problem}" for problem in _problems(value)]
    if problems:
        raise HandoffError(problems)
    return value


def _problems(value: Mapping[str, Any]) -> list[str]:
    found = [f"{quote(key)}: no such key" for key in value if key not in ("schema_version", *_LISTS, *_MAPS)]
    if value.get("schema_version") != VERSION:
        found.append(f"schema_version is not {VERSION}")
    found += [f"{key} is no list of non-empty texts" for key in _LISTS if not _is_texts(value.get(key, []))]
    found += [f"{key} is missing or no object of texts" for key in _MAPS if not _is_text_map(value.get(key))]
    return found


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item and "\0" not in item for item in value)


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
