"""Explains a decision: the state, why it was entered, and every row tried with the facts its guard read.

Follows route.md 16.1. Imports `text`.
"""

from __future__ import annotations

from handoff_core.jsonl import dump_ascii
from handoff_core.routing.states import ANY
from handoff_core.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.routing.outcomes import Decision
    from handoff_core.routing.situation import Situation
    from handoff_core.routing.table import Row


def explanation(at: Situation, tried: list[tuple[Row, bool]]) -> dict[str, Any]:
    """Return the value of the key `explain`: `lines`, `state`, `entered`, `rows`."""
    state_was_needed = any(row.at != ANY for row, _ in tried)
    return {
        "lines": at.lines,
        "state": at.state if state_was_needed else None,
        "entered": entered(at) if state_was_needed else None,
        "rows": [
            {
                "rule": row.rule,
                "state": row.at,
                "guard": row.when.name,
                "holds": holds,
                "facts": {name: plain(getattr(at, name)) for name in row.when.reads},
            }
            for row, holds in tried
        ],
    }


def entered(at: Situation) -> str:
    """Return one sentence that says why the slice is in its state, with the line of the record that says so."""
    state = at.entered
    return f"{state.entered} (line {getattr(at, state.fact)[0]})"


def plain(value: Any) -> Any:
    """Return a fact as plain JSON: a record is its line number."""
    return value[0] if isinstance(value, tuple) else value


def explained_text(decision: Decision, explain: dict[str, Any]) -> str:
    """Return decision and explanation as lines for people, stripped of what steers a terminal."""
    lines = [f"slice {decision['req_id']}"] if "req_id" in decision else []
    if explain["state"] is not None:
        lines.append(f"state {explain['state']}: {explain['entered']}")
    lines += [_row_text(row) for row in explain["rows"]]
    actors = f" {', '.join(map(str, decision['next']))}" if "next" in decision else ""
    lines.append(f"{decision['decision']}{actors}: {decision['rule']}: {decision['reason']}")
    return "".join(f"{clean(line)}\n" for line in lines)


def _row_text(row: dict[str, Any]) -> str:
    facts = ", ".join(f"{name}={dump_ascii(value)}" for name, value in row["facts"].items())
    mark = "yes" if row["holds"] else "no "
    return f"  {mark} {row['state']:<8} {row['rule']:<26} {row['guard']}({facts})"
