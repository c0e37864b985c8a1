"""The schema suite: each schema becomes the one property of a tool's parameters, and the call has to fit them."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.contract.cases import FOLDER, JsonObject

TOOL: Final = "kvv_walle_case"
PROMPT: Final = f"Call {TOOL} once with the smallest arguments that fit."
MAX_MIN_LENGTH: Final = 1000
SELF: Final = "__case_schema"


def schemas() -> list[tuple[str, JsonObject]]:
    """What each schema of schemas.jsonl is about, and the schema."""
    lines = (FOLDER / "schemas.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["about"], row["schema"]) for row in map(json.loads, lines)]


def request_for(schema: JsonObject) -> JsonObject:
    function = {
        "name": TOOL,
        "description": "Takes arguments that fit the schema.",
        "parameters": wrapped(schema),
        "strict": True,
    }
    return {
        "model": "kimi-k3",
        "messages": [{"role": "user", "content": PROMPT}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
        "max_tokens": 2048,
        "thinking": {"type": "disabled"},
    }


def wrapped(schema: JsonObject) -> JsonObject:
    """The schema as the property `value`, without anything called `default`; `$defs` and `$id` move to the root."""
    value: JsonObject = _without_defaults(schema)
    root: JsonObject = {"type": "object", "required": ["value"], "additionalProperties": False, "properties": {}}
    moved = {word: value.pop(word) for word in ("$defs", "$id") if word in value}
    if _refers_to_root(value) or _refers_to_root(moved):
        value, moved = _renamed(value), _renamed(moved)
        moved["$defs"] = {**moved.get("$defs", {}), SELF: value}
        value = {"$ref": f"#/$defs/{SELF}"}
    root["properties"]["value"] = value
    return root | moved


def why_not_sent(schema: JsonObject) -> str | None:
    """Why the suite leaves a schema out."""
    if schema.get("minLength", 0) > MAX_MIN_LENGTH:
        return "skipped_extreme_minlength_not_supported"
    if any(not key.strip() or key != key.strip() or "\\" in key for key in _property_names(schema)):
        return "skipped_exotic_property_keys"
    if _is_endless(schema, schema, ()):
        return "skipped_recursive_ref"
    return None


def _without_defaults(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_defaults(inner) for key, inner in value.items() if key != "default"}
    return [_without_defaults(inner) for inner in value] if isinstance(value, list) else value


def _refers_to_root(value: Any) -> bool:
    if isinstance(value, dict):
        return value.get("$ref") == "#" or any(_refers_to_root(inner) for inner in value.values())
    return isinstance(value, list) and any(_refers_to_root(inner) for inner in value)


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        renamed = {key: _renamed(inner) for key, inner in value.items()}
        return renamed | {"$ref": f"#/$defs/{SELF}"} if value.get("$ref") == "#" else renamed
    return [_renamed(inner) for inner in value] if isinstance(value, list) else value


def _property_names(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for inner in value for name in _property_names(inner)]
    if not isinstance(value, dict):
        return []
    own = list(value["properties"]) if isinstance(value.get("properties"), dict) else []
    return own + [name for inner in value.values() for name in _property_names(inner)]


def _is_endless(schema: JsonObject, root: JsonObject, above: tuple[str, ...]) -> bool:
    """Whether a required property leads back to itself with no way out."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in above:
            return True
        target = root if reference == "#" else root["$defs"][reference.removeprefix("#/$defs/")]
        return _is_endless(target, root, (*above, reference))
    required = [schema["properties"][name] for name in schema.get("required", ()) if name in schema["properties"]]
    return any(_is_endless(inner, root, above) for inner in required)
