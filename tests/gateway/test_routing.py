"""Routes over real sockets: which provider is asked, and what header, metrics, log and list of models say."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.gateway.scripted import COMPLETION, DONE, Asked, Scripted, chunk, forever
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import Reply, get, post

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


class Vendor(Scripted):
    """Answers with its own name; `fails` is the status of an error instead."""

    def __init__(self, name: str) -> None:
        super().__init__(self._answer_by_name)
        self.name = name
        self.fails = 0

    async def _answer_by_name(self, asked: Asked) -> None:
        if self.fails:
            asked.document({"error": {"message": "no"}}, self.fails)
        elif asked.json.get("stream"):
            asked.begin_stream()
            asked.send(chunk(self.name, "stop") + DONE)
            asked.end_stream()
        else:
            message = {"role": "assistant", "content": self.name}
            asked.document(COMPLETION | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture
def vendors() -> Iterator[tuple[Vendor, Vendor]]:
    with Background() as background:
        first, second = Vendor("first"), Vendor("second")
        background.start(first.start())
        background.start(second.start())
        yield first, second


@pytest.fixture
def gateway(vendors: tuple[Vendor, Vendor]) -> Iterator[RunningGateway]:
    with run_gateway(config(vendors)) as running:
        yield running


def config(vendors: tuple[Vendor, Vendor], **settings: Any) -> dict[str, Any]:
    price = {"input": 1.0, "output": 5.0}
    providers = [
        {"name": "a", "api_base_url": vendors[0].url, "models": [{"name": "x", "price": price}]},
        {"name": "b", "api_base_url": vendors[1].url, "models": [{"name": "x", "price": {"input": 0.5, "output": 5}}]},
    ]
    routes = {
        "kimi": {"targets": ["a,x", "b,x"]},
        "even": {"targets": ["a,x", "b,x"], "strategy": "loadbalance", "sticky": False},
    }
    retries = {"retries": 0, "failures": 1}
    # An answer that is checked against its schemas is counted later, so none is unless a test asks for it.
    return {"providers": providers, "routes": routes, "retries": retries, "judge": 0, **settings}


def ask(
    gateway: RunningGateway, model: str, text: str = "Hi", headers: dict[str, str] | None = None, **more: Any
) -> Reply:
    body = {"model": model, "messages": [{"role": "user", "content": text}], **more}
    return post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key, headers=headers)


def who(reply: Reply) -> str:
    assert reply.status == 200, reply.body
    return str(reply.json()["choices"][0]["message"]["content"])


def metric(gateway: RunningGateway, name: str) -> dict[str, float]:
    lines = get(f"{gateway.root}/metrics", key=gateway.key).body.decode().split("\n")
    found = [line.rsplit(" ", 1) for line in lines if line.startswith(name)]
    return {label.removeprefix(name): float(value) for label, value in found}


def test_a_route_is_asked_for_and_listed_like_a_model(gateway: RunningGateway) -> None:
    reply = ask(gateway, "kimi")
    assert who(reply) == "first"
    said = reply.headers["x-moongate-route"]
    assert said.startswith("kimi -> a,x; strategy=ordered; reason=order; score=0.950; interval=")
    assert reply.headers["x-moongate-model"] == "kimi -> a,x"
    assert "; raw=0.950" in reply.headers["x-moongate-route"]
    listed = get(f"{gateway.root}/v1/models", key=gateway.key).json()["data"]
    assert [each["id"] for each in listed] == ["a,x", "b,x", "kimi", "even"]
    assert listed[-1]["owned_by"] == "moongate"
    assert get(f"{gateway.root}/v1/models/kimi", key=gateway.key).json()["id"] == "kimi"


def test_streams_have_the_header_too_and_other_requests_have_none(gateway: RunningGateway) -> None:
    reply = ask(gateway, "kimi", stream=True)
    assert b"first" in reply.body
    assert "x-moongate-route" in reply.headers
    assert "x-moongate-route" not in ask(gateway, "a,x").headers


def test_a_session_moves_when_its_target_fails_and_stays_there(
    gateway: RunningGateway, vendors: tuple[Vendor, Vendor]
) -> None:
    session = {"x-session-id": "s"}
    assert who(ask(gateway, "kimi", headers=session)) == "first"
    vendors[0].fails = 500
    moved = ask(gateway, "kimi", headers=session)
    assert who(moved) == "second"
    assert "; reason=fallback;" in moved.headers["x-moongate-route"]
    vendors[0].fails = 0
    stayed = ask(gateway, "kimi", headers=session)
    assert who(stayed) == "second"
    assert "; reason=sticky;" in stayed.headers["x-moongate-route"]


def test_an_error_says_who_was_asked_last(gateway: RunningGateway, vendors: tuple[Vendor, Vendor]) -> None:
    for vendor in vendors:
        vendor.fails = 500
    reply = ask(gateway, "kimi")
    assert reply.status == 500
    assert reply.headers["x-moongate-route"].startswith("kimi -> b,x; strategy=ordered; reason=fallback;")


def test_requests_of_one_conversation_stay_together_and_others_are_spread(gateway: RunningGateway) -> None:
    found = {who(ask(gateway, "even", f"question {number}")) for number in range(40)}
    assert found == {"first", "second"}


@pytest.mark.parametrize(("name", "expected"), [("kimi:cheap", "second"), ("x:cheap", "second"), ("kimi", "first")])
def test_a_suffix_chooses_for_one_request(gateway: RunningGateway, name: str, expected: str) -> None:
    assert who(ask(gateway, name)) == expected


def test_choices_and_costs_are_counted(gateway: RunningGateway) -> None:
    for _ in range(2):
        ask(gateway, "kimi")
    ask(gateway, "kimi:cheap")
    labels = 'route="kimi",provider="{}",model="x",strategy="{}",reason="{}"'
    assert metric(gateway, "moongate_route_choices_total") == {
        "{" + labels.format("a", "ordered", "order") + "}": 1,
        "{" + labels.format("a", "ordered", "sticky") + "}": 1,
        "{" + labels.format("b", "cost", "price") + "}": 1,
    }
    # 7 tokens in, 2 out.
    costs = metric(gateway, "moongate_cost_dollars_total")
    assert costs['{model="x",provider="a"}'] == pytest.approx(2 * 17e-6)
    assert costs['{model="x",provider="b"}'] == pytest.approx(14e-6)


def test_an_unknown_price_is_unknown_not_zero(vendors: tuple[Vendor, Vendor]) -> None:
    settings = config(vendors)
    del settings["providers"][0]["models"][0]["price"]
    with run_gateway(settings) as gateway:
        ask(gateway, "kimi")
        assert metric(gateway, "moongate_cost_unknown_total")['{model="x",provider="a"}'] == 1
        assert metric(gateway, "moongate_cost_dollars_total") == {}


def test_a_key_may_be_limited_to_a_route(gateway: RunningGateway) -> None:
    client = next(iter(gateway.app.state.auth.clients._by_digest.values()))
    client.allowed = (("kimi",),)
    gateway.app.state.auth.clients._by_header.clear()
    assert who(ask(gateway, "kimi")) == "first"
    assert who(ask(gateway, "kimi:cheap")) == "second"
    refused = ask(gateway, "even")
    assert (refused.status, json.loads(refused.body)["error"]["code"]) == (403, "model_not_allowed")


CALL = {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def calling(**changes: Any) -> dict[str, Any]:
    function = {**CALL["function"], **changes}  # type: ignore[dict-item]
    message = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": function}]}
    return COMPLETION | {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def of_answers(gateway: RunningGateway) -> dict[tuple[str, str], float]:
    found = metric(gateway, "moongate_answers_total")
    parts = {label: dict(each.split("=") for each in label.strip("{}").split(",")) for label in found}
    return {(part["tools"].strip('"'), part["worth"].strip('"')): found[label] for label, part in parts.items()}


def test_every_answer_is_judged_also_one_that_was_replaced(vendors: tuple[Vendor, Vendor]) -> None:
    settings = config(vendors)
    for each in settings["providers"]:
        each["transformer"] = {"use": ["Kimi"]}
    vendors[0].fails = 500
    with run_gateway(settings) as gateway:
        assert who(ask(gateway, "kimi", tools=TOOLS)) == "second"
        assert of_answers(gateway) == {("true", "failed"): 1, ("true", "clean"): 1}
        vendors[0].fails = 400  # the client's fault: no answer to be judged
        assert ask(gateway, "a,x", "other").status == 400
        assert sum(of_answers(gateway).values()) == 2
        scores = [target.score.quality(0.0).answers for target in gateway.app.state.targets]
        assert scores == pytest.approx([1, 1], abs=0.01)


def test_tools_inside_messages_are_offered_like_others(vendors: tuple[Vendor, Vendor]) -> None:
    settings = config(vendors, judge=1)
    settings["providers"][0]["transformer"] = {"use": [["Kimi", {"family": "k3"}]]}

    async def misfit(asked: Asked) -> None:
        asked.document(calling())

    vendors[0].play = misfit
    with run_gateway(settings) as gateway:
        messages = [{"role": "system", "tools": STRICT}, {"role": "user", "content": "Hi"}]
        body = {"model": "a,x", "messages": messages}
        assert post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key).status == 200
        until(lambda: bool(of_answers(gateway)))
        assert of_answers(gateway) == {("true", "damaged"): 1}
        assert gateway.app.state.targets[0].score.quality(0.0).answers == pytest.approx(1, abs=0.01)


def test_a_full_vendor_is_not_a_bad_one(vendors: tuple[Vendor, Vendor]) -> None:
    vendors[0].fails = 429
    with run_gateway(config(vendors)) as gateway:
        ask(gateway, "kimi", tools=TOOLS)
        assert of_answers(gateway)["true", "failed"] == 1
        assert gateway.app.state.targets[0].score.quality(0.0).answers == 0


@pytest.mark.parametrize("stream", [False, True])
def test_damage_is_counted_by_kind_and_lowers_the_score(vendors: tuple[Vendor, Vendor], stream: bool) -> None:
    async def damaged(asked: Asked) -> None:
        asked.document(calling(name="g", arguments="{"))

    vendors[0].play = damaged
    settings = config(vendors)
    settings["providers"][0]["transformer"] = {"use": ["Kimi"]}
    with run_gateway(settings) as gateway:
        ask(gateway, "kimi", tools=TOOLS, stream=stream)
        assert of_answers(gateway) == {("true", "damaged"): 1}
        kinds = metric(gateway, "moongate_damage_total")
        assert len(kinds) == 2
        assert all('tools="true"' in label for label in kinds)
        assert {'kind="invalid_json"' in label or 'kind="unknown_tool"' in label for label in kinds} == {True}
        assert gateway.app.state.targets[0].score.quality(0.0).score < 0.95


def test_repairs_of_the_vendor_are_counted_apart_from_those_of_the_client(vendors: tuple[Vendor, Vendor]) -> None:
    async def odd_id(asked: Asked) -> None:
        body = calling()
        body["choices"][0]["message"]["tool_calls"][0]["id"] = "call_1"
        asked.document(body)

    vendors[0].play = odd_id
    settings = config(vendors)
    settings["providers"][0]["transformer"] = {"use": ["Kimi"]}
    with run_gateway(settings) as gateway:
        history = [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "call_9"}]},
            {"role": "tool", "tool_call_id": "call_9", "content": "1"},
        ]
        body = {"model": "kimi", "tools": TOOLS, "messages": history}
        post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
        assert of_answers(gateway) == {("true", "repaired"): 1}
        found = metric(gateway, "moongate_repairs_total")
        assert {label.split("mends=")[1].strip('"}') for label in found} == {"vendor", "client"}


def test_an_answer_whose_client_left_counts_nowhere_as_quality(vendors: tuple[Vendor, Vendor]) -> None:
    vendors[0].play = forever
    with run_gateway(config(vendors)) as gateway:
        body = json.dumps({"model": "kimi", "messages": [{"role": "user", "content": "Hi"}], "tools": TOOLS})
        address = gateway.root.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1]))) as client:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {gateway.key}\r\n"
            head = head.replace("host: x", "host: 127.0.0.1") + f"content-length: {len(body)}\r\n\r\n"
            client.sendall((head + body).encode())
            until(lambda: bool(vendors[0].seen))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset
        until(lambda: bool(of_answers(gateway)))
        assert of_answers(gateway) == {("true", "aborted"): 1}
        assert gateway.app.state.targets[0].score.quality(0.0).answers == 0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


STRICT = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["n"]}}}]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("judge", "strategy", "expected"),
    [(1, "ordered", "damaged"), (0, "ordered", "clean"), (0, "quality", "damaged")],
)
def test_calls_are_checked_against_their_schemas(
    vendors: tuple[Vendor, Vendor], judge: float, strategy: str, expected: str, stream: bool
) -> None:
    async def misfit(asked: Asked) -> None:
        asked.document(calling())

    for vendor in vendors:
        vendor.play = misfit
    settings = config(vendors, judge=judge)
    for each in settings["providers"]:
        each["transformer"] = {"use": ["Kimi"]}
    settings["routes"]["kimi"]["strategy"] = strategy
    with run_gateway(settings) as gateway:
        ask(gateway, "kimi", tools=STRICT, stream=stream)
        end = time.monotonic() + 60
        while not (found := of_answers(gateway)) and time.monotonic() < end:
            time.sleep(0.01)
        assert found == {("true", expected): 1}
        if expected == "damaged":
            assert any('kind="schema_mismatch"' in label for label in metric(gateway, "moongate_damage_total"))
