"""The messages front as the gateway uses it."""

from __future__ import annotations

import pytest
from tests.dialects.chat_answers import chunk, completion, encoded, events, text_delta

from moongate.dialects.anthropic_messages import MESSAGES
from moongate.errors import BadRequest, BadUpstream, UpstreamRefused

REQUEST = {"model": "claude-x", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}


def test_the_methods_of_the_dialect() -> None:
    assert MESSAGES.decode(REQUEST) == {"model": "claude-x", "messages": REQUEST["messages"], "max_tokens": 9}
    assert MESSAGES.left_out(REQUEST) == []
    error = BadRequest("no")
    assert MESSAGES.map_error(error) is error
    assert MESSAGES.error(error) == {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
    assert MESSAGES.failed_stream(UpstreamRefused("prompt is too long", status=400), {"stream": True}) is None


def test_answers_and_streams() -> None:
    assert MESSAGES.encode(completion({"content": "a"}), REQUEST)["content"] == [{"type": "text", "text": "a"}]
    found = events(encoded(MESSAGES.encoder(REQUEST), [text_delta("a"), chunk(finish="stop")]))
    assert [found[0]["type"], found[-1]["type"]] == ["message_start", "message_stop"]
    assert MESSAGES.keep_alive() == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert MESSAGES.error_event(BadUpstream("cut")).startswith(b"event: error\n")


def test_count_tokens() -> None:
    small, large = MESSAGES.count_tokens(REQUEST), MESSAGES.count_tokens({**REQUEST, "system": "word " * 1000})
    assert 0 < small["input_tokens"] < 50
    assert 900 < large["input_tokens"] < 1300
    with pytest.raises(BadRequest):
        MESSAGES.count_tokens({})


def test_models() -> None:
    assert MESSAGES.models(["a", "b"]) == {
        "data": [
            {"type": "model", "id": "a", "display_name": "a", "created_at": "1970-01-01T00:00:00Z"},
            {"type": "model", "id": "b", "display_name": "b", "created_at": "1970-01-01T00:00:00Z"},
        ],
        "has_more": False,
        "first_id": "a",
        "last_id": "b",
    }
    assert MESSAGES.models([])["first_id"] is None
