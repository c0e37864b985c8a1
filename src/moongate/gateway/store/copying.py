"""Copies a whole store into an empty one, of the same or the other kind: backups of PostgreSQL, and restores.

A backup is always an SQLite file that is itself a store. The source is read in one snapshot, page by page, so it may be
written to meanwhile, and no table has to fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moongate.errors import BadRequest
from moongate.gateway.store.database import USAGE_COLUMNS, Database, Row
from moongate.gateway.store.keys import AUDIT_COLUMNS, KEY_COLUMNS, TEAM_COLUMNS
from moongate.gateway.store.record import LABEL_FIELDS
from moongate.gateway.store.usage import SUMS

PAGE: Final = 5000  # rows
_TABLES: Final[dict[str, Sequence[str]]] = {
    "team": TEAM_COLUMNS,
    "client_key": KEY_COLUMNS,
    "audit": AUDIT_COLUMNS,
    "label": ("id", *LABEL_FIELDS),
}
_DAILY: Final = ("day", "label", *SUMS)
_UNKNOWN: Final = ("cost", "first_byte")  # -1 stands for what is not known, as `insert_usage` takes it
_USAGE: Final = ", ".join(f"COALESCE({name}, -1)" if name in _UNKNOWN else name for name in USAGE_COLUMNS)


def copy_store(source: Database, target: Database) -> int:
    """Gives the number of requests that were copied. Raises BadRequest if the target has anything, StoreError."""
    for table in (*_TABLES, "usage", "daily"):
        if target.rows(f"SELECT 1 FROM {table} LIMIT 1"):
            raise BadRequest(f"the store {target.place} is not empty: a backup is restored into an empty one only")
    with source.snapshot(), target.transaction():
        for table, columns in _TABLES.items():
            for rows in _pages(source, table, columns, ", ".join(columns)):
                target.insert_with_ids(table, columns, rows)
        copied = 0
        for rows in _pages(source, "usage", USAGE_COLUMNS, _USAGE):
            copied += target.insert_usage(rows)
        days = source.rows("SELECT DISTINCT day FROM daily ORDER BY day")
        for (day,) in days:
            rows = source.rows(f"SELECT {', '.join(_DAILY)} FROM daily WHERE day = ?", (day,))
            marks = ", ".join("?" * len(_DAILY))
            target.run_many(f"INSERT INTO daily ({', '.join(_DAILY)}) VALUES ({marks})", rows)
        revision = source.rows("SELECT number FROM revision")[0][0]
        target.run("UPDATE revision SET number = ?", (revision,))
    return copied


def _pages(source: Database, table: str, columns: Sequence[str], selected: str) -> Iterator[list[Row]]:
    """The rows of a table in the order of their ids."""
    at, last = list(columns).index("id"), None
    while True:
        where, values = ("", ()) if last is None else ("WHERE id > ?", (last,))
        rows = source.rows(f"SELECT {selected} FROM {table} {where} ORDER BY id LIMIT {PAGE}", values)
        if rows:
            yield rows
        if len(rows) < PAGE:
            return
        last = rows[-1][at]
