"""The messages front over real sockets, asked by the official SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from tests.gateway.scripted import Asked, Play, Scripted
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway

RECORDED = Path(__file__).parents[1] / "dialects" / "recordings" / "claude_code.json"
MODEL = "kimi-k2.5"
HI: list[Any] = [{"role": "user", "content": "hi"}]
USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "cached_tokens": 5}
TOOLS: list[Any] = [{"name": name, "input_schema": {"type": "object"}} for name in ("ls", "cat")]


@dataclass(frozen=True, slots=True)
class Stage:
    gateway: RunningGateway
    provider: Scripted

    def plays(self, play: Play) -> Scripted:
        """Set the provider's answers."""
        self.provider.seen.clear()
        self.provider.play = play
        return self.provider

    def client(self, **options: Any) -> anthropic.Anthropic:
        return anthropic.Anthropic(
            base_url=self.gateway.root, **{"api_key": self.gateway.key, "max_retries": 0, **options}
        )

    def post(self, body: Any, path: str = "/v1/messages", **headers: str) -> httpx2.Response:
        headers = headers or {"x-api-key": self.gateway.key}
        return httpx2.post(self.gateway.root + path, json=body, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Background() as background:
        provider = background.start(Scripted().start())
        config = {
            "name": "p",
            "api_base_url": provider.url,
            "models": [MODEL],
            "transformer": {"use": [["Kimi", {"preset": "agent"}]]},
        }
        with run_gateway({"providers": [config], "retries": {"backoff": 0, "obey": 0}}) as gateway:
            yield Stage(gateway, provider)


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "chatcmpl-1", "created": 1, "choices": [choice], **more}).encode() + b"\n\n"


def call(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **more, "function": {**more.pop("function", {}), "arguments": arguments}}]}


STREAM = [
    event({"role": "assistant", "reasoning_content": "hm"}),
    event({"reasoning_content": ", well"}),
    event({"content": "I "}),
    event({"content": "look."}),
    event(call(0, "", id="call_1", function={"name": "ls"})),
    event(call(0, '{"path":')),
    event(call(1, "{}", id="call_2", function={"name": "cat"})),
    event(call(0, '"/"}')),
    event({}, "tool_calls", usage=USAGE),
    b"data: [DONE]\n\n",
]
WHOLE = {
    "id": "chatcmpl-1",
    "created": 1,
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "reasoning_content": "hm, well",
                "content": "I look.",
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path":"/"}'}},
                    {"id": "call_2", "type": "function", "function": {"name": "cat", "arguments": "{}"}},
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": USAGE,
}


async def streams(asked: Asked) -> None:
    asked.begin_stream()
    for data in STREAM:
        asked.send(data)
    asked.end_stream()


async def answers(asked: Asked) -> None:
    asked.document(WHOLE)


async def breaks_off(asked: Asked) -> None:
    asked.begin_stream()
    for data in STREAM[:4]:
        asked.send(data)
    await asked.writer.drain()
    asked.writer.transport.abort()


def refuses(status: int, message: str, **headers: str) -> Play:
    async def play(asked: Asked) -> None:
        asked.document({"error": {"message": message, "type": "invalid_request_error"}}, status, **headers)

    return play


def test_the_stream_builds_the_whole_answer(stage: Stage) -> None:
    with stage.client() as client:
        stage.plays(answers)
        whole = client.messages.create(model=MODEL, max_tokens=9, messages=HI, tools=TOOLS).to_dict()
        stage.plays(streams)
        with client.messages.stream(model=MODEL, max_tokens=9, messages=HI, tools=TOOLS) as stream:
            streamed = stream.get_final_message().to_dict()
    streamed.pop("stop_details", None)
    assert streamed == whole
    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "tool_use", "tool_use"]  # type: ignore[attr-defined]
    assert [block["id"] for block in whole["content"][2:]] == ["functions--ls--0", "functions--cat--1"]  # type: ignore[index]
    assert whole["usage"] == {
        "input_tokens": 15,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5,
        "output_tokens": 7,
    }


