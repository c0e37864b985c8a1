"""JSON parsing and serialisation. The only module that knows which JSON library is used.

orjson is used first. It refuses half of a surrogate pair, which providers send (`"\\ud83d"` in one delta, `"\\ude00"`
in the next), and does not write integers beyond 64 bits, which it reads as floats; for those the standard library is
used. Both can read deeper nesting than they can write, so very deep values are written here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, NoReturn

import orjson

JsonObject = dict[str, Any]

_DECODER: Final = json.JSONDecoder()
_SEPARATOR: Final = "\x1e"
_SEPARATOR_ENCODED: Final = orjson.dumps(_SEPARATOR)[1:-1]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def loads(data: bytes | str) -> Any:
    """The value of a JSON text. Raises ValueError for anything else (NaN, Infinity, bad UTF-8, too deep)."""
    try:
        return orjson.loads(data)
    except ValueError:
        return loads_exactly(data)


def loads_exactly(data: bytes | str) -> Any:
    """The same with all digits of integers; slower."""
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def end_of_first(text: str) -> int:
    """Where the value ends with which a text begins. Raises ValueError if it begins with none."""
    return _DECODER.raw_decode(text)[1]


def accepts(text: str) -> bool:
    """Does orjson accept it? What it refuses may still be JSON (see above)."""
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. What `loads` returned can always be written back."""
    try:
        return orjson.dumps(value)
    except TypeError:
        try:
            return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
        except (RecursionError, ValueError):
            return _dumps_slowly(value)


def dumps_inside(texts: Sequence[str]) -> list[bytes]:
    """What `dumps` writes between the quotes of each text, for many texts at once."""
    try:
        written = orjson.dumps(_SEPARATOR.join(texts))[1:-1].split(_SEPARATOR_ENCODED)
    except TypeError:
        written = []
    if len(written) != len(texts):  # one of them contains the separator
        return [dumps(text)[1:-1] for text in texts]
    return written


def dumps_text(value: Any) -> str:
    """`dumps`, as text."""
    return dumps(value).decode("utf-8")


def dumps_exactly(value: Any) -> str:
    """The same. Raises ValueError for what is not written as it is: a number too large for a float, deep nesting."""
    try:
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return dumps_text(value)


def dumps_sorted(value: Any) -> bytes:
    """`dumps` with the keys of objects in order, so that equal values give equal bytes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        try:
            return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False).encode("ascii")
        except (
            RecursionError,
            ValueError,
        ):  # too deep to sort; two such values that differ only in order are not expected
            return dumps(value)


def dumps_spaced(value: Any) -> bytes:
    """The same as Python's own writer lays it out, with blanks: for hashes that other programs compare."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except RecursionError:  # no other program of Python's could have written it
        return dumps(value)


class _Encoded:
    """Text that is JSON already."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _dumps_slowly(value: Any) -> bytes:
    """JSON of a value that is nested too deeply for the libraries, with a stack of its own, or that contains a number
    too large for a float (`1e400`), which is written as null, as orjson does."""
    parts: list[str] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Encoded):
            parts.append(item.text)
        elif isinstance(item, dict):
            stack.append(_Encoded("}"))
            for key, member in reversed(item.items()):
                stack += (member, _Encoded(f",{json.dumps(key)}:"))
            if item:
                stack[-1] = _Encoded(stack[-1].text[1:])
            parts.append("{")
        elif isinstance(item, list):
            stack.append(_Encoded("]"))
            for member in reversed(item):
                stack += (member, _Encoded(","))
            if item:
                stack.pop()
            parts.append("[")
        elif isinstance(item, float) and not isfinite(item):
            parts.append("null")
        else:
            parts.append(json.dumps(item))
    return "".join(parts).encode("ascii")


def object_of(data: bytes | str) -> JsonObject | None:
    """The JSON object that `data` is, or None if it is anything else."""
    try:
        value = loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
