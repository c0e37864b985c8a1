"""Every interval that is reported holds the true rate of a simulated vendor in at least 93 of 100 seeded runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from tests.support.length import by_length

from moongate.chat.base import BaseExchange
from moongate.cli.replay import chain_of
from moongate.cli.verify_plan import DEFAULT_CHAIN
from moongate.payload import JsonObject, dumps
from moongate.sim.responses import SimRequest, SimResponse
from moongate.sim.vendor import Vendor
from moongate.verify.answer_view import AnswerView, view
from moongate.verify.case import VerifyCase
from moongate.verify.judgement import CallCriteria, judged
from moongate.verify.statistics import MeasuredRate
from moongate.verify.suites import cases_of
from moongate.verify.tally import RATES, SideTally

RUNS = 100
WANTED = 93
TIMES = by_length(1, 4)  # each suite in a run
CRITERIA = CallCriteria()
CHAIN = chain_of(DEFAULT_CHAIN, "kimi-k2", "http://127.0.0.1/v1")


class _Run:
    """One run against a vendor: `lost` of 100 requests get a status 500, the others what the model's name says."""

    def __init__(self, cases: list[VerifyCase], model: str, *, lost: int = 0, seed: int = 0) -> None:
        self._model, self._lost, self._random = model, lost / 100, Random(seed)
        self._vendor = Vendor()
        self.raw, self.repaired = SideTally(), SideTally()
        for case in cases * TIMES:
            self._ask(case)

    def _ask(self, case: VerifyCase) -> None:
        request = {**case.request, "model": self._model}
        if self._random.random() < self._lost:
            for side in (self.raw, self.repaired):
                side.add(case.suite, judged(case, 500, None, CRITERIA), case.due, mended=False)
            return
        answer = self._answer(request)
        whole = None
        if case.suite == "stream":
            plain = {name: value for name, value in request.items() if not name.startswith("stream")}
            whole = _seen(self._answer(plain), plain)
        found = judged(case, answer.status, _seen(answer, request), CRITERIA, whole)
        self.raw.add(case.suite, found, case.due, mended=False)
        if case.suite == "tools":
            left = judged(case, answer.status, _seen(answer, request, repaired=True), CRITERIA)
            self.repaired.add(case.suite, left, case.due, mended=False)

    def _answer(self, request: JsonObject) -> SimResponse:
        return self._vendor.answer(SimRequest("POST", "/v1/chat/completions", {}, dumps(request)))


def _seen(answer: SimResponse, request: JsonObject, *, repaired: bool = False) -> AnswerView | None:
    if answer.status != 200:
        return None
    exchange = CHAIN.begin(request) if repaired else BaseExchange(request)
    kind = dict(answer.headers).get("content-type", "")
    return view(exchange, b"".join(answer.pieces), kind, streamed=request.get("stream") is True)


def _held(tally: SideTally, truths: Mapping[str, float], held: Counter[str]) -> None:
    """Count the rates and faults whose interval holds the truth."""
    for name, truth in truths.items():
        rate = tally.rate(name) if name in RATES else MeasuredRate(tally.faults[name], tally.asked).as_json()
        low, high = rate["interval"]
        held[name] += low <= truth <= high


def _enough(held: Counter[str]) -> None:
    assert {name: count for name, count in held.items() if count < WANTED} == {}


TOOLS, STREAMS, HISTORIES = (cases_of(suite, "kimi-k2") for suite in ("tools", "stream", "multiturn"))
DUE = sum(case.due is True for case in TOOLS)
OTHER = len(TOOLS) - DUE
VALIDITY = ("schema", "calls_fit", "tools")
# Of the calls that are due, and of the turns that need none, 80 of 100 are as they should be.
BOTH, NEEDLESS, MISSED = DUE * 0.8, OTHER * 0.2, DUE * 0.2
TRIGGERS = {
    "recall": 0.8,
    "precision": BOTH / (BOTH + NEEDLESS),
    "f1": 2 * BOTH / (2 * BOTH + NEEDLESS + MISSED),
}
# 10 of 100 requests are lost; of the turns with calls that are left 20 have one of four kinds of damage.
KINDS = {
    "leaked_content": "leaked-markers",
    "wrong_finish": "wrong-finishes",
    "nameless": "lost-names",
    "empty_turn": "empty-turns",
}
LOST = {
    **{kind: 0.9 * 0.2 / len(KINDS) * DUE / len(TOOLS) for kind in KINDS},
    "success": 0.9,
    "failed": 0.1,
    "tools": 0.9 * (DUE * 0.8 + OTHER) / len(TOOLS),
}
# Of a turn that is asked for streamed and whole, both answers must be right.
STREAM_DUE = sum(case.due is True for case in STREAMS) / len(STREAMS)
TURNS = {"stream": STREAM_DUE * 0.8 * 0.8 + 1 - STREAM_DUE, "multiturn": 0.8}
CONTRACT = {"contract": 0.88}


def test_every_rate_is_looked_at() -> None:
    assert set(RATES) <= {*VALIDITY, *TRIGGERS, *LOST, *TURNS, *CONTRACT}


@pytest.mark.parametrize("percent", [72, 90, 100])
def test_validity_raw_and_repaired(percent: int) -> None:
    cases, raw, repaired = [case for case in TOOLS if case.due], Counter[str](), Counter[str]()
    truths = dict.fromkeys(VALIDITY, percent / 100)
    for seed in range(RUNS):
        run = _Run(cases, f"kimi-k2-sim-valid-{percent}-seed-{seed}")
        _held(run.raw, truths, raw)
        _held(run.repaired, truths, repaired)  # the chain mends no arguments unless the guard is on
    _enough(raw)
    _enough(repaired)


def test_triggers() -> None:
    held = Counter[str]()
    for seed in range(RUNS):
        run = _Run(TOOLS, f"kimi-k2-sim-valid-80-missing-calls-needless-calls-seed-{seed}")
        _held(run.raw, TRIGGERS, held)
    _enough(held)


def test_faults_and_lost_requests() -> None:
    held = Counter[str]()
    for seed in range(RUNS):
        run = _Run(TOOLS, f"kimi-k2-sim-valid-80-{'-'.join(KINDS.values())}-seed-{seed}", lost=10, seed=seed)
        _held(run.raw, LOST, held)
    _enough(held)


def test_streams_and_histories() -> None:
    held = Counter[str]()
    for seed in range(RUNS):
        run = _Run([*STREAMS, *HISTORIES], f"kimi-k2-sim-valid-80-leaked-markers-seed-{seed}")
        _held(run.raw, TURNS, held)
    _enough(held)


def test_contract() -> None:
    held = Counter[str]()
    for seed in range(RUNS):
        run = _Run(cases_of("contract", "kimi-k2"), "kimi-k2-sim", lost=12, seed=seed)
        _held(run.raw, CONTRACT, held)
    _enough(held)
