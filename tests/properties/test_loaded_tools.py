"""Deferred tools in random conversations that grow: what was sent before stays, and every tool is declared once."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from moongate.dialects.fronts import MESSAGES, RESPONSES
from moongate.payload import JsonObject

SEEDS = range(300)
NAMES = ("mail", "chat", "wiki", "maps")


def messages_turn(random: Random, number: int) -> list[JsonObject]:
    """An assistant message with parallel calls (searches and calls of tools, loaded or not), and its results."""
    calls, results = [], []
    for position in range(random.randint(1, 3)):
        name = random.choice(["search", *NAMES])
        call = f"toolu_{number}_{position}"
        calls.append({"type": "tool_use", "id": call, "name": name, "input": {}})
        found: Any = "text"
        if name == "search":
            found = [
                {"type": "tool_reference", "tool_name": each} for each in random.sample(NAMES, random.randint(0, 2))
            ]
        results.append({"type": "tool_result", "tool_use_id": call, "content": found})
    said = [{"type": "text", "text": "Go on."}] if random.random() < 0.5 else []
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": [*results, *said]}]


def messages_body(turns: list[list[JsonObject]]) -> JsonObject:
    tools = [{"name": "search"}, *({"name": name, "defer_loading": True} for name in NAMES)]
    items = [item for turn in turns for item in turn]
    return {"tools": tools, "messages": [{"role": "user", "content": "Go."}, *items], "max_tokens": 9}


def responses_turn(random: Random, number: int) -> list[JsonObject]:
    """The same as items."""
    calls: list[JsonObject] = []
    results: list[JsonObject] = []
    for position in range(random.randint(1, 3)):
        name, call = random.choice(["search", *NAMES]), f"call_{number}_{position}"
        if name == "search":
            found = [{"type": "function", "name": each} for each in random.sample(NAMES, random.randint(0, 2))]
            calls.append({"type": "tool_search_call", "call_id": call, "execution": "client", "arguments": {}})
            results.append({"type": "tool_search_output", "call_id": call, "tools": found})
        else:
            calls.append({"type": "function_call", "call_id": call, "name": name, "arguments": "{}"})
            results.append({"type": "function_call_output", "call_id": call, "output": "text"})
    said = [{"role": "user", "content": "Go on."}] if random.random() < 0.5 else []
    return [*calls, *results, *said]


def responses_body(turns: list[list[JsonObject]]) -> JsonObject:
    deferred = [{"type": "function", "name": name, "defer_loading": True} for name in NAMES]
    items = [item for turn in turns for item in turn]
    tools = [{"type": "tool_search", "execution": "client"}, *deferred]
    return {"tools": tools, "input": [{"role": "user", "content": "Go."}, *items]}


FRONTS: list[Any] = [(MESSAGES, messages_turn, messages_body), (RESPONSES, responses_turn, responses_body)]


@pytest.mark.parametrize(("front", "write_turn", "body"), FRONTS, ids=["messages", "responses"])
def test_growth_changes_nothing_that_was_sent(front: Any, write_turn: Any, body: Any) -> None:
    for seed in SEEDS:
        random = Random(seed)
        turns = [write_turn(random, number) for number in range(random.randint(1, 6))]
        longest = front.decode(body(turns))
        declared = [tool["function"]["name"] for message in longest["messages"] for tool in message.get("tools", ())]
        assert len(declared) == len(set(declared)), seed
        assert len(longest["tools"]) == 1
        called = {call["function"]["name"] for each in longest["messages"] for call in each.get("tool_calls", ())}
        assert {*declared, longest["tools"][0]["function"]["name"]} >= called, seed
        for length in range(len(turns)):
            shorter = front.decode(body(turns[:length]))
            assert shorter["tools"] == longest["tools"], seed
            assert longest["messages"][: len(shorter["messages"])] == shorter["messages"], (seed, length)


@pytest.mark.parametrize(("front", "write_turn", "body"), FRONTS, ids=["messages", "responses"])
def test_results_follow_their_calls(front: Any, write_turn: Any, body: Any) -> None:
    for seed in SEEDS:
        random = Random(seed)
        waiting: list[str] = []
        for message in front.decode(body([write_turn(random, number) for number in range(4)]))["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0), seed
            else:
                assert waiting == [], seed
                waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert waiting == []
