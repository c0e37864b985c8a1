"""The keywords with regular expressions, and those that are not checked at all."""

from __future__ import annotations

from typing import Final

from moongate.kimi.guard.check import Mismatch, Path, SchemaCheck, rule
from moongate.kimi.guard.pattern import pattern_of
from moongate.payload import JsonObject

_UNCHECKED: Final = ("$dynamicRef", "$recursiveRef")


@rule("pattern", "string")
def pattern(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    wanted = schema["pattern"]
    if not isinstance(wanted, str) or is_found(check, wanted, str(value)):
        return None
    return Mismatch(path, f"must match the pattern {wanted}")


@rule("patternProperties", "object")
def pattern_properties(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, dict)
    for name, member in value.items():
        for each in matching(check, schema, name) or ():
            found = check.find(each, member, (*path, name))
            if found is not None:
                return found
    return None


def is_found(check: SchemaCheck, wanted: str, text: str) -> bool:
    """Does the text match? Yes, with a doubt, if that is not checked."""
    check.spend(1)  # to find it takes time, too: a schema may have thousands, for thousands of properties
    found = pattern_of(wanted, check.spend)
    is_in = None if found is None else found.is_found_in(text, check.spend)
    check.doubts += is_in is None
    return is_in is not False


def matching(check: SchemaCheck, schema: JsonObject, name: str) -> list[object] | None:
    """The schemas that `patternProperties` has for a property; None if that is not checked."""
    declared = schema.get("patternProperties")
    if not isinstance(declared, dict):
        return []
    before = check.doubts
    found = [part for wanted, part in declared.items() if is_found(check, wanted, name)]
    return found if check.doubts == before else None


def schemas_of(check: SchemaCheck, schema: JsonObject, name: str) -> list[object]:
    """The schemas that are applied to a property, as far as they are known."""
    declared = schema.get("properties")
    found = [declared[name]] if isinstance(declared, dict) and name in declared else []
    matched = matching(check, schema, name)
    if found or matched is None:
        return [*found, *(matched or ())]
    return matched or [schema.get("additionalProperties")]


def _declare_unchecked(keyword: str) -> None:
    @rule(keyword)
    def doubt(check: SchemaCheck, _schema: JsonObject, _value: object, _path: Path) -> Mismatch | None:
        check.doubts += 1
        return None


for _keyword in _UNCHECKED:
    _declare_unchecked(_keyword)
