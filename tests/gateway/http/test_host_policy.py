from __future__ import annotations

import pytest

from moongate.errors import BadRequest, Forbidden
from moongate.gateway.http.host_policy import MAX_CACHED, HostPolicy

LOCAL = HostPolicy("127.0.0.1", ["gate.example"])
PUBLIC = HostPolicy("0.0.0.0", [])


@pytest.mark.parametrize(
    "host",
    [
        b"127.0.0.1:3000",
        b"127.0.0.1",
        b"localhost:1",
        b"LOCALHOST",
        b"localhost.",
        b"[::1]:3000",
        b"gate.example",
        b"GATE.example:80",
    ],
)
def test_our_own_names_are_answered(host: bytes) -> None:
    LOCAL.check({b"host": host})
    LOCAL.check({b"host": host})


@pytest.mark.parametrize(
    "host",
    [b"evil.example", b"127.0.0.1.evil.example", b"10.0.0.1", b"gate.example.evil", b"[fe80::1]", b"\xff", b"a:b:c"],
)
def test_a_foreign_host_is_refused(host: bytes) -> None:
    with pytest.raises(Forbidden):
        LOCAL.check({b"host": host})


def test_on_a_public_address_any_ip_address_is_accepted_but_no_other_name() -> None:
    PUBLIC.check({b"host": b"10.1.2.3:3000"})
    PUBLIC.check({b"host": b"[2001:db8::1]:3000"})
    with pytest.raises(Forbidden):
        PUBLIC.check({b"host": b"evil.example"})


def test_no_host_is_a_bad_request() -> None:
    with pytest.raises(BadRequest):
        LOCAL.check({})


@pytest.mark.parametrize(
    "origin", [b"https://evil.example", b"null", b"http://127.0.0.1:9999", b"", b"http://localhost:3000"]
)
def test_a_foreign_origin_is_refused(origin: bytes) -> None:
    with pytest.raises(Forbidden):
        LOCAL.check({b"host": b"127.0.0.1:3000", b"origin": origin})


def test_our_own_origin_is_not() -> None:
    LOCAL.check({b"host": b"127.0.0.1:3000", b"origin": b"http://127.0.0.1:3000"})
    LOCAL.check({b"host": b"gate.example", b"origin": b"https://gate.example"})


def test_the_cache_of_hosts_is_limited() -> None:
    host_policy = HostPolicy("127.0.0.1", [])
    for port in range(MAX_CACHED + 10):
        host_policy.check({b"host": b"localhost:%d" % port})
    assert len(host_policy._accepted) == MAX_CACHED


@pytest.mark.parametrize(
    "host",
    [
        *(
            b"[::1].evil.com",
            b"[::1",
            b"::1",
            b"[::1]x:80",
            b"[127.0.0.1",
            b"127.0.0.1:80@evil.com",
            b"127.0.0.1@evil.com",
        ),
        *(
            b"localhost:80:evil.com",
            b"localhost:evil",
            b"localhost/evil",
            b"evil.com#localhost",
            b"localhost, evil.com",
        ),
        *(
            b"127.0.0.1 evil.com",
            b"127.0.0.1:123456",
            b"[]",
            b":80",
            b"[127.0.0.1]",
            b"localhost..",
            b"127.0.0.1..",
            b".localhost",
            b"localhost:" + b"1" * 60_000,
            b"local\xe9host",
        ),
    ],
)
def test_what_is_no_host_is_refused(host: bytes) -> None:
    for policy in (LOCAL, PUBLIC):
        with pytest.raises(Forbidden):
            policy.check({b"host": host})
        assert host not in policy._accepted


def test_a_browser_that_reports_another_site_is_refused() -> None:
    for site in (b"cross-site", b"Cross-Site", b"cross-site ", b"cross-site, none"):
        with pytest.raises(Forbidden):
            LOCAL.check({b"host": b"localhost", b"sec-fetch-site": site})
    for site in (b"same-origin", b"none"):
        LOCAL.check({b"host": b"localhost", b"sec-fetch-site": site})
