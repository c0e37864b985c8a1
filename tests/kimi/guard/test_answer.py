"""One answer under the guard."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import REQUEST as TWO_TOOLS
from tests.kimi.answering import answer, call, chunk
from tests.kimi.answering import begin as begin_kimi
from tests.kimi.guard.guarding import DAMAGED, MENDABLE, READ, REQUEST, calls_answer, fed, read_call, shown, streamed
from tests.kimi.guard.guarding import begin as begin_guarded

from moongate.chat.items import Chunk, Done
from moongate.chat.verdict import Verdict
from moongate.kimi.exchange import MAX_CHOICES
from moongate.kimi.guard.answer import MAX_KEPT, GuardedAnswer, call_entry, with_call
from moongate.kimi.guard.calls import CallGuard, GuardedCall
from moongate.kimi.guard.held_calls import MAX_HELD_CHARS
from moongate.kimi.guard.tool_schemas import ToolSchemas

Row = dict[str, Any]
PATCH = {"type": "custom", "custom": {"name": "patch"}}


def guarded(request: Row = REQUEST) -> GuardedAnswer:
    return GuardedAnswer(begin_kimi(None, request), CallGuard(request, ToolSchemas(), None))


def read(found: GuardedAnswer, body: Row) -> Row:
    return found.read_whole(found.exchange.reply(body))


def test_a_whole_answer() -> None:
    found = guarded()
    body = {**calls_answer(read_call()), "usage": {"prompt_tokens": 1}}
    assert read(found, body) is body
    assert found.is_over
    assert found.is_final()
    assert found.usage == {"prompt_tokens": 1}
    assert found.verdict == Verdict("clean")
    assert isinstance(found.release()[0], Chunk)


def test_only_the_calls_that_are_mended_change() -> None:
    found = guarded()
    body = read(found, calls_answer(read_call(), read_call(MENDABLE, 1), content="So."))
    first, second = body["choices"][0]["message"]["tool_calls"]
    assert first == read_call()
    assert second["function"]["arguments"] == '{"path":"a","limit":5}'
    assert body["choices"][0]["message"]["content"] == "So."


def test_answers_without_calls_are_left_alone() -> None:
    bare = {"choices": [{"index": 0, "finish_reason": "length"}]}
    for body in (answer({"content": "Hi"}), {"choices": None}, {"choices": ["x"]}, bare):
        assert read(guarded(), body) == body
    found = guarded()
    read(found, answer({"content": ""}))
    assert not found.is_final()
    assert found.choice(0).message() == {"content": "", "tool_calls": []}


def test_a_call_that_does_not_fit_is_judged() -> None:
    found = guarded()
    read(found, calls_answer(read_call(DAMAGED)))
    assert not found.is_final()
    assert found.verdict == Verdict("damaged", ("schema_mismatch",))


def test_a_choice_that_the_provider_cut_is_final() -> None:
    found = guarded()
    read(found, answer({"tool_calls": [read_call(DAMAGED), read_call("{", 1)]}, "length"))
    assert found.is_final()


def test_a_streamed_answer() -> None:
    found = guarded()
    items = streamed(read_call(DAMAGED))
    for item in items[:-1]:
        for each in found.exchange.feed(item):
            assert isinstance(each, Chunk)
            found.choice(0).held.hold(each, each.payload["choices"][0]["delta"]["tool_calls"])
    (finish,) = found.exchange.feed(items[-1])
    assert isinstance(finish, Chunk)
    found.choice(0).finish = finish
    found.choice(1)
    found.tail.append(finish)
    found.exchange.feed(Done())
    found.end_stream()
    assert found.verdict == Verdict("damaged", ("schema_mismatch",))
    assert found.choice(0).message()["tool_calls"] == [read_call(DAMAGED)]
    assert found.release() == [*items, finish]
    assert found.release() == []


def test_a_stream_whose_choice_never_ended_is_not_judged_again() -> None:
    found = guarded()
    for item in streamed(read_call(DAMAGED))[:-1]:
        for each in found.exchange.feed(item):
            assert isinstance(each, Chunk)
            found.choice(0).held.hold(each, each.payload["choices"][0]["delta"]["tool_calls"])
    found.end_stream()
    assert found.exchange.answer.judge.choices == {}


def test_custom_calls() -> None:
    request = {**TWO_TOOLS, "tools": [PATCH, READ]}
    found = guarded(request)
    entry = {"id": "functions.Patch:0", "type": "custom", "custom": {"name": "Patch", "input": "*"}}
    body = read(found, calls_answer(entry))
    assert body["choices"][0]["message"]["tool_calls"] == [
        {"id": "functions.patch:0", "type": "custom", "custom": {"name": "patch", "input": "*"}}
    ]
    custom = GuardedCall("patch", "*", custom=True)
    assert call_entry("x", custom) == {"id": "x", "type": "custom", "custom": {"name": "patch", "input": "*"}}
    assert call_entry("x", GuardedCall("read", "{}")) == call("x", "read", "{}")
    assert with_call(call("x", "Read", "{"), GuardedCall("read", "{}")) == call("x", "read", "{}")


def test_text_is_kept_within_bounds() -> None:
    found = guarded().choice(0)
    found.keep("content", "a")
    found.keep("content", b'\\u00e9\\n"'.replace(b'"', b'\\"'))
    found.keep("reasoning", "r")
    assert found.message() == {"content": 'aé\n"', "reasoning": "r", "tool_calls": []}
    found.keep("content", "x" * MAX_KEPT)
    assert found.message() == {"content": None, "tool_calls": []}


def test_choices_beyond_a_limit_are_not_guarded() -> None:
    found = guarded()
    for index in range(MAX_CHOICES):
        assert found.guards(index)
        found.choice(index)
    assert found.guards(MAX_CHOICES - 1)
    assert not found.guards(MAX_CHOICES)


def test_it_is_valid_if_one_choice_is() -> None:
    found = guarded()
    read(found, calls_answer(read_call(DAMAGED)))
    assert not found.is_valid()
    found = guarded()
    read(found, calls_answer(read_call()))
    assert found.is_valid()


@pytest.mark.parametrize("guard", ["repair", "retry"])
@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        ('"}', Verdict("clean")),
        ('","limit":"5"}', Verdict("damaged", ("schema_mismatch",))),
        ('","limit":"5', Verdict("damaged", ("invalid_json",))),
    ],
)
def test_calls_that_are_too_long_to_be_held_are_judged_whole(guard: str, end: str, wanted: Verdict) -> None:
    exchange = begin_guarded(guard)
    first, second = read_call(), read_call('{"path":"', 1)
    head = streamed(first, second)[:-1]
    rest = ["x" * MAX_HELD_CHARS, "x", end]
    deltas = [chunk({"tool_calls": [{"index": 1, "function": {"arguments": part}}]}) for part in rest]
    _, calls, reasons = shown(fed(exchange, [*head, *deltas, chunk({}, "tool_calls")]))
    assert calls[1][2] == '{"path":"' + "".join(rest)
    assert reasons == ["tool_calls"]
    assert exchange.verdict == wanted
    assert exchange.next_request() is None


def test_a_call_that_was_mended_before_too_much_was_held_is_judged_as_it_left() -> None:
    exchange = begin_guarded("retry")
    head = streamed(read_call(MENDABLE, 0, "Read"), read_call('{"path":"', 1))[:-1]
    rest = ["x" * MAX_HELD_CHARS, '"}']
    deltas = [chunk({"tool_calls": [{"index": 1, "function": {"arguments": part}}]}) for part in rest]
    _, calls, _ = shown(fed(exchange, [*head, *deltas, chunk({}, "tool_calls")]))
    assert calls[0][1:] == ("read", '{"path":"a","limit":5}')
    assert exchange.verdict == Verdict("repaired")
