"""What the check of a call's arguments costs, by validator: `python -m bench.validators`.

Those that are not installed are left out. A check has the schema as a dict (a tool of a request) and the arguments as
text; validators that compile are measured with and without the compilation, because a schema is new in every session.
"""

from __future__ import annotations

import importlib
import timeit
from collections.abc import Callable, Iterator
from typing import Any

from moongate.kimi.guard.tool_schemas import ToolSchema
from moongate.payload import dumps_text, loads

EDIT = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The absolute path to the file to modify"},
        "old_string": {"type": "string"},
        "new_string": {"type": "string"},
        "replace_all": {"type": "boolean", "default": False},
    },
    "required": ["file_path", "old_string", "new_string"],
    "additionalProperties": False,
}
TODOS = {
    "type": "object",
    "properties": {
        "todos": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "minLength": 1},
                    "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                    "active_form": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["content", "status"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["todos"],
}
NESTED: dict[str, Any] = {"type": "string"}
for _ in range(12):  # 2^12 ways: each level may be either of two schemas that differ far below
    NESTED = {"anyOf": [{"type": "array", "items": NESTED}, {"type": "array", "items": {**NESTED, "title": "again"}}]}
DEEP: Any = 1
for _ in range(12):
    DEEP = [DEEP]
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "edit a file": (EDIT, {"file_path": "/a/b.py", "old_string": "x" * 400, "new_string": "y" * 500}),
    "ten todos": (TODOS, {"todos": [{"content": f"step {n}", "status": "pending"} for n in range(10)]}),
    "4 096 ways to fail": (NESTED, DEEP),
}


Compile = Callable[[dict[str, Any]], Callable[[Any], object]]


def validators() -> Iterator[tuple[str, Compile]]:
    yield "own (kimi/guard)", lambda schema: ToolSchema(schema).mismatch
    others: tuple[tuple[str, Callable[[Any], Compile]], ...] = (
        ("jsonschema_rs", lambda module: lambda schema: module.validator_for(schema).is_valid),
        ("fastjsonschema", lambda module: lambda schema: module.compile(schema)),
        ("jsonschema", lambda module: lambda schema: module.Draft202012Validator(schema).is_valid),
    )
    for name, make in others:
        try:
            yield name, make(importlib.import_module(name))
        except ImportError:
            print(f"{name} is not installed")


def microseconds(function: Callable[[], object]) -> float:
    timer = timeit.Timer(function)
    number, seconds = timer.autorange()
    return min(seconds, *timer.repeat(2, number)) / number * 1e6


def quietly(check: Callable[[Any], object], value: Any) -> None:
    try:
        check(value)
    except Exception:
        return


if __name__ == "__main__":
    for case, (schema, value) in CASES.items():
        text = dumps_text(value)
        print(f"{case}: parsing the arguments alone {microseconds(lambda text=text: loads(text)):.1f} µs")  # type: ignore[misc]
        for name, compile_schema in validators():
            try:
                made = compile_schema(schema)
            except SyntaxError as error:  # of the code that it generates
                print(f"  {name:18} cannot compile it: {error.msg}")
                continue
            alone = microseconds(lambda made=made, value=value: quietly(made, value))  # type: ignore[misc]
            whole = microseconds(
                lambda make=compile_schema, schema=schema, value=value: quietly(make(schema), value)  # type: ignore[misc]
            )
            print(f"  {name:18} {alone:9.1f} µs compiled   {whole:9.1f} µs with a new schema")
