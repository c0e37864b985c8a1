"""Three-turn tool loops through every misbehaviour that the simulator plays, on every front, strict mode on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from tests.support.background import Background
from tests.support.chat_front import Chat
from tests.support.front import Front, JsonObject, Tool
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.length import BRIEF
from tests.support.loops import EXPECTED_CALLS, TOOLS, Loop, assert_good, run_loop
from tests.support.misbehaviours import APART, FIRST, PLAYED

from moongate import sim
from moongate.sim import GENERATIONS, HOSTS, ROWS, SimServer, model_name

BAD_IDS = ("foreign-ids", "empty-ids", "repeated-ids", "one-id", "short-ids", "safe-ids", "number-ids")
COUNTED_IDS = [f"strict-count-{row.name}" for row in ROWS if row.group == "ids"]


@dataclass(frozen=True, slots=True)
class Stage:
    gateway: RunningGateway
    simulator: SimServer

    def loop(self, front: Front, model: str, *, stream: bool, **more: Any) -> Loop:
        return run_loop(front, self.gateway.root, model, stream=stream, key=self.gateway.key, **more)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Background() as background:
        simulator = background.start(sim.start(play="strict"))
        root = simulator.url.removesuffix("/v1")
        rows = [model_name(FIRST[family], row) for family, row in PLAYED]
        rows += [model_name(FIRST[family], row) for family in FIRST for row in APART]
        rows += [model_name(FIRST["k2"], row) for row in COUNTED_IDS]
        providers: list[JsonObject] = [provider("sim", f"{root}/v1", rows, {"preset": "agent"})]
        clean = [model_name(generation) for generation in GENERATIONS]
        for host in HOSTS:
            options = {"preset": "agent", "host": host}
            walls = f"{host}-walls-needs-reasoning" if host == "moonshot" else f"{host}-walls"
            providers.append(provider(host, f"{root}/{walls}/v1", clean, options))
        with run_gateway({"providers": providers, "retries": {"backoff": 0.01}}) as gateway:
            yield Stage(gateway, simulator)


def provider(name: str, url: str, models: list[str], options: JsonObject) -> JsonObject:
    use = [["Kimi", options]]
    return {"name": name, "api_base_url": url, "api_key": "key", "models": models, "transformer": {"use": use}}


def ids(front: Front) -> str:
    return front.name


def loops() -> Iterator[Any]:
    """Every misbehaviour on every front, streamed and whole; in brief, on each front streamed and whole by turns."""
    for number, ((family, row), front) in enumerate(product(PLAYED, FRONTS)):
        for stream in [number % 2 == 0] if BRIEF else [True, False]:
            name = f"{family}-{row}-{front.name}-{'streamed' if stream else 'whole'}"
            yield pytest.param(family, row, front, stream, id=name)


@pytest.mark.parametrize(("family", "row", "front", "stream"), list(loops()))
def test_a_loop_through_each_misbehaviour_ends_well(
    stage: Stage, family: str, row: str, front: Front, stream: bool
) -> None:
    assert_good(stage.loop(front, f"sim,{model_name(FIRST[family], row)}", stream=stream))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS, ids=ids)
@pytest.mark.parametrize("family", FIRST)
def test_calls_without_arguments_get_an_empty_object(stage: Stage, family: str, front: Front, stream: bool) -> None:
    loop = stage.loop(front, f"sim,{model_name(FIRST[family], 'no-arguments')}", stream=stream)
    assert_good(loop, tuple((name, {}) for name, _ in EXPECTED_CALLS))


@pytest.mark.parametrize("row", BAD_IDS)
@pytest.mark.parametrize("front", FRONTS, ids=ids)
@pytest.mark.parametrize("family", FIRST)
def test_one_tool_called_again_and_again_gets_new_ids(stage: Stage, family: str, front: Front, row: str) -> None:
    loop = stage.loop(front, f"sim,{model_name(FIRST[family], row)}", stream=True, tools=TOOLS[:1])
    assert_good(loop, tuple(("get_weather", {"city": f"city {n}"}) for n in range(3)))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("row", COUNTED_IDS)
@pytest.mark.parametrize("front", FRONTS, ids=ids)
def test_a_host_that_checks_the_count_is_satisfied(stage: Stage, front: Front, row: str, stream: bool) -> None:
    assert_good(stage.loop(front, f"sim,{model_name('k2.5', row)}", stream=stream))


@pytest.mark.parametrize("family", FIRST)
@pytest.mark.parametrize("front", FRONTS, ids=ids)
def test_unusual_arguments_are_passed_on_unchanged(stage: Stage, front: Front, family: str) -> None:
    streamed, whole = (
        stage.loop(front, f"sim,{model_name(FIRST[family], 'awkward')}", stream=stream) for stream in (True, False)
    )
    assert streamed.calls == whole.calls
    assert '"quoted" \\ back\nline\ttab é 你好 🚀 0' in streamed.calls[0][1]["city"]
    assert streamed.final == whole.final
    assert streamed.final.count("result ") == 3


@pytest.mark.parametrize("front", FRONTS, ids=ids)
def test_five_turns(stage: Stage, front: Front) -> None:
    loop = stage.loop(front, f"sim,{model_name('k2.5', 'long')}", stream=True)
    assert [len(answer.calls) for answer in loop.answers] == [1, 2, 2, 2, 0]
    assert loop.final.startswith("Done, 7 results: ")


@pytest.mark.parametrize("row", ["slow", "429-once", "silent-arguments"])
def test_slow_loops(stage: Stage, row: str) -> None:
    assert_good(stage.loop(Chat(), f"sim,{model_name('k2.5', row)}", stream=True))


# What each front's clients send, and Moonshot refuses from one generation or another.
BAD_SCHEMA = {
    "type": "object",
    "$schema": "http://json-schema.org/draft-07/schema#",
    "properties": {"city": {"type": ["string", "null"], "format": "city", "pattern": "^c"}},
    "required": ["city", "gone"],
}
WALLED_TOOLS = (Tool("get_weather", BAD_SCHEMA), Tool("2get.time", TOOLS[1].parameters), TOOLS[2])
WALLED_CALLS = (EXPECTED_CALLS[0], ("2get.time", EXPECTED_CALLS[1][1]), EXPECTED_CALLS[2])
PLAIN_CALLS = (("get_weather", {"city": "city 0"}), *EXPECTED_CALLS[1:])


def spoilt(body: JsonObject, turn: int) -> JsonObject:
    """Fixed sampling, thinking switched off, a forced choice in the first turn; reasoning never comes back (chat)."""
    more: JsonObject = {"temperature": 0.3, "top_p": 0.5}
    if "input" in body:
        more |= {"tool_choice": "required"} if turn == 0 else {}
    elif "max_tokens" in body:
        more |= {"tool_choice": {"type": "any"}} if turn == 0 else {}
        more |= {"thinking": {"type": "disabled"}}
    else:
        more |= {"tool_choice": "required"} if turn == 0 else {}
        more |= {"thinking": {"type": "disabled"}, "presence_penalty": 0.5}
    return body | more


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS, ids=ids)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_generation_on_every_host_with_strict_validation(
    stage: Stage, generation: str, host: str, front: Front, stream: bool
) -> None:
    walled = host == "moonshot"
    tools, calls = (WALLED_TOOLS, WALLED_CALLS) if walled else (TOOLS, PLAIN_CALLS)
    loop = stage.loop(front, f"{host},{model_name(generation)}", stream=stream, tools=tools, change=spoilt)
    assert_good(loop, calls)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_plain_proxy_would_be_refused_by_the_validation(stage: Stage, generation: str) -> None:
    root = f"{stage.simulator.url.removesuffix('/v1')}/moonshot-walls"
    loop = run_loop(Chat(), root, model_name(generation), stream=False, tools=WALLED_TOOLS, change=spoilt)
    assert loop.refused is not None
    assert loop.refused.status == 400


@pytest.mark.parametrize("row", BAD_IDS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_plain_proxy_would_lose_bad_ids(stage: Stage, row: str, stream: bool) -> None:
    root = stage.simulator.url.removesuffix("/v1")
    loop = run_loop(Chat(), root, model_name("k2.5", row), stream=stream, tools=TOOLS[:1])
    assert loop.refused is not None
    assert loop.refused.status == 400
    assert "id" in loop.refused.json()["error"]["message"]


@pytest.mark.parametrize("row", ["markers", "markers-reasoning", "bare-calls", "think-open"])
def test_a_plain_proxy_would_show_markup(stage: Stage, row: str) -> None:
    loop = run_loop(Chat(), stage.simulator.url.removesuffix("/v1"), model_name("k2.5", row), stream=False)
    assert loop.calls == []
    assert "<|tool_call_begin|>" in loop.answers[0].text + loop.answers[0].reasoning
