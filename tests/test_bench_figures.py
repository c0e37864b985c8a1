"""Medians, ratios, spreads and lines: the arithmetic behind the tables."""

from __future__ import annotations

import pytest
from bench import costs, report
from bench.chart import bars
from bench.contenders import AGAIN, CONTENDERS
from bench.fit import fitted
from bench.harness import Bench
from bench.peers import PEERS
from bench.rows import FIRST_BYTES, ROWS, job
from bench.samples import Samples
from bench.table import cell, printed, spread
from bench.turns import HEADLINE

TURN = f"CPU µs per turn of {HEADLINE} KB, chat"


def samples() -> Samples:
    return Samples(
        {
            "nginx": {TURN: [100.0, 200.0, 100.0], "CPU µs per chunk": [10.0]},
            "moongate": {TURN: [300.0, 600.0, 330.0], "CPU µs per chunk, messages": [15.0]},
            "nginx" + AGAIN: {TURN: [100.0, 100.0, 100.0]},
            "moongate" + AGAIN: {TURN: [330.0, 330.0, 330.0]},
            "portkey": {f"{TURN}: errors": [6.0]},
        }
    )


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert samples().median("moongate", TURN) == 330.0
    assert samples().ratio("moongate", TURN) == 3.0  # 3, 3, 3.3: the busy round disturbs both


def test_a_figure_that_nginx_lacks_is_held_against_the_plain_one() -> None:
    assert samples().ratio("moongate", "CPU µs per chunk, messages") == 1.5


def test_the_spread_is_how_far_two_processes_of_one_build_lie_apart() -> None:
    assert samples().spread("moongate", TURN) == pytest.approx(0.1)
    assert samples().spread("portkey", TURN) is None
    assert spread(samples(), TURN) == "± 10.0 %"


def test_a_contender_that_fails_has_no_figure() -> None:
    assert cell(samples(), "portkey", TURN) == "fails"
    assert cell(samples(), "nginx", "CPU µs per request") == ""


def test_the_table_has_each_contender_once_and_the_spread() -> None:
    head, _, first, *_ = printed(samples(), {"llms": "not installed"}).split("\n")
    assert head == "| figure | nginx | moongate | portkey | A/A |"
    assert first == f"| {TURN} | 100 | 330 (3.0 ×) | fails | ± 10.0 % |"


def test_a_contender_of_one_row_is_a_row_of_the_documentation_and_no_column() -> None:
    figure = "CPU µs per request"
    own = {"nginx": {figure: [10.0]}, "moongate": {figure: [30.0]}, "moongate-no-store": {figure: [25.0]}}
    found = report.samples_of({"samples": own})
    assert list(found.values) == ["nginx", "moongate"]
    labels = dict(report.HEADLINES)
    assert report.row(found, ["nginx", "moongate"], "", labels["… `store: off`"]) == ["", "", "25.0 (2.50 ×)"]


def test_the_chart_begins_with_the_turn() -> None:
    assert bars(samples()).index(TURN) < bars(samples()).index("CPU µs per chunk")


def test_a_line_is_found_and_its_worst_point_is_printed() -> None:
    line = fitted([(100, 600), (200, 1100), (400, 2100)])
    assert line is not None
    assert (line.base, line.slope, line.off) == pytest.approx((100, 5, 0))
    bent = fitted([(1, 1), (2, 4), (4, 16), (8, 64)])
    assert bent is not None
    assert bent.off > 0.5
    assert fitted([(1, 1), (2, 2)]) is None
    assert fitted([(1, 1), (1, 1), (1, 1)]) is None


def test_what_a_feature_costs_is_printed_next_to_the_noise() -> None:
    figure = costs.ROWS[0].figure
    found = Samples({"bare": {figure: [100.0]}, "bare" + AGAIN: {figure: [101.0]}, "JSON log": {figure: [110.0]}})
    printed = costs.printed(found)
    assert "| the same again (noise) | +1.0 µs (+1.0 %) |" in printed
    assert "| JSON log | +10.0 µs (+10.0 %) |" in printed


def test_everything_at_once_has_all_settings() -> None:
    all_of_them = costs.everything(costs.FEATURES)
    every = {"api_keys", "judge", "log", "metrics", "routes", "store"}
    assert set(all_of_them.settings) == every  # not `inspect`: to capture all is no part of it, an open page is
    assert all_of_them.page
    assert costs.configured(all_of_them, "python", "").prefix == costs.ROUTED
    assert all_of_them.beside is costs.Scraper


def test_every_row_can_be_asked_of_whom_it_concerns() -> None:
    for row in (*ROWS["turn"], *ROWS["small"], *FIRST_BYTES):
        for contender in CONTENDERS.values():
            if row.asks(contender):
                asked = job(contender, 1, row)
                assert contender.build or not row.provider or row.provider not in asked.body[:80]
    assert [row.name for row in ROWS["turn"] if row.asks(PEERS[-1])] == [
        f"turn of {HEADLINE} KB, {front}" for front in ("chat", "messages", "responses")
    ]


def test_the_versions_of_the_peers_are_those_that_are_installed() -> None:
    script = (report.RESULTS.parent / "peers.sh").read_text(encoding="utf-8")
    for peer in PEERS:
        assert f"{peer.title.split()[-1]}." in script


def test_no_contender_is_always_the_first() -> None:
    with Bench([], rows=[]) as bench:
        bench.running = dict.fromkeys(PEERS[:3])  # type: ignore[assignment]
        orders = [bench.order() for _ in range(3)]
        bench.running = {}
    assert {order[0] for order in orders} == set(PEERS[:3])
