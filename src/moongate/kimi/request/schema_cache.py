"""A bounded cache of normalised schemas, because agents send the same tools with every request.

Results are kept as bytes and each hit gives a new object, so a hit is indistinguishable from a miss.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from moongate.kimi.schema import Level, NormalisedSchema, StepBudget, normalised
from moongate.kimi.schema.normalise import enough_steps
from moongate.payload import dumps, loads

MAX_ENTRIES: Final = 2048
MAX_BYTES: Final = 8 * 1024 * 1024
SUM_EVERY: Final = 256  # new entries

# The result (b"": the schema needed no change), the renamed properties, and the bytes that all of it takes.
Entry = tuple[bytes, Mapping[str, str], int]


class SchemaCache:
    """`normalised` with a cache. The least recently used entries are evicted first.

    Safe to share between threads without a lock: each step on the table is one atomic operation, what another thread
    has just evicted is only computed again. The counted size may lose an update, so it is summed up anew now and then.
    """

    __slots__ = ("_max_bytes", "_max_entries", "_results", "_size", "_stored")

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._results: OrderedDict[bytes, Entry] = OrderedDict()
        self._size = 0  # bytes of all entries
        self._stored = 0  # entries since the size was summed up

    def __len__(self) -> int:
        return len(self._results)

    def normalise(
        self, parameters: object, *, tool: str = "", level: Level = "ultra", steps: StepBudget | None = None
    ) -> NormalisedSchema:
        """The same as `normalised`, errors included. A hit costs no steps."""
        if not isinstance(parameters, dict):
            return normalised(parameters, tool=tool, level=level, steps=steps)
        key = level.encode() + dumps(parameters)
        known = self._results.get(key)
        if known is not None:
            self._results.pop(key, None)
            self._results[key] = known  # now the most recently used
            return NormalisedSchema(loads(known[0]), known[1]) if known[0] else NormalisedSchema(parameters)
        budget = StepBudget() if steps is None else steps
        full = budget.left >= enough_steps(len(key))  # else it may have less detail than another request would get
        result = normalised(parameters, tool=tool, level=level, steps=budget)
        if result.schema is parameters:
            self._store(key, b"", {})
        elif full:
            self._store(key, dumps(result.schema), result.names)
        return result

    def _store(self, key: bytes, result: bytes, names: Mapping[str, str]) -> None:
        size = len(key) + len(result) + sum(len(sent) + len(name) for sent, name in names.items())
        self._results[key] = (result, names, size)
        self._size += size
        self._stored += 1
        if self._stored >= SUM_EVERY:
            self._stored, self._size = 0, sum([entry[2] for entry in list(self._results.values())])
        while self._results and (len(self._results) > self._max_entries or self._size > self._max_bytes):
            with suppress(KeyError):  # another thread has evicted the last one
                self._size -= self._results.popitem(last=False)[1][2]
