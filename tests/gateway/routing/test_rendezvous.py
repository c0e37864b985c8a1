from __future__ import annotations

from hashlib import blake2b
from math import log
from random import Random

import pytest

from moongate.gateway.routing.rendezvous import hash_key, scores, uniform

NAMES = ["a,x", "b,x", "c,x"]
KEYS = [hash_key(name) for name in NAMES]


def winner(session: int, weights: list[float]) -> int:
    found = scores([uniform(session, key) for key in KEYS[: len(weights)]], weights)
    return found.index(max(found))


def test_the_hash_is_that_of_an_independent_computation() -> None:
    key = blake2b(b"a,x", digest_size=16).digest()
    expected = int(blake2b(bytes.fromhex("00000000000004d2"), digest_size=8, key=key).hexdigest(), 16)
    assert uniform(1234, KEYS[0]) == pytest.approx(expected / 2**64, rel=1e-12)
    assert scores([0.5, 0.25], [1.0, 3.0]) == pytest.approx([1 / log(2), 3 / log(4)])


def test_each_target_gets_sessions_in_proportion_to_its_weight() -> None:
    draw, weights, won = Random(1), [1.0, 2.0, 5.0], [0, 0, 0]
    for _ in range(20_000):
        won[winner(draw.getrandbits(64), weights)] += 1
    for count, weight in zip(won, weights, strict=True):
        assert count / 20_000 == pytest.approx(weight / 8, abs=0.015)


def test_only_the_sessions_of_a_target_that_goes_away_move() -> None:
    draw = Random(2)
    for session in [draw.getrandbits(64) for _ in range(2000)]:
        with_all, without_last = winner(session, [1.0] * 3), winner(session, [1.0] * 2)
        assert with_all in (without_last, 2)


def test_the_ends_of_the_range() -> None:
    assert scores([1.0], [2.0]) == [2.0 * 2.0**64]
    assert hash_key("x" * 10_000) != hash_key("x" * 9_999)
    assert len(hash_key("\ud800")) == 16
