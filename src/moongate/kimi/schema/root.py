"""The root of a schema: an object. A union of objects that Moonshot refuses there is merged into one object."""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.conjunctions import Conjunction, Conjunctions
from moongate.kimi.schema.detail import MAX_LEVELS
from moongate.kimi.schema.keywords import ROOT_ONLY
from moongate.kimi.schema.merging import either
from moongate.kimi.schema.node_rules import node_complaint, unsupported_keywords
from moongate.kimi.schema.rewrite import SchemaRewriter
from moongate.kimi.schema.unions import are_constants
from moongate.kimi.schema.values import types_of
from moongate.payload import JsonObject


def rewritten_root(root: JsonObject, rewriter: SchemaRewriter, conjunctions: Conjunctions) -> JsonObject:
    """The root as it is sent, without its definitions. A new object."""
    own = {keyword: value for keyword, value in root.items() if keyword not in ROOT_ONLY}
    if _is_good(own):
        return {**_identity(root), **rewriter.accepted_root(own)}
    found = _merged(own, conjunctions, set(), 0)
    return {**_identity(root), **rewriter.root(found.keywords, found.followed)}


def _is_good(own: JsonObject) -> bool:
    return (
        "$ref" not in own
        and unsupported_keywords(own) is None
        and node_complaint(own, ultra=True, root=own) is None
        and not are_constants(own.get("anyOf"))
    )


def _identity(root: JsonObject) -> JsonObject:
    return {"$id": root["$id"]} if isinstance(root.get("$id"), str) else {}


def _merged(schema: Any, conjunctions: Conjunctions, inside: set[str], level: int) -> Conjunction:
    """One reading of the root as one object: references are followed, a union of objects is merged."""
    found = conjunctions.at_root(schema, inside)
    branches = found.keywords.get("anyOf")
    if branches is None or level > MAX_LEVELS or are_constants(branches):
        return found
    followed = inside | found.followed
    alternatives = []
    own_types = types_of(found.keywords.get("type"))
    for branch in branches:
        if branch is False:
            continue
        alternative = _merged(branch, conjunctions, followed, level + 1).keywords
        types = types_of(alternative.get("type")) or own_types or _implied(alternative)
        if types != ["object"] or "anyOf" in alternative:
            return found  # not a union of objects
        alternatives.append(alternative)
    if not alternatives:
        return found
    return Conjunction(either(found.keywords, alternatives), found.followed)


def _implied(keywords: JsonObject) -> list[str]:
    return ["object"] if "properties" in keywords or "required" in keywords else []
