"""An exchange under the guard: whole answers, streams, further tries."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import answer, chunk
from tests.kimi.guard.guarding import (
    DAMAGED,
    MENDABLE,
    REQUEST,
    VALID,
    begin,
    calls_answer,
    fed,
    read_call,
    shown,
    streamed,
)

from moongate.chat.items import Done, Failure, Opaque
from moongate.chat.verdict import Verdict
from moongate.errors import BadUpstream
from moongate.kimi.guard.tries import NOT_RUN

MISFIT = Verdict("damaged", ("schema_mismatch",))
MENDED = '{"path":"a","limit":5}'


def test_a_valid_whole_answer_is_the_same_object() -> None:
    exchange = begin()
    body = calls_answer(read_call())
    assert exchange.reply(body) is body
    assert exchange.verdict == Verdict("clean")
    assert exchange.schema_check() is None
    assert exchange.next_request() is None
    assert exchange.is_first_try
    assert not exchange.replaced


def test_a_call_is_mended_with_a_note() -> None:
    exchange = begin("repair")
    body = exchange.reply(calls_answer(read_call(MENDABLE)))
    assert body["choices"][0]["message"]["tool_calls"] == [read_call(MENDED)]
    assert exchange.verdict == Verdict("repaired")
    (note,) = exchange.notes
    assert (note.kind, note.before, note.after) == ("guard", "5", 5)
    assert note.where == "choices[0].message.tool_calls[0].function.arguments.limit"
    assert note.why
    assert exchange.next_request() is None


def test_a_near_name_is_mended_in_the_id_too() -> None:
    body = begin("repair").reply(calls_answer(read_call(name="Read")))
    assert body["choices"][0]["message"]["tool_calls"] == [read_call()]


def test_what_cannot_be_mended_leaves_judged_damaged() -> None:
    exchange = begin("repair")
    body = calls_answer(read_call(DAMAGED))
    assert exchange.reply(body) is body
    assert exchange.verdict == MISFIT
    assert exchange.next_request() is None


def test_a_damaged_answer_is_asked_for_again_and_then_with_what_was_wrong() -> None:
    exchange = begin()
    first = exchange.reply(calls_answer(read_call(DAMAGED), read_call(VALID, 1), content="So."))
    assert exchange.next_request() is exchange.next_request()
    assert exchange.next_request() == REQUEST
    assert exchange.reply(calls_answer(read_call("{"))) is first
    wanted: Any = exchange.next_request()
    turn, *results = wanted["messages"][1:]
    assert turn["tool_calls"][0]["function"]["arguments"] in ("{", "{}")  # the history holds JSON only
    assert [result["content"][:40] for result in results] == ["error: the arguments are not valid JSON "]
    last = calls_answer(read_call(number=1))
    assert exchange.reply(last) is last
    assert exchange.next_request() is None
    assert exchange.verdict == Verdict("clean")
    assert [each.verdict for each in exchange.replaced] == [MISFIT, Verdict("damaged", ("invalid_json",))]


def test_every_call_of_the_refused_turn_gets_a_result() -> None:
    exchange = begin(request={**REQUEST, "seed": 5})
    exchange.reply(calls_answer(read_call(DAMAGED), read_call(VALID, 1), content="So."))
    wanted: Any = exchange.next_request()
    turn, first, second = wanted["messages"][1:]
    assert turn["content"] == "So."
    assert "path: must be string, not integer 7" in first["content"]
    assert second["content"] == NOT_RUN
    assert wanted["seed"] == 5
    exchange.reply(calls_answer(read_call(DAMAGED)))
    assert exchange.next_request() is None  # the seed would give the same again


def test_the_first_of_several_damaged_answers_leaves() -> None:
    exchange = begin()
    first = exchange.reply(calls_answer(read_call(DAMAGED), usage={"prompt_tokens": 1}))
    for _ in range(2):
        assert exchange.next_request() is not None
        assert exchange.reply(calls_answer(read_call("{"), usage={"prompt_tokens": 2})) is first
    assert exchange.next_request() is None
    assert exchange.verdict == MISFIT
    assert len(exchange.replaced) == 2


LEAKED = answer({"content": "So. <|tool_call_begin|> x"}, "stop")
CUT = answer({"tool_calls": [read_call(DAMAGED), read_call("{", 1)]}, "length")


@pytest.mark.parametrize("second", [LEAKED, CUT], ids=["leaked", "cut"])
def test_damage_that_no_try_mends_is_no_better_than_the_first(second: Any) -> None:
    exchange = begin()
    first = exchange.reply(calls_answer(read_call(DAMAGED)))
    assert exchange.next_request() is not None
    assert exchange.reply(second) is first
    assert exchange.next_request() is None
    assert exchange.verdict == MISFIT
    assert [each.verdict.worth for each in exchange.replaced] == ["damaged"]


@pytest.mark.parametrize(("host", "seed"), [("vllm", 2), ("generic", None)])
def test_an_empty_turn_is_asked_for_again_with_another_seed(host: str, seed: int | None) -> None:
    exchange = begin(host=host)
    exchange.reply(answer({"content": ""}))
    assert exchange.next_request() is not None
    exchange.reply({"choices": []})
    wanted: Any = exchange.next_request()
    assert wanted.get("seed") == seed
    assert wanted["messages"] == REQUEST["messages"]
    left = answer({"content": "At last."})
    assert exchange.reply(left) is left


def test_a_seed_of_the_client_is_counted_on() -> None:
    exchange = begin(request={**REQUEST, "seed": 5})
    exchange.reply(answer({"content": ""}))
    wanted: Any = exchange.next_request()
    assert wanted["seed"] == 6


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_what_the_provider_cut_is_never_asked_for_again(reason: str) -> None:
    exchange = begin()
    exchange.reply(answer({"tool_calls": [read_call(DAMAGED), read_call("{", 1)]}, reason))
    assert exchange.next_request() is None


def test_with_several_choices_one_valid_is_enough() -> None:
    exchange = begin()
    both = [calls_answer(read_call(DAMAGED))["choices"][0], {**calls_answer(read_call())["choices"][0], "index": 1}]
    exchange.reply({"choices": both})
    assert exchange.next_request() is None
    assert exchange.verdict == MISFIT


def test_choices_that_are_none_travel_on() -> None:
    body = {"choices": ["x", calls_answer(read_call(MENDABLE))["choices"][0]]}
    assert begin("repair").reply(body) == body
    assert begin("repair").reply({"choices": None}) == {"choices": None}
    odd = answer({"tool_calls": ["x"]}, "tool_calls")
    assert begin("repair").reply(odd) == odd


def test_a_request_that_cannot_be_changed_is_not_sent_again() -> None:
    exchange = begin(
        request={**REQUEST, "seed": 1, "messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}
    )
    exchange.reply(calls_answer(read_call(DAMAGED)))
    assert exchange.next_request() is not None
    exchange = begin()
    exchange.reply(calls_answer(read_call(DAMAGED)))
    exchange._begin = _refuse
    assert exchange.next_request() is None


def _refuse(_request: Any) -> Any:
    raise BadUpstream("no")


# Streams


@pytest.mark.parametrize("guard", ["repair", "retry"])
def test_a_valid_stream_leaves_as_it_came(guard: str) -> None:
    exchange = begin(guard)
    items = [*streamed(read_call(), read_call(VALID, 1), text="So."), chunk({}, None)]
    items[-1].payload["choices"] = []  # type: ignore[union-attr]
    left = fed(exchange, items)
    assert [id(item) for item in left[:-1]] == [id(item) for item in items]
    assert exchange.verdict == Verdict("clean")
    assert exchange.close() == ()


@pytest.mark.parametrize("guard", ["repair", "retry"])
def test_a_streamed_call_is_mended_before_it_leaves(guard: str) -> None:
    exchange = begin(guard)
    left = fed(exchange, streamed(read_call(MENDABLE, name="Read"), read_call(VALID, 1), text="So."))
    assert shown(left) == (
        "So.",
        [("functions.read:0", "read", MENDED), ("functions.read:1", "read", VALID)],
        ["tool_calls"],
    )
    assert exchange.verdict == Verdict("repaired")
    assert {note.kind for note in exchange.notes} == {"guard"}


def test_a_damaged_stream_waits_for_the_next_try() -> None:
    exchange = begin()
    left = fed(exchange, streamed(read_call(DAMAGED), text="So."))
    assert shown(left) == ("So.", [], [])
    assert not exchange.is_first_try
    assert exchange.close() == ()
    assert exchange.next_request() == REQUEST
    more = fed(exchange, [Opaque(b": ping\n\n"), *streamed(read_call(), text="Again.", id_="other")])
    assert shown(more) == ("\n\nAgain.", [("functions.read:0", "read", VALID)], ["tool_calls"])
    assert {item.payload["id"] for item in more if not isinstance(item, Done | Opaque)} == {"c"}  # type: ignore[union-attr]
    assert isinstance(more[-1], Done)
    assert [each.verdict for each in exchange.replaced] == [MISFIT]


def test_the_refused_turn_of_a_stream_has_its_text() -> None:
    exchange = begin(request={**REQUEST, "temperature": 0})
    fed(exchange, [chunk({"reasoning_content": "Hm."}), *streamed(read_call(DAMAGED), text="So.")])
    wanted: Any = exchange.next_request()
    turn = wanted["messages"][1]
    assert (turn["content"], turn["reasoning_content"]) == ("So.", "Hm.")
    assert turn["tool_calls"] == [read_call(DAMAGED)]


def test_the_refused_turn_is_the_first_choice_also_if_another_one_began_first() -> None:
    exchange = begin(request={**REQUEST, "n": 2, "seed": 1})
    second, first = streamed(read_call(DAMAGED), text="b", index=1), streamed(read_call(DAMAGED), text="a")
    assert fed(exchange, [*second, *first])
    wanted = exchange.next_request()
    assert wanted is not None
    assert wanted["messages"][1]["content"] == "a"


def test_no_further_try_is_made() -> None:
    exchange = begin()
    fed(exchange, streamed(read_call(DAMAGED), text="So."))
    left = list(exchange.settle())
    assert shown(left) == ("", [("functions.read:0", "read", DAMAGED)], ["tool_calls"])
    assert isinstance(left[-1], Done)
    assert exchange.next_request() is None
    assert exchange.verdict == MISFIT


def test_a_broken_further_try_does_not_lose_the_first_answer() -> None:
    exchange = begin()
    fed(exchange, streamed(read_call(DAMAGED)))
    assert exchange.next_request() is not None
    begun = [left for item in streamed(read_call(), text="Aga")[:2] for left in exchange.feed(item)]
    assert shown(begun)[0] == "Aga"
    left = list(exchange.feed(Failure(BadUpstream("cut"))))
    assert shown(left) == ("", [("functions.read:0", "read", DAMAGED)], ["tool_calls"])
    assert isinstance(left[-1], Done)
    assert [each.verdict for each in exchange.replaced] == [Verdict("failed")]


def test_a_broken_first_try_fails() -> None:
    exchange = begin()
    items = streamed(read_call(), text="So.")[:-1]
    left = [each for item in [*items, Failure(BadUpstream("cut"))] for each in exchange.feed(item)]
    assert isinstance(left[-1], Failure)
    assert exchange.verdict == Verdict("failed")


def test_a_stream_without_its_end_is_closed() -> None:
    exchange = begin()
    left = [each for item in streamed(read_call()) for each in exchange.feed(item)]
    left += exchange.close()
    assert shown(left)[2] == ["tool_calls"]
    assert isinstance(left[-1], Done)


def test_a_whole_answer_in_the_place_of_a_stream() -> None:
    exchange = begin()
    exchange.reply(calls_answer(read_call(DAMAGED), content="So."))
    assert exchange.next_request() is not None
    left = fed(exchange, streamed(read_call("{"), text="Again."))
    assert shown(left)[0] == "Again."
    left = list(exchange.settle())
    assert shown(left)[0] == "\n\nSo."
    assert shown(left)[1] == [("functions.read:0", "read", DAMAGED)]


def test_two_answers_after_another_are_both_noted() -> None:
    exchange = begin()
    exchange.reply(calls_answer(read_call("{"), content="So."))
    assert exchange.next_request() is not None
    exchange.reply(calls_answer(read_call(MENDABLE)))
    for _ in range(2):  # who captures a stream looks again after each event
        assert [note.kind for note in exchange.notes] == ["guard"]
    assert exchange.verdict == Verdict("repaired")


def test_text_that_flows_unread_is_kept_where_another_try_may_be_made() -> None:
    exchange = begin()
    keep = exchange.keeper(0, "content")
    assert keep is not None
    keep(b"a\\n")
    assert exchange.current.choice(0).message()["content"] == "a\n"
    assert begin("repair").keeper(0, "content") is None


def test_what_a_stream_was_read_into_is_freed_at_its_end() -> None:
    """All at once, at the end of the request, it would block an event loop."""
    exchange = begin("retry")
    calls = read_call(), read_call(DAMAGED, 1)
    for _ in range(2):
        assert fed(exchange, streamed(*calls))[:-1] == []
        assert exchange.next_request() is not None
    left = shown(fed(exchange, streamed(*calls)))
    assert len(left[1]) == 2
    for each in exchange._answers:
        assert not each.exchange.choices
        assert not each.exchange.answer.judge.calls
        (choice,) = each.choices.values()
        assert (choice.calls, choice.entries, choice.held.calls, choice.held._chunks) == ([], [], [], [])
        assert not any(choice.texts.values())
    assert exchange.verdict.worth == "damaged"
    assert [each.verdict.worth for each in exchange.replaced] == ["damaged", "damaged"]
