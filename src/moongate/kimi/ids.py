"""Ids of tool calls (section 3).

K2 prints only the id of a call into its prompt, so the id has to carry the function's name:
`functions.{name}:{index}`, with one index that rises over the whole conversation. K3 never prints ids: any text will do
that is not empty and not used twice.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence, Set
from typing import Final

from moongate.kimi.family import IdRule
from moongate.kimi.options import KimiOptions

MAX_INDEX_DIGITS: Final = 9

_NO_IDS: Final[Set[str]] = frozenset()

_ID_LIKE_NAME: Final = re.compile(r"functions\.(.+):[0-9]+|functions_(.+)_[0-9]+", re.DOTALL)


class CallIds:
    """The ids of one conversation so far: those of the history, then those of one choice of the answer.

    An id depends only on the calls before it, so final ids never change as a conversation grows.
    """

    __slots__ = (
        *("_count", "_highest", "_id_rule", "_inherited", "_options", "_own", "_prefix", "_renumbers"),
        *("active", "ids_name_tools", "per_message"),
    )

    def __init__(self, options: KimiOptions, id_rule: IdRule) -> None:
        self._options, self._id_rule = options, id_rule
        self.active = options.repair_on_mismatch or options.id_normalization
        self._prefix = f"{options.id_prefix}."
        self._renumbers = options.id_normalization
        self.per_message = options.counter_scope == "request"
        self.ids_name_tools = id_rule is IdRule.TOOL_NAME or options.id_normalization
        self._count = 0  # calls so far
        self._highest = -1  # highest index so far, of a valid id or of one made here
        self._inherited: Set[str] = _NO_IDS  # may be shared with its forks: never added to
        self._own: set[str] = set()

    def begin_message(self) -> None:
        """An assistant message begins. With `counterScope: "request"` its ids are independent of those before."""
        if self.per_message:
            self._count, self._highest, self._inherited, self._own = 0, -1, _NO_IDS, set()

    def fork(self) -> CallIds:
        """Independent ids that continue from here: one for each choice of an answer."""
        child = CallIds(self._options, self._id_rule)
        child._count, child._highest = self._count, self._highest
        if self._own:
            self._inherited, self._own = (self._inherited | self._own if self._inherited else self._own), set()
        child._inherited = self._inherited
        if self.per_message:
            child.begin_message()
        return child

    def claim(self, original_id: str, name: str) -> str:
        """The final id of the next call, which came with `original_id`; that id itself if the repair is off."""
        if not self.active:
            return original_id
        if self.ids_name_tools:
            final = self._id_with_name(original_id, name)
        else:
            final = original_id if original_id and not self._is_taken(original_id) else self._free_id(name)
        self._own.add(final)
        self._count += 1
        return final

    def claim_all(self, original_ids: Sequence[str], names: Sequence[str]) -> Sequence[str]:
        """The final ids of the next calls, each with its original id and its name."""
        if not self.active:
            return original_ids
        new_ids = self._claim_new(original_ids, names)
        return list(map(self.claim, original_ids, names)) if new_ids is None else new_ids

    def keep(self, ids: Sequence[str]) -> None:
        """The ids of the next calls stay as they are: the repair is off."""
        self._own.update(ids)
        self._count += len(ids)

    def free_id(self, name: str) -> str:
        """A new id for the next call, which has none: `{name}_{n}`, whatever the rule for ids is."""
        made = self._free_id(name)
        self._own.add(made)
        self._count += 1
        return made

    def _claim_new(self, original_ids: Sequence[str], names: Sequence[str]) -> list[str] | None:
        """`claim_all` in a few steps where a cheap test shows that every original id is invalid; else None."""
        first = max(self._count, self._highest + 1)
        if self.ids_name_tools:
            if self._renumbers or not self._own.issuperset(original_ids):
                return None
            ids = [f"{self._prefix}{name}:{index}" for index, name in enumerate(names, first)]
        else:
            if any(original_ids):
                return None
            ids = [f"{name}_{n}" for n, name in enumerate(names, first)]
            if not (self._own.isdisjoint(ids) and self._inherited.isdisjoint(ids)):
                return None
        self._own.update(ids)
        self._count += len(ids)
        self._highest = first + len(ids) - 1
        return ids

    def _is_taken(self, text: str) -> bool:
        return text in self._own or text in self._inherited

    def _id_with_name(self, original_id: str, name: str) -> str:
        """The original id if it is valid and its index is higher than all before it, else one with the next index."""
        if self._renumbers:
            return f"{self._prefix}{name}:{self._count}"
        if original_id.startswith(self._prefix):
            head = f"{self._prefix}{name}:"
            index = original_id[len(head) :]
            valid = index.isdigit() and original_id.startswith(head) and len(index) <= MAX_INDEX_DIGITS
            if valid and index.isascii() and (number := int(index)) > self._highest:
                self._highest = number
                return original_id
        highest = self._highest + 1
        self._highest = highest if highest > self._count else self._count
        return f"{self._prefix}{name}:{self._highest}"

    def _free_id(self, name: str) -> str:
        """`{name}_{n}`. Each n is tried once per conversation, so the cost is linear even if many ids are taken."""
        self._highest = max(self._count, self._highest + 1)
        while self._is_taken(made := f"{name}_{self._highest}"):
            self._highest += 1
        return made


def bare_tool_name(raw: str, offered: Container[str]) -> str:
    """NAME for `functions.NAME:N`, `functions.NAME`, `functions_NAME_N`, if NAME was offered and `raw` was not.

    Models that have learned ids sometimes write one where the name belongs.
    """
    if not raw.startswith("functions") or raw in offered:
        return raw
    found = _ID_LIKE_NAME.fullmatch(raw)
    if found and (name := found[1] or found[2]) in offered:
        return name
    name = raw.removeprefix("functions.")
    return name if name in offered else raw
