"""A bounded memory of normalised schemas, since agents send the same tools with every request.

Only pure results are kept, as bytes, and each hit gives a new object: nobody can tell a hit from a miss.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from moongate.kimi.schema import normalise_schema
from moongate.payload import JsonObject, dumps, loads

MAX_ENTRIES: Final = 2048
MAX_BYTES: Final = 8 * 1024 * 1024


class SchemaCache:
    """`normalise_schema` with a memory. The least recently used go first.

    Safe to share between threads without a lock: each step on the table is one atomic operation, and what another
    thread has just forgotten is only worked out again.
    """

    __slots__ = ("_bytes", "_max_bytes", "_max_entries", "_results")

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._results: OrderedDict[bytes, bytes] = OrderedDict()  # b"": the schema was good as it came
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._results)

    def normalise(self, parameters: Any, *, tool: str = "") -> JsonObject:
        """The same as `normalise_schema`, errors included."""
        if not isinstance(parameters, dict):
            return normalise_schema(parameters, tool=tool)
        key = dumps(parameters)
        known = self._results.get(key)
        if known is not None:
            self._results.pop(key, None)
            self._results[key] = known  # now the most recently used
            return _object(known) if known else parameters
        result = normalise_schema(parameters, tool=tool)
        self._remember(key, b"" if result is parameters else dumps(result))
        return result

    def _remember(self, key: bytes, result: bytes) -> None:
        self._results[key] = result
        self._bytes += len(key) + len(result)
        while self._results and (len(self._results) > self._max_entries or self._bytes > self._max_bytes):
            old_key, old = self._results.popitem(last=False)
            self._bytes -= len(old_key) + len(old)


def _object(data: bytes) -> JsonObject:
    value: JsonObject = loads(data)
    return value
