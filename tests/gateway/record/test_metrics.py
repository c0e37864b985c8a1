from __future__ import annotations

from moongate.gateway.record.metrics import Metrics, labels
from moongate.gateway.record.shared_counters import SharedCounters


def test_counters_and_gauges_are_written() -> None:
    metrics = Metrics(SharedCounters())
    metrics.count("moongate_requests_total", model='k"2\n', provider="a\\b", front="chat", status="200")
    metrics.values[metrics.in_flight] += 3
    metrics.count_dropped_lines(2)
    lines = metrics.text("1.2.3").split("\n")
    assert 'moongate_requests_total{model="k\\"2\\n",provider="a\\\\b",front="chat",status="200"} 1' in lines
    assert "moongate_requests_in_flight 3" in lines
    assert "moongate_log_lines_dropped_total 2" in lines
    assert 'moongate_build_info{version="1.2.3"} 1' in lines
    assert "# TYPE moongate_requests_in_flight gauge" in lines
    assert lines[-1] == ""


def test_histograms_add_up() -> None:
    metrics = Metrics(SharedCounters())
    histogram = metrics.histogram("moongate_duration_seconds", provider="p")
    for seconds in (0.001, 0.005, 0.006, 3.0, 1000.0):
        histogram.observe(seconds)
    text = metrics.text("0")
    assert 'moongate_duration_seconds_bucket{provider="p",le="0.005"} 2\n' in text
    assert 'moongate_duration_seconds_bucket{provider="p",le="0.01"} 3\n' in text
    assert 'moongate_duration_seconds_bucket{provider="p",le="5"} 4\n' in text
    assert 'moongate_duration_seconds_bucket{provider="p",le="300"} 4\n' in text
    assert 'moongate_duration_seconds_bucket{provider="p",le="+Inf"} 5\n' in text
    assert 'moongate_duration_seconds_sum{provider="p"} 1003.012000\n' in text
    assert 'moongate_duration_seconds_count{provider="p"} 5\n' in text


def test_the_overhead_has_buckets_of_its_own() -> None:
    metrics = Metrics(SharedCounters())
    metrics.histogram("moongate_overhead_seconds", front="chat").observe(0.0002)
    text = metrics.text("0")
    assert 'moongate_overhead_seconds_bucket{front="chat",le="0.0001"} 0\n' in text
    assert 'moongate_overhead_seconds_bucket{front="chat",le="0.00025"} 1\n' in text


def test_a_histogram_without_labels() -> None:
    metrics = Metrics(SharedCounters())
    metrics.histogram("moongate_duration_seconds").observe(1)
    assert 'moongate_duration_seconds_bucket{le="1"} 1\n' in metrics.text("0")


def test_gauges_of_a_worker_that_died_are_reset() -> None:
    slots = SharedCounters()
    metrics = Metrics(slots)
    metrics.values[metrics.streams] += 4
    assert "moongate_streams_open 0\n" in Metrics(slots).text("0")


def test_no_labels_no_braces() -> None:
    assert labels() == ""
