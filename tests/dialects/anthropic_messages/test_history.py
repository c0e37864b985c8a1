from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.anthropic_messages.history import chat_messages
from moongate.errors import BadRequest

Message = dict[str, Any]


def chat(*messages: Message, system: Any = None) -> list[Message]:
    return chat_messages({"system": system, "messages": list(messages)})


def user(*content: Any) -> Message:
    return {"role": "user", "content": list(content)}


def assistant(*content: Any) -> Message:
    return {"role": "assistant", "content": list(content)}


def text(value: str) -> Message:
    return {"type": "text", "text": value}


def use(call: str, name: str, **arguments: Any) -> Message:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def result(call: str, content: Any, **more: Any) -> Message:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def call(call_id: str, name: str, arguments: str) -> Message:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


HI = {"role": "user", "content": "hi"}


def test_system_is_the_first_message() -> None:
    assert chat(HI, system="be brief") == [{"role": "system", "content": "be brief"}, HI]
    blocks = [text("x-anthropic-billing-header: 1"), {**text("be"), "cache_control": {}}, text("brief")]
    assert chat(HI, system=blocks) == [{"role": "system", "content": "be\nbrief"}, HI]
    assert chat(HI, system=[]) == chat(HI, system="") == [HI]


def test_system_messages_stay_where_they_are() -> None:
    inside = {"role": "system", "content": [text("# Environment")]}
    assert chat(HI, inside) == [HI, {"role": "system", "content": "# Environment"}]
    assert chat({"role": "developer", "content": "x"}, HI) == [{"role": "system", "content": "x"}, HI]


def test_a_tool_loop() -> None:
    messages = chat(
        HI,
        assistant(
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            text("I look."),
            use("functions--Bash--0", "Bash", command="ls"),
            use("call_2", "Read", file_path="/a"),
        ),
        user(
            result("functions--Bash--0", "a b"),
            result("call_2", [text("x")], is_error=True, cache_control={}),
            text("go on"),
        ),
    )
    assert messages == [
        HI,
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "hm",
            "tool_calls": [
                call("functions.Bash:0", "Bash", '{"command":"ls"}'),
                call("call_2", "Read", '{"file_path":"/a"}'),
            ],
        },
        {"role": "tool", "tool_call_id": "functions.Bash:0", "content": "a b"},
        {"role": "tool", "tool_call_id": "call_2", "content": "Error\nx"},
        {"role": "user", "content": "go on"},
    ]


def test_results_come_before_the_text_of_their_message() -> None:
    messages = chat(HI, assistant(use("1", "f")), user(text("and"), result("1", "r"), text("then")))
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[-1]["content"] == "and\nthen"


def test_calls_without_text_have_no_content() -> None:
    assert chat(HI, assistant(use("1", "f")), user(result("1", "r")))[1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("1", "f", "{}")],
    }


def test_a_call_without_input_has_empty_arguments() -> None:
    messages = chat(assistant({"type": "tool_use", "id": "1", "name": "f"}), user(result("1", "r")))
    assert messages[0]["tool_calls"] == [call("1", "f", "{}")]


def test_consecutive_assistant_messages_are_one_message() -> None:
    messages = chat(
        HI, assistant(text("a")), assistant(use("1", "f")), assistant(use("2", "g")), user(result("1", "r"))
    )
    assert messages[1] == {
        "role": "assistant",
        "content": "a",
        "tool_calls": [call("1", "f", "{}"), call("2", "g", "{}")],
    }


def test_consecutive_texts_are_one_text_and_others_are_paragraphs() -> None:
    message = assistant(text("a"), text("b"), use("1", "f"), text(""), text("c"), {"type": "news"}, {"type": "image"})
    assert chat(message, HI)[0]["content"] == 'ab\n\nc\n\n{"type":"news"}\n\n{"type":"image"}'
    message = assistant(text("a"), use("1", "f"), text("b"))
    assert chat(message, HI)[0]["content"] == "a\n\nb"


def test_an_image_of_the_assistant_becomes_text() -> None:
    source = {"type": "url", "url": "u"}
    message = assistant({"type": "image", "source": source})
    assert chat(message, HI)[0]["content"] == '{"type":"image","source":{"type":"url","url":"u"}}'


def test_thinking_without_a_signature_and_redacted_thinking() -> None:
    thinking = [
        {"type": "thinking", "thinking": "a"},
        {"type": "thinking", "thinking": ""},
        {"type": "redacted_thinking"},
    ]
    message = chat(assistant(*thinking, text("b")), HI)[0]
    assert message == {"role": "assistant", "content": "b", "reasoning_content": "a[redacted thinking]"}


def test_the_model_continues_a_last_assistant_message() -> None:
    assert chat(HI, assistant(text("The best answer is (")))[-1] == {
        "role": "assistant",
        "content": "The best answer is (",
        "partial": True,
    }
    assert "partial" not in chat(HI, assistant(text("a"), use("1", "f")))[-1]
    assert "partial" not in chat(HI, {"role": "assistant", "content": ""})[-1]


def test_images_stay_parts() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    assert chat(user(text("what?"), image)) == [
        {"role": "user", "content": [text("what?"), {"type": "image_url", "image_url": {"url": "u"}}]}
    ]


def test_empty_user_messages_are_omitted() -> None:
    assert chat(HI, user(), HI) == [HI, HI]


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        (None, "messages"),
        ([], "messages"),
        ("hi", "messages"),
        (["hi"], "messages[0]"),
        ([{"role": "user", "content": []}], "messages"),
        ([{"role": "robot"}], "messages[0].role"),
        ([HI, {"content": "a"}], "messages[1].role"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "assistant", "content": [3]}], "messages[0].content[0]"),
        ([assistant({"type": "tool_use", "id": "1"})], "messages[0].content[0].name"),
        ([assistant({"type": "tool_use", "name": "f"})], "messages[0].content[0].id"),
        ([user({"type": "tool_result"})], "messages[0].content[0].tool_use_id"),
        ([user({"type": "tool_result", "tool_use_id": "1", "content": 4})], "messages[0].content[0].content"),
    ],
)
def test_invalid_messages_are_rejected_with_their_path(messages: Any, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        chat_messages({"messages": messages})
    assert caught.value.path == path


def test_an_invalid_system_prompt_is_rejected() -> None:
    with pytest.raises(BadRequest, match="system"):
        chat(HI, system=3)


def test_loaded_tools_are_declared_behind_the_results_of_their_message() -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    call = {"type": "tool_use", "id": "toolu_1", "name": "g", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    messages = [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "text", "text": "a"}, result]},
        {"role": "system", "content": "b"},
    ]
    made = chat_messages({"messages": messages}, {1: [tool], 2: [tool]})
    assert [(message["role"], message.get("tools")) for message in made] == [
        ("assistant", None), ("tool", None), ("system", [tool]), ("user", None), ("system", [tool]), ("system", None),
    ]  # fmt: skip
