"""A whole answer is the response object that a stream of it ends with."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.talk import called, events, whole, written

from moongate.chat.items import Chunk
from moongate.dialects.responses.stream import ResponsesEncoder
from moongate.dialects.responses.whole import response
from moongate.errors import BadUpstream

ASKED: dict[str, Any] = {
    "model": "gpt-x",
    "include": ["reasoning.encrypted_content"],
    "tools": [{"type": "custom", "name": "c"}, {"type": "namespace", "name": "n", "tools": [{"name": "f"}]}],
}


def streamed(reply: dict[str, Any]) -> dict[str, Any]:
    """The last response object of a stream that says the same in one chunk."""
    choice = reply["choices"][0]
    calls = choice["message"].get("tool_calls", [])
    delta = {**choice["message"], "tool_calls": [{**call, "index": at} for at, call in enumerate(calls)]}
    item = Chunk.of({**reply, "choices": [{**choice, "delta": delta}]})
    found: dict[str, Any] = events(written(ResponsesEncoder(ASKED), [item]))[-1]["response"]
    return found


def test_an_answer_with_everything() -> None:
    calls = [called("1", "c", '{"input":"x"}'), called("", "n__f", "{}")]
    found = response(whole({"reasoning": "hm", "content": "Look.", "tool_calls": calls}, "tool_calls"), ASKED)
    assert [item["id"] for item in found["output"]] == ["rs_abc_0", "msg_abc_1", "ctc_abc_2", "fc_abc_3"]
    assert found["output"][2]["input"] == "x"
    assert (found["output"][3]["call_id"], found["output"][3]["namespace"]) == ("call_abc_3", "n")
    assert (found["status"], found["usage"]["total_tokens"]) == ("completed", 27)


def test_an_answer_without_choices() -> None:
    found = response({"id": "x"}, ASKED)
    assert (found["id"], found["status"], found["output"], found["usage"]) == ("resp_x", "completed", [], None)


TEXTS = st.text('ab"\\{}\n é😀\ud83d\ude00', max_size=8)
CALLS = st.builds(
    called,
    st.sampled_from(["", "1"]),
    st.sampled_from(["", "f", "c", "n__f"]),
    st.sampled_from(["", "{}", '{"input":"x"}', "{", "oops", '"\ud83d']),
)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"content": TEXTS, "reasoning": TEXTS, "tool_calls": st.lists(CALLS, max_size=4)}
)
REASONS = st.sampled_from(["stop", "length", "content_filter", "tool_calls", ""])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(MESSAGES, REASONS)
def test_it_is_what_a_stream_ends_with(message: dict[str, Any], reason: str) -> None:
    reply = whole(message, reason)
    found = response(reply, ASKED)
    expected = streamed(reply)
    assert found == expected
    assert list(found) == list(expected)
    assert [list(item) for item in found["output"]] == [list(item) for item in expected["output"]]


def test_it_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.dialects.responses.stream.MAX_ANSWER", 4)
    assert response(whole({"reasoning": "a", "content": "b\n"}), ASKED)["status"] == "completed"
    with pytest.raises(BadUpstream):
        response(whole({"reasoning": "ab", "content": "c\n"}), ASKED)
    assert response(whole({"reasoning": "ab", "content": "cd"}), ASKED)["status"] == "completed"
