"""The situation: every fact that the route table asks for, computed when a row first asks (route.md 15.5).

A situation is one slice of one log, seen with the layout and two functions that are handed in. It opens nothing.
Imports `routing.before_review` and `routing.review`.
"""

from __future__ import annotations

from handoff_core.routing.before_review import BeforeReview
from handoff_core.routing.review import Review


class Situation(BeforeReview, Review):
    """All facts of one slice."""
