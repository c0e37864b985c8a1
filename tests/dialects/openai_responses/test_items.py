from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.dialects.openai_responses.items import chat_messages, left_out_items
from moongate.dialects.openai_responses.reasoning import sealed
from moongate.dialects.openai_responses.tools import toolbox
from moongate.errors import BadRequest
from moongate.payload import JsonObject

Item = dict[str, Any]


def chat(*items: Item, **body: Any) -> list[Item]:
    body = {"input": list(items), **body}
    return chat_messages(body, toolbox(body))


def message(role: str, text: str, kind: str = "input_text") -> Item:
    content = [{"type": kind, "text": text}]
    return {"type": "message", "id": "msg_1", "role": role, "status": "completed", "content": content}


def call(name: str, call_id: str, arguments: str = "{}", **more: Any) -> Item:
    return {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name, "arguments": arguments, **more}


def output(call_id: str, result: Any) -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": result}


def chat_call(name: str, call_id: str, arguments: str = "{}") -> Item:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


HI = message("user", "hi")
HELLO = {"role": "user", "content": "hi"}


def test_a_text() -> None:
    assert chat_messages({"input": "hi"}, toolbox({})) == [HELLO]


def test_instructions_come_first() -> None:
    assert chat(HI, instructions="be brief") == [{"role": "system", "content": "be brief"}, HELLO]
    assert chat(instructions=[message("developer", "be brief")], input=None) == [
        {"role": "system", "content": "be brief"}
    ]


def test_roles() -> None:
    messages = chat(message("developer", "a"), message("system", "b"), {"role": "user", "content": "c"})
    assert [(found["role"], found["content"]) for found in messages] == [
        ("system", "a"),
        ("system", "b"),
        ("user", "c"),
    ]


def test_a_tool_loop() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed("hm")}
    messages = chat(
        HI, reasoning, message("assistant", "I look.", "output_text"), call("ls", "c1"), output("c1", "a b")
    )
    assert messages == [
        HELLO,
        {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": [chat_call("ls", "c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    ]


def test_consecutive_assistant_items_are_one_message_in_any_order() -> None:
    text = message("assistant", "I look.", "output_text")
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    first, second = call("ls", "c1"), call("cat", "c2")
    expected = chat(HI, reasoning, text, first, second, output("c1", "r"))
    assert len(expected) == 3
    for items in ([first, text, second, reasoning], [first, second, reasoning, text], [text, first, reasoning, second]):
        assert chat(HI, *items, output("c1", "r")) == expected


def test_consecutive_texts_are_paragraphs() -> None:
    texts = [message("assistant", text, "output_text") for text in ("a", "", "b")]
    assert chat(*texts, call("f", "1"), HI)[0]["content"] == "a\n\nb"
    assert chat(message("assistant", "", "output_text"), HI)[0]["content"] == ""


def test_reasoning_is_joined_and_empty_reasoning_is_omitted() -> None:
    items = [{"type": "reasoning", "summary": [{"text": text}]} for text in ("a", "b")]
    assert chat(*items, call("f", "1"))[0]["reasoning_content"] == "ab"
    assert chat(HI, {"type": "reasoning", "summary": []}) == [HELLO]


def test_a_message_of_another_role_ends_the_assistant_message() -> None:
    roles = [found["role"] for found in chat(call("f", "1"), output("1", "r"), call("g", "2"), HI, call("h", "3"))]
    assert roles == ["assistant", "tool", "assistant", "user", "assistant"]


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("text", "text"),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb"),
        (None, ""),
        ({"content": "x"}, '{"content":"x"}'),
    ],
)
def test_outputs(result: Any, content: str) -> None:
    assert chat(call("f", "1"), output("1", result))[1] == {"role": "tool", "tool_call_id": "1", "content": content}


def test_images_in_outputs() -> None:
    image = {"type": "input_image", "image_url": "u"}
    assert chat(call("f", "1"), output("1", [image]))[1]["content"] == [
        {"type": "image_url", "image_url": {"url": "u"}}
    ]


