from __future__ import annotations

from moongate.gateway.record.client_counters import ClientCounters
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters

USAGE = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}


def lines(metrics: Metrics) -> list[str]:
    return [
        line for line in metrics.text("0").split("\n") if line.startswith("moongate_client_") and "left" not in line
    ]


def test_requests_tokens_and_money_are_counted_by_client() -> None:
    metrics = Metrics(SharedCounters())
    counters = ClientCounters(metrics, 10)
    counters.count("anna", 200, USAGE, 2500)
    counters.count("anna", 200, USAGE, None)
    counters.count("ben", 429, None, None)
    assert lines(metrics) == [
        'moongate_client_requests_total{client="anna",status="200"} 2',
        'moongate_client_requests_total{client="ben",status="429"} 1',
        'moongate_client_tokens_total{client="anna",kind="cached"} 8',
        'moongate_client_tokens_total{client="anna",kind="input"} 20',
        'moongate_client_tokens_total{client="anna",kind="output"} 6',
        'moongate_client_cost_dollars_total{client="anna"} 0.002500',
    ]


def test_clients_beyond_the_limit_count_together_also_after_a_reload() -> None:
    metrics = Metrics(SharedCounters())
    counters = ClientCounters(metrics, 2)
    for number in range(50):
        counters.count(f"c{number}", 200, None, None)
    ClientCounters(metrics, 2, counters).count("later", 200, None, None)
    assert lines(metrics) == [
        'moongate_client_requests_total{client="c0",status="200"} 1',
        'moongate_client_requests_total{client="c1",status="200"} 1',
        'moongate_client_requests_total{client="other",status="200"} 49',
    ]


def test_without_the_setting_nothing_is_counted() -> None:
    metrics = Metrics(SharedCounters())
    ClientCounters(metrics, 0).count("anna", 200, USAGE, 1)
    assert lines(metrics) == []
