"""The schemas of one request as the host accepts them (section 10), all within one budget of steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moongate.errors import BadRequest
from moongate.kimi.notes import Notes
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.schema import Level, StepBudget
from moongate.payload import JsonObject

RESPONSE_FORMAT: Final = ""  # in the place of a tool's name: no tool has this one


class SchemaWriter:
    """`level` is how strictly schemas are judged: `strict` is what the server refuses, `ultra` the strictest."""

    def __init__(self, cache: SchemaCache, notes: Notes, level: Level, steps: StepBudget | None = None) -> None:
        self._cache = cache
        self._notes = notes
        self._level = level
        self.steps = StepBudget() if steps is None else steps
        self.properties: dict[str, Mapping[str, str]] = {}  # by tool: sent name of a property → original

    @property
    def identity(self) -> tuple[SchemaCache, Level]:
        """Two writers with the same one write the same."""
        return self._cache, self._level

    def write(self, schema: object, tool: str, path: str) -> object:
        """The schema of a tool, which stands at `path`; the same object if the host accepts it."""
        if not (isinstance(schema, dict) or schema in (None, True, [])):
            return schema  # left to the provider
        try:
            result = self._cache.normalise(schema, tool=tool, level=self._level, steps=self.steps)
        except BadRequest as error:
            inner = error.path.removeprefix("parameters")
            raise BadRequest(error.message.removeprefix(f"tool {RESPONSE_FORMAT!r}: "), path=path + inner) from None
        if result.names:
            self.properties[tool] = result.names
        if result.schema is not schema:
            self._notes.add("schema", path, schema, result.schema)
        return result.schema

    def write_response_format(self, body: JsonObject) -> JsonObject:
        """The request with the schema that its answer has to fit; the same object if nothing changes."""
        response_format = body.get("response_format")
        wanted = response_format.get("json_schema") if isinstance(response_format, dict) else None
        schema = wanted.get("schema") if isinstance(wanted, dict) else None
        if not isinstance(response_format, dict) or not isinstance(wanted, dict) or not isinstance(schema, dict):
            return body
        written = self.write(schema, RESPONSE_FORMAT, "response_format.json_schema.schema")
        if written is schema:
            return body
        return {**body, "response_format": {**response_format, "json_schema": {**wanted, "schema": written}}}
