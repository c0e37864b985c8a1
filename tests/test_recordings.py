"""The recorded streams through the core alone: however the bytes are cut, they leave as they came."""

from __future__ import annotations

import pytest
from tests.support.cuts import every_cut, pieces_of
from tests.support.loops import tool
from tests.support.replay import recordings

from moongate import KimiTransformer, Session

RECORDED = recordings()
TOOLS = (tool("get_weather", "city"), tool("get_time", "tz"), tool("read_file", "path"))
REQUEST = {
    "messages": [{"role": "user", "content": "x"}],
    "tools": [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in TOOLS],
    "stream": True,
}


def played(name: str, pieces: list[bytes]) -> bytes:
    model = "kimi-k3" if "k3" in name else "kimi-k2"
    session = Session(KimiTransformer.from_config({}, model=model).begin(REQUEST), "text/event-stream")
    return b"".join(map(session.feed, pieces)) + session.close()


@pytest.mark.parametrize("name", RECORDED)
def test_no_cut_changes_a_byte(name: str) -> None:
    data = RECORDED[name]
    for size in (1, 3, 64, 1000, len(data)):
        assert played(name, pieces_of(data, size)) == data


@pytest.mark.parametrize("name", ["hand-call", "hand-crlf", "hand-split-surrogates"])
def test_no_single_cut_changes_a_byte(name: str) -> None:
    data = RECORDED[name]
    for pieces in every_cut(data):
        assert played(name, pieces) == data
