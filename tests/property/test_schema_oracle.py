"""Our validator admits exactly the values that the package `jsonschema` admits, on schemas of the subset."""

from __future__ import annotations

import datetime
import re
import unittest
from typing import Any

from handoff_core.schema import canonical, compile_schema, is_date_time

from tests.property.tools import FEW, JSON, given, oracle, st

KEYS = st.sampled_from(["a", "b", "cc", "$", "\u00e9"])
TEXTS = st.text("ab1\u00e9\U0001f600 ", max_size=4) | st.sampled_from(["2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
SIZES = st.integers(0, 3)
FORMATS = oracle.FormatChecker(formats=())
STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-](\d\d):(\d\d))", re.ASCII)


def exists(value: object) -> bool:
    """Say whether a text is a date-time of ledger.md 9.2; any other value is none of this format's business."""
    if not isinstance(value, str):
        return True
    found = STAMP.fullmatch(value)
    if not found:
        return False
    *parts, offset_hour, offset_minute = (int(part or 0) for part in found.groups())
    try:
        datetime.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 - only the calendar is asked
    except ValueError:
        return False
    return offset_hour < 24 and offset_minute < 60


FORMATS.checks("date-time")(exists)


def schemas(*, refer: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of the subset; with `refer` some are a reference to `#/definitions/d`."""
    keywords = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "const": VALUES,
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "minLength": SIZES,
        "maxLength": SIZES,
        "pattern": st.sampled_from(["^a", "b$", "^[ab]*$", "1", "\u00e9", "^.{2}$", "[$]", r"\$"]),
        "format": st.just("date-time"),
        "minimum": st.integers(-2, 2) | st.just(0.5),
        "maximum": st.integers(-2, 2) | st.just(1.5),
        "minItems": SIZES,
        "maxItems": SIZES,
        "required": st.lists(KEYS, max_size=2, unique=True),
    }
    leaves = _some_of(keywords)
    if refer:
        leaves |= st.just({"$ref": "#/definitions/d"})
    nested = st.recursive(leaves, lambda inner: _some_of({**keywords, **_holders(inner)}), max_leaves=4)
    return nested | _some_of({"type": st.just("object"), **_holders(nested)})


def _holders(inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "items": inner,
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "additionalProperties": st.booleans() | inner,
    }


def _some_of(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


class OracleTest(unittest.TestCase):
    @FEW
    @given(schemas(refer=True), schemas(refer=False), st.lists(VALUES, min_size=1, max_size=12))
    def test_both_admit_the_same_values(self, schema: Any, definition: Any, values: list[Any]) -> None:
        whole = schema if "$ref" in schema else {**schema, "definitions": {"d": definition}}
        if "$ref" in schema:
            whole = {"type": "array", "items": schema, "definitions": {"d": definition}}
        check = compile_schema(whole, {})
        judge = oracle.Draft7Validator(whole, format_checker=FORMATS)
        for value in (*values, values):
            self.assertEqual(not check(value), judge.is_valid(value), (whole, value, check(value)))

    @FEW
    @given(st.from_regex(STAMP, fullmatch=True) | st.text("0123456789-T:.Z+", max_size=30))
    def test_a_date_time_must_exist_in_the_calendar(self, text: str) -> None:
        self.assertEqual(is_date_time(text), exists(text), text)

    @FEW
    @given(st.dictionaries(KEYS | st.text(max_size=3), JSON, max_size=6), st.lists(KEYS, unique=True))
    def test_canonical_order_is_the_declared_keys_and_then_the_others_by_code_point(
        self, value: dict[str, Any], declared: list[str]
    ) -> None:
        ordered = canonical(value, {"properties": {key: {} for key in declared}})
        self.assertEqual(ordered, value)
        known = [key for key in declared if key in value]
        assert isinstance(ordered, dict)
        self.assertEqual(list(ordered), known + sorted(set(value) - set(known)))


if __name__ == "__main__":
    unittest.main()
