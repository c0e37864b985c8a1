"""Who may come in: client keys, their rate and their concurrency.

A key is looked up by its SHA-256 digest, so the time of a lookup says nothing about the text of any key. A header that
was good is remembered as it is: Python hashes bytes with a secret of the process, and compares them only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from math import ceil
from typing import Final

from moongate.errors import TooManyRequests, Unauthorized
from moongate.gateway.config.settings import ClientKey

MAX_ADMITTED: Final = 1024  # spellings of good headers that are remembered
_BEARER: Final = b"bearer "
_MISSING: Final = "No client key: send 'Authorization: Bearer KEY' or 'x-api-key: KEY'"
_WRONG: Final = "The client key is not known to this gateway"


class Client:
    """One client key while the gateway runs. `workers` share its rate evenly."""

    __slots__ = ("_concurrency", "_last", "_rate", "_tokens", "digest", "in_flight", "name")

    def __init__(self, key: ClientKey, *, number: int, workers: int = 1) -> None:
        self.digest = sha256(key.key.encode()).digest()
        self.name = key.name or f"key{number}"
        self.in_flight = 0
        self._concurrency = key.concurrency
        self._rate = key.rate / workers
        self._tokens = max(1.0, self._rate)
        self._last = 0.0

    def become(self, other: Client) -> None:
        """The same key with the name and the limits of `other`; what was used of them stays used."""
        if other._rate != self._rate:
            full = max(1.0, other._rate)
            self._tokens = min(full, self._tokens) if self._rate else full
        self.name, self._rate, self._concurrency = other.name, other._rate, other._concurrency

    def enter(self, now: float) -> None:
        """One more request at `now` (seconds). Raises TooManyRequests; if it returns, `leave` must follow."""
        if self._concurrency and self.in_flight >= self._concurrency:
            raise TooManyRequests(
                f"This client key may have {self._concurrency} requests at the same time",
                code="concurrency_limit",
                retry_after=1,
            )
        if self._rate:
            self._take(now)
        self.in_flight += 1

    def leave(self) -> None:
        self.in_flight -= 1

    def _take(self, now: float) -> None:
        full = max(1.0, self._rate)
        self._tokens = min(full, self._tokens + (now - self._last) * self._rate / 60)
        self._last = now
        if self._tokens < 1:
            wait = (1 - self._tokens) * 60 / self._rate
            raise TooManyRequests(
                f"This client key may send {self._rate:g} requests per minute",
                code="rate_limit_exceeded",
                retry_after=ceil(wait),
            )
        self._tokens -= 1


class Doorkeeper:
    """The client keys of one configuration; None: everybody is the same anonymous client."""

    def __init__(self, keys: Iterable[ClientKey] | None, *, workers: int = 1) -> None:
        self._anonymous: Client | None = None
        self._clients: dict[bytes, Client] = {}
        self._admitted: dict[bytes, Client] = {}  # by the header that was good; hashes of bytes are keyed, too
        if keys is None:
            self._anonymous = Client(ClientKey(key="", name="anonymous"), number=0)
            return
        for number, key in enumerate(keys, 1):
            client = Client(key, number=number, workers=workers)
            self._clients[client.digest] = client

    def inherit(self, old: Doorkeeper) -> None:
        """Go on with the clients that were there before. Only before anybody is admitted."""
        for digest, client in self._clients.items():
            before = old._clients.get(digest)
            if before is not None:
                before.become(client)
                self._clients[digest] = before

    def admit(self, head: Mapping[bytes, bytes]) -> Client:
        """The client that sent a request with these headers. Raises Unauthorized."""
        if self._anonymous is not None:
            return self._anonymous
        given = head.get(b"authorization", b"")
        client = self._admitted.get(given)
        if client is not None:
            return client
        if given[:7].lower() == _BEARER:
            client = self._known(given[7:].strip())
            if client is not None:
                if len(self._admitted) < MAX_ADMITTED:
                    self._admitted[given] = client
                return client
        key = head.get(b"x-api-key")
        if key is not None:
            client = self._known(key)
            if client is not None:
                return client
        raise Unauthorized(_MISSING if not given and key is None else _WRONG, code="invalid_api_key")

    def _known(self, key: bytes) -> Client | None:
        digest = sha256(key).digest()
        client = self._clients.get(digest)
        return client if client is not None and compare_digest(client.digest, digest) else None
