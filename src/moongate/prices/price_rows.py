"""Prices of Kimi models by host, as public catalogues gave them on the day that stands in each row.

A new price is one row of `ROWS`. A host without a row, a model without a row and a kind of token without a number are
unknown. Plans with a monthly price (Moonshot's coding plan) and prices in other currencies have no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from moongate.kimi.generations import normalise_name
from moongate.prices.price import TokenPrices, per_million

_MOONSHOT: Final = ("api.moonshot.ai",)
_TOGETHER: Final = ("api.together.xyz", "api.together.ai")
_FIREWORKS: Final = ("api.fireworks.ai",)
_CATALOGUES: Final = "public model catalogues"  # not the vendor's own page


@dataclass(frozen=True, slots=True)
class PriceRow:
    """What a host takes for a model. `model` is the name that the host has for it."""

    domains: tuple[str, ...]
    model: str
    prices: TokenPrices
    source: str
    date: str


def _row(
    domains: tuple[str, ...],
    model: str,
    dollars: tuple[float, float | None, float],
    cache_write: float | None = None,
    source: str = _CATALOGUES,
    date: str = "2026-11-18",
) -> PriceRow:
    """`dollars` per million tokens: input, cache read, output."""
    read, cached, written = dollars
    prices = TokenPrices(per_million(read), per_million(written), per_million(cached), per_million(cache_write))
    return PriceRow(domains, model, prices, source, date)


ROWS: Final = (
    _row(_MOONSHOT, "kimi-k2.5", (0.60, 0.10, 3.00)),
    _row(_MOONSHOT, "kimi-k2.6", (0.95, 0.16, 4.00)),
    _row(_MOONSHOT, "kimi-k2.7-code", (0.95, 0.19, 4.00)),
    _row(_MOONSHOT, "kimi-k2.7-code-highspeed", (1.90, 0.38, 8.00)),
    _row(_MOONSHOT, "kimi-k3", (3.00, 0.30, 15.00)),
    # Kept for five minutes; kept for an hour, writing costs 4.00.
    _row(_MOONSHOT, "kimi-k3.1-pro", (2.00, 0.20, 10.00), cache_write=2.00),
    _row(
        _TOGETHER,
        "moonshotai/Kimi-K3",
        (3.00, None, 15.00),
        None,
        "a catalogue citing docs.together.ai",
        "2026-10-04",
    ),
    _row(
        _FIREWORKS,
        "accounts/fireworks/models/kimi-k2p6",
        (0.95, None, 4.00),
        None,
        "a catalogue citing fireworks.ai",
        "2026-10-04",
    ),
)


def find_price(base_url: str, model: str) -> PriceRow | None:
    """The row of a model at a host; None: the price is not known."""
    domain, name = _domain(base_url), normalise_name(model)
    return next((row for row in ROWS if domain in row.domains and normalise_name(row.model) == name), None)


def _domain(base_url: str) -> str:
    try:
        found = urlsplit(base_url if "//" in base_url else f"//{base_url}").hostname
    except ValueError:  # half of an IPv6 address
        return ""
    return (found or "").rstrip(".")
