"""For any input: a request is decoded or rejected with a path, an answer is encoded, and nothing else is raised."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.chat_answers import (
    args_delta,
    call_delta,
    chunk,
    completion,
    reasoning_delta,
    text_delta,
    tool_call,
    usage_chunk,
)
from tests.support.length import examples

from moongate.chat.contracts import Dialect
from moongate.chat.items import Chunk, Done
from moongate.dialects.fronts import MESSAGES, RESPONSES
from moongate.errors import BadRequest, BadUpstream

RECORDINGS = Path(__file__).parent / "recordings"

MESSAGES_BODY: dict[str, Any] = {
    **json.loads((RECORDINGS / "claude_code.json").read_text(encoding="utf-8"))["body"],
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "hi"}, {"type": "image", "source": {"type": "url", "url": "u"}}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "functions--f--0", "name": "f", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "functions--f--0", "content": [{"type": "text", "text": "r"}]},
                {
                    "type": "document",
                    "title": "T",
                    "source": {"type": "content", "content": [{"type": "text", "text": "d"}]},
                },
                {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "late"}}},
            ],
        },
    ],
    "tool_choice": {"type": "tool", "name": "Bash", "disable_parallel_tool_use": True},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    "stop_sequences": ["END"],
}
RESPONSES_BODY: dict[str, Any] = {
    **json.loads((RECORDINGS / "codex.json").read_text(encoding="utf-8"))["body"],
    "instructions": "be brief",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "u"}],
        },
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "moongate1.aG0=",
        },
        {
            "type": "function_call",
            "call_id": "1",
            "name": "close_agent",
            "namespace": "multi_agent_v1",
            "arguments": "{}",
        },
        {"type": "local_shell_call", "call_id": "2", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "r"}]},
        {"type": "additional_tools", "tools": [{"type": "custom", "name": "c", "format": {"definition": "x"}}]},
        {"type": "item_reference", "id": "x"},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "exec_command"}]},
    "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}},
    "reasoning": {"effort": "low"},
}

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1.5, "", "text", [], {}, [None], [[]], {"type": None}, {"type": "text"}, [{}], "\ud800"]
)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every member of a JSON value."""
    found = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        found += [(*path, key), *paths_of(inner, (*path, key))]
    return found


def mutated(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """A copy with an odd value at one path."""
    result = copy.deepcopy(value)
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = odd
    return result


@pytest.mark.parametrize(
    ("front", "body"), [(MESSAGES, MESSAGES_BODY), (RESPONSES, RESPONSES_BODY)], ids=["messages", "responses"]
)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(data=st.data())
def test_a_mutated_request_is_decoded_or_rejected(front: Dialect, body: dict[str, Any], data: st.DataObject) -> None:
    request = mutated(body, data.draw(st.sampled_from(paths_of(body))), data.draw(ODD))
    try:
        chat = front.decode(request)
    except BadRequest:
        return
    assert isinstance(chat["messages"], list)
    front.left_out(request)
    front.encode(completion({"content": "a", "tool_calls": [tool_call("1", "f", "{}")]}), request)
    if front is MESSAGES:
        assert MESSAGES.count_tokens(request)["input_tokens"] > 0


ITEMS = [
    reasoning_delta("a"),
    text_delta("b"),
    call_delta(0, "functions.f:0", "f"),
    args_delta(0, '{"a":'),
    call_delta(1, "functions.g:1", "g", "{}"),
    args_delta(0, "1}"),
    chunk(finish="tool_calls", stop_reason="END"),
    usage_chunk(),
]
PAYLOADS = [item.payload for item in ITEMS]
REPLY = completion({"reasoning_content": "a", "content": "b", "tool_calls": [tool_call("1", "f", "{}")]}, "tool_calls")


@pytest.mark.parametrize("front", [MESSAGES, RESPONSES], ids=["messages", "responses"])
@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(data=st.data())
def test_a_mutated_answer_is_still_encoded(front: Dialect, data: st.DataObject) -> None:
    payloads = mutated(
        PAYLOADS, data.draw(st.sampled_from([place for place in paths_of(PAYLOADS) if len(place) > 1])), data.draw(ODD)
    )
    encoder = front.encoder({"model": "m", "stop_sequences": ["END"]})
    for payload in payloads:
        encoder.feed(Chunk.of(payload))
    assert encoder.feed(Done())
    assert encoder.close() == b""
    reply = mutated(REPLY, data.draw(st.sampled_from(paths_of(REPLY))), data.draw(ODD))
    try:
        assert front.encode(reply, {"model": "m"})
    except BadUpstream:
        pytest.fail("a small answer is never too large")
