"""Scores against independent computations: Wilson's interval by bisection, decay by summing every answer's weight."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.gateway.routing.quality import (
    BAD,
    GOOD,
    HALF_LIFE_ANSWERS,
    HALF_LIFE_SECONDS,
    PRIOR_ANSWERS,
    PRIOR_SCORE,
    Z_90,
    Quality,
    QualityRanks,
    TargetScore,
    wilson,
)


def test_z_is_that_of_a_two_sided_90_percent_interval() -> None:
    assert pytest.approx(NormalDist().inv_cdf(0.95), abs=1e-12) == Z_90


def bound(share: float, counted: float, *, upper: bool) -> float:
    """The share p at which |share - p| is z standard errors of p: what Wilson's interval is, found by bisection."""
    low, high = (share, 1.0) if upper else (0.0, share)
    for _ in range(200):
        middle = (low + high) / 2
        inside = abs(share - middle) <= Z_90 * sqrt(middle * (1 - middle) / counted)
        if inside is upper:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@given(st.floats(0.5, 5000), st.floats(0, 1))
def test_wilson_is_what_bisection_finds(counted: float, share: float) -> None:
    low, high = wilson(share * counted, counted)
    assert low == pytest.approx(bound(share, counted, upper=False), abs=1e-6)
    assert high == pytest.approx(bound(share, counted, upper=True), abs=1e-6)


def test_wilson_of_known_examples() -> None:
    # 90 % intervals of 15/20 and 0/10, as tables give them.
    assert wilson(15, 20) == pytest.approx((0.5680, 0.8730), abs=2e-3)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2130), abs=2e-4)


WORTHS = ("clean", "repaired", "damaged", "failed", "aborted")
ANSWERS = st.lists(st.tuples(st.sampled_from(WORTHS), st.floats(0, 20_000)), max_size=60)


@given(ANSWERS, st.floats(0, 100_000))
def test_decay_is_by_number_and_by_time_together(answers: list[tuple[str, float]], later: float) -> None:
    score, now, counted = TargetScore(), 1000.0, list[tuple[str, float]]()
    for worth, pause in answers:
        now += pause
        score.record(worth, now)
        if worth != "aborted":
            counted.append((worth, now))
    now += later
    weights = [
        0.5 ** ((len(counted) - 1 - place) / HALF_LIFE_ANSWERS) * 0.5 ** ((now - when) / HALF_LIFE_SECONDS)
        for place, (_, when) in enumerate(counted)
    ]
    good = sum(weight for weight, (worth, _) in zip(weights, counted, strict=True) if worth in GOOD)
    clean = sum(weight for weight, (worth, _) in zip(weights, counted, strict=True) if worth == "clean")
    found, of = score.quality(now), sum(weights) + PRIOR_ANSWERS
    assert found.answers == pytest.approx(sum(weights), abs=1e-6)
    assert found.score == pytest.approx((good + PRIOR_ANSWERS * PRIOR_SCORE) / of, abs=1e-9)
    assert found.raw == pytest.approx((clean + PRIOR_ANSWERS * PRIOR_SCORE) / of, abs=1e-9)
    assert (found.low, found.high) == pytest.approx(wilson(found.score * of, of), abs=1e-9)


def test_half_of_an_answer_is_left_after_200_answers_or_six_hours() -> None:
    by_number, by_time = TargetScore(), TargetScore()
    by_number.record("damaged", 0.0)
    for _ in range(200):
        by_number.record("clean", 0.0)
    bad = by_number.quality(0.0)
    assert (1 - bad.score) * (bad.answers + PRIOR_ANSWERS) == pytest.approx(0.5 + PRIOR_ANSWERS * (1 - PRIOR_SCORE))
    by_time.record("damaged", 0.0)
    assert by_time.quality(6 * 3600.0).answers == pytest.approx(0.5)


def test_an_unknown_target_has_the_prior() -> None:
    assert TargetScore().quality(123.0)[:1] == (PRIOR_SCORE,)


def test_worths_are_good_bad_or_neither() -> None:
    assert not GOOD & BAD
    score = TargetScore()
    score.record("aborted", 0.0)
    assert score.quality(0.0).answers == 0


def test_latencies_of_streams_and_whole_answers_are_apart() -> None:
    score = TargetScore()
    assert score.latency(streamed=True) is None
    score.record_latency(1.0, streamed=True)
    score.record_latency(9.0, streamed=False)
    assert (score.latency(streamed=True), score.latency(streamed=False)) == (1.0, 9.0)
    for _ in range(20):
        score.record_latency(3.0, streamed=True)
    assert score.latency(streamed=True) == pytest.approx(2.0)  # half of the way after its half-life


def quality(score: float, low: float, high: float, recent: float = 1.0) -> Quality:
    return Quality(score, low, high, score, 100, recent)


def test_targets_whose_intervals_overlap_the_best_ones_are_equal() -> None:
    ranks = QualityRanks(3)
    ranks.update([quality(0.98, 0.95, 0.99), quality(0.93, 0.90, 0.95), quality(0.90, 0.85, 0.94)])
    assert ranks.worse == [False, False, True]


def test_a_worse_target_comes_back_with_its_score_not_with_its_interval() -> None:
    ranks = QualityRanks(2)
    best = quality(0.98, 0.95, 0.99)
    ranks.update([best, quality(0.90, 0.85, 0.94)])
    ranks.update([best, quality(0.90, 0.80, 0.97)])  # it was not asked, and its interval grew
    assert ranks.worse == [False, True]
    ranks.update([best, quality(0.96, 0.91, 0.97)])
    assert ranks.worse == [False, True]
    ranks.update([best, quality(0.966, 0.91, 0.97)])
    assert ranks.worse == [False, False]
    ranks.update([best, quality(0.94, 0.90, 0.951)])  # still overlaps: it stays
    assert ranks.worse == [False, False]


def test_a_target_that_breaks_down_is_noticed_at_once() -> None:
    score, ranks, best = TargetScore(), QualityRanks(2), TargetScore()
    for _ in range(300):
        score.record("clean", 0.0)
        best.record("clean", 0.0)
    needed = 0
    while not ranks.broken[0]:
        score.record("failed", 0.0)
        ranks.update([score.quality(0.0), best.quality(0.0)])
        needed += 1
    assert needed <= 11
    assert ranks.worse == [True, False]
    while ranks.broken[0]:
        score.record("clean", 0.0)
        ranks.update([score.quality(0.0), best.quality(0.0)])
        needed += 1
    assert needed <= 25


def test_when_all_are_broken_the_best_of_them_stays_the_measure() -> None:
    ranks = QualityRanks(2)
    ranks.update([quality(0.4, 0.3, 0.5, 0.1), quality(0.3, 0.2, 0.4, 0.1)])
    assert ranks.broken == [True, True]
