"""The store as a worker sees it: keys that change, budgets that were spent, rows of dead workers."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.store.rows import usage_row
from tests.support.postgres import PostgresServer

from moongate.errors import Overloaded
from moongate.gateway.config.store_settings import Store
from moongate.gateway.http.auth import Client, ClientAuth
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey, Team, digest_of
from moongate.gateway.store.errors import StoreCorrupt, StoreFull
from moongate.gateway.store.journal import Journal
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.snapshot import read_snapshot
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.store.worker_store import WorkerStore, store_place
from moongate.gateway.store.writer import UsageWriter


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def place(store_url: str, tmp_path: Path) -> tuple[str, Path]:
    return store_url, tmp_path / "journal"


@pytest.fixture
def keys(store_url: str) -> Iterator[KeyStore]:
    database = open_database(store_url)
    yield KeyStore(database)
    database.close()


def client_of(auth: ClientAuth, secret: str) -> Client:
    return auth.authenticate({b"authorization": f"Bearer {secret}".encode()})


def test_places() -> None:
    home = Path("/home/x/.config/moongate")
    assert store_place(Store(), home) == (str(home / "moongate.db"), home / "moongate.db.journal")
    assert store_place(Store(place="/data/a.db"), home) == ("/data/a.db", Path("/data/a.db.journal"))
    assert store_place(Store(place="postgresql://x/y"), home) == ("postgresql://x/y", home / "journal")
    assert store_place(Store(place="off"), home) is None


def test_a_key_is_never_seen_without_its_team(store_url: str, keys: KeyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are made while another connection is between the teams and the keys: it has seen neither, or both."""
    reading, read_keys = open_database(store_url), KeyStore.list_keys

    def list_keys(store: KeyStore) -> list[StoredKey]:
        team = keys.create_team(Team("", "blue"), "test")
        keys.create_key(StoredKey("", b"", "", "ada", team.id), "test")
        return read_keys(store)

    monkeypatch.setattr(KeyStore, "list_keys", list_keys)
    snapshot = read_snapshot(reading, 20_000)
    reading.close()
    assert {key.team for key in snapshot.keys.values()} <= set(snapshot.teams)
    assert (snapshot.revision, keys.revision()) == (0, 2)


def test_keys_are_found_and_changes_are_noticed(place: tuple[str, Path], keys: KeyStore) -> None:
    team = keys.create_team(Team("", "blue", ("a*",), LimitSet(rpm=5)), "test")
    key, secret = keys.create_key(StoredKey("", b"", "", "ada", team.id, ("*b",), LimitSet(concurrency=2)), "test")
    limiter = Limiter()
    store = WorkerStore(place, Store(), limiter)
    store.start()
    auth = ClientAuth((), limiter, store)
    client = client_of(auth, secret)
    assert (client.name, client.key_id, client.team_id) == ("ada", key.id, team.id)
    assert [(account.owner, account.limits) for account in client.accounts] == [
        ("key", LimitSet(concurrency=2)), ("team", LimitSet(rpm=5)),
    ]  # fmt: skip
    assert [client.may_use(name) for name in ("ab", "a", "b")] == [True, False, False]
    assert client_of(auth, secret) is client
    keys.change_key(key.id, lambda old: replace(old, limits=LimitSet(concurrency=9)), "test")
    until(lambda: client_of(auth, secret).accounts[0].limits == LimitSet(concurrency=9))
    keys.change_team(team.id, lambda old: replace(old, disabled=True), "test")
    until(lambda: store.find(digest_of(secret)) is None)
    keys.change_team(team.id, lambda old: replace(old, disabled=False), "test")
    until(lambda: store.find(digest_of(secret)) is not None)
    keys.delete_key(key.id, "test")
    until(lambda: store.find(digest_of(secret)) is None)
    store.close()


