"""Limits, retries and fallbacks over real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.gateway.scripted import Asked, Scripted, forever, whole
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, get, post

TIMEOUT = 60.0
PATH = "/v1/chat/completions"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    with Background() as running:
        yield running


@pytest.fixture
def first(background: Background) -> Scripted:
    return background.start(Scripted().start())


@pytest.fixture
def second(background: Background) -> Scripted:
    return background.start(Scripted().start())


def provider(name: str, upstream: Scripted, **more: Any) -> dict[str, Any]:
    return {"name": name, "api_base_url": upstream.url, "models": ["m"], **more}


def ask(gateway: RunningGateway, model: str = "m", *, stream: bool = False) -> Reply:
    return post(gateway.root + PATH, ASK | {"model": model, "stream": stream}, key=KEY)


def waiting(gateway: RunningGateway, key: str = KEY) -> socket.socket:
    """A request that is in flight until the socket is closed."""
    host, port = gateway.root.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)), timeout=TIMEOUT)
    body = json.dumps(ASK | {"model": "m"}).encode()
    head = f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\ncontent-length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


def until(condition: Any) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_beyond_the_limit_of_requests_in_flight_is_a_503(first: Scripted) -> None:
    first.play = forever
    with run_gateway({"providers": [provider("a", first)], "limits": {"in_flight": 2}}) as gateway:
        with contextlib.closing(waiting(gateway)), contextlib.closing(waiting(gateway)):
            until(lambda: len(first.seen) == 2)
            reply = ask(gateway)
            assert reply.status == 503
            assert reply.headers["retry-after"] == "1"
            assert reply.headers["x-should-retry"] == "true"
            assert get(gateway.root + "/health").status == 200
        until(lambda: not gateway.app.active_requests)
        first.play = whole
        assert ask(gateway).status == 200
    assert len(first.seen) == 3


def slow_request(gateway: RunningGateway, path: str = PATH, body: bytes = b"") -> socket.socket:
    """A request whose body is never complete."""
    host, port = gateway.root.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)), timeout=TIMEOUT)
    head = f"POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\ncontent-length: 1000\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


@pytest.mark.parametrize("body", [b"", b"{"])
def test_slow_senders_do_not_use_up_slots(first: Scripted, body: bytes) -> None:
    first.play = whole
    with run_gateway({"providers": [provider("a", first)], "limits": {"in_flight": 1}}) as gateway:
        slow = [slow_request(gateway, path, body) for path in (PATH, "/v1/messages", "/v1/messages/count_tokens")]
        until(lambda: len(gateway.app.active_requests) == 3)
        assert ask(gateway).status == 200
        first.play = forever
        with contextlib.closing(waiting(gateway)):
            until(lambda: len(first.seen) == 2)
            slow[0].sendall(json.dumps(ASK | {"model": "m"}).encode().ljust(1000)[len(body) :])
            assert slow[0].recv(1000).startswith(b"HTTP/1.1 503 ")
        for client in slow:
            client.close()
        until(lambda: not gateway.app.active_requests)
        first.play = whole
        assert ask(gateway).status == 200


def test_a_page_does_not_read_a_body_that_it_does_not_need(first: Scripted) -> None:
    with (
        run_gateway({"providers": [provider("a", first)]}) as gateway,
        contextlib.closing(slow_request(gateway, "/health")) as client,
    ):
        assert client.recv(1000).startswith(b"HTTP/1.1 405 ")


def test_a_client_key_has_its_own_limits(first: Scripted) -> None:
    keys = [{"key": KEY, "concurrency": 1}, {"key": "other-client-key", "rate": 2}]
    first.play = forever
    with run_gateway({"providers": [provider("a", first)], "api_keys": keys}) as gateway:
        with contextlib.closing(waiting(gateway)):
            until(lambda: len(first.seen) == 1)
            reply = ask(gateway)
            assert (reply.status, reply.json()["error"]["code"]) == (429, "concurrency_limit")
        first.play = whole
        url = gateway.root + PATH
        replies = [post(url, ASK | {"model": "m"}, key="other-client-key") for _ in range(3)]
        assert [reply.status for reply in replies] == [200, 200, 429]
        assert replies[2].json()["error"]["type"] == "rate_limit_error"
        assert 1 <= int(replies[2].headers["retry-after"]) <= 30
        assert (replies[2].headers["ratelimit-limit"], replies[2].headers["ratelimit-remaining"]) == ("2", "0")


def test_counting_tokens_is_limited_like_a_completion(first: Scripted) -> None:
    keys = [{"key": KEY, "concurrency": 1}, {"key": "other-client-key"}, {"key": "third-client-key", "rate": 1}]
    first.play = forever
    with run_gateway({"providers": [provider("a", first)], "api_keys": keys, "limits": {"in_flight": 2}}) as gateway:

        def count(key: str) -> Reply:
            return post(f"{gateway.root}/v1/messages/count_tokens", ASK | {"model": "m"}, key=key)

        with contextlib.closing(waiting(gateway)):
            until(lambda: len(first.seen) == 1)
            assert count(KEY).status == 429
            assert count("other-client-key").status == 200
            with contextlib.closing(waiting(gateway, "other-client-key")):
                until(lambda: len(first.seen) == 2)
                reply = count("other-client-key")
                assert (reply.status, reply.headers["retry-after"]) == (503, "1")
        until(lambda: not gateway.app.active_requests)
        assert [count("third-client-key").status for _ in range(2)] == [200, 429]
        assert count(KEY).status == 200
        assert "moongate_requests_in_flight 0\n" in get(gateway.root + "/metrics", key=KEY).body.decode()


@pytest.mark.parametrize("stream", [True, False])
def test_a_temporary_failure_is_retried(first: Scripted, stream: bool) -> None:
    async def third_time_lucky(asked: Asked) -> None:
        if asked.number == 1:
            asked.document({"error": {"message": "busy"}}, 503)
        elif asked.number == 2:
            asked.writer.write(b"HTTP/1.1 200 OK\r\n")
            asked.writer.close()
        else:
            await whole(asked)

    first.play = third_time_lucky
    with run_gateway({"providers": [provider("a", first)], "retries": {"backoff": 0}}) as gateway:
        assert ask(gateway, stream=stream).status == 200
        text = get(gateway.root + "/metrics", key=KEY).body.decode()
    assert [asked.number for asked in first.seen] == [1, 2, 3]
    assert 'outcome="503"} 1\n' in text
    assert 'outcome="cut"} 1\n' in text
    assert 'outcome="ok"} 1\n' in text


def test_three_attempts_are_enough(first: Scripted) -> None:
    async def busy(asked: Asked) -> None:
        asked.document({"error": {"message": "busy"}}, 500)

    first.play = busy
    with run_gateway({"providers": [provider("a", first)], "retries": {"backoff": 0}}) as gateway:
        reply = ask(gateway)
    assert reply.status == 500
    assert reply.json()["error"]["message"].endswith("answered with status 500: busy")
    assert len(first.seen) == 3


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "bad"), (401, "bad key"), (429, "You exceeded your current quota"), (429, "come back after 55 seconds")],
)
def test_errors_that_a_retry_cannot_fix_are_final(first: Scripted, status: int, message: str) -> None:
    async def refuse(asked: Asked) -> None:
        asked.document({"error": {"message": message}}, status)

    first.play = refuse
    with run_gateway({"providers": [provider("a", first)], "retries": {"backoff": 0}}) as gateway:
        reply = ask(gateway)
    assert reply.status == status
    assert reply.json()["error"]["message"].endswith(message)  # behind what the gateway says about the provider
    assert reply.headers["x-should-retry"] == ("true" if "after" in message else "false")
    assert reply.headers.get("retry-after") == ("55" if "after" in message else None)
    assert len(first.seen) == 1


def test_a_fallback_uses_its_own_model_and_chain(first: Scripted, second: Scripted) -> None:
    async def gone(asked: Asked) -> None:
        asked.writer.close()

    first.play = gone
    providers = [
        provider("a", first, models=[{"name": "m", "fallback": "b,other"}]),
        provider("b", second, models=["other"], transformer={"use": ["Kimi"]}),
    ]
    with run_gateway({"providers": providers, "retries": {"backoff": 0}}) as gateway:
        assert ask(gateway).status == 200
        assert (len(first.seen), len(second.seen)) == (2, 1)
        assert second.seen[0].json["model"] == "other"
        # Five failures in a row: the first target is left alone.
        for _ in range(3):
            assert ask(gateway).status == 200
        before = len(first.seen)
        assert ask(gateway).status == 200
        text = get(gateway.root + "/metrics", key=KEY).body.decode()
    assert len(first.seen) == before
    assert 'moongate_cool_downs_total{provider="a",model="m"} 1\n' in text


def test_a_rate_limited_key_is_replaced_by_the_next(first: Scripted) -> None:
    async def limited(asked: Asked) -> None:
        if asked.header("authorization") == "bearer key-one":
            asked.document({"error": {"message": "slow down"}}, 429, retry_after="50")
        else:
            await whole(asked)

    first.play = limited
    providers = [provider("a", first, api_key=["key-one", "key-two"])]
    with run_gateway({"providers": providers, "retries": {"backoff": 0}}) as gateway:
        assert [ask(gateway).status for _ in range(4)] == [200] * 4
    used = [asked.header("authorization") for asked in first.seen]
    assert used.count("bearer key-one") == 1


def test_keys_have_their_own_concurrency(first: Scripted) -> None:
    first.play = forever
    keys = [{"key": "key-one", "concurrency": 1}, {"key": "key-two", "concurrency": 1}]
    with (
        run_gateway({"providers": [provider("a", first, api_key=keys)], "retries": {"retries": 0}}) as gateway,
        contextlib.closing(waiting(gateway)),
        contextlib.closing(waiting(gateway)),
    ):
        until(lambda: len(first.seen) == 2)
        assert ask(gateway).status == 429
    assert len({asked.header("authorization") for asked in first.seen}) == 2
