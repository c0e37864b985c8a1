"""The walk over a refused schema: what Moonshot takes stays the same object, any other place becomes one it takes."""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.conjunctions import Conjunction, Conjunctions
from moongate.kimi.schema.detail import STEPS_PER_PLACE, Detail
from moongate.kimi.schema.keywords import (
    ANNOTATIONS,
    KEYWORDS_OF,
    MAX_BRANCHES,
    ROOT_ONLY,
    SCALAR_TYPES,
    VALUES,
    anything,
)
from moongate.kimi.schema.node_rules import node_complaint, unsupported_keywords
from moongate.kimi.schema.property_names import PropertyNames
from moongate.kimi.schema.references import References
from moongate.kimi.schema.step_budget import StepBudget
from moongate.kimi.schema.unions import are_constants, enumerated, with_default
from moongate.kimi.schema.values import (
    annotated,
    annotations_of,
    has_value_of,
    implied_types,
    is_leaf,
    known_required,
    listed_types,
    mended,
    types_of,
    without,
)
from moongate.payload import JsonObject, dumps


class SchemaRewriter:
    """One walk. `in_definition` tells whether what is written now goes into `$defs`."""

    def __init__(
        self,
        references: References,
        conjunctions: Conjunctions,
        names: PropertyNames,
        steps: StepBudget,
        detail: Detail,
    ) -> None:
        self._references = references
        self._conjunctions = conjunctions
        self._names = names
        self._steps = steps
        self._detail = detail
        self._inside: set[str] = set()
        self.in_definition = False

    def definition(self, key: str, schema: Any) -> JsonObject:
        """What is sent for a definition."""
        self._inside, self.in_definition = {key}, True
        return self.value(schema, 0, 0)

    def root(self, keywords: JsonObject, followed: set[str]) -> JsonObject:
        """What is sent for the root, of which `keywords` are all that holds."""
        self._inside, self.in_definition = set(followed), False
        return self._place(keywords, 0, 0)

    def accepted_root(self, root: JsonObject) -> JsonObject:
        """What is sent for a root that is good but for the schemas inside it."""
        self._inside, self.in_definition = set(), False
        return self._with_good_insides(root, 0, 0)

    def value(self, schema: Any, depth: int, level: int) -> JsonObject:
        """What is sent for `schema`, which stands below the root; the same object if it is good."""
        if schema.__class__ is not dict:
            return anything() if self._detail.copies else {}
        if level > self._detail.levels:
            return {}
        self._steps.take(len(schema))
        if is_leaf(schema):
            return schema
        self._steps.take(STEPS_PER_PLACE)
        if "$ref" in schema or "allOf" in schema:
            return self._conjunction(schema, depth, level)
        if self._is_good(schema):
            return self._with_good_insides(schema, depth, level)
        return self._place(self._conjunctions.plain(schema), depth, level)

    def _is_good(self, schema: JsonObject) -> bool:
        for keyword in ("enum", "required", "anyOf"):
            if isinstance(schema.get(keyword), list):
                self._steps.take(len(schema[keyword]))
        return (
            ROOT_ONLY.isdisjoint(schema)
            and unsupported_keywords(schema) is None
            and node_complaint(schema, ultra=True, root=_NO_ROOT) is None
            and not are_constants(schema.get("anyOf"))
        )

    def _conjunction(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        found = self._conjunctions.at(schema, self._inside)
        if found.reference is not None:
            return self._reference(schema, found, depth, level)
        added = found.followed - self._inside
        self._inside |= added
        result = self._place(found.keywords, depth, level)
        self._inside -= added
        return result

    def _reference(self, schema: JsonObject, found: Conjunction, depth: int, level: int) -> JsonObject:
        target, annotations = found.reference, annotations_of(found.keywords)
        assert target is not None
        inlined = target.key not in self._inside and not self._references.is_definition(target)
        if inlined and self._conjunctions.afford(target):
            self._inside.add(target.key)
            result = self.value(target.schema, depth, level + 1)
            self._inside.discard(target.key)
            return annotated(result, annotations) if annotations else result
        sent = {"$ref": self._references.sent(target), **annotations}
        return schema if schema == sent else sent

    def _place(self, keywords: JsonObject, depth: int, level: int) -> JsonObject:
        """Keywords that hold together → a schema of one type, of a list of types, of none, or a union."""
        branches = keywords.get("anyOf")
        if branches is not None and are_constants(branches):
            keywords = enumerated(keywords, branches)
        elif branches is not None:
            return self._spread(keywords, branches, depth, level)
        types = types_of(keywords.get("type")) or implied_types(keywords)
        if len(types) < 2:
            return self._typed(keywords, types[0] if types else "", depth, level)
        if keywords.keys() <= {"type", *ANNOTATIONS}:
            return {"type": types, **annotations_of(keywords)}
        return self._several(keywords, types, depth, level)

    def _typed(self, keywords: JsonObject, kind: str, depth: int, level: int) -> JsonObject:
        if kind:
            known = KEYWORDS_OF[kind]
            schema = {word: value for word, value in keywords.items() if word in known and word != "type"}
            schema = mended({"type": kind, **schema}, kind)
        else:
            schema = mended(without(keywords, "type", "required", "enum"), "")
        return self._with_good_insides(schema, depth, level)

    def _several(self, keywords: JsonObject, types: list[str], depth: int, level: int) -> JsonObject:
        """Several types and keywords of some of them → the list, if the flavour takes it, else a union."""
        annotations = annotations_of(keywords)
        if keywords.keys() <= _LISTED and len(types) == 2 and "null" in types:
            listed = listed_types(keywords, types)
            if self._is_good(listed):
                return self._with_good_insides(listed, depth, level)
        rest = without(keywords, "type", "default", *ANNOTATIONS)
        if "enum" in rest:
            fitting = [kind for kind in types if kind not in SCALAR_TYPES or has_value_of(rest["enum"], kind)]
            types = fitting or types
        branches = [self._typed(rest, kind, depth, level + 1) for kind in types]
        branches = self._with_default(branches, keywords)
        if len(branches) == 1:
            return annotated(branches[0], annotations)
        return {**annotations, "anyOf": branches}

    def _spread(self, keywords: JsonObject, branches: list[Any], depth: int, level: int) -> JsonObject:
        """Keywords beside a union move into its branches."""
        annotations = annotations_of(keywords)
        if len(branches) > MAX_BRANCHES:
            return self._typed(without(keywords, "anyOf"), "", depth, level)
        moved = self._conjunctions.moved_into(branches, without(keywords, "anyOf", "default", *ANNOTATIONS))
        news = self._branches(moved, annotations, depth, level)
        if not news:
            return annotations
        return {**annotations, "anyOf": self._with_default(news, keywords)}

    def _with_default(self, branches: list[JsonObject], keywords: JsonObject) -> list[JsonObject]:
        if "default" in keywords and self._is_plain(keywords["default"]):
            return with_default(branches, keywords["default"])
        return branches

    def _branches(self, branches: list[Any], outer: JsonObject, depth: int, level: int) -> list[JsonObject]:
        """The branches of a union; of annotations on both sides the outer one stays."""
        news = []
        for branch in branches:
            if branch is not False:
                new = self.value(branch, depth, level + 1)
                news.append(new if outer.keys().isdisjoint(new) else without(new, *outer))
        return news

    def _with_good_insides(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        """A good place, or one that lacks nothing but good schemas inside it: the same object if they are good."""
        refused = [word for word in VALUES.intersection(schema) if not self._is_plain(schema[word])]
        schema = without(schema, *refused) if refused else schema
        if "properties" in schema:
            schema = self._with_properties(schema, depth, level)
        elif "required" in schema:
            schema = without(schema, "required")
        if "items" in schema:
            items = schema["items"]
            new = self.value(items, depth, level + 1) if isinstance(items, dict) else None
            schema = without(schema, "items") if new is None else _replaced(schema, "items", new)
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict):
            schema = _replaced(schema, "additionalProperties", self.value(others, depth, level + 1))
        elif not isinstance(others, bool):
            schema = without(schema, "additionalProperties")
        branches = schema.get("anyOf")
        if branches is not None:
            outer = {word: schema[word] for word in ANNOTATIONS.intersection(schema)}
            news = self._branches(branches, outer, depth, level)
            if any(new is not branch for new, branch in zip(news, branches, strict=True)):
                schema = {**schema, "anyOf": news}
        return schema

    def _with_properties(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        properties = schema["properties"]
        if not isinstance(properties, dict):
            return without(schema, "properties", "required")
        if depth >= self._detail.depth and properties:
            return without(schema, "properties", "required", "additionalProperties")
        self._steps.take(len(properties))
        news: JsonObject = {}
        sent_names: dict[str, str] = {}
        changed = False
        for name, inner in properties.items():
            if inner is False:
                changed = True
                continue
            new = self.value(inner, depth + 1, level + 1)
            sent = sent_names[name] = self._names.sent(name, new, in_definition=self.in_definition)
            changed = changed or new is not inner or sent is not name
            news[sent] = new
        if "required" in schema:
            known = known_required(schema["required"], properties)
            required = [sent_names[name] for name in known if name in sent_names]
            if required != schema["required"]:
                schema = {**schema, "required": required} if required else without(schema, "required")
        return {**schema, "properties": news} if changed else schema

    def _is_plain(self, value: Any) -> bool:
        """Moonshot looks for references in values too, and for slashes in those of definitions."""
        if not isinstance(value, (dict, list)) or not value:
            return True
        data = dumps(value)
        self._steps.take(1 + len(data) // 256)
        return b'"$ref"' not in data and not (self.in_definition and b"/" in data)


_NO_ROOT: Final[JsonObject] = {}
_LISTED: Final = frozenset({"type", "enum", "default", *ANNOTATIONS})


def _replaced(schema: JsonObject, keyword: str, new: JsonObject) -> JsonObject:
    return schema if schema[keyword] is new else {**schema, keyword: new}
