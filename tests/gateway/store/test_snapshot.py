"""What a worker reads of the store when a key has changed: soon, however many keys there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tests.gateway.store.rows import DAY, usage_row

from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.database import Database, Row, Value
from moongate.gateway.store.entities import StoredKey, Team
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.snapshot import Spent, read_snapshot, spent_by
from moongate.gateway.store.usage import UsageTable

PERIODS = ("day", "week", "month", "10d", "never")


def _made(database: Database, count: int) -> list[StoredKey | Team]:
    """Keys and teams with budgets of all periods, and what they have spent on many days."""
    keys, made = KeyStore(database), list[StoredKey | Team]()
    for number in range(count):
        limits = LimitSet(budget=10**9, reset=PERIODS[number % len(PERIODS)])
        team = keys.create_team(Team("", f"team {number}", limits=limits), "test")
        key, _ = keys.create_key(StoredKey("", b"", "", "", team.id, limits=limits), "test")
        made += [team, key]
        rows = [usage_row(number, day=DAY - 40 + back, key=key.id, team=team.id, cost=back) for back in range(41)]
        UsageTable(database).add(rows)
    return made


def test_the_spent_of_all_is_the_spent_of_each(database: Database) -> None:
    keys = KeyStore(database)
    without, _ = keys.create_key(StoredKey("", b"", ""), "test")
    unused, _ = keys.create_key(StoredKey("", b"", "", limits=LimitSet(budget=5, reset="month")), "test")
    made = _made(database, 2 * len(PERIODS))
    found = read_snapshot(database, DAY).spent
    assert found[unused.identity] == Spent(DAY - 17, 0, 0)
    assert without.identity not in found
    assert len(found) == len(made) + 1
    for each in made:
        kind = "team" if isinstance(each, Team) else "key"
        assert found[each.identity] == spent_by(database, kind, each.id, each.limits, DAY)


class Watched:
    """A database that remembers what it was asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.asked: list[str] = []

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        self.asked.append(sql)
        return self._database.rows(sql, values)

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)


def _looks_at_sums(database: Database) -> int:
    watched = Watched(database)
    read_snapshot(cast(Database, watched), DAY)
    return sum("daily" in sql for sql in watched.asked)


def test_the_sums_are_looked_through_as_often_for_many_keys_as_for_few(database: Database) -> None:
    _made(database, len(PERIODS))
    assert _looks_at_sums(database) == 2 * len(PERIODS)
    more = _more_keys(database)
    assert len(read_snapshot(database, DAY).spent) == 2 * len(PERIODS) + more
    assert _looks_at_sums(database) == 2 * len(PERIODS)


def _more_keys(database: Database) -> int:
    """More keys with the same periods; gives how many."""
    keys = KeyStore(database)
    for number in range(20):
        limits = LimitSet(token_budget=10**9, reset=PERIODS[number % len(PERIODS)])
        keys.create_key(StoredKey("", b"", "", limits=limits), "test")
    return 20
