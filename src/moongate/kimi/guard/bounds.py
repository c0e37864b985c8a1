"""The keywords of JSON Schema that bound sizes and numbers, and how often an item may occur."""

from __future__ import annotations

from collections.abc import Callable, Sized
from decimal import Context, Decimal
from typing import Final

from moongate.kimi.guard.check import Mismatch, Path, SchemaCheck, rule
from moongate.kimi.guard.equality import canonical
from moongate.kimi.guard.keywords import shown
from moongate.payload import JsonObject

_SIZES: Final = (
    ("minLength", "string", "characters", True),
    ("maxLength", "string", "characters", False),
    ("minItems", "array", "items", True),
    ("maxItems", "array", "items", False),
    ("minProperties", "object", "properties", True),
    ("maxProperties", "object", "properties", False),
)
_LIMITS: Final[tuple[tuple[str, str, Callable[[float, float], bool]], ...]] = (
    ("minimum", "at least", lambda value, limit: value >= limit),
    ("maximum", "at most", lambda value, limit: value <= limit),
    ("exclusiveMinimum", "more than", lambda value, limit: value > limit),
    ("exclusiveMaximum", "less than", lambda value, limit: value < limit),
)
# More digits than a quotient can have: of integers that are read (MAX_DIGITS) and of the smallest float.
_EXACT: Final = Context(prec=1100, traps=[])


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _declare_size(keyword: str, kind: str, unit: str, least: bool) -> None:
    @rule(keyword, kind)
    def size(_check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
        assert isinstance(value, Sized)
        limit = schema[keyword]
        if not is_number(limit) or (len(value) >= limit if least else len(value) <= limit):
            return None
        return Mismatch(path, f"must have {'at least' if least else 'at most'} {limit} {unit}, not {len(value)}")


def _declare_limit(keyword: str, words: str, holds: Callable[[float, float], bool]) -> None:
    @rule(keyword, "number")
    def limit(_check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
        assert isinstance(value, int | float)
        bound = schema[keyword]
        if not is_number(bound) or holds(value, bound):
            return None
        return Mismatch(path, lambda: f"must be {words} {bound}, not {shown(value)}")


for _size in _SIZES:
    _declare_size(*_size)
for _limit in _LIMITS:
    _declare_limit(*_limit)


@rule("multipleOf", "number")
def multiple_of(_check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, int | float)
    step = schema["multipleOf"]
    if not is_number(step) or step <= 0 or _divides(value, step):
        return None
    return Mismatch(path, lambda: f"must be a multiple of {step}, not {shown(value)}")


def _divides(value: float, step: float) -> bool:
    """As the numbers are written: 0.3 is a multiple of 0.1, though the floats that stand for them are not."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    rest = _EXACT.remainder(Decimal(repr(value)), Decimal(repr(step)))
    return not rest or rest.is_nan()  # infinite: too large to tell


@rule("uniqueItems", "array")
def unique_items(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mismatch | None:
    assert isinstance(value, list)
    if schema["uniqueItems"] is not True:
        return None
    check.spend(len(value))
    unique = {canonical(check, each) for each in value}
    return None if len(unique) == len(value) else Mismatch(path, "has the same item twice")
