"""Usage rows for tests."""

from __future__ import annotations

from typing import Any

from moongate.gateway.store.record import UsageRow, label_of
from moongate.gateway.store.row_ids import first_row_of

DAY = 20_775  # 2026-11-18


def usage_row(
    number: int, *, day: int = DAY, key: str = "key_a", team: str = "", model: str = "kimi-k3", **changes: Any
) -> UsageRow:
    """The row with a number, at that microsecond of a day."""
    row = UsageRow(
        id=first_row_of(day) + (number << 12),
        label=label_of(key, team, "chat", "moonshot", model, "good"),
        request=f"req-{number}",
        status=200,
        attempts=1,
        repairs=1,
        input=100,
        cache_read=20,
        cache_write=3,
        output=50,
        reasoning=10,
        cost=1000,
        estimated=0,
        first_byte=200_000,
        duration=1_300_000,
    )
    return row._replace(**changes)
