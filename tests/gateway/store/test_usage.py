"""Usage rows and their sums: each request once, whatever comes twice."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.gateway.store.rows import DAY, usage_row
from tests.support.length import examples

from moongate.errors import BadRequest
from moongate.gateway.limits.periods import Window
from moongate.gateway.store import usage as usage_module
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.record import UNKNOWN, UsageRow, names_in
from moongate.gateway.store.row_ids import RowIds, day_of_row, first_row_of, time_of
from moongate.gateway.store.usage import SUMS, UsageTable
from moongate.gateway.store.usage_report import spent, usage_sums


def sums_of(rows: list[UsageRow]) -> dict[str, int]:
    """Computed another way than the store does."""
    names = [name for name in SUMS if name in UsageRow._fields and name != "cost"]
    found: dict[str, int] = {name: sum(getattr(row, name) for row in rows) for name in names}
    found["requests"] = len(rows)
    found["failed"] = sum(row.status >= 400 for row in rows)
    found["cost"] = sum(row.cost for row in rows if row.cost >= 0)
    found["unpriced"] = sum(row.cost < 0 for row in rows)
    return found


def test_a_row_comes_back_as_it_was(database: Database) -> None:
    table = UsageTable(database)
    rows = [usage_row(1), usage_row(2, cost=UNKNOWN, first_byte=UNKNOWN, status=502, estimated=1, team="team_x")]
    assert table.add(rows) == 2
    assert sorted(table.find([row.id for row in rows])) == rows
    assert table.add([]) == 0


def test_a_row_that_comes_again_changes_nothing(database: Database) -> None:
    table = UsageTable(database)
    first = [usage_row(number) for number in range(10)]
    assert table.add(first) == 10
    assert table.add([*first[5:], usage_row(20)]) == 1
    assert UsageTable(database).add([*first, usage_row(20)]) == 0
    assert usage_sums(database, ()) == [sums_of([*first, usage_row(20)])]


def test_an_exact_row_takes_the_place_of_an_estimated_one_and_never_the_other_way(database: Database) -> None:
    table = UsageTable(database)
    exact, guess = usage_row(1), usage_row(1, estimated=1, cost=99, output=999, model="other")
    assert table.add([guess, exact, guess]) == 1
    assert table.find([exact.id]) == [exact]
    assert table.add([usage_row(2, estimated=1, cost=5)]) == 1
    assert table.add([usage_row(2), usage_row(3)]) == 2
    assert table.add([usage_row(2, estimated=1, cost=5), usage_row(4)]) == 1
    rows = [exact, usage_row(2), usage_row(3), usage_row(4)]
    assert usage_sums(database, ()) == [sums_of(rows)]
    assert {row["model"] for row in usage_sums(database, ("model",)) if row["requests"]} == {"kimi-k3"}


@given(
    batches=st.lists(
        st.lists(
            st.builds(
                usage_row,
                st.integers(0, 12),
                day=st.sampled_from([DAY, DAY + 1]),
                key=st.sampled_from(["key_a", "key_b"]),
                estimated=st.integers(0, 1),
                cost=st.integers(-1, 10**9),
                status=st.sampled_from([200, 400, 502]),
            ),
            max_size=6,
        ),
        max_size=6,
    )
)
@settings(max_examples=examples(60))
def test_sums_always_equal_the_rows(batches: list[list[UsageRow]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"{folder}/moongate.db")
        _check_sums(database, batches)
        database.close()


def _check_sums(database: Database, batches: list[list[UsageRow]]) -> None:
    table = UsageTable(database)
    for batch in batches:
        table.add(batch)
    ids = sorted({row.id for batch in batches for row in batch})
    stored = table.find(ids)
    assert len(stored) == len(ids)
    expected = [sums_of(stored)] if stored else []
    assert usage_sums(database, ()) == expected
    for row in stored:
        came = [each for batch in batches for each in batch if each.id == row.id]
        assert row.estimated == min(each.estimated for each in came)


def test_sums_by_dimensions(database: Database) -> None:
    table = UsageTable(database)
    rows = [usage_row(n, key=f"key_{n % 2}", day=DAY + n % 3, team="t" if n % 2 else "") for n in range(12)]
    table.add(rows)
    found = usage_sums(database, ("key", "day"))
    assert [(row["key"], row["day"], row["requests"]) for row in found] == [
        (f"key_{key}", day, 2) for key in (0, 1) for day in ("2026-11-18", "2026-11-19", "2026-11-20")
    ]
    assert usage_sums(database, ("team",), first_day=DAY + 1, end_day=DAY + 2)[0]["requests"] == 2
    assert usage_sums(database, (), only={"key": "key_1"})[0] == sums_of(
        [row for row in rows if names_in(row.label)[1]]
    )
    assert usage_sums(database, ("key",), only={"key": "nobody"}) == []
    assert spent(database, "key", "key_1", Window(DAY, DAY + 1)) == (2000, 2 * 173)
    assert spent(database, "team", "t", Window(0, None)) == (6000, 6 * 173)
    assert spent(database, "key", "nobody", Window(0, None)) == (0, 0)


@pytest.mark.parametrize("by", [("colour",), ("key; DROP TABLE usage",)])
def test_unknown_dimensions_are_refused(database: Database, by: tuple[str, ...]) -> None:
    with pytest.raises(BadRequest, match="is none of"):
        usage_sums(database, by)


def test_a_key_knows_when_it_was_last_used(database: Database) -> None:
    keys, table = KeyStore(database), UsageTable(database)
    key, _ = keys.create_key(StoredKey("", b"", "", "a"), "test")
    other, _ = keys.create_key(StoredKey("", b"", "", "b"), "test")
    first, soon, later = usage_row(0, key=key.id), usage_row(1_000_000, key=key.id), usage_row(70_000_000, key=key.id)
    table.add([first])
    assert keys.key(key.id).last_used == time_of(first.id)
    table.add([soon])
    assert keys.key(key.id).last_used == time_of(first.id)
    table.add([later])
    assert keys.key(key.id).last_used == time_of(later.id)
    assert keys.key(other.id).last_used is None


def test_many_labels_are_forgotten_and_found_again(database: Database, monkeypatch: Any) -> None:
    monkeypatch.setattr(usage_module, "MAX_LABELS", 5)
    table = UsageTable(database)
    rows = [usage_row(n, key=f"key_{n % 11}") for n in range(44)]
    for at in range(0, 44, 4):
        table.add(rows[at : at + 4])
    assert usage_sums(database, ()) == [sums_of(rows)]
    assert len(usage_sums(database, ("key",))) == 11


def test_old_rows_go_and_their_sums_stay(database: Database) -> None:
    table = UsageTable(database)
    rows = [usage_row(n, day=DAY + n) for n in range(6)]
    table.add(rows)
    assert database.drop_usage_before(first_row_of(DAY + 4)) == 4
    assert sorted(table.find([row.id for row in rows])) == rows[4:]
    assert usage_sums(database, ()) == [sums_of(rows)]
    assert database.drop_usage_before(first_row_of(DAY + 4)) == 0
    table.add([usage_row(50, day=DAY + 1)])  # a late one makes its day again


def test_people_can_read_the_rows(database: Database) -> None:
    UsageTable(database).add([usage_row(0)])
    (row,) = database.rows("SELECT time, client_key, model, dollars, duration_seconds FROM usage_rows")
    assert str(row[0]).startswith("2026-11-18")
    assert (row[1], row[2], float(row[3]), float(row[4])) == ("key_a", "kimi-k3", 0.001, 1.3)


def test_ids_only_grow_and_hold_their_time() -> None:
    times = iter([1_763_424_000_000_000_000, 1_763_424_000_000_000_000, 5, 1_763_424_001_000_000_000])
    ids = RowIds(3, 2, clock=lambda: next(times))
    taken = [ids.take() for _ in range(4)]
    assert all(first < second for first, second in pairwise(taken))
    assert {each & 4095 for each in taken} == {2 * 64 + 3}
    assert time_of(taken[0]) == 1_763_424_000
    assert time_of(taken[3]) == 1_763_424_001
    assert day_of_row(taken[0]) == 1_763_424_000 // 86_400
    assert day_of_row(first_row_of(DAY)) == DAY
    assert day_of_row(first_row_of(DAY) - 1) == DAY - 1
