"""Routing in virtual time: three vendors of which the best one breaks for an hour, 10 000 sessions in a day."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.route_charts import Simulations, came_back, charts, figures, noticed, simulations
from bench.route_simulation import BREAKS, HOUR, MENDS, MINUTE
from docs.generate import DOCS, filled


@pytest.fixture(scope="module")
def runs() -> Simulations:
    return simulations()


def test_there_are_ten_thousand_sessions(runs: Simulations) -> None:
    assert len({turn.session for turn in runs.quality.turns}) == 10_000


def test_quality_routing_avoids_most_of_the_damage(runs: Simulations) -> None:
    assert runs.weighted.damaged() > 0.09
    assert runs.quality.damaged() < 0.025
    assert runs.quality.damaged(2 * HOUR, BREAKS) < 0.016  # the best one alone has 1 %
    assert runs.quality.damaged(BREAKS, MENDS) < 0.08  # the next one alone has 5 %


def test_an_outage_is_noticed_within_a_minute_and_its_end_within_hours(runs: Simulations) -> None:
    assert noticed(runs.quality) < MINUTE
    assert 0 < came_back(runs.quality) < 6 * HOUR
    assert runs.quality.share(0, BREAKS + MINUTE, MENDS) < 0.05
    assert runs.quality.share(0, 14 * HOUR, 24 * HOUR) > 0.9


def test_sessions_keep_their_target_in_quiet_times(runs: Simulations) -> None:
    assert runs.quality.kept(0, BREAKS) >= 0.97
    assert runs.quality.kept(MENDS, 30 * HOUR) >= 0.97
    assert runs.quality.moves() < 0.02


def test_nothing_oscillates(runs: Simulations) -> None:
    assert len(runs.quality.changes(0)) == 2  # it fell behind and came back
    for target in range(3):
        assert len(runs.quality.changes(target, 13 * HOUR)) <= 2


def test_a_small_perfect_vendor_is_not_starved_by_a_large_good_one(runs: Simulations) -> None:
    assert runs.small.share(1, HOUR, 8 * HOUR) > 0.9
    assert runs.small.damaged(HOUR) < 0.005


def test_a_small_vendor_that_is_often_full_is_still_used_up(runs: Simulations) -> None:
    answered = sum(turn.target == 1 for turn in runs.full.turns)
    possible = 4 * 8 * 60
    assert answered > 0.75 * possible
    assert all(not worse[1] for when, worse in runs.full.ranks if when > HOUR)


def test_the_charts_of_the_documentation_are_those_of_the_simulation(runs: Simulations) -> None:
    for path, picture in charts(runs).items():
        assert path.read_text(encoding="utf-8") == picture, "run: python -m bench.route_charts"


def test_the_figures_of_the_documentation_are_those_of_the_simulation(runs: Simulations) -> None:
    page = Path(DOCS / "routing.md").read_text(encoding="utf-8")
    assert page == filled(page, simulation=figures(runs)), "run: python -m bench.route_charts"
