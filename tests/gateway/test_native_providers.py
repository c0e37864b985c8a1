"""Providers that speak the client's own dialect: everything passes as it is, but for what Kimi needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.canary import PROVIDER_KEY
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, get, post

from moongate.sim.server import SimServer, start

KIMI = {"use": [["Kimi", {"preset": "agent"}]]}


def event(kind: str, **more: Any) -> bytes:
    return b"event: %b\ndata:  %b\n\n" % (kind.encode(), json.dumps({"type": kind, **more}).encode())


MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 2},
    "of_the_future": {"a": [1]},
}
STREAM = [
    event("message_start", message={"id": "msg_1", "usage": {"input_tokens": 7, "output_tokens": 1}}),
    b": a comment\n\n",
    event(
        "content_block_start", index=0, content_block={"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    ),
    event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "{}"}),
    event("content_block_stop", index=0),
    event("of_the_future", a=[1, {"b": "ü"}]),
    event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 20}),
    event("message_stop"),
]
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "output": [{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}],
    "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
}
ITEM = RESPONSE["output"][0]  # type: ignore[index]
RESPONSE_STREAM = [
    event("response.created", response={"id": "resp_1"}),
    event("response.output_item.added", output_index=0, item=ITEM),
    event("response.function_call_arguments.delta", output_index=0, delta="{}"),
    event("response.output_item.done", output_index=0, item=ITEM),
    event("response.completed", response=RESPONSE),
]


class Setting:
    def __init__(self, gateway: RunningGateway, provider: Scripted) -> None:
        self.gateway, self.provider = gateway, provider

    def ask(self, front: str, model: str, **more: Any) -> Reply:
        body: dict[str, Any] = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        if front == "/v1/responses":
            body = {"model": model, "input": [{"role": "user", "content": "hi"}]}
        return self.send(front, {**body, **more})

    def send(self, front: str, body: Any, **headers: str) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return post(self.gateway.root + front, body, key=KEY, headers=given)

    def answers(self, whole: Any, stream: list[bytes]) -> None:
        async def play(asked: Asked) -> None:
            if not asked.json.get("stream"):
                asked.document(whole)
                return
            asked.begin_stream()
            for piece in stream:
                asked.send(piece)
            asked.end_stream()

        self.provider.play = play


@pytest.fixture(scope="module")
def running() -> Iterator[Setting]:
    with Background() as background:
        provider = background.start(Scripted().start())
        common = {"transformer": KIMI}
        plain = {"name": "plain", "api_base_url": provider.url + "/anthropic", "dialect": "anthropic", "models": ["p"]}
        judged = {"api_base_url": provider.url, "transformer": KIMI}
        config = {
            "judge": 1.0,
            "providers": [
                {**common, "name": "a", "api_base_url": provider.url + "/anthropic", "dialect": "anthropic"}
                | {"models": ["kimi-k2", {"name": "falls", "fallback": "chat"}]},
                {**common, "name": "r", "api_base_url": provider.url, "dialect": "responses", "models": ["kimi-r"]},
                {
                    "name": "c",
                    "api_base_url": provider.url,
                    "models": ["chat", {"name": "helped", "fallback": "kimi-r"}],
                },
                plain,
                {**judged, "name": "judged", "dialect": "anthropic", "models": ["a"]},
                {**judged, "name": "judged2", "dialect": "responses", "models": ["r"]},
            ],
            "retries": {"retries": 0},
        }
        with run_gateway(config) as gateway:
            yield Setting(gateway, provider)


@pytest.fixture
def setting(running: Setting) -> Setting:
    running.provider.seen.clear()
    return running


def test_messages_pass_byte_for_byte(setting: Setting) -> None:
    whole = json.dumps(MESSAGE, indent=1).encode()
    setting.answers(whole, STREAM)
    body = b'{"model": "kimi-k2",\t"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "future": [1.50]}'
    reply = setting.send("/v1/messages", body, anthropic_version="2099-01-01", anthropic_beta="x")
    assert (reply.status, reply.body) == (200, whole)
    asked = setting.provider.seen[-1]
    assert asked.body == body
    assert asked.head.startswith("post /anthropic/v1/messages http/1.1")
    assert (asked.header("anthropic-version"), asked.header("anthropic-beta")) == ("2099-01-01", "x")
    assert asked.header("x-api-key") == PROVIDER_KEY.lower()
    assert asked.header("authorization") == f"bearer {PROVIDER_KEY.lower()}"
    streamed = setting.ask("/v1/messages", "kimi-k2", stream=True)
    assert streamed.body == b"".join(STREAM)
    assert setting.provider.seen[-1].header("anthropic-version") == "2023-06-01"
    assert "x-moongate-left-out" not in streamed.headers


def test_responses_pass_byte_for_byte(setting: Setting) -> None:
    whole = json.dumps(RESPONSE, indent=1).encode()
    setting.answers(whole, RESPONSE_STREAM)
    assert setting.ask("/v1/responses", "kimi-r").body == whole
    assert setting.provider.seen[-1].head.startswith("post /v1/responses http/1.1")
    assert setting.ask("/v1/responses", "kimi-r", stream=True).body == b"".join(RESPONSE_STREAM)


@pytest.mark.parametrize(
    "stored",
    [
        b'"previous_response_id": "resp_0", "input": [{"type": "function_call_output", "call_id": "c", "output": ""}]',
        b'"conversation": "conv_1", "input": "hi"',
        b'"prompt": {"id": "pmpt_1"}',
        b'"background": true,  "input": "hi"',
    ],
)
def test_what_a_provider_of_responses_has_stored_is_its_own(setting: Setting, stored: bytes) -> None:
    setting.answers(RESPONSE, RESPONSE_STREAM)
    for model in (b"kimi-r", b"r"):
        body = b'{"model": "%b", %b}' % (model, stored)
        assert (setting.send("/v1/responses", body).status, setting.provider.seen[-1].body) == (200, body)
    assert setting.send("/v1/responses", b'{"model": "helped", %b}' % stored).status == 200
    assert setting.provider.seen[-1].json["model"] == "kimi-r"
    asked = len(setting.provider.seen)
    refused = setting.send("/v1/responses", b'{"model": "chat", %b}' % stored)
    assert (refused.status, refused.json()["error"]["code"]) == (400, "unsupported_parameter")
    assert len(setting.provider.seen) == asked


def test_usage_is_counted(setting: Setting) -> None:
    setting.answers(MESSAGE, STREAM)
    setting.ask("/v1/messages", "plain,p")
    setting.ask("/v1/messages", "plain,p", stream=True)
    setting.answers(RESPONSE, RESPONSE_STREAM)
    setting.ask("/v1/responses", "kimi-r", stream=True)
    metrics = get(setting.gateway.root + "/metrics", key=KEY).body.decode()
    assert 'moongate_tokens_total{model="p",provider="plain",kind="input"} 17' in metrics
    assert 'moongate_tokens_total{model="p",provider="plain",kind="output"} 22' in metrics
    assert 'moongate_tokens_total{model="p",provider="plain",kind="cached"} 3' in metrics


def test_what_answers_were_worth_is_counted(setting: Setting) -> None:
    tools = [{"name": "f", "input_schema": {"type": "object", "required": ["n"]}}]
    call = {"type": "tool_use", "id": "toolu_9", "name": "f", "input": {}}
    unknown = {**MESSAGE, "content": [{**call, "name": "g"}], "stop_reason": "tool_use"}
    setting.answers(unknown, [STREAM[0], event("message_stop")])
    for stream in (False, True):
        setting.ask("/v1/messages", "judged,a", tools=tools, stream=stream)
    setting.answers({**MESSAGE, "content": [call]}, STREAM[:3])
    for stream in (False, True):
        setting.ask("/v1/messages", "judged,a", tools=tools, stream=stream)
    setting.answers(MESSAGE, STREAM)
    setting.ask("/v1/messages", "judged,a", tools=tools, tool_choice={"type": "any"})
    setting.answers(RESPONSE, RESPONSE_STREAM)
    functions = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    for stream in (False, True):
        setting.ask("/v1/responses", "judged2,r", tools=functions, stream=stream)

    answers = 'moongate_answers_total{provider="%s",model="%s",tools="true",worth="%s"} %d'
    kinds = ("unknown_tool", "empty_turn", "schema_mismatch", "missing_call")
    wanted = {
        answers % ("judged", "a", "damaged", 4),
        answers % ("judged", "a", "failed", 1),
        answers % ("judged2", "r", "clean", 2),
        *(f'moongate_damage_total{{provider="judged",model="a",tools="true",kind="{kind}"}} 1' for kind in kinds),
    }
    until = monotonic() + 10
    found = set[str]()
    while not wanted <= found and monotonic() < until:  # schemas are checked after the answer
        found = set(get(setting.gateway.root + "/metrics", key=KEY).body.decode().splitlines())
    assert wanted - found == set()


def test_another_front_is_refused_and_told_which_to_use(setting: Setting) -> None:
    for front, model, use in [
        ("/v1/chat/completions", "kimi-k2", "/v1/messages"),
        ("/v1/responses", "kimi-k2", "/v1/messages"),
        ("/v1/messages", "kimi-r", "/v1/responses"),
    ]:
        for stream in (False, True):
            reply = setting.ask(front, model, stream=stream)
            if reply.status != 200:  # the responses front reports some errors inside a stream
                assert reply.status == 400
            assert f"is served at {use} only".encode() in reply.body
    assert not setting.provider.seen
    setting.answers(None, [])
    assert setting.ask("/v1/chat/completions", "falls").status == 200, "a fallback that can be asked is asked"
    assert setting.provider.seen[-1].head.startswith("post /v1/chat/completions")


def test_ids_in_the_history_and_in_answers(setting: Setting) -> None:
    calls: list[dict[str, Any]] = [
        {"type": "tool_use", "id": each, "name": "f", "input": {}} for each in ("toolu_1", "functions--f--1")
    ]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in calls]
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]
    bad: list[dict[str, Any]] = [
        {"type": "tool_use", "id": each, "name": "f", "input": {}} for each in ("", "toolu_1", "toolu_2")
    ]
    starts = [event("content_block_start", index=n, content_block=block) for n, block in enumerate(bad)]
    setting.answers({**MESSAGE, "content": bad}, [STREAM[0], *starts, STREAM[-1]])
    for stream in (False, True):
        reply = setting.ask("/v1/messages", "kimi-k2", messages=history, stream=stream)
        sent = setting.provider.seen[-1].json["messages"]
        assert [block["id"] for block in sent[1]["content"]] == ["functions.f:0", "functions.f:1"]
        assert [block["tool_use_id"] for block in sent[2]["content"]] == ["functions.f:0", "functions.f:1"]
        blocks = (
            reply.json()["content"]
            if not stream
            else [
                json.loads(line[6:])["content_block"]
                for line in reply.body.split(b"\n")
                if line.startswith(b"data") and b"content_block_start" in line
            ]
        )
        assert [block["id"] for block in blocks] == ["functions--f--2", "functions--f--3", "toolu_2"]


def test_ids_of_responses(setting: Setting) -> None:
    history = [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
    ]
    setting.answers(RESPONSE, RESPONSE_STREAM)
    for stream in (False, True):
        reply = setting.ask("/v1/responses", "kimi-r", input=history, stream=stream)
        sent = setting.provider.seen[-1].json["input"]
        assert [item.get("call_id") for item in sent] == [None, "functions.f:0", "functions.f:0"]
        assert b'"call_1"' not in reply.body
        assert reply.body.count(b"functions--f--1") == (3 if stream else 1)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (STREAM[:4], b"ended before the answer was complete"),
        ([*STREAM[:2], event("error", error={"type": "overloaded_error", "message": "Overloaded"})], b"Overloaded"),
        ([*STREAM[:2], b"data: {broken\n\n", STREAM[-1]], b"{broken"),
    ],
)
def test_broken_streams(setting: Setting, pieces: list[bytes], words: bytes) -> None:
    setting.answers(MESSAGE, pieces)
    reply = setting.ask("/v1/messages", "kimi-k2", stream=True)
    assert reply.body.startswith(b"".join(pieces[:2])) or reply.status == 502, (
        "nothing was sent yet: an error of its own"
    )
    assert words in reply.body


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([], 502),
        ([b"data: [DONE]\n\n"], 502),
        ([event("error", error={"message": "no"})], 502),
        ([event("error")], 502),
    ],
)
def test_streams_that_never_begin(setting: Setting, pieces: list[bytes], status: int) -> None:
    setting.answers(MESSAGE, pieces)
    assert setting.ask("/v1/messages", "kimi-k2", stream=True).status == status


@pytest.mark.parametrize(
    "whole",
    [b"no json", b"[]", {"content": 7}, {"content": [7, {"type": "tool_use"}]}, {"type": "error"}, {"usage": []}],
)
def test_strange_documents(setting: Setting, whole: Any) -> None:
    setting.answers(whole, [])
    assert setting.ask("/v1/messages", "kimi-k2").status in (200, 502)
    assert setting.ask("/v1/responses", "kimi-r").status in (200, 502)


# With the simulator's own native addresses.


@pytest.fixture(scope="module")
def simulated() -> Iterator[tuple[RunningGateway, SimServer]]:
    with Background() as background:
        simulator = background.start(start(play="strict-walls"))
        root = simulator.url.removesuffix("/v1")
        kimi = {"use": [["Kimi", {"preset": "agent", "host": "moonshot"}]]}
        common = {"transformer": kimi, "models": ["kimi-k2.6-sim"]}
        config = {
            "providers": [
                {**common, "name": "a", "api_base_url": root + "/anthropic", "dialect": "anthropic"},
                {**common, "name": "r", "api_base_url": root + "/v1", "dialect": "responses"},
            ]
        }
        with run_gateway(config) as gateway:
            yield gateway, simulator


TOOL = {"name": "get_weather", "description": "d"}
BAD_SCHEMA = {"type": "object", "properties": {"city": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"const": "x"}}}


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_strict_vendor_refuses_is_mended_in_messages(
    simulated: tuple[RunningGateway, SimServer], stream: bool
) -> None:
    gateway, simulator = simulated
    history = [
        {"role": "user", "content": "What is the weather in Paris?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}]},
    ]
    body = {"model": "a,kimi-k2.6-sim", "max_tokens": 99, "messages": history, "stream": stream}
    body["tools"] = [{**TOOL, "input_schema": BAD_SCHEMA}]
    direct = post(simulator.url.removesuffix("/v1") + "/anthropic/v1/messages", {**body, "model": "kimi-k2.6-sim"})
    assert direct.status == 400
    reply = post(gateway.root + "/v1/messages", body, key=KEY)
    assert reply.status == 200, reply.body
    sent = simulator.vendor.native[-1][1]["messages"][1]["content"]
    assert sent[0] == {"type": "thinking", "thinking": " ", "signature": ""}


@pytest.mark.parametrize("stream", [False, True])
def test_the_same_in_responses(simulated: tuple[RunningGateway, SimServer], stream: bool) -> None:
    gateway, simulator = simulated
    history = [
        {"role": "user", "content": "What is the weather in Paris?"},
        {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
    ]
    body = {"model": "r,kimi-k2.6-sim", "input": history, "stream": stream}
    body["tools"] = [{"type": "function", **TOOL, "parameters": BAD_SCHEMA}]
    assert post(simulator.url + "/responses", {**body, "model": "kimi-k2.6-sim"}).status == 400
    reply = post(gateway.root + "/v1/responses", body, key=KEY)
    assert reply.status == 200, reply.body
    assert simulator.vendor.native[-1][1]["input"][1]["type"] == "reasoning"
