"""Section 12 of the specification: whatever an upstream sends, only our own errors are raised."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import PARSING, REQUEST, byte_cuts, rngs, run, thorough, transformer

from moongate import BadRequest, GatewayError, Session, read_reply

CONTENT_TYPES = ["text/event-stream", "application/x-ndjson", "application/json", "text/html", ""]

families = pytest.mark.parametrize("family", ["k2", "k3"])

junk = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False), st.text("a<|>\ud83d", max_size=4)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text("ab", max_size=2), inner, max_size=2)),
    max_leaves=3,
)


def or_junk(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(strategy, junk)


functions = or_junk(
    st.fixed_dictionaries({}, optional={"name": or_junk(st.just("bash")), "arguments": or_junk(st.just("{"))})
)
entries = or_junk(
    st.fixed_dictionaries(
        {},
        optional={
            "index": or_junk(st.integers(0, 2)),
            "id": or_junk(st.sampled_from(["", "x", "functions.bash:0"])),
            "type": or_junk(st.just("function")),
            "function": functions,
        },
    )
)
delta_fields = or_junk(
    st.fixed_dictionaries(
        {},
        optional={
            "role": junk,
            "content": or_junk(st.sampled_from(["a", "<|tool_call_begin|>", "<|open|>"])),
            "reasoning_content": or_junk(st.just("r")),
            "reasoning": or_junk(st.just("r")),
            "tool_calls": or_junk(st.lists(entries, max_size=3)),
        },
    )
)
choices = or_junk(
    st.fixed_dictionaries(
        {},
        optional={
            "index": or_junk(st.integers(0, 1)),
            "delta": delta_fields,
            "message": delta_fields,
            "finish_reason": or_junk(st.sampled_from(["stop", "", "tool_calls"])),
            "usage": or_junk(st.fixed_dictionaries({"cached_tokens": junk, "prompt_tokens_details": junk})),
            "logprobs": junk,
        },
    )
)
bodies = or_junk(
    st.fixed_dictionaries(
        {},
        optional={
            "id": junk,
            "choices": or_junk(st.lists(choices, max_size=3)),
            "usage": or_junk(st.fixed_dictionaries({"cached_tokens": junk, "prompt_tokens_details": junk})),
            "error": junk,
        },
    )
)
options = st.sampled_from(
    [{}, PARSING, {**PARSING, "assembleToolDeltas": True}, {"repairOnMismatch": False, "assembleToolDeltas": True}]
)


def ends_well(out: bytes) -> bool:
    last = out.decode("utf-8", "replace").rstrip("\n").rpartition("data: ")[2]
    return last == "[DONE]" or bool(json.loads(last)["error"])


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_chunks_of_any_shape(family: str, data: st.DataObject, rng: Random) -> None:
    events = [json.dumps(each) for each in data.draw(st.lists(bodies, max_size=4))]
    if data.draw(st.booleans()):
        events.append("[DONE]")
    stream = "".join(f"data: {event}\n\n" for event in events).encode()
    kimi = transformer(family, data.draw(options))
    out = run(kimi, [stream])
    assert ends_well(out)
    assert run(kimi, byte_cuts(stream, rng)) == out
    with suppress(GatewayError):
        read_reply(kimi.begin(REQUEST), stream, "text/event-stream")


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_documents_of_any_shape(family: str, data: st.DataObject, rng: Random) -> None:
    document = json.dumps(data.draw(bodies)).encode()
    kimi = transformer(family, data.draw(options))
    assert ends_well(run(kimi, byte_cuts(document, rng), content_type="application/json"))
    with suppress(GatewayError):
        read_reply(kimi.begin(REQUEST), document, "application/json")


@thorough
@given(data=st.data(), rng=rngs)
def test_bytes_of_any_kind(data: st.DataObject, rng: Random) -> None:
    pieces = st.sampled_from(
        [
            b"data:",
            b"data: ",
            b"\n",
            b"\r",
            b"\n\n",
            b"{",
            b"}",
            b"[DONE]",
            b": c\n",
            b"\xef\xbb\xbf",
            b"\xff",
            b'"',
            b"event: error\n",
        ]
    )
    whole = b'{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}'
    stream = b"".join(data.draw(st.lists(st.one_of(pieces, st.just(whole), st.binary(max_size=3)), max_size=10)))
    content_type = data.draw(st.sampled_from(CONTENT_TYPES))
    kimi = transformer("k2")
    out = run(kimi, [stream], content_type=content_type)
    assert ends_well(out)
    assert run(kimi, byte_cuts(stream, rng), content_type=content_type) == out
    with suppress(GatewayError):
        read_reply(kimi.begin(REQUEST), stream, content_type)


@thorough
@given(data=st.data())
def test_requests_of_any_shape(data: st.DataObject) -> None:
    message = or_junk(
        st.fixed_dictionaries(
            {},
            optional={
                "role": or_junk(st.sampled_from(["user", "assistant", "tool", "system"])),
                "content": junk,
                "tool_calls": or_junk(st.lists(entries, max_size=2)),
                "tool_call_id": junk,
                "tools": junk,
            },
        )
    )
    request = data.draw(
        or_junk(
            st.fixed_dictionaries(
                {},
                optional={
                    "messages": or_junk(st.lists(message, max_size=4)),
                    "tools": or_junk(
                        st.lists(or_junk(st.fixed_dictionaries({"type": junk, "function": functions})), max_size=2)
                    ),
                    "tool_choice": junk,
                    "stream_options": junk,
                    "thinking": junk,
                },
            )
        )
    )
    kimi = transformer(data.draw(st.sampled_from(["k2", "k3"])))
    with suppress(BadRequest):
        exchange = kimi.begin(request)
        assert isinstance(exchange.request, dict)
        assert Session(exchange, "").close().startswith(b'data: {"error"')
