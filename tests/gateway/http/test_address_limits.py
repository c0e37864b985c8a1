from __future__ import annotations

from ipaddress import ip_network

import pytest

from moongate.errors import TooManyRequests, Unauthorized
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.http.address_limits import (
    MAX_ACCEPTED,
    MAX_ADDRESSES,
    AddressAuth,
    ForwardedRequests,
    WrongClientKeys,
)
from moongate.gateway.http.auth import ClientAuth
from moongate.gateway.http.client_address import ClientAddresses

RIGHT, OTHER = "a-right-key-of-a-client", "another-right-key-of-it"
SECOND = 1_000_000_000


class Clients:
    """Requests from anywhere, at a time of the test's own."""

    def __init__(self, limit: int = 3, trusted: str = "") -> None:
        self.now = 10**12
        self.messages: list[str] = []
        self.wrong_keys = WrongClientKeys(lambda: self.now, self.messages.append)
        addresses = ClientAddresses((ip_network(trusted),) if trusted else ())
        auth = ClientAuth([ClientKey(key=RIGHT, name="right"), ClientKey(key=OTHER, name="other")])
        self._auth = AddressAuth(auth, self.wrong_keys, addresses, limit)
        self.peer = ""

    def ask(self, key: str, peer: str = "1.1.1.1", **headers: str) -> str:
        """How a request is answered: the client's name, or a status."""
        self.peer = peer
        found = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
        if key:
            found[b"authorization"] = b"Bearer " + key.encode()
        try:
            return self._auth.authenticate(found, self).name
        except (Unauthorized, TooManyRequests) as error:
            self.wait = error.retry_after
            return str(error.status)


def test_keys_of_an_address_are_not_looked_at_after_too_many_wrong_ones() -> None:
    clients = Clients(limit=3)
    assert [clients.ask(f"wrong-{number}") for number in range(5)] == ["401", "401", "401", "429", "429"]
    assert clients.wait == 20
    assert clients.ask(RIGHT) == "429"  # a guess that is right, too
    assert clients.ask(RIGHT, peer="2.2.2.2") == "right"
    clients.now += 20 * SECOND
    assert clients.ask(RIGHT) == "right"
    assert clients.messages == ["1.1.1.1 has sent 3 wrong client keys within a minute; further ones are not read"]


def test_who_shares_an_address_with_an_attacker_is_not_shut_out() -> None:
    clients = Clients(limit=3)
    clients.ask("wrong")
    assert clients.ask(RIGHT) == "right"
    for number in range(10):
        clients.ask(f"wrong-{number}")
    assert clients.ask(RIGHT) == "right"
    assert clients.ask(OTHER) == "429"


def test_requests_without_a_key_are_no_guesses() -> None:
    clients = Clients(limit=1)
    assert [clients.ask("") for _ in range(5)] == ["401"] * 5
    assert not clients.wrong_keys
    clients.ask("wrong")
    assert [clients.ask("") for _ in range(5)] == ["401"] * 5


def test_x_api_key_counts_as_well() -> None:
    clients = Clients(limit=1)
    assert clients.ask("", x_api_key="wrong") == "401"
    assert clients.ask("", x_api_key=RIGHT) == "429"


def test_everybody_behind_one_proxy_is_not_one_address() -> None:
    clients = Clients(limit=1, trusted="10.0.0.0/8")
    assert clients.ask("wrong", peer="10.0.0.1", x_forwarded_for="1.1.1.1") == "401"
    assert clients.ask("wrong", peer="10.0.0.1", x_forwarded_for="1.1.1.1") == "429"
    assert clients.ask("wrong", peer="10.0.0.1", x_forwarded_for="2.2.2.2") == "401"
    # A client that claims another address changes nothing.
    assert clients.ask("wrong", peer="10.0.0.1", x_forwarded_for="3.3.3.3, 1.1.1.1") == "429"
    assert clients.ask("wrong", peer="4.4.4.4", x_forwarded_for="5.5.5.5") == "401"
    assert clients.ask("wrong", peer="4.4.4.4", x_forwarded_for="6.6.6.6") == "429"


def test_no_limit() -> None:
    clients = Clients(limit=0)
    assert [clients.ask("wrong") for _ in range(100)] == ["401"] * 100


def test_what_is_remembered_is_bounded() -> None:
    clients = Clients(limit=1)
    for number in range(MAX_ADDRESSES + 10):
        clients.ask("wrong", peer=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(clients.wrong_keys._by_address) == MAX_ADDRESSES
    assert clients.ask("wrong", peer="10.0.0.0") == "401"  # the oldest was dropped
    assert len(clients.messages) == 1  # in a minute
    for number in range(MAX_ACCEPTED + 5):
        clients.wrong_keys.accept("10.0.0.0", b"%d" % number)
    assert len(clients.wrong_keys._by_address["10.0.0.0"].accepted) == MAX_ACCEPTED
    clients.wrong_keys.accept("nobody", b"1")


def test_forwarded_requests_are_counted_by_address() -> None:
    requests = ForwardedRequests()
    requests.enter("a", 2)
    requests.enter("a", 2)
    with pytest.raises(TooManyRequests, match="Too many requests at the same time from this address"):
        requests.enter("a", 2)
    requests.enter("b", 2)
    requests.leave("a")
    requests.enter("a", 2)
    for address in ("a", "a", "b"):
        requests.leave(address)
    assert requests._by_address == {}
