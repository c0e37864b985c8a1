"""Equality of JSON values: 1 is 1.0 and not true."""

from __future__ import annotations

from moongate.kimi.guard.check import SchemaCheck
from moongate.payload import dumps_sorted


def canonical(check: SchemaCheck, value: object) -> str:
    """Equal for values that are equal as JSON. It takes the check as many steps as it is long."""
    written = dumps_sorted(_whole_numbers(value))
    check.spend_for(written)
    return written


def equal(check: SchemaCheck, first: object, second: object) -> bool:
    if type_kind(first) != type_kind(second):
        return False
    if isinstance(first, str) and isinstance(second, str):
        check.spend_for(first if len(first) == len(second) else "")
        return first == second
    return canonical(check, first) == canonical(check, second)


def is_among(check: SchemaCheck, value: object, options: list[object]) -> bool:
    """Is the value equal to one of these? It is written once, however many there are."""
    if isinstance(value, str):
        return value in [option for option in options if isinstance(option, str)]
    kind, written = type_kind(value), canonical(check, value)
    return any(type_kind(option) == kind and canonical(check, option) == written for option in options)


def type_kind(value: object) -> str:
    """Values of different kinds are never equal."""
    if isinstance(value, bool) or value is None:
        return "other"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _whole_numbers(value: object) -> object:
    """The value with 1 for 1.0."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {name: _whole_numbers(each) for name, each in value.items()}
    return value
