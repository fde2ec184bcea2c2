"""What every property test needs of hypothesis; without it the module that imports this is skipped, visibly.

With the environment variable HANDOFF_REQUIRE_DEV=1 a missing tool is a failure.
"""

from __future__ import annotations

import os
import unittest

try:
    import jsonschema as oracle  # type: ignore[import-untyped]  # it ships no types
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
except ImportError as missing:
    if os.environ.get("HANDOFF_REQUIRE_DEV") == "1":
        raise
    raise unittest.SkipTest(f"property tests need the development tools: {missing}") from missing

__all__ = [
    "FEW",
    "JSON",
    "RuleBasedStateMachine",
    "given",
    "invariant",
    "oracle",
    "precondition",
    "rule",
    "settings",
    "st",
]

FEW = settings(max_examples=70, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
"""Few examples, the same in every run: the folder takes less than a minute on a loaded machine."""

_CHARACTERS = st.characters(exclude_categories=["Cs"])
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(_CHARACTERS, max_size=12)
    | st.sampled_from(["\x00", "\x7f", "\u202e", "\u2028", "\ufeff", "\U000e0001", '"\\/', "\r\n", "\u00e9", "e\u0301"])
)
JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(_CHARACTERS, max_size=6), inner, max_size=4),
    max_leaves=12,
)
"""Any JSON value, with hidden and odd characters more often than chance has them."""
