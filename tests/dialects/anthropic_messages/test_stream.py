"""The events of a messages stream, byte for byte where it matters."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.chat_answers import (
    args_delta,
    call_delta,
    chunk,
    custom_delta,
    encoded,
    events,
    reasoning_delta,
    text_delta,
    usage_chunk,
)

from moongate.chat.items import Done, Failure, Item
from moongate.dialects.anthropic_messages.stream import MessagesEncoder
from moongate.errors import BadUpstream

REQUEST = {"model": "claude-x", "stop_sequences": ["END"]}


def encoded_events(*items: Item) -> list[dict[str, Any]]:
    return events(encoded(MessagesEncoder(REQUEST), items))


def test_a_text_byte_for_byte() -> None:
    assert encoded(
        MessagesEncoder(REQUEST), [text_delta("Hé"), text_delta('"\n'), chunk(finish="stop"), usage_chunk()]
    ).decode() == (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_abc","type":"message",'
        '"role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":'
        '{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}\n\n'
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        '"content_block":{"type":"text","text":""}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        '"delta":{"type":"text_delta","text":"Hé"}}\n\n'
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        '"delta":{"type":"text_delta","text":"\\"\\n"}}\n\n'
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
        '"usage":{"input_tokens":15,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":7}}\n\n'
        'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    )


def test_thinking_text_and_parallel_calls_in_order() -> None:
    found = encoded_events(
        reasoning_delta("hm"),
        text_delta("Look."),
        call_delta(0, "functions.ls:0", "ls"),
        args_delta(0, '{"a":'),
        call_delta(1, "functions.cat:1", "cat", "{}"),
        args_delta(0, "1}"),
        chunk(finish="tool_calls"),
    )
    assert [event["type"].removeprefix("content_block_") for event in found] == [
        "message_start",
        *("start", "delta", "delta", "stop"),
        *("start", "delta", "stop"),
        *("start", "delta", "delta", "stop"),
        *("start", "delta", "stop"),
        "message_delta",
        "message_stop",
    ]
    assert [event["index"] for event in found[1:-2]] == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert found[1]["content_block"] == {"type": "thinking", "thinking": "", "signature": ""}
    assert found[2]["delta"] == {"type": "thinking_delta", "thinking": "hm"}
    assert found[3]["delta"]["type"] == "signature_delta"
    assert found[3]["delta"]["signature"]
    assert found[8]["content_block"] == {"type": "tool_use", "id": "functions--ls--0", "name": "ls", "input": {}}
    assert found[9]["delta"] == {"type": "input_json_delta", "partial_json": '{"a":'}
    assert found[12]["content_block"]["id"] == "functions--cat--1"
    assert found[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}


def test_more_text_of_the_open_block_is_one_delta() -> None:
    encoder = MessagesEncoder(REQUEST)
    encoder.feed(text_delta("a"))
    assert encoder.append(b"b\\tc") == (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"b\\tc"}}\n\n'
    )


def test_a_known_stop_sequence() -> None:
    found = encoded_events(text_delta("a"), chunk(finish="stop", stop_reason="END"))
    assert found[-2]["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "END"}


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["{", "}"], ["{", "}"]),
        (["\n ", "{}"], ["{}"]),
        (['"{\\"a\\"', ': 1}"'], ['{"a":1}']),
        (["[1", "]"], ['{"arguments":[1]}']),
        ([" ", "oops"], ['{"arguments":"oops"}']),
        ([], []),
    ],
)
def test_arguments_always_make_an_object(pieces: list[str], shown: list[str]) -> None:
    found = encoded_events(
        call_delta(0, "1", "f"), *(args_delta(0, piece) for piece in pieces), chunk(finish="tool_calls")
    )
    assert [event["delta"]["partial_json"] for event in found if event["type"] == "content_block_delta"] == shown


def test_each_call_is_checked_separately() -> None:
    found = encoded_events(
        call_delta(0, "1", "f", "[1]"),
        call_delta(1, "2", "g", "{}"),
        args_delta(1, " "),
        chunk(finish="tool_calls"),
    )
    shown = [event["delta"]["partial_json"] for event in found if event["type"] == "content_block_delta"]
    assert shown == ['{"arguments":[1]}', "{}", " "]


def test_an_empty_answer() -> None:
    assert [event["type"] for event in encoded_events()] == ["message_start", "message_delta", "message_stop"]


def test_a_failure_is_one_error_event_and_no_stop() -> None:
    encoder = MessagesEncoder(REQUEST)
    data = (
        encoder.feed(text_delta("a"))
        + encoder.feed(Failure(BadUpstream("cut")))
        + encoder.feed(Done())
        + encoder.close()
    )
    found = events(data)
    assert found[-1] == {"type": "error", "error": {"type": "api_error", "message": "cut"}}
    assert [event["type"] for event in found].count("error") == 1
    assert "message_stop" not in [event["type"] for event in found]


def test_the_text_of_a_custom_call_streams_as_input() -> None:
    items = [custom_delta(0, "{ no", id="1", name="f"), custom_delta(0, " JSON"), chunk(finish="tool_calls")]
    found = encoded_events(*items)
    deltas = [event["delta"]["partial_json"] for event in found if event["type"] == "content_block_delta"]
    assert "".join(deltas) == '{"input":"{ no JSON"}'
