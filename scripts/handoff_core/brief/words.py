"""The fixed words of a brief: roles, statuses, fields and phrases (gate.md 5 to 7). Imports nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PLANNER = "planner"
BACKEND = "backend"
FRONTEND = "frontend"
AUDITOR = "auditor"
VALIDATOR = "validator"
FINALIZER = "finalizer"
USER = "user"

ROLES = (PLANNER, BACKEND, FRONTEND, AUDITOR, VALIDATOR, FINALIZER, USER)
IMPLEMENTERS = (BACKEND, FRONTEND)

STORY = "story"
EPIC = "epic"
CLOSE_TYPES = (STORY, EPIC)

READY_FOR_REVIEW = "ready_for_review"
VERIFIED_PASS = "verified_pass"  # noqa: S105 - a status, no password
VERIFIED_FAIL = "verified_fail"
BLOCKED_CONTEXT = "blocked_missing_context"
BLOCKED_FAILURE = "blocked_implementation_failure"
ESCALATE_TO_USER = "escalate_to_user"

COMPLETIONS = (READY_FOR_REVIEW, VERIFIED_PASS, VERIFIED_FAIL)
"""The statuses that claim finished work; each needs the evidence block."""

STATUSES = (*COMPLETIONS, BLOCKED_CONTEXT, BLOCKED_FAILURE, ESCALATE_TO_USER)

EVIDENCE = "Verification Evidence"
COMMIT_FIELD = "Commit SHA verified"
EVIDENCE_FIELDS = ("Commands run", "Output summary", COMMIT_FIELD, "Files changed or reviewed", "Unresolved concerns")

PACKET = "Work Packet"
PACKET_FIELDS = (
    "Objective",
    "Files in scope",
    "Files out of bounds",
    "Context",
    "Verification command",
    "Expected next route",
)

VAGUE_PHRASES = (
    "add validation",
    "handle errors appropriately",
    "write tests",
    "implement later",
    "as needed",
)
"""Phrases that leave the work of a packet open; compared in lower case with white space folded."""

FRONTMATTER = "FRONTMATTER"
SHA_PRESENT = "SHA-PRESENT"
SHA_FRESH = "SHA-FRESH"
ROUTING = "ROUTING"
CONTENT = "CONTENT"
GIT_STATE = "GIT-STATE"

LABELS = (FRONTMATTER, SHA_PRESENT, SHA_FRESH, ROUTING, CONTENT, GIT_STATE)
"""The six lines of an answer, in the order in which they are printed."""

BOUNCE_LIMIT = 3
"""From this bounce of one story on a planner should look at it."""

REASON_LIMIT = 200
"""Characters of a reason from which on it is too long for one line."""


def usual_next(status: str, close_type: str | None) -> Sequence[str]:
    """Return the roles that usually act after `status` (gate.md 6); empty for an unknown status."""
    if status == VERIFIED_PASS:
        return (FINALIZER,) if close_type == EPIC else (PLANNER, *IMPLEMENTERS)
    return _USUAL_NEXT.get(status, ())


_USUAL_NEXT = {
    READY_FOR_REVIEW: (AUDITOR,),
    VERIFIED_FAIL: (*IMPLEMENTERS, PLANNER),
    BLOCKED_CONTEXT: (USER,),
    BLOCKED_FAILURE: (PLANNER, USER),
    ESCALATE_TO_USER: (USER,),
}


def is_placeholder(text: str) -> bool:
    """Say whether `text` is empty or stands for a value that was never written (gate.md 4)."""
    bare = text.strip("` \t\n")
    if bare.startswith("<") and bare.endswith(">"):
        return "<" not in bare[1:] and ">" not in bare[:-1]
    return bare.upper() in _PLACEHOLDERS


_PLACEHOLDERS = frozenset({"", "TBD", "TODO", "...", "…"})
