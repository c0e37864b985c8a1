"""URLs of the shared state."""

from __future__ import annotations

import pytest

from moongate.gateway.shared.address import RedisAddress, parse_address


@pytest.mark.parametrize(
    ("url", "expected", "shown"),
    [
        ("redis://h", RedisAddress("h", 6379), "redis://h:6379"),
        ("valkey://h:1/3", RedisAddress("h", 1, database=3), "redis://h:1"),
        ("rediss://me:p%40ss@[::1]:7", RedisAddress("::1", 7, True, "", "me", "p@ss"), "rediss://[::1]:7"),
        ("unix:///run/valkey.sock", RedisAddress("", 0, path="/run/valkey.sock"), "unix:///run/valkey.sock"),
    ],
)
def test_addresses(url: str, expected: RedisAddress, shown: str) -> None:
    found = parse_address(url)
    assert found == expected
    assert str(found) == shown
    assert "p@ss" not in repr(found)


@pytest.mark.parametrize("url", ["http://h", "redis://", "redis://h/x", "redis://h:99999", "unix:x", "h:6379"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match=r"expected|port|path"):
        parse_address(url)