def test_a_key_stops_when_it_expires_or_its_grace_is_over(place: tuple[str, Path], database: Database) -> None:
    now = int(time.time())
    keys = KeyStore(database, lambda: now + 0.9)
    key, old = keys.create_key(StoredKey("", b"", "", expires=now + 1000), "test")
    _, new = keys.rotate_key(key.id, 60, "test")
    store = WorkerStore(place, Store(), Limiter(), clock=lambda: now + 0.0)
    found = [store.find(digest_of(each)) for each in (old, new)]
    assert [each.expires - now for each in found if each is not None and each.expires is not None] == [60, 1000]
    store.close()
    later = WorkerStore(place, Store(), Limiter(), clock=lambda: now + 100.0)
    assert later.find(digest_of(old)) is None
    assert later.find(digest_of(new)) is not None
    later.close()


def test_what_was_spent_before_the_start_counts(place: tuple[str, Path], keys: KeyStore) -> None:
    team = keys.create_team(Team("", "blue", limits=LimitSet(token_budget=10_000, reset="month")), "test")
    key, secret = keys.create_key(StoredKey("", b"", "", "", team.id, (), LimitSet(budget=9000)), "test")
    journal = Journal(place[1])
    for _ in range(3):  # in the journal only: the last run was killed
        row = usage_row(0, key=key.id, team=team.id)
        journal.end(-1, journal.ids.take(), row.label, b"r", row[3:])
    row = usage_row(0, key=key.id, team=team.id, estimated=1)
    journal.begin(journal.ids.take(), row.label, b"r", row[3:])
    journal._slots.close()
    os.close(journal._lock)  # as if it had died
    store = WorkerStore(place, Store(), Limiter())
    client = store.find(digest_of(secret))
    assert client is not None
    assert [account.spent_money for account in client.accounts] == [4000, 4000]
    assert client.accounts[1].spent_tokens == 4 * 173
    store.close()


def test_what_was_spent_counts_when_the_period_changes_or_a_budget_comes_back(
    place: tuple[str, Path], keys: KeyStore
) -> None:
    key, secret = keys.create_key(StoredKey("", b"", "", limits=LimitSet(budget=9000, reset="day")), "test")
    journal = Journal(place[1], worker=1)
    spent = usage_row(0, key=key.id)
    journal.end(-1, journal.ids.take() - (2 * 86_400_000_000 << 12), spent.label, b"earlier", spent[3:])
    journal.end(-1, journal.ids.take(), spent.label, b"today", spent[3:])
    store = WorkerStore(place, Store(), Limiter(), worker=0)
    store.start()

    def change(limits: LimitSet) -> None:
        keys.change_key(key.id, lambda old: replace(old, limits=limits), "test")
        until(lambda: account().limits == limits)

    def account() -> Account:
        found = store.find(digest_of(secret))
        assert found is not None
        return found.accounts[0]

    assert account().spent_money == spent.cost
    change(LimitSet(budget=9000, reset="never"))
    assert account().spent_money == 2 * spent.cost
    change(LimitSet(rpm=5))
    journal.end(-1, journal.ids.take(), spent.label, b"without a budget", spent[3:])
    until(lambda: store.read_all_spent() == {} and _sum_of(place[0]) == 3)
    change(LimitSet(budget=9000, reset="never"))
    assert account().spent_money == 3 * spent.cost
    journal.close()
    store.close()


def _sum_of(url: str) -> int:
    database = open_database(url)
    (found,) = usage_sums(database, ())
    database.close()
    return int(found["requests"])


def test_a_store_that_fails_is_reported_once(place: tuple[str, Path], tmp_path: Path) -> None:
    warnings: list[str] = []
    store = WorkerStore(place, Store(), Limiter(), warn=warnings.append)
    for _ in range(3):
        for thread in ("keys", "usage"):
            store._failed(thread, StoreCorrupt("it is damaged"))
    assert warnings == ["it is damaged; usage waits in the journal"]
    store.close()
    (tmp_path / "bad.db").write_bytes(b"no database" * 500)
    with pytest.raises(StoreCorrupt):
        WorkerStore((str(tmp_path / "bad.db"), tmp_path / "other"), Store(), Limiter())
    WorkerStore(place, Store(), Limiter()).close()


