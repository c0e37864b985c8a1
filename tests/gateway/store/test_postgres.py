"""PostgreSQL when something is wrong, on a real server."""

from __future__ import annotations

from types import SimpleNamespace

import psycopg
import pytest
from tests.gateway.store.rows import DAY, usage_row
from tests.support.postgres import PASSWORD, PostgresServer

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.errors import StoreBusy, StoreCorrupt, StoreDenied, StoreError, StoreFull, StoreUnreachable
from moongate.gateway.store.postgres import PostgresDatabase, explained, without_password
from moongate.gateway.store.row_ids import first_row_of
from moongate.gateway.store.usage import UsageTable


def test_a_wrong_password(postgres: PostgresServer) -> None:
    with pytest.raises(StoreDenied, match="refuses the password: check the URL") as caught:
        open_database(postgres.url(password="canary-wrong"))
    assert "canary-wrong" not in str(caught.value)


def test_a_database_that_is_not_there(postgres: PostgresServer) -> None:
    with pytest.raises(StoreDenied, match="has no database of this name"):
        open_database(postgres.url("nowhere"))


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(StoreUnreachable, match="cannot be reached"):
        open_database("postgresql://moongate:secret@127.0.0.1:9/x")


def test_a_url_that_is_none() -> None:
    with pytest.raises(StoreDenied, match="URL is none") as caught:
        open_database("postgresql://a:se%zzcret@[::1/x")
    assert "cret" not in str(caught.value)


def test_a_server_that_dies_and_comes_back() -> None:
    server = PostgresServer()
    try:
        database = PostgresDatabase(server.url())
        table = UsageTable(database)
        table.add([usage_row(1)])
        server.kill()
        with pytest.raises(StoreUnreachable):
            table.add([usage_row(2)])
        server.start()
        again = open_database(server.url())
        assert UsageTable(again).add([usage_row(1), usage_row(2)]) == 1
        again.close()
        database.close()
    finally:
        server.stop()


def test_days_are_partitions_and_leave_whole(postgres: PostgresServer) -> None:
    database = open_database(postgres.new_database("partitions"))
    other = open_database(postgres.url("partitions"))
    names = "SELECT relname FROM pg_class WHERE relname LIKE 'usage\\_2%' AND relkind = 'r' ORDER BY relname"
    for each in (database, other):
        UsageTable(each).add([usage_row(n, day=DAY + n) for n in range(3)])
    assert database.rows(names) == [("usage_20261118",), ("usage_20261119",), ("usage_20261120",)]
    assert other.drop_usage_before(first_row_of(DAY + 1)) == 1
    assert database.rows(names) == [("usage_20261119",), ("usage_20261120",)]
    with pytest.raises(StoreError, match="no partition"):  # it does not know; a new connection does
        UsageTable(database).add([usage_row(9, day=DAY)])
    again = open_database(postgres.url("partitions"))
    assert UsageTable(again).add([usage_row(9, day=DAY)]) == 1
    for each in (database, other, again):
        each.close()


def test_a_transaction_that_fails_takes_its_partition_with_it(postgres: PostgresServer) -> None:
    database = open_database(postgres.new_database("failing"))

    def fail() -> None:
        with database.transaction():
            database.insert_usage([(1, usage_row(1).id, *usage_row(1)[2:])])
            database.run("SELECT * FROM nowhere")

    with pytest.raises(StoreError, match="nowhere"):
        fail()
    assert UsageTable(database).add([usage_row(1)]) == 1
    assert database.run("INSERT INTO daily VALUES (1, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)") == 1
    assert database.check() == ["the sums of day 1 name label 99, which is not there"]
    database.close()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("53100", StoreFull), ("42501", StoreDenied), ("55P03", StoreBusy), ("40P01", StoreBusy),
        ("XX001", StoreCorrupt), ("57P01", StoreUnreachable), ("08006", StoreUnreachable), ("42P01", StoreError),
    ],
)  # fmt: skip
def test_every_state_has_words(state: str, kind: type[StoreError]) -> None:
    found = explained(SimpleNamespace(sqlstate=state), "postgresql://x/y")
    assert type(found) is kind
    assert "postgresql://x/y" in found.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://me:{PASSWORD}@db.example:5433/gate?sslmode=require", "postgresql://me@db.example:5433/gate"),
        ("postgres://db.example/gate", "postgres://db.example/gate"),
        ("postgresql:///gate", "postgresql:///gate"),
        ("postgresql://a:b@[::1/x", "postgresql://…"),
    ],
)
def test_a_place_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_psycopg_is_there() -> None:
    assert psycopg.__version__
