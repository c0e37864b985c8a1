from __future__ import annotations

import pytest

from moongate.payload import dumps, loads
from moongate.wire.json_values import has_no_duplicate_keys


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
