"""The schema validator: the declared subset, its messages, and the public conformance suite."""

from __future__ import annotations

import glob
import json
import os
import unittest
from typing import Any

from handoff_core.schema import SchemaError, SchemaSet, compile_schema, misspelled, python_pattern

from tests.support import shared

JUDGED = {
    "type": 80,
    "const": 54,
    "enum": 45,
    "required": 18,
    "ref": 18,
    "properties": 16,
    "minimum": 11,
    "pattern": 9,
    "maximum": 8,
    "items": 8,
    "additionalProperties": 7,
    "default": 7,
    "minLength": 7,
    "maxLength": 7,
    "minItems": 6,
    "maxItems": 6,
    "format": 6,
}
"""Tests that must be judged, by file of the suite's draft7 folder."""

NOT_PROMISED = ("ecmascript-regex", "non-bmp-regex", "bignum")
INTEGER_ON_PURPOSE = "a float with zero fractional part is an integer"


class PublicSuite(unittest.TestCase):
    def test_every_group_is_refused_or_every_test_of_it_gets_the_expected_answer(self) -> None:
        folder = shared("suites", "JSON-Schema-Test-Suite", "draft7")
        judged: dict[str, int] = {}
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.json"), recursive=True)):
            name = os.path.basename(path)[: -len(".json")]
            if name in NOT_PROMISED or os.path.join("optional", "format") in path:
                continue
            with open(path, encoding="utf-8") as opened:
                groups = json.load(opened)
            judged[name] = sum(self._judge(name, group) for group in groups)
        self.assertEqual({name: count for name, count in judged.items() if count}, JUDGED)

    def _judge(self, name: str, group: dict[str, Any]) -> int:
        try:
            check = compile_schema(group["schema"], {})
        except SchemaError:
            return 0
        for test in group["tests"]:
            with self.subTest(file=name, group=group["description"], test=test["description"]):
                expected = test["valid"] and test["description"] != INTEGER_ON_PURPOSE
                self.assertEqual(not check(test["data"]), expected)
        return len(group["tests"])


