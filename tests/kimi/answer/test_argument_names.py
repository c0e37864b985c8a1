from __future__ import annotations

import time
from typing import Any

import pytest
from tests.kimi.answering import call

from moongate.kimi.answer.argument_names import ArgumentNames
from moongate.kimi.request.schema_writer import RESPONSE_FORMAT

SENT = {"required_12345678": "required", "property_00000000": "", "ref_aaaaaaaa": "$ref"}
WHOLE = '{"required_12345678": [1, {"ref_aaaaaaaa":"required_1234"}], "property_00000000": "\\"ref_aaaaaaaa\\""}'
RESTORED = '{"required": [1, {"$ref":"required_1234"}], "": "\\"ref_aaaaaaaa\\""}'


def names() -> ArgumentNames:
    return ArgumentNames({"bash": SENT})


def test_a_whole_message_gets_the_original_names() -> None:
    restored: Any = names().message({"role": "assistant", "tool_calls": [call(arguments=WHOLE), 5, call(name="read")]})
    assert restored["tool_calls"][0]["function"]["arguments"] == RESTORED
    assert restored["tool_calls"][1:] == [5, call(name="read")]


@pytest.mark.parametrize(
    "message",
    [
        None,
        {"content": "x"},
        {"tool_calls": 5},
        {"tool_calls": [call(), call(name="read", arguments=WHOLE), call(arguments=None), {"function": 5}]},
    ],
)
def test_what_has_no_such_name_is_the_same_object(message: Any) -> None:
    assert names().message(message) is message
    assert names().delta(0, message, last=False) is message


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 200])
def test_any_split_of_the_arguments_gives_the_same(size: int) -> None:
    known = names()
    deltas: list[Any] = [{"tool_calls": [{"index": 1, **call(arguments="")}]}]
    deltas += [
        {"tool_calls": [{"index": 1, "function": {"arguments": WHOLE[at : at + size]}}]}
        for at in range(0, len(WHOLE), size)
    ]
    pieces: list[Any] = [known.delta(0, delta, last=False) for delta in deltas]
    assert "".join(piece["tool_calls"][0]["function"]["arguments"] for piece in pieces) == RESTORED
    assert known.rest() == []


def test_what_is_held_back_leaves_at_the_end() -> None:
    known = names()
    for choice in (0, 1):
        known.delta(choice, {"tool_calls": [{"index": 2, **call(arguments='{"requ')}]}, last=False)
    rest = {"tool_calls": [{"index": 2, "function": {"arguments": '"requ'}}]}
    assert known.rest(1) == [(1, rest)]
    assert known.rest() == [(0, rest)]
    assert known.rest() == []


def test_of_the_last_piece_nothing_is_held_back() -> None:
    known = names()
    known.delta(0, {"tool_calls": [{"index": 0, **call(arguments='{"requ')}]}, last=False)
    last: Any = known.delta(0, {"tool_calls": [{"index": 0, "function": {"arguments": "ired_"}}]}, last=True)
    assert last["tool_calls"][0]["function"]["arguments"] == '"required_'
    assert known.rest() == []


def test_the_content_of_an_answer_that_fits_a_schema_gets_them_too() -> None:
    known = ArgumentNames({"": SENT})
    assert known.message({"content": WHOLE}) == {"content": RESTORED}
    for same in (None, {"content": None}, {"content": "x"}):
        assert known.message(same) is same
    pieces: list[Any] = [known.delta(0, {"content": piece}, last=False) for piece in (WHOLE[:8], WHOLE[8:], '"re')]
    assert "".join(piece["content"] for piece in pieces) == RESTORED
    assert known.rest() == [(0, {"content": '"re'})]


def test_many_names_do_not_make_pieces_slow() -> None:
    def cost(count: int) -> float:
        known = ArgumentNames({"bash": {f"name{at}_{at:08x}": f"n/{at}" for at in range(count)}})
        known.delta(0, {"tool_calls": [{"index": 0, **call(arguments="")}]}, last=False)
        start = time.process_time()
        for _ in range(300):
            known.delta(0, {"tool_calls": [{"index": 0, "function": {"arguments": '"name1_","x":'}}]}, last=False)
        return time.process_time() - start

    assert min(cost(3000) for _ in range(3)) < 8 * min(cost(3) for _ in range(3))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "tool_calls"])
def test_held_content_leaves_before_another_field(field: str) -> None:
    known = ArgumentNames({RESPONSE_FORMAT: SENT})
    for delta in (None, {"content": "x", field: ["y"]}, {"content": ""}):
        assert known.content_before(0, delta) == []
    assert known.delta(0, {"content": 'x"'}, last=False) == {"content": "x"}
    assert known.content_before(1, {field: ["y"]}) == []
    assert known.content_before(0, {field: ["y"]}) == [(0, {"content": '"'})]
    assert known.content_before(0, {field: ["y"]}) == []
