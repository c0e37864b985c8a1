"""Section 14 of the specification: what holds for every answer under the guard, and for every sequence of tries."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import (
    MESSAGES,
    MODELS,
    REQUEST,
    TOOLS,
    Message,
    byte_cuts,
    rngs,
    run,
    stream_of,
    summary_of,
    thorough,
    transformer,
)
from tests.support.assembly import AssembledStream, assemble
from tests.support.json_schema import misfit

from moongate import BadUpstream, Session, Verdict
from moongate.chat.contracts import Exchange
from moongate.dialects.fronts import CHAT
from moongate.fast.session import FastSession
from moongate.kimi.transformer import KimiTransformer, PlainKimiTransformer

Row = dict[str, Any]

STRICT: Row = {"preset": "strict"}
REPAIR: Row = {"preset": "agent", "guard": "repair"}
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}

families = pytest.mark.parametrize("family", MODELS)
modes = st.sampled_from([STRICT, REPAIR])


def answers(family: str) -> st.SearchStrategy[list[Message]]:
    """The answers to a request and to its further tries."""
    return st.lists(MESSAGES[family], min_size=3, max_size=3)


@dataclass
class Play:
    """What a client of the library gets when the tries are answered with these streams."""

    exchange: Exchange
    session: Session
    out: bytes = b""
    sent: list[Row] = field(default_factory=list)

    @property
    def seen(self) -> AssembledStream:
        return assemble(self.out)

    @property
    def calls(self) -> list[Row]:
        return [call for choice in self.seen.summary() for call in choice["tool_calls"]]


def play(family: str, options: Row, reads: list[list[bytes]], *, fast: bool = True, broken: int = -1) -> Play:
    """`reads`: those of each answer. The answer at `broken` has no end: its connection is lost."""
    kimi = (KimiTransformer if fast else PlainKimiTransformer).from_config(options, model=MODELS[family])
    exchange = kimi.begin(REQUEST)
    session = (FastSession if fast else Session)(exchange, "text/event-stream", CHAT.encoder(REQUEST))
    played = Play(exchange, session)
    wanted: Row | None = exchange.request
    for at, parts in enumerate(reads):
        if wanted is None:
            break
        if at:
            session.resume("text/event-stream")
        played.sent.append(wanted)
        played.out += b"".join(map(session.feed, parts))
        if at == broken:
            played.out += session.fail(BadUpstream("the connection was lost"))
            break
        played.out += session.close()
        wanted = exchange.next_request() if session.waiting else None
    return played


def faults(calls: list[Row]) -> list[str]:
    """What is wrong with calls, by an independent judge."""
    found = []
    for call in calls:
        try:
            wrong = misfit(SCHEMAS[call["name"]], json.loads(call["arguments"]))
        except (KeyError, ValueError) as error:
            wrong = repr(error)
        found += [wrong] if wrong is not None else []
    return found


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_any_cut_gives_the_same(family: str, data: st.DataObject, rng: Random) -> None:
    streams = [stream_of(message, rng) for message in data.draw(answers(family))]
    options = data.draw(modes)
    whole = play(family, options, [[stream] for stream in streams], fast=False)
    for fast in (False, True):
        cut = play(family, options, [byte_cuts(stream, rng) for stream in streams], fast=fast)
        assert cut.out == whole.out
        assert cut.sent == whole.sent
        assert (cut.exchange.verdict, list(cut.exchange.replaced)) == (
            whole.exchange.verdict,
            list(whole.exchange.replaced),
        )


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_what_leaves_is_valid_or_judged_damaged(family: str, data: st.DataObject, rng: Random) -> None:
    """One finish for the choice, one end, no call twice; at most two further tries, each for a damaged answer."""
    streams = [stream_of(message, rng) for message in data.draw(answers(family))]
    played = play(family, data.draw(modes), [byte_cuts(stream, rng) for stream in streams])
    seen = played.seen  # it checks that there is one end, and one finish
    assert seen.done
    assert played.out.count(b"[DONE]") == 1
    assert [choice.finish_reason is not None for choice in seen.choices.values()] == [True]
    assert len({call["id"] for call in played.calls}) == len(played.calls)
    assert sorted(seen.choices[0].calls) == list(range(len(played.calls)))
    verdict, finish = played.exchange.verdict, seen.choices[0].finish_reason
    if faults(played.calls) and finish not in ("length", "content_filter"):
        assert verdict.worth == "damaged"
    if verdict.worth == "damaged":
        assert len(played.exchange.replaced) == len(played.sent) - 1
    assert all(each.verdict.worth == "damaged" for each in played.exchange.replaced)
    assert len(played.sent) <= 3


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_a_valid_answer_leaves_as_without_the_guard(family: str, data: st.DataObject, rng: Random) -> None:
    stream = stream_of(data.draw(MESSAGES[family]), rng)
    played = play(family, data.draw(modes), [[stream]])
    mended = any(note.kind == "guard" for note in played.exchange.notes)
    if played.exchange.verdict.worth != "damaged" and not mended:
        without = run(transformer(family, {"preset": "agent"}), [stream])
        assert sorted(played.out.split(b"\n\n")) == sorted(
            without.split(b"\n\n")
        )  # calls wait, behind them text does not


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_a_stream_is_worth_what_the_whole_answer_is(family: str, data: st.DataObject, rng: Random) -> None:
    messages, options = data.draw(answers(family)), data.draw(modes)
    played = play(family, options, [[stream_of(message, rng)] for message in messages])
    exchange = transformer(family, options).begin(REQUEST)
    sent: list[Row] = []
    body: Row = {}
    for message in messages:
        sent.append(exchange.request if not sent else exchange.next_request() or {})
        body = exchange.reply({"choices": [message.whole()]})
        if exchange.next_request() is None:
            break
    assert exchange.verdict == played.exchange.verdict
    assert [each.verdict for each in exchange.replaced] == [each.verdict for each in played.exchange.replaced]
    assert len(sent) == len(played.sent)
    (left,) = summary_of(body)
    assert left["tool_calls"] == played.calls
    assert left["finish_reason"] == played.seen.choices[0].finish_reason


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_a_broken_further_try_does_not_lose_the_first_answer(family: str, data: st.DataObject, rng: Random) -> None:
    first, second, _ = (stream_of(message, rng) for message in data.draw(answers(family)))
    alone = play(family, STRICT, [[first]])
    if alone.session.waiting:
        alone.out += alone.session.settle()
        end = rng.randint(0, len(second) - len(b"data: [DONE]\n\n"))
        broken = play(family, STRICT, [[first], byte_cuts(second[:end], rng)], broken=1)
        assert broken.seen.done
        assert broken.session.failure is None
        assert broken.calls == alone.calls
        assert broken.exchange.verdict == alone.exchange.verdict
        assert [each.verdict for each in broken.exchange.replaced] == [Verdict("failed")]
