"""Every interval that is reported holds the true rate of a simulated vendor in at least 93 of 100 seeded runs."""

from __future__ import annotations

from collections import Counter

import pytest
from moongate.transformers.base import BaseExchange
from tests.support.length import by_length

from moongate.payload import dumps
from moongate.sim.responses import SimRequest
from moongate.sim.vendor import Vendor
from moongate.verify.answer_view import view
from moongate.verify.case import VerifyCase
from moongate.verify.judgement import CallReader, judged
from moongate.verify.statistics import MeasuredRate
from moongate.verify.suites import cases_of
from moongate.verify.tally import SideTally

RUNS = 100
WANTED = 93
PROMPTS = by_length(1, 4)  # times the 44 prompts


def _tally(cases: list[VerifyCase], model: str, reader: CallReader) -> SideTally:
    vendor, tally = Vendor(), SideTally()
    for _ in range(PROMPTS):
        for case in cases:
            request = {**case.request, "model": model}
            answer = vendor.answer(SimRequest("POST", "/v1/chat/completions", {}, dumps(request)))
            kind = dict(answer.headers).get("content-type", "")
            seen = view(BaseExchange(request), b"".join(answer.pieces), kind, streamed=case.streamed)
            tally.add(case.suite, judged(case, answer.status, seen, reader), case.due, mended=False)
    return tally


def _f1(share: float, due: int, other: int) -> float:
    """Of a vendor that makes this share of calls that are due, and leaves this share of needless ones out."""
    both, needless, missed = due * share, other * (1 - share), due * (1 - share)
    return 2 * both / (2 * both + needless + missed)


@pytest.mark.parametrize("percent", [72, 90, 100])
def test_validity(percent: int) -> None:
    cases, reader = [case for case in cases_of("tools", "kimi-k2") if case.due], CallReader()
    held = Counter[str]()
    for seed in range(RUNS):
        tally = _tally(cases, f"kimi-k2-sim-valid-{percent}-seed-{seed}", reader)
        for name in ("schema", "calls_fit"):
            low, high = tally.rate(name)["interval"]
            held[name] += low <= percent / 100 <= high
    assert min(held["schema"], held["calls_fit"]) >= WANTED


def test_triggers_leaks_and_finishes() -> None:
    cases, reader = cases_of("tools", "kimi-k2"), CallReader()
    due = sum(case.due is True for case in cases)
    held = Counter[str]()
    for seed in range(RUNS):
        triggers = _tally(cases, f"kimi-k2-sim-valid-80-missing-calls-needless-calls-seed-{seed}", reader)
        truths = {"recall": 0.8, "f1": _f1(0.8, due, len(cases) - due)}
        for name, truth in truths.items():
            low, high = triggers.rate(name)["interval"]
            held[name] += low <= truth <= high
        faults = _tally(cases, f"kimi-k2-sim-valid-80-leaked-markers-wrong-finishes-seed-{seed}", reader)
        for fault, truth in (("leaked_content", 0.1), ("wrong_finish", 0.1)):
            low, high = MeasuredRate(faults.faults[fault], faults.asked).interval  # one that was not seen: 0 of all
            held[fault] += low <= truth * due / len(cases) <= high
    assert {name: count for name, count in held.items() if count < WANTED} == {}
    assert len(held) == 4
