"""The client's schemas, prepared once per tool and shared by all requests that offer the same tool."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from moongate.kimi.guard import bounds, evaluated, keywords, patterns
from moongate.kimi.guard.check import CheckSteps, Mismatch, SchemaCheck
from moongate.kimi.guard.mend import Mended, mend
from moongate.payload import dumps

MAX_SCHEMAS: Final = 512
MAX_BYTES: Final = 8 * 1024 * 1024  # of all schemas together, as JSON
RULES: Final = (keywords, bounds, evaluated, patterns)  # what declares the keywords

NO_PARAMETERS: Final = {"type": "object"}  # of a tool that declares none


class ToolSchema:
    """The schema of one tool. It may be used by several threads."""

    __slots__ = ("_references", "_root", "size")

    def __init__(self, parameters: object, size: int = 0) -> None:
        self.size = size
        self._root = NO_PARAMETERS if parameters is None else parameters
        self._references: dict[str, object] = {}

    def mismatch(self, arguments: object, steps: CheckSteps | None = None) -> Mismatch | None:
        """The first place at which the arguments do not fit."""
        return SchemaCheck(self._root, self._references, steps).mismatch(arguments)

    def mended(self, arguments: object, steps: CheckSteps | None = None) -> Mended | None:
        """The arguments, changed so that they fit; None if there is no obvious way."""
        return mend(SchemaCheck(self._root, self._references, steps), arguments)


class ToolSchemas:
    """The last ones that were used."""

    __slots__ = ("_bytes", "_schemas")

    def __init__(self) -> None:
        self._schemas: OrderedDict[bytes, ToolSchema] = OrderedDict()
        self._bytes = 0

    def of(self, parameters: object) -> ToolSchema:
        key = dumps(parameters)
        schema = self._schemas.pop(key, None)  # it becomes the newest; each step is safe among threads
        if schema is None:
            schema = ToolSchema(parameters, len(key))
            self._bytes += len(key)
        self._schemas[key] = schema
        while len(self._schemas) > MAX_SCHEMAS or (self._bytes > MAX_BYTES and len(self._schemas) > 1):
            self._bytes -= self._schemas.popitem(last=False)[1].size
        return schema
