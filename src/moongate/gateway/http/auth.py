"""Authentication of clients by their keys.

A key is looked up by its SHA-256 digest, so the time of a look-up discloses nothing about any key. A header that was
accepted is cached as it is: Python hashes bytes with a secret of the process, and compares only bytes of equal hash.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Final, Protocol

from moongate.errors import Unauthorized
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.store.entities import may_use

MAX_CACHED: Final = 1024  # accepted Authorization headers
MAX_CACHED_SIZE: Final = 512  # bytes of one of them: blanks around the key can make it as long as a head may be
_BEARER: Final = b"bearer "
_MISSING: Final = "No client key: send 'Authorization: Bearer KEY' or 'x-api-key: KEY'"
_WRONG: Final = "The client key is not known to this gateway"


class Client:
    """Who a request comes from: a client key, with the accounts of its limits."""

    __slots__ = ("accounts", "allowed", "digest", "expires", "inspected", "key_id", "name", "team_id")

    def __init__(
        self,
        name: str,
        digest: bytes,
        accounts: tuple[Account, ...] = (),
        *,
        key_id: str = "",
        team_id: str = "",
        allowed: tuple[tuple[str, ...], ...] = (),
        expires: int | None = None,
        inspected: bool = False,
    ) -> None:
        self.name = name
        self.digest = digest
        self.accounts = accounts
        self.key_id = key_id or name  # in usage
        self.team_id = team_id
        self.allowed = allowed  # lists of models, each of which must allow one
        self.expires = expires  # seconds since 1970; None: never
        self.inspected = inspected  # its requests are captured

    @property
    def has_money_budget(self) -> bool:
        for account in self.accounts:  # noqa: SIM110 (a generator costs more)
            if account.limits.budget is not None:
                return True
        return False

    def may_use(self, *names: str) -> bool:
        """May it ask for a model that has these names?"""
        return all(any(may_use(patterns, name) for name in names) for patterns in self.allowed)


class StoredKeys(Protocol):
    """The keys of the store. `revision` changes whenever they do."""

    @property
    def revision(self) -> int: ...

    def find(self, digest: bytes) -> Client | None:
        """The client with a key, if it is valid now."""


def has_credential(headers: Mapping[bytes, bytes]) -> bool:
    """Does the request carry a key, right or wrong?"""
    return bool(headers.get(b"authorization") or headers.get(b"x-api-key"))


class ClientAuth:
    """The client keys of one configuration. Without keys (None) all requests belong to one anonymous client.

    What clients have used of their limits is the limiter's, which outlives a configuration.
    """

    def __init__(
        self,
        keys: Iterable[ClientKey] | None,
        limiter: Limiter | None = None,
        stored: StoredKeys | None = None,
        *,
        max_cached: int = MAX_CACHED,
    ) -> None:
        """A key of the configuration wins over the same one in the store."""
        self._max_cached = max_cached
        self._stored = stored
        self._revision = -1  # of the stored keys that are cached
        limiter = limiter or Limiter()
        self._anonymous: Client | None = None
        self._by_digest: dict[bytes, Client] = {}
        self._by_header: dict[bytes, Client] = {}  # by an accepted header
        if keys is None:
            self._anonymous = Client("anonymous", b"")
            return
        for number, key in enumerate(keys, 1):
            digest = sha256(key.key.encode()).digest()
            limits = LimitSet(rpm=key.rate, concurrency=key.concurrency)
            # Also without limits: requests in flight must count when a reload adds one.
            accounts = (limiter.account(digest, limits),)
            self._by_digest[digest] = Client(key.name or f"key{number}", digest, accounts, inspected=key.inspect)

    def authenticate(self, headers: Mapping[bytes, bytes]) -> Client:
        """The client that sent a request with these headers. Raises Unauthorized."""
        if self._anonymous is not None:
            return self._anonymous
        given = headers.get(b"authorization", b"")
        stored = self._stored
        if stored is not None and stored.revision != self._revision:
            self._by_header.clear()
            self._revision = stored.revision
        client = self._by_header.get(given)
        if client is not None and (client.expires is None or time.time() < client.expires):
            return client
        if given[:7].lower() == _BEARER:
            client = self._find(given[7:].strip())
            if client is not None:
                if len(self._by_header) < self._max_cached and len(given) <= MAX_CACHED_SIZE:
                    self._by_header[given] = client
                return client
        key = headers.get(b"x-api-key")
        if key is not None:
            client = self._find(key)
            if client is not None:
                return client
        raise Unauthorized(_MISSING if not given and key is None else _WRONG, code="invalid_api_key")

    def _find(self, key: bytes) -> Client | None:
        digest = sha256(key).digest()
        client = self._by_digest.get(digest)
        if client is not None:
            return client if compare_digest(client.digest, digest) else None
        return None if self._stored is None else self._stored.find(digest)
