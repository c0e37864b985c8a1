"""How many connections each address has, per worker."""

from __future__ import annotations

from collections.abc import Callable

from moongate.gateway.http.client_address import parse_address, shared_address


class AddressConnections:
    """Counts connections by address; `is_exempt` tells addresses without a limit, such as those of trusted proxies."""

    __slots__ = ("_by_address", "_is_exempt", "_limit")

    def __init__(self, limit: int, is_exempt: Callable[[str], bool] = lambda _: False) -> None:
        self._limit = limit
        self._is_exempt = is_exempt
        self._by_address: dict[str, int] = {}

    def enter(self, address: str) -> bool:
        """False: it has too many. `leave` must be called either way."""
        given, address = address, _counted(address)
        count = self._by_address.get(address, 0)
        self._by_address[address] = count + 1
        return count < self._limit or self._is_exempt(given)

    def leave(self, address: str) -> None:
        address = _counted(address)
        count = self._by_address.pop(address, 0) - 1
        if count > 0:
            self._by_address[address] = count


def _counted(address: str) -> str:
    found = parse_address(address) if ":" in address else None
    return address if found is None else shared_address(found)
