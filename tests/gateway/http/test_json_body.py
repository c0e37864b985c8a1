from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.gateway.http.json_body import deeper_than, has_no_duplicate_keys, read_object
from moongate.payload import dumps, loads


def nested(levels: int, kind: str = "list") -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"a": value}
    return value


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_depth(kind: str) -> None:
    assert not deeper_than(nested(128, kind), 128)
    assert deeper_than(nested(129, kind), 128)
    assert not deeper_than("text", 1)


def test_a_wide_body_is_not_deep() -> None:
    body = b'{"a":[' + b",".join([b"[]"] * 500) + b"]}"
    assert len(read_object(body, 128)["a"]) == 500


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The body is not JSON"),
        (b"{", "The body is not JSON"),
        (b"[]", "The body must be a JSON object"),
        (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", "nested deeper than 128"),
        (b"[" * 100_000, "The body is not JSON"),
        (b"\xff", "The body is not JSON"),
        (b'{"a":NaN}', "The body is not JSON"),
    ],
)
def test_bad_bodies_are_refused(body: bytes, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        read_object(body, 128)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"a":1,"b":{"a":":"}}', True),
        (b' { "a" : "\\u00e9" } ', True),
        (b'{"a":1,"a":1}', False),
        (b'{"b":{"a":1,"\\u0061":2}}', False),
        (b'{"a":1,"a":2,"b":"\\u003a"}', False),
        (b'{"a":1,"a":2,"b":"\\u003A"}', False),
    ],
)
def test_a_repeated_key_is_noticed(body: bytes, expected: bool) -> None:
    assert has_no_duplicate_keys(body, dumps(loads(body))) is expected
