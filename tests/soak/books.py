"""What each side of a billing scenario says at the end, and how they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.billing_clients import GUARDED, Sent
from tests.soak.report import Figure, Report

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.journal import segments
from moongate.gateway.store.record import UsageRow, names_in
from moongate.gateway.store.reservations import ReservationSlots
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.store.writer import UsageWriter
from moongate.sim.ledger import LedgerEntry, counts

BUDGET = 5000  # tokens of a key that has one
# Tokens beyond a budget, if the state that gateways share was away: one of two gateways that is cut off may spend its
# part, half of what was left, while the other spends the same until the database tells the first one.
EXCESS = BUDGET // 2


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

    def take_bills(self, entries: Iterable[LedgerEntry]) -> None:
        for entry in entries:
            if entry.usage is not None:
                self.billed.setdefault(entry.session, []).append(entry)


def read_store(url: str, journal: Path, books: Books) -> None:
    """What the store and the journal of one gateway have at the end; for several, one after the other."""
    books.left_in_journal += len(segments(journal))
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


def compare(name: str, books: Books, *, state_lost: bool = False) -> Report:
    """`state_lost`: the state that gateways share was away now and then: parts of budgets may be off a little."""
    over = _over(books, BUDGET)
    rows, billed = books.rows, books.billed
    exact = {name: row for name, row in rows.items() if not row.estimated}
    estimated = {name: row for name, row in rows.items() if row.estimated}
    of_killed = {name for name, row in estimated.items() if row.status == 0}
    came = {name for name, found in billed.items() if all(map(_came, found))}
    tried = sum(len(found) > 1 and GUARDED in str(found[0].model) for found in billed.values())
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
            Figure("requests with further tries of the guard", tried, least=1),
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
            Figure(
                "keys above their budget by more than estimates were exceeded",
                len(over),
                most=math.inf if state_lost else 0,
            ),
            Figure("by how many tokens, the most", max(over, default=0), most=EXCESS if state_lost else 0),
            Figure("reservations left", books.left_open, most=0, least=0),
            Figure("segments left in the journal", books.left_in_journal, most=0, least=0),
        ),
    )


def _over(books: Books, budget: int) -> list[int]:
    """By how much keys spent more than their budget and what their answers took beyond their estimates."""
    estimates = {each.id: each.estimate for each in books.sent}
    spent: dict[str, int] = {}
    for name, row in books.rows.items():
        names, total = names_in(row.label), sum(_tokens(row))
        reserved = row.attempts if GUARDED in names[4] else 1  # each try reserves for itself, a retry does not
        spent[names[0]] = spent.get(names[0], 0) + min(total, estimates.get(name, total) * max(1, reserved))
    return [total - budget for key, total in spent.items() if key in books.budgeted and total > budget]
