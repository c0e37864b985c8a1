from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour
from moongate.sim.completion import answer_fields, completion_message, deltas, finish_reason, limited
from moongate.sim.conversation import SimAnswer, SimCall
from moongate.sim.markup import k2_markup, k3_markup

ADD = SimCall("add", '{"a":"aaaaaaaaaaaa"}', 4, 0)
SUB = SimCall("sub", '{"b":1}', 5, 1)
ANSWER = SimAnswer("Look.", "Hm.", (ADD, SUB))
CLEAN = Behaviour(generation="k2.5")


def test_a_clean_whole_answer() -> None:
    assert completion_message(ANSWER, CLEAN) == {
        "role": "assistant",
        "content": "Look.",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {"id": "functions.add:4", "type": "function", "function": {"name": "add", "arguments": ADD.arguments}},
            {"id": "functions.sub:5", "type": "function", "function": {"name": "sub", "arguments": SUB.arguments}},
        ],
    }
    assert finish_reason(ANSWER, CLEAN) == "tool_calls"
    assert completion_message(SimAnswer("x"), CLEAN) == {"role": "assistant", "content": "x"}
    assert completion_message(SimAnswer("", "", (SUB,)), CLEAN)["content"] is None
    assert finish_reason(SimAnswer("x"), CLEAN) == "stop"


@pytest.mark.parametrize(
    ("finish", "with_calls", "without"),
    [("stop", "stop", "stop"), ("null", None, None), ("end_turn", "end_turn", "stop"), ("tool_calls",) * 3],
)
def test_finish_reasons(finish: str, with_calls: str | None, without: str | None) -> None:
    behaviour = replace(CLEAN, finish=finish)
    assert (finish_reason(ANSWER, behaviour), finish_reason(SimAnswer("x"), behaviour)) == (with_calls, without)


def test_reasoning_is_named_as_the_host_names_it() -> None:
    assert completion_message(ANSWER, replace(CLEAN, host="vllm"))["reasoning"] == "Hm."
    message = completion_message(ANSWER, replace(CLEAN, host="openrouter"))
    assert (message["reasoning"], message["reasoning_details"][0]["text"]) == ("Hm.", "Hm.")


def test_where_markup_goes() -> None:
    markup = k2_markup(ANSWER.calls)

    def fields(answer: SimAnswer = ANSWER, **changes: Any) -> tuple[str, str, int]:
        sent = answer_fields(answer, replace(CLEAN, **changes))
        return sent.reasoning, sent.content, len(sent.calls)

    assert fields(calls_in="content") == ("Hm.", "Look." + markup, 0)
    assert fields(calls_in="reasoning") == ("Hm." + markup, "Look.", 0)
    assert fields(calls_in="both") == ("Hm.", "Look." + markup, 2)
    assert fields(calls_in="content", think="tags") == ("", f"<think>Hm.</think>Look.{markup}", 0)
    assert fields(calls_in="content", think="open") == ("", f"<think>Hm.{markup}", 0)
    assert fields(SimAnswer("x", "Hm."), calls_in="content", think="open") == ("", "<think>Hm.</think>x", 0)
    assert fields(think="tags") == ("", "<think>Hm.</think>Look.", 2)
    assert fields(SimAnswer("x"), calls_in="content") == ("", "x", 0)


def test_where_k3_markup_goes() -> None:
    k3 = Behaviour(generation="k3", calls_in="content")
    assert answer_fields(ANSWER, k3).content == k3_markup("Hm.", "Look.", ANSWER.calls)
    inside = answer_fields(ANSWER, replace(k3, calls_in="reasoning"))
    assert (inside.reasoning, inside.content) == ("Hm." + k3_markup("", "", ANSWER.calls), "Look.")
    assert answer_fields(SimAnswer("x", "Hm."), replace(k3, calls_in="reasoning")).content == "x"


def test_text_streams_in_pieces_and_leaked_markup_comes_after_native_calls() -> None:
    fields = [next(iter(delta)) for delta in deltas(ANSWER, CLEAN)]
    assert fields == ["role", "reasoning_content", "content", *["tool_calls"] * 5]
    late = [next(iter(delta)) for delta in deltas(ANSWER, replace(CLEAN, calls_in="both"))]
    assert late.index("tool_calls") < late.index("content")
    pieces = [delta["content"] for delta in deltas(SimAnswer("abc"), replace(CLEAN, piece=1)) if "role" not in delta]
    assert pieces == ["a", "b", "c"]


@pytest.mark.parametrize("generation", ["k2.5", "k3"])
@pytest.mark.parametrize("where", ["header", "arguments", "end"])
def test_markup_across_the_seam_of_the_fields(generation: str, where: str) -> None:
    behaviour = Behaviour(generation=generation, calls_in="seam", seam=where)
    fields = answer_fields(ANSWER, behaviour)
    markup = k2_markup(ANSWER.calls) if generation == "k2.5" else k3_markup("", "", ANSWER.calls)
    assert fields.reasoning + fields.content == "Hm." + markup
    assert fields.reasoning.removeprefix("Hm.")
    assert fields.content
    text = answer_fields(SimAnswer("x", "Hm."), behaviour)
    assert (text.reasoning, text.content) == ("Hm.", "x")


def test_an_empty_reasoning_field_beside_tags() -> None:
    behaviour = replace(CLEAN, think="tags", empty_reasoning=True)
    message = completion_message(SimAnswer("x", "Hm."), behaviour)
    assert (message["reasoning_content"], message["content"]) == ("", "<think>Hm.</think>x")
    assert next(deltas(ANSWER, behaviour))["reasoning_content"] == ""


def test_max_tokens_cut_reasoning_then_text_then_calls() -> None:
    answer = SimAnswer("12345678", "abcdefgh", (ADD, SUB))
    assert limited(answer, 1000) == answer
    assert limited(answer, 0) == SimAnswer("", "", (), cut=True)
    assert limited(answer, 3) == SimAnswer("1234", "abcdefgh", (), cut=True)
    cut = limited(answer, 5)
    assert [call.arguments for call in cut.calls] == ['{"a"']
    assert finish_reason(cut, CLEAN) == "length"
