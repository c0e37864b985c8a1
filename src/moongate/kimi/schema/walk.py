"""The walk over a schema, below the root: every part becomes one that Moonshot takes, or stays the same object."""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.conjuncts import Conjuncts, Place
from moongate.kimi.schema.mending import enum_types, fitting_values, mended, with_known_required, without
from moongate.kimi.schema.merging import plain, types_of
from moongate.kimi.schema.references import References, Target
from moongate.kimi.schema.unions import are_consts, enumerated, moved_into
from moongate.kimi.schema.words import (
    ANNOTATIONS,
    MAX_BRANCHES,
    SIX_TYPES,
    STRUCTURE,
    UNION_WORDS,
    WORDS_OF,
    anything,
)
from moongate.payload import JsonObject, dumps

MAX_LEVELS: Final = 100  # of any nesting; keeps the recursion far from Python's limit

_LEAVES: Final = frozenset({"string", "number", "integer", "boolean", "null"})


class Walk:
    """One walk. `keys` counts the properties that were written; objects deeper than `max_depth` lose theirs."""

    def __init__(self, references: References, conjuncts: Conjuncts, max_depth: int) -> None:
        self._references = references
        self._conjuncts = conjuncts
        self._max_depth = max_depth
        self._inside: set[str] = set()
        self._bare: set[str] = set()  # references that are good as they stand
        self._ends: dict[str, bool] = {}  # by key: does it lead to references only?
        self.keys = 0

    def definition(self, target: Target) -> JsonObject:
        """The schema that is sent for a definition."""
        self._inside = {target.key}
        return anything() if self._loops(target) else self.value(target.schema, 0, 0)

    def root(self, schema: JsonObject, inside: set[str]) -> JsonObject:
        """The schema that is sent for the root, which is an object with the words of one."""
        self._inside = inside
        return self._object(schema, 0, 0)

    def _loops(self, target: Target) -> bool:
        """Does this reference lead to references only, and back to one of them?"""
        seen: set[str] = set()
        here: Target | None = target
        while here is not None and here.key not in self._ends:
            if here.key in seen:
                self._ends.update(dict.fromkeys(seen, True))
                return True
            seen.add(here.key)
            schema = here.schema
            leads_on = isinstance(schema, dict) and not here.is_root and ("$ref" in schema or "allOf" in schema)
            here = self._conjuncts.at(schema, seen).bare if leads_on else None
        loops = here is not None and self._ends[here.key]
        self._ends.update(dict.fromkeys(seen, loops))
        return loops

    def value(self, schema: Any, depth: int, level: int) -> JsonObject:
        """The schema that is sent for `schema`; the same object if it is good."""
        if schema.__class__ is not dict or level > MAX_LEVELS:
            return anything()
        kind = schema.get("type")
        if kind.__class__ is str and kind in WORDS_OF:
            if WORDS_OF[kind].issuperset(schema):
                return self._typed(schema, kind, depth, level)
            if STRUCTURE.isdisjoint(schema):
                return self._typed(_of_type(schema, kind), kind, depth, level)
        elif kind is None and "anyOf" in schema and UNION_WORDS.issuperset(schema):
            branches = schema["anyOf"]
            if branches.__class__ is list and 0 < len(branches) <= MAX_BRANCHES and not are_consts(branches):
                return self._union(schema, depth, level)
        if "$ref" in schema or "allOf" in schema:
            return self._gathered(schema, depth, level)
        return self._worded(plain(schema), depth, level)

    def _typed(self, schema: JsonObject, kind: str, depth: int, level: int) -> JsonObject:
        """A schema with one type and only words of that type."""
        if kind == "object":
            return self._object(schema, depth, level)
        if kind == "array" and "items" in schema:
            schema = self._array(schema, depth, level)
        return schema if len(schema) == 1 else mended(schema, kind)

    def _object(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        news: JsonObject = {}
        properties = schema.get("properties")
        if properties.__class__ is dict:
            if depth >= self._max_depth and properties:
                return mended(without(schema, "properties", "required", "additionalProperties"), "object")
            self.keys += len(properties)
            for name, inner in properties.items():
                if inner.__class__ is dict and _is_leaf(inner):
                    continue
                new = self.value(inner, depth + 1, level + 1)
                if new is not inner:
                    news[name] = new
            if news:
                properties = {name: news.get(name, inner) for name, inner in properties.items() if inner is not False}
                schema = {**schema, "properties": properties}
        elif properties == []:  # an empty object, as PHP writes it
            schema = {**schema, "properties": {}}
        elif "properties" in schema:
            schema = without(schema, "properties")
        if "required" in schema:
            schema = with_known_required(schema)
        others = schema.get("additionalProperties", True)
        if others.__class__ is dict:
            new = self.value(others, depth, level + 1) if others else others
            if new is not others:
                schema = {**schema, "additionalProperties": new}
        elif others.__class__ is not bool:
            schema = without(schema, "additionalProperties")
        return mended(schema, "object")

    def _array(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        if schema["items"].__class__ is list:
            schema = plain(schema)
        items = schema.get("items", False)
        if items is False:
            return without(schema, "items")
        new = self.value(items, depth, level + 1)
        return schema if new is items else {**schema, "items": new}

    def _union(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        """An `anyOf` with nothing beside it but annotations."""
        branches = schema["anyOf"]
        news = []
        changed = False
        for branch in branches:
            if branch is not False:
                new = self.value(branch, depth, level + 1)
                changed = changed or new is not branch
                news.append(new)
        if not news:
            schema = {**schema, **anything()}
        elif changed or len(news) < len(branches):
            schema = {**schema, "anyOf": news}
        return mended(schema)

    def _gathered(self, schema: JsonObject, depth: int, level: int) -> JsonObject:
        """A schema with references or `allOf`."""
        ref = schema.get("$ref")
        if ref.__class__ is str and ref in self._bare and len(schema) == 1:
            return schema
        place = self._conjuncts.at(schema, self._inside)
        if place.bare is not None:
            return self._reference(schema, place, depth, level)
        added = place.followed - self._inside
        self._inside |= added
        result = self._worded(place.words, depth, level)
        self._inside -= added
        return result

    def _reference(self, schema: JsonObject, place: Place, depth: int, level: int) -> JsonObject:
        target = place.bare
        assert target is not None
        inlined = place.affordable and target.key not in self._inside and not self._references.is_definition(target)
        if inlined and self._conjuncts.afford(self._conjuncts.cost(target)):
            self._inside.add(target.key)
            result = self.value(target.schema, depth, level + 1)
            self._inside.discard(target.key)
            return result
        text = self._references.keep(target)
        notes: JsonObject = {word: place.words[word] for word in ANNOTATIONS if word in place.words}
        if notes:
            return mended({"anyOf": [{"$ref": text}], **notes})
        if len(schema) == 1 and schema.get("$ref") == text:
            self._bare.add(text)
            return schema
        return {"$ref": text}

    def _worded(self, words: JsonObject, depth: int, level: int) -> JsonObject:
        """Words that hold together → a schema with one type, or a union."""
        branches = words.get("anyOf")
        if branches is not None and not are_consts(branches):
            return self._spread(words, branches, depth, level)
        if branches is not None:
            words = enumerated(words, branches)
        types = types_of(words.get("type"))
        if not types:
            types = enum_types(words.get("enum")) or _implied_types(words) or list(SIX_TYPES)
        if len(types) == 1:
            return self._typed(_of_type(words, types[0]), types[0], depth, level)
        notes: JsonObject = {word: words[word] for word in ANNOTATIONS if word in words}
        bare = without(words, *ANNOTATIONS)
        if "enum" in bare:
            possible = [kind for kind in types if kind == "null" or fitting_values(bare["enum"], kind)]
            types = possible or types
        return mended({**notes, "anyOf": [self._typed(_of_type(bare, kind), kind, depth, level + 1) for kind in types]})

    def _spread(self, words: JsonObject, branches: list[Any], depth: int, level: int) -> JsonObject:
        """Words beside an `anyOf` move into its branches; a branch that has a type keeps its own."""
        union = {word: value for word, value in words.items() if word in UNION_WORDS}
        if len(branches) > MAX_BRANCHES:
            return mended({**union, **anything()})
        moved = without(words, *UNION_WORDS)
        if moved.keys() - {"type"} and not self._conjuncts.afford(len(dumps(moved)) * len(branches)):
            moved = {"type": moved["type"]} if "type" in moved else {}
        union["anyOf"] = [moved_into(branch, moved) for branch in branches]
        return self._union(union, depth, level)


def _is_leaf(schema: JsonObject) -> bool:
    """Is this one of the good schemas of which there are most: a scalar type and a description?"""
    return (
        len(schema) == 2
        and schema.get("description").__class__ is str
        and (kind := schema.get("type")).__class__ is str
        and kind in _LEAVES
    )


def _of_type(words: JsonObject, kind: str) -> JsonObject:
    known = WORDS_OF[kind]
    return {"type": kind, **{word: value for word, value in words.items() if word in known and word != "type"}}


def _implied_types(words: JsonObject) -> list[str]:
    implied = ["object"] if isinstance(words.get("properties"), dict) else []
    return [*implied, "array"] if "items" in words else implied
