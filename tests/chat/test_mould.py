"""Chunks that differ in nothing but their text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moongate.chat.items import Chunk
from moongate.chat.mould import Mould, Moulder, text_place
from moongate.payload import loads

Row = dict[str, Any]


def payload(text: str, field: str = "content", **more: Any) -> Row:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {field: text}, "finish_reason": None}], **more}


def event(body: Row, end: bytes = b"\n\n") -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass") + end


def chunk(body: Row, end: bytes = b"\n\n") -> Chunk:
    return Chunk(body, event(body, end))


def mould_of(*chunks: Chunk) -> Mould | None:
    moulder = Moulder()
    found = [moulder.mould(each) for each in chunks]
    return found[-1]


@pytest.fixture
def mould() -> Mould:
    found = mould_of(chunk(payload("Hi")))
    assert found is not None
    return found


def test_a_chunk_that_carries_text_gives_a_mould(mould: Mould) -> None:
    assert (mould.field, mould.choice, mould.bare) == ("content", 0, True)
    assert mould.prefix + b"x" + mould.suffix == event(payload("x"))


def test_a_mould_knows_its_own_events_whatever_their_text(mould: Mould) -> None:
    assert mould.is_of(event(payload('"\\')))
    assert not mould.is_of(event(payload("a", x=1)))
    assert not mould.is_of(event({"x": 1, **payload("a")}))


def test_text_is_found_behind_texts_that_look_like_it() -> None:
    found = mould_of(chunk({"note": '"content": "', **payload("b")}))
    assert found is not None
    assert found.prefix.endswith(b'{"content": "')


@pytest.mark.parametrize(
    "text", ["plain", "", "a\nb\t", 'he said "no"', "\\", "\\\\", "é漢😀", "x\u2028y", "\u0085", "/", "\x7f", "a<b"]
)
def test_a_read_of_chunks_is_one_stretch(mould: Mould, text: str) -> None:
    for texts in ([text], ["a", text, "b"], [text] * 5):
        data = b"".join(event(payload(each)) for each in texts)
        stretch = mould.whole(data)
        assert stretch is not None
        assert stretch.raw == data
        assert loads(b'"' + stretch.text + b'"') == "".join(texts)
        assert (stretch.field, stretch.choice) == ("content", 0)
        chunks = mould.chunks(stretch)
        assert [each.payload for each in chunks] == [payload(each) for each in texts]
        assert b"".join(each.encode() for each in chunks) == data


HARD = [
    b"\\u0041",  # any character may hide in it
    b"\\ud83d",
    b"\\uZZZZ",
    b"\\x",
    b"a\\",
    b'a"b',
    b"a\x00b",
    b"a\nb",
    b"\xff",
    b"\xc3",
]


@pytest.mark.parametrize("text", HARD)
def test_text_that_has_to_be_read_is_no_stretch(mould: Mould, text: bytes) -> None:
    odd = mould.prefix + text + mould.suffix
    fine = event(payload("a"))
    for data in (odd, fine + odd, odd + fine, fine + odd + fine):
        assert mould.whole(data) is None


@pytest.mark.parametrize("text", ["plain", "", 'he said "no"', "é漢😀", "A", "\ud83d"])
def test_one_chunk_is_read_at_once(mould: Mould, text: str) -> None:
    for spelt in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        data = mould.prefix + spelt[1:-1].encode("utf-8", "surrogatepass") + mould.suffix
        single = mould.single(data)
        assert single is not None
        assert (single.text, single.encode(), single.payload) == (text, data, payload(text))


def test_what_is_not_one_chunk_is_not_read_at_once(mould: Mould) -> None:
    fine = event(payload("a"))
    broken = [mould.prefix + text + mould.suffix for text in (b"a\\", b'a"b', b"a\x00", b"a\nb", b"\xff", b'","')]
    for data in (*broken, fine + fine, fine[:-1], fine[1:], mould.prefix + mould.suffix[1:], b""):
        assert mould.single(data) is None
    mould.limit = len(fine) - 1
    assert mould.single(fine) is None


def test_what_lies_between_chunks_is_seen(mould: Mould) -> None:
    fine, other = event(payload("a")), event(payload("a", model="n"))
    for data in (
        fine + b": ping\n\n" + fine,
        fine + other + fine,
        other,
        fine[:-1],
        fine + other,
        b"",
        b"data: [DONE]\n\n",
    ):
        assert mould.whole(data) is None
    # A prefix and a suffix that share bytes are no chunk.
    assert mould.whole(mould.prefix) is None
    assert mould.whole(mould.prefix + mould.suffix[1:]) is None


def test_the_beginning_of_a_read_may_be_a_stretch(mould: Mould) -> None:
    fine, other = event(payload("a")), event(payload("b", model="n"))
    for rest in (event({"choices": []}), fine[:40], b"data: [DONE]\n\n"):
        stretch = mould.leading(fine + fine + rest)
        assert stretch is not None
        assert stretch.raw == fine + fine
    assert mould.leading(fine + other) is None
    assert mould.leading(other) is None
    assert mould.leading(b"data: ") is None


def test_a_read_larger_than_an_event_may_be_is_read_the_long_way(mould: Mould) -> None:
    data = event(payload("a"))
    mould.limit = len(data)
    assert mould.whole(data) is not None
    assert mould.whole(data + data) is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        payload("a", usage={}),
        {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]},
        {"choices": [{"index": 0, "delta": {"content": "a"}, "usage": {}}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": None, "delta": {"content": "a"}}]},
        {"choices": [{"index": 0, "delta": {"content": "a"}, "message": {}}]},
        {"choices": [{"index": 0, "delta": {"content": "a", "reasoning": "b"}}]},
        {"choices": [{"index": 0, "delta": {"content": ["a"]}}]},
        {"choices": [{"index": 0, "delta": {"content": ""}}]},
        {"choices": [{"index": 0, "delta": {"refusal": "a"}}]},
        {"choices": [{"index": 0, "delta": {"content": "a", "tool_calls": [{}]}}]},
    ],
)
def test_chunks_that_carry_more_than_text_give_no_mould(body: Row) -> None:
    assert text_place(body) is None
    assert mould_of(chunk(body)) is None


def test_empty_members_and_the_role_are_not_more_than_text() -> None:
    delta: Row = {"role": "assistant", "content": "a", "tool_calls": [], "reasoning": "", "refusal": None}
    assert text_place({"choices": [{"index": 2, "delta": delta}]}) == ("content", 2)


def test_a_mould_is_that_of_its_own_chunk() -> None:
    one, other, crlf = chunk(payload("a")), chunk(payload("b", model="n")), chunk(payload("b"), b"\r\n\r\n")
    prefixes = {found.prefix + found.suffix for each in (one, other, crlf) if (found := mould_of(one, each))}
    assert len(prefixes) == 3
    assert mould_of(one, Chunk.of(payload("b"))) is None  # nobody knows how it was written


def test_a_text_that_cannot_be_found_gives_no_mould() -> None:
    hidden = Chunk(payload("a"), b'data: {"choices":[{"index":0,"delta":{"\\u0063ontent":"a"}}]}\n\n')
    assert mould_of(hidden) is None
    escaped = Chunk(payload("A"), b'data: {"choices":[{"index":0,"delta":{"content":"\\u0041"}}]}\n\n')
    assert mould_of(escaped) is None


def test_bytes_that_do_not_say_what_the_payload_says_give_no_mould() -> None:
    twice = b'data: {"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}\n\n'
    body = {"choices": [{"index": 0, "delta": {"content": "b"}}]}
    assert mould_of(Chunk(body, twice)) is None
    broken = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]\n\n'
    assert mould_of(Chunk(body, broken)) is None


def test_a_provider_that_never_repeats_itself_is_given_up() -> None:
    moulder = Moulder()
    for at in range(8):
        assert moulder.mould(chunk(payload("a", created=at))) is not None
    assert moulder.mould(chunk(payload("a"))) is None
    moulder.was_right()
    assert moulder.mould(chunk(payload("a"))) is not None


def test_a_provider_that_was_given_up_needs_two_chunks_alike() -> None:
    """What runs in a groove is not seen here: moulds may have been right though nobody said so."""
    moulder = Moulder()
    for second in range(3):
        for at in range(8):
            assert moulder.mould(chunk(payload("a", created=10 * second + at))) is not None
        assert moulder.mould(chunk(payload("a", created=10 * second + 8))) is None
        assert moulder.mould(chunk(payload("a", created=10 * second + 9))) is None
        assert moulder.mould(chunk(payload("b", created=10 * second + 9))) is not None


def test_a_chunk_too_deep_to_be_compared_gives_no_mould() -> None:
    deep: Any = loads(b"[" * 1000 + b"]" * 1000)
    body = b'data: {"x":' + b"[" * 1000 + b"]" * 1000 + b',"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    assert mould_of(Chunk({"x": deep, "choices": [{"index": 0, "delta": {"content": "a"}}]}, body)) is None


@pytest.mark.parametrize(
    ("body", "bare"),
    [
        (payload("a", system_fingerprint="f"), True),
        (payload("a", x=None), True),
        (payload("a", x=1), False),
        ({"choices": [{"index": 0, "delta": {"content": "a", "role": "assistant"}}]}, False),
        ({"choices": [{"index": 0, "delta": {"content": "a"}, "matched_stop": None}]}, True),
        ({"choices": [{"index": 0, "delta": {"content": "a"}, "token_ids": [1]}]}, False),
    ],
)
def test_a_bare_mould_has_only_what_every_chunk_has(body: Row, bare: bool) -> None:
    found = mould_of(chunk(body))
    assert found is not None
    assert found.bare is bare


def test_a_seam_in_the_middle_of_something_else_is_seen(mould: Mould) -> None:
    data = mould.prefix + b"a" + mould.suffix[-4:] + mould.prefix[:6] + b"b" + mould.suffix
    assert mould.whole(data) is None
