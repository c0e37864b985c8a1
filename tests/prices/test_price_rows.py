"""The price table that ships with the program."""

from __future__ import annotations

from datetime import date

import pytest

from moongate.prices.price import per_million
from moongate.prices.price_rows import ROWS, find_price

MOONSHOT = "https://api.moonshot.ai/v1"


@pytest.mark.parametrize(
    ("base_url", "model", "input_price", "output_price"),
    [
        (MOONSHOT, "kimi-k2.5", 0.60, 3.00),
        (MOONSHOT, "kimi-k2.6", 0.95, 4.00),
        (MOONSHOT, "kimi-k2.7-code", 0.95, 4.00),
        (MOONSHOT, "kimi-k2.7-code-highspeed", 1.90, 8.00),
        (MOONSHOT, "kimi-k3", 3.00, 15.00),
        ("api.moonshot.ai.", "kimi-k3.1-pro", 2.00, 10.00),
        ("https://api.together.xyz/v1", "moonshotai/Kimi-K3", 3.00, 15.00),
        ("https://api.fireworks.ai/inference/v1", "accounts/fireworks/models/kimi-k2p6", 0.95, 4.00),
    ],
)
def test_known_prices(base_url: str, model: str, input_price: float, output_price: float) -> None:
    row = find_price(base_url, model)
    assert row is not None
    assert (row.prices.input, row.prices.output) == (per_million(input_price), per_million(output_price))


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        (MOONSHOT, "kimi-k3.1-pro-highspeed"),
        (MOONSHOT, "kimi-k2.9"),
        ("https://api.moonshot.cn/v1", "kimi-k3"),
        ("https://api.kimi.com/coding/v1", "k3.1-pro"),
        ("http://127.0.0.1:8000/v1", "kimi-k3"),
        ("https://api.moonshot.ai.evil.example/v1", "kimi-k3"),
        ("http://[::1", "kimi-k3"),
        ("", ""),
    ],
)
def test_unknown_is_none(base_url: str, model: str) -> None:
    assert find_price(base_url, model) is None


def test_every_row_says_where_it_comes_from_and_when() -> None:
    for row in ROWS:
        assert row.source
        assert date(2026, 1, 1) <= date.fromisoformat(row.date) <= date(2026, 11, 18)
    assert len({(row.domains, row.model) for row in ROWS}) == len(ROWS)


def test_every_row_names_a_model_as_its_host_does() -> None:
    for row in ROWS:
        assert find_price(row.domains[0], row.model) is row
