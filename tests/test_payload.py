from __future__ import annotations

import time

import pytest

from moongate.payload import (
    accepts,
    dumps,
    dumps_exactly,
    dumps_inside,
    dumps_sorted,
    dumps_spaced,
    dumps_text,
    end_of_first,
    loads,
    loads_exactly,
    more_values_than,
    object_of,
)


def test_compact_and_in_utf_8() -> None:
    assert dumps({"a": [1, "é"]}) == b'{"a":[1,"\xc3\xa9"]}'
    assert dumps_text({"a": "é"}) == '{"a":"é"}'


@pytest.mark.parametrize("text", ['"\\ud83d"', "123456789012345678901234567890", '{"a":-98765432109876543210}'])
def test_what_one_library_refuses_the_other_takes(text: str) -> None:
    assert loads(dumps(loads(text))) == loads(text)


@pytest.mark.parametrize("other", ["1", '"\\ud83d"', "[" * 400 + "]" * 400])
def test_a_number_too_large_for_one_is_written_as_null(other: str) -> None:
    value = loads(f"[1e400,-1e400,{other}]")
    assert dumps(value).decode() == dumps_sorted(value) == f"[null,null,{other}]"


def test_all_digits() -> None:
    assert loads_exactly('{"a": 123456789012345678901234567890}') == {"a": 123456789012345678901234567890}
    for text in ("NaN", "[" * 100_000, "{"):
        with pytest.raises(ValueError):
            loads_exactly(text)
    assert dumps_exactly({"a": [10**30, "é"]}) == '{"a":[1000000000000000000000000000000,"\\u00e9"]}'
    deep: list[object] = []
    for _ in range(2000):
        deep = [deep]
    for value in (deep, [float("inf")]):
        with pytest.raises(ValueError):
            dumps_exactly(value)


def test_the_quick_reader_refuses_quickly() -> None:
    assert accepts('{"a": [1]}')
    assert not accepts('{"a": ')
    assert not accepts('"\\ud83d"'), "JSON all the same"


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "-Infinity", "'a'", "[" * 100_000, b'"\xff"'])
def test_anything_else_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


@pytest.mark.parametrize("depth", [200, 300, 990, 1000, 1020])
def test_whatever_can_be_read_can_be_written(depth: int) -> None:
    text = '{"k":[1,{},[],' * (depth // 2) + '"x"' + ',null],"l":2}' * (depth // 2)
    assert dumps(loads(text)) == text.encode()


def test_an_object_or_nothing() -> None:
    assert object_of('{"a":1}') == {"a": 1}
    assert object_of("[1]") is None
    assert object_of("oops") is None


def test_equal_values_give_equal_texts() -> None:
    assert dumps_sorted({"b": 1, "a": {"d": 2, "c": 3}}) == '{"a":{"c":3,"d":2},"b":1}'
    assert dumps_sorted({"b": 2**70, "a": "\ud83d"}) == '{"a":"\\ud83d","b":1180591620717411303424}'
    deep = loads('{"k":[' * 500 + "1" + "]}" * 500)
    assert dumps_sorted(deep) == dumps(deep).decode()


@pytest.mark.parametrize(
    "texts", [[], ["a"], ["", ""], ["a", 'é"\\'], ["a", "\x1e"], ["\\u001e", "a"], ["\ud83d", "é"]]
)
def test_the_insides_of_many_texts(texts: list[str]) -> None:
    assert dumps_inside(texts) == [dumps(text)[1:-1] for text in texts]


def test_spaced_is_what_pythons_own_writer_makes() -> None:
    assert dumps_spaced({"b": [1, {"d": None, "c": "涨潮"}], "a": 1.5}) == (
        b'{"a": 1.5, "b": [1, {"c": "\xe6\xb6\xa8\xe6\xbd\xae", "d": null}]}'
    )
    assert dumps_spaced("\ud800") == b'"\xed\xa0\x80"'
    deep = loads("[" * 1000 + "]" * 1000)
    assert dumps_spaced(deep) == dumps(deep)


@pytest.mark.parametrize(("text", "end"), [('[1,"]"],2', 7), ("{} ", 2), ('"a"b', 3)])
def test_where_the_first_value_ends(text: str, end: int) -> None:
    assert end_of_first(text) == end


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


@pytest.mark.parametrize("text", ["[" + "[]," * 1_000_000 + "[]]", "[" + '"é",' * 1_000_000 + '"\\ud83d"]'])
def test_a_text_with_too_many_values_is_not_read_wherever_it_stands(text: str) -> None:
    for data in (text, text.encode()):
        for read in (loads, loads_exactly):
            with pytest.raises(ValueError, match="more than 1000000 values"):
                read(data)
        assert not accepts(data if isinstance(data, str) else data.decode())
        assert object_of(data) is None
    assert len(loads(text, 4_000_000)) == 1_000_001


def test_an_integer_has_few_digits() -> None:
    assert loads("9" * 400) == loads_exactly("9" * 400) == 10**400 - 1
    for text in ("9" * 401, '{"a":["\\ud83d",-' + "1" * 400 + "]}"):
        with pytest.raises(ValueError, match="more than 400 digits"):
            loads(text)
