"""A non-streamed answer equals the last response object of a stream with the same content."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.chat_answers import completion, custom_call, tool_call

from moongate.dialects.openai_responses.non_stream import response
from moongate.dialects.openai_responses.stream import MAX_ANSWER
from moongate.errors import BadUpstream

REQUEST: dict[str, Any] = {
    "model": "gpt-x",
    "include": ["reasoning.encrypted_content"],
    "tools": [{"type": "custom", "name": "c"}, {"type": "namespace", "name": "n", "tools": [{"name": "f"}]}],
}


def test_an_answer_with_everything() -> None:
    calls = [tool_call("1", "c", '{"input":"x"}'), tool_call("", "n__f", "{}")]
    found = response(completion({"reasoning": "hm", "content": "Look.", "tool_calls": calls}, "tool_calls"), REQUEST)
    assert [item["id"] for item in found["output"]] == ["rs_abc_0", "msg_abc_1", "ctc_abc_2", "fc_abc_3"]
    assert found["output"][2]["input"] == "x"
    assert (found["output"][3]["call_id"], found["output"][3]["namespace"]) == ("call_abc_3", "n")
    assert (found["status"], found["usage"]["total_tokens"]) == ("completed", 27)


def test_an_answer_without_choices() -> None:
    found = response({"id": "x"}, REQUEST)
    assert (found["id"], found["status"], found["output"], found["usage"]) == ("resp_x", "completed", [], None)


def test_the_size_of_an_answer_has_a_limit() -> None:
    long = "x" * (MAX_ANSWER - 3)
    assert response(completion({"reasoning": long, "content": "b\n"}), REQUEST)["status"] == "completed"
    with pytest.raises(BadUpstream):  # it is the encoded size that counts: a line feed takes two bytes
        response(completion({"reasoning": long, "content": "bc\n"}), REQUEST)
    assert response(completion({"reasoning": long, "content": "bcd"}), REQUEST)["status"] == "completed"


def test_custom_calls() -> None:
    """A tool is of the kind that the client declared; one that it did not declare is of the call's own kind."""
    calls = [custom_call("1", "c", '{"input":"x"}'), custom_call("2", "n__f", "x"), custom_call("3", "other", "x")]
    found = response(completion({"tool_calls": calls}, "tool_calls"), REQUEST)["output"]
    assert [(item["type"], item["name"]) for item in found] == [
        ("custom_tool_call", "c"),
        ("function_call", "f"),
        ("custom_tool_call", "other"),
    ]
    assert found[0]["input"] == '{"input":"x"}'
    assert found[1]["arguments"] == '{"input":"x"}'
    assert found[2]["input"] == "x"
