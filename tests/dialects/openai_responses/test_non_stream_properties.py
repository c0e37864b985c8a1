"""Property tests of `non_stream`; `test_non_stream` has the examples."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.chat_answers import completion, encoded, events, tool_call
from tests.dialects.openai_responses.test_non_stream import REQUEST
from tests.support.length import examples

from moongate.chat.items import Chunk
from moongate.dialects.openai_responses.non_stream import response
from moongate.dialects.openai_responses.stream import ResponsesEncoder


def streamed(reply: dict[str, Any]) -> dict[str, Any]:
    """The last response object of a stream that has the same content in one chunk."""
    choice = reply["choices"][0]
    calls = choice["message"].get("tool_calls", [])
    delta = {**choice["message"], "tool_calls": [{**call, "index": at} for at, call in enumerate(calls)]}
    item = Chunk.of({**reply, "choices": [{**choice, "delta": delta}]})
    found: dict[str, Any] = events(encoded(ResponsesEncoder(REQUEST), [item]))[-1]["response"]
    return found


TEXTS = st.text('ab"\\{}\n é😀\ud83d\ude00', max_size=8)
CALLS = st.builds(
    tool_call,
    st.sampled_from(["", "1"]),
    st.sampled_from(["", "f", "c", "n__f"]),
    st.sampled_from(["", "{}", '{"input":"x"}', "{", "oops", '"\ud83d']),
)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"content": TEXTS, "reasoning": TEXTS, "tool_calls": st.lists(CALLS, max_size=4)}
)
REASONS = st.sampled_from(["stop", "length", "content_filter", "tool_calls", ""])


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(MESSAGES, REASONS)
def test_it_equals_the_last_response_of_a_stream(message: dict[str, Any], reason: str) -> None:
    reply = completion(message, reason)
    found = response(reply, REQUEST)
    expected = streamed(reply)
    assert found == expected
    assert list(found) == list(expected)
    assert [list(item) for item in found["output"]] == [list(item) for item in expected["output"]]
