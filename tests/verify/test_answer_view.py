"""The same bytes as somebody sees them: an answer, its faults, or why it is none."""

from __future__ import annotations

import pytest

from moongate.chat.base import BaseExchange
from moongate.payload import dumps
from moongate.sim.responses import SimRequest
from moongate.sim.vendor import Vendor
from moongate.verify import answer_view
from moongate.verify.answer_view import AnswerView, view


def _seen(row: str, *, streamed: bool) -> AnswerView:
    request = {"model": f"kimi-k2-sim-{row}", "messages": [{"role": "user", "content": "hi"}], "stream": streamed}
    answer = Vendor().answer(SimRequest("POST", "/v1/chat/completions", {}, dumps(request)))
    kind = dict(answer.headers).get("content-type", "")
    return view(BaseExchange(request), b"".join(answer.pieces), kind, streamed=streamed)


@pytest.mark.parametrize(
    ("row", "streamed", "faults"),
    [
        ("clean", True, ()),
        ("clean", False, ()),
        ("document", True, ("not_a_stream",)),
        ("stream", False, ("stream_unasked",)),
        ("no-done", True, ("no_done",)),
        ("ndjson", True, ("no_done",)),
    ],
)
def test_answers_and_faults_of_their_form(row: str, streamed: bool, faults: tuple[str, ...]) -> None:
    seen = _seen(row, streamed=streamed)
    assert seen.completion is not None
    assert set(seen.faults) == set(faults)
    assert seen.error == ""


def test_an_error_in_the_stream_is_no_answer() -> None:
    seen = _seen("error-mid", streamed=True)
    assert (seen.completion, seen.verdict.worth) == (None, "failed")
    assert seen.error != ""


@pytest.mark.parametrize("data", [b"", b": nothing\n\n", b"<html>", b'data: {"choices": []}\n\ndata: [DONE]\n\n'])
def test_what_is_no_answer_at_all(data: bytes) -> None:
    seen = view(BaseExchange({}), data, "text/event-stream", streamed=True)
    assert seen.completion is None
    assert seen.error != ""


@pytest.mark.parametrize("streamed", [True, False])
def test_a_web_page_is_named(streamed: bool) -> None:
    seen = view(BaseExchange({}), b"\n<!doctype html>", "text/html", streamed=streamed)
    assert (seen.completion, seen.error) == (None, "the provider answered with a web page (text/html)")


def test_an_answer_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_view, "DOCUMENT_LIMIT", 100)
    seen = view(BaseExchange({}), b"{" + b" " * 200 + b"}", "application/json", streamed=False)
    assert (seen.completion, seen.error) == (None, "the answer is too large")
