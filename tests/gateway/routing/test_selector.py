from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from moongate.gateway.routing.quality import TargetScore
from moongate.gateway.routing.rendezvous import hash_key, scores, uniform
from moongate.gateway.routing.route import RoutePolicy
from moongate.gateway.routing.selector import RANK_SECONDS, RouteSelector
from moongate.gateway.routing.session_table import SessionTable


@dataclass
class Vendor:
    """A target of a route, whose state a test sets."""

    name: str
    typical_price: int | None = None
    in_flight: int = 0
    cool_down_until: float = 0.0
    score: TargetScore = field(default_factory=TargetScore)

    def available(self, now: float) -> bool:
        return now >= self.cool_down_until

    def answers(self, *worths: str, times: int = 1, now: float = 0.0) -> Vendor:
        for worth in worths * times:
            self.score.record(worth, now)
        return self


def selector(strategy: str, *vendors: Vendor, weights: tuple[float, ...] = (), **options: object) -> RouteSelector:
    draw = Random(5).random
    policy = RoutePolicy(tuple(range(len(vendors))), weights or (1.0,) * len(vendors), strategy, **options)  # type: ignore[arg-type]
    return RouteSelector("kimi", policy, vendors, SessionTable(), draw)


SESSIONS = [Random(n).getrandbits(64) for n in range(2000)]


def firsts(chooser: RouteSelector, now: float = 0.0) -> Counter[tuple[int, str]]:
    chosen = [chooser.choose(session, now, streamed=True) for session in SESSIONS]
    return Counter((each.first, each.reason) for each in chosen)


def test_in_order_the_first_one_that_does_not_rest_is_asked() -> None:
    a, b = Vendor("a,x"), Vendor("b,x")
    assert firsts(selector("ordered", a, b)) == {(0, "order"): 2000}
    a.cool_down_until = 10
    assert firsts(selector("ordered", a, b)) == {(1, "order"): 2000}


def test_a_session_stays_until_its_target_rests_and_then_stays_at_the_next() -> None:
    a, b = Vendor("a,x"), Vendor("b,x")
    chooser = selector("ordered", a, b)
    assert chooser.choose(1, 0.0, streamed=True).reason == "order"
    assert chooser.choose(1, 1.0, streamed=True).reason == "sticky"
    a.cool_down_until = 10
    assert chooser.choose(1, 2.0, streamed=True).first == 1
    found = chooser.choose(1, 60.0, streamed=True)  # the first one works again: the session's cache is at the second
    assert (found.first, found.reason) == (1, "sticky")
    assert chooser.choose(2, 60.0, streamed=True).first == 0


def test_without_sticky_the_order_of_the_configuration_holds_at_every_turn() -> None:
    a, b = Vendor("a,x", cool_down_until=10), Vendor("b,x")
    chooser = selector("ordered", a, b, sticky=False)
    assert [chooser.choose(1, now, streamed=True).first for now in (0.0, 9.0, 10.0)] == [1, 1, 0]
    chooser.move(1, 1, 10.0)
    assert chooser.choose(1, 10.0, streamed=True).first == 0


def test_a_session_whose_target_failed_is_where_it_was_answered() -> None:
    chooser = selector("ordered", Vendor("a,x"), Vendor("b,x"), Vendor("c,x"))
    selected = chooser.choose(1, 0.0, streamed=True)
    assert (selected.first, selected.others(0.0)) == (0, [1, 2])
    selected.move(2, 0.0)
    assert chooser.choose(1, 1.0, streamed=True).first == 2


def test_when_all_rest_the_one_that_is_ready_first_is_asked() -> None:
    chooser = selector("ordered", Vendor("a,x", cool_down_until=9), Vendor("b,x", cool_down_until=5))
    found = chooser.choose(1, 0.0, streamed=True)
    assert (found.first, found.reason, found.others(0.0)) == (1, "all resting", [])


@pytest.mark.parametrize("sticky", [True, False])
def test_weights_are_shares_of_sessions(sticky: bool) -> None:
    found = firsts(selector("weighted", Vendor("a,x"), Vendor("b,x"), weights=(3.0, 1.0), sticky=sticky))
    assert found[0, "weight"] / 2000 == pytest.approx(0.75, abs=0.04)