def test_rows_wait_while_the_file_is_damaged_and_go_into_the_one_that_takes_its_place(tmp_path: Path) -> None:
    """A connection that was open before may write into the damaged file as if nothing were."""
    place = str(tmp_path / "moongate.db"), tmp_path / "journal"
    warnings: list[str] = []
    store = WorkerStore(place, Store(), Limiter(), warn=warnings.append)
    store.start()
    row = usage_row(1)
    store.accounting.journal.end(-1, row.id, row.label, b"before", row[3:])
    until(lambda: _stored(place[0]) == ["before"])
    file = tmp_path / "moongate.db"
    with file.open("r+b") as content:
        content.write(b"no database" * 500)
    until(lambda: any("is no SQLite file" in text for text in warnings))
    until(lambda: not store._writer.must_reopen)
    row = usage_row(2)
    store.accounting.journal.end(-1, row.id, row.label, b"after", row[3:])
    for part in sorted(tmp_path.glob("moongate.db*"), reverse=True):  # its companions first
        part.rename(part.with_name(f"old-{part.name}"))
    until(lambda: file.exists() and _stored(place[0]) == ["after"])
    until(lambda: warnings[-1] == "the store can be used again")
    store.close()


def _stored(url: str) -> list[str]:
    """The names of the requests in the store."""
    database = open_database(url)
    names = [str(row[0]) for row in database.rows("SELECT request FROM usage ORDER BY id")]
    database.close()
    return names


@pytest.mark.usefixtures("postgres")
def test_each_outage_is_told_of_and_its_end(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        warnings: list[str] = []
        store = WorkerStore((server.url(), tmp_path / "journal"), Store(), Limiter(), warn=warnings.append)
        store.start()
        for _ in range(2):
            count = len(warnings)
            server.kill()
            until(lambda: any("waits in the journal" in text for text in warnings[count:]))  # noqa: B023
            server.start()
            until(lambda: "the store can be used again" in warnings[count:])  # noqa: B023
        store.close()
    finally:
        server.stop()


def test_a_database_that_is_away_at_the_start_is_used_when_it_is_back(tmp_path: Path) -> None:
    place = str(tmp_path / "moongate.db"), tmp_path / "journal"
    database = open_database(place[0])
    _, secret = KeyStore(database).create_key(StoredKey("", b"", ""), "test")
    database.close()
    warnings: list[str] = []
    row, journal = usage_row(1), Journal(place[1])
    journal.end(-1, row.id, row.label, b"r", row[3:])
    journal.close()
    blocker = sqlite3.connect(place[0], isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    store = WorkerStore(place, Store(), Limiter(), warn=warnings.append)
    assert "usage waits in the journal" in warnings[0]
    with pytest.raises(Overloaded, match="cannot be reached now"):
        store.find(digest_of(secret))
    store.start()
    blocker.execute("ROLLBACK")
    blocker.close()
    until(lambda: _found(store, secret))
    store.close()


class OnFullDisk(WorkerStore):
    """At the start nothing can be written."""

    def _new_writer(self, *values: Any) -> UsageWriter:
        writer = super()._new_writer(*values)

        def catch_up(seconds: float) -> None:
            raise StoreFull("the disk is full")

        writer.catch_up = catch_up  # type: ignore[method-assign]
        return writer


@pytest.mark.interpreted("derives a class from ours")
def test_a_worker_that_starts_on_a_full_disk_uses_the_store_when_there_is_room(tmp_path: Path) -> None:
    place = str(tmp_path / "moongate.db"), tmp_path / "journal"
    database = open_database(place[0])
    _, secret = KeyStore(database).create_key(StoredKey("", b"", ""), "test")
    database.close()
    warnings: list[str] = []
    store = OnFullDisk(place, Store(), Limiter(), warn=warnings.append)
    assert warnings == ["the disk is full; usage waits in the journal"]
    with pytest.raises(Overloaded, match="cannot be reached now"):
        store.find(digest_of(secret))
    store.start()
    until(lambda: _found(store, secret))
    store.close()


def _found(store: WorkerStore, secret: str) -> bool:
    try:
        return store.find(digest_of(secret)) is not None
    except Overloaded:
        return False
