"""Does Moonshot take this schema? The verdict of its published validator, in its words.

`strict` is what the server refuses; `ultra` also refuses keywords that the flavour does not have and combinations
that mean nothing. What passes `ultra` passes `strict`.
"""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.depths import definition_depths
from moongate.kimi.schema.keywords import MAX_DEPTH, MAX_PROPERTIES, MAX_SIZE, Level
from moongate.kimi.schema.lookups import has_braces, is_looked_up
from moongate.kimi.schema.node_rules import node_complaint, unsupported_keywords
from moongate.kimi.schema.paths import Path, written
from moongate.kimi.schema.reference_rules import ReferenceRules
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject, dumps

TOO_DEEP: Final = f"schema depth exceeds maximum limit of {MAX_DEPTH}"
TOO_LARGE: Final = "schema exceeds maximum allowed size"
NO_SCHEMA: Final = "input schema must be a string or map"


def refusal(parameters: Any, *, level: Level = "strict", steps: StepBudget | None = None) -> str | None:
    """The whole message with which Moonshot refuses these parameters of a tool, None if it takes them."""
    detail = validate_schema(parameters, level, steps=steps)
    if detail is None:
        return None
    return f"tools.function.parameters is not a valid moonshot flavored json schema, details: <{detail}>"


def validate_schema(schema: Any, level: Level = "strict", *, steps: StepBudget | None = None) -> str | None:
    """What is wrong with a schema at this level, with the path, or None if nothing is.

    Raises StepsExhausted if that takes more than `steps`.
    """
    if not isinstance(schema, dict):
        return _said(None, NO_SCHEMA)
    if not schema:
        return None
    data = dumps(schema)
    if written_size(data) > MAX_SIZE:
        return _said(None, TOO_LARGE)
    return Validation(schema, level == "ultra", steps or StepBudget()).verdict(b'"$ref"' in data)


def written_size(data: bytes) -> int:
    """How long Moonshot finds this JSON text: it writes `<`, `>` and `&` as escapes of six characters."""
    return len(data) + 5 * (data.count(b"<") + data.count(b">") + data.count(b"&"))


def _said(path: Path, text: str, last: str = "") -> str:
    return f"At path '{written(path, last)}': {text}"


class Validation:
    """One look at one schema."""

    def __init__(self, root: JsonObject, ultra: bool, steps: StepBudget) -> None:
        self._root = root
        self._ultra = ultra
        self._steps = steps
        self._properties = 0
        self._mentioned: dict[str, None] = {}
        self._rules = ReferenceRules(root, ultra, steps)
        self._depths: dict[str, int] = {}
        self._in_definitions = True  # of the root, which are looked at first
        self._searched: set[int] = set()  # by identity: definitions inside others, in which no name has a slash
        self._hidden: set[int] = set()  # by identity: nodes below a name with braces, which cannot be looked up

    def verdict(self, has_references: bool) -> str | None:
        definitions = self._root.get("$defs")
        if has_references:
            self._depths = definition_depths(self._root, self._rules, self._steps)
        unsupported = unsupported_keywords(self._root) if self._ultra else None
        if unsupported is not None:
            return _said(None, unsupported[1])
        found = None
        if isinstance(definitions, dict):
            waiting: list[tuple[Path, Any, int]] = [
                (((None, "$defs"), name), definitions[name], 0) for name in sorted(definitions, reverse=True)
            ]
            self._hidden.update(id(schema) for name, schema in definitions.items() if has_braces(name))
            found = self._walk(waiting) or self._slash((None, "$defs"), definitions)
        self._in_definitions = False
        found = found or self._walk([(None, self._root, 0)])
        if found is None and has_references:
            finding = self._rules.finding(self._mentioned)
            found = None if finding is None else _said(*finding)
        return found

    def _walk(self, waiting: list[tuple[Path, Any, int]]) -> str | None:
        """Every node on this list and below, definitions of the root excepted."""
        while waiting:
            path, schema, depth = waiting.pop()
            if not isinstance(schema, dict):  # only a definition can be something else here
                return _said((None, "$defs"), "$defs schema must be object")
            if depth > MAX_DEPTH:
                return _said(path, TOO_DEEP)
            self._steps.take(1 + len(schema))
            for keyword in ("enum", "required", "properties", "anyOf"):
                if keyword in schema and isinstance(schema[keyword], (list, dict)):
                    self._steps.take(len(schema[keyword]))
            complaint = unsupported_keywords(schema) if self._ultra else None
            complaint = complaint or node_complaint(schema, ultra=self._ultra, root=self._root)
            if complaint is not None:
                return _said(path, complaint[1], complaint[0])
            if id(schema) in self._hidden and is_looked_up(schema):
                return _said(path, f"invalid path: {written(path)}")
            if "$defs" in schema and not (schema is self._root or self._in_definitions):
                slash = self._slash((path, "$defs"), schema["$defs"])
                if slash is not None:
                    return slash
            if "$ref" in schema:
                ref = schema["$ref"]
                self._mentioned[ref] = None
                if depth + self._depths.get(ref, 0) > MAX_DEPTH:
                    return _said(None, TOO_DEEP)
            self._properties += len(schema.get("properties", ()))
            if self._properties > MAX_PROPERTIES:
                return _said(
                    path,
                    f"total number of properties keys({self._properties}) across all objects exceeds maximum limit "
                    f"of {MAX_PROPERTIES}",
                )
            waiting += reversed(self._inner(path, schema, depth))
        return None

    def _inner(self, path: Path, schema: JsonObject, depth: int) -> list[tuple[tuple[Path, str], Any, int]]:
        inner: list[tuple[tuple[Path, str], Any, int]] = []
        if "$defs" in schema and schema is not self._root:
            below: Path = (path, "$defs")
            inner += [((below, name), value, depth) for name, value in schema["$defs"].items()]
        if "properties" in schema:
            below = (path, "properties")
            inner += [((below, name), value, depth + 1) for name, value in schema["properties"].items()]
        if "items" in schema:
            inner.append(((path, "items"), schema["items"], depth))
        if isinstance(schema.get("additionalProperties"), dict):
            inner.append(((path, "additionalProperties"), schema["additionalProperties"], depth))
        if "anyOf" in schema:
            below = (path, "anyOf")
            inner += [(below, value, depth) for value in schema["anyOf"]]
        hidden = id(schema) in self._hidden
        self._hidden.update([id(value) for place, value, _ in inner if hidden or has_braces(place[1])])
        return inner

    def _slash(self, place: Path, definitions: JsonObject) -> str | None:
        """Moonshot takes no `/` in any name inside `$defs`, values included."""
        if id(definitions) in self._searched:
            return None
        waiting: list[tuple[Path, Any]] = [(place, definitions)]
        while waiting:
            path, value = waiting.pop()
            self._steps.take(1 + len(value))
            for key, inner in value.items():
                if "/" in key:
                    return _said(path, f"$defs property name '{key}' cannot contain '/' character")
                if isinstance(inner, dict):
                    waiting.append(((path, key), inner))
                    if key == "$defs":
                        self._searched.add(id(inner))
                elif isinstance(inner, list):
                    waiting += [((path, key), item) for item in inner if isinstance(item, dict)]
        return None
