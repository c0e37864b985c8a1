"""Any JSON Schema → Moonshot's flavour of it (section 10). What that cannot say becomes wider, never narrower."""

from __future__ import annotations

from typing import Any, Final

from moongate.errors import BadRequest
from moongate.kimi.schema.conjuncts import Conjuncts
from moongate.kimi.schema.merging import either, types_of
from moongate.kimi.schema.references import References
from moongate.kimi.schema.walk import MAX_LEVELS, Walk
from moongate.kimi.schema.words import MAX_DEPTH, MAX_PROPERTY_KEYS, MAX_SIZE, ROOT_WORDS, STRUCTURE, WORDS_OF
from moongate.payload import JsonObject, dumps

# (depth, copying): a schema that gets too large keeps its references, and then loses detail far from its root.
ATTEMPTS: Final = ((MAX_DEPTH, True), (MAX_DEPTH, False), (8, False), (4, False), (2, False), (1, False))


def normalise_schema(parameters: Any, *, tool: str = "") -> JsonObject:
    """The `parameters` of a tool as Moonshot takes them; the same object if they are good, never changed in place.

    Raises BadRequest, with the tool and the place in it, for a remote reference, for `parameters` that are no
    schema, and for a schema that stays too large even without its depths.
    """
    if parameters is None or parameters is True or (not parameters and isinstance(parameters, (dict, list))):
        return {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise BadRequest(f"tool {tool!r}: the parameters are no JSON Schema object", path="parameters")
    for max_depth, copying in ATTEMPTS:
        references = References(parameters, tool)
        conjuncts = Conjuncts(references, copying=copying)
        walk = Walk(references, conjuncts, max_depth)
        result = _with_definitions(_root(parameters, conjuncts, walk), references, walk)
        if walk.keys <= MAX_PROPERTY_KEYS and len(dumps(result)) <= MAX_SIZE:
            return result
    raise BadRequest(
        f"tool {tool!r}: the parameters are too large ({MAX_SIZE} bytes, {MAX_PROPERTY_KEYS} properties)",
        path="parameters",
    )


def _root(root: JsonObject, conjuncts: Conjuncts, walk: Walk) -> JsonObject:
    if root.get("type") == "object" and STRUCTURE.isdisjoint(root):
        known = ROOT_WORDS.issuperset(root)
        return walk.root(root if known else {word: root[word] for word in root if word in ROOT_WORDS}, set())
    words, followed = _alternative(root, conjuncts, set())
    if not types_of(root.get("type")):
        words = {"properties": {}, **words}
    kept = {word: value for word, value in words.items() if word in WORDS_OF["object"] and word != "type"}
    return walk.root({"type": "object", **kept}, followed)


def _alternative(schema: Any, conjuncts: Conjuncts, inside: set[str], level: int = 0) -> tuple[JsonObject, set[str]]:
    """One reading of the root as one object: references are followed, a union is merged."""
    place = conjuncts.at_root(schema, inside)
    branches = place.words.get("anyOf")
    if branches is None or level > MAX_LEVELS:
        return place.words, place.followed
    inside = inside | place.followed
    alternatives = []
    for branch in branches:
        words, _ = _alternative(branch, conjuncts, inside, level + 1)
        types = types_of(words.get("type"))
        if branch is not False and (not types or "object" in types):
            alternatives.append(words)
    own = {word: value for word, value in place.words.items() if word != "anyOf"}
    return (either(own, alternatives) if alternatives else own), place.followed


def _with_definitions(result: JsonObject, references: References, walk: Walk) -> JsonObject:
    definitions: JsonObject = {}
    changed = False
    while pending := references.definitions(len(definitions)):
        for name, target in pending:
            definitions[name] = walk.definition(target)
            changed = changed or definitions[name] is not target.schema
    given = result.get("$defs", {})  # of any type, if the client wrote it so
    if not definitions:
        return result if given == {} else {word: value for word, value in result.items() if word != "$defs"}
    if not changed and isinstance(given, dict) and given.keys() == definitions.keys():
        return result
    return {**result, "$defs": definitions}
