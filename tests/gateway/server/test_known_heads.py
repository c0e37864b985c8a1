"""Heads that are recognised by their bytes are those that the parser would give."""

from __future__ import annotations

import subprocess
import sys

from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.known_heads import HeadRecogniser, KnownHeads
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.request_reader import RequestReader

REQUEST = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: Y\r\n\r\nhello"
OTHER_LENGTH = REQUEST.replace(b"5", b"7") + b"!!"
NO_BODY = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n"


def parsed(data: bytes, known: KnownHeads | None) -> tuple[RequestHead | None, bytes]:
    reader = RequestReader(ConnectionLimits(), known)
    body = reader.feed(data)
    assert reader.failure is None
    assert reader.complete
    return reader.head, body


def test_without_known_heads_every_head_is_parsed_to_the_same() -> None:
    known: KnownHeads = {}
    for data in (REQUEST, OTHER_LENGTH, NO_BODY, REQUEST, NO_BODY):
        head, body = parsed(data, known)
        plain, same = parsed(data, None)
        assert head is not None
        assert plain is not None
        assert (head.method, head.path, head.fields, body) == (plain.method, plain.path, plain.fields, same)
    assert len(known) == 2


def test_a_head_is_recognised_on_its_own_connection_and_on_another() -> None:
    known: KnownHeads = {}
    head, _ = parsed(REQUEST, known)
    assert head is not None
    recogniser = HeadRecogniser(known)
    for _ in range(2):  # looked up, then compared with the last one
        assert recogniser.recognise(REQUEST) == (head, b"5", b"hello")
        assert recogniser.recognise(OTHER_LENGTH) == (head, b"7", b"hello!!")
    assert recogniser.recognise(REQUEST.replace(b"X: Y", b"X: Z")) is None
    assert recogniser.recognise(b"POST /a HTTP/1.1\r\nHost:") is None


def test_the_switch_turns_them_off() -> None:
    code = "from moongate.gateway.server.protocol import ClientProtocol as P; print(vars(P)['_known_heads'])"
    for fast, shown in (("0", "None"), ("1", "{}")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"MOONGATE_FAST": fast, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == shown
