"""The limits of one key or team at work, in one row of the shared table.

`check_*` and `take_*` run under the table's lock: a request is admitted by all of its accounts or by none. What is
given back (`leave`, `settle`) goes to this worker's own columns and needs no lock, except for tokens per minute.
This runs for every request, so the places of words are computed once.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from moongate.gateway.limits.account_row import AccountRow
from moongate.gateway.limits.budget_share import WARNING_SHARE
from moongate.gateway.limits.gcra import MINUTE, Rate
from moongate.gateway.limits.limit_set import LimitName, LimitSet, Refusal
from moongate.gateway.limits.periods import DAY_SECONDS, Window, window_of
from moongate.gateway.limits.shared_table import LOADED, SPENT_MONEY, SPENT_TOKENS, SharedTable

NANOSECONDS: Final = 1_000_000_000
CONCURRENCY_WAIT: Final = 1.0  # seconds: nobody knows when a request in flight will end
NO_WINDOW: Final = -1  # of a request that began while there was no budget


class Account(AccountRow):
    """One owner of limits. Times are nanoseconds of the monotonic clock; days are UTC days since 1970."""

    __slots__ = (
        *("_budget", "_concurrency", "_has_new_period", "_request_interval", "_requests", "_rpm", "_token_budget"),
        *("_tokens", "_window"),
        *("_window_end", "_window_start", "has_budget", "has_cost_limits", "has_request_limits", "limits", "owner"),
        *("warn_money", "warn_tokens"),
    )

    def __init__(self, table: SharedTable, identity: bytes, limits: LimitSet, owner: str) -> None:
        super().__init__(table, identity)
        self.owner = owner
        self.limits = limits
        self._has_new_period = False
        self.change(limits)

    def change(self, limits: LimitSet, divisor: int = 1, *, keeps_budgets: bool = False) -> None:
        """New limits; what was used of the old ones stays used. `divisor`: so many gateways have a part of them each,
        because they cannot ask each other. `keeps_budgets`: of the budgets it has the part that it had."""
        self._has_new_period = self._has_new_period or limits.reset != self.limits.reset
        if not limits.has_budget:  # nothing is counted as spent from now on
            self._values[self._row + LOADED] = 0
        self.limits = limits
        self._rpm = limits.rpm
        rpm, tpm = _part(limits.rpm, divisor), _part(limits.tpm, divisor)
        self._requests = Rate(rpm) if rpm else None
        self._request_interval = MINUTE // rpm if rpm else 0
        self._tokens = Rate(tpm) if tpm else None
        self._concurrency = _part(limits.concurrency, divisor)
        if not keeps_budgets:
            self._budget, self._token_budget = limits.budget, limits.token_budget
        if divisor > 1:  # of what is left
            self._budget = _part_left(limits.budget, self.spent_money, divisor)
            self._token_budget = _part_left(limits.token_budget, self.spent_tokens, divisor)
        # From here on the client is warned.
        self.warn_money = None if limits.budget is None else ceil(limits.budget * WARNING_SHARE)
        self.warn_tokens = None if limits.token_budget is None else ceil(limits.token_budget * WARNING_SHARE)
        self.has_budget = limits.has_budget
        self.has_request_limits = bool(limits.rpm or limits.concurrency)
        self.has_cost_limits = self.has_budget or self._tokens is not None
        self._window = Window(0, 0)
        self._window_start = self._window_end = 0  # the days of the window that is known to be current

    def lower(self, money: int, tokens: int) -> None:
        """All gateways have spent so much: of its part it has no more than what is left of the whole."""
        budget, token_budget = self.limits.budget, self.limits.token_budget
        if self._budget is not None and budget is not None:
            self._budget = min(self._budget, self.spent_money + max(0, budget - money))
        if self._token_budget is not None and token_budget is not None:
            self._token_budget = min(self._token_budget, self.spent_tokens + max(0, token_budget - tokens))

    def check_request(self, now: int) -> Refusal | None:
        """May one more request begin?"""
        if self._concurrency and self.in_flight >= self._concurrency:
            return Refusal("concurrency", self.owner, self._concurrency, CONCURRENCY_WAIT)
        rate = self._requests
        if rate is not None:
            if self._values[self._requests_rate] != self._rpm:
                self._change_rate(now)
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
                return self._over("budget", self.limits.budget, self.spent_money + cost, day)
        allowed = self._token_budget
        if allowed is not None and self.reserved_tokens + self.spent_tokens + tokens > allowed:
            return self._over("token_budget", self.limits.token_budget, self.spent_tokens + tokens, day)
        return None

    def take_cost(self, tokens: int, prompt: int, cost: int | None, now: int, *, counted: bool = False) -> int:
        """Reserve it. After `check_cost`, under the same lock. Gives the window that it counts in, for `settle`.
        `counted`: its tokens are in the rate already."""
        values = self._values
        rate = self._tokens
        if rate is not None and not counted:
            values[self._tokens_tat] = max(values[self._tokens_tat], now) + rate.cost(prompt)
        if not self.has_budget:
            return NO_WINDOW
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
            values[self._tokens_tat] = max(values[self._tokens_tat], now) + rate.cost(difference)
            self._table.unlock()
        if window != NO_WINDOW:  # whether there is a budget now does not matter: what was reserved is given back
            # Spent before it is no longer reserved: another worker may look in between (see `check_cost`).
            if values[self._window_place] == window:  # else it belongs to a window that is over
                values[self._spent_money] += cost or 0
                values[self._spent_tokens] += tokens
            values[self._reserved_money] -= reserved[2] or 0
            values[self._reserved_tokens] -= reserved[0]

    def follow(self, requests: int, tokens: int, window: int, money: int, spent_tokens: int, now: int) -> None:
        """What is used over all gateways: nanoseconds until the rates are free, and what was spent in a window."""
        values = self._values
        if self._requests is not None:
            values[self._requests_tat], values[self._requests_rate] = now + requests, self._rpm
        if self._tokens is not None:
            values[self._tokens_tat] = now + tokens
        if self.has_budget:
            values[self._row + LOADED] = 1
            values[self._window_place] = window
            values[self._base_money] = self._table.total(self._row, SPENT_MONEY) - money
            values[self._base_tokens] = self._table.total(self._row, SPENT_TOKENS) - spent_tokens

    def must_load(self) -> bool:
        """Must what the store says was spent be loaded? Once after a change of the period, by each worker: until the
        last one has noticed it, they disagree about the window."""
        is_new, self._has_new_period = self._has_new_period, False
        return is_new or not self.is_loaded

    def current_window(self, day: int) -> int:
        """The first day of the window of its budget. Under the lock."""
        if not self._window_start <= day < self._window_end:
            self._roll(day)
        return self._window_start

    def remaining_requests(self, now: int) -> int | None:
        """Of this minute; None: there is no limit."""
        return None if self._requests is None else self._requests.remaining(self._values[self._requests_tat], now)

    def remaining_tokens(self, now: int) -> int | None:
        return None if self._tokens is None else self._tokens.remaining(self._values[self._tokens_tat], now)

    def resets_at(self, day: int) -> int | None:
        return window_of(self.limits.reset, day).ends_at

    def _change_rate(self, now: int) -> None:
        """After a change of the limit as many requests remain as before, at most all. By the first worker that sees
        the change, under the lock."""
        values = self._values
        before = values[self._requests_rate]
        if before:
            free = (MINUTE - max(0, values[self._requests_tat] - now)) * before  # in requests, times a minute
            values[self._requests_tat] = now + MINUTE - min(free, self._rpm * MINUTE) // self._rpm
        values[self._requests_rate] = self._rpm

    def _roll(self, day: int) -> None:
        """Find the current window, and begin it if it has not begun. Under the lock."""
        values = self._values
        window = window_of(self.limits.reset, day)
        if day == values[self._window_place] - 1:  # the clock went back over midnight: what was spent stays spent
            later = window_of(self.limits.reset, day + 1)
            window = later if later.start == day + 1 else window
        self._window = window
        self._window_start = window.start
        self._window_end = day + 1 if window.end is None else window.end
        if values[self._window_place] != window.start:
            values[self._base_money] = self._table.total(self._row, SPENT_MONEY)
            values[self._base_tokens] = self._table.total(self._row, SPENT_TOKENS)
            values[self._window_place] = window.start

    def _over(self, name: LimitName, budget: int | None, spent: int, day: int) -> Refusal:
        """`budget` is the whole one, `spent` is with the request that is refused, and without those in flight."""
        window, limit = self._window, budget or 0
        if spent <= limit:  # only requests in flight stand in the way, or that this gateway has a part of it
            return Refusal(name, self.owner, limit, CONCURRENCY_WAIT, window.ends_at)
        wait = None if window.end is None else float((window.end - day) * DAY_SECONDS)
        return Refusal(name, self.owner, limit, wait, window.ends_at, transient=False)


def _part(limit: int, divisor: int) -> int:
    """Of a limit that several gateways divide; what is limited stays limited, and possible."""
    return limit if divisor == 1 else max(1, limit // divisor) if limit else 0


def _part_left(limit: int | None, spent: int, divisor: int) -> int | None:
    return None if limit is None else spent + max(0, limit - spent) // divisor


Reserved = tuple[int, int, int | None]  # tokens, of which the prompt; money
