"""One request in flight that is registered in the shared state, or will be when that is back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.gateway.shared.script import ClientCommands

SKEW: Final = 4  # how many times as many requests as this gateway another one may have


class SharedRequest:
    """`registered`: the shared state has it. `is_granted`: its limits allow it, too."""

    __slots__ = (
        "_on_end", "client", "cost", "ended", "id", "is_granted", "loaded", "prompt", "registered", "tokens", "windows"
    )  # fmt: skip

    def __init__(
        self,
        request: bytes,
        client: ClientCommands,
        reserved: tuple[int, int, int],
        loaded: tuple[int, ...],
        on_end: Callable[[SharedRequest, int, int], None],
    ) -> None:
        self.id = request
        self.client = client
        self.tokens, self.prompt, self.cost = reserved
        self.loaded = loaded  # when each account was loaded from the store, as it was known when this began
        self.windows = client.windows
        self.registered = False
        self.is_granted = False
        self.ended = False
        self._on_end = on_end

    def end(self, tokens: int, cost: int) -> None:
        if not self.ended:
            self.ended = True
            self._on_end(self, tokens, cost)

    def frees_scarce_place(self, gateways: int) -> bool:
        """Are so many of its key's or team's requests in flight that one may wait for this place, at any gateway?"""
        for account in self.client.accounts:
            limit = account.limits.concurrency
            if limit and limit <= (account.in_flight + 1) * gateways * SKEW:
                return True
        return False
