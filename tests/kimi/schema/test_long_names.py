"""Names and paths of a schema that are written once for each of many places: no work and no memory by their product."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from time import thread_time
from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema.normalise import normalise_schema
from moongate.payload import dumps

SIZE = 8 * 1024
TIMES = 16
MOST_TIMES = 64  # the CPU time of a schema that is `TIMES` as large; what is quadratic takes 256 times as long
LEAST = 0.002  # seconds: what is quicker is measured as this
MOST_MEMORY = 24 * 1024 * 1024

Schema = dict[str, Any]


def _root(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties}


def _many(size: int, schema: Any) -> Schema:
    return {f"p{at}": schema for at in range(size // 20)}


def _in_definitions(size: int, keyword: str) -> Schema:
    """Definitions below a long name, of which one is looked for everywhere."""
    return _root(**{"n" * size: {keyword: _many(size, {})}}, x={"$ref": "#nowhere"})


def _named_by_anchor(size: int) -> Schema:
    """A definition with a long name, which short references mean."""
    definition = {"$anchor": "a", "type": "object", "properties": {"x": {"$ref": "#a"}}}
    return {**_root(**_many(size, {"$ref": "#a"})), "$defs": {"n" * size: definition}}


def _inherited(size: int) -> Schema:
    """A title on the way to a definition, beside many references with another description."""
    way = {"$ref": "#/$defs/b", "title": "t" * size, "description": "d"}
    places = _many(size // 4, {"$ref": "#/$defs/a", "description": "e"})
    return {**_root(**places), "$defs": {"a": way, "b": {"type": "object"}}}


def _enums(size: int) -> Schema:
    """A long enum and many short ones, none of whose values it has."""
    return _root(a={"allOf": [{"enum": list(range(size // 8))}, *[{"enum": [-1]}] * (size // 24)]})


SHAPES: dict[str, Callable[[int], Schema]] = {
    "properties": lambda size: _root(**{"n" * size: _root(**_many(size, {}))}, x={"$ref": "#nowhere"}),
    "a remote reference": lambda size: _root(**{"n" * size: {"anyOf": [{}] * (size // 4)}}, x={"$ref": "http://x"}),
    "a list": lambda size: _root(**{"n" * size: {"anyOf": [{}] * (size // 4)}}, x={"$ref": "#nowhere"}),
    "$defs": lambda size: _in_definitions(size, "$defs"),
    "definitions": lambda size: _in_definitions(size, "definitions"),
    "a definition named by an anchor": _named_by_anchor,
    "inherited annotations": _inherited,
    "enums": _enums,
}


def _normalise(schema: Schema) -> None:
    with suppress(BadRequest):
        normalise_schema(schema)


def _seconds(schema: Schema) -> float:
    start = thread_time()
    _normalise(schema)
    return max(thread_time() - start, LEAST)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_size(shape: str) -> None:
    small, large = SHAPES[shape](SIZE), SHAPES[shape](SIZE * TIMES)
    assert any(_seconds(large) <= MOST_TIMES * min(_seconds(small) for _ in range(3)) for _ in range(3))


@pytest.mark.parametrize("shape", SHAPES)
def test_so_does_the_memory(shape: str) -> None:
    schema = SHAPES[shape](SIZE * TIMES)
    assert len(dumps(schema)) < 4 * SIZE * TIMES
    tracemalloc.start()
    try:
        _normalise(schema)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
