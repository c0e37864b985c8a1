"""The fuzz target of the schema normaliser: schemas that grow, with a counter of steps.

The bytes are a small program: it makes leaves, wraps what it has in layers, many times over if a byte says so, puts
two schemas into one, and names definitions. So a few bytes make the inputs on which naive merging explodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from tests.fuzz.draw import Draw

from moongate.errors import BadRequest
from moongate.kimi.schema import Level, StepBudget, normalise_schema, validate_schema
from moongate.kimi.schema.normalise import MIN_STEPS
from moongate.kimi.schema.step_budget import MAX_STEPS
from moongate.payload import dumps

Schema = Any
Layer = Callable[[Schema], Schema]

MAX_BYTES = 1200  # of a schema: what is superlinear shows there already
MAX_OPERATIONS = 40
NAMES = ("A", "B", "C", "a/b", "p%q")
PROPERTIES = ("a", "b", "required", "", "x/y")
LEAVES: Sequence[Schema] = (
    *({}, True, False, None, {"type": "string"}, {"type": "string", "format": "x"}, {"enum": ["a", 1, None]}),
    *({"const": {"k": 1}}, {"type": ["string", "null"], "minLength": 1}, {"minLength": 2, "maxLength": 1}, 5),
    *({"$ref": "#"}, {"$ref": "#/properties/a"}, {"$ref": "#/nowhere"}, {"type": "object", "required": ["a", "zz"]}),
    *({"default": {"$ref": 1}}, {"description": 5, "title": "t"}, {"$anchor": "m"}, {"$ref": "#m"}, {"type": []}),
    *({"$ref": f"#/$defs/{name}", "description": "d"} for name in ("A", "B", "C", "a~1b", "p%25q")),
    *({"$ref": f"#/definitions/{name}", "type": "object"} for name in ("A", "B")),
)
LAYERS: Sequence[Layer] = (
    lambda schema: {"type": "array", "items": schema},
    lambda schema: {"items": [schema, {"type": "null"}]},
    lambda schema: {"type": "object", "properties": {"a": schema, "b": {}}, "required": ["a"]},
    lambda schema: {"properties": {"required": schema, "x/y": {}}, "additionalProperties": False},
    lambda schema: {"additionalProperties": schema, "patternProperties": {"^x": {"format": "x"}}},
    lambda schema: {"anyOf": [schema, {"type": "null"}], "default": None, "description": "d"},
    lambda schema: {"oneOf": [schema, {"const": 1}], "type": "object"},
    lambda schema: {"allOf": [schema, {"title": "t"}]},
    lambda schema: {"allOf": [{"anyOf": [schema, {"minLength": 1}]}, {"anyOf": [{"maxLength": 2}, {"title": "x"}]}]},
    lambda schema: {"type": ["object", "array", "null"], "properties": {"a": schema}, "items": {}},
    lambda schema: {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": schema, "b": schema}},
    lambda schema: {"not": schema, "if": schema},
)


def built(data: bytes) -> Schema:
    """The schema that the program in `data` makes."""
    draw = Draw(data)
    stack: list[Schema] = [{}]
    definitions: dict[str, Schema] = {}
    for _ in range(MAX_OPERATIONS):
        if draw.is_over:
            break
        operation = draw.byte() % 6
        if operation == 0:
            stack.append(draw.pick(LEAVES))
        elif operation in (1, 2):
            layers = [draw.pick(LAYERS) for _ in range(1 + draw.byte() % 3)]
            for at in range(draw.byte() % 64):
                stack[-1] = _bounded(layers[at % len(layers)](stack[-1]), stack[-1])
        elif operation == 3 and len(stack) > 1:
            top, below = stack.pop(), stack.pop()
            keyword = draw.pick(("anyOf", "allOf", "oneOf"))
            stack.append(_bounded({keyword: [below, top, *[top] * (draw.byte() % 20)]}, top))
        elif operation == 4:
            definitions[draw.pick(NAMES)] = stack[-1]
        else:
            name = draw.pick(PROPERTIES)
            stack[-1] = _bounded({"type": "object", "properties": {name: stack[-1], "a": stack[0]}}, stack[-1])
    root = stack[-1] if isinstance(stack[-1], dict) else {"properties": {"a": stack[-1]}}
    return {**root, draw.pick(("$defs", "definitions")): definitions} if definitions else root


def _bounded(schema: Schema, before: Schema) -> Schema:
    return schema if len(dumps(schema)) <= MAX_BYTES else before


def schema_normaliser(data: bytes) -> None:
    """Any schema becomes a good one or is refused, within the steps and the size that its own size allows."""
    schema = built(data)
    size = len(dumps(schema))
    level: Level = "strict" if sum(data) % 4 == 0 else "ultra"
    steps = StepBudget()
    with suppress(BadRequest):
        result = normalise_schema(schema, tool="t", level=level, steps=steps)
        assert (result is schema) == (validate_schema(schema, level) is None)
        assert result is schema or validate_schema(result, "ultra") is None
        assert len(dumps(result)) <= 4 * size + 64 * 1024
    assert MAX_STEPS - steps.left <= 3 * (MIN_STEPS + size)
