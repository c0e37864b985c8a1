from __future__ import annotations

import json
from typing import Any

import pytest

from moongate.chat.fast import KnownTools
from moongate.errors import BadRequest
from moongate.gateway.http import fast
from moongate.gateway.http.fast import MAX_KNOWN, MAX_SEEN, MIN_BYTES, KnownToolsReader, read_known_object
from moongate.gateway.http.json_body import read_object
from moongate.payload import dumps

DEPTH = 20
MARK = 18446744073709551557  # what takes the place of known tools while the rest is read


def tools(name: str = "read", size: int = MIN_BYTES) -> list[Any]:
    return [{"type": "function", "function": {"name": name, "description": "ü" + "x" * size}}]


def body(offered: object, **more: object) -> bytes:
    return dumps(
        {"model": "m", "messages": [{"role": "user", "content": 'Say "tools":[1].'}], "tools": offered, **more}
    )


def reader_that_knows(*bodies: bytes) -> KnownToolsReader:
    reader = KnownToolsReader(DEPTH)
    for each in bodies:
        for _ in range(2):
            reader.read_object(each)
    return reader


def test_tools_that_come_again_are_shared() -> None:
    reader, data = KnownToolsReader(DEPTH), body(tools())
    first, second, third, fourth = (reader.read_object(data)["tools"] for _ in range(4))
    assert not isinstance(first, KnownTools)
    assert isinstance(second, KnownTools)
    assert second is third is fourth
    assert first == second


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\n", ":\t")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_they_are_known_however_they_are_written(separators: tuple[str, str], *, ascii_only: bool) -> None:
    given = {"tools": tools(), "messages": [{"role": "user", "content": "ü"}]}
    data = json.dumps(given, separators=separators, ensure_ascii=ascii_only).encode()
    reader = reader_that_knows(data)
    assert isinstance(reader.read_object(data)["tools"], KnownTools)
    assert reader.read_object(data) == given


LONG = tools()
T = dumps(LONG).decode()
ODD = {
    "nested only": f'{{"a":{{"tools":{T}}}}}',
    "nested after": f'{{"tools":{T},"a":{{"tools":{T}}}}}',
    "nested after, another at the top": f'{{"tools":[],"a":{{"tools":{T}}}}}',
    "nested before": f'{{"a":{{"tools":{T}}},"tools":{T}}}',
    "twice, the last one counts": f'{{"tools":[],"tools":{T}}}',
    "twice, the first one does not": f'{{"tools":{T},"tools":[1]}}',
    "the mark at the top": f'{{"tools":{MARK},"a":{{"tools":{T}}}}}',
    "the mark at the top, after": f'{{"a":{{"tools":{T}}},"tools":{MARK}}}',
    "the mark elsewhere": f'{{"tools":{T},"a":{MARK}}}',
    "the mark before": f'{{"a":{MARK},"tools":{T}}}',
    "a key that ends alike": f'{{"tools":[],"my\\"tools":{T}}}',
    "no object": f'["tools",{T}]',
    "not JSON": f'{{"tools":{T},}}',
    "cut": f'{{"tools":{T}',
    "cut within": f'{{"tools":{T[:-1]}',
    "more than a value": f'{{"tools":{T}1}}',
    "deep": f'{{"tools":{T},"a":{"[" * DEPTH}{"]" * DEPTH}}}',
    "not text": f'{{"tools":{T},"a":"\\ud800"}}',
    "with a byte order mark": f'\ufeff{{"tools":{T}}}',
    "no list": f'{{"tools":{{"a":"{"x" * MIN_BYTES}"}}}}',
    "no key": f'{{"a":{T}}}',
    "at the end": '{"a":"' + "x" * MIN_BYTES + '"tools":',
    "a number for a truth": '{"tools":'
    + T.replace("[{", '[{"a":true,')
    + ',"b":{"tools":'
    + T.replace("[{", '[{"a":1,')
    + "}}",
}


def outcome(read: Any, data: bytes) -> object:
    try:
        return dumps(read(data))
    except BadRequest as error:
        return str(error), error.code


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("known", [True, False])
def test_odd_bodies_are_read_as_the_plain_reader_does(name: str, *, known: bool) -> None:
    data = ODD[name].encode()
    reader = reader_that_knows(body(LONG)) if known else KnownToolsReader(DEPTH)
    expected = outcome(lambda data: read_object(data, DEPTH), data)
    assert [outcome(reader.read_object, data) for _ in range(4)] == [expected] * 4


def test_a_body_with_many_values_is_counted() -> None:
    data = body(tools())
    reader = reader_that_knows(data)
    with pytest.raises(BadRequest, match="more than 5 JSON values"):
        reader.read_object(data, 5)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = reader_that_knows(*(body(tools(f"t{at}")) for at in range(MAX_KNOWN + 3)))
    assert len(reader._known) == MAX_KNOWN
    assert isinstance(reader.read_object(body(tools("t9")))["tools"], KnownTools)
    assert reader._known[0][0]["function"]["name"] == "t9"  # the last used comes first
    monkeypatch.setattr(fast, "MAX_BYTES", 3 * MIN_BYTES)
    reader = reader_that_knows(*(body(tools(f"t{at}")) for at in range(5)))
    assert len(reader._known) == 2
    large = body(tools(size=3 * MIN_BYTES))
    assert not isinstance(reader_that_knows(large).read_object(large)["tools"], KnownTools)


def test_tools_that_came_once_are_forgotten() -> None:
    reader = KnownToolsReader(DEPTH)
    for at in range(MAX_SEEN + 1):
        reader.read_object(body(tools(f"t{at}")))
    assert len(reader._seen) == 1
    assert reader._known == []


def test_the_process_has_one_reader() -> None:
    data = body(tools("shared"))
    found = [read_known_object(data, DEPTH) for _ in range(3)]
    assert found[1]["tools"] is found[2]["tools"]
