from __future__ import annotations

from typing import Any

import pytest
from tests.native.rules import history_of, rules_of

from moongate.kimi.notes import Notes
from moongate.native.responses import ResponsesApi

API = ResponsesApi()
CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
BLANK = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": " "}]}
SAID = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
TEXT = {"type": "message", "role": "assistant", "content": "x"}


def mended(items: Any, model: str = "kimi-k2", base_url: str = "http://127.0.0.1") -> Any:
    body = {"input": items}
    rules = rules_of(model, base_url)
    found = API.request(body, {}, rules, history_of(rules), Notes())
    return None if found is body else found["input"]


def test_ids() -> None:
    mixed = [{**CALL, "call_id": 7}, {**RESULT, "call_id": 7}]
    found = mended([7, {"role": "user", "content": "hi"}, TEXT, CALL, RESULT, *mixed])
    assert [item["call_id"] for item in found[3:]] == ["functions.f:0", "functions.f:0", "functions.f:1", 7]


@pytest.mark.parametrize("items", [None, "hi", [], [7], [TEXT], [{**CALL, "call_id": "functions.f:0"}], [RESULT]])
def test_what_is_left_alone(items: Any) -> None:
    assert mended(items) is None


@pytest.mark.parametrize(
    ("before", "kinds"),
    [
        ([CALL], ["reasoning", "function_call"]),
        ([CALL, CALL], ["reasoning", "function_call", "function_call"]),
        ([{"type": "reasoning", "summary": []}, CALL], ["reasoning", "reasoning", "function_call"]),
        ([SAID, CALL], ["reasoning", "function_call"]),
        ([{"type": "reasoning", "encrypted_content": "x"}, CALL], ["reasoning", "function_call"]),
        (
            [SAID, TEXT, CALL, RESULT, CALL],
            ["reasoning", "message", "function_call", "function_call_output", *["reasoning", "function_call"]],
        ),
    ],
)
def test_reasoning(before: Any, kinds: list[str]) -> None:
    found = mended(before, "kimi-k2.6", "https://api.moonshot.ai/v1")
    assert [item["type"] for item in found] == kinds


def test_answers() -> None:
    calls = history_of(rules_of("kimi-k2"))
    whole = {"output": [{**CALL, "call_id": ""}, 7]}
    assert API.reply(whole, calls)["output"] == [{**CALL, "call_id": "functions--f--0"}, 7]
    for body in ({"output": [CALL]}, {"output": 7}, {}):
        assert API.reply(body, calls) is body
    assert API.reply(whole, None) is whole


def test_events_agree() -> None:
    calls = history_of(rules_of("kimi-k2"))
    item = {**CALL, "call_id": ""}
    created = {"type": "response.created", "response": {}}
    assert API.event(created, calls) is created
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    assert API.event(added, calls)["item"]["call_id"] == "functions--f--0"
    assert API.event({**added, "type": "response.output_item.done"}, calls)["item"]["call_id"] == "functions--f--0"
    end = {"type": "response.completed", "response": {"output": [item, 7]}}
    assert API.event(end, calls)["response"]["output"][0]["call_id"] == "functions--f--0"
    assert API.event(added, None) is added
    good = {"type": "response.output_item.added", "output_index": [], "item": CALL}
    assert API.event(good, calls) is good
    for event in ({"type": "response.completed"}, {"type": "response.completed", "response": {"output": [7]}}):
        assert API.event(event, calls) is event


def test_ends_and_errors() -> None:
    assert API.is_end({"type": "response.incomplete"})
    assert not API.is_end({"type": "response.created"})
    assert API.error({"type": "error", "message": "no"}) == "no"
    assert API.error({"type": "error"}) == "the provider reported an error"
    assert API.error({"type": "response.failed", "response": {"error": {"message": "no"}}}) == "no"
    assert API.error({"type": "response.failed"}) is None
    assert API.error({"output": []}) is None


def test_usage() -> None:
    usage = {"input_tokens": 7, "output_tokens": 2}
    assert API.usage({"usage": usage}) == API.usage({"response": {"usage": usage}})
    found = API.usage({"usage": usage})
    assert found is not None
    assert (found["prompt_tokens"], found["completion_tokens"]) == (7, 2)
    assert API.usage({}) is None
