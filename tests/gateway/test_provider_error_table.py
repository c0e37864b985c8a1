"""Every error of a provider, on every front: who it was, where, what to do, and whether Codex asks again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.front import Front
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import post


@dataclass(frozen=True)
class Case:
    name: str
    status: int  # of the provider's answer; 0: none
    body: bytes
    shown: int  # the status that the client gets
    words: str  # what to do
    final: bool  # nothing gets better by asking again


CASES = [
    Case(
        "key", 401, b'{"error": {"message": "no"}}', 401, "Correct api_key of provider 'key' (http://127.0.0.1:", True
    ),
    Case("rights", 403, b'{"error": {"message": "no"}}', 403, "See there what the key may use. It said: no", True),
    Case("unknown", 404, b'{"error": {"message": "no"}}', 404, "does not know the model 'unknown'", True),
    Case("silent", 404, b"", 404, "or its api_base_url is wrong: correct the configuration", True),
    Case("quota", 429, b'{"error": {"message": "exceeded current quota"}}', 429, "add credit there", True),
    Case("credit", 402, b'{"error": {"message": "Insufficient credits"}}', 402, "add credit there", True),
    Case("rate", 429, b'{"error": {"message": "slow down"}}', 429, "limits the rate of its API key: try again", False),
    Case("broken", 500, b'{"error": {"message": "boom"}}', 500, "answered with status 500: boom", False),
    Case("moved", 301, b"", 502, "is not followed; correct its api_base_url", True),
    Case("page", 200, b"<html>Welcome</html>", 502, "a web page (text/html); correct its api_base_url", True),
    Case("late", 0, b"", 504, "in time; try again, or raise timeouts.", False),
    Case("refused", 0, b"", 502, "no connection to the provider: Connection refused; is it running", False),
    Case("no-tls", 0, b"", 502, "without TLS; correct its api_base_url: http instead of https?", True),
]
BY_NAME = {case.name: case for case in CASES}


async def _play(asked: Asked) -> None:
    case = BY_NAME[asked.json["model"]]
    if case.name == "late":
        await asyncio.sleep(5)
        return
    kind = "text/html" if case.body.startswith(b"<") else "application/json"
    head = f"HTTP/1.1 {case.status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(case.body)}\r\n\r\n"
    asked.writer.write(head.encode() + case.body)


class PlainServer:
    """Speaks no TLS."""

    async def start(self) -> PlainServer:
        self._server = await asyncio.start_server(_refuse_tls, "127.0.0.1", 0)
        self.url = f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def stop(self) -> None:
        self._server.close()


async def _refuse_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What a server of plain HTTP does with the first bytes of TLS."""
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    writer.close()


@pytest.fixture(scope="module")
def gateways() -> Iterator[dict[str, RunningGateway]]:
    """By the name of the case: only the late one has a gateway that does not wait."""
    with Background() as background:
        upstream = background.start(Scripted(_play).start())
        addresses = {"refused": "http://127.0.0.1:9/v1", "no-tls": background.start(PlainServer().start()).url}
        providers = [
            {"name": name, "api_base_url": addresses.get(name, upstream.url), "models": [name]} for name in BY_NAME
        ]
        config = {
            "providers": providers,
            "retries": {"retries": 0},
        }
        impatient = {**config, "timeouts": {"head": 0.3, "first_event": 0.3, "silence": 0.3}}
        with run_gateway(config) as running, run_gateway(impatient) as late:
            yield {case.name: late if case.name == "late" else running for case in CASES}


def _ids(value: object) -> str:
    return str(value.name if isinstance(value, Case) else getattr(value, "name", value))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS, ids=_ids)
@pytest.mark.parametrize("case", CASES, ids=_ids)
def test_every_front_says_who_and_what_to_do(
    gateways: dict[str, RunningGateway], case: Case, front: Front, stream: bool
) -> None:
    gateway = gateways[case.name]
    body = front.request(case.name, front.user("hi"), (), stream=stream)
    reply = post(gateway.root + front.path, body, key=gateway.key)
    message = reply.json()["error"]["message"]
    assert message.startswith(f"provider '{case.name}' ")
    assert "//127.0.0.1:" in message
    assert case.words in message
    # Claude Code shows words of its own for a 404.
    assert reply.status == (400 if front.name == "messages" and case.shown == 404 else case.shown)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_native_provider_with_a_wrong_address(stream: bool) -> None:
    page = BY_NAME["page"]
    with Background() as background:
        upstream = background.start(Scripted(_play).start())
        provider = {"name": "p", "api_base_url": upstream.url, "models": [page.name], "dialect": "anthropic"}
        with run_gateway({"providers": [provider]}) as gateway:
            body = {"model": page.name, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
            reply = post(gateway.root + "/v1/messages", {**body, "stream": stream}, key=gateway.key)
    assert page.words in reply.json()["error"]["message"]
    assert reply.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("case", CASES, ids=_ids)
def test_codex_gets_it_as_an_event_that_says_whether_to_ask_again(
    gateways: dict[str, RunningGateway], case: Case
) -> None:
    gateway = gateways[case.name]
    body = {"model": case.name, "input": "hi", "stream": True}
    reply = post(gateway.root + "/v1/responses", body, key=gateway.key, headers={"accept": "text/event-stream"})
    last = json.loads(reply.body.decode().strip().rpartition("data: ")[2])
    assert (reply.status, last["type"]) == (200, "response.failed")
    error = last["response"]["error"]
    assert case.words in error["message"]
    assert (error["code"] == "invalid_prompt") == case.final
