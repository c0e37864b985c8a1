"""Native calls beside markers: the same call told twice is one call (section 5.7)."""

from __future__ import annotations

from typing import Any

from moongate.chat.grouping import CallSlot
from moongate.payload import dumps_sorted, loads


class NativeCalls:
    """What the native calls of one choice asked for, to be compared with the calls read from markers."""

    __slots__ = ("_fresh", "_known", "_names")

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._fresh: dict[CallSlot, str] = {}  # arguments came since we looked last
        self._known: set[tuple[str, bytes]] = set()

    def saw(self, name: str, call: CallSlot) -> None:
        """A native call, known to the client as `name`, came or grew."""
        self._names.add(name)
        self._fresh[call] = name

    def has_name(self, name: str) -> bool:
        return name in self._names

    def has(self, name: str, arguments: str) -> bool:
        """Did a native call ask for the same?"""
        for call, called in self._fresh.items():
            self._known.add((called, _meaning(call.arguments)))
        self._fresh.clear()
        return (name, _meaning(arguments)) in self._known


def _meaning(arguments: str) -> bytes:
    """Equal for arguments that are equal as JSON; text that is not JSON stands for itself."""
    try:
        value = loads(arguments or "{}")
        return dumps_sorted(_whole_numbers(value) if "." in arguments or "e" in arguments.lower() else value)
    except (ValueError, RecursionError):
        return arguments.encode("utf-8", "surrogatepass")


def _whole_numbers(value: Any) -> Any:
    """The value with 1 for 1.0, which are the same number in JSON."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {name: _whole_numbers(each) for name, each in value.items()}
    return value
