from __future__ import annotations

import pytest

from moongate.chat.items import Chunk
from moongate.chat.requested_usage import UsageFilter, with_usage_requested
from moongate.payload import JsonObject

USAGE = {"prompt_tokens": 1, "completion_tokens": 2}


@pytest.mark.parametrize(
    "options", [None, {}, {"include_usage": False}, {"include_usage": None}, {"include_obfuscation": False}]
)
def test_a_stream_is_asked_for_its_usage(options: JsonObject | None) -> None:
    request: JsonObject = {"stream": True, "stream_options": options, "messages": []}
    asked = with_usage_requested(request)
    assert asked == {**request, "stream_options": {**(options or {}), "include_usage": True}}
    assert request["stream_options"] == options
    assert with_usage_requested(asked) is asked
    assert with_usage_requested({"stream": True})["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    "request_body",
    [
        {},
        {"stream": False},
        {"stream": "yes"},
        {"stream": None, "stream_options": {}},
        {"stream": True, "stream_options": {"include_usage": True}},
        {"stream": True, "stream_options": "the provider refuses it"},
    ],
)
def test_other_requests_stay(request_body: JsonObject) -> None:
    assert with_usage_requested(request_body) is request_body


@pytest.mark.parametrize("empty", [{"choices": []}, {"choices": None}, {}])
def test_the_usage_chunk_goes_and_its_repetition_loses_the_usage(empty: JsonObject) -> None:
    usage_filter = UsageFilter()
    finish = Chunk.of({"id": "a", "choices": [{"index": 0}], "usage": USAGE})
    assert usage_filter.filter(finish) is finish  # the provider tells it unasked
    assert usage_filter.filter(Chunk.of({**empty, "usage": USAGE})) is None
    left = usage_filter.filter(finish)
    assert left is not None
    assert left.payload == {"id": "a", "choices": [{"index": 0}]}
