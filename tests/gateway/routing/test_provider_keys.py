from __future__ import annotations

import pytest

from moongate.errors import TooManyRequests
from moongate.gateway.config.settings import ProviderKey
from moongate.gateway.routing.provider_keys import KeyRing


def ring(*concurrency: int) -> KeyRing:
    return KeyRing([ProviderKey(key=f"k{n}", concurrency=limit) for n, limit in enumerate(concurrency)])


def test_keys_rotate() -> None:
    keys = ring(0, 0, 0)
    assert len({keys.acquire(0.0).header for _ in range(3)}) == 3


def test_a_provider_without_keys_has_one_empty_key() -> None:
    assert KeyRing([]).acquire(0.0).header == b""


def test_a_cooling_key_is_skipped_unless_all_cool_down() -> None:
    keys = ring(0, 0)
    first = keys.acquire(0.0)
    keys.cool(first, 10.0)
    assert keys.ready(0.0)
    assert all(keys.acquire(0.0) is not first for _ in range(4))
    other = keys.acquire(0.0)
    keys.cool(other, 20.0)
    assert not keys.ready(0.0)
    assert keys.acquire(0.0) is first
    keys.cool(other, 5.0)
    assert keys.acquire(19.0) is first


def test_a_key_at_its_limit_is_skipped_until_all_are() -> None:
    keys = ring(1, 1)
    first, second = keys.acquire(0.0), keys.acquire(0.0)
    assert first is not second
    with pytest.raises(TooManyRequests):
        keys.acquire(0.0)
    keys.release(first)
    assert keys.acquire(0.0) is first
