"""Over the wire, on every front: an error says whose key it is about, and an answer says which model it comes from."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from tests.gateway.scripted import Asked, Scripted, chunk
from tests.support.background import Background
from tests.support.front import Front
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import post

WHO = "provider 'moonshot' refused its API key; your moongate key is fine"
EVENTS = {"accept": "text/event-stream"}


async def _refuse(asked: Asked) -> None:
    if asked.json["model"] == "kimi-refused":
        asked.document({"error": {"message": "Invalid Authentication"}}, 401)
    elif asked.json["model"] == "kimi-cut":
        asked.begin_stream()
        asked.send(chunk("Hel"))
        await asked.writer.drain()
        await asyncio.sleep(0.1)  # the status must be sent before the connection ends
        asked.writer.close()
    else:
        asked.document()


@pytest.fixture(scope="module")
def gateway() -> Iterator[RunningGateway]:
    with Background() as background:
        upstream = background.start(Scripted(_refuse).start())
        models = ["kimi-refused", "kimi-cut", {"name": "kimi-k2", "alias": "nick"}, "vendor/kimi"]
        provider = {"name": "moonshot", "api_base_url": upstream.url, "models": models}
        closed = {"name": "closed", "api_base_url": "http://127.0.0.1:9/v1", "models": ["kimi-closed"]}
        unknown = {"name": "unknown", "api_base_url": "http://no-such-host.invalid/v1", "models": ["kimi-nowhere"]}
        config = {
            "providers": [provider, closed, unknown],
            "aliases": {"claude-*": "kimi-k2", "gpt-*": "kimi-refused"},
            "default": "kimi-k2",
            "retries": {"retries": 0},
        }
        with run_gateway(config) as running:
            yield running


def _ids(front: Front) -> str:
    return front.name


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS, ids=_ids)
def test_a_refused_provider_key_is_not_the_client_s(gateway: RunningGateway, front: Front, stream: bool) -> None:
    body = front.request("kimi-refused", front.user("hi"), (), stream=stream)
    reply = post(gateway.root + front.path, body, key=gateway.key)
    assert reply.status == 401
    assert reply.json()["error"]["message"].startswith(WHO)
    assert reply.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("kimi-closed", "provider 'closed' (http://127.0.0.1:9): no connection to the provider: Connection refused"),
        ("kimi-nowhere", "provider 'unknown' (http://no-such-host.invalid): no connection to the provider: its name"),
    ],
)
def test_a_provider_that_cannot_be_reached_is_named(gateway: RunningGateway, model: str, words: str) -> None:
    reply = post(gateway.root + FRONTS[0].path, {"model": model, "messages": []}, key=gateway.key)
    assert reply.status == 502
    assert reply.json()["error"]["message"].startswith(words)
    final = "its name is unknown" in reply.json()["error"]["message"]  # without a name server: it cannot be looked up
    assert reply.headers["x-should-retry"] == ("false" if final else "true")


@pytest.mark.parametrize("front", FRONTS, ids=_ids)
def test_a_stream_that_is_cut_says_by_whom(gateway: RunningGateway, front: Front) -> None:
    reply = post(
        gateway.root + front.path, front.request("kimi-cut", front.user("hi"), (), stream=True), key=gateway.key
    )
    assert reply.status == 200
    answer = front.read(reply.body, stream=True)
    assert answer.error is not None
    assert b"provider 'moonshot' (http://127.0.0.1:" in reply.body


@pytest.mark.parametrize(
    ("model", "key", "words"),
    [
        ("kimi-refused", None, WHO),
        ("moonshot,nothing", None, "The model 'moonshot,nothing' does not exist"),
        ("kimi-k2", "a-wrong-key-of-the-client", "key"),
    ],
)
def test_a_client_of_events_gets_a_final_error_as_an_event(
    gateway: RunningGateway, model: str, key: str | None, words: str
) -> None:
    """Codex would ask five times more after a 401 or 404."""
    error = _final_error(gateway, model, key or gateway.key)
    assert error["code"] == "invalid_prompt"
    assert words in error["message"]


def test_a_client_of_events_is_told_that_nobody_answers_at_the_provider_s_address() -> None:
    """Codex would ask thirty times more after a 502, for 40 seconds."""
    provider = {"name": "closed", "api_base_url": "http://127.0.0.1:9/v1", "models": ["kimi-closed"]}
    with run_gateway({"providers": [provider], "retries": {"backoff": 0}}) as running:
        error = _final_error(running, "kimi-closed", running.key)
    assert error["code"] == "invalid_prompt"
    assert error["message"].startswith("provider 'closed' (http://127.0.0.1:9): no connection to the provider")


def _final_error(gateway: RunningGateway, model: str, key: str) -> dict[str, str]:
    body = {"model": model, "input": "hi", "stream": True}
    reply = post(gateway.root + "/v1/responses", body, key=key, headers=EVENTS)
    assert reply.status == 200
    last = json.loads(reply.body.decode().strip().rpartition("data: ")[2])
    assert last["type"] == "response.failed"
    error: dict[str, str] = last["response"]["error"]
    return error


@pytest.mark.parametrize(
    ("asked", "header"),
    [
        ("kimi-k2", None),
        ("moonshot,kimi-k2", None),
        ("moonshot/kimi-k2", None),
        ("nick", "nick -> moonshot,kimi-k2"),
        ("claude-opus-5", "claude-opus-5 -> moonshot,kimi-k2"),
        ("anything\r\nx: y é", "anything??x: y ? -> moonshot,kimi-k2"),
        ("z" * 300, "z" * 200 + " -> moonshot,kimi-k2"),
    ],
)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_an_answer_of_another_model_says_so(
    gateway: RunningGateway, asked: str, header: str | None, stream: bool
) -> None:
    body = {"model": asked, "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    reply = post(gateway.root + FRONTS[0].path, body, key=gateway.key)
    assert reply.status == 200
    assert reply.headers.get("x-moongate-model") == header
    assert "x" not in reply.headers


@pytest.mark.parametrize("accept", [{}, EVENTS], ids=["status", "event"])
def test_an_error_of_another_model_says_so(gateway: RunningGateway, accept: dict[str, str]) -> None:
    body = {"model": "gpt-5", "input": "hi", "stream": True}
    reply = post(gateway.root + "/v1/responses", body, key=gateway.key, headers=accept)
    assert reply.status == (200 if accept else 401)
    assert WHO in reply.body.decode()
    assert reply.headers["x-moongate-model"] == "gpt-5 -> moonshot,kimi-refused"