def test_calls_of_every_kind() -> None:
    tools = [
        {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close"}]},
        {"type": "custom", "name": "apply_patch"},
    ]
    items = [
        call("close", "1", namespace="agents"),
        {"type": "custom_tool_call", "call_id": "2", "name": "apply_patch", "input": "*** Begin"},
        {"type": "local_shell_call", "call_id": "3", "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call", "id": "4", "action": None},
        {"type": "tool_search_call", "call_id": "5", "execution": "client", "arguments": {"query": "x"}},
        {"type": "function_call", "call_id": "6", "name": "f", "arguments": None},
        {"type": "custom_tool_call_output", "call_id": "2", "output": "done"},
        {"type": "local_shell_call_output", "id": "3", "output": "a"},
        {"type": "tool_search_output", "call_id": "5", "tools": []},
    ]
    messages = chat(*items, tools=tools)
    assert messages[0]["tool_calls"] == [
        chat_call("agents__close", "1"),
        chat_call("apply_patch", "2", '{"input":"*** Begin"}'),
        chat_call("local_shell", "3", '{"command":["ls"],"env":{}}'),
        chat_call("local_shell", "4"),
        chat_call("tool_search", "5", '{"query":"x"}'),
        chat_call("f", "6"),
    ]
    assert [found["tool_call_id"] for found in messages[1:]] == ["2", "3", "5"]


def test_items_without_a_counterpart_are_left_out_with_a_note() -> None:
    items = [
        {"type": "item_reference", "id": "msg_1"},
        {"id": "msg_2"},
        {"type": "web_search_call"},
        HI,
        {"type": "additional_tools"},
    ]
    body = {"input": items}
    assert chat(*items) == [HELLO]
    assert left_out_items(body) == [
        Note("parameter", "input[0]", before="item_reference"),
        Note("parameter", "input[1]", before="item_reference"),
        Note("parameter", "input[2]", before="web_search_call"),
    ]
    assert left_out_items({"input": "hi"}) == []


def test_an_image_of_the_assistant_becomes_text() -> None:
    item = {"role": "assistant", "content": [{"type": "input_image", "image_url": "u"}]}
    assert chat(item, HI)[0]["content"] == '[{"type":"image_url","image_url":{"url":"u"}}]'


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "input"),
        ({"input": 3}, "input"),
        ({"input": []}, "input"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input"),
        ({"input": [3]}, "input[0]"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 3}]}, "input[0].content"),
        ({"input": [{"type": "function_call", "name": "f"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "1"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "1", "output": 3}]}, "input[0].output"),
        ({"input": "x", "instructions": 3}, "instructions"),
    ],
)
def test_invalid_input_is_rejected_with_its_path(body: Any, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        chat_messages(body, toolbox({}))
    assert caught.value.path == path


def test_calls_and_results_of_shell_and_patch() -> None:
    operation = {"type": "create_file", "path": "a", "diff": "+x"}
    output = [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    items: list[JsonObject] = [
        {
            "type": "shell_call",
            "call_id": "1",
            "action": {"commands": ["ls"], "timeout_ms": None},
            "status": "completed",
        },
        {"type": "apply_patch_call", "call_id": "2", "operation": operation, "status": "completed"},
        {"type": "shell_call_output", "call_id": "1", "output": output},
        {"type": "apply_patch_call_output", "call_id": "2", "status": "failed", "output": "no"},
    ]
    messages = chat(*items, tools=[{"type": "shell"}, {"type": "apply_patch"}])
    assert messages[0]["tool_calls"] == [
        chat_call("shell", "1", '{"commands":["ls"]}'),
        chat_call("apply_patch", "2", '{"type":"create_file","path":"a","diff":"+x"}'),
    ]
    assert '"stdout":"a"' in messages[1]["content"]
    assert messages[2]["content"] == "failed\nno"
    assert left_out_items({"input": items}) == []


def test_tools_are_declared_where_they_were_loaded() -> None:
    tools = [{"type": "tool_search", "execution": "client"}, {"name": "later", "defer_loading": True}]
    later = {"type": "function", "name": "later", "parameters": {"type": "object"}}
    items: list[Item] = [
        {"type": "tool_search_call", "call_id": "1", "arguments": {"query": "x"}},
        {"type": "tool_search_call", "call_id": "2", "arguments": {"query": "y"}},
        {"type": "tool_search_output", "call_id": "1", "tools": [later]},
        {"type": "tool_search_output", "call_id": "2", "tools": []},
    ]
    declared = {"type": "function", "function": {"name": "later", "parameters": {"type": "object"}}}
    expected: list[Item] = [
        {"role": "tool", "tool_call_id": "1", "content": "Loaded tools: later"},
        {"role": "tool", "tool_call_id": "2", "content": "Loaded tools: none"},
        {"role": "system", "tools": [declared]},
    ]
    assert chat(*items, tools=tools)[1:] == expected
    assert chat(*items, HI, tools=tools)[1:] == [*expected, HELLO]
    call_later = call("later", "3")
    assert chat(*items, call_later, tools=tools)[1:4] == expected
