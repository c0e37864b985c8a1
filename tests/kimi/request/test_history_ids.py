from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.ids import CallIds
from moongate.kimi.markers.k2 import K2
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.history import History, read_history
from moongate.kimi.request.history_ids import claim_ids
from moongate.payload import JsonObject


def tool(name: str) -> JsonObject:
    return {"type": "function", "function": {"name": name}}


def turn(*calls: tuple[str, str]) -> JsonObject:
    entries = [{"id": call_id, "function": {"name": name, "arguments": "{}"}} for call_id, name in calls]
    return {"role": "assistant", "tool_calls": entries}


def claimed(*messages: JsonObject, tools: tuple[str, ...] = (), **options: Any) -> History:
    history = read_history(list(messages), True)
    claim_ids(history, CallIds(KimiOptions(**options), K2.id_rule), [tool(name) for name in tools], list(messages))
    return history


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (["functions.a:0", "functions.a:1"], ["functions.a:0", "functions.a:1"]),
        (["functions.a:0", "functions.a:0"], ["functions.a:0", "functions.a:1"]),
        (["functions.a:7", "functions.a:0", "functions.a:1"], ["functions.a:7", "functions.a:8", "functions.a:9"]),
        (["functions.a:7", "x", "functions.a:8"], ["functions.a:7", "functions.a:8", "functions.a:9"]),
        (["x", "functions.a:0", "functions.a:5", "functions.a:4"], [f"functions.a:{n}" for n in (0, 1, 5, 6)]),
        (["functions.a:0", "functions.a:02", "functions.a:2"], [f"functions.a:{n}" for n in ("0", "02", "3")]),
    ],
)
def test_an_index_has_to_rise(came: list[str], expected: list[str]) -> None:
    assert claimed(*(turn((each, "a")) for each in came)).final_ids == expected
    assert claimed(turn(*((each, "a") for each in came))).final_ids == expected


def test_with_request_scope_each_message_counts_on_its_own() -> None:
    messages = [turn(("functions.a:0", "a"), ("functions.b:0", "b")), turn(("functions.a:0", "a"), ("x", "a"))]
    expected = ["functions.a:0", "functions.b:1", "functions.a:0", "functions.a:1"]
    assert claimed(*messages, counter_scope="request").final_ids == expected


@pytest.mark.parametrize("scope", ["conversation", "request"])
def test_dropped_calls_are_not_counted(scope: str) -> None:
    history = claimed(turn(("x", ""), ("y", "a"), ("z", ""), ("", "b")), counter_scope=scope)
    assert history.final_ids == ["x", "functions.a:0", "z", "functions.b:1"]


def test_a_name_that_is_an_id_is_settled_before_the_id_is_judged() -> None:
    history = claimed(turn(("functions.a:0", "functions.a:0")), tools=("a",))
    assert (history.names, history.final_ids) == (["a"], ["functions.a:0"])
    history = claimed(turn(("functions.a:0", "functions.a:0")))
    assert (history.names, history.final_ids) == (["functions.a:0"], ["functions.functions.a:0:0"])


def test_a_tool_inside_a_message_is_offered_from_its_position_on() -> None:
    declared = {"role": "system", "tools": [tool("a")]}
    before, after = turn(("x", "functions.a:0")), turn(("y", "functions.a"))
    history = claimed(before, declared, {"role": "system", "tools": [tool("b")]}, after)
    assert history.names == ["functions.a:0", "a"]
