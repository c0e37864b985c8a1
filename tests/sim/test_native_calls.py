from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimCall
from moongate.sim.native_calls import LOST_ID, call_deltas, call_id, whole_calls

ADD = SimCall("add", '{"a":"aaaaaaaaaaaa"}', 4, 0)
SUB = SimCall("sub", '{"b":1}', 5, 1)
CALLS = (ADD, SUB)
CLEAN = Behaviour(generation="k2.5")


@pytest.mark.parametrize(
    ("shape", "ids"),
    [
        ("", ["functions.add:4", "functions.sub:5"]),
        ("empty", ["", ""]),
        ("null", [None, None]),
        ("missing", [None, None]),
        ("repeated", ["functions.add:0", "functions.sub:0"]),
        ("one", ["call_0", "call_0"]),
        ("short", ["add:4", "sub:5"]),
        ("safe", ["functions_add_4", "functions_sub_5"]),
        ("number", ["4", "5"]),
        ("restarted", ["functions.add:0", "functions.sub:1"]),
    ],
)
def test_ids(shape: str, ids: list[str | None]) -> None:
    assert [call_id(call, replace(CLEAN, ids=shape)) for call in CALLS] == ids


def test_ids_of_hosts() -> None:
    def given(generation: str, host: str) -> str | None:
        return call_id(SUB, Behaviour(generation=generation, host=host))

    assert given("k2", "vllm") == given("k2", "sglang") == given("k2", "generic") == "functions.sub:5"
    assert given("k2", "moonshot") == given("k3", "sglang") == "sub:5"
    assert str(given("k3", "vllm")).startswith("chatcmpl-tool-")
    assert str(given("k2", "openrouter")).startswith("call_")
    assert given("k3", "generic") == "sub:1"


def call_parts(behaviour: Behaviour) -> list[Any]:
    return list(call_deltas((ADD,), behaviour))


def test_a_clean_call_streams_as_openai_does() -> None:
    assert call_parts(CLEAN) == [
        {"index": 0, "id": "functions.add:4", "type": "function", "function": {"name": "add", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":"aaaaa'}},
        {"index": 0, "function": {"arguments": 'aaaaaaa"}'}},
    ]


def test_odd_call_deltas() -> None:
    assert all("index" not in part for part in call_parts(replace(CLEAN, index="missing")))
    assert [part["index"] for part in call_parts(replace(CLEAN, index="same"))] == [0, 0, 0]
    assert [part["id"] for part in call_parts(replace(CLEAN, tail="id"))] == ["functions.add:4"] * 3
    assert call_parts(replace(CLEAN, tail="null"))[1]["function"]["name"] is None
    assert call_parts(replace(CLEAN, tail="empty"))[1]["id"] == ""
    assert call_parts(replace(CLEAN, arguments="once"))[0]["function"]["arguments"] == ADD.arguments
    assert call_parts(replace(CLEAN, arguments="object"))[0]["function"]["arguments"] == {"a": "aaaaaaaaaaaa"}
    assert "arguments" not in call_parts(replace(CLEAN, arguments="none"))[0]["function"]
    assert "id" not in call_parts(replace(CLEAN, ids="missing"))[0]
    assert call_parts(replace(CLEAN, names="prefixed"))[0]["function"]["name"] == "functions.add:4"


def test_arguments_all_at_once_behind_the_name() -> None:
    first, second = call_parts(replace(CLEAN, arguments="late"))
    assert first["function"] == {"name": "add", "arguments": ""}
    assert second == {"index": 0, "function": {"arguments": ADD.arguments}}


def test_names_in_two_pieces() -> None:
    first, second, *rest = call_parts(replace(CLEAN, names="split"))
    assert (first["function"]["name"], second["function"]) == ("a", {"name": "dd"})
    assert all("name" not in part["function"] for part in rest)
    assert call_parts(replace(CLEAN, names="split", arguments="once"))[0]["function"]["name"] == "add"


def test_calls_without_names() -> None:
    behaviour = replace(CLEAN, nameless="extra")
    assert [call["function"].get("name") for call in whole_calls(CALLS, behaviour)] == ["add", "sub", None]
    extra = [part for part in call_deltas(CALLS, behaviour) if part["index"] == 2]
    assert extra[0]["id"] == LOST_ID
    assert all("name" not in part["function"] for part in extra)
    assert list(call_deltas((), behaviour)) == []
    everything = replace(CLEAN, nameless="all")
    assert all("name" not in call["function"] for call in whole_calls(CALLS, everything))
    assert all("name" not in part["function"] for part in call_deltas(CALLS, everything))


def test_custom_calls() -> None:
    patch = SimCall("patch", "a text of sixteen", 0, 0, custom=True)
    assert whole_calls((patch,), CLEAN) == [
        {"id": "functions.patch:0", "type": "custom", "custom": {"name": "patch", "input": "a text of sixteen"}}
    ]
    first, *rest = call_deltas((patch,), CLEAN)
    assert first["custom"] == {"name": "patch", "input": ""}
    assert "".join(part["custom"]["input"] for part in rest) == "a text of sixteen"
    assert "id" not in whole_calls((patch,), replace(CLEAN, ids="missing"))[0]


def test_arguments_that_are_no_object_stay_text() -> None:
    broken = SimCall("add", '{"a"', 0, 0)
    assert whole_calls((broken,), replace(CLEAN, arguments="object"))[0]["function"]["arguments"] == '{"a"'
