"""A setting that names an address or a network."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network

from moongate.gateway.config.places import ConfigPlace, json_type
from moongate.payload import JsonObject

Network = IPv4Network | IPv6Network


class AddressRange:
    """An IP address, or a network in CIDR notation."""

    __slots__ = ()

    def read(self, value: object, at: ConfigPlace) -> Network:
        if not isinstance(value, str):
            raise at.error(f"expected {self.describe()}, found {json_type(value)}")
        try:
            return ip_network(value.strip(), strict=False)
        except ValueError:
            raise at.error(f"expected {self.describe()}, found {value!r}") from None

    def schema(self) -> JsonObject:
        return {"type": "string", "minLength": 1}

    def describe(self) -> str:
        return "an IP address or network (10.0.0.0/8)"
