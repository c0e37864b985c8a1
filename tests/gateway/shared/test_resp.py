"""RESP, whole and cut at every place."""

from __future__ import annotations

import pytest

from moongate.gateway.shared.resp import MAX_REPLY, BadReply, ReplyError, ReplyParser, command

REPLIES = b"+OK\r\n:-7\r\n$-1\r\n$5\r\na\r\nb!\r\n*-1\r\n*3\r\n:1\r\n*1\r\n$0\r\n\r\n+x\r\n-ERR no\r\n"


def seen(reply: object) -> object:
    return ("error", str(reply)) if isinstance(reply, ReplyError) else reply


EXPECTED = ["OK", -7, None, b"a\r\nb!", None, [1, [b""], "x"], ("error", "ERR no")]


def test_commands() -> None:
    assert command("SET", b"\xff\r\n", 12) == b"*3\r\n$3\r\nSET\r\n$3\r\n\xff\r\n\r\n$2\r\n12\r\n"


def test_replies_cut_anywhere() -> None:
    for cut in range(len(REPLIES) + 1):
        parser = ReplyParser()
        found = [*parser.feed(REPLIES[:cut]), *parser.feed(REPLIES[cut:])]
        assert [seen(each) for each in found] == EXPECTED
    parser = ReplyParser()
    found = [each for byte in REPLIES for each in parser.feed(bytes([byte]))]
    assert [seen(each) for each in found] == EXPECTED


@pytest.mark.parametrize("data", [b"HTTP/1.1 400 Bad Request\r\n", b":x\r\n", b"$x\r\n", b"*1\r\n?\r\n"])
def test_what_is_no_redis(data: bytes) -> None:
    with pytest.raises(BadReply):
        ReplyParser().feed(data)


def test_a_reply_has_a_limit() -> None:
    parser = ReplyParser()
    with pytest.raises(BadReply, match="more than"):
        parser.feed(b"+" + b"x" * (MAX_REPLY + 1))


def test_which_errors_come_again() -> None:
    assert ReplyError("WRONGTYPE Operation against a key").comes_again
    assert ReplyError("ERR user_script:101: Script attempted to access a nil value").comes_again
    for words in ("OOM command not allowed", "READONLY You can't write", "NOSCRIPT No matching script", "LOADING"):
        assert not ReplyError(words).comes_again
