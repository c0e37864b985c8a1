"""What clients see, second by second, while something is killed or cut off and comes back."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tests.fleet.fleet import LEASE, Fleet
from tests.fleet.load import Group, Load, Seen, by_second
from tests.soak.books import Books, compare, read_store
from tests.soak.report import Figure, Report

from moongate import sim
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.keys import KeyStore

QUICK, SLOW = "kimi-k2-sim", "kimi-k2-sim-slow"
PRICE = {"input": 1.0, "output": 10.0}
SLOTS = 8
FREE, LIMITED = "without limits", "limited"
BACK_SECONDS = 30.0  # for everything to be as before


@dataclass(frozen=True)
class Drill:
    """`away` and `back` are called in a thread."""

    name: str
    title: str
    away: Callable[[Fleet], None]
    back: Callable[[Fleet], None]
    on_loss: str = "degrade"
    noticed_by: int = 0  # gateways that must tell that the shared state is away


DRILLS = (
    Drill("node", "gateway a killed", lambda fleet: fleet.nodes[0].kill(), lambda fleet: fleet.nodes[0].start()),
    Drill(
        *("redis", "Redis killed"),
        *(lambda fleet: fleet.redis.kill(), lambda fleet: fleet.redis.start()),
        noticed_by=2,
    ),
    Drill(
        *("redis-closed", 'Redis killed, `"on_loss": "closed"`'),
        *(lambda fleet: fleet.redis.kill(), lambda fleet: fleet.redis.start()),
        on_loss="closed",
        noticed_by=2,
    ),
    Drill("postgres", "PostgreSQL killed", lambda fleet: fleet.postgres.kill(), lambda fleet: fleet.postgres.start()),
    Drill(
        *("link", "link between gateway a and Redis cut"),
        lambda fleet: fleet.network.cut(fleet.nodes[0].machine, fleet.redis_machine),
        lambda fleet: fleet.network.join(fleet.nodes[0].machine, fleet.redis_machine),
        noticed_by=1,
    ),
)


@dataclass
class DrillResult:
    """`rows`: see `by_second`. Times of `away` and `back` are seconds since the beginning."""

    drill: Drill
    rows: list[list[float]]
    away: float
    back: float
    report: Report


async def run_drill(drill: Drill, before: int = 5, gone: int = 6, after: int = 9) -> DrillResult:
    with Fleet({"timeouts": {"silence": 5}}, state={"on_loss": drill.on_loss}) as fleet:
        provider = await sim.start(fleet.network.address)
        provider.vendor.ledger.entries = deque()  # all of them
        groups = make_groups(fleet.store)
        models = [{"name": name, "price": PRICE} for name in (QUICK, SLOW)]
        await asyncio.to_thread(fleet.start, [{"name": "sim", "api_base_url": provider.url, "models": models}])
        load = Load(fleet.port, groups, fleet.name_of)
        began = time.monotonic()
        load.start()
        await asyncio.sleep(before)
        await asyncio.to_thread(drill.away, fleet)
        away = time.monotonic()
        await asyncio.sleep(gone)
        alive = fleet.nodes[1:] if drill.name == "node" else fleet.nodes
        metric = sum([await asyncio.to_thread(node.metric, "moongate_state_away") for node in alive])
        await asyncio.to_thread(drill.back, fleet)
        back = time.monotonic()
        await asyncio.sleep(after)
        await load.stop()
        seconds = int(time.monotonic() - began)
        left = await slots_left(fleet)
        await asyncio.to_thread(fleet.stop)
        await provider.stop()
        books = Books(sent=load.sent, kills=1, seconds=seconds)
        books.take_bills(provider.vendor.ledger.entries)
        for node in fleet.nodes:
            await asyncio.to_thread(read_store, fleet.store, node.folder / "journal", books)
        figures = (*_figures(drill, load.seen, away, left, metric, fleet), *_of_money(books))
    rows = by_second(load.seen, began, seconds)
    return DrillResult(drill, rows, away - began, back - began, Report(f"drill: {drill.name}", figures))


def make_groups(store: str) -> list[Group]:
    """Some clients have a key without limits; those of the other key are more than it has slots."""
    database = open_database(store)
    keys = KeyStore(database)
    free, free_text = keys.create_key(StoredKey("", b"", "", FREE), "fleet")
    limits = LimitSet(concurrency=SLOTS, token_budget=10**9)
    limited, limited_text = keys.create_key(StoredKey("", b"", "", LIMITED, limits=limits), "fleet")
    database.close()
    return [
        Group(FREE, free_text, free.id, QUICK, 4),
        Group(FREE, free_text, free.id, SLOW, 4),
        Group(LIMITED, limited_text, limited.id, SLOW, SLOTS * 3 // 2),
    ]


async def slots_left(fleet: Fleet) -> int:
    """Slots and reservations that are still taken when nobody asks for anything, after the longest lease."""
    end = time.monotonic() + LEASE + BACK_SECONDS
    while time.monotonic() < end:
        left = await asyncio.to_thread(taken, fleet)
        if left == 0:
            return 0
        await asyncio.sleep(0.5)
    return left


def taken(fleet: Fleet) -> int:
    """A lease that is over counts no more, though the entry stays until somebody asks for the account."""
    redis = fleet.redis
    now = int("".join(part.zfill(6) for part in redis.command("TIME").split()))
    keys = redis.command("KEYS", "*:leases").split()
    return sum(int(redis.command("ZCOUNT", key, str(now), "+inf")) for key in keys)


def _figures(drill: Drill, seen: list[Seen], away: float, left: int, metric: float, fleet: Fleet) -> tuple[Figure, ...]:
    failed = [each for each in seen if each.outcome in ("cut", "unavailable")]
    if drill.name == "node":
        cut = [each for each in failed if each.began < away]
        return (
            Figure("answers", sum(each.outcome == "answered" for each in seen), least=100),
            Figure("requests of the killed gateway that were lost", sum(each.gateway in ("a", "") for each in cut)),
            Figure("lost requests of the other", sum(each.gateway == "b" for each in failed), most=0, least=0),
            Figure("requests lost that began later", len(failed) - len(cut), most=0, least=0),
            Figure("slots left after the lease", left, most=0, least=0),
        )
    reporting = sum("the shared state" in node.log and "is away" in node.log for node in fleet.nodes)
    may_fail = LIMITED if drill.on_loss == "closed" else ""
    return (
        Figure("answers", sum(each.outcome == "answered" for each in seen), least=100),
        Figure("cut answers", sum(each.outcome == "cut" for each in seen), most=0, least=0),
        Figure("requests refused because of it", sum(each.group == LIMITED for each in failed)),
        Figure("others that failed", sum(each.group != may_fail for each in failed), most=0, least=0),
        Figure("gateways that say so in the log", reporting, least=drill.noticed_by),
        Figure("gateways whose metric says so", metric, least=drill.noticed_by),
        Figure("slots left after the lease", left, most=0, least=0),
    )


def _of_money(books: Books) -> tuple[Figure, ...]:
    names = (
        "billed requests without a row",
        "rows that are twice there",
        "exact rows that differ from what was billed",
    )
    found = {figure.name: figure for figure in compare("", books).figures}
    return (found["rows"], *(found[name] for name in names))
