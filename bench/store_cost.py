"""What the store, limits and prices cost per request, part by part, in microseconds of CPU.

    python -m bench.store_cost                     SQLite
    python -m bench.store_cost --url postgresql://…
    python -m bench.store_cost --rows 10000000     also: a month of so many rows, asked for by key and day

Each part is run many times in a row in one process; the best of five rounds counts. "hot path" is what the event loop
does for one request, "writer" is the thread that takes the journal into the database.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.limiter import Admission, Limiter
from moongate.gateway.store.accounting import Accounting, UsageEntry
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.journal import Journal
from moongate.gateway.store.record import UsageRow, label_of
from moongate.gateway.store.row_ids import first_row_of
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.store.writer import UsageWriter
from moongate.prices.price import TokenPrices
from moongate.prices.tokens import answer_limit, counts_of, estimated_prompt

ROUNDS = 5
TIMES = 10_000
IDENTITY, OTHER_IDENTITY = bytes(32), b"x" * 32
LIMITS = LimitSet(rpm=100_000_000, tpm=100_000_000_000, concurrency=1000, budget=10**15, reset="month")
USAGE = {"prompt_tokens": 900, "completion_tokens": 120, "prompt_tokens_details": {"cached_tokens": 512}}
REQUEST = {"model": "kimi-k3", "max_tokens": 1000, "messages": []}
PRICES = TokenPrices(3_000_000, 15_000_000, 300_000)
LABEL = label_of("key_0123456789abcdef", "team_01", "chat", "moonshot", "kimi-k3", "good")
USAGE_KEY = ("key_0123456789abcdef", "team_01", "chat", "moonshot", "kimi-k3", "clean")
REQUEST_ID = b"0123456789abcdef00000001"
ROW = UsageRow(0, LABEL, REQUEST_ID.decode(), 200, 1, 0, 388, 512, 0, 120, 0, 3118, 0, 210_000, 1_730_000)


def best(work: Callable[[], object], times: int = TIMES) -> float:
    """Microseconds of CPU for one."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - began) / times * 1e6)
    return min(rounds)


def limits_cost(folder: Path, workers: int) -> tuple[float, float]:
    """Admission and release; reservation and settlement."""
    limiter = Limiter(folder if workers > 1 else None, workers=workers)
    accounts = (limiter.account(IDENTITY, LIMITS),)

    def enter() -> None:
        admission = limiter.admit(accounts)
        assert isinstance(admission, Admission)
        admission.release()

    def whole() -> None:
        admission = limiter.admit(accounts)
        assert isinstance(admission, Admission)
        assert admission.reserve(1257, 257, 15_771) is None
        admission.settle(1020, 3118)
        admission.release()

    alone, together = best(enter), best(whole)
    limiter.close()
    return alone, together - alone


def request_cost(folder: Path) -> float:
    """Everything that a request with limits, budget and prices does more than one of a key without any."""
    limiter = Limiter()
    limited, free = (limiter.account(IDENTITY, LIMITS),), (limiter.account(OTHER_IDENTITY, LimitSet()),)
    journal = Journal(folder)
    accounting = Accounting(journal)
    counts = counts_of(USAGE)
    assert counts is not None
    cost = PRICES.cost(counts)

    def without() -> None:
        admission = limiter.admit(free)
        assert isinstance(admission, Admission)
        admission.release()

    def with_store() -> None:
        admission = limiter.admit(limited)
        assert isinstance(admission, Admission)
        prompt, answer = estimated_prompt(900), answer_limit(REQUEST)
        entry = accounting.begin(admission, USAGE_KEY, REQUEST_ID, prompt, answer, PRICES)
        assert isinstance(entry, UsageEntry)
        admission.is_nearly_spent()
        accounting.end(entry, USAGE_KEY, counts, cost, (200, 1, 0, 0.21, 1.73), billable=1)
        admission.release()

    more = best(with_store) - best(without)
    journal.close()
    return more


def price_cost() -> float:
    def work() -> None:
        PRICES.upper_bound(estimated_prompt(900), answer_limit(REQUEST))
        counts = counts_of(USAGE)
        assert counts is not None
        PRICES.cost(counts)

    return best(work)


def journal_cost(folder: Path) -> float:
    journal = Journal(folder)

    def work() -> None:
        row_id = journal.ids.take()
        slot = journal.begin(row_id, LABEL, REQUEST_ID, (0, 0, 0, 257, 0, 0, 1000, 0, 15_771, 1, -1, 0))
        journal.end(slot, row_id, LABEL, REQUEST_ID, (200, 1, 0, 388, 512, 0, 120, 0, 3118, 0, 210_000, 1_730_000))

    cost = best(work)
    journal.close()
    return cost


def writer_cost(url: str, folder: Path, rows: int) -> float:
    """Per row, of what `journal_cost` has left in the journal."""
    writer = UsageWriter(url, folder)
    began, taken = time.process_time(), 0
    while count := writer.take():
        taken += count
    assert taken == rows, taken
    return (time.process_time() - began) / taken * 1e6


def month(url: str, rows: int) -> tuple[float, float]:
    """Seconds to ask for a month of so many rows by key and day, and rows per second while they were written."""
    database = open_database(url)
    table, first = UsageTable(database), first_row_of(20_758)
    labels = [label_of(f"key_{n % 200}", "", "chat", "moonshot", f"model-{n % 3}", "good") for n in range(600)]
    step = 30 * 86_400 * 1_000_000 // rows
    began = time.monotonic()
    for start in range(0, rows, 5000):
        batch = [
            ROW._replace(id=first + ((at * step) << 12), label=labels[at % len(labels)])
            for at in range(start, min(start + 5000, rows))
        ]
        table.add(batch)
    speed = rows / (time.monotonic() - began)
    began = time.monotonic()
    found = usage_sums(database, ("key", "day"), first_day=20_758, end_day=20_788)
    seconds = time.monotonic() - began
    assert sum(row["requests"] for row in found) >= rows
    database.close()
    return seconds, speed


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="", help="a store of its own; default: SQLite in a temporary folder")
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = options.url or str(folder / "moongate.db")
        for workers in (1, 4):
            alone, more = limits_cost(folder, workers)
            print(f"hot path  rate and concurrency, {workers} worker(s)      {alone:6.2f} µs")
            print(f"hot path  tokens and budget, {workers} worker(s)         {more:6.2f} µs")
        print(f"hot path  estimate, counts and price           {price_cost():6.2f} µs")
        print(f"hot path  journal, begin and end               {journal_cost(folder / 'journal'):6.2f} µs")
        print(f"hot path  a whole request, 1 worker            {request_cost(folder / 'requests'):6.2f} µs")
        taking = writer_cost(url, folder / "journal", ROUNDS * TIMES)
        print(f"writer    per row                              {taking:6.2f} µs")
        if options.rows:
            seconds, speed = month(url, options.rows)
            print(f"a month of {options.rows} rows by key and day: {seconds:.3f} s (written at {speed:.0f} rows/s)")


if __name__ == "__main__":
    main()
