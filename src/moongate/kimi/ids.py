"""Ids of tool calls (section 3).

K2 prints the id, and only the id, into its prompt: the id is the function's name. So it has to be
`functions.{name}:{index}`, with one index over the whole conversation. K3 never prints ids: any text will do that is
not empty and not used twice.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence, Set
from typing import Final

from moongate.kimi.family import Family
from moongate.kimi.options import KimiOptions

MAX_INDEX_DIGITS: Final = 9

_NO_IDS: Final[Set[str]] = frozenset()

_DISGUISED_NAME: Final = re.compile(r"functions\.(.+):[0-9]+|functions_(.+)_[0-9]+", re.DOTALL)


class Ledger:
    """The ids of one conversation so far: history first, then one choice of the answer.

    "Before" means only what stands earlier, so old ids never change as a conversation grows.
    """

    __slots__ = (
        *("_before", "_count", "_family", "_highest", "_mine", "_options", "_prefix", "_renumbers"),
        *("active", "by_message", "names_tools"),
    )

    def __init__(self, options: KimiOptions, family: Family) -> None:
        self._options, self._family = options, family
        self.active = options.repair_on_mismatch or options.id_normalization
        self._prefix = f"{options.id_prefix}."
        self._renumbers = options.id_normalization
        self.by_message = options.counter_scope == "request"
        self.names_tools = family == "k2" or options.id_normalization  # ids bear the tool's name
        self._count = 0  # calls so far
        self._highest = -1  # highest good or made index so far
        self._before: Set[str] = _NO_IDS  # ids that other ledgers may share: never added to
        self._mine: set[str] = set()

    def begin_message(self) -> None:
        """An assistant message begins. With `counterScope: "request"` nothing before it counts."""
        if self.by_message:
            self._count, self._highest, self._before, self._mine = 0, -1, _NO_IDS, set()

    def fork(self) -> Ledger:
        """A ledger that goes on from here on its own: one for each choice of an answer."""
        child = Ledger(self._options, self._family)
        child._count, child._highest = self._count, self._highest
        if self._mine:
            self._before, self._mine = (self._before | self._mine if self._before else self._mine), set()
        child._before = self._before
        if self.by_message:
            child.begin_message()
        return child

    def claim(self, given: str, name: str) -> str:
        """The id of the next call, which came with the id `given`. Switched off: what was given."""
        if not self.active:
            return given
        if self.names_tools:
            final = self._k2_id(given, name)
        else:
            final = given if given and not self._is_taken(given) else self._free_id(name)
        self._mine.add(final)
        self._count += 1
        return final

    def claim_all(self, given: Sequence[str], names: Sequence[str]) -> Sequence[str]:
        """The ids of the next calls: what each came with, and its name."""
        if not self.active:
            return given
        made = self._made_at_once(given, names)
        return list(map(self.claim, given, names)) if made is None else made

    def _made_at_once(self, given: Sequence[str], names: Sequence[str]) -> list[str] | None:
        """The same if not one of the ids that they came with is good; None if that is not to be seen at once."""
        first = max(self._count, self._highest + 1)
        if self.names_tools:
            if self._renumbers or not self._mine.issuperset(given):
                return None
            ids = [f"{self._prefix}{name}:{index}" for index, name in enumerate(names, first)]
        else:
            if any(given):
                return None
            ids = [f"{name}_{n}" for n, name in enumerate(names, first)]
            if not (self._mine.isdisjoint(ids) and self._before.isdisjoint(ids)):
                return None
        self._mine.update(ids)
        self._count += len(ids)
        self._highest = first + len(ids) - 1
        return ids

    def _is_taken(self, text: str) -> bool:
        return text in self._mine or text in self._before

    def _k2_id(self, given: str, name: str) -> str:
        if self._renumbers:
            return f"{self._prefix}{name}:{self._count}"
        if given.startswith(self._prefix) and given not in self._mine and given not in self._before:
            head = f"{self._prefix}{name}:"
            index = given[len(head) :]
            good = index.isdigit() and given.startswith(head) and len(index) <= MAX_INDEX_DIGITS
            if good and index.isascii():
                if (number := int(index)) > self._highest:
                    self._highest = number
                return given
        highest = self._highest + 1
        self._highest = highest if highest > self._count else self._count
        return f"{self._prefix}{name}:{self._highest}"

    def _free_id(self, name: str) -> str:
        """`{name}_{n}`. Each n is tried once in a conversation, so many taken ids cost no more than they are long."""
        self._highest = max(self._count, self._highest + 1)
        while self._is_taken(made := f"{name}_{self._highest}"):
            self._highest += 1
        return made


def plain_tool_name(raw: str, offered: Container[str]) -> str:
    """NAME for `functions.NAME:N`, `functions.NAME`, `functions_NAME_N`, if NAME was offered and `raw` was not."""
    if not raw.startswith("functions") or raw in offered:
        return raw
    found = _DISGUISED_NAME.fullmatch(raw)
    if found and (name := found[1] or found[2]) in offered:
        return name
    name = raw.removeprefix("functions.")
    return name if name in offered else raw
