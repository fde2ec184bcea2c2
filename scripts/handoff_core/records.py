"""The vocabulary of the ledger: record types, agents and the words that rules are written in.

Follows ledger.md 10 and 11 and route.md 5. Imports nothing.
"""

from __future__ import annotations

BUILD_PASS = "build-pass"  # noqa: S105 - a record type, no password
BUILD_FAILURE = "build-failure"
CONSULTATION_REQUEST = "consultation-request"
CONSULTATION_RESPONSE = "consultation-response"
DESIGN_AUTOFIX = "design-doc-autofix"
DESIGN_BLOCK = "design-block"
DISPATCH_START = "dispatch-start"
GRADER_FEATURES = "grader-features"
GRADER_VERDICT = "grader-verdict"
INTAKE_DECISION = "intake-decision"
PRD_AUTOFIX = "prd-autofix"
PRD_ENTRY = "prd-entry"
REVIEW_FEEDBACK = "review-feedback"
REVIEW_PLAN = "review-plan"

SUBSTANTIVE = frozenset(
    {
        BUILD_PASS,
        BUILD_FAILURE,
        REVIEW_FEEDBACK,
        REVIEW_PLAN,
        PRD_ENTRY,
        DESIGN_BLOCK,
        CONSULTATION_RESPONSE,
        INTAKE_DECISION,
    }
)
"""Types that move a slice on (route.md 5)."""

TYPES = SUBSTANTIVE | {
    CONSULTATION_REQUEST,
    DISPATCH_START,
    GRADER_FEATURES,
    GRADER_VERDICT,
    DESIGN_AUTOFIX,
    PRD_AUTOFIX,
}
"""All 14 record types."""

PRODUCT = "product-requirements-expert"
DESIGNER = "system-design-expert"
IMPLEMENTER = "feature-implementer"
ROUTINE = "feature-implementer-routine"
PLANNER = "review-planner"
GRADER = "change-grader"
ENGINE = "review-plan-engine"
HUMAN = "human"
ROOT = "root"

FLOOR = ("code-quality-reviewer", "test-reviewer", "security-reviewer", "doc-reviewer")
"""The reviewers of every project, in roster order."""

PRD_PATH = "docs/prd.md"
DESIGN_PATH = "docs/system-design.md"
ADR_FOLDER = "docs/adr/"


def is_type_name(name: object) -> bool:
    """Say whether `name` is spelled like a record type: lower-case words joined by dashes (ledger.md 4.2)."""
    return (
        isinstance(name, str)
        and name.isascii()
        and name[:1].isalpha()
        and name == name.lower()
        and name.replace("-", "").isalnum()
    )


def substance(entry: object) -> bool:
    """Say whether a record's type is substantive; any value may be handed in."""
    kind = entry.get("type") if isinstance(entry, dict) else None
    return isinstance(kind, str) and kind in SUBSTANTIVE
