from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.items import Chunk
from moongate.cli.report import WIDTH, Report, choices_text

ENVELOPE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m" * 120}


def event(**delta: Any) -> dict[str, Any]:
    return {**ENVELOPE, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


@pytest.mark.parametrize(
    ("payload", "line"),
    [
        (event(content="Hi"), 'delta {"content":"Hi"}'),
        ({**event(content="Hi"), "usage": {"total_tokens": 3}}, 'delta {"content":"Hi"}  {"usage":{"total_tokens":3}}'),
        ({"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}, 'choice 1: delta {} finish_reason "stop"'),
        ({"choices": [{"index": 0, "x": 1}, {"x": 2}]}, "choice 0: x 1  choice null: x 2"),
        ({"choices": [], "usage": {}}, '{"choices":[],"usage":{}}'),
        ({"choices": "odd"}, '{"choices":"odd"}'),
        ({}, "{}"),
        ({"choices": [{"message": {"content": "Hi"}}], "id": "other"}, 'message {"content":"Hi"}  {"id":"other"}'),
    ],
)
def test_the_choices_come_before_the_envelope(payload: dict[str, Any], line: str) -> None:
    assert choices_text(payload, ENVELOPE) == line


def test_a_long_envelope_is_truncated_and_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(wide=False)
    for text in ("one", "two"):
        report.received(Chunk(event(content=text)))
    first, second, _ = capsys.readouterr().out.split("\n")
    assert first.startswith('      in  delta {"content":"one"}  {"id":"chatcmpl-1"')
    assert first.endswith("…")
    assert len(first) == WIDTH + 10
    assert second == '      in  delta {"content":"two"}'


def test_wide_lines_hold_everything(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(wide=True)
    report.received(Chunk(event(content="x" * 500)))
    assert "x" * 500 + '"},"finish_reason":null}]}\n' in capsys.readouterr().out


def test_a_change_that_the_short_form_hides_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(wide=False)
    received = Chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": None}]})
    report.received(received)
    report.sent([Chunk({"choices": [{"index": 0, "delta": {}}]})], received)
    assert capsys.readouterr().out == '      in  delta {}\n     out  {"choices":[{"index":0,"delta":{}}]}\n'


def test_calls_are_counted_once(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(wide=False)
    for index in (0, 0, 1):
        report.closed([Chunk(event(tool_calls=[{"index": index}, "odd"]))])
    report.closed([Chunk({"choices": [{"index": [], "delta": None, "finish_reason": "stop"}]})])
    assert '; 3 calls; finish_reason "stop"; 0 repairs; complete' in report.totals.summary("complete")
    assert capsys.readouterr().out
