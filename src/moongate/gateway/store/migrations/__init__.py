"""The tables, as numbered steps in SQL: `sqlite/0001_keys.sql`, `postgres/0001_keys.sql` and so on.

Steps only go forward, each in one transaction with its number. A store with a higher number than ours was written by a
newer moongate and is refused, untouched.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from moongate.gateway.store.errors import StoreCorrupt, StoreError, StoreTooNew

if TYPE_CHECKING:
    from moongate.gateway.store.database import Database

_TABLE: Final = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)"
_LOCK: Final = {"postgres": "SELECT pg_advisory_xact_lock(7306086)"}  # several nodes may start at once


@cache
def steps(kind: str) -> tuple[str, ...]:
    """The steps of a kind of database, the first one first."""
    folder = resources.files(__name__).joinpath(kind)
    files = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name)
    for number, file in enumerate(files, 1):
        if not file.name.startswith(f"{number:04}_"):
            raise StoreError(f"migration {file.name} should have number {number:04}")
    return tuple(file.read_text(encoding="utf-8") for file in files)


def migrate(database: Database, *, up_to: int | None = None) -> None:
    """Bring a database up to date; `up_to` stops at an older version. Raises StoreError."""
    wanted = len(steps(database.kind)) if up_to is None else up_to
    if _found_version(database) == wanted:
        return
    with database.transaction():
        if lock := _LOCK.get(database.kind):
            database.rows(lock)
        database.run(_TABLE)
        version = _version(database)
        if version > wanted:
            raise StoreTooNew(
                f"the store {database.place} has version {version}, and this moongate knows versions up to {wanted}: "
                f"a newer moongate has written it; use that one, or restore a backup from before the upgrade"
            )
        for number in range(version + 1, wanted + 1):
            for statement in statements(steps(database.kind)[number - 1]):
                database.run(statement)
        database.run("DELETE FROM schema_version")
        database.run("INSERT INTO schema_version VALUES (?)", (wanted,))


def statements(script: str) -> list[str]:
    """The statements of a script, each of which ends with `;` at the end of a line."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [each.strip() for each in "\n".join([*lines, ""]).split(";\n") if each.strip()]


def _found_version(database: Database) -> int | None:
    """The version without taking a lock; None if it is not known yet."""
    catalogue = {
        "sqlite": "SELECT 1 FROM sqlite_master WHERE name = 'schema_version'",
        "postgres": "SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL",
    }
    return _version(database) if database.rows(catalogue[database.kind]) else None


def _version(database: Database) -> int:
    found = database.rows("SELECT version FROM schema_version")
    if len(found) > 1:
        raise StoreCorrupt(f"the store {database.place} says more than one version")
    return int(found[0][0]) if found else 0
