from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour, behaviour_of
from moongate.sim.conversation import SimAnswer, SimCall
from moongate.sim.usage import CACHE_BLOCK, prompt_tokens, usage_of

USER = {"role": "user", "content": "x" * 200}
ANSWER = {"role": "assistant", "content": "y" * 300}
K3 = Behaviour(generation="k3", host="moonshot")


def tokens(*messages: dict[str, Any], **fields: Any) -> int:
    return prompt_tokens({"messages": list(messages), **fields}, K3)[0]


def test_prompts_add_up_part_by_part() -> None:
    assert tokens(USER, ANSWER, USER) - tokens(USER, ANSWER) == tokens(USER, USER) - tokens(USER)
    tools = [{"type": "function", "function": {"name": "add"}}]
    assert tokens(USER, tools=tools) - tokens(USER) == tokens(ANSWER, tools=tools) - tokens(ANSWER) > 0


def test_what_the_model_reads_is_counted() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    assert tokens(USER, response_format=wanted) > tokens(USER)
    assert tokens(USER, ANSWER | {"reasoning_content": "hm hm hm"}) > tokens(USER, ANSWER)
    assert tokens(USER, thinking={"type": "disabled"}) < tokens(USER)


def test_the_cache_holds_what_the_request_before_has_written() -> None:
    behaviour = behaviour_of("kimi-k3-sim-cache-writes")
    first = usage_of({"messages": [USER]}, [SimAnswer("y" * 300)], behaviour)
    second = usage_of({"messages": [USER, ANSWER, USER]}, [SimAnswer("z")], behaviour)
    before, after = first["prompt_tokens_details"], second["prompt_tokens_details"]
    assert before["cached_tokens"] == 0
    assert after["cached_tokens"] == before["cache_write_tokens"] > 0
    for usage in (first, second):
        details = usage["prompt_tokens_details"]
        assert 0 <= usage["prompt_tokens"] - details["cached_tokens"] - details["cache_write_tokens"] < CACHE_BLOCK
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


@pytest.mark.parametrize(
    ("row", "place", "name"),
    [
        ("cache-writes", "prompt_tokens_details", "cache_write_tokens"),
        ("cache-writes-top", "", "cache_write_tokens"),
        ("cache-creation", "", "cache_creation_input_tokens"),
        ("cache-creation-details", "prompt_tokens_details", "cache_creation_input_tokens"),
    ],
)
def test_where_cache_writes_are_reported(row: str, place: str, name: str) -> None:
    usage = usage_of({"messages": [USER]}, [SimAnswer("z")], behaviour_of(f"kimi-k2-sim-{row}"))
    assert (usage[place] if place else usage)[name] > 0


def test_moonshot_has_its_own_place_for_cached_tokens_and_bills_writes_on_k3_1() -> None:
    request = {"messages": [USER]}
    assert "cached_tokens" in usage_of(request, [SimAnswer("z")], K3)
    assert "cache_write_tokens" not in usage_of(request, [SimAnswer("z")], K3)
    assert "cache_write_tokens" in usage_of(request, [SimAnswer("z")], Behaviour(generation="k3.1", host="moonshot"))


def test_calls_and_reasoning_are_billed() -> None:
    call = SimCall("add", "{}" * 4, 0, 0)
    assert usage_of({"messages": []}, [SimAnswer("", "abcdefgh", (call,))], K3)["completion_tokens"] == 5
    assert usage_of({"messages": []}, [SimAnswer("")], K3)["completion_tokens"] == 1
