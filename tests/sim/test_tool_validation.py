from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour, behaviour_of
from moongate.sim.tool_validation import (
    dynamic_tools_error,
    names_error,
    no_dynamic_tools_error,
    response_format_error,
    schemas_error,
    tools_error,
)

K3 = Behaviour(generation="k3", host="moonshot")
OBJECT = {"type": "object", "properties": {}}


def tool(name: Any = "add_up", parameters: Any = OBJECT, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}, **fields}


def declared(*tools: Any, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": "", "tools": list(tools), **fields}]}


def test_dynamic_tools_that_pass() -> None:
    for request in (declared(tool()), declared(tool(), content=None), declared(), {"messages": [3, {"role": "user"}]}):
        assert dynamic_tools_error(request, K3) is None
        assert tools_error(request, K3) is None


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"role": "user"}, "only allowed on system messages"),
        ({"role": "assistant"}, "only allowed on system messages"),
        ({"tools": {"type": "function"}}, "must be an array"),
        ({"content": "Be kind."}, "must have empty content"),
    ],
)
def test_where_dynamic_tools_are_refused(fields: dict[str, Any], text: str) -> None:
    assert text in str(dynamic_tools_error(declared(tool(), **fields), K3))


def test_dynamic_tools_are_for_k3_alone() -> None:
    assert dynamic_tools_error(declared(tool()), Behaviour(generation="k2.6")) == "Invalid request: tokenization failed"
    assert dynamic_tools_error(declared(), Behaviour(generation="k2.6")) is None
    assert no_dynamic_tools_error(declared(tool()), K3) is not None
    assert no_dynamic_tools_error(declared(), K3) is None


@pytest.mark.parametrize(
    ("tools", "text"),
    [
        ([None], "must hold objects"),
        ([{"function": {"name": "fine_tool", "parameters": OBJECT}}], "unsupported tool type None"),
        ([tool(type="gadget")], "unsupported tool type 'gadget'"),
        ([tool(), tool("other", type="gadget")], "unsupported tool type 'gadget'"),
        ([{"type": "function"}], "tools.function is required"),
        ([{"type": "function", "function": {"parameters": OBJECT}}], "function name is required"),
        ([tool("")], "function name is required"),
        ([tool("9lives")], "function name is invalid"),
        ([tool("tide@low")], "function name is invalid"),
        ([tool("q" * 257)], "function name is invalid"),
        ([tool(), tool()], "function name add_up is duplicated"),
        ([tool(f"tool_{n}") for n in range(129)], "too many tools: 129"),
        ([tool(parameters=None)], 'must be "object"'),
        (
            [tool(parameters={"type": "object", "properties": {"a": {"type": "x"}}})],
            "not a valid moonshot flavored json schema",
        ),
        ([{"type": "builtin_function", "function": {}}], "function name is required"),
    ],
)
def test_tools_that_are_refused_wherever_they_stand(tools: list[Any], text: str) -> None:
    assert text in str(tools_error({"tools": tools}, K3))
    assert text in str(tools_error(declared(*tools), K3))


def test_a_name_is_declared_once_in_a_request() -> None:
    assert "duplicated" in str(tools_error({"tools": [tool()], **declared(tool())}, K3))
    messages = declared(tool())["messages"] * 2
    assert "duplicated" in str(tools_error({"messages": messages}, K3))
    assert tools_error({"tools": [tool()], **declared(tool("other"))}, K3) is None
    assert "must be an array" in str(tools_error({"tools": {}}, K3))


def test_parameters_without_any_word_pass() -> None:
    assert tools_error({"tools": [tool(parameters={})]}, K3) is None


def test_the_level_of_the_validator() -> None:
    request = {"tools": [tool(parameters={**OBJECT, "$schema": "x"})]}
    assert schemas_error(request, behaviour_of("kimi-k3-sim-schema-wall")) is None
    assert "moonshot flavored" in str(schemas_error(request, behaviour_of("kimi-k3-sim-schema-wall-ultra")))


def test_schemas_that_take_too_many_steps_together_are_refused() -> None:
    tools = [tool(f"tool_{n}", {"type": "object", "properties": {"a": {"type": "string"}}}) for n in range(10)]
    assert tools_error({"tools": tools}, K3) is None
    assert "schema is too complex" in str(tools_error({"tools": tools}, K3, max_steps=20))


def test_names_alone() -> None:
    assert "function name is invalid" in str(names_error({"tools": [tool("2.get"), 3]}, K3))
    assert names_error(declared(tool(parameters=None)), K3) is None


def wanted(**fields: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "tide", "schema": OBJECT, **fields}}}


@pytest.mark.parametrize(
    ("request_fields", "text"),
    [
        ({"response_format": {"type": "gadget"}}, "response_format.type must be one of"),
        ({"response_format": "json"}, "response_format.type must be one of"),
        ({"response_format": {"type": "json_schema"}}, "json_schema is required"),
        (wanted(name=None), "name is required"),
        (wanted(schema=None), "schema is required"),
        (wanted(schema="object"), "must be an object"),
        (wanted(strict="true"), "strict must be a boolean"),
        (wanted(schema={"type": "bogus"}), "json_schema.schema is not a valid moonshot flavored json schema"),
    ],
)
def test_formats_that_are_refused(request_fields: dict[str, Any], text: str) -> None:
    assert text in str(response_format_error(request_fields, K3))


@pytest.mark.parametrize(
    "request_fields",
    [
        {},
        {"response_format": {"type": "text"}},
        {"response_format": {"type": "json_object"}},
        wanted(),
        wanted(strict=False, schema={"type": "bogus"}),
    ],
)
def test_formats_that_pass(request_fields: dict[str, Any]) -> None:
    assert response_format_error(request_fields, K3) is None
