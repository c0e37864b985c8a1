from __future__ import annotations

import pytest
from tests.transformers.answers import call, choice, chunk, fed, pieces, whole

from moongate.transformers.forced_reasoning import ForceReasoningTransformer

TEXT = "<think>Two\nsteps.</think>The answer"


def test_it_asks_by_prompt() -> None:
    request = {"messages": [{"role": "user", "content": "Hi"}]}
    sent = ForceReasoningTransformer.from_config({"tag": "plan"}).begin(request).request
    assert sent["messages"][0]["role"] == "system"
    assert "<plan> and </plan>" in sent["messages"][0]["content"]
    assert sent["messages"][1:] == request["messages"]
    assert ForceReasoningTransformer(prompt="").begin(request).request is request


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("reason", ["stop", None])
def test_a_stream_and_a_whole_answer_read_the_same(size: int, reason: str | None) -> None:
    exchange = ForceReasoningTransformer().begin({})
    streamed = choice(fed(exchange, [*(chunk({"content": each}) for each in pieces(TEXT, size)), chunk({}, reason)]))
    message = exchange.reply(whole({"role": "assistant", "content": TEXT}, reason))["choices"][0]["message"]
    assert streamed["message"] == message
    assert message == {"role": "assistant", "content": "The answer", "reasoning_content": "Two\nsteps."}


@pytest.mark.parametrize(("text", "field"), [("<think>cut</th", "reasoning_content"), ("<thi", "content")])
@pytest.mark.parametrize("reason", ["stop", None])
def test_a_text_that_ends_inside_a_tag_loses_nothing(text: str, field: str, reason: str | None) -> None:
    exchange = ForceReasoningTransformer().begin({})
    items = fed(exchange, [chunk({"content": text[:3]}), chunk({"content": text[3:]}), chunk({}, reason)])
    assert choice(items)["message"][field] == text.removeprefix("<think>")


def test_thinking_in_front_of_a_call_and_of_the_provider_s_own() -> None:
    exchange = ForceReasoningTransformer().begin({})
    delta = {"content": "<think>b", "reasoning_content": "a", "tool_calls": [call("f", "{}")]}
    message = exchange.reply(whole(delta, "tool_calls"))["choices"][0]["message"]
    assert message["reasoning_content"] == "ab"
    assert message["tool_calls"] == delta["tool_calls"]


def test_plain_text_keeps_its_chunks() -> None:
    exchange = ForceReasoningTransformer().begin({})
    exchange.feed(chunk({"content": "Plain"}))
    for given in (
        chunk({"content": " text"}),
        chunk({"role": "assistant"}),
        chunk({"content": None}),
        chunk({}, "stop"),
    ):
        assert exchange.feed(given) == (given,)
