"""What a host gets for tools that are known: written once, then remembered with its notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from moongate.chat.fast import KnownTools
from moongate.kimi.notes import Notes
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.payload import dumps


class WrittenTools(NamedTuple):
    """The tools as they are sent, and what writing them has left behind."""

    tools: list[object]
    notes: list[Any]  # entries
    properties: Mapping[str, Mapping[str, str]]


def write_once(
    tools: list[object], schemas: SchemaWriter | None, notes: Notes, write: Callable[[], list[object]]
) -> list[object]:
    """What `write` gives for these tools: the schemas that `schemas` writes, and nothing else, differ from them.

    It is remembered when no schema took any work, because the cache had them all: as long as one does, what is made of
    it may depend on what else the request asks for.
    """
    if schemas is None or not isinstance(tools, KnownTools):
        return write()
    found: WrittenTools | None = tools.result(schemas.identity)
    if found is not None:
        notes.add_entries(found.notes)
        schemas.properties.update(found.properties)
        return found.tools
    position, steps = notes.position, schemas.steps.left
    written = write()
    if schemas.steps.left == steps:
        if written is not tools:
            written = KnownTools(dumps(written), written)
        known = WrittenTools(written, notes.entries_since(position), dict(schemas.properties))
        tools.remember(schemas.identity, known)
    return written
