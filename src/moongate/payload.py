"""JSON in and out. The only module that knows which JSON library is used.

orjson does the work. Two things it refuses are ordinary on this wire: half of a surrogate pair (`"\\ud83d"`
in one delta, `"\\ude00"` in the next) and integers beyond 64 bits; for those the standard library steps in. Both
read deeper than they write, so what is nested very deeply is written here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, NoReturn

import orjson

JsonObject = dict[str, Any]

_BETWEEN: Final = "\x1e"
_BETWEEN_WRITTEN: Final = orjson.dumps(_BETWEEN)[1:-1]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def loads(data: bytes | str) -> Any:
    """The value of a JSON text. Raises ValueError for anything else (NaN, Infinity, bad UTF-8, too deep)."""
    try:
        return orjson.loads(data)
    except ValueError:
        try:
            return json.loads(data, parse_constant=_refuse_constant)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def accepts(text: str) -> bool:
    """Does orjson read it? What it refuses may be JSON all the same (see above), and then it is quick to say no."""
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
    """What `dumps` writes between the quotes of each text, of many in a few steps."""
    try:
        written = orjson.dumps(_BETWEEN.join(texts))[1:-1].split(_BETWEEN_WRITTEN)
    except TypeError:
        written = []
    if len(written) != len(texts):  # what stands between them is in one of them, too
        return [dumps(text)[1:-1] for text in texts]
    return written


def dumps_text(value: Any) -> str:
    """`dumps`, as text."""
    return dumps(value).decode("utf-8")


def dumps_sorted(value: Any) -> bytes:
    """`dumps` with the keys of objects in order, so that equal values give equal bytes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        try:
            return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False).encode("ascii")
        except (RecursionError, ValueError):  # nobody nests so deep twice in another order
            return dumps(value)


class _Written:
    """Text that is JSON already."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _dumps_slowly(value: Any) -> bytes:
    """JSON of a value that is nested deeper than the libraries can follow, with a stack of our own, or in which a
    number is too large for one (`1e400`): null, as orjson writes it."""
    parts: list[str] = []
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Written):
            parts.append(item.text)
        elif isinstance(item, dict):
            waiting.append(_Written("}"))
            for key, member in reversed(item.items()):
                waiting += (member, _Written(f",{json.dumps(key)}:"))
            if item:
                waiting[-1] = _Written(waiting[-1].text[1:])
            parts.append("{")
        elif isinstance(item, list):
            waiting.append(_Written("]"))
            for member in reversed(item):
                waiting += (member, _Written(","))
            if item:
                waiting.pop()
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
