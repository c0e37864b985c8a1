from __future__ import annotations

import time

import pytest

from moongate.payload import dumps, loads
from moongate.wire.json_values import bounded_object, has_no_duplicate_keys, more_values_than


@pytest.mark.parametrize(
    ("data", "much"),
    [
        (b"[" + b"[]," * 1_000_000 + b"[]]", True),
        (b"[" + b"1," * 1_000_000 + b"1]", True),
        (b'{"a":"' + b"[],{}" * 1_000_000 + b'"}', False),
        (b'{"a":"' + b'\\"[],\\\\' * 1_000_000 + b'"}', False),
        (b'{"a":"' + b"\\\\" * 1_000_000 + b'","b":[' + b"0," * 1_000_000 + b"0]}", True),
        (b"[" + b'"",' * 1_000_000 + b'""]', True),
        (b'{"messages":[' + b'{"role":"user","content":[{"type":"text","text":"a, b"}]},' * 100_000 + b"{}]}", False),
    ],
)
def test_wide_texts_are_found_and_honest_ones_pass(data: bytes, much: bool) -> None:
    assert more_values_than(data, 1_000_000) is much


def test_what_has_too_few_bytes_is_not_counted() -> None:
    data = b"[" * 32_000_000
    started = time.thread_time()
    assert not more_values_than(b'"' + data[:999_000], 1_000_000)
    assert more_values_than(data, 1_000_000)
    assert time.thread_time() - started < 1


def test_values_of_a_text_that_passes_fit_the_limit() -> None:
    data = b"[" + b"[]," * 400_000 + b"[]]"
    assert not more_values_than(data, 1_000_000)
    assert len(loads(data)) == 400_001


def test_an_object_with_too_many_values_is_none() -> None:
    assert bounded_object(b'{"a": [1, 2]}') == {"a": [1, 2]}
    assert bounded_object(b'{"a": [' + b"0," * 1_000_000 + b"0]}") is None
    assert bounded_object(b"[]") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"a":1,"b":{"a":":"}}', True),
        (b' { "a" : "\\u00e9" } ', True),
        (b'{"a":1,"a":1}', False),
        (b'{"b":{"a":1,"\\u0061":2}}', False),
        (b'{"a":1,"a":2,"b":"\\u003a"}', False),
        (b'{"a":1,"a":2,"b":"\\u003A"}', False),
        (b'{"a":"\\u003a\\u003A:","b":"\\u003c"}', True),
        (b'{"a":"\\\\u003a","b":1}', True),
        (b'{"a":"\\\\u003a","a":1}', False),
        (b'{"a:":1,"a\\u003a":1}', False),
    ],
)
def test_a_repeated_key_is_noticed(body: bytes, expected: bool) -> None:
    assert has_no_duplicate_keys(body, dumps(loads(body))) is expected
