"""What the store asks of a database. SQL is written once, in what SQLite and PostgreSQL share, with `?` for values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Protocol

USAGE_COLUMNS: Final = (
    *("label", "id", "request", "status", "attempts", "repairs", "input", "cache_read", "cache_write", "output"),
    *("reasoning", "cost", "estimated", "first_byte", "duration"),
)
Value = str | int | bytes | None
Row = tuple[Any, ...]  # of columns whose types the query knows


class Database(Protocol):
    """One connection, used by one thread. Every method raises StoreError."""

    @property
    def kind(self) -> str:
        """ "sqlite" or "postgres": the folder with its migrations."""

    @property
    def place(self) -> str:
        """Where it is, for people: a path, or a URL without its password."""

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]: ...

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        """The number of rows that were changed."""

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> int: ...

    def transaction(self) -> AbstractContextManager[None]:
        """All of it or nothing. Others who write wait."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All reads see the same moment. Others may write."""

    def insert_with_ids(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
        """Insert rows of a table with the ids that they have, also where the database gives ids itself."""

    def insert_usage(self, rows: Sequence[Sequence[Value]]) -> int:
        """Insert what is not there yet, in the order of `USAGE_COLUMNS` with -1 for what is not known; gives how many
        were not."""

    def drop_usage_before(self, row_id: int) -> int:
        """Remove old usage rows, by whole days; gives how many rows (SQLite) or days (PostgreSQL) are gone."""

    def check(self) -> list[str]:
        """What is wrong with the data; empty if nothing is."""

    def backup(self, target: Path) -> None:
        """A consistent copy while others write."""

    def close(self) -> None: ...


def place_marks(count: int) -> str:
    return ", ".join("?" * count)


def in_chunks(values: Sequence[Value], size: int) -> Iterable[Sequence[Value]]:
    """Databases take a limited number of values in one statement."""
    return (values[at : at + size] for at in range(0, len(values), size))
