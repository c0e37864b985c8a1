from __future__ import annotations

from typing import Any

import pytest
from tests.transformers.answers import call, choice, chunk, fed, more, whole

from moongate.transformers.tool_use import EXIT_TOOL, ToolUseTransformer

TOOL = {"type": "function", "function": {"name": "Read", "parameters": {"type": "object"}}}
REQUEST: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]}
EXIT = call(EXIT_TOOL, '{"response": "Done."}')
READ = call("Read", '{"path": "a"}', 1, "call_2")


def reply(message: dict[str, Any], reason: str = "tool_calls") -> dict[str, Any]:
    found: dict[str, Any] = ToolUseTransformer().begin(REQUEST).reply(whole(message, reason))["choices"][0]
    return found


def streamed(*deltas: dict[str, Any], reason: str | None = "tool_calls") -> dict[str, Any]:
    exchange = ToolUseTransformer().begin(REQUEST)
    return choice(fed(exchange, [*(chunk(delta) for delta in deltas), chunk({}, reason)]))


def test_a_call_is_required_and_a_way_out_is_offered() -> None:
    sent = ToolUseTransformer().begin({**REQUEST, "tool_choice": "auto"}).request
    assert sent["tool_choice"] == "required"
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["Read", EXIT_TOOL]
    assert EXIT_TOOL in sent["messages"][0]["content"]
    quiet = ToolUseTransformer.from_config({"reminder": ""}).begin(REQUEST).request
    assert quiet["messages"] is REQUEST["messages"]


@pytest.mark.parametrize(
    "change",
    [
        {"tools": []},
        {"tools": None},
        {"tools": "odd"},
        {"tools": [1, {"function": {"name": EXIT_TOOL}}]},
        {"tool_choice": "none"},
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "function": {"name": "Read"}}},
    ],
)
def test_where_the_client_has_decided_nothing_changes(change: dict[str, Any]) -> None:
    request = {**REQUEST, **change}
    exchange = ToolUseTransformer().begin(request)
    body = whole({"tool_calls": [EXIT]}, "tool_calls")
    assert exchange.request is request
    assert exchange.reply(body) is body


def test_the_exit_call_becomes_text() -> None:
    assert reply({"role": "assistant", "content": None, "tool_calls": [EXIT]}) == {
        "index": 0,
        "message": {"role": "assistant", "content": "Done."},
        "finish_reason": "stop",
    }
    parts = [
        {"tool_calls": [call(EXIT_TOOL, "")]},
        *({"tool_calls": [more(each)]} for each in ('{"respon', 'se": "Do', 'ne."}')),
    ]
    found = streamed(*parts)
    assert (found["message"]["content"], found["finish_reason"]) == ("Done.", "stop")
    assert "tool_calls" not in found["message"]


def test_text_in_front_stands_apart() -> None:
    assert reply({"content": "Well.", "tool_calls": [EXIT]})["message"]["content"] == "Well.\n\nDone."
    twice = [EXIT, call(EXIT_TOOL, '{"response": "Bye."}', 1, "call_3")]
    assert reply({"tool_calls": twice})["message"]["content"] == "Done.\n\nBye."
    assert streamed({"content": "Well."}, {"tool_calls": [EXIT]})["message"]["content"] == "Well.\n\nDone."


def test_other_calls_stay_and_are_counted_from_0() -> None:
    for found in (reply({"tool_calls": [EXIT, READ]}), streamed({"tool_calls": [EXIT]}, {"tool_calls": [READ]})):
        assert found["message"]["content"] == "Done."
        assert [each["id"] for each in found["message"]["tool_calls"]] == ["call_2"]
        assert found["finish_reason"] == "tool_calls"
    exchange = ToolUseTransformer().begin(REQUEST)
    items = fed(
        exchange, [chunk({"tool_calls": [EXIT, READ]}), chunk({"tool_calls": [more("!", 1)]}), chunk({}, "stop")]
    )
    indexes = [
        entry["index"]
        for item in items[:2]
        for entry in item.payload["choices"][0]["delta"]["tool_calls"]  # type: ignore[union-attr]
    ]
    assert indexes == [0, 0]


def test_arguments_of_another_form_are_shown_at_the_end() -> None:
    odd = call(EXIT_TOOL, '{"text": 1}')
    assert reply({"tool_calls": [odd]})["message"]["content"] == '{"text": 1}'
    assert streamed({"tool_calls": [odd]}, reason=None)["message"]["content"] == '{"text": 1}'
    assert reply({"content": "a", "tool_calls": [odd]})["message"]["content"] == 'a\n\n{"text": 1}'


def test_a_name_that_comes_late() -> None:
    first = {"index": 0, "id": "call_1", "function": {"arguments": ""}}
    named = {"index": 0, "function": {"name": EXIT_TOOL, "arguments": '{"response": "Done."}'}}
    assert streamed({"tool_calls": [first]}, {"tool_calls": [named]})["message"]["content"] == "Done."
    other = {"index": 0, "function": {"name": "Read", "arguments": "{}"}}
    found = streamed({"tool_calls": [first]}, {"tool_calls": [other]})["message"]["tool_calls"]
    assert [(each["id"], each["function"]["name"]) for each in found] == [("call_1", "Read")]
    never = streamed({"tool_calls": [first]})
    assert [each["id"] for each in never["message"]["tool_calls"]] == ["call_1"]
    assert never["finish_reason"] == "tool_calls"


def test_everything_else_keeps_its_chunks() -> None:
    exchange = ToolUseTransformer().begin(REQUEST)
    given = [
        chunk({"role": "assistant", "content": "Hm"}),
        chunk({"tool_calls": [call("Read", "")]}),
        chunk({"tool_calls": [more("{}")]}),
        chunk({"tool_calls": ["odd"]}),
        chunk({}, "tool_calls"),
    ]
    assert [exchange.feed(item) for item in given] == [(item,) for item in given]
