"""A bounded memory of normalised schemas, since agents send the same tools with every request.

Only pure results are kept, as bytes, and each hit gives a new object: nobody can tell a hit from a miss.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Final

from moongate.kimi.schema import normalise_schema
from moongate.payload import JsonObject, dumps, loads

MAX_ENTRIES: Final = 2048
MAX_BYTES: Final = 8 * 1024 * 1024


class SchemaCache:
    """`normalise_schema` with a memory. The least recently used go first; safe to share between threads."""

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._results: OrderedDict[bytes, bytes | None] = OrderedDict()  # None: the schema was good as it came
        self._bytes = 0
        self._lock = Lock()

    def normalise(self, parameters: Any, *, tool: str = "") -> JsonObject:
        """The same as `normalise_schema`, errors included."""
        if not isinstance(parameters, dict):
            return normalise_schema(parameters, tool=tool)
        try:
            key = dumps(parameters)
        except RecursionError:  # nested deeper than JSON texts are read
            return normalise_schema(parameters, tool=tool)
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                known = self._results[key]
                return parameters if known is None else _object(known)
        result = normalise_schema(parameters, tool=tool)
        self._remember(key, None if result is parameters else dumps(result))
        return result

    def _remember(self, key: bytes, result: bytes | None) -> None:
        with self._lock:
            if key in self._results:
                return
            self._results[key] = result
            self._bytes += len(key) + len(result or b"")
            while len(self._results) > self._max_entries or self._bytes > self._max_bytes:
                old_key, old = self._results.popitem(last=False)
                self._bytes -= len(old_key) + len(old or b"")


def _object(data: bytes) -> JsonObject:
    value: JsonObject = loads(data)
    return value
