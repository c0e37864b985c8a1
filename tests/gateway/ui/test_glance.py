"""What an answer amounts to, in every API that it may be written in, and what the first section of a page says."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from moongate.gateway.ui.glance_section import answer_events, glance_section
from moongate.gateway.ui.json_markup import note_words
from moongate.gateway.ui.meanings import DAMAGE, REASONS, REPAIRS
from moongate.gateway.ui.outcome import AnswerOutcome, outcome
from moongate.payload import JsonObject


def sse(*values: JsonObject) -> str:
    return "".join(f"event: x\ndata: {json.dumps(value)}\n\n" for value in values) + "data: [DONE]\n\n"


def read(text: str) -> AnswerOutcome:
    return outcome(answer_events([{"text": text[:20]}, {"text": text[20:]}]))


def delta(**members: Any) -> JsonObject:
    return {"choices": [{"index": 0, "delta": members, "finish_reason": None}]}


ROOT = Path(__file__).parents[3]
FUNCTION = {"name": "look", "arguments": '{"a":1}'}
CHUNKS = (
    delta(reasoning_content="Hm."),
    delta(content="Hel"),
    delta(content="lo"),
    delta(tool_calls=[{"index": 0, "id": "x:0", "function": {"name": "look", "arguments": '{"a"'}}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}]),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}, {"index": 1, "delta": {"content": "no"}}]},
)
MESSAGE = {"reasoning_content": "Hm.", "content": "Hello", "tool_calls": [{"id": "x:0", "function": FUNCTION}]}
BLOCKS = [
    {"type": "thinking", "thinking": "Hm."},
    {"type": "text", "text": "Hello"},
    {"type": "tool_use", "id": "x:0", "name": "look", "input": {"a": 1}},
]
EVENTS = (
    {"type": "message_start", "message": {"content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "content_block_start", "index": 2,
     "content_block": {"type": "tool_use", "id": "x:0", "name": "look", "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_calls"}},
)  # fmt: skip
RESPONSE = {
    "object": "response",
    "status": "tool_calls",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]},
        {"type": "function_call", "call_id": "x:0", **FUNCTION},
    ],
}
FORMS = {
    "chat, streamed": sse(*CHUNKS),
    "chat, lines of JSON": "\n".join(map(json.dumps, CHUNKS)),
    "chat": json.dumps({"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]}),
    "messages": json.dumps({"type": "message", "content": BLOCKS, "stop_reason": "tool_calls"}),
    "messages, streamed": sse(*EVENTS),
    "responses": json.dumps(RESPONSE),
    "responses, streamed": sse(
        {"type": "response.created", "response": {"output": []}}, {"type": "response.completed", "response": RESPONSE}
    ),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_an_answer_is_read_in_every_form(text: str) -> None:
    found = read(text)
    assert (found.thinking, found.text, found.end, found.error) == ("Hm.", "Hello", "tool_calls", "")
    (call,) = found.calls.values()
    assert (call.name, call.id, call.arguments) == ("look", "x:0", '{"a":1}')


@pytest.mark.parametrize("value", [
    {"error": {"message": "no"}}, {"error": "no"}, {"type": "error", "error": {"type": "x", "message": "no"}}
])  # fmt: skip
def test_an_error_is_read(value: JsonObject) -> None:
    assert read(json.dumps(value) + " " * 30).error == "no"


@pytest.mark.parametrize("text", [
    "", "nothing", "data: 7\n\n", '{"choices":[7,{"delta":7},{"message":{"tool_calls":[7,{"function":7}]}}]}',
    '{"content":[7,{"type":"tool_use"}],"delta":{"partial_json":{}}}',
    '{"object":"response","output":[7,{"type":"message"}]}'
])  # fmt: skip
def test_anything_else_is_read_without_an_error(text: str) -> None:
    read(text + " " * 30)


def section(came: str, left: str, *notes: JsonObject, **line: Any) -> str:
    attempt = {"target": "p,m", "status": 200, "error": "", "answer": {"pieces": [{"text": came}]}}
    capture = {"attempts": [attempt], "answer": {"pieces": [{"text": left}]}, "notes": list(notes)}
    return unescape(glance_section({"status": 200, **line}, capture))


def test_what_differs_is_marked_and_the_reason_is_said() -> None:
    left = {"choices": [{"index": 0, "message": {**MESSAGE, "content": ""}, "finish_reason": "tool_calls"}]}
    came = {
        "choices": [{"index": 0, "message": {"reasoning_content": "Hm.", "content": "<|x|>"}, "finish_reason": "stop"}]
    }
    note = {"kind": "markers_parsed", "where": "choices[0].message", "before": '"<|x|>"', "after": None, "why": "w",
            "mends": "vendor"}  # fmt: skip
    text = section(json.dumps(came), json.dumps(left), note, {**note, "kind": "own"})
    assert re.findall("<mark>(.*?)</mark>", text) == ["<|x|>", "stop", 'look({"a":1})  x:0', "tool_calls"]
    assert REPAIRS["markers_parsed"] in text
    assert "2 notes, each with its place" in text


@pytest.mark.parametrize(("note", "words"), [
    ({"kind": "markers_parsed", "before": '"a:0"', "after": '"a:1"'}, 'markers_parsed: read as the call "a:1"'),
    ({"kind": "markers_parsed", "before": '"<|x|>"', "after": '"a b"'}, 'markers_parsed: "<|x|>" taken out (a b)'),
    ({"kind": "id", "before": None, "after": '"b"', "why": "w"}, 'id: nothing → "b" (w)'),
    ({"kind": "own", "before": None, "after": None}, "own"),
])  # fmt: skip
def test_a_note_is_said_in_words(note: JsonObject, words: str) -> None:
    assert note_words(note) == words


def test_an_answer_that_broke_off_has_no_finish_reason() -> None:
    chunk = 'data: {"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}\n\n'
    text = section(chunk, chunk + 'data: {"error":{"message":"the provider cut its answer"}}\n\n')
    assert text.count("no finish reason") == 1
    capture = {"attempts": [], "answer": {"pieces": [{"text": chunk}], "cut": 1}, "notes": []}
    assert "no finish reason" not in glance_section({}, capture)


def test_an_answer_that_was_not_changed_has_no_mark() -> None:
    text = section(FORMS["chat"], FORMS["chat, streamed"])
    assert "<mark>" not in text
    assert "Nothing was changed." in text


def test_a_request_without_a_capture_or_an_answer_says_why() -> None:
    assert REPAIRS["id"] in unescape(glance_section({"status": 200, "notes": {"id": 2}}, None))
    failed: JsonObject = {"target": "p,m", "status": None, "error": "refused", "answer": {"pieces": []}}
    capture = {"attempts": [failed], "answer": {"pieces": [{"text": '{"error":{"message":"no"}}'}]}, "notes": []}
    text = unescape(glance_section({"status": 502, "error": "no", "damage": ["cut_call"]}, capture))
    for word in ("attempt 1", "refused", "cut_call", "from p,m"):
        assert word in text
    assert "from nobody" in glance_section({}, {**capture, "attempts": []})


def test_an_answer_of_which_only_a_part_was_kept_is_not_called_nothing() -> None:
    answer = {"pieces": [{"text": '{"choices":[{"index":0,"message":{"content":"AAAA'}], "cut": 9_000_000}
    attempt = {"target": "p,m", "status": 200, "error": None, "answer": answer}
    text = unescape(glance_section({"status": 200}, {"attempts": [attempt], "answer": answer, "notes": []}))
    assert text.count("only its beginning was kept") == 2
    assert "nothing" not in text


def test_every_kind_of_the_specification_has_a_meaning() -> None:
    listed = re.search(r"Kinds: (.+?)\. A default", (ROOT / "docs" / "spec.md").read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    assert set(re.findall("`([a-z_]+)`", listed[1])) == set(REPAIRS)


def test_every_kind_of_damage_and_every_reason_of_a_route_has_a_meaning() -> None:
    documents = ROOT / "docs"
    row = next(line for line in (documents / "spec.md").read_text(encoding="utf-8").splitlines()
               if line.startswith("| `damaged` |"))  # fmt: skip
    assert set(re.findall(r"\(`([a-z_]+)`", row)) | {"leaked"} == set(DAMAGE)
    listed = re.search(r"The reasons are (.+?)\.\n", (documents / "routing.md").read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    assert set(re.findall("`([a-z_ ]+)`", listed[1])) == set(REASONS)


def test_a_routes_choice_and_damage_are_said_in_words() -> None:
    route = {"name": "kimi", "strategy": "quality", "reason": "price", "score": 0.9}
    text = unescape(glance_section({"provider": "p", "model": "m", "route": route, "damage": ["invalid_json"]}, None))
    assert "kimi → p,m" in text
    assert REASONS["price"] in text
    assert DAMAGE["invalid_json"] in text
