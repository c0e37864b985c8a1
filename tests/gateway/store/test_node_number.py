"""Every gateway that writes into one database has a number of its own."""

from __future__ import annotations

import time
from pathlib import Path

from tests.support.postgres import PostgresServer

from moongate.gateway.config.store_settings import Store
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.node_number import node_number
from moongate.gateway.store.row_ids import MAX_NODES
from moongate.gateway.store.worker_store import WorkerStore


def test_each_has_its_own_and_keeps_it(store_url: str, tmp_path: Path) -> None:
    open_database(store_url).close()
    first = [node_number(store_url, tmp_path / f"home{number}") for number in range(3)]
    if "://" not in store_url:
        assert first == [0, 0, 0]
        return
    assert first == [0, 1, 2]
    assert [node_number(store_url, tmp_path / f"home{number}") for number in range(3)] == first
    # Kept beside the journal: the database need not be asked.
    assert node_number("postgresql://nobody@127.0.0.1:1/x", tmp_path / "home2") == 2


def test_when_all_are_taken_the_oldest_is_given_anew(store_url: str, tmp_path: Path) -> None:
    if "://" not in store_url:
        return
    database = open_database(store_url)
    for number in range(MAX_NODES):
        values = (number, f"n{number}", 1000 - number)
        database.run("INSERT INTO node (number, name, claimed) VALUES (?, ?, ?)", values)
    database.close()
    assert node_number(store_url, tmp_path) == MAX_NODES - 1


def test_a_gateway_that_runs_keeps_its_number_however_old_it_is(postgres: PostgresServer, tmp_path: Path) -> None:
    url = postgres.new_database("numbers")
    database = open_database(url)
    for number in range(MAX_NODES):
        values = (number, f"n{number}", 1000 + number)
        database.run("INSERT INTO node (number, name, claimed) VALUES (?, ?, ?)", values)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "node").write_text("0")
    store = WorkerStore((url, tmp_path / "old"), Store(), Limiter())
    store.start()
    end = time.monotonic() + 60
    while database.rows("SELECT 1 FROM node WHERE number = 0 AND claimed = 1000"):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert node_number(url, tmp_path / "new") == 1
    store.close()
    database.close()


def test_a_database_that_is_away_at_the_first_start(tmp_path: Path) -> None:
    assert 0 <= node_number("postgresql://nobody@127.0.0.1:1/x", tmp_path) < MAX_NODES
    assert (tmp_path / "node").read_text() == ""
