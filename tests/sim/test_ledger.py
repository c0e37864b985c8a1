from __future__ import annotations

from moongate.sim.ledger import SimLedger, counts


def test_entries_and_sums() -> None:
    ledger = SimLedger()
    first, second = ledger.open("a"), ledger.open("b")
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cached_tokens": 3}
    ledger.bill(first, usage, usage_sent=True)
    assert (first.number, second.number, first.trace) == (1, 2, "sim-1")
    page = ledger.page()
    assert page["requests"] == 2
    assert page["sums"]["total_tokens"] == 7
    assert [entry["usage"] for entry in page["entries"]] == [usage, None]
    assert [entry["number"] for entry in ledger.page(after=1)["entries"]] == [2]
    assert [entry["number"] for entry in ledger.page(limit=1)["entries"]] == [1]
    ledger.clear()
    assert ledger.page() == {"requests": 0, "sums": dict.fromkeys(page["sums"], 0), "entries": []}


def test_counts_read_every_spelling() -> None:
    found = counts(
        {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_creation_input_tokens": 2}}
    )
    assert (found["prompt_tokens"], found["cached_tokens"], found["cache_write_tokens"]) == (9, 4, 2)
