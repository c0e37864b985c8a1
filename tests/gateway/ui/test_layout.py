"""Numbers as the pages write them."""

from __future__ import annotations

import pytest

from moongate.gateway.ui.layout import milliseconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.26, "0.3 ms"), (12.4, "12 ms"), (1240, "1.24 s"), (60_000, "1.0 min"), (7_100_000, "118.3 min"),
        (7_200_000, "2.0 h"), (172_799_000, "48.0 h"), (260_000_000, "3.0 d"),
    ],
)  # fmt: skip
def test_a_time_is_as_short_as_it_can_be_read(value: float | None, text: str) -> None:
    assert milliseconds(value) == text
