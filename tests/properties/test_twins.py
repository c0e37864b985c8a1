"""A host that reads the model's markup and leaks it as well: each call comes twice and leaves once (section 5.7)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import PARSING, byte_cuts, chunk, cut_up, rngs, run, sse, thorough, transformer
from tests.properties.marked_texts import NAMES, k3_call
from tests.support.assembly import assemble

Row = dict[str, Any]
Delta = tuple[
    Row, bool
]  # a delta, and whether a native one may follow it: no header and no tag goes on behind such a one

made = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([{}, {"command": "ls"}, {"command": "pwd"}, {"x": [1]}])),
    min_size=1,
    max_size=3,
)


def leaked(family: str, calls: list[tuple[str, Row]], rng: Random) -> list[Delta]:
    """The markup of the calls in content, in pieces."""
    deltas: list[Delta] = []
    for at, (name, arguments) in enumerate(calls):
        if family == "k3":
            deltas.append(({"content": k3_call(name, arguments, at)}, True))
            continue
        header = f"<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>"
        deltas += [({"content": piece}, False) for piece in cut_up(header, rng)]
        deltas[-1] = (deltas[-1][0], True)
        deltas += [({"content": piece}, True) for piece in cut_up(json.dumps(arguments), rng)]
        deltas.append(({"content": "<|tool_call_end|>"}, True))
    return deltas


def native(calls: list[tuple[str, Row]], rng: Random) -> list[Row]:
    deltas: list[Row] = []
    for at, (name, arguments) in enumerate(calls):
        begin = {"index": at, "id": f"functions.{name}:{at}", "type": "function"}
        deltas.append({"tool_calls": [{**begin, "function": {"name": name, "arguments": ""}}]})
        for piece in cut_up(json.dumps(arguments), rng):
            deltas.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    return deltas


def woven(leak: list[Delta], rest: list[Row], rng: Random) -> list[Row]:
    """Both in their own order; natives stand where they may."""
    order, lead, free = list[Row](), rng.choice([0.2, 0.5, 0.8]), True
    waiting = iter(rest)
    for delta, may_follow in leak:
        while free and rng.random() > lead:
            order += [each for each in [next(waiting, None)] if each is not None]
        order.append(delta)
        free = may_follow
    return [*order, *waiting]


@pytest.mark.parametrize("family", ["k2", "k3"])
@thorough
@given(calls=made, rng=rngs)
def test_each_call_leaves_once(family: str, calls: list[tuple[str, Row]], rng: Random) -> None:
    deltas = woven(leaked(family, calls, rng), native(calls, rng), rng)
    stream = sse([*map(chunk, deltas), chunk({}, "tool_calls")])
    (choice,) = assemble(run(transformer(family, PARSING), byte_cuts(stream, rng))).summary()
    left = sorted((call["name"], json.dumps(json.loads(call["arguments"]))) for call in choice["tool_calls"])
    assert left == sorted((name, json.dumps(arguments)) for name, arguments in calls)
    assert choice["content"] == ""
