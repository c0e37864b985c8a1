"""What a request costs, reserved before it and recorded after it: limits and journal together.

entry = accounting.begin(admission, …)   # UsageEntry or Refusal
accounting.end(entry, …)                 # exact, estimated, or nothing
accounting.expire(…)                     # now and then: what has no end after its lease is estimated
"""

from __future__ import annotations

from typing import Final

from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.store.journal import Journal
from moongate.gateway.store.record import MAX_REQUEST, UNKNOWN, label_of
from moongate.gateway.store.row_ids import time_of
from moongate.prices.price import TokenPrices
from moongate.prices.tokens import TokenCounts

MAX_LABELS: Final = 10_000  # that are remembered as bytes
MICROSECONDS: Final = 1_000_000
NO_TOKENS: Final = TokenCounts()
UsageKey = tuple[str, str, str, str, str, str]  # key, team, front, provider, model, worth


class UsageEntry:
    """One request that may cost something."""

    __slots__ = ("admission", "answer", "cost", "journal_slot", "label", "prompt", "request", "row_id", "usage_key")

    def __init__(
        self,
        admission: Admission,
        usage_key: UsageKey,
        label: bytes,
        request: bytes,
        prompt: int,
        answer: int,
        cost: int | None,
        row_id: int,
    ) -> None:
        self.admission = admission
        self.usage_key, self.label = usage_key, label
        self.request = request[:MAX_REQUEST]
        self.prompt = prompt
        self.answer = answer
        self.cost = cost
        self.row_id = row_id
        self.journal_slot = -1


class Accounting:
    """One worker's. `strict`: no request is served that cannot be recorded."""

    def __init__(self, journal: Journal, *, strict: bool = False) -> None:
        self.journal = journal
        self.strict = strict
        self._labels: dict[UsageKey, bytes] = {}
        self._open: list[UsageEntry | None] = [None] * journal.slot_count

    @property
    def has_no_room(self) -> bool:
        """Must new requests be refused, because they could not be recorded?"""
        return self.strict and self.journal.lost > 0 and self.journal.is_full

    def begin(
        self,
        admission: Admission,
        usage_key: UsageKey,
        request: bytes,
        prompt: int,
        answer: int,
        prices: TokenPrices | None,
    ) -> UsageEntry | Refusal:
        """Reserve what a request may cost, and note it in the journal."""
        cost = None if prices is None else prices.upper_bound(prompt, answer)
        refusal = admission.reserve(prompt + answer, prompt, cost)
        if refusal is not None:
            return refusal
        journal = self.journal
        label, row_id = self._label(usage_key), journal.ids.take()
        entry = UsageEntry(admission, usage_key, label, request, prompt, answer, cost, row_id)
        estimate = (0, 0, 0, prompt, 0, 0, answer, 0, UNKNOWN if cost is None else cost, 1, UNKNOWN, 0)
        entry.journal_slot = slot = journal.begin(entry.row_id, entry.label, entry.request, estimate)
        if slot >= 0:
            self._open[slot] = entry
        return entry

    def end(
        self,
        entry: UsageEntry,
        usage_key: UsageKey,
        counts: TokenCounts | None,
        cost: int | None,
        outcome: tuple[int, int, int, float | None, float],
        *,
        billable: int,
        known: int = 1,
    ) -> bool:
        """Settle and record a request that has ended. False: the journal is full, and the record is lost.

        `counts` and `cost` are what the provider said of `known` answers, and their price. `billable` is the number of
        requests that providers may have billed: for each further one the estimate is added. `outcome`: status,
        attempts, repairs, seconds to the first byte, seconds.
        """
        status, attempts, repairs, first_byte, seconds = outcome
        missing = billable
        if counts is not None:
            missing -= known
        else:
            counts, cost = NO_TOKENS, 0
        if missing > 0:
            counts = counts.plus(entry.prompt * missing, entry.answer * missing)
            cost = None if cost is None or entry.cost is None else cost + entry.cost * missing
        else:
            missing = 0
        entry.admission.settle(counts.total, cost)
        slot = entry.journal_slot
        if slot >= 0:
            self._open[slot] = None
        read, cached, stored, written, reasoning = counts
        numbers = (
            status, attempts, repairs, read, cached, stored, written, reasoning,
            UNKNOWN if cost is None else cost, 1 if missing else 0,
            UNKNOWN if first_byte is None else int(first_byte * MICROSECONDS), int(seconds * MICROSECONDS),
        )  # fmt: skip
        label = entry.label if usage_key == entry.usage_key else self._label(usage_key)
        return self.journal.end(slot, entry.row_id, label, entry.request, numbers)

    def drop(self, entry: UsageEntry) -> None:
        """It never reached a provider: nothing is spent, and nothing recorded."""
        entry.admission.settle(0, 0)
        if entry.journal_slot >= 0:
            self._open[entry.journal_slot] = None
        self.journal.drop(entry.journal_slot)

    def expire(self, before: float) -> int:
        """Record what began before this time and has no end as estimated; gives how many. An end that comes after all
        replaces the row in the database; the budget keeps the estimate."""
        late = [entry for entry in self._open if entry is not None and time_of(entry.row_id) < before]
        for entry in late:
            entry.admission.settle(entry.prompt + entry.answer, entry.cost)
            cost = UNKNOWN if entry.cost is None else entry.cost
            numbers = (0, 0, 0, entry.prompt, 0, 0, entry.answer, 0, cost, 1, UNKNOWN, 0)
            self._open[entry.journal_slot] = None
            self.journal.end(entry.journal_slot, entry.row_id, entry.label, entry.request, numbers)
            entry.journal_slot = -1
        return len(late)

    def _label(self, usage_key: UsageKey) -> bytes:
        found = self._labels.get(usage_key)
        if found is None:
            if len(self._labels) >= MAX_LABELS:
                self._labels.clear()
            found = self._labels[usage_key] = label_of(*usage_key)
        return found
