"""Parity on all fronts (section 12): the blocks and items of a stream equal those of the whole answer.

A whole answer has one reasoning, one text, then its calls. So where a stream keeps that order, its blocks are equal one
by one; where text follows a call, which only a stream can tell, the texts of each kind and the calls are equal.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import (
    MESSAGES,
    MODELS,
    PARSING,
    REQUEST,
    Message,
    byte_cuts,
    calls,
    chunk,
    cut_up,
    reasons,
    rngs,
    sse,
    stream_of,
    thorough,
)
from tests.properties.marked_texts import SECTIONS, words
from tests.support.front import Front
from tests.support.fronts import FRONTS

from moongate.chat.contracts import Dialect
from moongate.dialects.anthropic_messages.partial import readable_object
from moongate.dialects.fronts import CHAT, RESPONSES
from moongate.dialects.fronts import MESSAGES as MESSAGES_FRONT
from moongate.fast.session import FastSession
from moongate.kimi.transformer import KimiTransformer, PlainKimiTransformer
from moongate.pipeline.session import Session

Row = dict[str, Any]

DIALECTS: dict[str, Dialect] = {"chat": CHAT, "messages": MESSAGES_FRONT, "responses": RESPONSES}
ORDER = {"thinking": 0, "reasoning": 0, "text": 1, "message": 1}
OPTIONS: list[Row] = [
    {},
    PARSING,
    {**PARSING, "repairOnMismatch": False},
    {**PARSING, "enforceFinishReasonLoop": False},
]

families = pytest.mark.parametrize("family", ["k2", "k3"])
fronts = st.sampled_from(FRONTS)


class Answered:
    """What a client of a front reads of an answer."""

    def __init__(self, front: Front, body: bytes, *, stream: bool) -> None:
        answer = front.read(body, stream=stream)
        assert answer.error is None
        assert not answer.late
        assert answer.ended
        self.blocks: list[Row] = []
        if front.name == "messages":
            self.blocks = [_with_whole_input(block) for block in answer.history[0]["content"]]
        elif front.name == "responses":
            self.blocks = answer.history
        self.finish = answer.finish
        self.texts = (answer.reasoning, answer.text)
        self.calls = [(call.id, call.name, call.arguments) for call in answer.calls]
        if front.name == "messages":
            self.calls = [
                (block["id"], block["name"], block["input"]) for block in self.blocks if block["type"] == "tool_use"
            ]

    @property
    def in_order(self) -> bool:
        """Whether the blocks stand in the order of a whole answer, and can be compared one by one."""
        order = [ORDER.get(block["type"], 2) for block in self.blocks]
        return order == sorted(order)


def _with_whole_input(block: Row) -> Row:
    """A block as Anthropic's SDK reads it: of arguments that were cut it shows the members that are whole."""
    text = block.get("input")
    return {**block, "input": readable_object(text)} if isinstance(text, str) else block


def check(family: str, front: Front, options: Row, message: Message, stream: bytes, rng: Random) -> None:
    dialect, asked = DIALECTS[front.name], {"model": "m", "input": "", "messages": []}
    target = {"model": MODELS[family]}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [message.whole()]}
    kimi = KimiTransformer.from_config(options, **target)
    reply = dialect.encode(kimi.begin(REQUEST).reply(body), asked)
    whole = Answered(front, json.dumps(reply).encode(), stream=False)
    for fast in (True, False):
        made = kimi if fast else PlainKimiTransformer.from_config(options, **target)
        session = (FastSession if fast else Session)(made.begin(REQUEST), "text/event-stream", dialect.encoder(asked))
        out = b"".join([*map(session.feed, byte_cuts(stream, rng)), session.close()])
        streamed = Answered(front, out, stream=True)
        assert streamed.texts == whole.texts
        if all(call["id"] for call in message.calls) or options.get("repairOnMismatch", True):
            assert streamed.calls == whole.calls  # else the fronts number the calls without an id by block
        assert streamed.finish == whole.finish
        if streamed.in_order:
            assert streamed.blocks == whole.blocks


@families
@thorough
@given(data=st.data(), rng=rngs, front=fronts)
def test_markup(family: str, data: st.DataObject, rng: Random, front: Front) -> None:
    """Native calls come before the texts, as whole answers number them."""
    message = data.draw(MESSAGES[family])
    check(family, front, data.draw(st.sampled_from(OPTIONS)), message, stream_of(message, rng), rng)


@families
@thorough
@given(data=st.data(), rng=rngs, front=fronts, reason=reasons, at=st.floats(0, 1))
def test_cut_markup(family: str, data: st.DataObject, rng: Random, front: Front, reason: str, at: float) -> None:
    """Sections that end anywhere, in one field or across both."""
    text = "Hi" + data.draw(SECTIONS[family])
    text = text[: round(at * len(text))]
    seam = rng.choice([0, rng.randint(0, len(text))])
    message = Message(text[:seam], text[seam:], (), reason)
    check(family, front, data.draw(st.sampled_from(OPTIONS)), message, stream_of(message, rng), rng)


