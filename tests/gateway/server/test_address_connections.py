from __future__ import annotations

from moongate.gateway.server.address_connections import AddressConnections


def test_connections_of_an_address_are_limited() -> None:
    connections = AddressConnections(2)
    assert [connections.enter("1.1.1.1") for _ in range(3)] == [True, True, False]
    assert connections.enter("2.2.2.2")
    connections.leave("1.1.1.1")
    connections.leave("1.1.1.1")
    assert connections.enter("1.1.1.1")
    for address in ("1.1.1.1", "1.1.1.1", "2.2.2.2"):
        connections.leave(address)
    assert connections._by_address == {}


def test_an_ipv6_network_is_one_client() -> None:
    connections = AddressConnections(1)
    assert connections.enter("2001:db8:1:2::1")
    assert not connections.enter("2001:db8:1:2:ffff::2")
    assert connections.enter("2001:db8:1:3::1")


def test_proxies_may_have_any_number() -> None:
    connections = AddressConnections(1, lambda address: address == "fd00::1")
    assert all(connections.enter("fd00::1") for _ in range(5))
