from __future__ import annotations

from time import process_time

import pytest
from tests.native.rules import rules_of

from moongate.chat.verdict import ABORTED, FAILED, REPAIRED
from moongate.errors import BadUpstream
from moongate.native.answer import MAX_ARGUMENTS
from moongate.native.exchange import NativeExchange
from moongate.native.session import NativeSession
from moongate.payload import dumps

START = b'event: message_start\r\ndata: {"type":"message_start"}\r\n\r\n'
CALL = b'data:{"type":"content_block_start","content_block":{"type":"tool_use","id":"","name":"f"}}\n\n'
STOP = b'data: {"type":"message_stop"}\n\n'
OTHER = b": hello\n\ndata: no json\n\n"


def session(limit: int = 1000, content_type: str = "text/event-stream") -> NativeSession:
    return NativeSession(NativeExchange("messages", {}, {}, rules_of("kimi-k2")), content_type, limit)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_events_pass_and_ids_are_mended(size: int) -> None:
    running = session()
    data = START + OTHER + CALL + STOP
    out = b"".join(running.feed(data[at : at + size]) for at in range(0, len(data), size))
    event = {"type": "content_block_start", "content_block": {"type": "tool_use", "id": "functions--f--0", "name": "f"}}
    assert out == START + OTHER + b"event: content_block_start\ndata: " + dumps(event) + b"\n\n" + STOP
    assert (running.started, running.finished, running.failure, running.waiting) == (True, True, None, False)
    assert running.feed(START) == running.close() == running.fail(BadUpstream("late")) == running.settle() == b""
    running.abandon()
    running.resume("")
    assert running.usage is None


def test_streams_that_are_cut() -> None:
    for data, words in ((b"", b"held no answer"), (START, b"before the answer was complete")):
        running = session()
        assert running.feed(data) == data
        assert words in running.close()
        assert running.failure is not None


def test_a_web_page() -> None:
    running = session(content_type="text/html")
    running.feed(b"<html>Welcome</html>")
    assert b"web page" in running.close()
    assert running.failure is not None
    assert running.failure.code == "web_page"


def test_a_last_event_without_its_end() -> None:
    running = session()
    assert running.feed(STOP[:-2]) == b""
    assert running.close() == STOP
    assert running.failure is None


def test_errors() -> None:
    running = session()
    error = b'data: {"type":"error","error":{"message":""}}\n\n'
    assert running.feed(START + error + STOP) == START + error
    assert str(running.failure) == "the provider reported an error"
    long = session(100_000)
    out = long.feed(START + b'data: {"type":"error","error":{"message":"%b"}}\n\n' % (b"x" * 20_000) + STOP)
    assert (len(out) < 300, long.finished) == (True, True)
    assert b"the provider reported an error of 20000 characters" in out
    large = session(20)
    assert b"too large" in large.feed(b"data: " + b"x" * 50)
    assert large.finished


def test_the_verdict() -> None:
    for ends in (STOP, b'data: {"type":"error"}\n\n', b""):
        exchange = NativeExchange("messages", {"tools": [{"name": "f", "input_schema": {}}]}, {}, rules_of("kimi-k2"))
        running = NativeSession(exchange, "", 1000)
        running.feed(START + CALL.replace(b"}}", b',"input":{}}}') + b'data: {"type":"content_block_stop"}\n\n')
        assert running.size == 2, "the bytes that the end looks at"
        assert exchange.verdict == ABORTED
        running.feed(ends)
        running.close()
        assert exchange.verdict == (REPAIRED if ends == STOP else FAILED)


def test_many_small_pieces_of_arguments_take_linear_time_and_bounded_memory() -> None:
    def cost(pieces: int) -> float:
        exchange = NativeExchange("messages", {}, {}, None)
        running = NativeSession(exchange, "", 1000)
        running.feed(b'data: {"type":"content_block_start","content_block":{"type":"tool_use","name":"f"}}\n\n')
        piece = (
            b'data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"abcdefgh"}}\n\n'
        )
        began = process_time()
        for _ in range(pieces // 100):
            running.feed(piece * 100)
        assert running.size <= MAX_ARGUMENTS
        return process_time() - began

    assert cost(40_000) < 12 * max(cost(10_000), 0.01)
