from __future__ import annotations

from typing import Any

import pytest
from tests.native.rules import rules_of

from moongate import KimiTransformer
from moongate.chat.verdict import ABORTED, CLEAN, FAILED, REPAIRED, Verdict
from moongate.errors import BadUpstream
from moongate.native.exchange import NativeExchange, rules_in

CALL = {"type": "tool_use", "id": "", "name": "f", "input": {}}
MISMATCH = Verdict("damaged", ("schema_mismatch",))
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
    exchange.event({"type": "message_stop"})
    assert exchange.size == 0
    assert (exchange.usage["prompt_tokens"], exchange.usage["completion_tokens"]) == (7, 9)


def test_the_verdict() -> None:
    exchange = NativeExchange("messages", {}, {}, rules_of("kimi-k2"))
    assert exchange.verdict == ABORTED
    assert exchange.schema_check() is None
    exchange.whole({"content": [{"type": "text", "text": "Hi"}]})
    assert exchange.verdict == CLEAN
    exchange.fail(BadUpstream("late"))
    assert exchange.verdict == CLEAN, "it was over"
    tools = {"tools": [{"name": "f"}]}
    mended = NativeExchange("messages", tools, {}, rules_of("kimi-k2"))
    mended.whole({"content": [CALL]})
    assert mended.verdict == REPAIRED
    leaking = NativeExchange("messages", {}, {}, rules_of("kimi-k2"))
    leaking.whole({"content": [{"type": "text", "text": "<|tool_call_begin|>"}]})
    assert leaking.verdict == Verdict("damaged", ("leaked",))
    failed = NativeExchange("messages", {}, {}, None)
    with pytest.raises(BadUpstream):
        failed.whole({"type": "error"})
    assert failed.verdict == FAILED


@pytest.mark.parametrize(("given", "expected"), [({"n": 1}, CLEAN), ({"n": "1"}, MISMATCH), ([1], MISMATCH)])
def test_calls_are_checked_against_the_clients_own_schemas(given: Any, expected: Verdict) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    exchange = NativeExchange("messages", {"tools": [{"name": "f", "input_schema": schema}]}, {}, rules_of())
    exchange.whole({"content": [{**CALL, "id": "toolu_1", "input": given}]})
    assert exchange.verdict == CLEAN
    check = exchange.schema_check()
    assert check is not None
    assert check() == expected


def test_rules_in_a_chain() -> None:
    kimi = KimiTransformer.from_config({}, model="kimi-k2", base_url="http://127.0.0.1")
    assert rules_in([object(), kimi]) == kimi.native_rules
    assert rules_in([object()]) is None
