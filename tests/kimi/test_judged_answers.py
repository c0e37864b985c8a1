"""The judge is right: answers whose damage is known by construction, whole and at every cut (section 13)."""

from __future__ import annotations

import json
from random import Random

import pytest
from tests.kimi.answering import begin
from tests.kimi.judged_answers import JudgedAnswer, judged_answer
from tests.support.cuts import every_cut, pieces_of
from tests.support.length import BRIEF, by_length

from moongate import Session, Verdict, read_reply
from moongate.errors import BadUpstream
from moongate.kimi.exchange import KimiExchange

ANSWERS = 2000
BATCHES = 20
EVERY_CUT_OF = by_length(100, 1)  # of how many answers one is cut at every byte; all of them at some sizes


def both(exchange: KimiExchange) -> tuple[Verdict, Verdict]:
    """The verdict, and the one with the check of schemas."""
    before, check = exchange.verdict, exchange.schema_check()
    return before, before if check is None else check()


def streamed(answer: JudgedAnswer, cuts: list[bytes]) -> tuple[Verdict, Verdict]:
    exchange = begin(answer.options, answer.request, answer.model)
    session = Session(exchange, "text/event-stream")
    for data in cuts:
        session.feed(data)
    session.close()
    return both(exchange)


def whole(answer: JudgedAnswer) -> tuple[Verdict, Verdict]:
    exchange = begin(answer.options, answer.request, answer.model)
    if answer.broken:
        with pytest.raises(BadUpstream):
            read_reply(exchange, answer.events(), "text/event-stream")
    else:
        read_reply(exchange, json.dumps(answer.body()).encode(), "application/json")
    return both(exchange)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_worth_and_kinds_are_those_that_were_built_in(batch: int) -> None:
    random = Random(batch)
    for at in range(ANSWERS // BATCHES):
        answer = judged_answer(random)
        known = answer.verdict, answer.checked
        assert whole(answer) == known, answer
        data = answer.events()
        cuts = [[data], pieces_of(data, 3 if at % 10 == 0 else 11), pieces_of(data, 64)]
        for each in every_cut(data) if at % EVERY_CUT_OF == 0 and not BRIEF else cuts:
            assert streamed(answer, each) == known, (answer, each)


def test_all_worths_and_kinds_are_built() -> None:
    random = Random(0)
    verdicts = [judged_answer(random).checked for _ in range(ANSWERS // BATCHES)]
    assert {verdict.worth for verdict in verdicts} == {"clean", "repaired", "damaged", "failed"}
    assert {kind for verdict in verdicts for kind in verdict.kinds} == {
        *("cut_call", "empty_turn", "invalid_json", "leaked", "missing_call", "nameless", "unknown_tool"),
        "schema_mismatch",
    }


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"command": "ls"}, Verdict("clean")),
        ({}, Verdict("clean")),
        (None, Verdict("damaged", ("invalid_json",))),
        ("", Verdict("damaged", ("invalid_json",))),
    ],
)
def test_arguments_that_nothing_repairs_are_judged_alike_in_streams_and_whole_answers(
    arguments: object, verdict: Verdict
) -> None:
    """With section 3 off an object stays one."""
    call = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    options = {"repairOnMismatch": False}
    streamed = begin(options)
    entry = {"choices": [{"index": 0, "delta": {"tool_calls": [{**call, "index": 0}]}, "finish_reason": "tool_calls"}]}
    session = Session(streamed, "text/event-stream")
    session.feed(b"data: " + json.dumps(entry).encode() + b"\n\ndata: [DONE]\n\n")
    session.close()
    whole = begin(options)
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    read_reply(whole, json.dumps(body).encode(), "application/json")
    assert streamed.verdict == whole.verdict == verdict
