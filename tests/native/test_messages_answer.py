from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from moongate.chat.verdict import CLEAN, Verdict
from moongate.native.exchange import NativeExchange
from moongate.native.messages_answer import MessagesReader
from moongate.native.session import NativeSession

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = [{"name": "f", "input_schema": SCHEMA}]
TEXT = {"type": "text", "text": "Hi"}
CALL: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1}}


def damaged(*kinds: str) -> Verdict:
    return Verdict("damaged", kinds)


def exchange(choice: Any = None) -> NativeExchange:
    return NativeExchange("messages", {"tools": TOOLS}, {"tool_choice": choice}, None)


def frame(kind: str, **more: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), json.dumps({"type": kind, **more}).encode())


def stream_of(content: list[Any], reason: str) -> bytes:
    frames = [frame("message_start", message={"content": []})]
    for at, block in enumerate(content):
        kind = block.get("type")
        start, deltas = block, []
        if kind in ("text", "thinking"):
            start = {**block, kind: ""}
            deltas = [{"type": f"{kind}_delta", kind: part} for part in (block[kind][:1], block[kind][1:])]
        elif kind == "tool_use" and block.get("input"):
            given = block["input"]
            text = given if isinstance(given, str) else json.dumps(given)
            start = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", text[:3], text[3:])]
        frames.append(frame("content_block_start", index=at, content_block=start))
        frames += [frame("content_block_delta", index=at, delta=each) for each in deltas]
        frames.append(frame("content_block_stop", index=at))
    frames += [frame("message_delta", delta={"stop_reason": reason}), frame("message_stop")]
    return b"".join(frames)


def streamed(data: bytes, *cuts: int, choice: Any = None) -> Verdict:
    begun = exchange(choice)
    session = NativeSession(begun, "text/event-stream", 100_000)
    places = [0, *cuts, len(data)]
    out = b"".join(session.feed(data[one:two]) for one, two in pairwise(places))
    assert out + session.close() == data
    return begun.verdict


CASES = [
    ([TEXT], "end_turn", None, CLEAN),
    ([{"type": "thinking", "thinking": "hm"}, TEXT, CALL], "tool_use", "required", CLEAN),
    ([{**CALL, "input": {}}], "tool_use", None, CLEAN),
    ([{**CALL, "input": [1]}], "tool_use", None, CLEAN),
    ([{**CALL, "input": '{"n": '}], "tool_use", None, damaged("invalid_json")),
    ([{**CALL, "input": None}], "tool_use", None, damaged("invalid_json")),
    ([{"type": "tool_use", "name": "f"}], "tool_use", None, damaged("invalid_json")),
    ([{**CALL, "name": "g"}, CALL], "tool_use", None, damaged("unknown_tool")),
    ([{**CALL, "name": ""}], "tool_use", None, damaged("empty_turn", "nameless")),
    ([TEXT], "end_turn", "required", damaged("missing_call")),
    ([TEXT], "end_turn", {"type": "function", "function": {"name": "f"}}, damaged("missing_call")),
    ([{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking"}], "end_turn", None, damaged("empty_turn")),
    ([], "end_turn", None, damaged("empty_turn")),
    ([{"type": "server_tool_use", "name": "web_search"}], "pause_turn", "required", CLEAN),
    *(([], reason, "required", CLEAN) for reason in ("max_tokens", "model_context_window_exceeded", "refusal")),
    ([{**CALL, "input": '{"n": '}], "max_tokens", None, CLEAN),
    ([{**CALL, "input": '{"n": '}, CALL], "max_tokens", None, damaged("invalid_json")),
]


@pytest.mark.parametrize(("content", "reason", "choice", "expected"), CASES)
def test_whole_and_streamed(content: list[Any], reason: str, choice: Any, expected: Verdict) -> None:
    begun = exchange(choice)
    assert begun.verdict.worth == "aborted"
    body = {"content": content, "stop_reason": reason}
    assert begun.whole(body) is body
    assert begun.verdict == expected
    data = stream_of(content, reason)
    assert streamed(data, *range(1, len(data)), choice=choice) == expected
    for cut in range(1, len(data), 7):
        assert streamed(data, cut, choice=choice) == expected


def test_a_call_that_does_not_end() -> None:
    start = frame("content_block_start", index=0, content_block={**CALL, "input": {}})
    half = frame("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"n'})
    end = frame("message_stop")
    assert streamed(start + half + end) == damaged("cut_call")
    assert streamed(start + half + frame("message_delta", delta={"stop_reason": "max_tokens"}) + end) == CLEAN


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_delta"},
        {"type": "content_block_delta", "delta": {"type": "citations_delta"}},
        {"type": "content_block_start"},
        {"type": "content_block_start", "content_block": {"type": ["text"]}},
        {"type": "message_delta", "delta": 7},
        {"type": "message_delta", "delta": {}},
        {"type": "message_delta", "delta": {"stop_reason": []}},
        {"type": ["message_stop"]},
    ],
)
def test_strange_events(event: dict[str, Any]) -> None:
    begun = exchange()
    assert begun.event(event) is event
    assert begun.verdict.worth == "aborted"


def test_what_is_declared() -> None:
    tools = [*TOOLS, {"type": "bash_20250124", "name": "bash"}, {"type": "custom", "name": "c"}]
    declared = MessagesReader().declared({"tools": tools})
    assert (set(declared.schemas), declared.schemas["f"], declared.only_calls) == ({"f", "bash", "c"}, SCHEMA, True)
    search = {"type": "web_search_20250305", "name": "web_search"}
    declared = MessagesReader().declared({"tools": [*TOOLS, search]})
    assert (set(declared.schemas), declared.only_calls) == ({"f", "web_search"}, False)
    begun = NativeExchange("messages", {"tools": [*TOOLS, search]}, {"tool_choice": "required"}, None)
    begun.whole({"content": [{"type": "server_tool_use"}], "stop_reason": "end_turn"})
    assert begun.verdict == CLEAN, "the provider's own tool was used"
