"""Reserve, settle, record: one request from its estimate to its row."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moongate.gateway.limits.limit_set import LimitSet, Refusal
from moongate.gateway.limits.limiter import Admission, Limiter
from moongate.gateway.store.accounting import Accounting, UsageEntry
from moongate.gateway.store.journal import Journal, segments
from moongate.gateway.store.record import UNKNOWN, UsageRow, names_in
from moongate.gateway.store.row_ids import time_of
from moongate.gateway.store.segment import SEGMENT_BYTES, SegmentReader
from moongate.prices.price import TokenPrices
from moongate.prices.tokens import TokenCounts

USAGE_KEY = ("key_1", "team_1", "chat", "p", "m", "clean")
PRICES = TokenPrices(1_000_000, 10_000_000)
OUTCOME = (200, 1, 2, 0.5, 1.5)


class Setup:
    def __init__(self, folder: Path, limits: LimitSet) -> None:
        self.limiter = Limiter()
        self.account = self.limiter.account(bytes(32), limits)
        self.journal = Journal(folder, slots=4, limit=2 * SEGMENT_BYTES)
        self.accounting = Accounting(self.journal)
        self.folder = folder

    def begin(self, prices: TokenPrices | None = PRICES) -> UsageEntry | Refusal:
        admission = self.limiter.admit((self.account,))
        assert isinstance(admission, Admission)
        return self.accounting.begin(admission, USAGE_KEY, b"req-1", 100, 50, prices)

    def entry(self, prices: TokenPrices | None = PRICES) -> UsageEntry:
        entry = self.begin(prices)
        assert isinstance(entry, UsageEntry)
        return entry

    def rows(self) -> list[UsageRow]:
        return [row for path in segments(self.folder) for row in SegmentReader(path).read(100)]


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    made = Setup(tmp_path, LimitSet(budget=1000, token_budget=10_000))
    yield made
    made.journal.close()


def test_what_the_provider_said_is_recorded(setup: Setup) -> None:
    entry = setup.entry()
    assert (setup.account.reserved_money, setup.account.reserved_tokens) == (600, 150)
    setup.accounting.end(entry, USAGE_KEY, TokenCounts(70, 0, 0, 20, 5), 270, OUTCOME, billable=1)
    (row,) = setup.rows()
    assert names_in(row.label) == USAGE_KEY
    assert row[2:] == ("req-1", 200, 1, 2, 70, 0, 0, 20, 5, 270, 0, 500_000, 1_500_000)
    assert (setup.account.spent_money, setup.account.spent_tokens, setup.account.reserved_money) == (270, 90, 0)


def test_without_usage_the_estimate_stands_if_it_may_have_been_billed(setup: Setup) -> None:
    setup.accounting.end(setup.entry(), USAGE_KEY, None, None, (499, 1, 0, None, 1.0), billable=1)
    (row,) = setup.rows()
    assert (row.input, row.output, row.cost, row.estimated, row.first_byte) == (100, 50, 600, 1, UNKNOWN)
    assert setup.account.spent_money == 600
    assert setup.begin() == Refusal("budget", "key", 1000, None, None, transient=False)


def test_what_no_provider_took_costs_nothing(setup: Setup) -> None:
    setup.accounting.end(setup.entry(), USAGE_KEY, None, None, (502, 3, 0, None, 1.0), billable=0)
    (row,) = setup.rows()
    assert (row.input, row.output, row.cost, row.estimated) == (0, 0, 0, 0)
    setup.accounting.drop(setup.entry())
    assert len(setup.rows()) == 1
    assert (setup.account.spent_money, setup.account.reserved_money) == (0, 0)


def test_a_price_that_is_not_known_is_not_zero(tmp_path: Path) -> None:
    setup = Setup(tmp_path, LimitSet(token_budget=10_000))
    setup.accounting.end(setup.entry(None), USAGE_KEY, TokenCounts(70, 0, 0, 20), None, OUTCOME, billable=1)
    setup.accounting.end(setup.entry(None), USAGE_KEY, None, None, OUTCOME, billable=1)
    assert [row.cost for row in setup.rows()] == [UNKNOWN, UNKNOWN]
    setup.journal.close()
    other = Setup(tmp_path, LimitSet(budget=5))
    refusal = other.begin(None)
    assert isinstance(refusal, Refusal)
    assert refusal.limit == "price"
    other.journal.close()


def test_strict_refuses_when_nothing_can_be_recorded(setup: Setup) -> None:
    strict = Accounting(setup.journal, strict=True)
    while not setup.journal.lost:
        setup.journal.end(-1, 1, b"x" * 500, b"", (0,) * 12)
    assert strict.has_no_room
    assert not setup.accounting.has_no_room


def test_labels_are_remembered_up_to_a_limit(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.gateway.store.accounting.MAX_LABELS", 2)
    for number in range(5):
        usage_key = (f"key_{number}", "", "chat", "p", "m", "")
        setup.accounting.end(setup.entry(), usage_key, TokenCounts(), 0, OUTCOME, billable=1)
    assert [names_in(row.label)[0] for row in setup.rows()] == [f"key_{n}" for n in range(5)]


def test_attempts_that_may_have_been_billed_without_usage_are_estimated_beside_the_one_with_it(setup: Setup) -> None:
    entry = setup.entry()
    setup.accounting.end(
        entry,
        USAGE_KEY,
        TokenCounts(70, 0, 0, 20),
        270,
        (200, 3, 0, None, 1.0),
        billable=2,
    )
    (row,) = setup.rows()
    assert (row.input, row.output, row.cost, row.estimated) == (170, 70, 870, 1)
    assert setup.account.spent_money == 870


def test_a_reservation_without_an_end_is_settled_after_its_lease(setup: Setup) -> None:
    entry = setup.entry()
    began = time_of(entry.row_id)
    assert setup.accounting.expire(began - 1) == 0
    assert setup.account.reserved_money == 600
    assert setup.accounting.expire(began + 1) == 1
    assert setup.accounting.expire(began + 1) == 0
    assert (setup.account.reserved_money, setup.account.spent_money) == (0, 600)
    setup.accounting.end(entry, USAGE_KEY, TokenCounts(70, 0, 0, 20), 270, OUTCOME, billable=1)
    first, second = setup.rows()  # the second takes the place of the first in the database
    assert (first.id, first.estimated, first.cost) == (second.id, 1, 600)
    assert (second.estimated, second.cost) == (0, 270)
    assert setup.account.spent_money == 600


def test_a_lease_that_is_over_costs_nothing_known_where_the_price_is_not(tmp_path: Path) -> None:
    setup = Setup(tmp_path, LimitSet(token_budget=10_000))
    setup.accounting.drop(setup.entry(None))
    assert setup.accounting.expire(time.time() + 9) == 0
    setup.entry(None)
    assert setup.accounting.expire(time.time() + 9) == 1
    assert [row.cost for row in setup.rows()] == [UNKNOWN]
    setup.journal.close()


def test_several_answers_whose_usage_is_known_are_not_estimated(setup: Setup) -> None:
    counts, outcome = TokenCounts(170, 0, 0, 50), (200, 3, 0, None, 1.0)
    setup.accounting.end(setup.entry(), USAGE_KEY, counts, 300, outcome, billable=2, known=2)
    setup.accounting.end(setup.entry(), USAGE_KEY, counts, 300, outcome, billable=3, known=2)
    first, second = setup.rows()
    assert (first.input, first.output, first.cost, first.estimated) == (170, 50, 300, 0)
    assert (second.input, second.output, second.cost, second.estimated) == (270, 100, 900, 1)
