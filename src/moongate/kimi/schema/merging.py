"""Schemas that hold together (`allOf`, keywords beside a `$ref`) and schemas of which one holds (at the root).

Everything here works one level deep: what meets on the next level is left there as an `allOf` or `anyOf` of the two,
for whoever comes there. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moongate.kimi.schema.keywords import LOWER_BOUNDS, UPPER_BOUNDS, is_number
from moongate.kimi.schema.values import types_of, without
from moongate.payload import JsonObject, dumps_text


def together(parts: Sequence[JsonObject]) -> JsonObject:
    """What holds if all `parts` hold, `anyOf` excepted. Of annotations the first one counts."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, list[Any]] = {}
    for part in parts:
        for keyword, value in part.items():
            values.setdefault(keyword, []).append(value)
    return {keyword: _joined(keyword, found) if len(found) > 1 else found[0] for keyword, found in values.items()}


def _joined(keyword: str, found: list[Any]) -> Any:
    if keyword == "type":
        return common_types(found)
    if keyword == "properties":
        return _joined_properties(found)
    if keyword == "required":
        return [name for names in found if isinstance(names, list) for name in names]
    if keyword == "enum":
        return _common_values(found)
    if keyword == "items":
        return {"allOf": found}
    if keyword == "additionalProperties":
        return False if any(value is False for value in found) else {"allOf": found}
    if keyword in LOWER_BOUNDS or keyword in UPPER_BOUNDS:
        bounds = [value for value in found if is_number(value)]
        return (max if keyword in LOWER_BOUNDS else min)(bounds, default=None)
    return found[0]


def common_types(found: Sequence[Any]) -> list[str]:
    """The types that all of these `type`s name; where they contradict each other, the first one stands."""
    common: list[str] = []
    for value in found:
        types = types_of(value)
        if not common:
            common = types
        elif types:
            common = [kind for left in common if (kind := _narrower(left, types))] or common
    return common


def _narrower(name: str, types: list[str]) -> str:
    if name in types:
        return name
    if name == "number" and "integer" in types:
        return "integer"
    return name if name == "integer" and "number" in types else ""


def _joined_properties(found: list[Any]) -> JsonObject:
    gathered: dict[str, list[Any]] = {}
    for properties in found:
        if isinstance(properties, dict):
            for name, schema in properties.items():
                gathered.setdefault(name, []).append(schema)
    return {name: schemas[0] if len(schemas) == 1 else {"allOf": schemas} for name, schemas in gathered.items()}


def _common_values(lists: list[Any]) -> Any:
    """The values that all of these enums have; where they contradict each other, the first one stands. Linear in the
    size of all of them together."""
    if not isinstance(lists[0], list):
        return lists[0]
    identities = list(map(_identity, lists[0]))
    common = set(identities)
    for values in lists[1:]:
        if isinstance(values, list):
            common = common.intersection(map(_identity, values)) or common
    return [value for value, identity in zip(lists[0], identities, strict=True) if identity in common]


def _identity(value: Any) -> str:
    """Equal for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    return dumps_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def either(own: JsonObject, alternatives: Sequence[JsonObject]) -> JsonObject:
    """One object for `own` with one of the `alternatives`: all properties, and only what each of them requires."""
    merged = without(own, "anyOf")
    owned = _properties(own)
    gathered: dict[str, dict[str, Any]] = {}
    for alternative in alternatives:
        for name, schema in _properties(alternative).items():
            gathered.setdefault(name, {})[dumps_text(schema)] = schema
    properties = dict(owned)
    for name, schemas in gathered.items():
        schema = next(iter(schemas.values())) if len(schemas) == 1 else {"anyOf": list(schemas.values())}
        if name not in owned:
            properties[name] = schema
        elif all(name in _properties(alternative) for alternative in alternatives):
            properties[name] = {"allOf": [owned[name], schema]}
    merged["type"] = "object"
    merged["properties"] = properties
    required = [*_required(own), *_required_by_all(alternatives)]
    if required:
        merged["required"] = required
    if "additionalProperties" not in own:
        others = {dumps_text(alternative.get("additionalProperties")) for alternative in alternatives}
        if len(others) == 1 and "additionalProperties" in alternatives[0]:
            merged["additionalProperties"] = alternatives[0]["additionalProperties"]
    return merged


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _required_by_all(alternatives: Sequence[JsonObject]) -> list[str]:
    common = _required(alternatives[0])
    for alternative in alternatives[1:]:
        also = set(_required(alternative))
        common = [name for name in common if name in also]
    return common
