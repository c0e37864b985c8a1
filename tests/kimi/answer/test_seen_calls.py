from __future__ import annotations

import pytest

from moongate.kimi.answer.call import AnswerCall
from moongate.kimi.answer.seen_calls import MOST_READS, SeenCalls


def slot(*parts: str) -> AnswerCall:
    call = AnswerCall()
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
    calls = SeenCalls()
    assert not calls.has_name("f")
    calls.record("f", slot(native))
    assert calls.has_name("f")
    assert not calls.take("g", marked)
    assert calls.take("f", marked) is same
    assert not calls.take("f", marked), "one for one"


def test_a_call_that_grows_is_compared_again() -> None:
    calls, call = SeenCalls(), slot('{"a":')
    calls.record("f", call)
    assert not calls.take("f", '{"a": 1}')
    call.parts.append("1}")
    calls.record("f", call)
    assert calls.take("f", '{"a": 1}')


def test_whole_calls_are_taken_one_for_one() -> None:
    calls = SeenCalls()
    calls.record_all(["f", "g", "f"], ["{}", "{}", "{}"])
    assert calls.has_name("g")
    assert [calls.take("f", "{}") for _ in range(3)] == [True, True, False]
    assert calls.take("g", " {} ")


def test_a_call_that_has_its_equal_may_grow() -> None:
    calls, call = SeenCalls(), slot("{}")
    calls.record("f", call)
    assert calls.take("f", "{}")
    call.parts.append(" ")
    calls.record("f", call)
    assert not calls.take("f", "{}")
    same = slot('{"a": 1}')
    calls.record("f", same)
    assert not calls.take("f", "{}")
    calls.record("f", same)
    assert calls.take("f", '{"a": 1}')


def test_the_last_call_of_a_name_grows_until_its_arguments_are_an_object() -> None:
    calls, call = SeenCalls(), slot("{")
    assert not calls.grows("f")
    calls.record("f", slot("{}"))
    calls.record("f", call)
    assert calls.grows("f")
    call.parts.append("}")
    assert not calls.grows("f")
    assert not calls.grows("f")
    assert calls.has_name("f")
    assert not calls.has_name("g")
    assert not calls.grows("g")
    assert not calls.has_name("g")


def test_a_call_that_grows_for_ever_is_read_a_few_times_only() -> None:
    """Else each of its pieces would be read again whenever another call ends."""
    calls, call = SeenCalls(), slot('{"a": 1')
    for _ in range(MOST_READS):
        calls.record("f", call)
        assert not calls.take("f", "{}")
        call.parts.append(" ")
    call.parts.append("}")
    calls.record("f", call)
    assert not calls.take("f", '{"a": 1}')
    calls.record("f", slot('{"a": 1}'))
    assert calls.take("f", '{"a": 1}')


def test_equal_calls_that_grow_in_any_order() -> None:
    calls, grown = SeenCalls(), [slot("{}") for _ in range(3)]
    for call in grown:
        calls.record("f", call)
    assert calls.take("f", "{}")
    for call in reversed(grown):
        call.parts.append(" ")
        calls.record("f", call)
    assert [calls.take("f", "{}") for _ in range(3)] == [True, True, False]
