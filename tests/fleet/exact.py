"""Rates, slots and budgets over two gateways under load: together they admit what one would."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect
from dataclasses import dataclass, field

from tests.fleet.drills import PRICE, QUICK, SLOW
from tests.fleet.fleet import Fleet
from tests.fleet.load import Group, Load
from tests.soak.books import Books, read_store
from tests.soak.report import Figure, Report

from moongate import sim
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.record import names_in
from moongate.sim.ledger import LedgerEntry, SimLedger

RPM, SLOTS, TOKENS = 900, 10, 20_000
LONGEST = 60.0  # seconds until a limit must have been reached
PATIENT = 1.0  # seconds that a request waits for Redis: a busy machine must not make a gateway go alone
WITHIN = 0.01
SURELY = 0.8  # of the shortest answer: for so long every request has its slot


@dataclass(slots=True)
class TimedLedger(SimLedger):
    """`times`: when each request came."""

    times: list[float] = field(default_factory=list)

    def open(self, model: object, session: str = "") -> LedgerEntry:
        self.times.append(time.monotonic())
        return SimLedger.open(self, model, session)

    def most(self, seconds: float) -> int:
        """How many came within so many seconds, at most. If an answer takes longer, so many were there at once."""
        return max(bisect(self.times, began + seconds) - at for at, began in enumerate(self.times))


async def exact(seconds: float = 30.0) -> Report:
    with Fleet({}, state={"deadline": PATIENT}) as fleet:
        provider = await sim.start(fleet.network.address)
        models = [{"name": name, "price": PRICE} for name in (QUICK, SLOW)]
        made = _keys(fleet.store)
        await asyncio.to_thread(fleet.start, [{"name": "sim", "api_base_url": provider.url, "models": models}])
        rate = await _rate(fleet, made["rate"], seconds)
        ledger = provider.vendor.ledger = TimedLedger()
        slots = await _load(fleet, made["slots"], SLOW, SLOTS * 2, seconds / 3)
        shortest = min(each.ended - each.began for each in slots.seen if each.outcome == "answered")
        most = ledger.most(shortest * SURELY)
        budget = await _load(fleet, made["budget"], QUICK, 16, seconds / 3, until_nothing_is_left=True)
        missed = sum([await asyncio.to_thread(node.metric, "moongate_state_missed_total") for node in fleet.nodes])
        await asyncio.to_thread(fleet.stop)
        await provider.stop()
        books = Books()
        await asyncio.to_thread(read_store, fleet.store, fleet.nodes[0].folder / "journal", books)
    estimates = {each.id: each.estimate for each in budget.sent}
    rows = [row for row in books.rows.values() if names_in(row.label)[0] == made["budget"][0]]
    spent = sum(min(_tokens(row), estimates[row.request]) for row in rows)
    largest = max(estimates.values())
    return Report(
        "limits over two gateways",
        (
            Figure("gateways that have answered", len({each.gateway for each in rate[0].seen}), most=2, least=2),
            Figure("requests that the rate allows", rate[1]),
            Figure("requests that were admitted, of these", _share(rate), most=1 + WITHIN, least=1 - WITHIN),
            Figure("slots", SLOTS),
            Figure("requests at the provider at the same time, most", most, most=SLOTS, least=SLOTS),
            Figure("answers meanwhile", sum(each.outcome == "answered" for each in slots.seen), least=SLOTS),
            Figure("tokens of the budget", TOKENS),
            Figure(
                "tokens spent, without what answers took beyond their estimates",
                spent,
                most=TOKENS,
                least=TOKENS - 2 * largest,
            ),
            Figure("requests for which Redis was too late", missed, most=0, least=0),
        ),
    )


def _tokens(row: object) -> int:
    return sum(getattr(row, name) for name in ("input", "cache_read", "cache_write", "output"))


def _keys(store: str) -> dict[str, tuple[str, str]]:
    wanted = {
        "rate": LimitSet(rpm=RPM),
        "slots": LimitSet(concurrency=SLOTS),
        "budget": LimitSet(token_budget=TOKENS),
    }
    database = open_database(store)
    keys, made = KeyStore(database), {}
    for name, limits in wanted.items():
        key, text = keys.create_key(StoredKey("", b"", "", name, limits=limits), "fleet")
        made[name] = (key.id, text)
    database.close()
    return made


async def _load(
    fleet: Fleet, key: tuple[str, str], model: str, clients: int, seconds: float, *, until_nothing_is_left: bool = False
) -> Load:
    """For so many seconds, and on a busy machine until the limit has refused as many requests as there are clients; of
    a budget, without any answer between them."""
    load = Load(fleet.port, [Group("", key[1], key[0], model, clients)], fleet.name_of)
    load.start()
    began = time.monotonic()
    while (past := time.monotonic() - began) < max(seconds, LONGEST):
        refused = load.refused_in_a_row if until_nothing_is_left else load.refused
        if past >= seconds and refused >= clients:
            break
        await asyncio.sleep(0.1)
    await load.stop()
    return load


async def _rate(fleet: Fleet, key: tuple[str, str], seconds: float) -> tuple[Load, float]:
    """A minute's worth may come at once; from then on so many a second, until the last client has asked."""
    began = time.monotonic()
    load = await _load(fleet, key, QUICK, 24, seconds)
    last = max(each.began for each in load.seen)
    return load, RPM + RPM / 60 * (last - began)


def _share(rate: tuple[Load, float]) -> float:
    load, allowed = rate
    return sum(each.outcome != "limited" for each in load.seen) / allowed
