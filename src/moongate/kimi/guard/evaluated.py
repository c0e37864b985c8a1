"""Which properties a schema speaks of: for `unevaluatedProperties`, and for what may be left out of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moongate.kimi.guard.check import MEMBERS_PER_STEP, Mismatch, Path, SchemaCheck, rule
from moongate.payload import JsonObject

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_OF_ALL: Final = ("additionalProperties", "unevaluatedProperties", "patternProperties")


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
    """The names that `properties` declares here and in the parts of the schema that the value fits; None: any name.

    `anyway`: in all parts, also in those that the value does not fit. Raises TooMuchWork.
    """
    if schema.get("patternProperties"):
        return None
    declared = schema.get("properties")
    names = set[str](declared) if isinstance(declared, dict) else set[str]()
    check.spend(1 + len(names) // MEMBERS_PER_STEP)
    check.descend()
    try:
        for part in _parts(check, schema, value, anyway=anyway):
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


def _parts(check: SchemaCheck, schema: JsonObject, value: JsonObject, *, anyway: bool) -> Iterator[object]:
    """The schemas that are applied to the same value."""
    if "$ref" in schema:
        yield check.resolve(schema["$ref"])
    for word in _LISTS:
        parts = schema.get(word)
        yield from parts if isinstance(parts, list) else ()
    if "if" in schema:
        yield schema["if"]
        fits = check.fits(schema["if"], value)
        for word, applies in (("then", fits), ("else", not fits)):
            if word in schema and (anyway or applies):
                yield schema[word]
    for word in ("dependentSchemas", "dependencies"):
        depending = schema.get(word)
        for name, part in depending.items() if isinstance(depending, dict) else ():
            if anyway or name in value:
                yield part
