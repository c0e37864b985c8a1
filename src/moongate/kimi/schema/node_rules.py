"""What Moonshot's validator wants of one schema node, leaving out the schemas inside it and where references lead."""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.keywords import (
    ANNOTATIONS,
    BOUNDS_OF,
    KEYWORDS,
    KEYWORDS_OF,
    MAX_BRANCHES,
    ROOT_ONLY,
    SCALAR_TYPES,
    TYPES,
)
from moongate.kimi.schema.value_rules import (
    Complaint,
    bounds_complaint,
    enum_complaint,
    properties_complaint,
    required_complaint,
)
from moongate.payload import JsonObject

DEFINITION: Final = "#/$defs/"


def unsupported_keywords(schema: JsonObject) -> Complaint | None:
    """Only at `ultra`: keywords that the flavour does not have."""
    if KEYWORDS.issuperset(schema):
        return None
    return "", f"unsupported keywords: {', '.join(sorted(schema.keys() - KEYWORDS))}"


def node_complaint(schema: JsonObject, *, ultra: bool, root: JsonObject) -> Complaint | None:
    """The first thing that is wrong with a node whose keywords are supported, or None. `root` is the whole schema."""
    kind = schema.get("type")
    if "type" in schema:
        found = _type_complaint(schema, kind, ultra, schema is root)
        if found is not None:
            return found
        if len(schema) == 1:
            return None
    for keyword in ("description", "pattern", "$id", "title") if ultra else ("description", "pattern", "$id"):
        value = schema.get(keyword, "")
        if not isinstance(value, str) and (value is not None or keyword in ANNOTATIONS):
            return keyword, f"{keyword} must be a string"
    return (
        ("properties" in schema and properties_complaint(schema["properties"], ultra))
        or ("required" in schema and required_complaint(schema, ultra))
        or ("enum" in schema and enum_complaint(schema["enum"], kind, ultra))
        or ("items" in schema and not isinstance(schema["items"], dict) and ("items", "items must be an object"))
        or ("additionalProperties" in schema and _additional_complaint(schema["additionalProperties"]))
        or ("$ref" in schema and _reference_complaint(schema, ultra, root))
        or ("anyOf" in schema and _union_complaint(schema, ultra, schema is root))
        or ("$defs" in schema and _definitions_complaint(schema["$defs"]))
        or None
    )


def _type_complaint(schema: JsonObject, kind: Any, ultra: bool, is_root: bool) -> Complaint | None:
    for keyword, inside in (("anyOf", "anyOf items"), ("$ref", "the referenced schema")):
        if keyword in schema:
            return "", f"when using {keyword}, type should be defined in {inside} instead of the parent schema"
    if kind.__class__ is str:
        if kind not in TYPES:
            return "", "invalid type"
        return _typed_complaint(schema, kind, is_root) if ultra and len(schema) > 1 else None
    if kind.__class__ is not list:
        return "", "type must be string or array of strings"
    if not kind:
        return "", "type array cannot be empty"
    if not all(name.__class__ is str and name in TYPES for name in kind):
        return "", "invalid type in type array"
    if len(kind) > 1:
        found = _several_types_complaint(schema, kind, is_root)
        if found is not None:
            return found
    if not ultra:
        return None
    if len(set(kind)) < len(kind):
        return "type", "duplicate types in type array"
    return _typed_complaint(schema, kind[0], is_root)


def _several_types_complaint(schema: JsonObject, kinds: list[str], is_root: bool) -> Complaint | None:
    if schema.get("enum") is not None:
        for kind in kinds:
            if kind not in SCALAR_TYPES:
                return "", f"type {kind} is not allowed in combination with enum"
        if len(kinds) == 2:
            return None
    for keyword in sorted(schema):
        if not (keyword == "type" or keyword in ANNOTATIONS or (is_root and keyword in ROOT_ONLY)):
            return "", f"keyword {keyword} is not allowed in combination with multiple types"
    return None


def _typed_complaint(schema: JsonObject, kind: str, is_root: bool) -> Complaint | None:
    """Only at `ultra`: keywords that do not belong to the type, and bounds."""
    if not KEYWORDS_OF[kind].issuperset(schema):
        others = sorted(schema.keys() - KEYWORDS_OF[kind])
        for keyword in others:
            if keyword in ROOT_ONLY and not is_root:
                return "", f"keyword {keyword} must be at root level"
        others = [keyword for keyword in others if keyword not in ROOT_ONLY]
        if others:
            return "", f"invalid keywords: {', '.join(others)}"
    bounds = BOUNDS_OF.get(kind)
    return bounds_complaint(schema, kind, *bounds) if bounds else None


def _additional_complaint(value: Any) -> Complaint | None:
    if isinstance(value, (bool, dict)):
        return None
    return "additionalProperties", "additionalProperties must be a boolean or an object"


def _reference_complaint(schema: JsonObject, ultra: bool, root: JsonObject) -> Complaint | None:
    ref = schema["$ref"]
    if not isinstance(ref, str):
        return "$ref", "$ref must be a string"
    if ref == "#":
        return None
    if not ref.startswith(DEFINITION):
        return "$ref", "references must start with #/$defs/"
    if ref == DEFINITION:
        return "$ref", "definition name cannot be empty"
    if "$defs" not in root:
        return "$ref", f"$defs not found for reference: {ref}"
    return _sibling_complaint(schema, "$ref", schema is root) if ultra else None


def _union_complaint(schema: JsonObject, ultra: bool, is_root: bool) -> Complaint | None:
    branches = schema["anyOf"]
    if not isinstance(branches, list):
        return "anyOf", "anyOf must be an array"
    if not 1 <= len(branches) <= MAX_BRANCHES:
        return "anyOf", f"anyOf must have 1-{MAX_BRANCHES} items"
    if not all(branch.__class__ is dict for branch in branches):
        return "anyOf", "schema in anyOf must be an object"
    found = _sibling_complaint(schema, "anyOf", is_root) if ultra else None
    if found is not None or len(schema) == 1:
        return found
    outer = schema.keys() - (frozenset() if ultra else ANNOTATIONS)
    for branch in branches:
        both = outer & branch.keys() - {"anyOf"}
        if both:
            return "", (
                f"conflicting keywords found in anyOf with parent: keywords ({', '.join(sorted(both))}) are defined on "
                "the parent schema and inside anyOf; remove them from the parent or from anyOf branches"
            )
    return None


def _sibling_complaint(schema: JsonObject, keyword: str, is_root: bool) -> Complaint | None:
    for other in sorted(schema):
        if not (other == keyword or other in ANNOTATIONS or (is_root and other in ROOT_ONLY)):
            return "", f"keyword '{other}' is not allowed at the same level as {keyword}"
    return None


def _definitions_complaint(definitions: Any) -> Complaint | None:
    if not isinstance(definitions, dict):
        return "$defs", "$defs must be an object"
    for name, inner in definitions.items():
        if not name:
            return "$defs", "$defs property name cannot be empty"
        if not isinstance(inner, dict):
            return "$defs", "$defs schema must be object"
        if "/" in name:
            return "$defs", f"$defs property name '{name}' cannot contain '/' character"
    return None
