"""What holds for every generic transformer: it leaves alone what is not its own; a chain is the exact mirror."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.answers import MESSAGES, REQUEST, Message, chunk, deltas, rngs, transformer
from tests.support.length import examples
from tests.transformers.answers import choice, fed

from moongate import Chain, Chunk, Done, Item, Opaque, Transformer
from moongate.transformers.table import GENERIC
from moongate.transformers.tolerant_arguments import mended

OPTIONS: dict[str, Any] = {"maxtoken": {"max_tokens": 50}, "sampling": {"top_p": 0.5}, "customparams": {"x": {"y": 1}}}
OWN = {
    "tooluse": {"tools", "tool_choice", "messages"},
    "reasoning": {"thinking", "enable_thinking", "reasoning"},
    "forcereasoning": {"messages"},
    "streamoptions": {"stream_options"},
    "maxtoken": {"max_tokens", "max_completion_tokens"},
    "maxcompletiontokens": {"max_tokens", "max_completion_tokens"},
    "sampling": {"top_p"},
    "customparams": {"x"},
    "cleancache": {"cache_control", "messages", "tools"},
    "enhancetool": set[str](),
}
often = settings(max_examples=examples(500), deadline=None, derandomize=True)
names = pytest.mark.parametrize("name", sorted(GENERIC))

anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)
members = st.sampled_from(
    [*sorted({each for own in OWN.values() for each in own}), "stop", "user", "stream", "reasoning_effort", "model"]
)
requests = st.dictionaries(members, anything, max_size=5).map(lambda more: {**REQUEST, **more})
hostile = st.dictionaries(members, anything, max_size=5)


def built(name: str) -> Transformer:
    return GENERIC[name].build(OPTIONS.get(name), "options")


def items_of(message: Message, rng: Random) -> list[Item]:
    sent: list[Item] = [Chunk(chunk(delta), b"data: x\n\n") for delta in deltas(message, rng)]
    sent.insert(rng.randint(0, len(sent)), Opaque(b": beat\n\n"))
    return [*sent, Chunk(chunk({}, message.reason), b"data: y\n\n")]


def payloads(items: list[Item]) -> list[Any]:
    return [item.payload if isinstance(item, Chunk) else item for item in items]


@names
@often
@given(request=requests | hostile)
def test_a_request_changes_only_where_the_transformer_works(name: str, request: dict[str, Any]) -> None:
    before = copy.deepcopy(request)
    sent = built(name).begin(request).request
    assert request == before, "changed in place"
    others = (request.keys() | sent.keys()) - OWN[name]
    assert {key: sent.get(key) for key in others} == {key: request.get(key) for key in others}
    again = built(name).begin(sent).request
    assert built(name).begin(again).request.keys() == again.keys()


@names
@often
@given(message=MESSAGES["k2"] | MESSAGES["k3"], rng=rngs)
def test_an_answer_without_anything_of_its_own_keeps_its_bytes(name: str, message: Message, rng: Random) -> None:
    if name == "enhancetool" and any(mended(each["function"]["arguments"]) for each in message.calls):
        return
    body = {"choices": [message.whole()]}
    assert built(name).begin(REQUEST).reply(body) is body
    sent = items_of(message, rng)
    left = fed(built(name).begin(REQUEST), sent)
    if name == "forcereasoning":  # a beginning that may still become a tag leaves with what follows it
        assert choice(left) == choice(sent)
    else:
        assert [item for item in left if isinstance(item, Chunk)] == [item for item in sent if isinstance(item, Chunk)]
    assert [each for each in left if isinstance(each, Opaque)] == [each for each in sent if isinstance(each, Opaque)]


@often
@given(
    chosen=st.lists(st.sampled_from([*sorted(GENERIC), "Kimi"]), min_size=2, max_size=4, unique=True),
    request=requests,
    message=MESSAGES["k2"],
    rng=rngs,
)
def test_a_chain_is_the_exact_mirror(chosen: list[str], request: dict[str, Any], message: Message, rng: Random) -> None:
    request = {**request, "messages": REQUEST["messages"], "tools": REQUEST["tools"]}
    parts = [transformer("k2", {"preset": "agent"}) if name == "Kimi" else built(name) for name in chosen]
    chain = Chain(parts).begin(request)
    exchanges = []
    for part in parts:
        exchanges.append(part.begin(request))
        request = exchanges[-1].request
    assert chain.request == request
    body: dict[str, Any] = {"choices": [message.whole()]}
    items: list[Item] = [*items_of(message, rng), Done()]
    streamed = [left for item in items for left in chain.feed(item)] + [*chain.close()]
    for exchange in reversed(exchanges):
        items = [left for item in items for left in exchange.feed(item)] + [*exchange.close()]
    assert payloads(streamed) == payloads(items)
    whole = Chain(parts).begin(REQUEST).reply(body)
    for exchange in reversed(_exchanges(parts)):
        body = exchange.reply(body)
    assert whole == body


def _exchanges(parts: list[Transformer]) -> list[Any]:
    request: Any = REQUEST
    made = []
    for part in parts:
        made.append(part.begin(request))
        request = made[-1].request
    return made