class Subset(unittest.TestCase):
    def violations(self, schema: dict[str, Any], value: Any, layout: dict[str, Any] | None = None) -> list[str]:
        return [f"${path}: {text}" for path, text in compile_schema(schema, layout or {})(value)]

    def test_a_recursive_reference_is_followed_as_deep_as_the_value_goes(self) -> None:
        schema = {
            "definitions": {"node": {"type": "object", "properties": {"next": {"$ref": "#/definitions/node"}}}},
            "$ref": "#/definitions/node",
        }
        self.assertEqual(self.violations(schema, {"next": {"next": 1}}), ["$.next.next: expected type object, got int"])

    def test_a_chain_of_ten_references_is_followed_and_one_of_eleven_is_refused(self) -> None:
        for links, accepted in ((10, True), (11, False)):
            names = [f"d{index}" for index in range(links)]
            definitions: dict[str, Any] = {
                name: {"$ref": f"#/definitions/d{index + 1}"} for index, name in enumerate(names[:-1])
            }
            definitions[names[-1]] = {"type": "string"}
            schema = {"definitions": definitions, "$ref": "#/definitions/d0"}
            with self.subTest(links=links):
                if accepted:
                    self.assertEqual(self.violations(schema, 1), ["$: expected type string, got int"])
                else:
                    with self.assertRaisesRegex(SchemaError, r"\$ref chain longer than 10 at #"):
                        compile_schema(schema, {})

    def test_the_first_of_const_enum_and_type_that_fails_ends_a_value(self) -> None:
        schema = {"const": "a", "enum": ["a"], "type": "string", "minLength": 9}
        self.assertEqual(self.violations(schema, 3), ['$: expected const "a", got 3'])
        self.assertEqual(self.violations({"type": "string", "minLength": 3, "pattern": "b"}, "a"),
            ["$: shorter than minLength 3", '$: "a" does not match pattern b'])  # fmt: skip

    def test_a_boolean_is_no_number_and_equals_none(self) -> None:
        self.assertEqual(self.violations({"enum": [1]}, True), ["$: true not in enum [1]"])
        self.assertEqual(self.violations({"enum": [1]}, 1.0), [])
        self.assertEqual(self.violations({"type": "integer"}, 1.0), ["$: expected type integer, got float"])
        self.assertEqual(self.violations({"const": [False]}, [0]), ["$: expected const [false], got [0]"])

    def test_a_dollar_matches_at_the_very_end_only_and_in_a_class_it_is_itself(self) -> None:
        self.assertEqual(len(self.violations({"pattern": "^a$"}, "a\n")), 1)
        self.assertEqual(self.violations({"pattern": "^[$]$"}, "$"), [])
        self.assertEqual(python_pattern(r"^\$[]$]$"), r"^\$[]$]\Z")

    def test_a_pattern_of_the_layout_that_would_hang_is_answered_at_once(self) -> None:
        hostile = (
            "^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*a){12}$", "^([a-z0-9]+-?)*$", r"\s+$",
            r"^\s*\s*\s*$", "(x+x+)+y", r"^(\d+\.?)+$", "(.*)(.*)(.*)(.*)=",
        )  # fmt: skip
        for pattern in hostile:
            for value in ("a" * 9_999 + "!", " " * 10_000 + "x", "1" * 9_999 + "a"):
                with self.subTest(pattern=pattern, value=value[:2]):
                    self.violations({"patternFrom": "p"}, value[:10_000], {"p": pattern})

    def test_a_harmless_pattern_of_the_layout_works(self) -> None:
        harmless = {
            "^[a-z][A-Za-z0-9_]*$": ("aB_1", "Ab"),
            "^test_[a-z0-9_]+$": ("test_a1", "test_"),
            r"^should[A-Z]\w+$": ("shouldPass", "shouldpass"),
            "^[a-z]+(_[a-z0-9]+)*$": ("a_b_c", "a__b"),
            "a|^b$": ("xax", "xb"),
            r"\bfoo\b": ("a foo b", "afoo"),
        }
        for pattern, (good, bad) in harmless.items():
            with self.subTest(pattern=pattern):
                self.assertEqual(self.violations({"patternFrom": "p"}, good, {"p": pattern}), [])
                self.assertEqual(len(self.violations({"patternFrom": "p"}, bad, {"p": pattern})), 1)

    def test_a_pattern_of_the_layout_that_cannot_run_in_linear_time_is_unusable(self) -> None:
        for pattern in (r"(a)\1", "(?=a)b", "(", "a{1,5000}b|x", "(a?){1400}b"):
            with self.subTest(pattern=pattern):
                found = self.violations({"patternFrom": "p"}, "a" * 5_000, {"p": pattern})
                self.assertIn("is not a valid regex (check its patternFrom source in scripts/layout.toml)", found[0])

    def test_every_shipped_schema_compiles_and_declares_the_common_fields_first(self) -> None:
        schemas = SchemaSet(None, "the shipped schemas", {})
        self.assertEqual(len(schemas.known()), 14)
        for kind in schemas.known():
            with self.subTest(kind=kind):
                schema = schemas.get(kind)
                self.assertEqual(list(schema["properties"])[:4], ["type", "req_id", "ts", "author"])
                self.assertEqual(schema["required"][:4], ["type", "req_id", "ts", "author"])
                self.assertTrue(schema["title"] and schema["description"])

    def test_a_slip_in_a_field_name_is_named_and_a_field_of_ones_own_is_not(self) -> None:
        schema = SchemaSet(None, "the shipped schemas", {}).get("build-failure")
        self.assertEqual(misspelled({"abort_reasn": 1, "summary": 2}, schema),
            ["$: unknown field 'abort_reasn' — did you mean 'abort_reason'?"])  # fmt: skip


class ShippedTables(unittest.TestCase):
    def test_the_schemas_are_those_of_the_field_tables(self) -> None:
        for path in sorted(glob.glob(shared("spec", "fields", "*.json"))):
            with open(path, encoding="utf-8") as opened:
                table = json.load(opened)
            schema = SchemaSet(None, "the shipped schemas", {}).get(table["type"])
            expected = _converted({"fields": table["fields"]})
            with self.subTest(kind=table["type"]):
                self.assertEqual(_bare(schema), {"type": "object", **_bare(expected)})


COPIED = ("const", "enum", "enumFrom", "pattern", "patternFrom", "format", "minLength", "maxLength",
    "minimum", "maximum", "minItems", "maxItems")  # fmt: skip


def _converted(field: dict[str, Any]) -> dict[str, Any]:
    schema = {name: field[name] for name in COPIED if name in field}
    if "json_type" in field:
        schema["type"] = field["json_type"]
    if "fields" in field:
        schema["properties"] = {below["name"]: _converted(below) for below in field["fields"]}
        required = [below["name"] for below in field["fields"] if below.get("required")]
        if required:
            schema["required"] = required
    for name in ("items", "additionalProperties"):
        if name in field:
            schema[name] = _converted(field[name]) if isinstance(field[name], dict) else field[name]
    return schema


def _bare(schema: Any) -> Any:
    """Return a schema without its annotations, which are in our own words."""
    if isinstance(schema, list):
        return schema
    if not isinstance(schema, dict):
        return schema
    if "properties" in schema:
        properties = {name: _bare(below) for name, below in schema["properties"].items()}
        schema = {**schema, "properties": properties}
    return {name: value if name == "properties" else _bare(value)
        for name, value in schema.items() if name not in ("$schema", "title", "description")}  # fmt: skip


if __name__ == "__main__":
    unittest.main()
