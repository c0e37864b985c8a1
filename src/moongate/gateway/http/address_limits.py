"""What one address may do, per worker: send wrong keys, and have requests in flight through a trusted proxy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, Protocol

from moongate.errors import TooManyRequests, Unauthorized
from moongate.gateway.http.auth import Client, ClientAuth, has_credential
from moongate.gateway.http.client_address import ClientAddresses
from moongate.gateway.limits.gcra import Rate
from moongate.gateway.record.messages import print_message

MAX_ADDRESSES: Final = 4096  # with wrong keys that are remembered
MAX_ACCEPTED: Final = 16  # keys of an address that are accepted whatever others send from there
MESSAGE_SECONDS: Final = 60.0  # between two messages about wrong keys

Clock = Callable[[], int]


class HasPeer(Protocol):
    """One request's connection."""

    @property
    def peer(self) -> str:
        """The address at its other end."""


class _Guesses:
    """The wrong keys of one address."""

    __slots__ = ("accepted", "tat")

    def __init__(self) -> None:
        self.tat = 0  # theoretical arrival time, see `Rate`
        self.accepted: set[bytes] = set()  # digests of keys that were right


class WrongClientKeys:
    """Counts wrong keys by address. Beyond the limit keys of an address are not even looked at, except for those that
    were right since it sent its first wrong one: who shares an address with an attacker is not shut out."""

    def __init__(self, clock: Clock = time.monotonic_ns, tell: Callable[[str], None] = print_message) -> None:
        self._clock = clock
        self._tell = tell
        self._reported_at: int | None = None
        self._by_address: dict[str, _Guesses] = {}

    def __bool__(self) -> bool:
        """Has any address sent a wrong key?"""
        return bool(self._by_address)

    def check(self, address: str, credential: bytes, rate: Rate) -> None:
        """Raises TooManyRequests if this credential may not be tried now."""
        guesses = self._by_address.get(address)
        if guesses is None or credential in guesses.accepted:
            return
        taken = rate.take(guesses.tat, self._clock())
        if taken < 0:
            message = "Too many wrong client keys came from this address"
            raise TooManyRequests(message, code="wrong_keys", retry_after=-(taken // 10**9))

    def accept(self, address: str, credential: bytes) -> None:
        guesses = self._by_address.get(address)
        if guesses is not None and len(guesses.accepted) < MAX_ACCEPTED:
            guesses.accepted.add(credential)

    def count(self, address: str, rate: Rate) -> None:
        """A wrong key came."""
        guesses = self._by_address.pop(address, None) or _Guesses()
        if len(self._by_address) >= MAX_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]  # that has been quiet longest
        self._by_address[address] = guesses
        now = self._clock()
        taken = rate.take(guesses.tat, now)
        guesses.tat = taken if taken >= 0 else guesses.tat
        if rate.take(guesses.tat, now) < 0 and (
            self._reported_at is None or now - self._reported_at > MESSAGE_SECONDS * 1e9
        ):
            self._reported_at = now
            self._tell(f"{address} has sent {rate.limit} wrong client keys within a minute; further ones are not read")


class AddressAuth:
    """Authenticates clients with a limit of wrong keys per address. `limit` is per minute; 0: none.

    `refused` is called when it refuses a request.
    """

    def __init__(
        self,
        auth: ClientAuth,
        wrong_keys: WrongClientKeys,
        addresses: ClientAddresses,
        limit: int,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._refused = refused
        self.clients = auth
        self._wrong_keys = wrong_keys
        self._addresses = addresses
        self._rate = Rate(limit) if limit else None

    def authenticate(self, headers: Mapping[bytes, bytes], connection: HasPeer) -> Client:
        """The client that sent a request. Raises Unauthorized or TooManyRequests."""
        if self._wrong_keys and self._rate is not None and has_credential(headers):
            return self._authenticate_watched(headers, connection, self._rate)
        try:
            return self.clients.authenticate(headers)
        except Unauthorized:
            if self._rate is not None and has_credential(headers):
                self._wrong_keys.count(self._addresses.of(connection.peer, headers), self._rate)
            raise

    def _authenticate_watched(self, headers: Mapping[bytes, bytes], connection: HasPeer, rate: Rate) -> Client:
        address = self._addresses.of(connection.peer, headers)
        credential = sha256(headers.get(b"authorization", b"") + b"\n" + headers.get(b"x-api-key", b"")).digest()
        try:
            self._wrong_keys.check(address, credential, rate)
            client = self.clients.authenticate(headers)
        except TooManyRequests:
            self._refused()
            raise
        except Unauthorized:
            self._wrong_keys.count(address, rate)
            raise
        self._wrong_keys.accept(address, credential)
        return client


class ForwardedRequests:
    """Requests in flight by the address for which trusted proxies forward them: their connections are not its own."""

    def __init__(self) -> None:
        self._by_address: dict[str, int] = {}

    def enter(self, address: str, limit: int) -> None:
        """Raises TooManyRequests if there are `limit` already; else call `leave` at the end."""
        count = self._by_address.get(address, 0)
        if count >= limit:
            message = "Too many requests at the same time from this address"
            raise TooManyRequests(message, code="address_limit", retry_after=1)
        self._by_address[address] = count + 1

    def leave(self, address: str) -> None:
        count = self._by_address.pop(address, 0) - 1
        if count > 0:
            self._by_address[address] = count
