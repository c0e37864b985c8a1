"""SQLite when something is wrong: each fault says what it is and what to do."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.store.rows import usage_row

from moongate.gateway.store import sqlite as sqlite_module
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreDenied,
    StoreError,
    StoreFull,
    StoreUnreachable,
)
from moongate.gateway.store.sqlite import SqliteDatabase, explained
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "moongate.db"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SqliteDatabase]:
    """A store on a file system of one mebibyte; where none can be mounted, one whose file may not grow further."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    database = SqliteDatabase(folder / "moongate.db")
    if mounted.returncode != 0:
        database.rows("PRAGMA max_page_count = 100")
    yield database
    database.close()
    if mounted.returncode == 0:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_new_file_is_for_its_owner_only(path: Path) -> None:
    database = SqliteDatabase(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert database.rows("PRAGMA journal_mode") == [("wal",)]
    assert database.check() == []
    database.close()
    database.close()
    with pytest.raises(StoreUnreachable, match="is closed"):
        database.rows("SELECT 1")


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\x00" + bytes(5000)])
def test_a_file_of_another_kind(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="restore a backup"):
        SqliteDatabase(path)
    assert path.read_bytes() == content


def test_a_damaged_file(path: Path) -> None:
    database = SqliteDatabase(path)
    UsageTable(database).add([usage_row(n) for n in range(3000)])
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(os.urandom(40_000))
    damaged = SqliteDatabase(path)
    assert any("page" in line.lower() for line in damaged.check())
    with pytest.raises(StoreCorrupt, match="is damaged: restore a backup"):
        damaged.rows("SELECT SUM(duration) FROM usage")
    damaged.close()


def test_a_file_that_is_moved_away_or_replaced_is_used_no_more(path: Path) -> None:
    database = SqliteDatabase(path)
    path.rename(path.with_suffix(".old"))
    for _ in range(2):
        with pytest.raises(StoreUnreachable, match="was moved away or replaced"):
            UsageTable(database).add([usage_row(1)])
        SqliteDatabase(path).close()  # now another one is in its place
    database.close()


def test_a_full_disk(small_disk: SqliteDatabase) -> None:
    table = UsageTable(small_disk)
    added: list[int] = []

    def fill() -> None:
        for batch in range(1000):
            added.append(table.add([usage_row(batch * 100 + n) for n in range(100)]))

    with pytest.raises(StoreFull, match="is full: make room"):
        fill()
    assert usage_sums(small_disk, ())[0]["requests"] == sum(added)  # what was reported as added is there


def test_a_lock_that_is_not_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_module, "LOCK_SECONDS", 0.05)
    holder, database = SqliteDatabase(path), SqliteDatabase(path)
    with holder.transaction():
        with pytest.raises(StoreBusy, match="locked by another program"), database.transaction():
            raise AssertionError("nobody else may write now")
        assert database.rows("SELECT COUNT(*) FROM usage") == [(0,)]  # readers do not wait
    UsageTable(database).add([usage_row(1)])
    holder.close()
    database.close()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreDenied, match="cannot be written"):
        SqliteDatabase(tmp_path / "file" / "moongate.db")
    with pytest.raises(StoreError, match="mysql:// is no kind of store"):
        open_database("mysql://x")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreDenied),
        (sqlite3.SQLITE_CANTOPEN, StoreUnreachable),
        (sqlite3.SQLITE_IOERR_READ, StoreUnreachable),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreCorrupt),
        (sqlite3.SQLITE_MISUSE, StoreError),
    ],
)
def test_every_code_has_words(code: int, kind: type[StoreError]) -> None:
    error = sqlite3.OperationalError("words")
    error.sqlite_errorcode = code
    found = explained(error, "/there/moongate.db")
    assert type(found) is kind
    assert "/there/moongate.db" in found.message


def test_a_backup_under_load_is_whole(path: Path, tmp_path: Path) -> None:
    database, stop = SqliteDatabase(path), threading.Event()
    UsageTable(database).add([usage_row(n) for n in range(5000)])
    database.run("CREATE TABLE filler (bytes BLOB)")
    database.run("INSERT INTO filler VALUES (randomblob(16000000))")

    def write() -> None:
        busy = SqliteDatabase(path)
        table, number = UsageTable(busy), 5000
        while not stop.is_set():
            table.add([usage_row(number + n) for n in range(50)])
            number += 50
        busy.close()

    thread = threading.Thread(target=write)
    thread.start()
    patience = threading.Timer(60, stop.set)
    patience.start()
    for number in range(3):
        database.backup(tmp_path / f"copy-{number}.db")
    assert not stop.is_set(), "the backup began anew with every change"
    patience.cancel()
    stop.set()
    thread.join()
    for number in range(3):
        copy = SqliteDatabase(tmp_path / f"copy-{number}.db")
        assert copy.check() == []
        (count,) = copy.rows("SELECT COUNT(*) FROM usage")[0]
        assert count >= 5000
        assert usage_sums(copy, ())[0]["requests"] == count
        copy.close()
    assert not list(tmp_path.glob(".*.part"))
    database.close()


def test_a_batch_is_written_in_few_statements(path: Path) -> None:
    """Each costs the event loop of the same process a wait for the interpreter, and the writer another one."""
    database, statements = SqliteDatabase(path), list[str]()
    table = UsageTable(database)
    table.add([usage_row(0)])
    assert database._connection is not None
    database._connection.set_trace_callback(statements.append)
    rows = [usage_row(number) for number in range(1, 1000)]
    assert table.add(rows) == 999
    database._connection.set_trace_callback(None)
    assert len(statements) < 20, statements
    assert sorted(table.find([row.id for row in rows])) == rows
    assert usage_sums(database, ("key",))[0]["requests"] == 1000
    database.close()
