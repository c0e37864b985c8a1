from __future__ import annotations

from typing import Any

import pytest
from tests.transformers.answers import call, choice, chunk, fed, more, pieces, whole

from moongate import BadUpstream, Chunk, Failure, Opaque
from moongate.transformers.tolerant_arguments import MAX_HELD_CHARS, EnhanceToolTransformer, mended

BAD = "{path: 'a.py', lines: [1, 2,],}"
GOOD = '{"path":"a.py","lines":[1,2]}'


def exchange() -> Any:
    return EnhanceToolTransformer().begin({})


def test_a_whole_answer() -> None:
    made = exchange()
    found = made.reply(whole({"tool_calls": [call("f", BAD), call("g", "{}"), "odd"]}))["choices"][0]["message"]
    assert found["tool_calls"] == [call("f", GOOD), call("g", "{}"), "odd"]
    (note,) = made.notes
    assert (note.kind, note.where) == ("arguments", "choices[0].message.tool_calls[0].function.arguments")
    assert made.verdict.worth == "repaired"


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_stream(size: int) -> None:
    made = exchange()
    given = [
        chunk({"content": "Hm"}),
        chunk({"tool_calls": [call("f", "")]}),
        *(chunk({"tool_calls": [more(each)]}) for each in pieces(BAD, size)),
        chunk({"tool_calls": [call("g", "{}", 1, "call_2")]}),
        chunk({}, "tool_calls"),
    ]
    found = choice(fed(made, given))["message"]["tool_calls"]
    assert [each["function"]["arguments"] for each in found] == [GOOD, "{}"]
    assert [note.kind for note in made.notes] == ["arguments"]


def test_text_streams_and_calls_wait() -> None:
    made = exchange()
    text, beat = chunk({"content": "Hm"}), Opaque(b": beat\n\n")
    begin, end = chunk({"tool_calls": [call("f", "{}")]}), chunk({}, "tool_calls")
    assert made.feed(text) == (text,)
    assert made.feed(begin) == ()
    assert made.feed(beat) == (beat,)
    assert made.feed(end) == [begin, end]
    assert made.feed(text) == (text,)


def test_choices_wait_for_each_other() -> None:
    made = exchange()
    held = [
        chunk({"tool_calls": [call("f", "{}")]}),
        chunk({"tool_calls": [call("g", "{}")]}, "tool_calls", 1),
        chunk({"content": "x"}, None, 2),
    ]
    assert [made.feed(each) for each in held] == [(), (), ()]
    assert made.feed(end := chunk({}, "tool_calls")) == [*held, end]


def test_nothing_is_lost_without_an_end() -> None:
    for last in (Failure(BadUpstream("gone")), None):
        made, begin = exchange(), chunk({"tool_calls": [call("f", '{"a": "cu')]})
        made.feed(begin)
        assert (made.feed(last) if last else [*made.close(), None]) == [begin, last]


def test_what_grows_too_long_leaves_as_it_came() -> None:
    made = exchange()
    begin = chunk({"tool_calls": [call("f", "{a: '" + "x" * MAX_HELD_CHARS)]})
    assert made.feed(begin) == [begin]
    assert mended("{a: '" + "x" * MAX_HELD_CHARS + "'}") is None


@pytest.mark.parametrize("body", [{}, {"choices": [1]}, whole({}), whole({"tool_calls": 1}), {"choices": [{}]}])
def test_other_answers_are_left_alone(body: dict[str, Any]) -> None:
    assert exchange().reply(body) is body
    chunk_of = chunk(None)
    assert exchange().feed(chunk_of) == (chunk_of,)


@pytest.mark.parametrize("arguments", [None, {}, "", "  ", "{}", "hello"])
def test_arguments_that_stay(arguments: Any) -> None:
    assert mended(arguments) is None


def test_odd_choices_and_chunks_without_calls_between_calls() -> None:
    made = exchange()
    first = chunk({"tool_calls": [call("f", BAD)]})
    text = Chunk.of({"choices": [1, {"index": 0, "delta": {"content": "x"}}]})
    both = Chunk.of({"choices": [{"index": 1, "delta": {}}, {"index": 0, "delta": {"tool_calls": [more(" ")]}}]})
    made.feed(first)
    made.feed(text)
    made.feed(both)
    released = made.feed(chunk({}, "tool_calls"))
    assert released[1] is text
    assert choice(released)["message"]["tool_calls"][0]["function"]["arguments"] == GOOD


def test_a_whole_choice_without_calls() -> None:
    body = {"choices": [{"index": 0, "message": {"tool_calls": [call("f", "{}")]}}]}
    assert exchange().reply(body) is body
