"""Unions of constants, which become an enum, and the default beside a union, which belongs to one branch."""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.keywords import ANNOTATIONS, has_type, type_of
from moongate.kimi.schema.merging import together
from moongate.kimi.schema.values import types_of, without, without_integer
from moongate.payload import JsonObject

_OF_CONSTANT: Final = frozenset({"type", "enum", "const", "default", *ANNOTATIONS})


def are_constants(branches: Any) -> bool:
    """Is it a union of which each branch is a constant, with nothing beside it that matters?"""
    return isinstance(branches, list) and bool(branches) and all(map(_is_constant, branches))


def _is_constant(branch: Any) -> bool:
    return branch.__class__ is dict and "const" in branch and _OF_CONSTANT.issuperset(branch)


def enumerated(keywords: JsonObject, constants: list[JsonObject]) -> JsonObject:
    """`keywords`, whose `anyOf` is a union of constants, with an enum instead."""
    result = together([without(keywords, "anyOf"), {"enum": [branch["const"] for branch in constants]}])
    if not types_of(keywords.get("type")):
        result = {**result, "type": without_integer(list(dict.fromkeys(map(_constant_type, constants))))}
    return result


def _constant_type(branch: JsonObject) -> str:
    value, named = branch["const"], branch.get("type")
    return named if named.__class__ is str and has_type(value, named) else type_of(value)


def with_default(branches: list[JsonObject], default: Any) -> list[JsonObject]:
    """`branches` with `default` in the first one that is of its type; as they are if there is none."""
    for index, branch in enumerate(branches):
        if any(has_type(default, kind) for kind in types_of(branch.get("type"))) and len(types_of(branch["type"])) == 1:
            if "default" not in branch:
                return [*branches[:index], {**branch, "default": default}, *branches[index + 1 :]]
            return branches
    return branches
