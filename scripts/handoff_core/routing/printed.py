"""Prints the route table in four forms; nothing of it is written twice (route.md 16.2).

Imports `jsonl` and `routing.guards`, `routing.states`, `routing.table`.
"""

from __future__ import annotations

from handoff_core.jsonl import dump_ascii
from handoff_core.routing import guards
from handoff_core.routing.states import ANY, STATES
from handoff_core.routing.table import ROUTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEAD = ("#", "rule", "state", "guard", "outcome", "because")
COLORS = {"dispatch": "#cfe8cf", "blocked": "#f3c9c9", "escalate": "#f6e3b4"}
"""The fill of a rule in the flowchart, by decision."""


def all_guards() -> list[guards.Guard]:
    """Return the guards in the order in which they are written."""
    return [value for value in vars(guards).values() if isinstance(value, guards.Guard)]


def rows() -> list[tuple[str, ...]]:
    """Return each row of ROUTE as its six printed columns."""
    return [
        (str(number), row.rule, row.at, row.when.name, row.then.text, row.because)
        for number, row in enumerate(ROUTE, 1)
    ]


def as_text() -> str:
    """Return one line per row, in columns: number, state, rule, guard, outcome, because."""
    table = [(number, state, rule, *rest) for number, rule, state, *rest in rows()]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in table
    )


def as_markdown() -> str:
    """Return the tables of states, guards and rows under headings."""
    states = ((state.name, state.entered) for state in STATES)
    holding = ((f"`{guard.name}`", _listed(guard.reads), guard.sentence) for guard in all_guards())
    routing = (
        (number, f"`{rule}`", state, f"`{guard}`", f"`{outcome}`", because)
        for number, rule, state, guard, outcome, because in rows()
    )
    return (
        "# The rules of `route`\n\n"
        "Printed by `handoff.py route --rules --format markdown` from the table the program reads.\n"
        "Rows are tried from top to bottom; the first whose state and guard hold decides.\n"
        "\n## States\n\nThe first that holds. A row of state `any` is tried in each.\n\n"
        + _table(("state", "entered when"), states)
        + "\n## Guards\n\n"
        + _table(("guard", "reads", "holds when"), holding)
        + "\n## Rows\n\n"
        + _table(HEAD, routing)
    )


def as_json() -> str:
    """Return states, guards and rows as one line of JSON."""
    value = {
        "states": [{"state": state.name, "entered": state.entered} for state in STATES],
        "guards": {guard.name: guard.sentence for guard in all_guards()},
        "rows": [dict(zip(HEAD[1:], row[1:], strict=True)) for row in rows()],
    }
    return dump_ascii(value) + "\n"


def as_mermaid() -> str:
    """Return a flowchart from the start through the states to the rules, coloured by decision."""
    lines = ["flowchart TD", "    start([route])"]
    names = dict.fromkeys((ANY, *(state.name for state in STATES)))
    lines += [f"    start --> {name}{{{{{name}}}}}" for name in names]
    lines += [
        f'    {row.at} -->|{row.when.name}| r{number}["{row.rule}"]:::{row.then.decision}'
        for number, row in enumerate(ROUTE, 1)
    ]
    lines += [f"    classDef {decision} fill:{color}" for decision, color in COLORS.items()]
    return "".join(f"{line}\n" for line in lines)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


FORMS = {"text": as_text, "markdown": as_markdown, "json": as_json, "mermaid": as_mermaid}
"""The forms of `--rules` by the value of `--format`."""
