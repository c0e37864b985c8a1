"""Sums of usage by key, team, model and so on, out of the daily sums: the number of requests does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from moongate.errors import BadRequest
from moongate.gateway.limits.periods import Window, day_text
from moongate.gateway.store.database import Database, Value
from moongate.gateway.store.usage import SUMS
from moongate.payload import JsonObject

DIMENSIONS: Final[Mapping[str, str]] = {
    "key": "client_key",
    "team": "team",
    "front": "front",
    "provider": "provider",
    "model": "model",
    "worth": "worth",
    "day": "day",
}
TOKENS: Final = ("input", "cache_read", "cache_write", "output")
MAX_ROWS: Final = 100_000


def usage_sums(
    database: Database,
    by: Sequence[str],
    *,
    first_day: int | None = None,
    end_day: int | None = None,
    only: Mapping[str, str] | None = None,
) -> list[JsonObject]:
    """One object per combination of the dimensions `by`, with its sums; days are `2026-11-18`. Raises BadRequest."""
    for name in (*by, *(only or {})):
        if name not in DIMENSIONS:
            raise BadRequest(f"{name[:40]!r} is none of {', '.join(DIMENSIONS)}", path="by", code="bad_dimension")
    columns = [DIMENSIONS[name] for name in dict.fromkeys(by)]
    conditions, values = _conditions(first_day, end_day, only or {})
    sums = ", ".join(f"CAST(SUM(daily.{name}) AS BIGINT)" for name in SUMS)
    sql = f"SELECT {', '.join([*columns, sums])} FROM daily JOIN label ON label.id = daily.label {conditions}"
    if columns:
        order = ", ".join(str(at + 1) for at in range(len(columns)))
        sql += f" GROUP BY {', '.join(columns)} ORDER BY {order} LIMIT {MAX_ROWS}"
    names = (*dict.fromkeys(by), *SUMS)
    found = [dict(zip(names, row, strict=True)) for row in database.rows(sql, values) if row[-1] is not None]
    for row in found:
        if "day" in row:
            row["day"] = day_text(row["day"])
    return found


def spent(database: Database, dimension: str, name: str, window: Window) -> tuple[int, int]:
    """Money and tokens that a key or team has spent in a window."""
    only = {dimension: name}
    found = usage_sums(database, (), first_day=window.start, end_day=window.end, only=only)
    if not found:
        return 0, 0
    tokens = sum(found[0][kind] for kind in TOKENS)
    return found[0]["cost"], tokens


def spent_by_all(database: Database, dimension: str, window: Window) -> dict[str, tuple[int, int]]:
    """The same of all keys or teams that have spent anything, by one look at the sums: keys may be many."""
    column = DIMENSIONS[dimension]
    conditions, values = _conditions(window.start, window.end, {})
    tokens = " + ".join(f"daily.{name}" for name in TOKENS)
    sql = (
        f"SELECT {column}, CAST(SUM(daily.cost) AS BIGINT), CAST(SUM({tokens}) AS BIGINT) "
        f"FROM daily JOIN label ON label.id = daily.label {conditions} GROUP BY {column}"
    )
    return {str(name): (int(money), int(spent)) for name, money, spent in database.rows(sql, values)}


def _conditions(first_day: int | None, end_day: int | None, only: Mapping[str, str]) -> tuple[str, list[Value]]:
    parts: list[str] = []
    values: list[Value] = []
    for text, value in (("day >= ?", first_day), ("day < ?", end_day)):
        if value is not None:
            parts.append(text)
            values.append(value)
    for name, wanted in only.items():
        parts.append(f"{DIMENSIONS[name]} = ?")
        values.append(wanted)
    return f"WHERE {' AND '.join(parts)}" if parts else "", values
