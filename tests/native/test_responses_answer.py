from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from moongate.chat.verdict import CLEAN, FAILED, Verdict
from moongate.native.exchange import NativeExchange
from moongate.native.responses_answer import ResponsesReader
from moongate.native.session import NativeSession

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = [
    {"type": "function", "name": "f", "parameters": SCHEMA},
    {"type": "custom", "name": "patch"},
    {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close", "parameters": SCHEMA}]},
]
TEXT = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "No"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"n": 1}'}
THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
FILTERED = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}


def damaged(*kinds: str) -> Verdict:
    return Verdict("damaged", kinds)


def exchange(choice: Any = None) -> NativeExchange:
    return NativeExchange("responses", {"tools": TOOLS}, {"tool_choice": choice}, None)


def frame(kind: str, **more: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), json.dumps({"type": kind, **more}).encode())


def stream_of(body: dict[str, Any], *, output: bool = True) -> bytes:
    frames = [frame("response.created", response={"status": "in_progress"})]
    for at, item in enumerate(body["output"]):
        added = {**item, "arguments": ""} if "arguments" in item else item
        frames.append(frame("response.output_item.added", output_index=at, item=added))
        frames.append(frame("response.output_item.done", output_index=at, item=item))
    kind = "response.completed" if body.get("status") in (None, "completed") else "response.incomplete"
    frames.append(frame(kind, response=body if output else {**body, "output": []}))
    return b"".join(frames)


def streamed(data: bytes, *cuts: int, choice: Any = None) -> Verdict:
    begun = exchange(choice)
    session = NativeSession(begun, "text/event-stream", 100_000)
    places = [0, *cuts, len(data)]
    out = b"".join(session.feed(data[one:two]) for one, two in pairwise(places))
    assert out + session.close() == data
    return begun.verdict


@pytest.mark.parametrize(
    ("output", "more", "choice", "expected"),
    [
        ([THOUGHT, TEXT], {}, None, CLEAN),
        ([REFUSAL], {}, None, CLEAN),
        ([TEXT, CALL], {"status": "completed"}, "required", CLEAN),
        ([{**CALL, "arguments": '{"n": '}], {}, None, damaged("invalid_json")),
        ([{**CALL, "arguments": {"n": 1}}], {}, None, damaged("invalid_json")),
        ([{**CALL, "arguments": '{"n": '}], {"status": "incomplete"}, None, CLEAN),
        ([{**CALL, "arguments": '{"n', "status": "incomplete"}], {}, None, damaged("cut_call")),
        ([{**CALL, "name": "g"}], {}, None, damaged("unknown_tool")),
        ([{**CALL, "name": "close"}, {**CALL, "name": "close", "namespace": "agents"}], {}, None, CLEAN),
        ([{**CALL, "name": "agents__close"}], {}, None, CLEAN),
        ([{**CALL, "name": None, "namespace": "agents"}], {}, None, damaged("empty_turn", "nameless")),
        ([{"type": "custom_tool_call", "name": "patch", "input": "***"}], {}, "required", CLEAN),
        ([TEXT], {}, "required", damaged("missing_call")),
        ([TEXT], FILTERED, "required", CLEAN),
        ([THOUGHT], {}, None, damaged("empty_turn")),
        ([], {}, None, damaged("empty_turn")),
        ([], {"status": "queued"}, "required", CLEAN),
        ([{"type": "web_search_call"}], {}, None, CLEAN),
        ([{"type": "message", "content": "?"}, {"type": "message", "content": [7]}], {}, None, damaged("empty_turn")),
    ],
)
def test_whole_and_streamed(output: list[Any], more: dict[str, Any], choice: Any, expected: Verdict) -> None:
    begun = exchange(choice)
    body = {"output": output, **more}
    assert begun.whole(body) is body
    assert begun.verdict == expected
    for data in (stream_of(body), stream_of(body, output=False)):
        assert streamed(data, *range(1, len(data)), choice=choice) == expected
        for cut in range(1, len(data), 7):
            assert streamed(data, cut, choice=choice) == expected


def test_items_that_are_only_added_or_only_done() -> None:
    added = frame("response.output_item.added", output_index=0, item={**CALL, "arguments": ""})
    done = frame("response.output_item.done", output_index=0, item=CALL)
    end = frame("response.completed", response={})
    assert streamed(added + end) == damaged("cut_call")
    assert streamed(done + end) == CLEAN
    assert streamed(frame("response.output_text.delta", delta="Hi") + end) == CLEAN
    assert streamed(frame("response.output_text.delta", delta="") + end) == damaged("empty_turn")


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_item.done"},
        {"type": "response.output_item.added", "item": {"type": []}},
        {"type": "response.output_item.done", "item": {"type": []}, "output_index": {}},
        {"type": "response.of_the_future"},
        {"type": []},
    ],
)
def test_strange_events(event: dict[str, Any]) -> None:
    begun = exchange()
    assert begun.event(event) is event
    assert begun.verdict.worth == "aborted"


def test_an_end_without_an_answer() -> None:
    begun = exchange()
    begun.event({"type": "response.completed"})
    assert begun.verdict == damaged("empty_turn")


def test_what_is_declared() -> None:
    declared = ResponsesReader().declared({"tools": TOOLS})
    assert declared.schemas == {"f": SCHEMA, "patch": None, "agents__close": SCHEMA, "close": None}
    assert declared.only_calls
    assert not ResponsesReader().declared({"tools": [{"type": "web_search"}, {"type": "local_shell"}]}).only_calls


def test_a_failure_without_an_error() -> None:
    assert streamed(frame("response.failed", response={})) == FAILED
    begun = exchange()
    begun.whole({"status": "failed", "output": [TEXT], "error": None})
    assert begun.verdict == FAILED
