from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour
from moongate.sim.strict import history_error

K2, K3 = Behaviour(), Behaviour(generation="k3")


def assistant(*ids: Any, name: str = "add", arguments: Any = "{}") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "x"}


def error_of(*messages: dict[str, Any], behaviour: Behaviour = K2) -> str | None:
    return history_error({"messages": list(messages)}, behaviour)


def test_good_histories_pass() -> None:
    one, two = "functions.add:0", "functions.add:1"
    assert error_of({"role": "user", "content": "x"}) is None
    assert error_of(assistant(one, two), result(two), result(one), {"role": "user"}) is None
    assert error_of(assistant("any"), result("any"), behaviour=K3) is None


@pytest.mark.parametrize("call_id", ["call_1", "functions.sub:0", "add:0", "functions.add:x", "functions_add_0"])
def test_ids_that_do_not_name_the_function_are_rejected_for_k2_only(call_id: str) -> None:
    assert "is not of the form functions.add:<n>" in str(error_of(assistant(call_id), result(call_id)))
    assert error_of(assistant(call_id), result(call_id), behaviour=K3) is None


@pytest.mark.parametrize("behaviour", [K2, K3])
@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([assistant("")], "messages[0].tool_calls[0].id is empty"),
        ([assistant(None)], "is empty"),
        ([assistant("functions.add:0", "functions.add:0")], "is repeated"),
        ([assistant("functions.add:0"), result("functions.add:1")], "answers no call"),
        ([result("functions.add:1")], "answers no call"),
        ([assistant("functions.add:0")], "have no results"),
        ([assistant("functions.add:0"), {"role": "user"}], "messages[1] stands before the results"),
        ([assistant("functions.add:0", arguments="{"), result("functions.add:0")], "not a JSON object"),
        ([assistant("functions.add:0", arguments={}), result("functions.add:0")], "not a JSON object"),
    ],
)
def test_unreadable_histories_are_rejected(behaviour: Behaviour, messages: list[dict[str, Any]], text: str) -> None:
    assert text in str(error_of(*messages, behaviour=behaviour))


def test_vllm_reads_only_reasoning() -> None:
    vllm = Behaviour(host="vllm")
    thought = {"role": "assistant", "content": "x", "reasoning_content": "hm"}
    assert "reasoning is missing" in str(error_of(thought, behaviour=vllm))
    assert error_of(thought | {"reasoning": "hm"}, behaviour=vllm) is None


def test_the_numbers_of_ids_may_have_to_rise() -> None:
    counted = Behaviour(rising=True)
    first, second = assistant("functions.add:3"), assistant("functions.add:2")
    history = [first, result("functions.add:3"), second, result("functions.add:2")]
    assert error_of(*history) is None
    assert "has a number that is not above 3" in str(error_of(*history, behaviour=counted))
    assert error_of(second, result("functions.add:2"), first, result("functions.add:3"), behaviour=counted) is None
    assert error_of(*history, behaviour=Behaviour(generation="k3", rising=True)) is None


def test_custom_calls_have_a_text() -> None:
    call = {"id": "functions.patch:0", "type": "custom", "custom": {"name": "patch", "input": "x"}}
    message = {"role": "assistant", "tool_calls": [call]}
    assert error_of(message, result("functions.patch:0")) is None
    broken = {"role": "assistant", "tool_calls": [call | {"custom": {"name": "patch"}}]}
    assert "custom.input is not a text" in str(error_of(broken, result("functions.patch:0")))
