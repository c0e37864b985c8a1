"""No money lost, none invented: what the simulator billed and what the store says, request by request.

200 keys, 64 clients, faults, retries, further tries of the guard, clients that leave, two workers of which one is
killed every five seconds, and a database that goes away once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.soak.billing_clients import MODELS, Clients
from tests.soak.books import BUDGET, Books, compare, read_store
from tests.soak.report import Report
from tests.support.postgres import PostgresServer

from moongate import sim
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.keys import KeyStore

PRICE = {"input": 1.0, "output": 10.0, "cache_read": 0.1, "cache_write": 2.0}
SETTINGS = {"timeouts": {"silence": 2, "first_event": 2}, "retries": {"failures": 1_000_000}}
BUDGETED = 4  # every fourth key has a budget
KILL_SECONDS = 5.0
STOP_SECONDS = 60.0
SETTLE_SECONDS = 3.0
AWAY_SECONDS = 7.0  # of the database


async def billing(requests: int = 20_000, clients: int = 64, keys: int = 200, *, postgres: bool = False) -> Report:
    server = PostgresServer() if postgres else None
    try:
        books = await _run(requests, clients, keys, server)
    finally:
        if server is not None:
            server.stop()
    return compare("billing on PostgreSQL" if postgres else "billing on SQLite", books)


async def billing_on_postgres() -> Report:
    return await billing(postgres=True)


async def _run(requests: int, clients: int, keys: int, server: PostgresServer | None) -> Books:
    provider = await sim.start()
    provider.vendor.ledger.entries = deque()  # all of them
    books = Books()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        url = str(folder / "moongate.db") if server is None else server.new_database("billing")
        made = make_keys(url, keys)
        books.budgeted = {key for key, _ in made[::BUDGETED]}
        async with _gateway(folder, url, provider.url) as (process, port):
            crowd = Clients(port, made)
            killer = asyncio.create_task(_kill_workers(process, books))
            outage = asyncio.create_task(_take_away(url, server))
            began = time.monotonic()
            await crowd.run(clients, requests)
            books.seconds = time.monotonic() - began
            killer.cancel()
            await outage
            await asyncio.sleep(SETTLE_SECONDS)  # a worker that was killed just now counts as failed
            books.sent = crowd.sent
        await provider.stop()
        books.take_bills(provider.vendor.ledger.entries)
        journal = folder / "journal" if server is not None else Path(url + ".journal")
        await asyncio.to_thread(read_store, url, journal, books)
    return books


def make_keys(url: str, count: int) -> list[tuple[str, str]]:
    database = open_database(url)
    store, made = KeyStore(database), []
    for number in range(count):
        limits = LimitSet(token_budget=None if number % BUDGETED else BUDGET)
        key, secret = store.create_key(StoredKey("", b"", "", f"key {number}", limits=limits), "soak")
        made.append((key.id, secret))
    database.close()
    return made


def provider_of(upstream: str) -> dict[str, Any]:
    return {
        "name": "sim",
        "api_base_url": upstream,
        "models": [{"name": name, "price": PRICE} for name in MODELS],
        "transformer": {"use": [["Kimi", {"preset": "strict"}]]},
    }


@contextlib.asynccontextmanager
async def _gateway(folder: Path, url: str, upstream: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """`moongate serve` with two workers; at the end SIGTERM, and it must exit with 0."""
    config = {
        **SETTINGS,
        "providers": [provider_of(upstream)],
        "workers": 2,
        "store": url,
        "admin": "off",
        "log": {"format": "off"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    with (folder / "err.txt").open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "moongate", "serve", "--config", str(folder / "config.json"), "--port", "0"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=err,
            env={**os.environ, "MOONGATE_HOME": str(folder)},
        )
    try:
        while "listens on" not in (text := (folder / "err.txt").read_text()):
            assert process.returncode is None, text
            await asyncio.sleep(0.05)
        yield process, int(text.partition("listens on http://127.0.0.1:")[2].split()[0])
        process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(process.wait(), STOP_SECONDS)
        text = (folder / "err.txt").read_text()
        assert code == 0, text[-3000:]
        assert "Traceback" not in text, text[-3000:]
        assert "internal error" not in text, text[-3000:]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _kill_workers(process: asyncio.subprocess.Process, books: Books) -> None:
    while True:
        await asyncio.sleep(KILL_SECONDS)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(int(random.choice(children)), signal.SIGKILL)
            books.kills += 1


async def _take_away(url: str, server: PostgresServer | None) -> None:
    """The database dies and comes back; of SQLite, somebody else holds its lock for longer than anybody waits."""
    await asyncio.sleep(2 * KILL_SECONDS + 1)
    if server is not None:
        server.kill()
        await asyncio.sleep(AWAY_SECONDS)
        await asyncio.to_thread(server.start)
        return
    connection = sqlite3.connect(url, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    await asyncio.sleep(AWAY_SECONDS)
    connection.execute("COMMIT")
    connection.close()
