"""Generic transformers in a chain with Kimi, in both orders: tool loops through the gateway on every front."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.gateway.scripted import DONE, Asked, Scripted
from tests.support.background import Background
from tests.support.front import Front
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import post
from tests.support.loops import TOOLS, assert_good, run_loop

from moongate import sim
from moongate.transformers.table import GENERIC

OPTIONS: dict[str, Any] = {"maxtoken": {"max_tokens": 500}, "sampling": {"top_p": 0.9}, "customparams": {"seed": 7}}
# The simulator never ends a loop in which a call is required, so `tooluse` has a provider of its own below.
ORDERS = [(name, first) for name in sorted(GENERIC) if name != "tooluse" for first in (True, False)]
KIMI = ["Kimi", {"preset": "agent"}]
MODEL = sim.model_name("k2.5", "foreign-ids")

streams = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
fronts = pytest.mark.parametrize("front", FRONTS, ids=lambda front: front.name)


def provider_name(name: str, first: bool) -> str:
    return f"{name}-{'before' if first else 'behind'}"


@pytest.fixture(scope="module")
def gateway() -> Iterator[RunningGateway]:
    with Background() as background:
        simulator = background.start(sim.start())
        chains = {
            provider_name(name, first): [[name, OPTIONS.get(name, {})], KIMI][:: 1 if first else -1]
            for name, first in ORDERS
        }
        providers = [
            {"name": name, "api_base_url": simulator.url, "models": [MODEL], "transformer": {"use": use}}
            for name, use in chains.items()
        ]
        with run_gateway({"providers": providers}) as running:
            yield running


@streams
@fronts
@pytest.mark.parametrize(("name", "first"), ORDERS)
def test_a_tool_loop_ends_well_beside_kimi(
    gateway: RunningGateway, name: str, first: bool, front: Front, stream: bool
) -> None:
    model = f"{provider_name(name, first)},{MODEL}"
    assert_good(run_loop(front, gateway.root, model, stream=stream, key=gateway.key))


async def one_call_then_exit(asked: Asked) -> None:
    """As a model that must call a tool: the offered one, and when that has its result, the exit tool."""
    assert asked.json["tool_choice"] == "required"
    done = asked.json["messages"][-1]["role"] == "tool"
    name, arguments = ("ExitTool", '{"response": "It is sunny."}') if done else ("get_weather", '{"city": "Oslo"}')
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    await sent(asked, {"role": "assistant", "content": None, "tool_calls": [call]})


@streams
@fronts
@pytest.mark.parametrize("first", [True, False], ids=["before Kimi", "behind Kimi"])
def test_tooluse_ends_a_loop_with_text(front: Front, stream: bool, first: bool) -> None:
    with Background() as background:
        upstream = background.start(Scripted(one_call_then_exit).start())
        provider = {"name": "p", "api_base_url": upstream.url, "models": ["kimi-k2"]}
        use = ["tooluse", KIMI] if first else [KIMI, "tooluse"]
        with run_gateway({"providers": [{**provider, "transformer": {"use": use}}]}) as gateway:
            loop = run_loop(front, gateway.root, "kimi-k2", stream=stream, key=gateway.key)
    assert loop.calls == [("get_weather", {"city": "Oslo"})]
    assert loop.final == "It is sunny."


def leaked(asked: Asked) -> dict[str, Any]:
    """An answer for each transformer that changes answers; the calls leak as markers, as Kimi's do."""
    arguments = {"tooluse": '{"response": "All done."}', "enhancetool": "{city: 'Oslo',}"}[asked.json["user"]]
    name = {"tooluse": "ExitTool", "enhancetool": "get_weather"}[asked.json["user"]]
    call = f"<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
    return {"role": "assistant", "content": f"<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>"}


async def answers(asked: Asked) -> None:
    await sent(asked, leaked(asked))


async def sent(asked: Asked, message: dict[str, Any]) -> None:
    if not asked.json.get("stream"):
        asked.document({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        return
    asked.begin_stream()
    for delta, reason in ((message, None), ({}, "stop")):
        event = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        asked.send(b"data: " + json.dumps(event).encode() + b"\n\n")
    asked.send(DONE)
    asked.end_stream()


@pytest.fixture(scope="module")
def leaking() -> Iterator[RunningGateway]:
    with Background() as background:
        upstream = background.start(Scripted(answers).start())
        providers = [
            {
                "name": name,
                "api_base_url": upstream.url,
                "models": ["kimi-k2"],
                "transformer": {"use": [["customparams", {"user": name}], name, KIMI]},
            }
            for name in ("tooluse", "enhancetool")
        ]
        with run_gateway({"providers": providers}) as running:
            yield running


@streams
@fronts
def test_before_kimi_they_see_calls_that_leaked_as_markers(leaking: RunningGateway, front: Front, stream: bool) -> None:
    def ask(name: str) -> Any:
        body = front.request(f"{name},kimi-k2", front.user("Go."), TOOLS, stream=stream)
        reply = post(leaking.root + front.path, body, key=leaking.key)
        assert reply.status == 200
        return front.read(reply.body, stream=stream)

    exit_answer, mended = ask("tooluse"), ask("enhancetool")
    assert (exit_answer.text, exit_answer.calls) == ("All done.", [])
    assert [(call.name, json.loads(call.arguments)) for call in mended.calls] == [("get_weather", {"city": "Oslo"})]
