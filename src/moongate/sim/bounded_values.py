"""Numbers and texts within the bounds of a JSON Schema."""

from __future__ import annotations

import math
from typing import Final

from moongate.payload import JsonObject
from moongate.sim.pattern_text import text_for

MAX_LENGTH: Final = 10_000  # of a generated text
MAX_NUMBER: Final = 1e300  # bounds beyond it are passed over

# Argument names of real agents' tools. The values are harmless if an agent really runs the tool.
KNOWN: Final[dict[str, str | int]] = {
    "command": "echo moongate {n}",
    "cmd": "echo moongate {n}",
    "commands": "echo moongate {n}",  # each of a list
    "file_path": "README.md",
    "filePath": "README.md",
    "path": ".",
    "dir_path": ".",
    "pattern": "*.md",
    "description": "step {n}",
    "timeout": 10000,
    "url": "http://127.0.0.1/{n}",
}


def type_of(schema: JsonObject, *, shortest: bool = False) -> str:
    """The type to generate; of several types the first that is not null, or null if the shortest value is wanted."""
    kind = schema.get("type")
    if isinstance(kind, list):
        if shortest and "null" in kind:
            return "null"
        kind = next((each for each in kind if each != "null"), "null")
    if isinstance(kind, str):
        return kind
    implied = (("object", "properties"), ("array", "items"), ("array", "prefixItems"), ("number", "minimum"))
    return next((name for name, word in implied if word in schema), "string")


def number_for(schema: JsonObject, key: str, n: int, *, whole: bool) -> float:
    """`n`, or what the key is known to need, moved into the bounds."""
    known = KNOWN.get(key)
    value: float = known if isinstance(known, int) else n
    low, high = _number(schema.get("minimum")), _number(schema.get("maximum"))
    above, below = _number(schema.get("exclusiveMinimum")), _number(schema.get("exclusiveMaximum"))
    if above is not None and (low is None or above >= low):
        low = math.floor(above) + 1 if whole or below is None or below - above > 1 else (above + below) / 2
    if below is not None and (high is None or below <= high):
        high = math.ceil(below) - 1 if whole or low is None or math.ceil(below) - 1 >= low else low
    if low is not None:
        value = max(value, math.ceil(low) if whole else low)
    if high is not None:
        value = min(value, math.floor(high) if whole else high)
    step = _number(schema.get("multipleOf"))
    if step is not None and step > 0:
        value = math.ceil(value / step) * step
    return value


def string_for(schema: JsonObject, key: str, n: int) -> str:
    """A text that names its key and `n`, or matches the pattern, of a length within the bounds."""
    shortest, longest = _count(schema.get("minLength"), 0), _count(schema.get("maxLength"), MAX_LENGTH)
    known = KNOWN.get(key)
    text = known.replace("{n}", str(n)) if isinstance(known, str) else f"{key} {n}"
    text = text.ljust(shortest, "x")[:longest]
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        matching = text_for(pattern, shortest, text)
        if matching is not None and len(matching) <= longest:
            return matching
    return text


def _number(value: object) -> float | None:
    """A finite number (JSON texts such as 1e999 read as infinite), or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < MAX_NUMBER else None


def _count(value: object, default: int) -> int:
    return min(value, MAX_LENGTH) if isinstance(value, int) and value >= 0 else default