TEXT_ENDS = st.sampled_from(["", "<", "<|", "if a <", "<|tool_ca", "<|close|>thi", "<th", "\n<|op", "`", "`<thi"])


@families
@thorough
@given(data=st.data(), rng=rngs, front=fronts)
def test_held_back_text_before_native_calls(family: str, data: st.DataObject, rng: Random, front: Front) -> None:
    """Texts without markup that end with what may become markup, then native calls."""
    text = st.tuples(st.lists(words, max_size=3).map("".join), TEXT_ENDS).map("".join)
    message = Message(
        data.draw(text), data.draw(text), tuple(data.draw(st.lists(calls, max_size=2))), data.draw(reasons)
    )
    deltas: list[Row] = [{"reasoning_content": piece} for piece in cut_up(message.reasoning, rng)]
    deltas += [{"content": piece} for piece in cut_up(message.content, rng)]
    for at, call in enumerate(message.calls):
        deltas.append({"tool_calls": [{"index": at, **call}]})
    stream = sse([*map(chunk, deltas), chunk({}, message.reason)])
    check(family, front, data.draw(st.sampled_from(OPTIONS)), message, stream, rng)


def pieces_of(call: Row, at: int, rng: Random) -> list[Row]:
    """The deltas of a call: its name in pieces, then its arguments in pieces; the id at the beginning or later."""
    function, sent = call["function"], []
    names = cut_up(function.get("name", ""), rng, most=2) or [""]
    for number, name in enumerate(names):
        entry: Row = {"index": at, "function": {"name": name}}
        if number == 0:
            entry |= {"id": call["id"], "type": call.get("type")}
        sent.append(entry)
    sent += [{"index": at, "function": {"arguments": piece}} for piece in cut_up(function["arguments"], rng)]
    return sent


NATIVE = st.builds(
    lambda id_, name, arguments: {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}},
    st.sampled_from(["", "call_1", "functions.bash:0", "functions.bash:1", "x"]),
    st.sampled_from(["", "bash", "read_file", "get-time", "functions.bash:3", "functions_read_file_0"]),
    st.sampled_from(["", "{}", '{"command": "ls"}', '{"command', "1"]),
)


@families
@thorough
@given(data=st.data(), rng=rngs, front=fronts)
def test_native_calls_in_pieces(family: str, data: st.DataObject, rng: Random, front: Front) -> None:
    """Nameless calls, names in pieces, calls that restart their ids."""
    message = Message("", data.draw(TEXT_ENDS), tuple(data.draw(st.lists(NATIVE, max_size=3))), data.draw(reasons))
    deltas: list[Row] = [{"content": piece} for piece in cut_up(message.content, rng)]
    for at, call in enumerate(message.calls):
        deltas += [{"tool_calls": [entry]} for entry in pieces_of(call, at, rng)]
    stream = sse([*map(chunk, deltas), chunk({}, message.reason)])
    check(family, front, data.draw(st.sampled_from([OPTIONS[0], OPTIONS[1], OPTIONS[3]])), message, stream, rng)


CUSTOM = st.builds(
    lambda id_, name, text: {"id": id_, "type": "custom", "custom": {"name": name, "input": text}},
    st.sampled_from(["call_1", "functions.bash:0", "x"]),
    st.sampled_from(["bash", "patch", "functions.bash:3"]),
    st.sampled_from(["", "*** Begin", '{"input":"x"}', "{", '"', "\\", "é😀", "<|tool_call_end|>"]),
)


@families
@thorough
@given(data=st.data(), rng=rngs, made=st.lists(CUSTOM | NATIVE, min_size=1, max_size=3), reason=reasons)
def test_custom_calls_on_the_fronts_with_blocks(
    family: str, data: st.DataObject, rng: Random, made: list[Row], reason: str
) -> None:
    """Custom calls beside others, streamed in pieces."""
    message = Message("", data.draw(TEXT_ENDS), tuple(made), reason)
    deltas: list[Row] = [{"content": piece} for piece in cut_up(message.content, rng)]
    for at, call in enumerate(message.calls):
        if "custom" not in call:
            deltas += [{"tool_calls": [entry]} for entry in pieces_of(call, at, rng)]
            continue
        custom = call["custom"]
        deltas.append({"tool_calls": [{"index": at, **call, "custom": {**custom, "input": ""}}]})
        deltas += [
            {"tool_calls": [{"index": at, "custom": {"input": piece}}]} for piece in cut_up(custom["input"], rng)
        ]
    stream = sse([*map(chunk, deltas), chunk({}, message.reason)])
    front = data.draw(st.sampled_from([front for front in FRONTS if front.name != "chat"]))
    check(family, front, data.draw(st.sampled_from([OPTIONS[0], OPTIONS[1], OPTIONS[3]])), message, stream, rng)
