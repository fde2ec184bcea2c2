"""Checks a record against its schema and puts its keys in canonical order.

A schema of the closed draft-07 subset (ledger.md 9.2) is compiled once into a check: a function that takes a value and
returns the violations below it as `(path, text)`, the path relative to the value. KEYWORDS is the dialect: whoever adds
a keyword adds a line there and a function beside it. Imports `jsonl`, `text`, `data`, `layout`, `errors`.
"""

from __future__ import annotations

import os

from handoff_core import data, jsonl
from handoff_core.errors import os_text
from handoff_core.layout import lookup
from handoff_core.records import is_type_name
from handoff_core.text import edit_distance, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Schema = dict[str, Any]
    Violations = list[tuple[str, str]]
    Check = Callable[[Any], Violations]
    Keyword = Callable[[Any, Schema, "Compiler"], "Check | None"]

SUFFIX = ".schema.json"
SHIPPED = "schemas/scratch"
REF_STEPS = 10
LAYOUT_VALUE_LIMIT = 10_000
REMEMBERED = 5_000
"""Matches that one pattern remembers."""

FINE: list[tuple[str, str]] = []
"""The empty answer, shared so that a clean record costs no list; nobody may change it."""

ANNOTATIONS = frozenset({"$schema", "$id", "$comment", "title", "description", "default", "examples"})


class SchemaError(Exception):
    """Say why a schema cannot be used; the text is the whole message."""


class SchemaSet:
    """The schemas of one project, read and compiled when first asked for.

    `folder` is the schema folder, None for the shipped ones; `shown` is its name in messages; `layout` serves
    `patternFrom` and `enumFrom`.
    """

    def __init__(self, folder: str | None, shown: str, layout: dict[str, object]) -> None:
        self._folder = folder
        self._shown = shown
        self._layout = layout
        self._schemas: dict[str, Schema] = {}
        self._checks: dict[str, Check] = {}
        self._errors: dict[str, str] = {}

    def check(self, record: dict[str, object]) -> list[str]:
        """Return the violations of `record` against the schema of its type, in the order of ledger.md 9.2.

        A schema that cannot be used gives its one error text (4.2 step 8).
        """
        kind = record.get("type")
        try:
            check = self._checks[kind]  # type: ignore[index]
        except (KeyError, TypeError):
            try:
                check = self._compiled(kind)
            except SchemaError as error:
                return [str(error)]
        found = check(record)
        return [f"${path}: {text}" for path, text in found] if found else []

    def get(self, kind: object) -> Schema:
        """Return the schema of a record type; raise SchemaError if there is none that can be used."""
        self._compiled(kind)
        return self._schemas[str(kind)]

    def is_unusable(self, kind: str) -> bool:
        """Say whether there is no schema for a record type, or none that can be used."""
        try:
            self._compiled(kind)
        except SchemaError:
            return True
        return False

    def known(self) -> list[str]:
        """Return the sorted record types that have a schema file."""
        try:
            listed = data.names(SHIPPED) if self._folder is None else os.listdir(self._folder)
        except OSError:
            return []
        kinds = (name[: -len(SUFFIX)] for name in listed if name.endswith(SUFFIX))
        return sorted(kind for kind in kinds if is_type_name(kind))

    def retry_maximum(self) -> int | None:
        """Return the largest `retry` that the build-failure schema admits, None if it names none (ledger.md 7.2)."""
        try:
            schema = self.get("build-failure")
        except SchemaError:
            return None
        properties = schema.get("properties")
        retry = properties.get("retry") if isinstance(properties, dict) else None
        maximum = retry.get("maximum") if isinstance(retry, dict) else None
        return maximum if isinstance(maximum, int) and not isinstance(maximum, bool) else None

    def _compiled(self, kind: object) -> Check:
        if isinstance(kind, str):
            if kind in self._checks:
                return self._checks[kind]
            if kind in self._errors:
                raise SchemaError(self._errors[kind])
        try:
            schema = self._load(kind)
            check = compile_schema(schema, self._layout)
        except SchemaError as error:
            if isinstance(kind, str):
                self._errors[kind] = str(error)
            raise
        self._schemas[str(kind)] = schema
        self._checks[str(kind)] = check
        return check

    def _load(self, kind: object) -> Schema:
        text = None
        if is_type_name(kind):
            text = self._read(str(kind))
        if text is None:
            known = ", ".join(self.known()) or "none"
            named = f"'{kind}'" if isinstance(kind, str) else quote(kind)
            raise SchemaError(f"no schema for record type {named} in {self._shown} (known types: {known})")
        try:
            schema = jsonl.parse(jsonl.decode(text))
        except jsonl.JsonError as error:
            raise SchemaError(f"schema for '{kind}' is not valid JSON: {error.reason}") from None
        if not isinstance(schema, dict):
            raise SchemaError(f"schema for '{kind}' is not a JSON object")
        return schema

    def _read(self, kind: str) -> bytes | None:
        try:
            if self._folder is None:
                return data.read(f"{SHIPPED}/{kind}{SUFFIX}")
            with open(os.path.join(self._folder, kind + SUFFIX), "rb") as opened:
                return opened.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise SchemaError(f"cannot read schema for '{kind}': {os_text(error)}") from None


