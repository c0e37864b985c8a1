"""A client's body → a JSON object, within limits. Pure."""

from __future__ import annotations

from typing import Any

from moongate.errors import BadRequest
from moongate.payload import JsonObject, loads


def read_object(body: bytes, depth: int) -> JsonObject:
    """The client's JSON object. Raises BadRequest."""
    try:
        found: Any = loads(body)
    except ValueError as error:
        raise BadRequest(f"The body is not JSON: {error}", code="invalid_json") from None
    if not isinstance(found, dict):
        raise BadRequest("The body must be a JSON object", code="invalid_json")
    # A body with few brackets cannot be deep: counting bytes is cheaper than walking the value.
    if body.count(b"{") + body.count(b"[") > depth and deeper_than(found, depth):
        raise BadRequest(f"The body is nested deeper than {depth} levels", code="too_deep")
    return found


def deeper_than(value: Any, depth: int) -> bool:
    """True if objects and lists nest more than `depth` levels. Level by level, so depth costs no stack."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(depth):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)
