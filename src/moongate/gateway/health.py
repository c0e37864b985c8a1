"""How a target is doing, which key to use, and how many retries are left. Clocks are passed in.

A target cools down after failures in a row, or when more than half of at least ten answers of the last half minute
failed: 5 s, doubling to 60. When that is over, one request goes ahead as a probe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from moongate.errors import TooManyRequests
from moongate.gateway.config.settings import ProviderKey, Retries

WINDOW: Final = 30.0  # seconds
PANES: Final = 6  # the window moves on by a pane at a time
ENOUGH: Final = 10  # answers in the window before their share of failures means anything


class Health:
    """Of one target."""

    __slots__ = ("_bad", "_cooling", "_good", "_in_a_row", "_next_pane", "_pane", "_probing", "_until", "rules")

    def __init__(self, rules: Retries) -> None:
        self.rules = rules
        self._in_a_row = 0
        self._until = 0.0
        self._cooling = 0.0  # the length of the current or last cool-down, 0 if all is well
        self._probing = False
        self._pane = 0
        self._next_pane = 0.0
        self._good = [0] * PANES
        self._bad = [0] * PANES

    def available(self, now: float) -> bool:
        """May a request go there? While it cools, no; then one probe at a time."""
        return not self._cooling or (now >= self._until and not self._probing)

    @property
    def until(self) -> float:
        """When the cool-down ends (in the past if there is none)."""
        return self._until

    def begin(self, now: float) -> None:
        """A request goes there now; `succeeded`, `failed` or `abandoned` follows."""
        if self._cooling and now >= self._until:
            self._probing = True

    def succeeded(self, now: float) -> None:
        self._in_a_row = 0
        if self._cooling:
            self._forget()
        if now >= self._next_pane:
            self._turn(now)
        self._good[self._pane % PANES] += 1

    def failed(self, now: float) -> bool:
        """True if a cool-down begins with this failure."""
        self._probing = False
        self._in_a_row += 1
        self._turn(now)
        self._bad[self._pane % PANES] += 1
        if now < self._until or not self._is_ill():
            return False
        self._cooling = min(self._cooling * 2 or self.rules.cool_down, self.rules.cool_down_most)
        self._until = now + self._cooling
        return True

    def abandoned(self) -> None:
        """The client left: nothing was learned."""
        self._probing = False

    def _is_ill(self) -> bool:
        good, bad = sum(self._good), sum(self._bad)
        many = good + bad >= ENOUGH and bad > good
        return bool(self._cooling) or self._in_a_row >= self.rules.failures or many

    def _forget(self) -> None:
        self._cooling = self._until = 0.0
        self._probing = False
        self._good = [0] * PANES
        self._bad = [0] * PANES

    def _turn(self, now: float) -> None:
        """Drop what is older than the window."""
        pane = int(now * PANES / WINDOW)
        for old in range(self._pane + 1, min(pane, self._pane + PANES) + 1):
            self._good[old % PANES] = self._bad[old % PANES] = 0
        self._pane = max(pane, self._pane)
        self._next_pane = (self._pane + 1) * WINDOW / PANES


@dataclass(slots=True)
class Key:
    """One of a provider's keys while the gateway runs."""

    header: bytes = field(repr=False)  # the value of Authorization
    concurrency: int = 0  # 0: no limit
    in_flight: int = 0
    until: float = 0.0  # cooling down

    @classmethod
    def of(cls, key: ProviderKey) -> Key:
        return cls(b"Bearer " + key.key.encode("ascii"), key.concurrency)


class KeyRing:
    """The keys of a provider, or none."""

    __slots__ = ("_keys", "_next")

    def __init__(self, keys: Sequence[ProviderKey]) -> None:
        self._keys = [Key.of(key) for key in keys] or [Key(b"")]
        self._next = 0

    def inherit(self, old: KeyRing) -> None:
        """Go on with the keys that were there before. Only while none is taken."""
        known = {key.header: key for key in old._keys}
        for index, key in enumerate(self._keys):
            before = known.get(key.header)
            if before is not None:
                before.concurrency = key.concurrency
                self._keys[index] = before

    def take(self, now: float) -> Key:
        """The next key that neither cools nor is busy; if all cool, the one ready first. `give_back` follows."""
        keys = self._keys
        if len(keys) == 1 and not keys[0].concurrency:
            keys[0].in_flight += 1
            return keys[0]
        self._next = (self._next + 1) % len(keys)
        turn = keys[self._next :] + keys[: self._next]
        free = [key for key in turn if not key.concurrency or key.in_flight < key.concurrency]
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

    def give_back(self, key: Key) -> None:
        key.in_flight -= 1

    def cool(self, key: Key, until: float) -> None:
        """Leave a key alone until then, as long as there is another."""
        key.until = max(key.until, until)

    def ready(self, now: float) -> bool:
        """Is there a key that does not cool?"""
        return any(key.until <= now for key in self._keys)


class Budget:
    """Retries at the same time: a share of the requests in flight, and a few in any case."""

    __slots__ = ("retrying", "rules")

    def __init__(self, rules: Retries) -> None:
        self.rules = rules
        self.retrying = 0

    def allows(self, in_flight: int) -> bool:
        return self.retrying < max(self.rules.budget_floor, self.rules.budget * in_flight)