def compile_schema(schema: Schema, layout: dict[str, object]) -> Check:
    """Return the check of a whole schema; raise SchemaError if it leaves the subset (ledger.md 9.2)."""
    return Compiler(schema, layout).run()


class Compiler:
    """Turns one schema file into a check; refuses the whole file before any value is looked at."""

    def __init__(self, root: Schema, layout: dict[str, object]) -> None:
        self.root = root
        self.layout = layout
        self._targets: dict[str, Check] = {}

    def run(self) -> Check:
        """Return the check of the root schema."""
        self._refuse_foreign(self.root, "#")
        return self.compile(self.root)

    def compile(self, schema: Schema) -> Check:
        """Return the check of a subschema that `_refuse_foreign` has let pass."""
        if "$ref" in schema:
            return self._reference(schema)
        deciding: list[Check] = []
        by_kind: dict[type, list[Check]] = {}
        for word, (kinds, make) in KEYWORDS.items():
            check = make(schema[word], schema, self) if word in schema else None
            if check is not None and not kinds:
                deciding.append(check)
            elif check is not None:
                for kind in kinds:
                    by_kind.setdefault(kind, []).append(check)
        members = object_members(schema, self)
        if members is not None:
            by_kind.setdefault(dict, []).append(members)
        if len(deciding) == 1 and "type" in schema:
            return TypedCheck(schema["type"], deciding[0], by_kind)
        return _chain(deciding, by_kind)

    def _reference(self, schema: Schema) -> Check:
        name = schema["$ref"]
        if name not in self._targets:

            def later(value: Any) -> Violations:
                return self._targets[name](value)

            self._targets[name] = later  # a schema that refers to itself finds this one
            self._targets[name] = self.compile(self._resolve(schema, "#"))
        return self._targets[name]

    def _resolve(self, schema: Schema, pointer: str) -> Schema:
        """Follow `$ref` to a schema without one; raise SchemaError if it leads nowhere or too far."""
        for _ in range(REF_STEPS):
            reference = schema["$ref"]
            target = self._target(reference)
            if target is None:
                raise SchemaError(f"schema: cannot resolve $ref {quote(reference)} at {pointer}")
            if "$ref" not in target:
                return target
            schema = target
        raise SchemaError(f"schema: $ref chain longer than {REF_STEPS} at {pointer}")

    def _target(self, reference: object) -> Schema | None:
        prefix = "#/definitions/"
        if not isinstance(reference, str) or not reference.startswith(prefix):
            return None
        definitions = self.root.get("definitions")
        name = reference[len(prefix) :].replace("~1", "/").replace("~0", "~")
        target = definitions.get(name) if isinstance(definitions, dict) else None
        return target if isinstance(target, dict) else None

    def _refuse_foreign(self, schema: object, pointer: str) -> None:
        """Raise SchemaError at the first place below `pointer` that the subset does not know."""
        if not isinstance(schema, dict):
            raise _unsupported(pointer)
        for word in schema:
            if word == "$ref":
                self._resolve(schema, pointer)
            elif word == "$id" and pointer != "#":
                raise _unsupported(f"{pointer}/$id")
            elif word not in KNOWN:
                raise _unsupported(f"{pointer}/{_escaped(word)}")
        for word, value in schema.items():
            form = FORMS.get(word)
            if form is not None and not form(value):
                raise _unsupported(f"{pointer}/{_escaped(word)}")
        self._refuse_type_names(schema, pointer)
        for word, subschema in _subschemas(schema):
            self._refuse_foreign(subschema, f"{pointer}/{word}")

    @staticmethod
    def _refuse_type_names(schema: Schema, pointer: str) -> None:
        for name in _listed(schema.get("type", [])):
            if name not in TYPES:
                raise SchemaError(f'schema: unknown type "{name}" at {pointer}/type')