def test_equals_are_chosen_by_rendezvous_hashing_of_the_session() -> None:
    chooser = selector("weighted", Vendor("a,x"), Vendor("b,x"), Vendor("c,x"))
    salt = int.from_bytes(hash_key("kimi:weighted")[:8], "big") >> 2
    for session in SESSIONS[:200]:
        points = scores([uniform(session ^ salt, hash_key(name)) for name in ("a,x", "b,x", "c,x")], [1.0] * 3)
        order = sorted(range(3), key=lambda index, points=points: -points[index])  # type: ignore[misc]
        selected = chooser.choose(session, 0.0, streamed=True)
        assert [selected.first, *selected.others(0.0)] == order


def test_the_least_busy_one_is_looked_up_at_every_request() -> None:
    a, b = Vendor("a,x", in_flight=2), Vendor("b,x", in_flight=1)
    chooser = selector("least-busy", a, b)
    assert chooser.choose(1, 0.0, streamed=True).first == 1
    b.in_flight = 3
    assert chooser.choose(2, 0.0, streamed=True).first == 0
    assert chooser.choose(1, 0.0, streamed=True).first == 1  # its own one


def test_streams_and_whole_answers_have_latencies_of_their_own() -> None:
    a, b = Vendor("a,x"), Vendor("b,x")
    for vendor, stream, whole in ((a, 1.0, 9.0), (b, 3.0, 5.0)):
        vendor.score.record_latency(stream, streamed=True)
        vendor.score.record_latency(whole, streamed=False)
    chooser = selector("latency", a, b, explore=0.0)
    assert chooser.choose(1, 0.0, streamed=True).first == 0
    assert chooser.choose(2, 0.0, streamed=False).first == 1


def test_by_cost_nobody_explores() -> None:
    chooser = selector(
        "cost", Vendor("a,x"), Vendor("b,x", typical_price=9), Vendor("c,x", typical_price=5), explore=1.0
    )
    assert firsts(chooser) == {(2, "price"): 2000}


def test_by_quality_a_worse_target_is_last_but_a_share_of_new_sessions_explores_it() -> None:
    good, bad = Vendor("a,x").answers("clean", times=300), Vendor("b,x").answers("clean", "damaged", times=150)
    found = firsts(selector("quality", bad, good, explore=0.1))
    assert found[1, "quality"] + found[0, "explore"] == 2000
    assert found[0, "explore"] / 2000 == pytest.approx(0.1, abs=0.02)
    selected = selector("quality", bad, good, explore=0.0).choose(1, 0.0, streamed=True)
    assert (selected.first, selected.others(0.0)) == (1, [0])


def test_without_sticky_each_request_may_explore() -> None:
    good, bad = Vendor("a,x").answers("clean", times=300), Vendor("b,x").answers("damaged", times=300)
    found = firsts(selector("quality", good, bad, explore=0.1, sticky=False))
    assert found[1, "explore"] / 2000 == pytest.approx(0.1, abs=0.02)


def test_sessions_leave_a_target_whose_answers_break_down_and_stay_where_they_went() -> None:
    a, b = Vendor("a,x").answers("clean", times=300), Vendor("b,x").answers("clean", times=300)
    chooser = selector("quality", a, b, explore=0.0)
    there = [session for session in SESSIONS if chooser.choose(session, 0.0, streamed=True).first == 0]
    a.answers("failed", times=12)
    later = RANK_SECONDS
    assert {chooser.choose(session, later, streamed=True).first for session in there} == {1}
    a.answers("clean", times=40)
    assert {chooser.choose(session, later + 5, streamed=True).reason for session in there} == {"sticky"}
    assert {chooser.choose(session, later + 5, streamed=True).first for session in there} == {1}


def test_a_ranking_is_used_for_a_second() -> None:
    good, bad = Vendor("a,x"), Vendor("b,x")
    chooser = selector("quality", good, bad)
    first = chooser.ranking(0.0, streamed=True)
    bad.answers("damaged", times=300)
    assert chooser.ranking(RANK_SECONDS / 2, streamed=True) is first
    assert chooser.ranking(RANK_SECONDS, streamed=True).tiers == (0, 1)
    assert [round(each.score, 1) for each in chooser.qualities(RANK_SECONDS)] == [0.9, 0.1]


def test_a_session_of_one_strategy_says_nothing_about_another() -> None:
    sessions, vendors = SessionTable(), (Vendor("a,x", typical_price=9), Vendor("b,x", typical_price=1))
    by_order = RouteSelector("kimi", RoutePolicy((0, 1), (1.0, 1.0), "ordered"), vendors, sessions)
    by_cost = RouteSelector("kimi", RoutePolicy((0, 1), (1.0, 1.0), "cost"), vendors, sessions)
    assert by_order.choose(1, 0.0, streamed=True).first == 0
    assert by_cost.choose(1, 0.0, streamed=True).first == 1
