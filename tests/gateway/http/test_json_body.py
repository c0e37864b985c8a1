from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.gateway.http.json_body import deeper_than, read_object


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
        (b'{"a":"\xed\xa0\x80"}', "The body is not JSON: 'utf-8' codec"),
        (b'{"a":NaN}', "The body is not JSON"),
    ],
)
def test_bad_bodies_are_refused(body: bytes, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        read_object(body, 128)
