"""Does a schema accept a value? A small checker of our own, in the reading of section 10.

That reading is narrower than JSON Schema in four places, all of which the section wants: `properties` without a type
speak of objects, `items` of arrays; an enum without a type does not take null; a tuple takes no other elements.
"""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.merging import types_of
from moongate.kimi.schema.references import References
from moongate.kimi.schema.words import has_type, is_bound

Asked = frozenset[tuple[int, int]]


class Checker:
    def __init__(self, root: dict[str, Any]) -> None:
        self._references = References(root, "")

    def accepts(self, schema: Any, value: Any, asked: Asked = frozenset()) -> bool:
        if not isinstance(schema, dict):
            return schema is not False
        question = (id(schema), id(value))
        if question in asked:
            return True  # a reference that leads back here says nothing
        asked |= {question}
        return (
            self._type(schema, value)
            and self._enum(schema, value)
            and self._bounds(schema, value)
            and self._combined(schema, value, asked)
            and (not isinstance(value, dict) or self._object(schema, value))
            and (not isinstance(value, list) or self._array(schema, value))
        )

    def _type(self, schema: dict[str, Any], value: Any) -> bool:
        types = types_of(schema.get("type"))
        if not types and isinstance(schema.get("properties"), dict):
            types = ["object"]
        elif not types and ("items" in schema or schema.get("prefixItems")):
            types = ["array"]
        return not types or any(has_type(value, name) for name in types)

    def _enum(self, schema: dict[str, Any], value: Any) -> bool:
        values = schema.get("enum")
        if isinstance(values, list) and values and "const" not in schema:
            if value is None and not types_of(schema.get("type")) and any(other is not None for other in values):
                return False
            return any(_equal(value, other) for other in values)
        return "const" not in schema or _equal(value, schema["const"])

    def _bounds(self, schema: dict[str, Any], value: Any) -> bool:
        for word, bound in schema.items():
            if word[:3] in ("min", "max") and is_bound(word, bound):
                size: Any = None
                if word.endswith("imum") and has_type(value, "number"):
                    size = value
                elif (word.endswith("Length") and isinstance(value, str)) or (
                    word.endswith("Items") and isinstance(value, list)
                ):
                    size = len(value)
                if size is not None and (size < bound if word.startswith("min") else size > bound):
                    return False
        return True

    def _combined(self, schema: dict[str, Any], value: Any, asked: Asked) -> bool:
        ref = schema.get("$ref")
        target = self._references.find(ref) if isinstance(ref, str) else None
        if target is not None and not self.accepts(target.schema, value, asked):
            return False
        for word, enough in (("allOf", all), ("anyOf", any), ("oneOf", _one)):
            branches = schema.get(word)
            branches = branches if isinstance(branches, list) else []
            verdicts = [self.accepts(branch, value, asked) for branch in branches]
            if verdicts and not enough(verdicts):
                return False
        return True

    def _object(self, schema: dict[str, Any], value: dict[str, Any]) -> bool:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        if isinstance(required, list) and any(isinstance(name, str) and name not in value for name in required):
            return False
        patterns = schema.get("patternProperties", {})
        for name, inner in value.items():
            schemas = [properties[name]] if name in properties else []
            schemas += [pattern for text, pattern in patterns.items() if name.startswith(text[1:])]
            others = schema.get("additionalProperties", True)
            if not all(self.accepts(each, inner) for each in schemas or [others]):
                return False
        return True

    def _array(self, schema: dict[str, Any], value: list[Any]) -> bool:
        items, first = schema.get("items", True), schema.get("prefixItems", [])
        if isinstance(items, list):
            first, items = [*first, *items], schema.get("additionalItems", False)
            items = items if isinstance(items, dict) and items else not first
        elif first and not (isinstance(items, dict) and items):
            items = False
        return all(
            self.accepts(first[index] if index < len(first) else items, inner) for index, inner in enumerate(value)
        )


def _one(verdicts: list[bool]) -> bool:
    return sum(verdicts) == 1


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[name], right[name]) for name in left)
    return bool(left == right)
