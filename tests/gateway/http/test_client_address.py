from __future__ import annotations

from ipaddress import ip_network

import pytest

from moongate.gateway.http.client_address import MAX_HOPS, ClientAddresses, parse_address

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("::1/128"))
BEHIND = ClientAddresses(TRUSTED)
BEHIND_RFC = ClientAddresses(TRUSTED, "forwarded")


def xff(text: str, peer: str = "10.0.0.1") -> str:
    return BEHIND.of(peer, {b"x-forwarded-for": text.encode()})


def forwarded(text: str) -> str:
    return BEHIND_RFC.of("10.0.0.1", {b"forwarded": text.encode()})


def test_a_client_that_is_no_proxy_cannot_choose_its_address() -> None:
    assert xff("1.1.1.1", peer="9.9.9.9") == "9.9.9.9"
    assert ClientAddresses().of("10.0.0.1", {b"x-forwarded-for": b"1.1.1.1"}) == "10.0.0.1"


@pytest.mark.parametrize(
    ("header", "address"),
    [
        ("1.1.1.1", "1.1.1.1"),
        ("6.6.6.6, 1.1.1.1", "1.1.1.1"),  # the first is the client's own claim
        ("6.6.6.6, 1.1.1.1, 10.2.3.4", "1.1.1.1"),
        ("1.1.1.1:4711", "1.1.1.1"),
        ("[2001:db8:1:2:3::4]:80", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:1.1.1.1", "1.1.1.1"),
        ("", "10.0.0.1"),
        ("unknown", "10.0.0.1"),
        ("1.1.1.1, rubbish", "10.0.0.1"),  # who stands before rubbish is not believed
        ("1.1.1.1, rubbish, 10.2.3.4", "10.2.3.4"),
        ("10.2.3.4, 10.5.6.7", "10.2.3.4"),
        ("1.1.1.1, " + "9" * 100, "10.0.0.1"),
    ],
)
def test_the_last_address_that_no_proxy_has_is_the_client_s(header: str, address: str) -> None:
    assert xff(header) == address


def test_the_number_of_proxies_is_bounded() -> None:
    assert xff("1.1.1.1" + ", 10.0.0.2" * (MAX_HOPS + 5)) == "10.0.0.2"


@pytest.mark.parametrize(
    ("header", "address"),
    [
        ("for=1.1.1.1", "1.1.1.1"),
        ('For="[2001:db8::7]:4711";proto=https', "2001:db8::/64"),
        ("for=6.6.6.6, for=1.1.1.1;by=10.0.0.2, for=10.0.0.9", "1.1.1.1"),
        ("proto=http;for=1.1.1.1;by=6.6.6.6", "1.1.1.1"),
        ("for=_hidden", "10.0.0.1"),
        ("by=6.6.6.6", "10.0.0.1"),
    ],
)
def test_rfc_7239(header: str, address: str) -> None:
    assert forwarded(header) == address


def test_only_the_header_that_the_proxies_write_is_read() -> None:
    """The other one is passed on as the client sent it."""
    headers = {b"x-forwarded-for": b"1.1.1.1", b"forwarded": b"for=2.2.2.2"}
    assert BEHIND.of("10.0.0.1", headers) == "1.1.1.1"
    assert BEHIND_RFC.of("10.0.0.1", headers) == "2.2.2.2"
    assert BEHIND_RFC.of("10.0.0.1", {b"x-forwarded-for": b"1.1.1.1"}) == "10.0.0.1"


def test_a_connection_without_an_address_has_its_own_name() -> None:
    assert BEHIND.of("", {b"x-forwarded-for": b"1.1.1.1"}) == ""
    assert not BEHIND.is_proxy("")
    assert BEHIND.is_proxy("::1")
    assert not ClientAddresses().is_proxy("::1")
    assert not BEHIND.is_trusted(None)


def test_an_interface_does_not_belong_to_an_address() -> None:
    assert str(parse_address("fe80::1%eth0")) == "fe80::1"
