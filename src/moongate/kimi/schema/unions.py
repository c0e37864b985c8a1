"""The branches of an `anyOf`: unions of consts, and words that move into a branch."""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.mending import without, without_integer
from moongate.kimi.schema.merging import plain, together, types_of
from moongate.kimi.schema.words import ANNOTATIONS, has_type, type_of
from moongate.payload import JsonObject

_CONST_WORDS: Final = frozenset({"type", "enum", *ANNOTATIONS})


def are_consts(branches: list[Any]) -> bool:
    """Is each branch a const, with nothing beside it that matters?"""
    return _is_const(branches[0]) and all(map(_is_const, branches))


def _is_const(branch: Any) -> bool:
    return branch.__class__ is dict and "const" in branch and _CONST_WORDS.issuperset(plain(branch))


def enumerated(words: JsonObject, consts: list[JsonObject]) -> JsonObject:
    """`words`, whose `anyOf` is a union of consts, with an enum instead.

    A null among them is a type of its own, since enums cannot have it.
    """
    result = together([without(words, "anyOf"), {"enum": [branch["const"] for branch in consts]}])
    if not types_of(words.get("type")):
        result["type"] = without_integer(list(dict.fromkeys(map(_const_type, consts))))
    return result


def _const_type(branch: JsonObject) -> str:
    value, named = branch["const"], branch.get("type")
    return named if named.__class__ is str and has_type(value, named) else type_of(value)


def moved_into(branch: Any, words: JsonObject) -> Any:
    """`branch` with the words that stood beside the `anyOf`; its own type stays, and a reference has its own too."""
    if branch is False:
        return False
    if isinstance(branch, dict) and ("$ref" in branch or types_of(branch.get("type"))):
        words = without(words, "type")
    return {"allOf": [branch, words]} if words else branch
