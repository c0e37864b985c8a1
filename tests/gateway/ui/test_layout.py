"""Numbers as the pages write them, and the labels of their bars."""

from __future__ import annotations

import pytest

from moongate.gateway.ui.layout import dollars, milliseconds
from moongate.gateway.ui.waterfall import waterfall


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.26, "0.3 ms"), (12.4, "12 ms"), (1240, "1.24 s"), (60_000, "1.0 min"), (7_100_000, "118.3 min"),
        (7_200_000, "2.0 h"), (172_799_000, "48.0 h"), (260_000_000, "3.0 d"),
    ],
)  # fmt: skip
def test_a_time_is_as_short_as_it_can_be_read(value: float | None, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0, "$0"), (0.000011, "$0.000011"), (0.0001347, "$0.000135"), (0.00128, "$0.0013"),
        (1234.5, "$1,234.50"),
    ],
)  # fmt: skip
def test_money_has_two_digits_that_count_at_least(value: float | None, text: str) -> None:
    assert dollars(value) == text


def test_the_target_of_an_attempt_is_said_in_full() -> None:
    times = {"sent_at": 0.0, "head_at": 0.1, "ended_at": 0.5}
    attempt = {"target": "openrouter,moonshotai/kimi-k2.6", "further": False, "status": 200, "error": None, **times}
    shown = waterfall({"ended_at": 0.5, "first_byte_at": 0.1, "attempts": [attempt]})
    assert "attempt 1 · openrouter,moonshotai/kimi-k2.6<" in shown
