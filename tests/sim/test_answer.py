from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moongate.sim.answer import call_id, deltas, finish_reason, said, whole_message
from moongate.sim.behaviours import Behaviour
from moongate.sim.markup import k2_markup, k3_markup
from moongate.sim.script import Call, Turn

ADD = Call("add", '{"a":"aaaaaaaaaaaa"}', 4, 0)
SUB = Call("sub", '{"b":1}', 5, 1)
TURN = Turn("Look.", "Hm.", (ADD, SUB))
CLEAN = Behaviour(generation="k2.5")


@pytest.mark.parametrize(
    ("shape", "ids"),
    [
        ("", ["functions.add:4", "functions.sub:5"]),
        ("empty", ["", ""]),
        ("null", [None, None]),
        ("missing", [None, None]),
        ("repeated", ["functions.add:0", "functions.sub:0"]),
        ("one", ["call_0", "call_0"]),
        ("short", ["add:4", "sub:5"]),
        ("safe", ["functions_add_4", "functions_sub_5"]),
        ("number", ["4", "5"]),
        ("restarted", ["functions.add:0", "functions.sub:1"]),
    ],
)
def test_ids(shape: str, ids: list[str | None]) -> None:
    assert [call_id(call, replace(CLEAN, ids=shape)) for call in TURN.calls] == ids


def test_ids_of_hosts() -> None:
    def given(generation: str, host: str) -> str | None:
        return call_id(SUB, Behaviour(generation=generation, host=host))

    assert given("k2", "vllm") == given("k2", "sglang") == given("k2", "generic") == "functions.sub:5"
    assert given("k2", "moonshot") == given("k3", "sglang") == "sub:5"
    assert str(given("k3", "vllm")).startswith("chatcmpl-tool-")
    assert str(given("k2", "openrouter")).startswith("call_")
    assert given("k3", "generic") == "sub:1"


def test_a_clean_whole_answer() -> None:
    assert whole_message(TURN, CLEAN) == {
        "role": "assistant",
        "content": "Look.",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {"id": "functions.add:4", "type": "function", "function": {"name": "add", "arguments": ADD.arguments}},
            {"id": "functions.sub:5", "type": "function", "function": {"name": "sub", "arguments": SUB.arguments}},
        ],
    }
    assert finish_reason(TURN, CLEAN) == "tool_calls"
    assert whole_message(Turn("x"), CLEAN) == {"role": "assistant", "content": "x"}
    assert whole_message(Turn("", "", (SUB,)), CLEAN)["content"] is None
    assert finish_reason(Turn("x"), CLEAN) == "stop"


@pytest.mark.parametrize(
    ("finish", "with_calls", "without"),
    [("stop", "stop", "stop"), ("null", None, None), ("end_turn", "end_turn", "stop"), ("tool_calls",) * 3],
)
def test_finish_reasons(finish: str, with_calls: str | None, without: str | None) -> None:
    told = replace(CLEAN, finish=finish)
    assert (finish_reason(TURN, told), finish_reason(Turn("x"), told)) == (with_calls, without)


def test_reasoning_is_named_as_the_host_names_it() -> None:
    assert whole_message(TURN, replace(CLEAN, host="vllm"))["reasoning"] == "Hm."
    told = whole_message(TURN, replace(CLEAN, host="openrouter"))
    assert (told["reasoning"], told["reasoning_details"][0]["text"]) == ("Hm.", "Hm.")


def test_where_markup_goes() -> None:
    markup = k2_markup(TURN.calls)

    def fields(turn: Turn = TURN, **changes: Any) -> tuple[str, str, int]:
        told = said(turn, replace(CLEAN, **changes))
        return told.reasoning, told.content, len(told.calls)

    assert fields(calls_in="content") == ("Hm.", "Look." + markup, 0)
    assert fields(calls_in="reasoning") == ("Hm." + markup, "Look.", 0)
    assert fields(calls_in="both") == ("Hm.", "Look." + markup, 2)
    assert fields(calls_in="content", think="tags") == ("", f"<think>Hm.</think>Look.{markup}", 0)
    assert fields(calls_in="content", think="open") == ("", f"<think>Hm.{markup}", 0)
    assert fields(Turn("x", "Hm."), calls_in="content", think="open") == ("", "<think>Hm.</think>x", 0)
    assert fields(think="tags") == ("", "<think>Hm.</think>Look.", 2)
    assert fields(Turn("x"), calls_in="content") == ("", "x", 0)


def test_where_k3_markup_goes() -> None:
    k3 = Behaviour(generation="k3", calls_in="content")
    assert said(TURN, k3).content == k3_markup("Hm.", "Look.", TURN.calls)
    inside = said(TURN, replace(k3, calls_in="reasoning"))
    assert (inside.reasoning, inside.content) == ("Hm." + k3_markup("", "", TURN.calls), "Look.")
    assert said(Turn("x", "Hm."), replace(k3, calls_in="reasoning")).content == "x"


def call_parts(behaviour: Behaviour) -> list[Any]:
    return [delta["tool_calls"][0] for delta in deltas(Turn("", "", (ADD,)), behaviour) if "tool_calls" in delta]


def test_a_clean_call_streams_as_openai_does() -> None:
    assert call_parts(CLEAN) == [
        {"index": 0, "id": "functions.add:4", "type": "function", "function": {"name": "add", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":"aaaaa'}},
        {"index": 0, "function": {"arguments": 'aaaaaaa"}'}},
    ]


def test_odd_call_deltas() -> None:
    assert all("index" not in part for part in call_parts(replace(CLEAN, index="missing")))
    assert [part["index"] for part in call_parts(replace(CLEAN, index="same"))] == [0, 0, 0]
    assert [part["id"] for part in call_parts(replace(CLEAN, tail="id"))] == ["functions.add:4"] * 3
    assert call_parts(replace(CLEAN, tail="null"))[1]["function"]["name"] is None
    assert call_parts(replace(CLEAN, tail="empty"))[1]["id"] == ""
    assert call_parts(replace(CLEAN, arguments="once"))[0]["function"]["arguments"] == ADD.arguments
    assert call_parts(replace(CLEAN, arguments="object"))[0]["function"]["arguments"] == {"a": "aaaaaaaaaaaa"}
    assert "arguments" not in call_parts(replace(CLEAN, arguments="none"))[0]["function"]
    assert "id" not in call_parts(replace(CLEAN, ids="missing"))[0]
    assert call_parts(replace(CLEAN, names="prefixed"))[0]["function"]["name"] == "functions.add:4"


def test_text_streams_in_pieces_and_leaked_markup_comes_after_native_calls() -> None:
    fields = [next(iter(delta)) for delta in deltas(TURN, CLEAN)]
    assert fields == ["role", "reasoning_content", "content", *["tool_calls"] * 5]
    late = [next(iter(delta)) for delta in deltas(TURN, replace(CLEAN, calls_in="both"))]
    assert late.index("tool_calls") < late.index("content")
    pieces = [delta["content"] for delta in deltas(Turn("abc"), replace(CLEAN, piece=1)) if "role" not in delta]
    assert pieces == ["a", "b", "c"]
