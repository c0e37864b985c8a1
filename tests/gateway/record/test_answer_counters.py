from __future__ import annotations

from moongate.chat.verdict import Verdict
from moongate.gateway.record.answer_counters import MAX_KINDS, AnswerCounters
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters


def test_answers_are_counted_by_worth_and_damage_by_kind() -> None:
    metrics = Metrics(SharedCounters())
    counters = AnswerCounters(metrics, "p", "m")
    counters.count(Verdict("clean"), tools=True)
    counters.count(Verdict("clean"), tools=True)
    counters.count(Verdict("clean"), tools=False)
    counters.count(Verdict("damaged", ("invalid_json", "unknown_tool")), tools=True)
    lines = metrics.text("0").split("\n")
    of = 'provider="p",model="m"'
    for line in (
        f'moongate_answers_total{{{of},tools="true",worth="clean"}} 2',
        f'moongate_answers_total{{{of},tools="false",worth="clean"}} 1',
        f'moongate_answers_total{{{of},tools="true",worth="damaged"}} 1',
        f'moongate_damage_total{{{of},tools="true",kind="invalid_json"}} 1',
        f'moongate_damage_total{{{of},tools="true",kind="unknown_tool"}} 1',
    ):
        assert line in lines


def test_kinds_that_a_transformer_invents_are_limited() -> None:
    metrics = Metrics(SharedCounters())
    counters = AnswerCounters(metrics, "p", "m")
    for number in range(MAX_KINDS + 10):
        counters.count(Verdict("damaged", (f"k{number}",)), tools=True)
    counters.count(Verdict("damaged", ("k0",)), tools=True)
    text = metrics.text("0")
    assert 'moongate_damage_total{provider="p",model="m",tools="true",kind="other"} 10' in text
    assert 'kind="k0"} 2' in text
