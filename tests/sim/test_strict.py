from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour
from moongate.sim.strict import strict_refusal

K2, K3 = Behaviour(), Behaviour(generation="k3")


def asked(*ids: Any, name: str = "add", arguments: Any = "{}") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(identity: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "x"}


def refusal(*messages: dict[str, Any], behaviour: Behaviour = K2) -> str | None:
    return strict_refusal({"messages": list(messages)}, behaviour)


def test_good_histories_pass() -> None:
    one, two = "functions.add:0", "functions.add:1"
    assert refusal({"role": "user", "content": "x"}) is None
    assert refusal(asked(one, two), result(two), result(one), {"role": "user"}) is None
    assert refusal(asked("any"), result("any"), behaviour=K3) is None


@pytest.mark.parametrize("identity", ["call_1", "functions.sub:0", "add:0", "functions.add:x", "functions_add_0"])
def test_ids_that_do_not_name_the_function_are_refused_for_k2_only(identity: str) -> None:
    assert "is not of the form functions.add:<n>" in str(refusal(asked(identity), result(identity)))
    assert refusal(asked(identity), result(identity), behaviour=K3) is None


@pytest.mark.parametrize("behaviour", [K2, K3])
@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([asked("")], "messages[0].tool_calls[0].id is empty"),
        ([asked(None)], "is empty"),
        ([asked("functions.add:0", "functions.add:0")], "is repeated"),
        ([asked("functions.add:0"), result("functions.add:1")], "answers no call"),
        ([result("functions.add:1")], "answers no call"),
        ([asked("functions.add:0")], "have no results"),
        ([asked("functions.add:0"), {"role": "user"}], "messages[1] stands before the results"),
        ([asked("functions.add:0", arguments="{"), result("functions.add:0")], "not a JSON object"),
        ([asked("functions.add:0", arguments={}), result("functions.add:0")], "not a JSON object"),
    ],
)
def test_what_no_host_can_read_is_refused(behaviour: Behaviour, messages: list[dict[str, Any]], text: str) -> None:
    assert text in str(refusal(*messages, behaviour=behaviour))


def test_vllm_reads_only_reasoning() -> None:
    vllm = Behaviour(host="vllm")
    thought = {"role": "assistant", "content": "x", "reasoning_content": "hm"}
    assert "reasoning is missing" in str(refusal(thought, behaviour=vllm))
    assert refusal(thought | {"reasoning": "hm"}, behaviour=vllm) is None
