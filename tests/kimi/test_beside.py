from __future__ import annotations

import pytest

from moongate.chat.grouping import CallSlot
from moongate.kimi.beside import NativeCalls


def slot(*parts: str) -> CallSlot:
    call = CallSlot()
    call.parts += parts
    return call


@pytest.mark.parametrize(
    ("native", "marked", "same"),
    [
        ('{"a": 1}', '{"a":1}', True),
        ('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', True),
        ('{"a": 1.0, "b": {"c": [1.5, 1e0]}}', '{"a": 1, "b": {"c": [1.5, 1]}}', True),
        ("", "{}", True),
        ("not json", "not json", True),
        ("\ud83d", "\ud83d", True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": 1.5}', '{"a": 1}', False),
        ("not json", "not  json", False),
        ("[" * 5000 + "1.0", "[" * 5000 + "1.0", True),
        ("[" * 900 + "1.0" + "]" * 900, "[" * 900 + "1.0" + "]" * 900, True),
    ],
)
def test_calls_are_the_same_if_their_arguments_are_equal_as_json(native: str, marked: str, same: bool) -> None:
    calls = NativeCalls()
    assert not calls.has_name("f")
    calls.saw("f", slot(native))
    assert calls.has_name("f")
    assert calls.has("f", marked) is same
    assert not calls.has("g", marked)


def test_a_call_that_grows_is_looked_at_again() -> None:
    calls, call = NativeCalls(), slot('{"a":')
    calls.saw("f", call)
    assert not calls.has("f", '{"a": 1}')
    call.parts.append("1}")
    calls.saw("f", call)
    assert calls.has("f", '{"a": 1}')
