"""The four outcomes of a row: `dispatch`, `back_to`, `halt` and `escalate`; they alone build a decision.

Follows route.md 2 and 15.1. Imports `gates`, `text` and
`routing.facts`, `terms`.
"""

from __future__ import annotations

from handoff_core.gates import names_human
from handoff_core.routing.facts import ABSENT
from handoff_core.routing.terms import Term, term_of
from handoff_core.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.routing.situation import Situation

    Decision = dict[str, Any]

DISPATCH, BLOCKED, ESCALATE = "dispatch", "blocked", "escalate"


class Outcome:
    """What a row decides; `text` is its printed form, `decision` the kind it makes when nothing stands against it.

    `agents` is who acts next, `errors` what a bounce or a halt reports, `spread` a context as a whole, `context` its
    single keys. A keyword `req_id` names another slice than the one at hand.
    """

    __slots__ = ("agents", "context", "decision", "errors", "req_id", "spread", "text")

    def __init__(
        self,
        name: str,
        decision: str,
        *,
        agents: Term | None = None,
        errors: Term | None = None,
        spread: Term | None = None,
        context: dict[str, object] | None = None,
    ) -> None:
        self.decision = decision
        self.agents = agents
        self.errors = errors
        self.spread = spread
        self.context = {key: term_of(value) for key, value in (context or {}).items()}
        named = {"errors": errors, **self.context} if errors and decision == BLOCKED else self.context
        leading = (agents, errors if decision == DISPATCH else None, spread)
        words = [term.text for term in leading if term] + [f"{key}={term.text}" for key, term in named.items() if term]
        self.text = f"{name}({', '.join(words)})"
        self.req_id = self.context.pop("req_id", None)

    def build(self, rule: str, reason: str, at: Situation) -> Decision:
        """Return the decision for a situation, its keys in the order of route.md 2."""
        kind, agents = self.decision, _names(self.agents, at)
        errors = list(self.errors.read(at)) if self.errors else []
        context = self._context(at)
        if kind == DISPATCH and self.errors:
            if names_human(agents[0]):  # who is never dispatched, and has to look at the errors
                kind, agents, context = BLOCKED, [], {}
            else:
                context = {"errors": errors, **context}
                errors = []
        req_id = self.req_id.read(at) if self.req_id else at.req_id
        parts = {
            "decision": kind,
            "next": agents,
            "rule": rule,
            "reason": clean(reason),
            "req_id": req_id,
            "errors": errors,
            "context": context,
        }
        return {key: value for key, value in parts.items() if value or key in ("decision", "rule", "reason")}

    def _context(self, at: Situation) -> dict[str, Any]:
        spread = dict(self.spread.read(at)) if self.spread else {}
        named = {key: term.read(at) for key, term in self.context.items()}
        return spread | {key: value for key, value in named.items() if value is not ABSENT}


def _names(agents: Term | None, at: Situation) -> list[Any]:
    value = agents.read(at) if agents else []
    return list(value) if isinstance(value, list) else [value]


def dispatch(agents: Term, spread: Term | None = None, **context: object) -> Outcome:
    """Return the outcome that starts agents with a context."""
    return Outcome("dispatch", DISPATCH, agents=agents, spread=spread, context=context)


def back_to(agent: Term, errors: Term, spread: Term | None = None) -> Outcome:
    """Return the bounce: the agent that must repair a record gets its errors; blocked if that is the human."""
    return Outcome("back_to", DISPATCH, agents=agent, errors=errors, spread=spread)


def halt(errors: Term | None = None, **context: object) -> Outcome:
    """Return the outcome that only a human can go on from."""
    return Outcome("halt", BLOCKED, errors=errors, context=context)


def escalate(**context: object) -> Outcome:
    """Return the outcome that leaves the case to root or the coordinator."""
    return Outcome("escalate", ESCALATE, context=context)
