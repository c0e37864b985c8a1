"""Admission of requests by the limits of their key and team.

limiter = Limiter(folder, worker=0, workers=4)
key = limiter.account(digest, LimitSet(rpm=60), "key")
admission = limiter.admit((key,))            # Admission or Refusal: rates and concurrency
refusal = admission.reserve(tokens, prompt, cost)   # None or Refusal: tokens and budgets
admission.settle(tokens, cost)               # what it really took; without it, the estimate stands
admission.release()                          # always
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from moongate.gateway.limits.account import Account, Reserved
from moongate.gateway.limits.budget_share import is_nearly_spent, used_share
from moongate.gateway.limits.limit_set import LimitSet, Refusal
from moongate.gateway.limits.periods import DAY_SECONDS
from moongate.gateway.limits.shared_table import LOCK_SECONDS, SharedTable

Clock = Callable[[], int]


class Limiter:
    """The accounts of one worker, in a table that all workers share. `folder` None: there is one worker."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        worker: int = 0,
        workers: int = 1,
        monotonic: Clock = time.monotonic_ns,
        wall: Callable[[], float] = time.time,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self._table = SharedTable(folder, worker=worker, workers=workers, lock_seconds=lock_seconds)
        self._table.clear_worker()
        self._is_shared = self._table.is_shared
        self.now = monotonic
        self._wall = wall
        self._accounts: dict[bytes, Account] = {}
        self._divisor = 1
        self.is_open = False  # nothing is refused

    def account(self, identity: bytes, limits: LimitSet, owner: str = "key") -> Account:
        """The account of a key or team (`identity`: 32 bytes), with these limits from now on."""
        found = self._accounts.get(identity)
        if found is None:
            found = self._accounts[identity] = Account(self._table, identity, limits, owner)
            if self._divisor > 1:
                found.change(limits, self._divisor)
        elif found.limits != limits:
            found.change(limits, self._divisor)
        return found

    @property
    def accounts(self) -> list[Account]:
        return list(self._accounts.values())

    def divide(self, divisor: int, *, keeps_budgets: bool = False) -> None:
        """From now on every limit is one gateway's part of it; 1: the whole."""
        self._divisor = divisor
        for account in self._accounts.values():
            account.change(account.limits, divisor, keeps_budgets=keeps_budgets)

    def admit(self, accounts: tuple[Account, ...]) -> Admission | Refusal:
        """Begin a request, in all accounts or in none; `release` must follow."""
        for account in accounts:
            if account.has_request_limits and not self.is_open:
                refusal = self._admit_limited(accounts)
                if refusal is not None:
                    return refusal
                break
        else:
            for account in accounts:
                account.take_request(0)  # counts it, in this worker's own column
        return Admission(self, accounts)

    def _admit_limited(self, accounts: tuple[Account, ...]) -> Refusal | None:
        now = self.now()
        shared = self._is_shared
        if shared:
            self._table.lock()
        try:
            for account in accounts:
                refusal = account.check_request(now)
                if refusal is not None:
                    return refusal
            for account in accounts:
                account.take_request(now)
            return None
        finally:
            if shared:
                self._table.unlock()

    def reserve(
        self, accounts: tuple[Account, ...], reserved: Reserved, *, granted: bool = False
    ) -> list[int] | Refusal:
        """The window of each account that it counts in. `granted`: the limits over all gateways allow it."""
        tokens, prompt, cost = reserved
        now, day = self.now(), self.today()
        shared = self._is_shared
        if shared:
            self._table.lock()
        try:
            if not granted and not self.is_open:
                for account in accounts:
                    refusal = account.check_cost(tokens, prompt, cost, now, day)
                    if refusal is not None:
                        return refusal
            else:
                for account in accounts:
                    account.current_window(day)
            return [account.take_cost(tokens, prompt, cost, now, counted=granted) for account in accounts]
        finally:
            if shared:
                self._table.unlock()

    def begin_windows(self, accounts: tuple[Account, ...]) -> None:
        """Reset budgets whose period has ended, even if no request has come since."""
        self._table.lock()
        try:
            for account in accounts:
                if account.has_budget:
                    account.current_window(self.today())
        finally:
            self._table.unlock()

    def today(self) -> int:
        """The UTC day, counted from 1970."""
        return int(self._wall()) // DAY_SECONDS

    @property
    def lock_timeouts(self) -> int:
        """How often a lock was not had in time, so that a limit may have been off by one."""
        return self._table.lock_timeouts

    def close(self) -> None:
        self._table.close()


