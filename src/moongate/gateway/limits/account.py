"""The limits of one key or team at work, in one row of the shared table.

`check_*` and `take_*` run under the table's lock: a request is admitted by all of its accounts or by none. What is
given back (`leave`, `settle`) goes to this worker's own columns and needs no lock, except for tokens per minute.
This runs for every request, so the places of words are computed once.
"""

from __future__ import annotations

from typing import Final

from moongate.gateway.limits.budget_share import WARNING_SHARE
from moongate.gateway.limits.gcra import MINUTE, Rate
from moongate.gateway.limits.limit_set import LimitName, LimitSet, Refusal
from moongate.gateway.limits.periods import DAY_SECONDS, Window, window_of
from moongate.gateway.limits.shared_table import (
    IN_FLIGHT,
    LOADED,
    MONEY_BASE,
    REQUESTS_RATE,
    REQUESTS_TAT,
    RESERVED_MONEY,
    RESERVED_TOKENS,
    SPENT_MONEY,
    SPENT_TOKENS,
    TOKENS_BASE,
    TOKENS_TAT,
    WINDOW,
    SharedTable,
)

NANOSECONDS: Final = 1_000_000_000
CONCURRENCY_WAIT: Final = 1.0  # seconds: nobody knows when a request in flight will end


class Account:
    """One owner of limits. Times are nanoseconds of the monotonic clock; days are UTC days since 1970."""

    __slots__ = (
        *("_base_money", "_base_tokens", "_budget", "_concurrency", "_in_flight", "_requests", "_requests_rate"),
        *("_requests_tat", "_reserved_money", "_reserved_tokens", "_row", "_spent_money", "_spent_tokens", "_table"),
        *("_request_interval", "_single", "_token_budget", "warn_money", "warn_tokens"),
        *("_tokens", "_tokens_tat", "_values", "_window", "_window_end", "_window_place", "_window_start"),
        *("has_budget", "has_cost_limits", "has_request_limits", "identity", "limits", "owner"),
    )

    def __init__(self, table: SharedTable, identity: bytes, limits: LimitSet, owner: str) -> None:
        row = table.row(identity)
        if row is None:  # the table is full: the limits hold in this worker alone
            table = SharedTable()
            row = table.row(identity)
        assert row is not None
        self._table = table
        self._values = table.values
        self._single = table.workers == 1  # a column is one word
        self._row = row
        self.identity = identity
        self.owner = owner
        self._requests_tat, self._requests_rate = row + REQUESTS_TAT, row + REQUESTS_RATE
        self._tokens_tat = row + TOKENS_TAT
        self._window_place, self._base_money, self._base_tokens = row + WINDOW, row + MONEY_BASE, row + TOKENS_BASE
        self._in_flight = table.column(row, IN_FLIGHT)
        self._reserved_money = table.column(row, RESERVED_MONEY)
        self._reserved_tokens = table.column(row, RESERVED_TOKENS)
        self._spent_money, self._spent_tokens = table.column(row, SPENT_MONEY), table.column(row, SPENT_TOKENS)
        self.change(limits)

    def change(self, limits: LimitSet) -> None:
        """New limits; what was used of the old ones stays used."""
        self.limits = limits
        self._requests = Rate(limits.rpm) if limits.rpm else None
        self._request_interval = MINUTE // limits.rpm if limits.rpm else 0
        self._tokens = Rate(limits.tpm) if limits.tpm else None
        self._concurrency = limits.concurrency
        self._budget, self._token_budget = limits.budget, limits.token_budget
        # From here on the client is warned.
        self.warn_money = None if limits.budget is None else limits.budget * WARNING_SHARE
        self.warn_tokens = None if limits.token_budget is None else limits.token_budget * WARNING_SHARE
        self.has_budget = limits.has_budget
        self.has_request_limits = bool(limits.rpm or limits.concurrency)
        self.has_cost_limits = self.has_budget or self._tokens is not None
        self._window = Window(0, 0)
        self._window_start = self._window_end = 0  # the days of the window that is known to be current

    def check_request(self, now: int) -> Refusal | None:
        """May one more request begin?"""
        if self._concurrency and self.in_flight >= self._concurrency:
            return Refusal("concurrency", self.owner, self._concurrency, CONCURRENCY_WAIT)
        rate = self._requests
        if rate is not None:
            if self._values[self._requests_rate] != rate.limit:
                self._change_rate(rate, now)
            # `rate.take` for one unit, without the calls.
            wait = max(self._values[self._requests_tat], now) + self._request_interval - now - MINUTE
            if wait > 0:
                return Refusal("rpm", self.owner, rate.limit, wait / NANOSECONDS)
        return None

    def take_request(self, now: int) -> None:
        """Begin it. After `check_request`, under the same lock."""
        values = self._values
        rate = self._requests
        if rate is not None:
            # What `check_request` has found to be allowed.
            values[self._requests_tat] = max(values[self._requests_tat], now) + self._request_interval
        values[self._in_flight] += 1

    def leave(self) -> None:
        self._values[self._in_flight] -= 1

    def check_cost(self, tokens: int, prompt: int, cost: int | None, now: int, day: int) -> Refusal | None:
        """May a request go on that is estimated at so many tokens, of which `prompt` are certain, and so much money?"""
        rate = self._tokens
        if rate is not None:
            tat = rate.take(self._values[self._tokens_tat], now, prompt)
            if tat < 0:
                return Refusal("tpm", self.owner, rate.limit, -tat / NANOSECONDS)
        if not self.has_budget:
            return None
        if not self._window_start <= day < self._window_end or self._values[self._window_place] != self._window_start:
            self._roll(day)
        budget = self._budget
        if budget is not None:
            if cost is None:
                return Refusal("price", self.owner, budget, None, self._window.ends_at, transient=False)
            if self._single:
                values = self._values
                taken = values[self._reserved_money] + values[self._spent_money] - values[self._base_money]
            else:  # what is reserved is read first: what moves meanwhile is counted twice, never not at all
                taken = self.reserved_money + self.spent_money
            if taken + cost > budget:
                return self._over("budget", budget, self.spent_money + cost, day)
        allowed = self._token_budget
        if allowed is not None and self.reserved_tokens + self.spent_tokens + tokens > allowed:
            return self._over("token_budget", allowed, self.spent_tokens + tokens, day)
        return None

    def take_cost(self, tokens: int, prompt: int, cost: int | None, now: int) -> int:
        """Reserve it. After `check_cost`, under the same lock. Gives the window that it counts in."""
        values = self._values
        rate = self._tokens
        if rate is not None:
            values[self._tokens_tat] = max(values[self._tokens_tat], now) + prompt * MINUTE // rate.limit
        if self.has_budget:
            values[self._reserved_money] += cost or 0
            values[self._reserved_tokens] += tokens
        return self._window_start

    def settle(self, reserved: Reserved, tokens: int, cost: int | None, window: int, now: int) -> None:
        """The request has ended: what it really took replaces what was reserved (tokens, prompt, cost)."""
        values = self._values
        rate = self._tokens
        if rate is not None:
            difference = tokens - reserved[1]
            self._table.lock()
            values[self._tokens_tat] = max(values[self._tokens_tat], now) + difference * MINUTE // rate.limit
            self._table.unlock()
        if self.has_budget:
            # Spent before it is no longer reserved: another worker may look in between (see `check_cost`).
            if values[self._window_place] == window:  # else it belongs to a window that is over
                values[self._spent_money] += cost or 0
                values[self._spent_tokens] += tokens
            values[self._reserved_money] -= reserved[2] or 0
            values[self._reserved_tokens] -= reserved[0]

    def load(self, window_start: int, money: int, tokens: int) -> None:
        """What the store says was spent in a window, in place of what was counted here."""
        self._table.lock()
        try:
            self._values[self._row + LOADED] = 1
            self._values[self._window_place] = window_start
            self._values[self._base_money] = self._table.total(self._row, SPENT_MONEY) - money
            self._values[self._base_tokens] = self._table.total(self._row, SPENT_TOKENS) - tokens
        finally:
            self._table.unlock()

    @property
    def is_loaded(self) -> bool:
        """Has any worker reported what was spent according to the store?"""
        return self._values[self._row + LOADED] == 1

    @property
    def in_flight(self) -> int:
        if self._single:
            return self._values[self._in_flight]
        return self._table.total(self._row, IN_FLIGHT)

    @property
    def spent_money(self) -> int:
        if self._single:
            return self._values[self._spent_money] - self._values[self._base_money]
        return self._table.total(self._row, SPENT_MONEY) - self._values[self._base_money]

    @property
    def spent_tokens(self) -> int:
        return self._table.total(self._row, SPENT_TOKENS) - self._values[self._base_tokens]

    @property
    def reserved_money(self) -> int:
        return self._table.total(self._row, RESERVED_MONEY)

    @property
    def reserved_tokens(self) -> int:
        return self._table.total(self._row, RESERVED_TOKENS)

    def remaining_requests(self, now: int) -> int | None:
        """Of this minute; None: there is no limit."""
        return None if self._requests is None else self._requests.remaining(self._values[self._requests_tat], now)

    def remaining_tokens(self, now: int) -> int | None:
        return None if self._tokens is None else self._tokens.remaining(self._values[self._tokens_tat], now)

    def resets_at(self, day: int) -> int | None:
        return window_of(self.limits.reset, day).ends_at

    def _change_rate(self, rate: Rate, now: int) -> None:
        """After a change of the limit as many requests remain as before, at most all. By the first worker that sees
        the change, under the lock."""
        values = self._values
        before = values[self._requests_rate]
        if before:
            free = (MINUTE - max(0, values[self._requests_tat] - now)) * before  # in requests, times a minute
            values[self._requests_tat] = now + MINUTE - min(free, rate.limit * MINUTE) // rate.limit
        values[self._requests_rate] = rate.limit

    def _roll(self, day: int) -> None:
        """Find the current window, and begin it if nobody has. Under the lock."""
        self._window = window = window_of(self.limits.reset, day)
        self._window_start = window.start
        self._window_end = day + 1 if window.end is None else window.end
        values = self._values
        if values[self._window_place] != window.start:
            values[self._base_money] = self._table.total(self._row, SPENT_MONEY)
            values[self._base_tokens] = self._table.total(self._row, SPENT_TOKENS)
            values[self._window_place] = window.start

    def _over(self, name: LimitName, limit: int, spent: int, day: int) -> Refusal:
        """`spent` is with the request that is refused, and without those in flight."""
        window = self._window
        if spent <= limit:  # only requests in flight stand in the way
            return Refusal(name, self.owner, limit, CONCURRENCY_WAIT, window.ends_at)
        wait = None if window.end is None else float((window.end - day) * DAY_SECONDS)
        return Refusal(name, self.owner, limit, wait, window.ends_at, transient=False)


Reserved = tuple[int, int, int | None]  # tokens, of which the prompt; money
