"""Parses a request's body as a JSON object, within limits. Pure."""

from __future__ import annotations

from typing import Any, Final

from moongate.errors import BadRequest
from moongate.payload import MAX_VALUES, JsonObject, loads, more_values_than
from moongate.wire.threads import let_threads_run

# A body with few brackets cannot be deep. To count them in a small one is cheaper than to walk the value; a large one
# has many, and to count them costs as much.
MANY_BYTES: Final = 4 * 1024

_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # of the byte order


def read_object(body: bytes, depth: int, values: int = MAX_VALUES) -> JsonObject:
    """The JSON object in a request's body, with at most `values` values. Raises BadRequest."""
    if more_values_than(body, values):  # before it is parsed, because each of them takes memory
        raise BadRequest(f"The body holds more than {values} JSON values", code="too_many_values")
    let_threads_run()
    try:
        found: object = loads(utf8(body), len(body))  # they are counted
    except ValueError as error:
        raise BadRequest(f"The body is not JSON: {error}", code="invalid_json") from None
    if not isinstance(found, dict):
        raise BadRequest("The body must be a JSON object", code="invalid_json")
    if (len(body) > MANY_BYTES or body.count(b"{") + body.count(b"[") > depth) and deeper_than(found, depth):
        raise BadRequest(f"The body is nested deeper than {depth} levels", code="too_deep")
    return found


def utf8(body: bytes) -> bytes:
    """The body, if a JSON text in UTF-8 can begin like this. The parser would guess UTF-16, UTF-32 and skip a BOM."""
    if (body and body[0] >= 0xEF and body.startswith(_MARKS)) or body.find(b"\0", 0, 4) >= 0:
        raise ValueError("it must be UTF-8 without a byte order mark")
    if 0xED in body:
        body.decode()  # raises ValueError for surrogates, which are no UTF-8, but which the parser would take
    return body


def deeper_than(value: object, depth: int) -> bool:
    """True if objects and lists nest more than `depth` levels. Level by level, so depth costs no stack."""
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        if not level:
            return False
        let_threads_run()
        below: list[Any] = []
        for outer in level:  # the compiler makes a tuple anew for each `isinstance` with one
            if isinstance(outer, dict):
                for inner in outer.values():
                    if isinstance(inner, dict) or isinstance(inner, list):  # noqa: SIM101
                        below.append(inner)
            elif isinstance(outer, list):
                for inner in outer:
                    if isinstance(inner, dict) or isinstance(inner, list):  # noqa: SIM101
                        below.append(inner)
        level = below
    return bool(level)
