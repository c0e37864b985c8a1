"""Section 12 of the specification, the properties of every streamed answer."""

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
    Message,
    byte_cuts,
    chunk,
    cut_up,
    event_of,
    rngs,
    run,
    sse,
    stream_of,
    summary_of,
    thorough,
    tool,
    transformer,
)
from tests.properties.marked_texts import MARKED_TEXTS, words
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
@given(data=st.data(), rng=rngs)
def test_cut(family: str, data: st.DataObject, rng: Random) -> None:
    """The output does not depend on how the input is split."""
    stream = stream_of(data.draw(MESSAGES[family]), rng)
    kimi = transformer(family, data.draw(options))
    assert run(kimi, byte_cuts(stream, rng)) == run(kimi, [stream])


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_parity(family: str, data: st.DataObject, rng: Random) -> None:
    """The assembled stream equals the non-streamed answer."""
    message = data.draw(MESSAGES[family])
    kimi = transformer(family, data.draw(st.sampled_from([OPTIONS[0], OPTIONS[1], OPTIONS[4]])))
    whole = kimi.begin(REQUEST).reply({"choices": [message.whole()]})
    assert assemble(run(kimi, [stream_of(message, rng)])).summary() == summary_of(whole)


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_as_is_with_the_rules_off(family: str, data: st.DataObject, rng: Random) -> None:
    """Every well-formed stream leaves byte for byte, whatever its spelling."""
    stream = stream_of(data.draw(MESSAGES[family]), rng).decode()
    end = rng.choice(["\n", "\r\n", "\r"])
    comment = rng.choice(["", ": ping\n\n", "\n", "id: 7\n", ":\nretry: 3\n"])
    spelt = stream.replace("data: {", f"{comment}data: {{").replace('"delta":', '"delta" : ').replace("\n", end)
    raw = spelt.encode()
    assert run(transformer(family, ALL_OFF), byte_cuts(raw, rng)) == raw


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_as_is_where_no_rule_is_broken(family: str, data: st.DataObject, rng: Random) -> None:
    """With everything on, an answer that breaks no rule leaves byte for byte."""
    text = st.lists(words.filter(lambda each: "<" not in each), min_size=1, max_size=4).map("".join)
    prefix = "functions." if family == "k2" else "any."
    name = rng.choice(["bash", "read"])  # the second is the beginning of another one's name
    native = tuple(
        {"id": f"{prefix}{name}:{at}", "type": "function", "function": {"name": name, "arguments": '{"command": "ls"}'}}
        for at in range(rng.randint(0, 2))
    )
    reason = "tool_calls" if native else rng.choice(["stop", "length", "odd"])
    stream = stream_of(Message(data.draw(text), data.draw(text), native, reason), rng)
    request = {**REQUEST, "tools": [*REQUEST["tools"], tool("read", "command")]}
    exchange = transformer(family, data.draw(st.sampled_from(OPTIONS[:3]))).begin(request)
    session = Session(exchange, "text/event-stream")
    assert b"".join([*map(session.feed, byte_cuts(stream, rng)), session.close()]) == stream
    assert not exchange.notes


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_two_interleaved_requests_equal_two_lone_ones(family: str, data: st.DataObject, rng: Random) -> None:
    kimi = transformer(family, data.draw(options))
    both = [byte_cuts(stream_of(data.draw(MESSAGES[family]), rng), rng) for _ in range(2)]
    sessions = [Session(kimi.begin(REQUEST), "text/event-stream") for _ in both]
    outs = [b"", b""]
    turns = [0] * len(both[0]) + [1] * len(both[1])
    rng.shuffle(turns)
    waiting = [iter(parts) for parts in both]
    for turn in turns:
        outs[turn] += sessions[turn].feed(next(waiting[turn]))
    outs = [out + session.close() for out, session in zip(outs, sessions, strict=True)]
    assert outs == [run(kimi, parts) for parts in both]


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_choices_do_not_touch_each_other(family: str, data: st.DataObject, rng: Random) -> None:
    """Several choices in one stream equal the same choices, each alone."""
    kimi = transformer(family, PARSING)
    alone = []
    streams: list[list[dict[str, Any]]] = []
    for index in range(2):
        stream = stream_of(data.draw(MESSAGES[family]), rng)
        alone.append({**assemble(run(kimi, [stream])).summary()[0], "index": index})
        events = [json.loads(line[6:]) for line in stream.decode().split("\n\n") if line.startswith("data: {")]
        streams.append([{**e, "choices": [{**e["choices"][0], "index": index}]} for e in events])
    order = [0] * len(streams[0]) + [1] * len(streams[1])
    rng.shuffle(order)
    waiting = [iter(each) for each in streams]
    mixed = sse([next(waiting[index]) for index in order])
    assert assemble(run(kimi, byte_cuts(mixed, rng))).summary() == alone


LONGEST = {"k2": len("<|tool_call_argument_begin|>"), "k3": len("<|end_of_msg|>")}


@families
@thorough
@given(data=st.data(), rng=rngs)
def test_hold_back_is_bounded(family: str, data: st.DataObject, rng: Random) -> None:
    """Outside calls at most the longest marker minus one character waits, and only what may become a marker."""
    parts = st.one_of(words, st.sampled_from(["<", "<|", "<th", "<|tool_calls_section", "<|op", "|"]))
    text = data.draw(st.lists(parts, max_size=6).map("".join))
    session = Session(transformer(family, PARSING).begin(REQUEST), "text/event-stream")
    session.feed(event_of(chunk({"role": "assistant"})))
    fed = left = ""
    for piece in cut_up(text, rng, most=9):
        fed += piece
        out = session.feed(event_of(chunk({"content": piece}))).decode()
        sent = [json.loads(each[6:])["choices"][0]["delta"] for each in out.split("\n\n") if each]
        left += "".join(delta.get("content") or "" for delta in sent)
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
    """Nothing that the model writes is lost: it is text, reasoning, a name, an id or arguments."""
    expected = [f"word{at}w" for at in range(4)]
    content = "".join(data.draw(MARKED_TEXTS[family]).replace('"', "").replace("\\", "") + word for word in expected)
    answer = transformer(family, PARSING).begin(REQUEST).reply({"choices": [Message("", content, (), "stop").whole()]})
    left = json.dumps(answer, ensure_ascii=False)
    assert [word for word in expected if word not in left] == []
