"""SQLite as the store: one file, in WAL mode, so that readers and the one writer do not wait for each other."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from moongate.gateway.store.database import USAGE_COLUMNS, Row, Value, place_marks
from moongate.gateway.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreDenied,
    StoreError,
    StoreFull,
    StoreUnreachable,
)
from moongate.gateway.store.migrations import migrate

LOCK_SECONDS: Final = 5.0  # how long a lock of somebody else is waited for
DELETE_STEP: Final = 20_000  # rows that are removed in one transaction
_INSERT_USAGE: Final = f"INSERT OR IGNORE INTO usage ({', '.join(USAGE_COLUMNS)}) VALUES "
_USAGE_ROW: Final = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, -1), ?, NULLIF(?, -1), ?)"
INSERTS_OF: Final = {count: _INSERT_USAGE + ", ".join([_USAGE_ROW] * count) for count in (1000, 256, 64, 16, 4, 1)}


class SqliteDatabase:
    """A connection to the file, which is made and brought up to date if need be."""

    kind = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path
        self.place = str(path)
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)  # device and number of the file that is open
        try:
            with self._errors():
                self._connect()
            migrate(self)
        except StoreError:
            self.close()
            raise

    def _connect(self) -> None:
        path = self._path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))  # it holds digests of keys
        self._connection = connection = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_size_limit = 16777216")
        self._file = _file_at(path)

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        with self._errors():
            return self._open().execute(sql, values).fetchall()

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        with self._errors():
            return self._open().execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> int:
        with self._errors():
            return self._open().executemany(sql, rows).rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        connection = self._open()
        with self._errors():
            connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._errors():
                connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        connection = self._open()
        with self._errors():
            connection.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")

    def insert_with_ids(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
        self.run_many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({place_marks(len(columns))})", rows)

    def insert_usage(self, rows: Sequence[Sequence[Value]]) -> int:
        """Many rows in one statement: with each this thread lets go of the interpreter, and it and the event loop wait
        for each other."""
        inserted = at = 0
        for count, statement in INSERTS_OF.items():
            while at + count <= len(rows):
                inserted += self.run(statement, list(chain.from_iterable(rows[at : at + count])))
                at += count
        return inserted

    def drop_usage_before(self, row_id: int) -> int:
        removed = 0
        while True:
            sql = "DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE id < ? ORDER BY id LIMIT ?)"
            step = self.run(sql, (row_id, DELETE_STEP))
            removed += step
            if step < DELETE_STEP:
                return removed

    def check(self) -> list[str]:
        found = [str(row[0]) for row in self.rows("PRAGMA integrity_check(20)")]
        found = [] if found == ["ok"] else found
        return found + [
            f"{row[0]} row {row[1]} names what is not there" for row in self.rows("PRAGMA foreign_key_check")
        ]

    def backup(self, target: Path) -> None:
        """Written beside its place and moved there at the end: a backup is complete or not there."""
        temporary = target.with_name(f".{target.name}.part")
        with self._errors():
            temporary.unlink(missing_ok=True)
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            copy = sqlite3.connect(temporary)
            try:
                # In one step: others may write meanwhile, and between two steps a change would begin it anew.
                self._open().backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a companion
            finally:
                copy.close()
            os.replace(temporary, target)

    def finish_copy(self) -> None:
        """Make it one file, without a companion."""
        self.rows("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreUnreachable(f"the store {self.place} is closed")
        if self._connection.in_transaction:
            return self._connection  # it was looked at when that began
        if _file_at(self._path) != self._file:  # what is written to the old one would be lost
            raise StoreUnreachable(f"the file of the store {self.place} was moved away or replaced: it is opened anew")
        return self._connection

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explained(error, self.place) from None
        except OSError as error:
            raise StoreDenied(f"the store {self.place} cannot be written: {error.strerror}", code="store") from None


def _file_at(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def explained(error: sqlite3.Error, place: str) -> StoreError:
    """An error of SQLite in our words."""
    # Extended codes have the primary code in their lowest byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"the store {place} is locked by another program for more than {LOCK_SECONDS:g} s")
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"the disk with the store {place} is full: make room, nothing that was written is lost")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        what = "is no SQLite file" if code == sqlite3.SQLITE_NOTADB else "is damaged"
        return StoreCorrupt(f"the store {place} {what}: restore a backup, or move it away to begin a new one")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreDenied(f"the store {place} cannot be written: check the owner and the mode of file and folder")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreUnreachable(f"the store {place} cannot be opened: check that its folder exists and can be written")
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnreachable(f"the disk with the store {place} fails: {error}")
    return StoreError(f"the store {place}: {error}")
