"""Chunks that differ in nothing but their text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moongate.chat.items import Chunk
from moongate.fast.envelope import ChunkEnvelope, EnvelopeLearner, text_place, text_value

Row = dict[str, Any]
DEEP = 100_000  # for every Python


def payload(text: str, field: str = "content", **more: Any) -> Row:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {field: text}, "finish_reason": None}], **more}


def event(body: Row, end: bytes = b"\n\n") -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass") + end


def chunk(body: Row, end: bytes = b"\n\n") -> Chunk:
    return Chunk(body, event(body, end))


def envelope_of(*chunks: Chunk) -> ChunkEnvelope | None:
    learner = EnvelopeLearner()
    found = [learner.learn(each) for each in chunks]
    return found[-1]


@pytest.fixture
def envelope() -> ChunkEnvelope:
    found = envelope_of(chunk(payload("Hi")))
    assert found is not None
    return found


def test_a_chunk_that_carries_text_gives_an_envelope(envelope: ChunkEnvelope) -> None:
    assert (envelope.field, envelope.choice, envelope.bare) == ("content", 0, True)
    assert envelope.prefix + b"x" + envelope.suffix == event(payload("x"))


def test_text_is_found_behind_texts_that_look_like_it() -> None:
    found = envelope_of(chunk({"note": '"content": "', **payload("b")}))
    assert found is not None
    assert found.prefix.endswith(b'{"content": "')


@pytest.mark.parametrize(
    "text", ["plain", "", "a\nb\t", 'he said "no"', "\\", "\\\\", "é漢😀", "x\u2028y", "\u0085", "/", "\x7f", "a<b"]
)
def test_the_texts_of_several_events(envelope: ChunkEnvelope, text: str) -> None:
    assert envelope.texts(event(payload(text))) is None, "one event is not several"
    for texts in (["a", text, "b"], [text] * 5):
        data = b"".join(event(payload(each)) for each in texts)
        found = envelope.texts(data)
        assert found is not None
        assert [text_value(each) for each in found] == texts


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
def test_text_that_has_to_be_parsed_is_not_found(envelope: ChunkEnvelope, text: bytes) -> None:
    odd = envelope.prefix + text + envelope.suffix
    fine = event(payload("a"))
    for data in (odd, fine + odd, odd + fine, fine + odd + fine):
        assert envelope.texts(data) is None


def test_what_lies_between_chunks_is_seen(envelope: ChunkEnvelope) -> None:
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
        assert envelope.texts(data) is None
    # A prefix and a suffix that share bytes are no chunk.
    assert envelope.texts(envelope.prefix) is None
    assert envelope.texts(envelope.prefix + envelope.suffix[1:]) is None


def test_where_the_text_at_the_beginning_of_a_read_ends(envelope: ChunkEnvelope) -> None:
    fine, other = event(payload("a")), event({"x": 1})
    for rest in (b"", other, fine[:40], b"data: [DONE]\n\n"):
        assert envelope.leading(fine + fine + rest) == 2 * len(fine)
    assert envelope.leading(other) == envelope.leading(b"data: ") == 0


def test_a_read_larger_than_an_event_may_be_is_parsed() -> None:
    data = event(payload("a"))
    for limit, found in ((2 * len(data), [b"a", b"a"]), (2 * len(data) - 1, None)):
        envelope = EnvelopeLearner(limit=limit).learn(chunk(payload("a")))
        assert envelope is not None
        assert envelope.texts(data + data) == found


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
def test_chunks_that_carry_more_than_text_give_no_envelope(body: Row) -> None:
    assert text_place(body) is None
    assert envelope_of(chunk(body)) is None


def test_empty_members_and_the_role_are_not_more_than_text() -> None:
    delta: Row = {"role": "assistant", "content": "a", "tool_calls": [], "reasoning": "", "refusal": None}
    assert text_place({"choices": [{"index": 2, "delta": delta}]}) == ("content", 2)


def test_an_envelope_is_that_of_its_own_chunk() -> None:
    one, other, crlf = chunk(payload("a")), chunk(payload("b", model="n")), chunk(payload("b"), b"\r\n\r\n")
    prefixes = {found.prefix + found.suffix for each in (one, other, crlf) if (found := envelope_of(one, each))}
    assert len(prefixes) == 3
    assert envelope_of(one, Chunk.of(payload("b"))) is None  # nobody knows how it was written


def test_a_text_that_cannot_be_found_gives_no_envelope() -> None:
    hidden = Chunk(payload("a"), b'data: {"choices":[{"index":0,"delta":{"\\u0063ontent":"a"}}]}\n\n')
    assert envelope_of(hidden) is None
    escaped = Chunk(payload("A"), b'data: {"choices":[{"index":0,"delta":{"content":"\\u0041"}}]}\n\n')
    assert envelope_of(escaped) is None


def test_bytes_that_do_not_say_what_the_payload_says_give_no_envelope() -> None:
    twice = b'data: {"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}\n\n'
    body = {"choices": [{"index": 0, "delta": {"content": "b"}}]}
    assert envelope_of(Chunk(body, twice)) is None
    broken = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]\n\n'
    assert envelope_of(Chunk(body, broken)) is None


def test_a_provider_that_never_repeats_itself_is_given_up() -> None:
    learner = EnvelopeLearner()
    for at in range(8):
        assert learner.learn(chunk(payload("a", created=at))) is not None
    assert learner.learn(chunk(payload("a"))) is None


def test_an_envelope_that_was_used_shows_that_the_provider_repeats_itself() -> None:
    learner = EnvelopeLearner()
    for at in range(20):
        found = learner.learn(chunk(payload("a", created=at)))
        assert found is not None
        assert learner.learn(chunk(payload("b", created=at))) is found
        found.used = True


def test_a_provider_that_was_given_up_needs_two_chunks_alike() -> None:
    """What is passed through is not seen here: an envelope may have been used though it does not show."""
    learner = EnvelopeLearner()
    for second in range(3):
        for at in range(8):
            assert learner.learn(chunk(payload("a", created=10 * second + at))) is not None
        assert learner.learn(chunk(payload("a", created=10 * second + 8))) is None
        assert learner.learn(chunk(payload("a", created=10 * second + 9))) is None
        assert learner.learn(chunk(payload("b", created=10 * second + 9))) is not None


def test_a_chunk_too_deep_to_be_compared_gives_no_envelope() -> None:
    deep: Any = []
    for _ in range(DEEP):
        deep = [deep]
    body = (
        b'data: {"x":'
        + b"[" * (DEEP + 1)
        + b"]" * (DEEP + 1)
        + b',"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    )
    assert envelope_of(Chunk({"x": deep, "choices": [{"index": 0, "delta": {"content": "a"}}]}, body)) is None


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
def test_a_bare_envelope_has_only_what_every_chunk_has(body: Row, bare: bool) -> None:
    found = envelope_of(chunk(body))
    assert found is not None
    assert found.bare is bare


def test_a_seam_in_the_middle_of_something_else_is_seen(envelope: ChunkEnvelope) -> None:
    data = envelope.prefix + b"a" + envelope.suffix[-4:] + envelope.prefix[:6] + b"b" + envelope.suffix
    assert envelope.texts(data) is None
