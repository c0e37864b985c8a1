"""Which database a store's place means."""

from __future__ import annotations

from pathlib import Path

from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.postgres import PostgresDatabase
from moongate.gateway.store.sqlite import SqliteDatabase

_SERVER = ("postgresql:", "postgres:", "postgresql//", "postgres//")  # or nearly so: nobody has such a file in mind


def is_server(place: str) -> bool:
    """Is it the URL of a server, and not the path of a file?"""
    return "://" in place or place.startswith(_SERVER)


def open_database(url: str) -> Database:
    """`postgresql://…`, or the path of an SQLite file. Raises StoreError."""
    if url.startswith(_SERVER):
        return PostgresDatabase(url)
    if "://" in url:
        raise StoreError(f'{url.split("://")[0]}:// is no kind of store: use a path, postgresql://… or "off"')
    return SqliteDatabase(Path(url).expanduser())
