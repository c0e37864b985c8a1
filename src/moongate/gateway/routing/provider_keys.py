"""The API keys of a provider: which one the next request uses, and which are cooling down. Clocks are passed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from moongate.errors import TooManyRequests
from moongate.gateway.config.settings import ProviderKey


@dataclass(slots=True)
class ProviderKeyState:
    """One of a provider's keys while the gateway runs."""

    header: bytes = field(repr=False)  # the value of Authorization
    concurrency: int = 0  # 0: no limit
    in_flight: int = 0
    until: float = 0.0  # the end of its cool-down

    @classmethod
    def of(cls, key: ProviderKey) -> ProviderKeyState:
        return cls(b"Bearer " + key.key.encode("ascii"), key.concurrency)


class KeyRing:
    """The keys of a provider in rotation. A provider without keys has one empty key."""

    __slots__ = ("_keys", "_next")

    def __init__(self, keys: Sequence[ProviderKey]) -> None:
        self._keys = [ProviderKeyState.of(key) for key in keys] or [ProviderKeyState(b"")]
        self._next = 0

    def inherit(self, old: KeyRing) -> None:
        """Keep the state of the keys that the previous configuration had too. Only while no key is in use here."""
        known = {key.header: key for key in old._keys}
        for index, key in enumerate(self._keys):
            before = known.get(key.header)
            if before is not None:
                before.concurrency = key.concurrency
                self._keys[index] = before

    def acquire(self, now: float) -> ProviderKeyState:
        """The next key that is neither cooling down nor at its limit; if all cool down, the one that is ready first.

        `release` must follow. Raises TooManyRequests if every key is at its limit.
        """
        keys = self._keys
        if len(keys) == 1 and not keys[0].concurrency:
            keys[0].in_flight += 1
            return keys[0]
        self._next = (self._next + 1) % len(keys)
        rotated = keys[self._next :] + keys[: self._next]
        free = [key for key in rotated if not key.concurrency or key.in_flight < key.concurrency]
        if not free:
            raise TooManyRequests(
                "Every key of the provider is in use up to its limit", code="keys_busy", retry_after=1
            )
        key = next((key for key in free if key.until <= now), None) or min(free, key=lambda each: each.until)
        key.in_flight += 1
        return key

    @property
    def headers(self) -> list[bytes]:
        return [key.header for key in self._keys]

    def release(self, key: ProviderKeyState) -> None:
        key.in_flight -= 1

    def cool(self, key: ProviderKeyState, until: float) -> None:
        """Avoid a key until then, as long as there is another."""
        key.until = max(key.until, until)

    def ready(self, now: float) -> bool:
        """Is there a key that is not cooling down?"""
        return any(key.until <= now for key in self._keys)
