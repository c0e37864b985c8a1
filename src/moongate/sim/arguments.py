"""Values generated from a JSON Schema: arguments of calls, and answers in a wanted format.

Deterministic. A value fits its schema wherever the schema stays within Moonshot's flavour (kimi/schema).
"""

from __future__ import annotations

from typing import Final

from moongate.payload import JsonObject
from moongate.sim.bounded_values import number_for, string_for, type_of

PLAIN_DEPTH: Final = 4  # below this only what is required is generated, so that recursive schemas end
MAX_DEPTH: Final = 32  # and here they end even if they cannot
MAX_VALUES: Final = 5000  # of one instance
MAX_ITEMS: Final = 1000
MAX_LOOKED_AT: Final = 5000  # schemas, to find branches that end

AWKWARD: Final = '"quoted" \\ back\nline\ttab é 你好 🚀 {n}'


def arguments_for(parameters: object, n: int, *, awkward: str = "") -> JsonObject:
    """An argument object for one call. `n` makes the calls of a conversation distinguishable."""
    value = instance_of(parameters, n)
    if not isinstance(value, dict):
        return {}
    if awkward:
        key = next((key for key, member in value.items() if isinstance(member, str)), None)
        if key is not None:
            value[key] = awkward.replace("{n}", str(n))
    return value


def instance_of(schema: object, n: int) -> object:
    """A value that fits the schema; an empty object for what is no schema, or one that says nothing."""
    if not isinstance(schema, dict) or not schema:
        return {}
    return _Instance(schema, n).value(schema, "value", 0)


class _Instance:
    """One value in the making. The number of values in it is bounded."""

    def __init__(self, root: JsonObject, n: int) -> None:
        self._root = root
        self._n = n
        self._made = 0
        self._looked_at = 0

    def value(self, schema: object, key: str, depth: int) -> object:
        self._made += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._made > MAX_VALUES:
            return f"{key} {self._n}"
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        options = schema.get("enum")
        if isinstance(options, list) and options:
            return next((option for option in options if option is not None), None)
        branches = [b for word in ("anyOf", "oneOf") for b in _list(schema.get(word)) if isinstance(b, dict)]
        if branches and not schema.get("properties"):
            return self.value(self._branch(branches, depth), key, depth + 1)
        parts = [self._resolved(part) for part in _list(schema.get("allOf")) if isinstance(part, dict)]
        if parts:
            schema = _together([schema, *parts])
        return self._typed(schema, key, depth)

    def _branch(self, branches: list[JsonObject], depth: int) -> JsonObject:
        resolved = [self._resolved(branch) for branch in branches]
        if depth > PLAIN_DEPTH:
            return min(resolved, key=lambda branch: (not self._ends(branch, ()), _cost(branch)))
        wanted = [branch for branch in resolved if branch.get("type") != "null"]
        return next((branch for branch in (*wanted, *resolved) if self._ends(branch, ())), resolved[0])

    def _can_end(self, schema: object) -> bool:
        return not isinstance(schema, dict) or self._ends(schema, ())

    def _ends(self, schema: JsonObject, above: tuple[int, ...]) -> bool:
        """Whether what the schema requires does not lead back to itself."""
        schema = self._resolved(schema)
        self._looked_at += 1
        if id(schema) in above or len(above) > MAX_DEPTH:
            return False
        if self._looked_at > MAX_LOOKED_AT:
            return True
        above = (*above, id(schema))
        branches = [each for word in ("anyOf", "oneOf") for each in _list(schema.get(word)) if isinstance(each, dict)]
        if branches and not any(self._ends(each, above) for each in branches):
            return False
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        needed = [properties.get(name) for name in _list(schema.get("required")) if isinstance(name, str)]
        if isinstance(schema.get("minItems"), int) and schema["minItems"] > 0:
            needed.append(schema.get("items"))
        return all(self._ends(each, above) for each in needed if isinstance(each, dict))

    def _typed(self, schema: JsonObject, key: str, depth: int) -> object:
        match type_of(schema, shortest=depth > PLAIN_DEPTH):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, key, depth)
            case "integer":
                return number_for(schema, key, self._n, whole=True)
            case "number":
                return number_for(schema, key, self._n, whole=False)
            case "boolean":
                return self._n % 2 == 0
            case "null":
                return None
            case _:
                return string_for(schema, key, self._n)

    def _array(self, schema: JsonObject, key: str, depth: int) -> list[object]:
        first = [self.value(each, key, depth + 1) for each in _list(schema.get("prefixItems"))[:MAX_ITEMS]]
        least, most = schema.get("minItems"), schema.get("maxItems")
        count = least if isinstance(least, int) else 0 if depth > PLAIN_DEPTH or first else 1
        if not least and not self._can_end(schema.get("items")):
            count = 0
        if isinstance(most, int):
            count = min(count, most)
        count = min(count, MAX_ITEMS) - len(first)
        if count <= 0:
            return first
        if schema.get("uniqueItems") is True:
            return first + [_Instance(self._root, self._n + i).value(schema.get("items"), key, 0) for i in range(count)]
        return first + [self.value(schema.get("items"), key, depth + 1)] * count

    def _object(self, schema: JsonObject, depth: int) -> JsonObject:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        keys = [key for key in _list(schema.get("required")) if isinstance(key, str) and key in properties]
        if not keys and depth <= PLAIN_DEPTH:
            keys = next(([key] for key, inner in properties.items() if self._can_end(inner)), [])
        return {key: self.value(properties[key], key, depth + 1) for key in keys}

    def _resolved(self, schema: JsonObject) -> JsonObject:
        """Follow local references, a bounded number of times."""
        for _ in range(MAX_DEPTH):
            ref = schema.get("$ref")
            if not isinstance(ref, str) or not ref.startswith("#"):
                return schema
            found: object = self._root
            for part in ref.lstrip("#/").split("/") if ref.strip("#/") else []:
                name = part.replace("~1", "/").replace("~0", "~")
                found = found.get(name) if isinstance(found, dict) else None
            schema = found if isinstance(found, dict) else {}
        return {}


def _cost(schema: JsonObject) -> int:
    """How much has to be generated for a branch, roughly: a branch that ends comes first."""
    match type_of(schema, shortest=True):
        case "null":
            return 0
        case "array":
            return 3 if schema.get("minItems") else 1
        case "object":
            return 3 if schema.get("required") else 1
        case _:
            return 4 if "$ref" in schema or "anyOf" in schema else 1


def _together(schemas: list[JsonObject]) -> JsonObject:
    """Several schemas as one: properties and required names of all, otherwise the last word."""
    merged: JsonObject = {}
    for schema in schemas:
        properties = {**(merged.get("properties") or {}), **(schema.get("properties") or {})}
        required = [*_list(merged.get("required")), *_list(schema.get("required"))]
        merged = {**merged, **schema}
        merged |= ({"properties": properties} if properties else {}) | ({"required": required} if required else {})
    return merged


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
