"""`FastSession` gives what `Session` gives, however the bytes of a stream are cut.

The plain side has no shortcut at all (`PlainKimiTransformer` and `Session`). On chat the bytes are compared. The fronts
that answer in blocks may write the texts of one read as one event, so their events are compared with neighbouring
deltas joined; where every event comes in a read of its own, their bytes are compared too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import MESSAGES as ANSWERS
from tests.properties.answers import MODELS, PARSING, REQUEST, byte_cuts, rngs, stream_of, thorough
from tests.properties.marked_texts import MARKED_TEXTS
from tests.support.replay import recordings
from tests.support.vectors import rows, sent_names, stream_bytes, with_sent_names

from moongate import GatewayError
from moongate.chat.contracts import Dialect, Exchange
from moongate.dialects.fronts import CHAT, MESSAGES, RESPONSES
from moongate.fast.session import FastSession
from moongate.kimi.transformer import KimiTransformer, PlainKimiTransformer
from moongate.pipeline.session import Session

Row = dict[str, Any]

FRONTS: list[Dialect] = [CHAT, MESSAGES, RESPONSES]
OPTIONS: list[Row] = [
    {},
    {"preset": "agent"},
    {"preset": "agent", "guard": "repair"},
    {"preset": "strict"},
    PARSING,
    {**PARSING, "assembleToolDeltas": True},
    {"repairOnMismatch": False, "enforceFinishReasonLoop": False},
    {"toolTokens": {"callBegin": "[[CALL]]"}, **PARSING},
]
fronts = st.sampled_from(FRONTS)
DELTAS = {"text", "thinking", "partial_json"}


class Case:
    """One stream, with what it answers."""

    def __init__(self, data: bytes, request: Row, target: Row, options: Row, content_type: str) -> None:
        self.data = data
        self.content_type = content_type
        self._request = request
        self._target = target
        self._options = options

    def session(self, front: Dialect, *, fast: bool) -> tuple[Session, Exchange]:
        kimi = (KimiTransformer if fast else PlainKimiTransformer).from_config(self._options, **self._target)
        exchange = kimi.begin(self._request)
        encoder = front.encoder({"model": "m", "input": "", "messages": []})
        return (FastSession if fast else Session)(exchange, self.content_type, encoder), exchange


def outcome(case: Case, front: Dialect, reads: list[bytes], *, fast: bool) -> tuple[bytes, Row]:
    """What leaves, and what the session and the exchange know at the end."""
    session, exchange = case.session(front, fast=fast)
    out = b"".join([*map(session.feed, reads), session.close()])
    failure = session.failure
    known = {
        "notes": [note.kind for note in exchange.notes],
        "usage": session.usage,
        "state": (session.started, session.finished),
        "failure": None if failure is None else (type(failure).__name__, str(failure)),
    }
    return out, known


def joined(out: bytes) -> list[Any]:
    """The events of a front, with neighbouring deltas of one block joined and without their numbers."""
    found: list[Any] = []
    for event in out.decode("utf-8", "surrogatepass").split("\n\n"):
        name, _, data = event.partition("\ndata: ")
        payload = json.loads(data) if data else {}
        payload.pop("sequence_number", None)
        text = _text_of(payload)
        if text is not None and found and found[-1][0] == name and found[-1][2] is not None:
            before = found[-1]
            if _without_text(before[1]) == _without_text(payload):
                before[2] += text
                continue
        found.append([name, payload, text])
    return [[name, payload if text is None else _without_text(payload), text] for name, payload, text in found]


def _text_of(payload: Row) -> str | None:
    delta = payload.get("delta")
    if isinstance(delta, str):
        return delta
    if isinstance(delta, dict) and delta.keys() & DELTAS:
        return str(next(delta[key] for key in delta if key in DELTAS))
    return None


def _without_text(payload: Row) -> Row:
    delta = payload.get("delta")
    return {**payload, "delta": {"type": delta["type"]} if isinstance(delta, dict) else ""}


def events_of(data: bytes) -> list[bytes]:
    """Reads with one event each."""
    return re.findall(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", data, re.DOTALL)


def check(case: Case, front: Dialect, reads: list[bytes]) -> None:
    expected, known = outcome(case, front, [case.data], fast=False)
    out, found = outcome(case, front, reads, fast=True)
    assert found == known
    if front is CHAT:
        assert out == expected
    else:
        assert joined(out) == joined(expected)


def check_event_by_event(case: Case, front: Dialect) -> None:
    reads = events_of(case.data)
    assert outcome(case, front, reads, fast=True) == outcome(case, front, reads, fast=False)


# Vectors and recordings


def vector(row: Row) -> Case | None:
    target, options = row["target"], row.get("options") or {}
    try:
        sent = KimiTransformer.from_config(options, **target).begin(row["request"]).request
    except GatewayError:
        return None
    if "events" in row:
        row = {**row, "events": with_sent_names(row["events"], sent_names(row, sent))}
    data = stream_bytes(row)
    return Case(data, row["request"], target, options, row.get("content_type", "text/event-stream"))


@cache
def stored() -> dict[str, Case]:
    """Every vector of a stream, and every recorded stream."""
    found = {f"vector {row.id}": vector(row.values[0]) for row in rows("stream")}
    cases = {name: case for name, case in found.items() if case is not None}
    for name, data in recordings().items():
        target = {"model": MODELS["k3" if "k3" in name else "k2"]}
        for number, options in enumerate(OPTIONS[:2]):
            cases[f"recording {name} {number}"] = Case(data, REQUEST, target, options, "text/event-stream")
    return cases


@pytest.mark.parametrize("name", stored())
def test_stored_streams(name: str) -> None:
    case = stored()[name]
    for front in FRONTS:
        check(case, front, [case.data])
        check_event_by_event(case, front)
        for size in (1, 7, 64, 700):
            check(case, front, [case.data[at : at + size] for at in range(0, len(case.data), size)])


@thorough
@given(st.sampled_from(sorted(stored())), fronts, rngs)
def test_stored_streams_cut_anywhere(name: str, front: Dialect, rng: Random) -> None:
    case = stored()[name]
    check(case, front, byte_cuts(case.data, rng))


# Streams that nobody has written down


def of_texts(family: str, options: Row, texts: list[tuple[str, str]], role: bool) -> Case:
    """A provider that writes every chunk alike, with texts of several fields."""
    events = [{"role": "assistant", "content": ""}] if role else []
    events += [{field: text} for field, text in texts]
    choices: list[Row] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in events]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    chunks = [json.dumps({"id": "c", "model": "m", "choices": [each]}, ensure_ascii=False) for each in choices]
    data = "".join(f"data: {each}\n\n" for each in [*chunks, "[DONE]"])
    return Case(data.encode("utf-8", "surrogatepass"), REQUEST, {"model": MODELS[family]}, options, "text/event-stream")


def text_lists(family: str) -> st.SearchStrategy[list[tuple[str, str]]]:
    words = st.sampled_from(
        ["a", " b, c", "<", "x < y", " 中", "\n", '"', "\\", "\u00e9", "\u2028", "", "[", "/", "<|im_end|>"]
    )
    text = st.one_of(words, st.text(max_size=6), MARKED_TEXTS[family])
    field = st.sampled_from(["content", "content", "content", "reasoning_content", "reasoning"])
    return st.lists(st.tuples(field, text), max_size=12)


@pytest.mark.parametrize("family", ["k2", "k3"])
@thorough
@given(data=st.data(), rng=rngs, front=fronts)
def test_streams_of_texts(family: str, data: st.DataObject, rng: Random, front: Dialect) -> None:
    options = data.draw(st.sampled_from(OPTIONS))
    case = of_texts(family, options, data.draw(text_lists(family)), data.draw(st.booleans()))
    check_event_by_event(case, front)
    check(case, front, byte_cuts(case.data, rng))


@pytest.mark.parametrize("family", ["k2", "k3"])
@thorough
@given(data=st.data(), rng=rngs, front=fronts)
def test_streams_of_answers(family: str, data: st.DataObject, rng: Random, front: Dialect) -> None:
    stream = stream_of(data.draw(ANSWERS[family]), rng)
    options = data.draw(st.sampled_from(OPTIONS))
    case = Case(stream, REQUEST, {"model": MODELS[family]}, options, "text/event-stream")
    check_event_by_event(case, front)
    check(case, front, byte_cuts(stream, rng))


def test_neighbouring_deltas_are_joined() -> None:
    def events(*texts: str) -> Iterator[bytes]:
        for text in texts:
            delta = {"type": "text_delta", "text": text}
            yield b"event: content_block_delta\ndata: " + json.dumps({"index": 0, "delta": delta}).encode() + b"\n\n"

    assert joined(b"".join(events("a", "b"))) == joined(b"".join(events("ab")))
    assert joined(b"".join(events("a", "b"))) != joined(b"".join(events("a")))
