"""No money lost, none invented: what the simulator billed and what the store says, request by request.

200 keys, 64 clients, faults, retries, clients that leave, two workers of which one is killed every five seconds, and a
database that goes away once.
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
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.billing_clients import MODELS, Clients, Sent
from tests.soak.report import Figure, Report
from tests.support.postgres import PostgresServer

from moongate import sim
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.journal import segments
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.record import UsageRow, names_in
from moongate.gateway.store.reservations import ReservationSlots
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.store.writer import UsageWriter
from moongate.sim.ledger import LedgerEntry, counts

PRICE = {"input": 1.0, "output": 10.0, "cache_read": 0.1, "cache_write": 2.0}
BUDGETED, BUDGET = 4, 5000  # every fourth key has a budget of so many tokens
KILL_SECONDS = 5.0
STOP_SECONDS = 60.0
SETTLE_SECONDS = 3.0
AWAY_SECONDS = 7.0  # of the database


@dataclass(slots=True)
class Books:
    """What each side says at the end."""

    sent: list[Sent] = field(default_factory=list)
    billed: dict[str, list[LedgerEntry]] = field(default_factory=dict)  # by session, entries with usage only
    rows: dict[str, UsageRow] = field(default_factory=dict)  # by request id
    doubles: int = 0
    summed: int = 0  # requests, by the daily sums
    budgeted: set[str] = field(default_factory=set)  # ids of keys
    left_open: int = 0  # reservations
    left_in_journal: int = 0
    kills: int = 0
    seconds: float = 0.0


async def billing(requests: int = 20_000, clients: int = 64, keys: int = 200, *, postgres: bool = False) -> Report:
    server = PostgresServer() if postgres else None
    try:
        books = await _run(requests, clients, keys, server)
    finally:
        if server is not None:
            server.stop()
    return _report("billing on PostgreSQL" if postgres else "billing on SQLite", books)


async def billing_on_postgres() -> Report:
    return await billing(postgres=True)


async def _run(requests: int, clients: int, keys: int, server: PostgresServer | None) -> Books:
    provider = await sim.start()
    provider.vendor.ledger.entries = deque()  # all of them
    books = Books()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        url = str(folder / "moongate.db") if server is None else server.new_database("billing")
        made = _make_keys(url, keys)
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
        for entry in provider.vendor.ledger.entries:
            if entry.usage is not None:
                books.billed.setdefault(entry.session, []).append(entry)
        await asyncio.to_thread(_read_store, url, folder, books)
    return books


def _make_keys(url: str, count: int) -> list[tuple[str, str]]:
    database = open_database(url)
    store, made = KeyStore(database), []
    for number in range(count):
        limits = LimitSet(token_budget=None if number % BUDGETED else BUDGET)
        key, secret = store.create_key(StoredKey("", b"", "", f"key {number}", limits=limits), "soak")
        made.append((key.id, secret))
    database.close()
    return made


@contextlib.asynccontextmanager
async def _gateway(folder: Path, url: str, upstream: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """`moongate serve` with two workers; at the end SIGTERM, and it must exit with 0."""
    provider = {
        "name": "sim",
        "api_base_url": upstream,
        "models": [{"name": name, "price": PRICE} for name in MODELS],
        "transformer": {"use": [["Kimi", {"preset": "agent"}]]},
    }
    config = {
        "providers": [provider],
        "workers": 2,
        "store": url,
        "admin": "off",
        "log": {"format": "off"},
        "timeouts": {"silence": 2, "first_event": 2},
        "retries": {"failures": 1_000_000},
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


def _read_store(url: str, folder: Path, books: Books) -> None:
    journal = folder / "journal" if "://" in url else Path(url + ".journal")
    books.left_in_journal = len(segments(journal))
    for path in sorted(journal.glob("*.open")):
        slots = ReservationSlots(path, 0)
        books.left_open += len(slots.left)
        slots.close()
    UsageWriter(url, journal).catch_up(30)
    database = open_database(url)
    rows = UsageTable(database).find([row[0] for row in database.rows("SELECT id FROM usage ORDER BY id")])
    books.rows = {row.request: row for row in rows}
    books.doubles = len(rows) - len(books.rows)
    books.summed = sum(each["requests"] for each in usage_sums(database, ()))
    database.close()


def _tokens(row: UsageRow) -> tuple[int, int]:
    return row.input + row.cache_read + row.cache_write, row.output


def _billed(entries: Iterable[LedgerEntry]) -> tuple[int, int]:
    found = [counts(entry.usage or {}) for entry in entries]
    return sum(each["prompt_tokens"] for each in found), sum(each["completion_tokens"] for each in found)


def _came(entry: LedgerEntry) -> bool:
    """Was the usage sent, and every byte of the answer? An error in the middle of a stream ends it before its usage."""
    return entry.delivered and entry.usage_sent and not str(entry.model).endswith("error-mid")


def _report(name: str, books: Books) -> Report:
    rows, billed = books.rows, books.billed
    exact = {name: row for name, row in rows.items() if not row.estimated}
    estimated = {name: row for name, row in rows.items() if row.estimated}
    of_killed = {name for name, row in estimated.items() if row.status == 0}
    came = {name for name, found in billed.items() if len(found) == 1 and _came(found[0])}
    finished = {each.id for each in books.sent if each.status == 200 and each.complete}
    needless = {name for name in estimated.keys() & came & finished if name not in of_killed}
    in_flight = 64 * max(1, books.kills)
    return Report(
        name,
        (
            Figure("requests", len(books.sent), least=1),
            Figure("seconds", books.seconds, "s"),
            Figure("workers killed", books.kills),
            Figure("refused over a budget", sum(each.status == 429 for each in books.sent)),
            Figure("billed by the provider", sum(map(len, billed.values()))),
            Figure("rows", len(rows)),
            Figure("billed requests without a row", len(billed.keys() - rows.keys()), most=0, least=0),
            Figure("rows that are twice there", books.doubles, most=0, least=0),
            Figure("exact rows", len(exact)),
            Figure(
                "exact rows that differ from what was billed",
                sum(_tokens(row) != _billed(billed.get(name, [])) for name, row in exact.items()),
                most=0,
                least=0,
            ),
            Figure("estimated rows", len(estimated)),
            Figure("of these: of killed workers", len(of_killed), most=in_flight),
            Figure("estimated though the usage came", len(needless), most=0, least=0),
            Figure("estimated, never billed, worker not killed", len(estimated.keys() - billed.keys() - of_killed)),
            Figure("complete answers whose row is estimated", len(finished & of_killed), most=books.kills),
            Figure("requests in the daily sums", books.summed, most=len(rows), least=len(rows)),
            Figure("keys above their budget by more than estimates were exceeded", _over(books), most=0, least=0),
            Figure("reservations left", books.left_open, most=0, least=0),
            Figure("segments left in the journal", books.left_in_journal, most=0, least=0),
        ),
    )


def _over(books: Books) -> int:
    """Keys that spent more than their budget and what their answers took beyond their estimates."""
    estimates = {each.id: each.estimate for each in books.sent}
    spent: dict[str, int] = {}
    for name, row in books.rows.items():
        key, total = names_in(row.label)[0], sum(_tokens(row))
        spent[key] = spent.get(key, 0) + min(total, estimates.get(name, total))
    return sum(total > BUDGET for key, total in spent.items() if key in books.budgeted)
