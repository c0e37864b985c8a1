from __future__ import annotations

import pytest
from tests.native.rules import rules_of

from moongate.errors import BadUpstream
from moongate.native.exchange import NativeExchange

CALL = {"type": "tool_use", "id": "", "name": "f", "input": {}}
HISTORY = {"messages": [{"role": "assistant", "content": [{**CALL, "id": "toolu_1"}]}]}


def test_with_and_without_rules() -> None:
    plain = NativeExchange("messages", HISTORY, {}, None)
    assert plain.request is HISTORY
    assert plain.whole({"content": [CALL]}) == {"content": [CALL]}
    assert [*plain.notes] == []
    mended = NativeExchange("messages", HISTORY, {}, rules_of("kimi-k2", "http://127.0.0.1"))
    assert mended.request["messages"][0]["content"][0]["id"] == "functions.f:0"
    assert mended.whole({"content": [CALL]})["content"][0]["id"] == "functions--f--1"
    assert [note.mends for note in mended.notes] == ["client", "vendor"]


def test_a_document_that_is_an_error() -> None:
    with pytest.raises(BadUpstream, match="busy"):
        NativeExchange("messages", {}, {}, None).whole({"type": "error", "error": {"message": "busy"}})


def test_usage_adds_up() -> None:
    exchange = NativeExchange("messages", {}, {}, None)
    exchange.event({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}})
    exchange.event({"type": "ping"})
    exchange.event({"type": "message_delta", "usage": {"output_tokens": 9}})
    assert exchange.usage is not None
    assert (exchange.usage["prompt_tokens"], exchange.usage["completion_tokens"]) == (7, 9)
