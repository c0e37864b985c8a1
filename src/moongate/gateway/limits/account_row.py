"""The words of one key or team in the shared table: where they are, and what they say."""

from __future__ import annotations

from typing import SupportsIndex

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


class AccountRow:
    """One row. The places of its words are computed once, because every request reads them."""

    __slots__ = (
        *("_base_money", "_base_tokens", "_in_flight", "_requests_rate", "_requests_tat", "_reserved_money"),
        *("_reserved_tokens", "_row", "_single", "_spent_money", "_spent_tokens", "_table", "_tokens_tat", "_values"),
        *("_window_place", "identity"),
    )

    def __init__(self, table: SharedTable, identity: bytes) -> None:
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
        # Objects: of an `int` machine code would make one whenever it is used.
        self._requests_tat: SupportsIndex = row + REQUESTS_TAT
        self._requests_rate: SupportsIndex = row + REQUESTS_RATE
        self._tokens_tat: SupportsIndex = row + TOKENS_TAT
        self._window_place: SupportsIndex = row + WINDOW
        self._base_money: SupportsIndex = row + MONEY_BASE
        self._base_tokens: SupportsIndex = row + TOKENS_BASE
        self._in_flight: SupportsIndex = table.column(row, IN_FLIGHT)
        self._reserved_money: SupportsIndex = table.column(row, RESERVED_MONEY)
        self._reserved_tokens: SupportsIndex = table.column(row, RESERVED_TOKENS)
        self._spent_money: SupportsIndex = table.column(row, SPENT_MONEY)
        self._spent_tokens: SupportsIndex = table.column(row, SPENT_TOKENS)

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
        if self._single:
            return self._values[self._spent_tokens] - self._values[self._base_tokens]
        return self._table.total(self._row, SPENT_TOKENS) - self._values[self._base_tokens]

    @property
    def reserved_money(self) -> int:
        return self._table.total(self._row, RESERVED_MONEY)

    @property
    def reserved_tokens(self) -> int:
        if self._single:
            return self._values[self._reserved_tokens]
        return self._table.total(self._row, RESERVED_TOKENS)

    def rates(self) -> tuple[int, int]:
        """When requests and tokens are free again, by the monotonic clock."""
        return self._values[self._requests_tat], self._values[self._tokens_tat]
