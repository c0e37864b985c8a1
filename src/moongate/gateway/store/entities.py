"""Keys and teams. A key's text is shown once, when it is made; the store keeps its digest and its first characters."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Final

from moongate.gateway.limits.limit_set import LimitSet
from moongate.payload import JsonObject

PREFIX: Final = "mg-"
NO_LIMITS: Final = LimitSet()
LABEL_CHARACTERS: Final = 8  # of a key's 46: enough to tell keys apart, of no use to anybody else


@dataclass(frozen=True, slots=True)
class Team:
    """Keys that share limits."""

    id: str
    name: str
    models: tuple[str, ...] = ()  # that may be asked for, patterns allowed; empty: all
    limits: LimitSet = NO_LIMITS
    disabled: bool = False
    metadata: JsonObject = field(default_factory=dict)
    created: int = 0

    @property
    def identity(self) -> bytes:
        """For the table of limits."""
        return sha256(f"team {self.id}".encode()).digest()


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A client key. Times are in seconds since 1970."""

    id: str
    digest: bytes
    label: str
    name: str = ""
    team: str | None = None
    models: tuple[str, ...] = ()
    limits: LimitSet = NO_LIMITS
    disabled: bool = False
    metadata: JsonObject = field(default_factory=dict)
    created: int = 0
    expires: int | None = None
    last_used: int | None = None
    previous_digest: bytes | None = None  # of the key before the last rotation
    previous_until: int | None = None

    @property
    def identity(self) -> bytes:
        """For the table of limits; a rotation does not change it."""
        return sha256(f"key {self.id}".encode()).digest()

    def is_valid(self, digest: bytes, now: float) -> bool:
        """May the key with this digest be used now?"""
        if self.disabled or (self.expires is not None and now >= self.expires):
            return False
        return digest == self.digest or (
            digest == self.previous_digest and self.previous_until is not None and now < self.previous_until
        )


def new_secret() -> str:
    """The text of a new key: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def new_id(kind: str) -> str:
    """`key_…`, `team_…`: for people to copy, and of no use as a key."""
    return f"{kind}_{secrets.token_hex(8)}"


def digest_of(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def label_of(secret: str) -> str:
    return secret[:LABEL_CHARACTERS]


def may_use(patterns: tuple[str, ...], model: str) -> bool:
    """Is a model on an allow-list? `*` and `?` stand for any characters, `[` for itself, an empty list for all."""
    return not patterns or any(fnmatchcase(model, pattern.replace("[", "[[]")) for pattern in patterns)