def misspelled(record: dict[str, object], schema: Schema) -> list[str]:
    """Return a message for each misspelled field of a record and of its findings (ledger.md 4.2 step 9)."""
    found = [f"$: {text}" for text in _misspelled_keys(record, schema)]
    properties = schema.get("properties")
    findings_schema = properties.get("findings", {}) if isinstance(properties, dict) else {}
    items = findings_schema.get("items", {}) if isinstance(findings_schema, dict) else {}
    findings = record.get("findings")
    for index, finding in enumerate(findings if isinstance(findings, list) else []):
        if isinstance(finding, dict):
            found += [f"$.findings[{index}]: {text}" for text in _misspelled_keys(finding, items)]
    return found


def canonical(value: object, schema: Schema, root: Schema | None = None) -> object:
    """Return `value` with its keys in declared order, other keys after them by code point (ledger.md 4.7)."""
    root = schema if root is None else root
    steps = 0
    while "$ref" in schema and steps < REF_STEPS:
        schema = Compiler(root, {})._target(schema["$ref"]) or {}  # noqa: SLF001 - the same module
        steps += 1
    if isinstance(value, list):
        return [canonical(item, schema.get("items", {}), root) for item in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    extra = schema.get("additionalProperties")
    other = extra if isinstance(extra, dict) else {}
    declared = [key for key in properties if key in value]
    undeclared = sorted(key for key in value if key not in properties)
    return {key: canonical(value[key], properties.get(key, other), root) for key in declared + undeclared}


# Keywords: each function returns the check of one keyword, or None where it constrains nothing.


def same(left: object, right: object) -> bool:
    """Say whether two JSON values are equal: numbers by value, a boolean never equal to a number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def const(expected: Any, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a value is `expected`."""
    if isinstance(expected, str):
        return lambda value: (
            FINE if value == expected else [("", f"expected const {quote(expected)}, got {quote(value)}")]
        )

    def check(value: Any) -> Violations:
        if same(value, expected):
            return FINE
        return [("", f"expected const {quote(expected)}, got {quote(value)}")]

    return check


def one_of(allowed: list[Any], _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a value is one of `allowed`."""
    words = frozenset(value for value in allowed if isinstance(value, str))

    def check(value: Any) -> Violations:
        if value in words if type(value) is str else any(same(value, other) for other in allowed):
            return FINE
        return [("", f"{quote(value)} not in enum {jsonl.dump_ascii(allowed)}")]

    return check


def enum_from(key: str, schema: Schema, compiler: Compiler) -> Check | None:
    """Check that a value is one of the words that the layout gives under `key`."""
    if "enum" in schema:
        return None
    words = lookup(compiler.layout, key)
    allowed = [words] if isinstance(words, str) else words
    if not isinstance(allowed, list) or not allowed or not all(isinstance(word, str) for word in allowed):
        return None
    return one_of(allowed, schema, compiler)


def is_type(names: str | list[str], _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a value is of one of the named JSON types."""
    listed = _listed(names)
    kinds = frozenset(kind for name in listed for kind in TYPES[name])

    def check(value: Any) -> Violations:
        if type(value) in kinds:
            return FINE
        return [("", f"expected type {'/'.join(listed)}, got {type(value).__name__}")]

    return check


def min_length(limit: int, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a text has at least `limit` code points."""
    fault = [("", f"shorter than minLength {limit}")]
    return lambda value: fault if len(value) < limit else FINE


def max_length(limit: int, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a text has at most `limit` code points."""
    fault = [("", f"longer than maxLength {limit}")]
    return lambda value: fault if len(value) > limit else FINE


def pattern(source: str, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a text matches a pattern somewhere; `$` matches at the very end only."""
    search: Callable[[str], object] | None = None
    matched: set[str] = set()  # names of slices and agents come again and again

    def check(value: Any) -> Violations:
        nonlocal search
        if value in matched:
            return FINE
        if search is None:  # compiled when a value is there: many commands check none
            search = _compiled_search(source)
            if search is None:
                return _unusable(source)
        if not search(value):
            return [("", f"{quote(value)} does not match pattern {source}")]
        if len(matched) < REMEMBERED:
            matched.add(value)
        return FINE

    return check


def _compiled_search(source: str) -> Callable[[str], object] | None:
    import re

    try:
        return re.compile(python_pattern(source)).search
    except (re.error, OverflowError, RecursionError):
        return None


def pattern_from(key: str, schema: Schema, compiler: Compiler) -> Check | None:
    """Check a text against the pattern that the layout gives under `key`; it is not trusted (ledger.md 9.2)."""
    source = lookup(compiler.layout, key)
    if "pattern" in schema or not isinstance(source, str):
        return None
    from handoff_core.patterns import PatternError, linear_search

    try:
        search = linear_search(python_pattern(source))
    except PatternError:
        return lambda _value: _unusable(source)

    def check(value: Any) -> Violations:
        if len(value) > LAYOUT_VALUE_LIMIT:
            return [("", f"longer than {LAYOUT_VALUE_LIMIT} characters, too long for the layout pattern {key}")]
        try:
            matches = search(value)
        except PatternError:
            return _unusable(source)
        return FINE if matches else [("", f"{quote(value)} does not match pattern {source}")]

    return check


def date_time(_name: str, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a text is an ISO 8601 date-time with an offset that exists in the calendar."""
    common: Callable[[str], object] | None = None
    calls = 0

    def check(value: Any) -> Violations:
        nonlocal common, calls
        calls += 1
        if calls == 2:  # one stamp is not worth a pattern, a ledger of them is
            common = _common_date_time()
        if (common is not None and common(value)) or is_date_time(value):
            return FINE
        return [("", f"{quote(value)} is not an ISO 8601 date-time")]

    return check


def _common_date_time() -> Callable[[str], object]:
    """Return a quick test that only real date-times pass; those of a 29th, 30th and 31st are left to `is_date_time`."""
    import re

    date = r"(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    clock = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    return re.compile(rf"{date}T{clock}:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-]{clock})").fullmatch


def minimum(limit: float, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a number is at least `limit`."""

    def check(value: Any) -> Violations:
        return [("", f"{quote(value)} below minimum {limit}")] if value < limit else FINE

    return check


def maximum(limit: float, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a number is at most `limit`."""

    def check(value: Any) -> Violations:
        return [("", f"{quote(value)} above maximum {limit}")] if value > limit else FINE

    return check


def min_items(limit: int, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a list has at least `limit` items."""
    fault = [("", f"fewer than minItems {limit}")]
    return lambda value: fault if len(value) < limit else FINE


def max_items(limit: int, _schema: Schema, _compiler: Compiler) -> Check:
    """Check that a list has at most `limit` items."""
    fault = [("", f"more than maxItems {limit}")]
    return lambda value: fault if len(value) > limit else FINE


def items(schema: Schema, _parent: Schema, compiler: Compiler) -> Check:
    """Check every item of a list."""
    check_item = compiler.compile(schema)

    def check(value: Any) -> Violations:
        found: Violations = []
        for index, item in enumerate(value):
            below = check_item(item)
            if below:
                found += [(f"[{index}]{path}", text) for path, text in below]
        return found

    return check


def required(names: list[str], _schema: Schema, _compiler: Compiler) -> Check:
    """Check that an object has all the named fields."""
    wanted = frozenset(names)

    def check(value: Any) -> Violations:
        if value.keys() >= wanted:
            return FINE
        return [("", f"missing required field '{name}'") for name in names if name not in value]

    return check


def object_members(schema: Schema, compiler: Compiler) -> Check | None:
    """Check the fields of an object in their order: `properties` and `additionalProperties` together."""
    fields = {name: compiler.compile(below) for name, below in schema.get("properties", {}).items()}
    extra = schema.get("additionalProperties", True)
    if not fields and extra is True:
        return None
    other = compiler.compile(extra) if isinstance(extra, dict) else None
    tables = {name: field.table for name, field in fields.items() if isinstance(field, TypedCheck)}
    untyped: dict[type, Check] = {}

    def check(value: Any) -> Violations:
        found: Violations = []
        for name, member in value.items():
            # most fields are typed: their table is asked here, which spares a call for each of them
            check_field = tables.get(name, untyped).get(type(member)) or fields.get(name, other)
            if check_field is _nothing:
                continue
            if check_field is not None:
                below = check_field(member)
                if below:
                    found += [(f".{name}{path}", text) for path, text in below]
            elif extra is False:
                found.append(("", f"unexpected field '{name}' (additionalProperties: false)"))
        return found

    return check


TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}

ANY_KIND: tuple[type, ...] = ()
TEXT, NUMBER, ARRAY, OBJECT = (str,), (int, float), (list,), (dict,)

KEYWORDS: dict[str, tuple[tuple[type, ...], Keyword]] = {
    "const": (ANY_KIND, const),
    "enum": (ANY_KIND, one_of),
    "enumFrom": (ANY_KIND, enum_from),
    "type": (ANY_KIND, is_type),
    "minLength": (TEXT, min_length),
    "maxLength": (TEXT, max_length),
    "pattern": (TEXT, pattern),
    "patternFrom": (TEXT, pattern_from),
    "format": (TEXT, date_time),
    "minimum": (NUMBER, minimum),
    "maximum": (NUMBER, maximum),
    "minItems": (ARRAY, min_items),
    "maxItems": (ARRAY, max_items),
    "items": (ARRAY, items),
    "required": (OBJECT, required),
}
"""Each keyword with the kinds of values it judges and what makes its check, in the order of ledger.md 9.2.

A keyword of ANY_KIND decides: where one of them fails, the value's other keywords are not looked at.
"""

KNOWN = frozenset(KEYWORDS) | ANNOTATIONS | {"$ref", "properties", "additionalProperties", "definitions"}


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_size(value: object) -> bool:
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


FORMS: dict[str, Callable[[Any], bool]] = {
    "enum": lambda value: isinstance(value, list),
    "enumFrom": lambda value: isinstance(value, str),
    "type": lambda value: isinstance(value, str) or (_is_texts(value) and bool(value)),
    "minLength": _is_size,
    "maxLength": _is_size,
    "pattern": lambda value: isinstance(value, str),
    "patternFrom": lambda value: isinstance(value, str),
    "format": lambda value: value == "date-time",
    "minimum": _is_number,
    "maximum": _is_number,
    "minItems": _is_size,
    "maxItems": _is_size,
    "items": lambda value: isinstance(value, dict),
    "required": _is_texts,
    "properties": lambda value: isinstance(value, dict),
    "additionalProperties": lambda value: isinstance(value, (bool, dict)),
    "definitions": lambda value: isinstance(value, dict),
}
"""What the value of a keyword must look like; any other value is a schema error at its place."""


def python_pattern(source: str) -> str:
    r"""Return a schema's pattern for Python: `$` outside a class becomes `\Z` (ledger.md 9.2)."""
    if "$" not in source:
        return source
    import re

    return re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", lambda found: r"\Z" if found[0] == "$" else found[0], source)


def is_date_time(value: str) -> bool:
    """Say whether `value` is `YYYY-MM-DDThh:mm:ss[.f](Z|±hh:mm)` and exists in the calendar (ledger.md 9.2)."""
    clock, date = value[11:19], value[:10]
    if len(value) < 20 or not value.isascii() or date[4::3] != "--" or value[10] != "T" or clock[2::3] != "::":
        return False
    rest = value[19:]
    if rest[0] == ".":
        rest = rest[1:].lstrip("0123456789")
        if not rest or value[-len(rest) - 1] == ".":
            return False
    if rest != "Z" and (len(rest) != 6 or rest[0] not in "+-" or rest[3] != ":"):
        return False
    zone = ("00", "00") if rest == "Z" else (rest[1:3], rest[4:])
    parts = (date[:4], date[5:7], date[8:], clock[:2], clock[3:5], clock[6:], *zone)
    if not all(map(str.isdigit, parts)):
        return False
    year, month, day, hour, minute, second, offset_hour, offset_minute = map(int, parts)
    exists = year > 0 and 1 <= month <= 12 and 1 <= day <= _days(year, month)
    return exists and max(hour, offset_hour) < 24 and max(minute, second, offset_minute) < 60


def _days(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _chain(deciding: list[Check], by_kind: dict[type, list[Check]]) -> Check:
    """Return one check: the deciding ones until the first that fails, then all of the value's kind."""
    if len(deciding) == 1 and not by_kind:
        return deciding[0]
    table = {kind: _all(checks) for kind, checks in by_kind.items()}

    def check(value: Any) -> Violations:
        for decides in deciding:
            found = decides(value)
            if found:
                return found
        check_kind = table.get(type(value))
        return check_kind(value) if check_kind is not None else FINE

    return check


class TypedCheck:
    """The check of a schema that decides by type alone, the commonest: one look-up serves both steps."""

    __slots__ = ("_check_type", "table")

    def __init__(self, names: str | list[str], check_type: Check, by_kind: dict[type, list[Check]]) -> None:
        kinds = {kind for name in _listed(names) for kind in TYPES[name]}
        self.table = {kind: _all(by_kind[kind]) if kind in by_kind else _nothing for kind in kinds}
        self._check_type = check_type

    def __call__(self, value: Any) -> Violations:
        """Return the violations of `value`."""
        return self.table.get(type(value), self._check_type)(value)


def _nothing(_value: Any) -> Violations:
    return FINE


def _all(checks: list[Check]) -> Check:
    """Return one check that reports what all of `checks` find."""
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> Violations:
        found = FINE
        for one in checks:
            below = one(value)
            if below:
                found = [*found, *below]
        return found

    return check


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _subschemas(schema: Schema) -> Iterable[tuple[str, object]]:
    for word in ("properties", "definitions"):
        for name, below in schema.get(word, {}).items():
            yield f"{word}/{_escaped(name)}", below
    if isinstance(schema.get("additionalProperties"), dict):
        yield "additionalProperties", schema["additionalProperties"]
    if "items" in schema:
        yield "items", schema["items"]


def _escaped(word: str) -> str:
    return word.replace("~", "~0").replace("/", "~1")


def _unsupported(pointer: str) -> SchemaError:
    return SchemaError(f"schema: unsupported keyword at {pointer} — extend the handoff.py mini-validator first")


def _unusable(source: str) -> Violations:
    where = "check its patternFrom source in scripts/layout.toml"
    return [("", f"schema pattern '{source}' is not a valid regex ({where})")]


def _misspelled_keys(value: dict[str, object], schema: Schema) -> list[str]:
    declared = schema.get("properties", {})
    lacking = [key for key in declared if key not in value]
    found = []
    for key in value:
        near = _nearest(key, lacking) if key not in declared else None
        if near is not None:
            found.append(f"unknown field '{key}' — did you mean '{near}'?")
    return found


def _nearest(key: str, candidates: list[str]) -> str | None:
    """Return the declared key that `key` is a slip of, None if none is near enough."""
    nearest, least = None, 3
    for candidate in candidates:
        distance = _slip(key, candidate)
        if distance is not None and distance < least:
            nearest, least = candidate, distance
    return nearest


def _slip(key: str, declared: str) -> int | None:
    if _folded(key) == _folded(declared):
        return 0
    return edit_distance(key, declared, 1 if len(declared) <= 5 else 2)


def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").casefold()
