"""The keywords of JSON Schema, each a small function. A keyword whose own value makes no sense refuses nothing."""

from __future__ import annotations

from typing import Final

from moongate.kimi.guard.check import Mismatch, Path, SchemaCheck, has_type, rule, type_of, wanted_types
from moongate.kimi.guard.equality import equal, is_among
from moongate.kimi.guard.patterns import matching
from moongate.payload import JsonObject, dumps_text

MANY_TYPES: Final = 7  # there are no more
_SHOWN: Final = 80  # characters of a value in a message


def shown(value: object) -> str:
    text = dumps_text(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@rule("$ref")
def reference(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    named = check.resolve(schema["$ref"])
    check.doubts += named is None
    return check.find(named, value, path)


@rule("type")
def types(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    wanted = wanted_types(schema)
    if len(wanted) > MANY_TYPES:
        check.spend(len(wanted))
    if has_type(value, wanted):
        return None
    return Mismatch(path, lambda: f"must be {' or '.join(wanted)}, not {type_of(value)} {shown(value)}")


@rule("enum")
def enumeration(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    options = schema["enum"]
    if not isinstance(options, list):
        return None
    check.spend(len(options))
    if is_among(check, value, options):
        return None
    return Mismatch(path, lambda: f"must be one of {shown(options)}, not {shown(value)}")


@rule("const")
def constant(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    wanted = schema["const"]
    return None if equal(check, value, wanted) else Mismatch(path, lambda: f"must be {shown(wanted)}")


@rule("required", "object")
def required(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, dict)
    names = schema["required"]
    if not isinstance(names, list):
        return None
    check.spend(len(names))
    for name in names:
        if isinstance(name, str) and name not in value:
            return Mismatch(path, f"the required property {name!r} is missing")
    return None


@rule("properties", "object")
def properties(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, dict)
    declared = schema["properties"]
    if not isinstance(declared, dict):
        return None
    check.spend(len(value))
    for name, member in value.items():
        if name in declared:
            found = check.find(declared[name], member, (*path, name))
            if found is not None:
                return found
    return None


def undeclared(check: SchemaCheck, schema: JsonObject, value: JsonObject) -> list[str]:
    """The properties that `additionalProperties` speaks of."""
    declared = schema.get("properties")
    unknown = [name for name in value if not isinstance(declared, dict) or name not in declared]
    return [name for name in unknown if matching(check, schema, name) == []]


@rule("additionalProperties", "object")
def additional(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, dict)
    allowed = schema["additionalProperties"]
    if not isinstance(allowed, dict) and allowed is not False:
        return None
    check.spend(len(value))
    for name in undeclared(check, schema, value):
        if allowed is False:
            return Mismatch(path, f"the property {name!r} is not allowed")
        found = check.find(allowed, value[name], (*path, name))
        if found is not None:
            return found
    return None


@rule("propertyNames", "object")
def property_names(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, dict)
    for name in value:
        if check.find(schema["propertyNames"], name, path) is not None:
            return Mismatch(path, f"the property name {name!r} is not allowed")
    return None


def _declare_dependents(keyword: str) -> None:
    @rule(keyword, "object")
    def dependents(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
        assert isinstance(value, dict)
        for needed in _depending(check, schema[keyword], value):
            found = check.find({"required": needed} if isinstance(needed, list) else needed, value, path)
            if found is not None:
                return found
        return None


for _keyword in ("dependentRequired", "dependentSchemas", "dependencies"):  # the last: both, before draft 2019-09
    _declare_dependents(_keyword)


def _depending(check: SchemaCheck, rules: object, value: JsonObject) -> list[object]:
    """What holds because the value has certain properties."""
    if not isinstance(rules, dict):
        return []
    check.spend(len(rules))
    return [each for name, each in rules.items() if name in value]


@rule("allOf")
def all_of(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    for each in schema["allOf"] if isinstance(schema["allOf"], list) else ():
        found = check.find(each, value, path)
        if found is not None:
            return found
    return None


@rule("anyOf")
def any_of(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    branches = schema["anyOf"]
    if not isinstance(branches, list) or not branches:
        return None
    first: Mismatch | None = None
    before = check.doubts
    for each in branches:
        found = check.find(each, value, path)
        if found is None:
            return None
        check.doubts = before
        first = first or found
    if len(branches) == 1:
        return first
    return Mismatch(path, lambda: f"fits none of {len(branches)} allowed forms: {shown(value)}")


@rule("oneOf")
def one_of(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    branches = schema["oneOf"]
    if not isinstance(branches, list) or not branches:
        return None
    fits = [check.surely_fits(each, value) for each in branches]
    if fits.count(True) < 2 and fits.count(False) < len(fits):
        return None
    count = "more than one" if True in fits else "none"
    return Mismatch(path, lambda: f"fits {count} of {len(branches)} forms, of which it must fit one: {shown(value)}")


@rule("not")
def negation(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    if not isinstance(schema["not"], dict | bool) or not check.surely_fits(schema["not"], value):
        return None
    return Mismatch(path, "has a form that is not allowed")


@rule("if")
def condition(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    fits = check.surely_fits(schema["if"], value)
    found = None if fits is False else check.find(schema.get("then"), value, path)
    if fits is False or (fits is None and found is not None):
        return check.find(schema.get("else"), value, path)
    return found


@rule("items", "array")
def items(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, list)
    each, prefix = schema["items"], schema.get("prefixItems")
    if isinstance(each, list):  # before draft 2020-12
        return _positions(check, each, value, path)
    start = len(prefix) if isinstance(prefix, list) else 0
    for at in range(start, len(value)):
        found = check.find(each, value[at], (*path, at))
        if found is not None:
            return found
    return None


@rule("prefixItems", "array")
def prefix_items(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, list)
    prefix = schema["prefixItems"]
    return _positions(check, prefix, value, path) if isinstance(prefix, list) else None


def _positions(check: SchemaCheck, schemas: list[object], value: list[object], path: Path) -> Mismatch | None:
    for at, (each, member) in enumerate(zip(schemas, value, strict=False)):
        found = check.find(each, member, (*path, at))
        if found is not None:
            return found
    return None


@rule("additionalItems", "array")
def additional_items(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, list)
    positions = schema.get("items")
    if not isinstance(positions, list):
        return None
    for at in range(len(positions), len(value)):
        found = check.find(schema["additionalItems"], value[at], (*path, at))
        if found is not None:
            return found
    return None


@rule("contains", "array")
def contains(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, list)
    fits = [check.surely_fits(schema["contains"], each) for each in value]
    found = len(fits) - fits.count(False)
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    if (isinstance(least, int) and found < least) or (isinstance(most, int) and fits.count(True) > most):
        return Mismatch(path, f"has {found} items of a form of which another number is wanted")
    return None
