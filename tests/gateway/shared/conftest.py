"""A real Redis or Valkey, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.postgres import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.requirement_hooks import require


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    require("redis")
    server = RedisServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    require("postgresql")
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture
def redis(redis_server: RedisServer) -> RedisServer:
    redis_server.command("FLUSHALL")
    return redis_server