def test_the_provider_sees_its_own_ids_and_thoughts_again(stage: Stage) -> None:
    provider = stage.plays(answers)
    with stage.client() as client:
        first = client.messages.create(model=MODEL, max_tokens=9, messages=HI, tools=TOOLS)
        uses = [block for block in first.content if block.type == "tool_use"]
        results: list[Any] = [
            {"type": "tool_result", "tool_use_id": use.id, "content": use.name} for use in reversed(uses)
        ]
        messages: list[Any] = [
            *HI,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": results},
        ]
        client.messages.create(model=MODEL, max_tokens=9, messages=messages, tools=TOOLS)
    sent = provider.seen[-1].json["messages"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["functions.ls:0", "functions.cat:1"]
    assert sent[1]["reasoning_content"] == "hm, well"
    assert [(m["tool_call_id"], m["content"]) for m in sent[2:]] == [
        ("functions.ls:0", "ls"),
        ("functions.cat:1", "cat"),
    ]


def test_images_reach_the_provider(stage: Stage) -> None:
    provider = stage.plays(answers)
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    content: list[Any] = [{"type": "text", "text": "what?"}, {"type": "image", "source": source}]
    with stage.client() as client:
        client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": content}])
    assert provider.seen[-1].json["messages"][0]["content"] == [
        {"type": "text", "text": "what?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]


def test_claude_codes_own_request(stage: Stage) -> None:
    provider = stage.plays(streams)
    body = {**json.loads(RECORDED.read_text(encoding="utf-8"))["body"], "model": MODEL}
    headers = {
        "authorization": f"Bearer {stage.gateway.key}",
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "claude-code-20250219,something-new-2027-01-01",
    }
    reply = stage.post(body, "/v1/messages?beta=true", **headers)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.startswith("event: message_start\n")
    assert reply.text.endswith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    assert [message["role"] for message in provider.seen[-1].json["messages"]] == ["system", "user", "system"]


def test_errors_in_anthropics_shape(stage: Stage) -> None:
    stage.plays(answers)
    body = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": 3}]}
    with stage.client() as client:
        with pytest.raises(anthropic.BadRequestError, match=r"messages\[0\]\.content"):
            client.messages.create(**body)  # type: ignore[call-overload]
        with pytest.raises(anthropic.NotFoundError):
            client.messages.create(model="no-such-model", max_tokens=9, messages=HI)
    with stage.client(api_key="wrong") as client, pytest.raises(anthropic.AuthenticationError) as caught:
        client.messages.create(model=MODEL, max_tokens=9, messages=HI)
    assert caught.value.body["type"] == "error"  # type: ignore[index]
    assert caught.value.body["error"]["type"] == "authentication_error"  # type: ignore[index]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_prompt_that_is_too_long_makes_agents_compact(stage: Stage, streamed: bool) -> None:
    words = "This model's maximum context length is 1000 tokens. However, you requested 2000 tokens"
    stage.plays(refuses(422, words))
    reply = stage.post({"model": MODEL, "max_tokens": 9, "messages": HI, "stream": streamed})
    assert reply.status_code == 400
    error = {"type": "invalid_request_error", "message": "prompt is too long: 2000 tokens > 1000 maximum"}
    assert reply.json() == {"type": "error", "error": error}


def test_a_refusal_keeps_its_status_and_retry_after(stage: Stage) -> None:
    stage.plays(refuses(429, "slow down", retry_after="7"))
    with stage.client() as client, pytest.raises(anthropic.RateLimitError, match="slow down") as caught:
        client.messages.create(model=MODEL, max_tokens=9, messages=HI)
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.type == "rate_limit_error"


def test_a_stream_that_is_cut_is_an_error_and_never_a_stop(stage: Stage) -> None:
    stage.plays(breaks_off)
    with stage.client() as client, pytest.raises(anthropic.APIStatusError) as caught:
        for _ in client.messages.create(model=MODEL, max_tokens=9, messages=HI, stream=True):
            pass
    assert caught.value.body["type"] == "error"  # type: ignore[index]
    reply = stage.post({"model": MODEL, "max_tokens": 9, "messages": HI, "stream": True})
    if reply.status_code == 200:  # it may have broken before anything was sent on
        assert reply.text.count("event: error\n") == 1
        assert "message_stop" not in reply.text


def test_tokens_are_counted_here(stage: Stage) -> None:
    provider = stage.plays(answers)
    with stage.client() as client:
        small = client.messages.count_tokens(model=MODEL, messages=HI)
        large = client.messages.count_tokens(model=MODEL, messages=HI, system="word " * 500, tools=TOOLS)
    assert 0 < small.input_tokens < 20
    assert 450 < large.input_tokens < 750
    assert provider.seen == []


def test_models_in_anthropics_shape(stage: Stage) -> None:
    with stage.client() as client:
        assert [model.id for model in client.models.list()] == [MODEL]
        assert client.models.retrieve(MODEL).display_name == MODEL


def test_the_root_answers(stage: Stage) -> None:
    assert httpx2.get(stage.gateway.root + "/").status_code == 200
    assert httpx2.head(stage.gateway.root + "/").status_code == 200
