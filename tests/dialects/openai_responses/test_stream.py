"""The events of a Responses stream."""

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
from moongate.dialects.openai_responses.reasoning import unsealed
from moongate.dialects.openai_responses.stream import MAX_ANSWER, ResponsesEncoder
from moongate.errors import BadUpstream

REQUEST: dict[str, Any] = {"model": "gpt-x", "include": ["reasoning.encrypted_content"]}


def encoded_events(*items: Item, **fields: Any) -> list[dict[str, Any]]:
    found = events(encoded(ResponsesEncoder({**REQUEST, **fields}), items))
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    return found


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in found]


def test_a_text() -> None:
    found = encoded_events(text_delta("He"), text_delta("llo"), chunk(finish="stop"), usage_chunk())
    assert kinds(found) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    part = {"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}
    item = {"id": "msg_abc_0", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    assert found[4]["delta"] == "He"
    assert {event["item_id"] for event in found[3:8]} == {"msg_abc_0"}
    assert found[6]["text"] == "Hello"
    assert found[8]["item"] == item
    response = found[9]["response"]
    assert response["output"] == [item]
    assert (response["id"], response["status"], response["model"]) == ("resp_abc", "completed", "gpt-x")
    assert response["usage"]["input_tokens_details"]["cached_tokens"] == 5
    assert found[0]["response"]["status"] == found[1]["response"]["status"] == "in_progress"
    assert found[0]["response"]["output"] == []


def test_a_delta_byte_for_byte() -> None:
    encoder = ResponsesEncoder(REQUEST)
    encoder.feed(text_delta("a"))
    delta = (
        b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_abc_0",'
        b'"output_index":0,"content_index":0,"delta":"b\\n","logprobs":[],"sequence_number":%d}\n\n'
    )
    assert encoder.feed(text_delta("b\n")) == delta % 5
    assert encoder.append(b"b\\n") == delta % 6


def test_reasoning_and_calls() -> None:
    found = encoded_events(
        reasoning_delta("hm"),
        call_delta(0, "functions.f:0", "f"),
        args_delta(0, '{"a":'),
        args_delta(0, "1}"),
        chunk(finish="tool_calls"),
    )
    assert kinds(found)[2:-1] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    reasoning, called = found[-1]["response"]["output"]
    assert reasoning["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert unsealed(reasoning["encrypted_content"]) == "hm"
    assert called == {
        "id": "fc_abc_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "functions.f:0",
        "name": "f",
        "arguments": '{"a":1}',
    }
    assert found[8]["item"]["arguments"] == ""
    assert found[8]["item"]["status"] == "in_progress"


@pytest.mark.parametrize("included", [None, [], 3.5, "reasoning.encrypted_content"])
def test_reasoning_is_sealed_only_if_requested(included: Any) -> None:
    found = encoded_events(reasoning_delta("hm"), chunk(finish="stop"), include=included)
    assert "encrypted_content" not in found[-1]["response"]["output"][0]


def test_a_flattened_name_is_split_again() -> None:
    tools = [{"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close"}]}]
    found = encoded_events(call_delta(0, "1", "agents__close", "{}"), chunk(finish="tool_calls"), tools=tools)
    item = found[-1]["response"]["output"][0]
    assert (item["name"], item["namespace"]) == ("close", "agents")
    assert found[-1]["response"]["tools"] == tools


def test_a_custom_tool_gets_its_text_in_one_piece() -> None:
    items = [call_delta(0, "1", "apply", '{"input":'), args_delta(0, '"a\\nb"}'), chunk(finish="tool_calls")]
    found = encoded_events(*items, tools=[{"type": "custom", "name": "apply"}])
    assert kinds(found)[2:-1] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert found[3]["delta"] == found[4]["input"] == "a\nb"
    assert found[5]["item"]["input"] == "a\nb"


def test_a_custom_call_keeps_its_kind_and_its_text() -> None:
    items = [custom_delta(0, "a", id="1", name="apply"), custom_delta(0, '"\n'), chunk(finish="tool_calls")]
    found = encoded_events(*items)
    assert [event["type"].removeprefix("response.") for event in found[2:-1]] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert found[-1]["response"]["output"] == [found[5]["item"]]
    assert (found[5]["item"]["type"], found[5]["item"]["input"]) == ("custom_tool_call", 'a"\n')


def test_the_local_shell_has_no_deltas() -> None:
    items = [call_delta(0, "1", "local_shell", '{"command":["ls"]}'), chunk(finish="tool_calls")]
    found = encoded_events(*items, tools=[{"type": "local_shell"}])
    assert kinds(found)[2:-1] == ["output_item.added", "output_item.done"]
    assert found[3]["item"]["action"]["command"] == ["ls"]


def test_the_commands_of_a_shell_come_one_by_one() -> None:
    items = [call_delta(0, "1", "shell", '{"commands":["ls",'), args_delta(0, '"pwd"]}'), chunk(finish="tool_calls")]
    found = encoded_events(*items, tools=[{"type": "shell"}])
    commands = ["shell_call_command.added", "shell_call_command.delta", "shell_call_command.done"]
    assert kinds(found)[2:-1] == ["output_item.added", *commands, *commands, "output_item.done"]
    assert [found[at]["delta"] for at in (4, 7)] == ["ls", "pwd"]
    assert [(found[at]["command_index"], found[at]["command"]) for at in (5, 8)] == [(0, "ls"), (1, "pwd")]
    assert found[2]["item"]["action"]["commands"] == []
    assert found[9]["item"]["action"]["commands"] == ["ls", "pwd"]


def test_a_patch_has_no_deltas() -> None:
    patch = '{"type":"delete_file","path":"a"}'
    items = [call_delta(0, "1", "apply_patch", patch), chunk(finish="tool_calls")]
    found = encoded_events(*items, tools=[{"type": "apply_patch"}])
    assert kinds(found)[2:-1] == ["output_item.added", "output_item.done"]
    assert found[3]["item"]["operation"] == {"type": "delete_file", "path": "a"}
    assert found[3]["item"]["status"] == "completed"


def test_a_call_without_an_id_gets_one() -> None:
    found = encoded_events(call_delta(0, "", "f", "{}"), chunk(finish="tool_calls"))
    assert found[-1]["response"]["output"][0]["call_id"] == "call_abc_0"


@pytest.mark.parametrize(("reason", "why"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_a_truncated_answer_is_incomplete(reason: str, why: str) -> None:
    found = encoded_events(reasoning_delta("hm"), call_delta(0, "1", "f", "{}"), text_delta("a"), chunk(finish=reason))
    assert kinds(found)[-1] == "incomplete"
    response = found[-1]["response"]
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": why})
    assert [item.get("status") for item in response["output"]] == [None, "completed", "incomplete"]


def test_a_failure_is_one_terminal_event() -> None:
    encoder = ResponsesEncoder(REQUEST)
    data = encoder.feed(reasoning_delta("a")) + encoder.feed(text_delta("b"))
    data += encoder.feed(Failure(BadUpstream("cut"))) + encoder.feed(Done()) + encoder.close()
    found = events(data)
    assert kinds(found)[-1] == "failed"
    response = found[-1]["response"]
    assert (response["status"], response["error"]) == ("failed", {"code": "server_error", "message": "cut"})
    assert [item["type"] for item in response["output"]] == ["reasoning"]
    assert "response.completed" not in [event["type"] for event in found]


def test_a_failure_before_anything() -> None:
    found = events(ResponsesEncoder(REQUEST).feed(Failure(BadUpstream("cut"))))
    assert kinds(found) == ["created", "in_progress", "failed"]


def test_an_answer_has_a_limit() -> None:
    encoder = ResponsesEncoder(REQUEST)
    encoder.feed(text_delta("x" * MAX_ANSWER))
    assert kinds(events(encoder.feed(text_delta("d")))) == ["failed"]
    assert encoder.failure is not None
