"""Calls that come twice, natively and as markers in the text: the client gets them once (section 5.7)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from moongate.chat.call_grouping import CallSlot
from moongate.kimi.answer.call import AnswerCall
from moongate.payload import dumps_sorted, loads

MOST_READS: Final = 16  # of a call that grows while others end: to read it again each time is quadratic

_Key = tuple[str, str]  # the client's name of the tool, and its arguments in a normal form


class SeenCalls:
    """The calls of one kind (native, or read from markers) of one choice that have no equal of the other kind yet."""

    __slots__ = ("_changed", "_columns", "_keys", "_known", "_names", "_reads")

    def __init__(self) -> None:
        self._names: dict[str, AnswerCall | None] = {}  # name → its last call, if that may still grow
        self._changed: dict[CallSlot, str] = {}  # call → name, where arguments came since the last comparison
        self._columns: list[tuple[Sequence[str], Sequence[str]]] = []  # names and arguments, not yet compared
        self._keys: dict[CallSlot, _Key | None] = {}  # None: it has its equal, or gets none
        self._reads: dict[CallSlot, int] = {}  # of the arguments; beyond `MOST_READS` it has no equal
        self._known: dict[_Key, OrderedDict[CallSlot, None]] = {}

    def record(self, name: str, call: AnswerCall) -> None:
        """A call began or grew. `name` is the client's name of the tool."""
        self._names[name] = call
        self._changed[call] = name

    def record_all(self, names: Sequence[str], arguments: Sequence[str]) -> None:
        """Whole calls. Both must not be changed later."""
        self._names.update(dict.fromkeys(names))
        self._columns.append((names, arguments))

    def has_name(self, name: str) -> bool:
        return name in self._names

    def grows(self, name: str) -> bool:
        """Whether the last call with this name is not complete yet."""
        call = self._names.get(name)
        if call is not None and call.is_whole():
            call = self._names[name] = None
        return call is not None

    def take(self, name: str, arguments: str) -> bool:
        """Whether there is a call with this name and equal arguments. It has its equal now, and no other."""
        self._compare()
        calls = self._known.get((name, _canonical(arguments)))
        if not calls:
            return False
        self._keys[calls.popitem(last=False)[0]] = None
        return True

    def _compare(self) -> None:
        """Bring what is known up to date."""
        for names, arguments in self._columns:
            for name, text in zip(names, arguments, strict=True):
                call = CallSlot()
                call.parts.append(text)
                self._changed[call] = name
        self._columns.clear()
        for call, name in self._changed.items():
            before = self._keys.get(call, ())
            if before is None:
                continue
            reads = self._reads[call] = self._reads.get(call, 0) + 1
            key = (name, _canonical(call.arguments)) if reads <= MOST_READS else None
            if before == key:
                continue
            if before:
                del self._known[before][call]
            self._keys[call] = key
            if key is not None:
                self._known.setdefault(key, OrderedDict())[call] = None
        self._changed.clear()


def _canonical(arguments: str) -> str:
    """Equal for arguments that are equal as JSON; text that is not JSON is only equal to itself."""
    try:
        value = loads(arguments or "{}")
        return dumps_sorted(_whole_numbers(value) if "." in arguments or "e" in arguments.lower() else value)
    except (ValueError, RecursionError):
        return arguments


def _whole_numbers(value: object) -> object:
    """The value with 1 for 1.0, which are the same number in JSON."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {name: _whole_numbers(each) for name, each in value.items()}
    return value
