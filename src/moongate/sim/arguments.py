"""Arguments made from a tool's JSON Schema: deterministic, and valid for the schema as far as it is simple."""

from __future__ import annotations

from typing import Any, Final

from moongate.payload import JsonObject

MAX_DEPTH: Final = 8  # recursive schemas end here

# What real agents' tools call their arguments. The values do no harm where they are really run.
KNOWN: Final[dict[str, Any]] = {
    "command": "echo moongate {n}",
    "cmd": "echo moongate {n}",
    "file_path": "README.md",
    "filePath": "README.md",
    "path": ".",
    "dir_path": ".",
    "pattern": "*.md",
    "description": "step {n}",
    "timeout": 10000,
    "url": "http://127.0.0.1/{n}",
}
AWKWARD: Final = '"quoted" \\ back\nline\ttab é 你好 🚀 {n}'


def arguments_for(parameters: Any, n: int, *, awkward: str = "") -> JsonObject:
    """An argument object for one call. `n` makes the calls of a conversation tell apart."""
    schema = parameters if isinstance(parameters, dict) else {}
    value = _value(schema, schema, "value", n, 0)
    if not isinstance(value, dict):
        return {}
    if awkward:
        key = next((key for key, held in value.items() if isinstance(held, str)), None)
        if key is not None:
            value[key] = awkward.replace("{n}", str(n))
    return value


def _value(schema: Any, root: JsonObject, key: str, n: int, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return f"{key} {n}"
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return next((option for option in options if option is not None), None)
    for union in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(union)
        if isinstance(branches, list) and branches and not schema.get("properties"):
            chosen = next((b for b in branches if isinstance(b, dict) and b.get("type") != "null"), {})
            return _value(chosen, root, key, n, depth + 1)
    return _typed(schema, root, key, n, depth)


def _typed(schema: JsonObject, root: JsonObject, key: str, n: int, depth: int) -> Any:
    match _type_of(schema):
        case "object":
            return _object(schema, root, n, depth)
        case "array":
            count = schema.get("minItems", 1)
            return [_value(schema.get("items"), root, key, n, depth + 1)] * (count if isinstance(count, int) else 1)
        case "integer" | "number":
            known = KNOWN.get(key, n)
            low, high = schema.get("minimum"), schema.get("maximum")
            value: float = known if isinstance(known, int) else n
            value = max(value, low) if isinstance(low, int | float) else value
            return min(value, high) if isinstance(high, int | float) else value
        case "boolean":
            return n % 2 == 0
        case "null":
            return None
        case _:
            known = KNOWN.get(key)
            return known.replace("{n}", str(n)) if isinstance(known, str) else f"{key} {n}"


def _object(schema: JsonObject, root: JsonObject, n: int, depth: int) -> JsonObject:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    wanted = [key for key in required if key in properties] if isinstance(required, list) else []
    wanted = wanted or list(properties)[:1]
    return {key: _value(properties[key], root, key, n, depth + 1) for key in wanted}


def _type_of(schema: JsonObject) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _resolved(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follow local references, a bounded number of times."""
    for _ in range(MAX_DEPTH):
        ref = schema.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#"):
            return schema
        found: Any = root
        for part in ref.lstrip("#/").split("/") if ref.strip("#/") else []:
            found = found.get(part) if isinstance(found, dict) else None
        schema = found if isinstance(found, dict) else {}
    return {}
