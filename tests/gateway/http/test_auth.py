from __future__ import annotations

import pytest

from moongate.errors import Unauthorized
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.http.auth import ClientAuth
from moongate.gateway.limits.limit_set import LimitSet, Refusal
from moongate.gateway.limits.limiter import Limiter

KEYS = (ClientKey(key="first-key", name="laptop"), ClientKey(key="second-key"))


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({b"authorization": b"Bearer first-key"}, "laptop"),
        ({b"authorization": b"bearer  first-key "}, "laptop"),
        ({b"x-api-key": b"second-key"}, "key2"),
        ({b"authorization": b"Bearer wrong", b"x-api-key": b"second-key"}, "key2"),
        ({b"authorization": b"Basic abc", b"x-api-key": b"first-key"}, "laptop"),
    ],
)
def test_a_known_key_is_accepted(headers: dict[bytes, bytes], name: str) -> None:
    assert ClientAuth(KEYS).authenticate(headers).name == name


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"authorization": b"Bearer wrong"},
        {b"authorization": b"first-key"},
        {b"authorization": b"Bearer "},
        {b"x-api-key": b""},
        {b"x-api-key": b"first-ke"},
    ],
)
def test_anything_else_is_refused(headers: dict[bytes, bytes]) -> None:
    with pytest.raises(Unauthorized) as caught:
        ClientAuth(KEYS).authenticate(headers)
    assert "first-key" not in str(caught.value)
    assert caught.value.code == "invalid_api_key"


def test_without_keys_all_requests_belong_to_one_client() -> None:
    auth = ClientAuth(None)
    assert auth.authenticate({}) is auth.authenticate({b"authorization": b"Bearer anything"})


def test_an_empty_list_of_keys_accepts_nobody() -> None:
    with pytest.raises(Unauthorized):
        ClientAuth(()).authenticate({b"authorization": b"Bearer "})


def test_a_key_has_the_limits_of_its_configuration() -> None:
    limiter = Limiter()
    auth = ClientAuth((ClientKey(key="k", rate=2, concurrency=3), ClientKey(key="free")), limiter)
    limited, free = (auth.authenticate({b"x-api-key": key}) for key in (b"k", b"free"))
    assert [account.limits for account in limited.accounts] == [LimitSet(rpm=2, concurrency=3)]
    results = [limiter.admit(limited.accounts) for _ in range(3)]
    assert [isinstance(each, Refusal) for each in results] == [False, False, True]
    assert not any(isinstance(limiter.admit(free.accounts), Refusal) for _ in range(9))


def test_a_header_that_is_padded_with_blanks_is_not_cached() -> None:
    auth = ClientAuth(KEYS)
    for blanks in range(500, 60_000, 5_000):
        auth.authenticate({b"authorization": b"Bearer " + b" " * blanks + b"first-key"})
    assert not auth._by_header


def test_an_accepted_header_is_cached_and_a_refused_one_is_not() -> None:
    auth = ClientAuth(KEYS, max_cached=1)
    for _ in range(2):
        for headers in (b"Bearer first-key", b"Bearer second-key"):
            assert auth.authenticate({b"authorization": headers}) is auth.authenticate({b"authorization": headers})
        with pytest.raises(Unauthorized):
            auth.authenticate({b"authorization": b"Bearer third-key"})
