"""The limits of the guard's further tries, over real sockets: time, budgets, clients that leave, finishes, choices."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.gateway.guarded_plays import (
    ASK,
    FIRST,
    RIGHT,
    SECOND,
    STRICT,
    WRONG,
    answering,
    broken,
    calls,
    completion,
    event,
    in_order,
    refused,
    right,
    silent,
    wrong,
)
from tests.gateway.scripted import DONE, Asked, Scripted, forever
from tests.gateway.test_limits import until
from tests.kimi.guard.turns import assembled
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import get, post

PATH = "/v1/chat/completions"
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    with Background() as running:
        yield running


@pytest.fixture
def vendor(background: Background) -> Scripted:
    return background.start(Scripted().start())


@pytest.fixture
def gateway(vendor: Scripted) -> Iterator[RunningGateway]:
    with run_gateway(config(vendor)) as running:
        yield running


def config(vendor: Scripted, **more: Any) -> dict[str, Any]:
    provider = {"name": "p", "api_base_url": vendor.url, "models": ["m"], "transformer": STRICT}
    return {"providers": [provider], **more}


def ask(gateway: RunningGateway, *, stream: bool, **more: Any) -> Any:
    """The completion that the client has in the end."""
    reply = post(gateway.root + PATH, {**ASK, "stream": stream, **more}, key=KEY)
    assert reply.status == 200, reply
    return assembled(reply.body) if stream else reply.json()


def arguments(answer: Any, choice: int = 0) -> list[str]:
    return [call["function"]["arguments"] for call in answer["choices"][choice]["message"].get("tool_calls") or ()]


def tries(gateway: RunningGateway) -> dict[str, int]:
    """How often each result was counted."""
    lines = get(gateway.root + "/metrics", key=KEY).body.decode().splitlines()
    found = [line for line in lines if line.startswith("moongate_guard_tries_total{")]
    return {line.partition('result="')[2].partition('"')[0]: int(float(line.rpartition(" ")[2])) for line in found}


@STREAMED
def test_a_try_that_is_not_over_at_the_deadline_does_not_lose_the_answer(vendor: Scripted, stream: bool) -> None:
    vendor.play = in_order(wrong, silent)
    with run_gateway(config(vendor, timeouts={"whole": 1, "stream": 1})) as gateway:
        assert arguments(ask(gateway, stream=stream)) == [WRONG]
        until(lambda: vendor.left == 1)
    assert len(vendor.seen) == 2


@STREAMED
def test_the_deadline_counts_from_the_request(vendor: Scripted, stream: bool) -> None:
    """The first answer takes nearly all of the time: a try whose own time would begin anew could end at 1.9 s."""

    async def late(asked: Asked) -> None:
        await asyncio.sleep(0.9)
        await wrong(asked)

    async def slow(asked: Asked) -> None:
        await asyncio.sleep(0.8)
        await right(asked)

    vendor.play = in_order(late, slow)
    with run_gateway(config(vendor, timeouts={"whole": 1, "stream": 1})) as gateway:
        reply = post(gateway.root + PATH, {**ASK, "stream": stream}, key=KEY)
    # On a busy machine the first answer itself may be too late.
    assert RIGHT.replace('"', '\\"').encode() not in reply.body


@STREAMED
@pytest.mark.parametrize("play", [refused, broken], ids=["refused", "broken"])
def test_a_failed_try_does_not_lose_the_answer(
    gateway: RunningGateway, vendor: Scripted, play: Any, stream: bool
) -> None:
    vendor.play = in_order(wrong, play)
    assert arguments(ask(gateway, stream=stream)) == [WRONG]
    assert len(vendor.seen) == 2
    assert tries(gateway) == ({"failed": 1} if play is refused else {"sent": 1})


def test_the_budget_of_the_guard_keeps_storms_away(vendor: Scripted) -> None:
    vendor.play = in_order(wrong, forever, wrong)
    with run_gateway(config(vendor, retries={"guard_budget": 0})) as gateway:
        with leaving(gateway, stream=False):
            until(lambda: len(vendor.seen) == 2)  # it holds the only place
            for _ in range(3):
                assert arguments(ask(gateway, stream=False)) == [WRONG]
            assert tries(gateway)["budget"] == 3
        until(lambda: vendor.left == 1)
        assert len(vendor.seen) == 5
        until(lambda: not gateway.app.active_requests)
        vendor.play = in_order(wrong, right)
        assert arguments(ask(gateway, stream=False)) == [RIGHT]  # the place was given back


def leaving(gateway: RunningGateway, *, stream: bool) -> socket.socket:
    """A request whose client leaves at the end of the block."""
    host, port = gateway.root.removeprefix("http://").split(":")
    data = json.dumps({**ASK, "stream": stream}).encode()
    client = socket.create_connection((host, int(port)), timeout=60)
    head = f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\ncontent-length: {len(data)}\r\n\r\n"
    client.sendall(head.encode() + data)
    return client


@STREAMED
def test_a_client_that_leaves_ends_the_try(gateway: RunningGateway, vendor: Scripted, stream: bool) -> None:
    vendor.play = in_order(wrong, silent, wrong)
    with leaving(gateway, stream=stream):
        until(lambda: len(vendor.seen) == 2)
    until(lambda: vendor.left == 1)
    until(lambda: not gateway.app.active_requests)
    assert len(vendor.seen) == 2
    assert 'worth="failed"' not in get(gateway.root + "/metrics", key=KEY).body.decode()


@STREAMED
def test_no_try_is_made_after_the_client_left(gateway: RunningGateway, vendor: Scripted, stream: bool) -> None:
    vendor.play = silent
    with leaving(gateway, stream=stream):
        until(lambda: len(vendor.seen) == 1)
    until(lambda: vendor.left == 1)
    until(lambda: not gateway.app.active_requests)
    assert len(vendor.seen) == 1


@STREAMED
@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_answer_is_not_asked_for_again(
    gateway: RunningGateway, vendor: Scripted, finish: str, stream: bool
) -> None:
    vendor.play = answering('{"path":', FIRST, finish)
    answer = ask(gateway, stream=stream, max_tokens=5)
    assert answer["choices"][0]["finish_reason"] == finish
    assert len(vendor.seen) == 1


@STREAMED
def test_a_forced_call_that_did_not_come_is_asked_for_again(
    gateway: RunningGateway, vendor: Scripted, stream: bool
) -> None:
    async def text(asked: Asked) -> None:
        if stream:
            asked.begin_stream()
            choice = {"index": 0, "delta": {"content": "I would."}, "finish_reason": "stop"}
            asked.send(event({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}) + DONE)
            asked.end_stream()
        else:
            asked.document(completion(RIGHT, FIRST) | {"choices": [text_choice("I would.")]})

    vendor.play = in_order(text, right)
    named = {"type": "function", "function": {"name": "read"}}
    answer = ask(gateway, stream=stream, tool_choice=named)
    assert arguments(answer) == [RIGHT]
    if stream:
        assert answer["choices"][0]["message"]["content"] == "I would.\n\nI read."


def text_choice(text: str) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}


def choices(*given: str) -> Any:
    """An answer of several choices with these arguments, whose chunks come in turn."""

    async def play(asked: Asked) -> None:
        if not asked.json.get("stream"):
            found = [completion(each, FIRST)["choices"][0] | {"index": at} for at, each in enumerate(given)]
            asked.document(completion(RIGHT, FIRST) | {"choices": found})
            return
        asked.begin_stream()
        cuts = [(each[: len(each) // 2], each[len(each) // 2 :]) for each in given]
        openings = [({"tool_calls": calls(begin)}, None) for begin, _ in cuts]
        rests = [({"tool_calls": [{"index": 0, "function": {"arguments": end}}]}, None) for _, end in cuts]
        ends: list[tuple[dict[str, Any], str | None]] = [({}, "tool_calls") for _ in cuts]
        for row in (openings, rests, ends):
            for at, (delta, finish) in enumerate(row):
                choice = {"index": at, "delta": delta, "finish_reason": finish}
                asked.send(event({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}))
        asked.send(event({"id": "c", "choices": [], "usage": SECOND}) + DONE)
        asked.end_stream()

    return play


@STREAMED
def test_of_several_choices_one_valid_one_is_enough(gateway: RunningGateway, vendor: Scripted, stream: bool) -> None:
    vendor.play = in_order(choices(WRONG, RIGHT), right)
    answer = ask(gateway, stream=stream, n=2)
    assert len(vendor.seen) == 1
    assert [arguments(answer, at) for at in (0, 1)] == [[WRONG], [RIGHT]]


@STREAMED
def test_several_choices_are_asked_for_again_if_none_is_valid(
    gateway: RunningGateway, vendor: Scripted, stream: bool
) -> None:
    vendor.play = in_order(choices(WRONG, WRONG), choices(RIGHT, '{"path":"b"}'))
    answer = ask(gateway, stream=stream, n=2)
    assert len(vendor.seen) == 2
    assert [arguments(answer, at) for at in (0, 1)] == [[RIGHT], ['{"path":"b"}']]
    assert [choice["finish_reason"] for choice in answer["choices"]] == ["tool_calls"] * 2
