"""Builds a session in a project folder and hands back its turns, for the tests of readers."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from tests.support import ProjectCase


class ReaderCase(ProjectCase):
    """A test that builds sources and looks at the turns; `self.build` keeps the manifest's one source in `self.row`."""

    manifest: dict[str, Any]
    row: dict[str, Any]

    def build(self, name: str, data: bytes | str | None = None, *flags: str, code: int = 0) -> list[dict[str, Any]]:
        """Write a source, build it into a fresh folder with `flags`, expect an exit code, and return the turns."""
        if data is not None:
            self.write(name, data)
        out = tempfile.mkdtemp(dir=self.root)
        result = self.run_here("build", name, "--out", out, "--json", *flags)
        self.assertEqual(result.code, code, result.err)
        if code:
            self.assertNotIn("Traceback", result.err)
            return []
        with open(os.path.join(out, "manifest.json"), encoding="utf-8") as opened:
            manifest = json.load(opened)
        self.manifest = manifest
        self.row = manifest["sources"][0]
        with open(os.path.join(out, "timeline.jsonl"), encoding="utf-8") as opened:
            return [json.loads(line) for line in opened]

    def fates(self) -> tuple[int, int, int, int]:
        """Return how many records were used, merged, skipped and damaged."""
        records = self.row["records"]
        self.assertEqual(records["read"], sum(records.values()) - records["read"])
        return records["used"], records["merged"], records["skipped"], records["bad"]


def lines(*records: Any) -> str:
    """Return records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def said(turns: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Return class, kind and text of each turn."""
    return [(turn["class"], turn["kind"], turn["text"]) for turn in turns]