class SharedEntry(Protocol):
    """A request in flight as all gateways see it."""

    @property
    def is_granted(self) -> bool:
        """Do the limits over all gateways allow it? If not, those of this gateway alone must."""

    def end(self, tokens: int, cost: int) -> None:
        """It has ended, and took so many tokens and so much money. Once."""


class Admission:
    """A request that was admitted. One at a time uses it."""

    __slots__ = ("_accounts", "_further", "_limiter", "_open", "_reserved", "_took", "_windows", "shared")

    def __init__(self, limiter: Limiter, accounts: tuple[Account, ...]) -> None:
        self._limiter = limiter
        self._accounts = accounts
        self.shared: SharedEntry | None = None
        self._took = (0, 0)  # tokens and money, for `shared`
        self._reserved: Reserved | None = None
        self._windows: list[int] = []
        self._open = True
        self._further: tuple[Admission, ...] = ()  # what was put aside later, for more of the same request

    def reserve_more(self, tokens: int, prompt: int, cost: int | None) -> bool:
        """Put aside more for the same request; `settle` takes the sum. False: a limit or a budget forbids it."""
        further = Admission(self._limiter, self._accounts)
        further._open = False  # it counts as no request
        if further.reserve(tokens, prompt, cost) is not None:
            return False
        self._further = (*self._further, further)
        return True

    def reserve(self, tokens: int, prompt: int, cost: int | None) -> Refusal | None:
        """Put aside what the request is estimated at. `cost` None: its price is not known."""
        for account in self._accounts:
            if account.has_cost_limits:
                break
        else:
            return None
        reserved = (tokens, prompt, cost)
        granted = self.shared is not None and self.shared.is_granted
        found = self._limiter.reserve(self._accounts, reserved, granted=granted)
        if isinstance(found, Refusal):
            return found
        self._reserved, self._windows = reserved, found
        return None

    def settle(self, tokens: int, cost: int | None) -> None:
        """What the request really took. Once; further calls do nothing."""
        reserved = self._reserved
        if reserved is not None:
            self._reserved = None
            self._took = (tokens, cost or 0)
            now = self._limiter.now()
            for index, account in enumerate(self._accounts):  # machine code makes objects for `zip`
                account.settle(reserved, tokens, cost, self._windows[index], now)
            for further in self._further:
                further.settle(0, 0)

    def release(self) -> None:
        """The request has ended. A reservation that was not settled is taken as spent."""
        reserved = self._reserved
        if reserved is not None:
            for further in self._further:
                further.release()
            self.settle(reserved[0], reserved[2])
        if self._open:
            self._open = False
            for account in self._accounts:
                account.leave()
        if self.shared is not None:
            self.shared.end(*self._took)
            self.shared = None

    @property
    def accounts(self) -> tuple[Account, ...]:
        return self._accounts

    def is_nearly_spent(self) -> bool:
        """Is most of a budget spent, of any account?"""
        for account in self._accounts:  # noqa: SIM110 (a generator costs more)
            if account.has_budget and is_nearly_spent(account):
                return True
        return False

    def used_share(self) -> float:
        """The largest share of a budget that is spent, of all accounts."""
        share = 0.0
        for account in self._accounts:
            if account.has_budget:
                share = max(share, used_share(account))
        return share
