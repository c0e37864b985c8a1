"""Mixed load on two gateways, while one of them, Redis, PostgreSQL or a link is away: the books agree at the end."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from tests.fleet.drills import DRILLS, Drill, slots_left
from tests.fleet.fleet import Fleet
from tests.soak.billing import BUDGETED, SETTINGS, make_keys, provider_of
from tests.soak.billing_clients import Clients
from tests.soak.books import Books, compare, read_store
from tests.soak.report import Figure, Report

from moongate import sim

GONE_SECONDS = 4.0
BETWEEN_SECONDS = 6.0  # with everything in its place
EVENTS = tuple(drill for drill in DRILLS if drill.on_loss == "degrade")


async def mixed(seconds: float = 600.0, clients: int = 32, keys: int = 200) -> Report:
    with Fleet(SETTINGS) as fleet:
        provider = await sim.start(fleet.network.address)
        provider.vendor.ledger.entries = deque()  # all of them
        made = await asyncio.to_thread(make_keys, fleet.store, keys)
        books = Books(budgeted={key for key, _ in made[::BUDGETED]})
        await asyncio.to_thread(fleet.start, [provider_of(provider.url)])
        crowd = Clients(fleet.port, made)
        began = time.monotonic()
        counted = asyncio.create_task(_break_things(fleet, books, began + seconds))
        await crowd.run_for(clients, seconds)
        events = await counted
        books.sent, books.seconds = crowd.sent, time.monotonic() - began
        left = await slots_left(fleet)
        await asyncio.to_thread(fleet.stop)
        await provider.stop()
        books.take_bills(provider.vendor.ledger.entries)
        for node in fleet.nodes:
            await asyncio.to_thread(read_store, fleet.store, node.folder / "journal", books)
    report = compare("mixed load on two gateways", books, state_lost=True)
    more = [Figure(f"times: {name}", count, least=1) for name, count in events.items()]
    return Report(report.name, (*more, *report.figures, Figure("slots left", left, most=0, least=0)))


async def _break_things(fleet: Fleet, books: Books, end: float) -> dict[str, int]:
    """One thing after the other, until `end`; at the end everything is there."""
    events = dict.fromkeys([drill.title for drill in EVENTS], 0)
    while True:
        for drill in EVENTS:
            await asyncio.sleep(BETWEEN_SECONDS)
            if time.monotonic() + GONE_SECONDS > end:
                return events
            await _break(drill, fleet)
            events[drill.title] += 1
            books.kills += drill.name == "node"


async def _break(drill: Drill, fleet: Fleet) -> None:
    await asyncio.to_thread(drill.away, fleet)
    await asyncio.sleep(GONE_SECONDS)
    await asyncio.to_thread(drill.back, fleet)
