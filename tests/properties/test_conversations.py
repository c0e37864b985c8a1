"""Section 12 of the specification, the properties of every conversation: ids, pairs, growth."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import MESSAGES, TOOLS, calls, thorough, transformer

Row = dict[str, Any]

families = pytest.mark.parametrize("family", ["k2", "k3"])


@st.composite
def histories(draw: st.DrawFn) -> list[Row]:
    """Conversations in which every call has its result, under ids of any kind."""
    history: list[Row] = [{"role": "user", "content": "Go."}]
    for _ in range(draw(st.integers(0, 4))):
        made = draw(st.lists(calls, min_size=1, max_size=3))
        made = [{**call, "function": {**call["function"], "arguments": "{}"}} for call in made]
        history.append({"role": "assistant", "content": None, "tool_calls": made})
        history += [
            {"role": "tool", "tool_call_id": call["id"] or "?", "content": f"r{at}"} for at, call in enumerate(made)
        ]
        if draw(st.booleans()):
            history.append({"role": "assistant", "content": "Done."})
            history.append({"role": "user", "content": "More."})
    return history


def ids_of(history: list[Row]) -> list[str]:
    return [call["id"] for message in history for call in message.get("tool_calls") or ()]


@families
@thorough
@given(data=st.data())
def test_ids_are_unique_and_results_point_at_their_calls(family: str, data: st.DataObject) -> None:
    history = data.draw(histories())
    before = copy.deepcopy(history)
    sent = transformer(family).begin({"messages": history, "tools": TOOLS}).request["messages"]
    assert history == before
    made = ids_of(sent)
    assert len(set(made)) == len(made)
    waiting: list[str] = []
    for message in sent:
        if message.get("tool_calls"):
            assert waiting == []
            waiting = [call["id"] for call in message["tool_calls"]]
        elif message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert message["content"].startswith("r")
    assert waiting == []


@families
@thorough
@given(data=st.data())
def test_growth_changes_no_old_message(family: str, data: st.DataObject) -> None:
    history = data.draw(histories())
    user_positions = [at for at, message in enumerate(history) if message["role"] == "user"]
    end = data.draw(st.sampled_from(user_positions)) + 1
    kimi = transformer(family)
    short = kimi.begin({"messages": history[:end], "tools": TOOLS}).request["messages"]
    long = kimi.begin({"messages": history, "tools": TOOLS}).request["messages"]
    assert long[: len(short)] == short


@families
@thorough
@given(data=st.data())
def test_an_answer_goes_on_from_its_history(family: str, data: st.DataObject) -> None:
    """Ids of an answer are new, and stay as they are when the answer has become history."""
    history = data.draw(histories())
    kimi = transformer(family, data.draw(st.sampled_from([{}, {"manualToolParsing": True}])))
    exchange = kimi.begin({"messages": history, "tools": TOOLS})
    answer = exchange.reply({"choices": [data.draw(MESSAGES[family]).whole()]})["choices"][0]["message"]
    old, new = ids_of(exchange.request["messages"]), ids_of([answer])
    assert len({*old, *new}) == len(old) + len(new)
    if not new:
        return
    results = [{"role": "tool", "tool_call_id": each, "content": "ok"} for each in new]
    again = kimi.begin({"messages": [*history, answer, *results], "tools": TOOLS}).request["messages"]
    assert ids_of(again) == [*old, *new]


@families
@thorough
@given(data=st.data())
def test_a_second_pass_over_a_request_changes_nothing(family: str, data: st.DataObject) -> None:
    kimi = transformer(family)
    once = kimi.begin({"messages": data.draw(histories()), "tools": TOOLS}).request
    assert kimi.begin(once).request is once
