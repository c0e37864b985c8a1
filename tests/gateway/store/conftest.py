"""Every test of the store runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.postgres import PostgresServer
from tests.support.requirement_hooks import require

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    require("postgresql")
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "moongate.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.new_database(f"test_{next(_numbers)}")


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    opened = open_database(store_url)
    yield opened
    opened.close()
