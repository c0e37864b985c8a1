"""The price of a model's tokens, and what an answer costs by it.

A price is an integer: millionths of a millionth of a dollar per token, which is dollars per million tokens times 10^6.
Costs are millionths of a dollar, rounded once, half up. What is not known is None, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from moongate.prices.tokens import TokenCounts

KINDS: Final = ("input", "cache_read", "cache_write", "output")
MAX_PRICE: Final = 100_000.0  # dollars per million tokens
_SCALE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """What one token of each kind costs; None: unknown."""

    input: int | None
    output: int | None
    cache_read: int | None = None
    cache_write: int | None = None

    def cost(self, tokens: TokenCounts) -> int | None:
        """Of an answer; None if a price is unknown of which there are tokens."""
        read, cached, stored, written, _ = tokens
        total = 0
        if read:
            if self.input is None:
                return None
            total = read * self.input
        if written:
            if self.output is None:
                return None
            total += written * self.output
        if cached:
            if self.cache_read is None:
                return None
            total += cached * self.cache_read
        if stored:
            if self.cache_write is None:
                return None
            total += stored * self.cache_write
        return (total + _SCALE // 2) // _SCALE

    @property
    def are_known(self) -> bool:
        """Is it known what a request costs at most?"""
        return self.input is not None and self.output is not None

    def charge(self, tokens: TokenCounts) -> int | None:
        """What an answer takes of a budget: its cost, with the tokens of the cache as fresh ones where their price is
        unknown."""
        read, cached, stored, written, _ = tokens
        if self.cache_read is None:
            read, cached = read + cached, 0
        if self.cache_write is None:
            read, stored = read + stored, 0
        return self.cost(TokenCounts(read, cached, stored, written))

    def upper_bound(self, prompt: int, answer: int) -> int | None:
        """What a request can cost whose prompt is not in the cache yet; None if it is unknown."""
        if self.input is None or self.output is None:
            return None
        dearest = max(self.input, self.cache_write or 0)
        return (prompt * dearest + answer * self.output + _SCALE - 1) // _SCALE


def per_million(dollars: float | None) -> int | None:
    """Dollars per million tokens as a price."""
    return None if dollars is None else round(dollars * _SCALE)


def shown(price: int | None) -> str:
    """A price in dollars per million tokens, for people."""
    if price is None:
        return "?"
    text = f"{price / _SCALE:.6f}".rstrip("0")
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction:0<2}"


def token_prices(values: Mapping[str, object]) -> TokenPrices:
    """Prices as a configuration says them: `{"input": 0.6, "output": 3.0}`, in dollars per million tokens. Raises
    ValueError with the place."""
    for name, value in values.items():
        if name not in KINDS:
            raise ValueError(f"{name!r} is no kind of token: {', '.join(KINDS)}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{name!r} must be a number of dollars per million tokens")
        if value is not None and not 0 <= value <= MAX_PRICE:
            raise ValueError(f"{name!r} must be between 0 and {MAX_PRICE:g} dollars per million tokens")
    dollars = {name: float(value) if isinstance(value, int | float) else None for name, value in values.items()}
    return TokenPrices(**{name: per_million(dollars.get(name)) for name in KINDS})
