"""The usage in a body that is passed on unread."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.gateway.http.usage_watch import KEPT, UsageWatch

CHAT = {"prompt_tokens": 8, "completion_tokens": 2}


def usage(*pieces: bytes) -> Any:
    watch = UsageWatch()
    for piece in pieces:
        watch.feed(piece)
    assert len(watch._head) <= KEPT
    assert len(watch._tail) <= KEPT
    return watch.usage()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"", None),
        (b'{"data":[]}', None),
        (b'{"usage":{"prompt_tokens":8,"completion_tokens":2}}', CHAT),
        (
            b'{"usage" : {"prompt_tokens":8,"total_tokens":8}}',
            {"completion_tokens": 0, "prompt_tokens": 8, "total_tokens": 8},
        ),
        (b'{"usage":{"input_tokens":8,"output_tokens":2}}', CHAT),
        (b'{"usage":{"input_tokens":8}}', {"prompt_tokens": 8, "completion_tokens": 0}),
        (b'{"usage":null,"x":1}', None),
        (b'{"usage":{"prompt_tokens":8', None),
        (b'{"usage":{"other":1}}', None),
        (b'{"usage":{bad}}', None),
        (b'{"usage"', None),
        (
            b'data: {"usage":null}\n\ndata: {"usage":{"prompt_tokens":8,"completion_tokens":2}}\n\ndata: [DONE]\n\n',
            CHAT,
        ),
        (b'{"usage":{"prompt_tokens":8,"completion_tokens":2},"text":"\\"usage\\" \'usage\' "usage":[1]}', CHAT),
        (b'{"usage":{"prompt_tokens":8,"completion_tokens":2}}' + b'"usage"' * 5, None),  # not searched for ever
        (b'{"usage":{' + b'"a":{' * 9000, None),
    ],
)
def test_what_is_found(body: bytes, found: Any) -> None:
    assert usage(body) == found
    assert usage(*(body[at : at + 7] for at in range(0, len(body), 7))) == found


def test_long_bodies() -> None:
    said = b'"usage":{"prompt_tokens":8,"completion_tokens":2}'
    long = b"x" * (3 * KEPT)
    assert usage(b"{", said, long) == CHAT
    assert usage(long, said, b"}") == CHAT
    assert usage(long[: KEPT - 9], said) == CHAT, "where beginning and end meet"
    assert usage(long, said, long) is None
