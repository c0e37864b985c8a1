from __future__ import annotations

from typing import Any

import pytest
from tests.native.rules import history_of, rules_of

from moongate.kimi.notes import Notes
from moongate.native.messages import MessagesApi

API = MessagesApi()
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
KNOWN = {**CALL, "id": "functions.f:0"}
BLANK = {"type": "thinking", "thinking": " ", "signature": ""}


def mended(messages: Any, model: str = "kimi-k2", base_url: str = "http://127.0.0.1") -> Any:
    body = {"messages": messages}
    rules = rules_of(model, base_url)
    found = API.request(body, {}, rules, history_of(rules), Notes())
    return None if found is body else found["messages"]


def test_ids() -> None:
    found = mended([{"role": "assistant", "content": [CALL, "text"]}, {"role": "user", "content": [RESULT, 7]}])
    assert found[0]["content"] == [{**CALL, "id": "functions.f:0"}, "text"]
    assert found[1]["content"] == [{**RESULT, "tool_use_id": "functions.f:0"}, 7]
    assert mended([{"role": "assistant", "content": [{**CALL, "id": 7}]}])[0]["content"][0]["id"] == "functions.f:0"


@pytest.mark.parametrize(
    "messages",
    [
        None,
        7,
        [7],
        [{"role": "user", "content": "hi"}],
        [{"role": "assistant", "content": [{**CALL, "id": "functions.f:0"}]}],
        [{"role": "user", "content": [{"type": "tool_result"}, RESULT, {"type": "text", "text": "x"}]}],
    ],
)
def test_what_is_left_alone(messages: Any) -> None:
    assert mended(messages) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([KNOWN], [BLANK, KNOWN]),
        ([{"type": "thinking", "thinking": ""}, KNOWN], [BLANK, KNOWN]),
        (["text", KNOWN], [BLANK, "text", KNOWN]),
        ([{"type": "thinking", "thinking": "hm"}, KNOWN], None),
        ([{"type": "redacted_thinking", "data": "x"}, KNOWN], None),
        ([{"type": "text", "text": "x"}], None),
    ],
)
def test_thinking(before: Any, after: Any) -> None:
    found = mended([{"role": "assistant", "content": before}], "kimi-k2.6", "https://api.moonshot.ai/anthropic")
    assert (found if found is None else found[0]["content"]) == after


def test_answers() -> None:
    calls = history_of(rules_of("kimi-k2"))
    whole = {"content": [{**CALL, "id": ""}, 7]}
    assert API.reply(whole, calls) == {"content": [{**CALL, "id": "functions--f--0"}, 7]}
    for body in ({"content": [CALL]}, {"content": 7}, {}):
        assert API.reply(body, calls) is body
    assert API.reply(whole, None) is whole
    start = {"type": "content_block_start", "content_block": {**CALL, "id": ""}}
    assert API.event({"type": "message_start"}, calls) == {"type": "message_start"}
    assert API.event(start, calls)["content_block"]["id"] == "functions--f--1"
    assert API.event(start, None) is start
    other = {"type": "content_block_start", "content_block": {"type": "text"}}
    assert API.event(other, calls) is other


def test_ends_and_errors() -> None:
    assert API.is_end({"type": "message_stop"})
    assert not API.is_end({"type": "ping"})
    assert API.error({"type": "error", "error": {"message": "no"}}) == "no"
    assert API.error({"type": "error"}) == "the provider reported an error"
    assert API.error({"type": "ping"}) is None


def test_usage() -> None:
    usage = {"input_tokens": 7, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1, "output_tokens": 5}
    counted = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
    }
    assert API.usage({"usage": usage}) == API.usage({"message": {"usage": usage}}) == counted
    assert API.usage({"usage": {"output_tokens": 5}}) == {"completion_tokens": 5}
    assert API.usage({"usage": {"output_tokens": "x"}}) == {"completion_tokens": 0}
    assert API.usage({}) is None
