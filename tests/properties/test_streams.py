"""Section 12, what must hold for every streamed answer."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import (
    ALL_OFF,
    MESSAGES,
    PARSING,
    REQUEST,
    SOUPS,
    Message,
    byte_cuts,
    chances,
    chunk,
    cut_up,
    event_of,
    run,
    sse,
    stream_of,
    thorough,
    told_of,
    transformer,
    words,
)
from tests.support.assembly import assemble

from moongate import Session

OPTIONS: list[dict[str, Any]] = [
    {},
    PARSING,
    {"preset": "agent"},
    {**PARSING, "assembleToolDeltas": True},
    {**PARSING, "repairOnMismatch": False},
    {"idNormalization": True},
]
options = st.sampled_from(OPTIONS)

families = pytest.mark.parametrize("family", ["k2", "k3"])


@families
@thorough
@given(data=st.data(), chance=chances)
def test_cut(family: str, data: st.DataObject, chance: Random) -> None:
    """Any split of the bytes gives the same bytes."""
    stream = stream_of(data.draw(MESSAGES[family]), chance)
    kimi = transformer(family, data.draw(options))
    assert run(kimi, byte_cuts(stream, chance)) == run(kimi, [stream])


@families
@thorough
@given(data=st.data(), chance=chances)
def test_parity(family: str, data: st.DataObject, chance: Random) -> None:
    """The stream put together equals the whole answer."""
    message = data.draw(MESSAGES[family])
    kimi = transformer(family, data.draw(st.sampled_from([OPTIONS[0], OPTIONS[1], OPTIONS[4]])))
    whole = kimi.begin(REQUEST).reply({"choices": [message.whole()]})
    assert assemble(run(kimi, [stream_of(message, chance)])).told() == told_of(whole)


@families
@thorough
@given(data=st.data(), chance=chances)
def test_as_is_with_the_rules_off(family: str, data: st.DataObject, chance: Random) -> None:
    """Every well-formed stream leaves byte for byte, whatever its spelling."""
    stream = stream_of(data.draw(MESSAGES[family]), chance).decode()
    end = chance.choice(["\n", "\r\n", "\r"])
    comment = chance.choice(["", ": ping\n\n", "\n", "id: 7\n", ":\nretry: 3\n"])
    spelt = stream.replace("data: {", f"{comment}data: {{").replace('"delta":', '"delta" : ').replace("\n", end)
    raw = spelt.encode()
    assert run(transformer(family, ALL_OFF), byte_cuts(raw, chance)) == raw


@families
@thorough
@given(data=st.data(), chance=chances)
def test_as_is_where_no_rule_is_broken(family: str, data: st.DataObject, chance: Random) -> None:
    """With everything on, an answer that breaks no rule leaves byte for byte."""
    text = st.lists(words.filter(lambda each: "<" not in each), min_size=1, max_size=4).map("".join)
    prefix = "functions." if family == "k2" else "any."
    native = tuple(
        {"id": f"{prefix}bash:{at}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
        for at in range(chance.randint(0, 2))
    )
    reason = "tool_calls" if native else chance.choice(["stop", "length", "odd"])
    stream = stream_of(Message(data.draw(text), data.draw(text), native, reason), chance)
    exchange = transformer(family, data.draw(st.sampled_from(OPTIONS[:3]))).begin(REQUEST)
    session = Session(exchange, "text/event-stream")
    assert b"".join([*map(session.feed, byte_cuts(stream, chance)), session.close()]) == stream
    assert not exchange.notes


@families
@thorough
@given(data=st.data(), chance=chances)
def test_two_interleaved_requests_equal_two_lone_ones(family: str, data: st.DataObject, chance: Random) -> None:
    kimi = transformer(family, data.draw(options))
    both = [byte_cuts(stream_of(data.draw(MESSAGES[family]), chance), chance) for _ in range(2)]
    sessions = [Session(kimi.begin(REQUEST), "text/event-stream") for _ in both]
    outs = [b"", b""]
    turns = [0] * len(both[0]) + [1] * len(both[1])
    chance.shuffle(turns)
    waiting = [iter(parts) for parts in both]
    for turn in turns:
        outs[turn] += sessions[turn].feed(next(waiting[turn]))
    outs = [out + session.close() for out, session in zip(outs, sessions, strict=True)]
    assert outs == [run(kimi, parts) for parts in both]


@families
@thorough
@given(data=st.data(), chance=chances)
def test_choices_do_not_touch_each_other(family: str, data: st.DataObject, chance: Random) -> None:
    """Several choices in one stream equal the same choices, each alone."""
    kimi = transformer(family, PARSING)
    alone = []
    lanes: list[list[dict[str, Any]]] = []
    for index in range(2):
        stream = stream_of(data.draw(MESSAGES[family]), chance)
        alone.append({**assemble(run(kimi, [stream])).told()[0], "index": index})
        events = [json.loads(line[6:]) for line in stream.decode().split("\n\n") if line.startswith("data: {")]
        lanes.append([{**e, "choices": [{**e["choices"][0], "index": index}]} for e in events])
    order = [0] * len(lanes[0]) + [1] * len(lanes[1])
    chance.shuffle(order)
    waiting = [iter(lane) for lane in lanes]
    mixed = sse([next(waiting[index]) for index in order])
    assert assemble(run(kimi, byte_cuts(mixed, chance))).told() == alone


LONGEST = {"k2": len("<|tool_call_argument_begin|>"), "k3": len("<|end_of_msg|>")}


@families
@thorough
@given(data=st.data(), chance=chances)
def test_hold_back_is_bounded(family: str, data: st.DataObject, chance: Random) -> None:
    """Outside calls at most the longest marker minus one character waits, and only what may become a marker."""
    parts = st.one_of(words, st.sampled_from(["<", "<|", "<th", "<|tool_calls_section", "<|op", "|"]))
    text = data.draw(st.lists(parts, max_size=6).map("".join))
    session = Session(transformer(family, PARSING).begin(REQUEST), "text/event-stream")
    session.feed(event_of(chunk({"role": "assistant"})))
    fed = left = ""
    for piece in cut_up(text, chance, most=9):
        fed += piece
        out = session.feed(event_of(chunk({"content": piece}))).decode()
        told = [json.loads(each[6:])["choices"][0]["delta"] for each in out.split("\n\n") if each]
        left += "".join(delta.get("content") or "" for delta in told)
        assert fed.startswith(left)
        waiting = fed[len(left) :]
        assert len(waiting) < LONGEST[family]
        assert not waiting or waiting.startswith("<")


@families
@thorough
@given(data=st.data())
def test_once(family: str, data: st.DataObject) -> None:
    """A second pass over a repaired answer changes nothing."""
    kimi = transformer(family, data.draw(st.sampled_from(OPTIONS[:3])))
    once = kimi.begin(REQUEST).reply({"choices": [data.draw(MESSAGES[family]).whole()]})
    assert kimi.begin(REQUEST).reply(once) == once


@families
@thorough
@given(data=st.data())
def test_no_loss(family: str, data: st.DataObject) -> None:
    """What a model says is still there: as text, as reasoning, in a name, an id or in arguments."""
    said = [f"word{at}w" for at in range(4)]
    content = "".join(data.draw(SOUPS[family]).replace('"', "").replace("\\", "") + word for word in said)
    answer = transformer(family, PARSING).begin(REQUEST).reply({"choices": [Message("", content, (), "stop").whole()]})
    left = json.dumps(answer, ensure_ascii=False)
    assert [word for word in said if word not in left] == []
