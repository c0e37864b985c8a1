"""PostgreSQL as the store (`moongate[postgres]`): usage rows in a partition per day, dropped whole.

psycopg, because it waits in the writer's thread as SQLite does; asyncpg is as fast with COPY (docs/decisions/1401).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from moongate.gateway.limits.periods import day_text
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
from moongate.gateway.store.row_ids import day_of_row, first_row_of

CONNECT_SECONDS: Final = 5
STATEMENT_SECONDS: Final = 30
LOCK_SECONDS: Final = 5
MAX_DAYS_KNOWN: Final = 1000
_LOCK_PARTITIONS: Final = 7306087  # an advisory lock of our own
_FORM: Final = "postgresql://user:password@host:port/database, with %-escapes for odd characters in the password"
_STAGE: Final = "CREATE TEMP TABLE IF NOT EXISTS usage_stage (LIKE usage) ON COMMIT DELETE ROWS"
_COPY: Final = f"COPY usage_stage ({', '.join(USAGE_COLUMNS)}) FROM STDIN".encode()
_FROM_STAGE: Final = (
    f"INSERT INTO usage ({', '.join(USAGE_COLUMNS)}) SELECT {', '.join(USAGE_COLUMNS[:11])}, NULLIF(cost, -1), "
    "estimated, NULLIF(first_byte, -1), duration FROM usage_stage ON CONFLICT DO NOTHING"
).encode()
_FAULTS: Final = {
    "28P01": (StoreDenied, "refuses the password: check the URL"),
    "28000": (StoreDenied, "refuses this user or address: check the URL and pg_hba.conf"),
    "3D000": (StoreDenied, "has no database of this name: create it first"),
    "42501": (StoreDenied, "does not let this user write: grant it the rights of an owner of the database"),
    "53100": (StoreFull, "has a full disk: make room, nothing that was written is lost"),
    "53300": (StoreBusy, "takes no more connections"),
    "55P03": (StoreBusy, f"has held a lock for more than {LOCK_SECONDS} s"),
    "57014": (StoreBusy, f"took more than {STATEMENT_SECONDS} s"),
    "40P01": (StoreBusy, "ended a transaction because of a deadlock"),
    "40001": (StoreBusy, "ended a transaction because of another one"),
    "XX001": (StoreCorrupt, "has damaged data: restore a backup"),
    "XX002": (StoreCorrupt, "has a damaged index: REINDEX, or restore a backup"),
}


class PostgresDatabase:
    """A connection to a server, whose database is brought up to date if need be."""

    kind = "postgres"

    def __init__(self, url: str) -> None:
        self.place = without_password(url)
        try:
            import psycopg
        except ImportError:
            raise StoreError("PostgreSQL needs the extra: pip install 'moongate[postgres]'", code="store") from None
        self._psycopg = psycopg
        self._days: set[int] = set()  # whose partitions are there
        self._made: set[int] = set()  # in this transaction
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError:  # whose words quote the URL
            raise StoreDenied(f"the store's URL is none: {_FORM}") from None
        with self._errors():
            self._connection = psycopg.connect(
                url,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                options=f"-c statement_timeout={STATEMENT_SECONDS}s -c lock_timeout={LOCK_SECONDS}s -c TimeZone=UTC",
                application_name="moongate",
            )
        try:
            migrate(self)
        except StoreError:
            self.close()
            raise

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        with self._errors():
            return self._connection.execute(_translated(sql), values).fetchall()

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        with self._errors():
            return self._connection.execute(_translated(sql), values).rowcount

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> int:
        with self._errors(), self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)
            return cursor.rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self._made.clear()
        with self._errors(), self._connection.transaction():
            yield
        # Only what is committed is remembered: a transaction that fails takes its partitions with it.
        self._days = (self._days | self._made) if len(self._days) < MAX_DAYS_KNOWN else self._made.copy()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._errors(), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def insert_with_ids(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
        named, marks = ", ".join(columns), place_marks(len(columns))
        self.run_many(f"INSERT INTO {table} ({named}) OVERRIDING SYSTEM VALUE VALUES ({marks})", rows)
        sequence = self.rows("SELECT pg_get_serial_sequence(?, 'id')", (table,))[0][0]
        if sequence is not None:  # it goes on behind the ids that are there
            self.rows(f"SELECT setval(?, (SELECT MAX(id) FROM {table}))", (sequence,))

    def insert_usage(self, rows: Sequence[Sequence[Value]]) -> int:
        days = {day_of_row(row[1]) for row in rows if isinstance(row[1], int)}
        for day in sorted(days - self._days):
            self._make_partition(day)
        with self._errors(), self._connection.cursor() as cursor:
            cursor.execute(_STAGE)
            with cursor.copy(_COPY) as copy:
                for row in rows:
                    copy.write_row(row)
            cursor.execute(_FROM_STAGE)
            inserted = cursor.rowcount
            cursor.execute("TRUNCATE usage_stage")
            return inserted

    def _make_partition(self, day: int) -> None:
        self.rows("SELECT pg_advisory_xact_lock(?)", (_LOCK_PARTITIONS,))  # two nodes may want it at once
        name = f"usage_{day_text(day).replace('-', '')}"
        first, following = first_row_of(day), first_row_of(day + 1)
        self.run(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF usage FOR VALUES FROM ({first}) TO ({following})")
        self._made.add(day)

    def drop_usage_before(self, row_id: int) -> int:
        found = self.rows(
            "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
            "JOIN pg_class parent ON parent.oid = inhparent WHERE parent.relname = 'usage'"
        )
        last = f"usage_{day_text(day_of_row(row_id)).replace('-', '')}"
        old = sorted(str(row[0]) for row in found if str(row[0]) < last)
        for name in old:
            self.run(f"DROP TABLE IF EXISTS {name}")
        self._days.clear()
        return len(old)

    def check(self) -> list[str]:
        found = self.rows(
            "SELECT day, label FROM daily WHERE NOT EXISTS (SELECT 1 FROM label WHERE label.id = daily.label) LIMIT 20"
        )
        return [f"the sums of day {day} name label {label}, which is not there" for day, label in found]

    def backup(self, target: Path) -> None:
        """Into an SQLite file, which is itself a store; `moongate store restore` brings it back."""
        from moongate.gateway.store.copying import copy_store
        from moongate.gateway.store.sqlite import SqliteDatabase

        temporary = target.with_name(f".{target.name}.part")
        temporary.unlink(missing_ok=True)
        copy = SqliteDatabase(temporary)
        try:
            copy_store(self, copy)
            copy.finish_copy()
        finally:
            copy.close()
        os.replace(temporary, target)

    def close(self) -> None:
        with contextlib.suppress(self._psycopg.Error):
            self._connection.close()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            raise explained(error, self.place) from None


def explained(error: Any, place: str) -> StoreError:
    """An error of psycopg (whose package is an extra) in our words. The server's own may quote the URL."""
    state = getattr(error, "sqlstate", None)
    text = str(error)
    if state is None and "password" in text:
        state = "28P01"  # refused while connecting: the state is only in the words
    elif state is None and "does not exist" in text:
        state = "3D000"
    if state in _FAULTS:
        kind, words = _FAULTS[state]
        return kind(f"the store {place} {words}")
    if state is None or state.startswith(("08", "57")):
        return StoreUnreachable(f"the store {place} cannot be reached: {_first_line(text)}")
    return StoreError(f"the store {place}: {_first_line(text)}")


def without_password(url: str) -> str:
    """The URL without its password and its options."""
    try:
        parts = urlsplit(url)
        user = f"{parts.username}@" if parts.username else ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "postgresql://…"
    return f"{parts.scheme}://{user}{parts.hostname or ''}{port}{parts.path}"


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0][:200]


def _translated(sql: str) -> Any:
    """psycopg wants `%s` for a value and text that it knows to be a literal."""
    return sql.replace("%", "%%").replace("?", "%s")
