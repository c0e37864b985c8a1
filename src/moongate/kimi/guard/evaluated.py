"""Which properties and items a schema speaks of: for `unevaluatedProperties`, `unevaluatedItems`, and for what may be
left out of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moongate.kimi.guard.check import MEMBERS_PER_STEP, Mismatch, Path, SchemaCheck, rule
from moongate.kimi.guard.patterns import matching
from moongate.payload import JsonObject

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_OF_ALL: Final = ("additionalProperties", "unevaluatedProperties")


@rule("unevaluatedProperties", "object")
def unevaluated(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, dict)
    allowed = schema["unevaluatedProperties"]
    if "additionalProperties" in schema or (not isinstance(allowed, dict) and allowed is not False):
        return None
    names = evaluated(check, schema, value)
    check.spend(len(value))
    for name in value if names is not None else ():
        if names is not None and name not in names:
            found = check.find(allowed, value[name], (*path, name))
            if found is not None:
                return Mismatch(path, f"the property {name!r} is not allowed") if allowed is False else found
    return None


def evaluated(check: SchemaCheck, schema: JsonObject, value: JsonObject, *, anyway: bool = False) -> set[str] | None:
    """The names that are declared here and in the parts of the schema that the value fits; None: any name.

    `anyway`: in all parts, also in those that the value does not fit. Raises TooMuchWork.
    """
    declared = schema.get("properties")
    names = set[str](declared) if isinstance(declared, dict) else set[str]()
    if schema.get("patternProperties"):
        names.update(name for name in value if matching(check, schema, name) != [])
    check.spend(1 + len(names) // MEMBERS_PER_STEP)
    check.descend()
    try:
        for part in _parts(check, schema, value, anyway=anyway):
            if part is None:
                return None  # it is not known what it declares
            if not isinstance(part, dict) or not (anyway or check.fits(part, value)):
                continue
            if any(word in part and not (anyway and part[word] is False) for word in _OF_ALL):
                return None  # where another part is closed, what it does not know may still be declared elsewhere
            found = evaluated(check, part, value, anyway=anyway)
            if found is None:
                return None
            check.spend(len(found) // MEMBERS_PER_STEP)
            names |= found
    finally:
        check.ascend()
    return names


@rule("unevaluatedItems", "array")
def unevaluated_items(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, list)
    known = _evaluated_items(check, {**schema, "unevaluatedItems": None}, value)
    check.spend(len(value))
    for at, item in enumerate(value) if known is not None else ():
        if known is not None and at not in known:
            found = check.find(schema["unevaluatedItems"], item, (*path, at))
            if found is not None:
                return found
    return None


def _evaluated_items(check: SchemaCheck, schema: JsonObject, value: list[object]) -> set[int] | None:
    """The places of the items that the schema speaks of, and the parts of it that the value fits; None: all."""
    items, prefix = schema.get("items"), schema.get("prefixItems")
    if isinstance(items, dict | bool) or "additionalItems" in schema or schema.get("unevaluatedItems") is not None:
        return None
    positions = items if isinstance(items, list) else prefix if isinstance(prefix, list) else []
    places = set(range(len(positions)))
    if "contains" in schema:
        places |= {at for at, item in enumerate(value) if check.fits(schema["contains"], item)}
    check.descend()
    try:
        for part in _parts(check, schema, value, anyway=False):
            found = (
                _evaluated_items(check, part, value) if isinstance(part, dict) and check.fits(part, value) else set()
            )
            if part is None or found is None:
                return None
            places |= found
    finally:
        check.ascend()
    return places


def _parts(check: SchemaCheck, schema: JsonObject, value: object, *, anyway: bool) -> Iterator[object]:
    """The schemas that are applied to the same value; None: one that cannot be read."""
    if "$ref" in schema:
        yield check.resolve(schema["$ref"])
    for word in _LISTS:
        parts = schema.get(word)
        yield from parts if isinstance(parts, list) else ()
    if "if" in schema:
        yield schema["if"]
        fits = check.surely_fits(schema["if"], value)
        for word, excluded in (("then", False), ("else", True)):
            if word in schema and (anyway or fits is not excluded):
                yield schema[word]
    for word in ("dependentSchemas", "dependencies"):
        depending = schema.get(word)
        for name, part in depending.items() if isinstance(depending, dict) else ():
            if anyway or (isinstance(value, dict) and name in value):
                yield part
