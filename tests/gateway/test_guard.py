"""The guard behind the gateway: on all fronts, whole and streamed, with the official SDKs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.guarded_fronts import WAYS, guarded_gateway, run
from tests.kimi.guard.turns import TOOLS, Row, request, run_turn
from tests.support.gateway import RunningGateway
from tests.support.http import Reply, get, post
from tests.support.length import by_length

from moongate.sim import SimServer, model_name
from moongate.sim.vendor import Vendor

TURNS = by_length(12, 2000)
SECOND, AFTER, NEVER = (model_name("k2", f"valid-60-{row}") for row in ("second-try", "after-error", "never-right"))
EMPTY = model_name("k2", "valid-0-empty-turns-second-try")
MODELS = [SECOND, AFTER, NEVER, EMPTY]

Guarded = tuple[RunningGateway, SimServer]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Guarded]:
    with guarded_gateway(MODELS, "retry") as running:
        yield running


def expected_requests(model: str, turns: int) -> int:
    """The upstream requests that the library alone needs for the same turns."""
    vendor = Vendor()
    turn = (run_turn(vendor, {"preset": "strict"}, request(at, model), stream=False) for at in range(turns))
    return sum(each.sent for each in turn)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [SECOND, AFTER])
def test_every_call_that_leaves_is_valid(model: str, way: str) -> None:
    with guarded_gateway([model], "retry") as (gateway, simulator):
        found = run(gateway, simulator, model, WAYS[way], TURNS)
    assert found.faults == []
    assert found.empty_turns == 0
    assert found.upstream == expected_requests(model, TURNS) > TURNS
    assert found.unexplained == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_vendor_that_is_never_right_is_asked_three_times_at_most(way: str) -> None:
    with guarded_gateway([NEVER], "retry") as (gateway, simulator):
        found = run(gateway, simulator, NEVER, WAYS[way], 6)
        text = get(f"{gateway.root}/metrics", key=gateway.key).body.decode()
    assert found.invalid_turns > 0
    assert found.upstream <= 18
    if not way.startswith("messages"):  # this front completes JSON whose end is missing: fewer turns look damaged
        assert found.unexplained == 0
    assert "moongate_answers_total{" in text
    assert 'worth="damaged"' in text


def ask(guarded: Guarded, model: str, number: int, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    gateway, _ = guarded
    body: Row = {**request(number, model), **more}
    return post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key, headers=headers or {})


def test_a_request_can_opt_out(guarded: Guarded) -> None:
    before = len(guarded[1].seen)
    for number in range(6):
        assert ask(guarded, NEVER, number, {"x-moongate-guard": "off"}).status == 200
    assert len(guarded[1].seen) == before + 6


def test_an_empty_turn_is_asked_for_again(guarded: Guarded) -> None:
    before = len(guarded[1].seen)
    answer = ask(guarded, EMPTY, 1)
    assert answer.json()["choices"][0]["message"]["tool_calls"]
    assert len(guarded[1].seen) == before + 2


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_to_a_long_request_is_asked_for_again(stream: bool) -> None:
    """The further try is made and written in a thread."""
    with guarded_gateway([EMPTY], "retry") as fresh:
        answer = ask(fresh, EMPTY, 1, metadata={"filler": "x" * 600_000}, stream=stream)
        assert answer.status == 200
        assert b'"tool_calls"' in answer.body
        assert len(fresh[1].seen) == 2


def test_the_client_sees_the_usage_of_the_answer_that_leaves(guarded: Guarded) -> None:
    answer = ask(guarded, EMPTY, 2)
    assert answer.json()["usage"]["completion_tokens"] > 0


def test_an_idempotency_key_is_not_sent_with_a_further_try(guarded: Guarded) -> None:
    ask(guarded, EMPTY, 3, {"idempotency-key": "abc"})
    first, second = [each for each, _ in list(guarded[1].vendor.seen)[-2:]]
    assert first.headers.get("idempotency-key") == "abc"
    assert "idempotency-key" not in second.headers


def test_the_offered_tools_are_those_of_the_runs() -> None:
    assert [tool["function"]["name"] for tool in TOOLS] == ["read_file", "write_todos"]
