"""Schemas that hold together (`allOf`, words beside a `$ref`) and schemas of which one holds (at the root).

Everything here works on schemas as they came, one level deep: what meets on the next level is left there as an
`allOf` or `anyOf` of the two, for whoever goes there. So the work is linear, and nothing recurses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moongate.kimi.schema.words import LOWER_BOUNDS, STRUCTURE, TYPES, UPPER_BOUNDS, WORDS, is_bound
from moongate.payload import JsonObject, dumps

MAX_CROSSED_UNIONS: Final = 4  # `anyOf`s that hold together are multiplied out, within reason:
MAX_CROSSED_BRANCHES: Final = 16  # past this, the later ones are left out, which only takes in more


def plain(schema: JsonObject) -> JsonObject:
    """The words of `schema` that the flavour has, other spellings of them included (`const`, `oneOf`, tuples).

    References and `allOf` are not among them. Values may still be wrong.
    """
    words = {word: value for word, value in schema.items() if word in WORDS}
    if "enum" in words and not (isinstance(words["enum"], list) and words["enum"]):
        del words["enum"]
    if "prefixItems" in schema or isinstance(words.get("items"), list):
        _untuple(schema, words)
    if STRUCTURE.isdisjoint(schema):
        return words
    if "const" in schema:
        words["enum"] = [schema["const"]]
    if isinstance(schema.get("patternProperties"), dict):
        _take_in_patterns(schema["patternProperties"], words)
    unions = [schema[word] for word in ("anyOf", "oneOf") if isinstance(schema.get(word), list) and schema[word]]
    if unions:
        words["anyOf"] = crossed(unions)
    return words


def _untuple(schema: JsonObject, words: JsonObject) -> None:
    items, branches = schema.get("items"), []
    for listed in (schema.get("prefixItems"), items):
        if isinstance(listed, list):
            branches += listed
    rest = schema.get("additionalItems") if isinstance(items, list) else items
    if isinstance(rest, dict) and rest:
        branches.append(rest)
    words.pop("items", None)
    if branches:
        words["items"] = {"anyOf": branches}


def _take_in_patterns(patterns: JsonObject, words: JsonObject) -> None:
    """Without its patterns a closed object would refuse the names that they let in."""
    others = words.get("additionalProperties", True)
    if others is False:
        branches = list(patterns.values())
    elif isinstance(others, dict) and others:
        branches = [others, *patterns.values()]
    else:
        return
    if len(branches) == 1:
        words["additionalProperties"] = branches[0]
    elif branches:
        words["additionalProperties"] = {"anyOf": branches}


def crossed(unions: Sequence[list[Any]]) -> list[Any]:
    """One union for several that hold together."""
    product = unions[0]
    for union in unions[1:MAX_CROSSED_UNIONS]:
        if len(product) * len(union) <= MAX_CROSSED_BRANCHES:
            product = [{"allOf": [left, right]} for left in product for right in union]
    return product


def together(parts: Sequence[JsonObject]) -> JsonObject:
    """What holds if all `parts` hold. Each is `plain`; on annotations the earlier one has the say."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, list[Any]] = {}
    for part in parts:
        for word, value in part.items():
            values.setdefault(word, []).append(value)
    return {word: _joined(word, found) if len(found) > 1 else found[0] for word, found in values.items()}


def _joined(word: str, found: list[Any]) -> Any:
    if word == "type":
        return common_types(found)
    if word == "properties":
        return _joined_properties(found)
    if word == "required":
        return [name for names in found if isinstance(names, list) for name in names]
    if word == "enum":
        return _common_values(found)
    if word == "anyOf":
        return crossed(found)
    if word == "items":
        return {"allOf": found}
    if word == "additionalProperties":
        return False if any(value is False for value in found) else {"allOf": found}
    if word in LOWER_BOUNDS or word in UPPER_BOUNDS:
        bounds = [value for value in found if is_bound(word, value)]
        return (max if word in LOWER_BOUNDS else min)(bounds, default=None)
    return found[0]


def types_of(value: Any) -> list[str]:
    """The types that a `type` names, each once, in any case; none if it names none that there is."""
    if value.__class__ is str and value in TYPES:
        return [value]
    named = value if isinstance(value, list) else [value]
    lowered = [name.lower() for name in named if isinstance(name, str)]
    return [name for name in dict.fromkeys(lowered) if name in TYPES]


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


def _common_values(lists: list[list[Any]]) -> list[Any]:
    common = lists[0]
    for values in lists[1:]:
        known = {_identity(value) for value in values}
        kept = [value for value in common if _identity(value) in known]
        if not kept:  # a contradiction: the first one stands
            break
        common = kept
    return common


def _identity(value: Any) -> bytes:
    """Equal for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    return dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def either(own: JsonObject, alternatives: Sequence[JsonObject]) -> JsonObject:
    """One object for `own` with one of the `alternatives`: all properties, and only what each of them requires."""
    merged = {word: value for word, value in own.items() if word != "anyOf"}
    owned = _properties(own)
    gathered: dict[str, dict[bytes, Any]] = {}
    counts: dict[str, int] = {}
    for alternative in alternatives:
        for name, schema in _properties(alternative).items():
            gathered.setdefault(name, {})[dumps(schema)] = schema
            counts[name] = counts.get(name, 0) + 1
    properties = dict(owned)
    for name, schemas in gathered.items():
        several = list(schemas.values())
        schema = several[0] if len(several) == 1 else {"anyOf": several}
        if name not in owned:
            properties[name] = schema
        elif counts[name] == len(alternatives):
            properties[name] = {"allOf": [owned[name], schema]}
    merged["properties"] = properties
    merged["required"] = [*_required(own), *_required_by_all(alternatives)]
    if "additionalProperties" not in own:
        others = {dumps(alternative.get("additionalProperties")) for alternative in alternatives}
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
