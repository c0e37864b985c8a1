from __future__ import annotations

import pytest

from moongate.chat.contracts import Note
from moongate.gateway.http.answer_headers import MAX_LEFT_OUT, left_out_header, model_header


@pytest.mark.parametrize("requested", ["kimi", "moon,kimi", "moon/kimi"])
def test_the_model_that_was_asked_for_needs_no_header(requested: str) -> None:
    assert model_header(requested, "moon", "kimi") == []


def test_another_model_is_named() -> None:
    assert model_header("gpt-é\n", "moon", "kimi") == [(b"x-moongate-model", b"gpt-?? -> moon,kimi")]
    for _ in range(2):  # made once, and remembered
        assert model_header("gpt", "moon", "kimi") == [(b"x-moongate-model", b"gpt -> moon,kimi")]
    assert len(model_header("x" * 1000, "moon", "kimi")[0][1]) < 250
    assert model_header("moon/" + "x" * 1000, "moon", "x" * 1000) == []


def test_what_was_left_out_is_named_once() -> None:
    notes = [
        Note("parameter", "tools[0]", "mcp"),
        Note("parameter", "tools[1]", "web_search"),
        Note("parameter", "tools[2]", "mcp"),
        Note("parameter", "top_logprobs"),
    ]
    assert left_out_header(notes) == [(b"x-moongate-left-out", b"mcp, web_search, top_logprobs")]
    assert left_out_header([]) == []


def test_a_client_cannot_write_headers() -> None:
    header = left_out_header([Note("parameter", "tools[0]", "a\r\nset-cookie: é," + "x" * 100)])[0][1]
    assert header.startswith(b"a??set-cookie????x")
    assert len(header) == 40


def test_the_header_is_bounded() -> None:
    notes = [Note("parameter", f"tools[{number}]", f"type_{number}") for number in range(1000)]
    words = left_out_header(notes)[0][1].split(b", ")
    assert len(words) == MAX_LEFT_OUT + 1
    assert words[-1] == b"..."
