"""`doctor`: say what is wired, what is not, and how to mend it (hooks.md 9). Reads, and writes nothing."""

from __future__ import annotations

import io
import json as json_module
import os
from typing import TYPE_CHECKING, Any

from handoff_core import __version__
from handoff_core.commands import validate
from handoff_core.commands.init import chosen_harnesses, read_record
from handoff_core.errors import DONE, REFUSED, HandoffError, os_text
from handoff_core.layout import find_root
from handoff_core.setup import checks, registrations
from handoff_core.setup.files import Tree
from handoff_core.setup.site import FAIL, OK, SKIP, WARN, Result, Site
from handoff_core.text import Streams, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# fmt: off
CHECKS: tuple[tuple[str, Callable[[Site], Iterator[Result]]], ...] = (
    ("python",   checks.python),
    ("program",  checks.program),
    ("shadow",   checks.shadow),
    ("root",     checks.root),
    ("ledger",   checks.ledger),
    ("lock",     checks.lock),
    ("tracked",  checks.tracked),
    ("schemas",  checks.schemas),
    ("layout",   checks.layout_file),
    ("hooks",    checks.hooks),
    ("harness",  registrations.registrations),
    ("self-test", registrations.self_test),
    ("skills",   checks.skill_files),
    ("ci",       checks.ci),
)
# fmt: on


def doctor(streams: Streams, *, harness: str | None, json: bool, root: str | None) -> int:
    """Print one line a check, or one JSON object; exit 1 if a check failed."""
    tree = Tree(find_root(root))
    broken: list[Result] = []
    try:
        record = read_record(tree)
    except HandoffError as error:
        record = None
        broken.append(Result("record", FAIL, error.problems[0], error.fix))
    chosen = chosen_harnesses(tree, record, harness)
    site = Site(tree, record, chosen, os.path.expanduser("~"), lambda: _validate(tree.root))
    results = [*broken, *(result for name, check in CHECKS for result in _run(name, check, site))]
    streams.out(_as_json(results) if json else _as_text(results))
    return REFUSED if any(result.status == FAIL for result in results) else DONE


def _run(name: str, check: Callable[[Site], Iterator[Result]], site: Site) -> list[Result]:
    """Return what a check says; trouble with the system is a failure of that check, not of the run."""
    try:
        return list(check(site))
    except OSError as error:
        return [Result(name, FAIL, f"cannot be checked: {os_text(error)}", "mend the permissions")]


def _validate(root: str) -> dict[str, Any] | None:
    """Return the JSON answer of `validate` on the project's ledger, None where it gave none."""
    out = io.BytesIO()
    try:
        validate.validate(
            Streams(None, out, None),
            targets=[],
            format="json",
            json=False,
            strict=False,
            require_seal=False,
            require_clean=False,
            allow_missing=True,
            quiet=False,
            repair_tail=False,
            root=root,
            file=None,
            schemas=None,
            layout=None,
        )
        answer = json_module.loads(out.getvalue())
    except (HandoffError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _as_text(results: list[Result]) -> str:
    lines = []
    for result in results:
        fix = f"; {result.fix}" if result.fix else ""
        lines.append(f"{result.status:<4}  {result.id:<12}  {clean(result.text + fix)}")
    counts = {status: sum(result.status == status for result in results) for status in (OK, WARN, FAIL, SKIP)}
    warnings = f"{counts[WARN]} warning{'' if counts[WARN] == 1 else 's'}"
    summary = f"{counts[OK]} ok, {warnings}, {counts[FAIL]} failed, {counts[SKIP]} skipped"
    return "\n".join([*lines, f"handoff doctor: {summary}", ""])


def _as_json(results: list[Result]) -> str:
    value = {
        "version": __version__,
        "root": ".",
        "checks": [result._asdict() for result in results],
        "ok": all(result.status != FAIL for result in results),
    }
    return json_module.dumps(value) + "\n"
