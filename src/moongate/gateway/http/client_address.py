"""The address that a request comes from: that of its connection, or the one that a trusted proxy names. Pure.

A proxy adds the address of its own client at the end of `X-Forwarded-For` or `Forwarded`. What stands before the last
address that no trusted proxy has is the client's own claim, and is not read. Only one of the two headers is read,
because a proxy passes on the other one as its client sent it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from moongate.gateway.config.address_range import Network

MAX_HOPS: Final = 16  # addresses that are read, from the end
MAX_ADDRESS: Final = 64  # characters of one
_FORWARDED_FOR: Final = re.compile(r'(?:^|;)\s*for\s*=\s*"?([^";]{1,64})"?', re.IGNORECASE)

Address = IPv4Address | IPv6Address


class ClientAddresses:
    """`trusted` are the proxies whose `header` is believed."""

    def __init__(self, trusted: tuple[Network, ...] = (), header: str = "x-forwarded-for") -> None:
        self._trusted = trusted
        self.has_proxies = bool(trusted)
        self._header = header.encode()
        self._is_forwarded = header == "forwarded"

    def of(self, peer: str, headers: Mapping[bytes, bytes]) -> str:
        """The client's address; of an IPv6 address its network, which one client has as a whole."""
        found = parse_address(peer)
        if found is None:
            return peer[:MAX_ADDRESS]
        if self._trusted and self.is_trusted(found):
            found = self._behind_proxies(found, headers.get(self._header, b""))
        return shared_address(found)

    def is_trusted(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self._trusted)

    def is_proxy(self, peer: str) -> bool:
        """Is this connection one of a trusted proxy's?"""
        return bool(self._trusted) and self.is_trusted(parse_address(peer))

    def _behind_proxies(self, proxy: Address, header: bytes) -> Address:
        """The last address that no trusted proxy has; the last proxy, if there is none that can be read."""
        found = proxy
        for hop in reversed(header.decode("latin-1").rsplit(",", MAX_HOPS)[-MAX_HOPS:]):
            if self._is_forwarded:
                named = _FORWARDED_FOR.search(hop[:1024])
                hop = named[1] if named is not None else ""
            address = parse_address(hop)
            if address is None:
                return found
            found = address
            if not self.is_trusted(address):
                return found
        return found


def parse_address(text: str) -> Address | None:
    """The address in `1.2.3.4`, `1.2.3.4:80`, `::1`, `[::1]` or `[::1]:80`; one of IPv4 inside of IPv6 as it is."""
    text = text.strip().strip('"')
    if len(text) > MAX_ADDRESS:
        return None
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def shared_address(address: Address) -> str:
    """What is counted as one client: an IPv4 address, or the first 64 bits of an IPv6 address."""
    if isinstance(address, IPv4Address):
        return str(address)
    return f"{IPv6Address(int(address) >> 64 << 64)}/64"
