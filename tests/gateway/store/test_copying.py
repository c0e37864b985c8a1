"""Backups and restores between both kinds of database."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.gateway.store.rows import DAY, usage_row

from moongate.errors import BadRequest
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.copying import PAGE, copy_store
from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey, Team
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.record import UsageRow
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums


def fill(database: Database, rows: int = 300) -> None:
    store = KeyStore(database)
    team = store.create_team(Team("", "blue", ("kimi-*",), LimitSet(budget=5, reset="month")), "test")
    key, _ = store.create_key(StoredKey("", b"", "", "ada", team.id, metadata={"a": [1]}), "test")
    store.rotate_key(key.id, 60, "test")
    unpriced = UsageTable(database)
    unpriced.add([usage_row(n, key="key_9", cost=-1, first_byte=-1, estimated=1) for n in range(rows, rows + 5)])
    unpriced.add([usage_row(n, day=DAY + n % 3, key=f"key_{n % 7}") for n in range(rows)])


def contents(database: Database) -> tuple[object, ...]:
    store = KeyStore(database)
    return store.revision(), store.teams(), store.list_keys(), store.audit(), stored(database), sums(database)


def stored(database: Database) -> list[UsageRow]:
    return sorted(UsageTable(database).find([row[0] for row in database.rows("SELECT id FROM usage")]))


def sums(database: Database) -> object:
    return usage_sums(database, ("key", "day"))


def test_a_backup_is_a_store_and_comes_back_into_an_empty_one(
    database: Database, store_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fill(database, PAGE + 300)
    database.backup(tmp_path / "copy.db")
    copy = open_database(str(tmp_path / "copy.db"))
    assert contents(copy) == contents(database)
    other = _other_kind(store_url, tmp_path, request)
    assert copy_store(copy, other) == PAGE + 305
    assert contents(other) == contents(database)
    with pytest.raises(BadRequest, match="is not empty"):
        copy_store(copy, other)
    # Ids go on behind those that were copied.
    KeyStore(other).create_team(Team("", "green"), "test")
    assert UsageTable(other).add([usage_row(999_999, key="key_new")]) == 1
    assert len(KeyStore(other).audit()) == 4
    copy.close()
    other.close()
    assert [path.name for path in tmp_path.glob("*copy*")] == ["copy.db"]


def _other_kind(store_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Database:
    if "://" in store_url:
        return open_database(str(tmp_path / "other.db"))
    server = request.getfixturevalue("postgres")
    return open_database(server.new_database("restored"))


def test_a_backup_is_of_one_moment(database: Database, store_url: str, tmp_path: Path) -> None:
    """Rows and sums agree, though somebody writes meanwhile."""
    fill(database)
    stop = threading.Event()

    def write() -> None:
        other = open_database(store_url)
        table, number = UsageTable(other), 1000
        while not stop.is_set():
            table.add([usage_row(number + n, key=f"key_{n}") for n in range(20)])
            number += 20
        other.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(5):
            database.backup(tmp_path / f"copy-{number}.db")
            copy = open_database(str(tmp_path / f"copy-{number}.db"))
            assert usage_sums(copy, ())[0]["requests"] == len(stored(copy))
            copy.close()
    finally:
        stop.set()
        thread.join()
