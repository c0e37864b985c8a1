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

MAX_VALUES: Final = 1_000_000
MAX_DIGITS: Final = 400  # of an integer: no float has more, and to read and write them takes time by their square
SLICE: Final = 1 << 20  # bytes that are looked at together when values are counted; bounds what the count itself takes

_DECODER: Final = json.JSONDecoder()
_SEPARATOR: Final = "\x1e"
_SEPARATOR_ENCODED: Final = orjson.dumps(_SEPARATOR)[1:-1]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def more_values_than(data: bytes, limit: int) -> bool:
    """Does the text hold more than `limit` values? The keys of objects are not counted, nor is text within strings.

    Counted before the text is parsed: a value takes up to 80 bytes of memory, and a text of `[],[],…` thirty times its
    size.
    Of a text that is not JSON it may say either. Linear in the size, and mostly one look at the bytes.
    """
    # A value that is not the first of its list or object has a comma before it; a first one has a bracket.
    if len(data) <= limit or _marks(data) < limit:
        return False
    found, in_string, rest = 1, False, b""
    for at in range(0, len(data), SLICE):
        piece = (rest + data[at : at + SLICE]).replace(b"\\\\", b"").replace(b'\\"', b"")
        rest = b"\\" if piece.endswith(b"\\") else b""
        parts = piece.removesuffix(b"\\").split(b'"')
        found += sum(map(_marks, parts[in_string::2]))
        in_string ^= len(parts) % 2 == 0
        if found > limit:
            return True
    return False


def _marks(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _check_values(data: bytes | str, limit: int) -> None:
    if len(data) > limit and more_values_than(
        data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, limit
    ):
        raise ValueError(f"more than {limit} values")


def loads(data: bytes | str, values: int = MAX_VALUES) -> Any:
    """The value of a JSON text. Raises ValueError for anything else (NaN, Infinity, bad UTF-8), and for a text that is
    nested too deeply or holds more than so many values, also if it stands inside of another text."""
    if len(data) > values:
        _check_values(data, values)
    try:
        return orjson.loads(data)
    except ValueError:
        return _loads_exactly(data)


def loads_exactly(data: bytes | str) -> Any:
    """The same with all digits of integers; slower."""
    _check_values(data, MAX_VALUES)
    return _loads_exactly(data)


def _loads_exactly(data: bytes | str) -> Any:
    try:
        return json.loads(data, parse_constant=_refuse_constant, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def end_of_first(text: str) -> int:
    """Where the value ends with which a text begins. Raises ValueError if it begins with none."""
    return _DECODER.raw_decode(text)[1]


def accepts(text: str) -> bool:
    """Does orjson accept it? What it refuses may still be JSON (see above)."""
    try:
        _check_values(text, MAX_VALUES)
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


def dumps_member(value: Any) -> bytes:
    """What `dumps` writes for a member of an object, for `dumps_with`; nothing if orjson cannot write it."""
    try:
        return orjson.dumps([value])[1:-1]
    except TypeError:
        return b""


def dumps_with(value: JsonObject, name: str, member: bytes) -> bytes:
    """`dumps` of an object, where this member of it was written before (`dumps_member`)."""
    if member:
        try:
            return orjson.dumps({**value, name: orjson.Fragment(member)})
        except TypeError:
            pass
    return dumps(value)


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
    """`dumps`, as text. Many that are kept take little memory: of each that orjson wrote 4 KiB are kept."""
    return dumps(value).decode("utf-8")


def dumps_exactly(value: Any) -> str:
    """The same. Raises ValueError for what is not written as it is: a number too large for a float, deep nesting."""
    try:
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return dumps_text(value)


def dumps_sorted(value: Any) -> str:
    """`dumps_text` with the keys of objects in order, so that equal values give equal texts."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode("utf-8")
    except TypeError:
        try:
            return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)
        except (
            RecursionError,
            ValueError,
        ):  # too deep to sort; two such values that differ only in order are not expected
            return dumps_text(value)


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
