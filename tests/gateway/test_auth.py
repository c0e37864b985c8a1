from __future__ import annotations

import pytest

from moongate.errors import TooManyRequests, Unauthorized
from moongate.gateway import auth
from moongate.gateway.auth import Client, Doorkeeper
from moongate.gateway.config.settings import ClientKey

KEYS = (ClientKey(key="first-key", name="laptop"), ClientKey(key="second-key"))


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ({b"authorization": b"Bearer first-key"}, "laptop"),
        ({b"authorization": b"bearer  first-key "}, "laptop"),
        ({b"x-api-key": b"second-key"}, "key2"),
        ({b"authorization": b"Bearer wrong", b"x-api-key": b"second-key"}, "key2"),
        ({b"authorization": b"Basic abc", b"x-api-key": b"first-key"}, "laptop"),
    ],
)
def test_a_known_key_comes_in(head: dict[bytes, bytes], name: str) -> None:
    assert Doorkeeper(KEYS).admit(head).name == name


@pytest.mark.parametrize(
    "head",
    [
        {},
        {b"authorization": b"Bearer wrong"},
        {b"authorization": b"first-key"},
        {b"authorization": b"Bearer "},
        {b"x-api-key": b""},
        {b"x-api-key": b"first-ke"},
    ],
)
def test_anything_else_does_not(head: dict[bytes, bytes]) -> None:
    with pytest.raises(Unauthorized) as caught:
        Doorkeeper(KEYS).admit(head)
    assert "first-key" not in str(caught.value)
    assert caught.value.code == "invalid_api_key"


def test_without_keys_everybody_is_the_same_client() -> None:
    door = Doorkeeper(None)
    assert door.admit({}) is door.admit({b"authorization": b"Bearer anything"})


def test_no_key_at_all_lets_nobody_in() -> None:
    with pytest.raises(Unauthorized):
        Doorkeeper(()).admit({b"authorization": b"Bearer "})


def test_concurrency_has_a_limit() -> None:
    client = Client(ClientKey(key="k", concurrency=2), number=1)
    client.enter(0)
    client.enter(0)
    with pytest.raises(TooManyRequests) as caught:
        client.enter(0)
    assert caught.value.retry_after == 1
    client.leave()
    client.enter(0)
    assert client.in_flight == 2


def test_the_rate_has_a_limit_and_says_when_to_come_back() -> None:
    client = Client(ClientKey(key="k", rate=2), number=1)
    client.enter(100.0)
    client.enter(100.0)
    with pytest.raises(TooManyRequests) as caught:
        client.enter(100.0)
    assert caught.value.retry_after == 30
    assert client.in_flight == 2
    client.enter(130.0)
    with pytest.raises(TooManyRequests):
        client.enter(130.0)


def test_workers_share_a_rate() -> None:
    client = Client(ClientKey(key="k", rate=4), number=1, workers=2)
    client.enter(0.0)
    client.enter(0.0)
    with pytest.raises(TooManyRequests):
        client.enter(0.0)


def test_a_good_header_is_remembered_and_a_bad_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MAX_ADMITTED", 1)
    door = Doorkeeper(KEYS)
    for _ in range(2):
        for head in (b"Bearer first-key", b"Bearer second-key"):
            assert door.admit({b"authorization": head}) is door.admit({b"authorization": head})
        with pytest.raises(Unauthorized):
            door.admit({b"authorization": b"Bearer third-key"})
