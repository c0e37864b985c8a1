"""The stall watch of a real gateway: a transformer of one's own blocks the event loop, and the request is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import DONE, Asked, Scripted, chunk, whole
from tests.support.http import get, post

SLOW = """
import time
from moongate import BaseExchange, BaseTransformer

class Slow(BaseTransformer):
    def begin(self, request):
        if not request.get("stream"):
            time.sleep(0.5)
        return SlowExchange(request)

class SlowExchange(BaseExchange):
    def feed(self, item):
        time.sleep(0.5)
        return [item]
"""


async def streamed(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hello", "stop") + DONE)
    asked.end_stream()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fast", ["0", "1"])
def test_a_long_stall_is_reported_with_the_request_and_measured(
    tmp_path: Path, upstream: Scripted, stream: bool, fast: str
) -> None:
    upstream.play = streamed if stream else whole
    (tmp_path / "slow.py").write_text(SLOW)
    value = config(upstream, transformers={"Slow": "slow.py"}, metrics="clients")
    value["providers"][0]["transformer"] = {"use": ["Slow"]}
    write(tmp_path, value)
    with serving(tmp_path, MOONGATE_FAST=fast) as served:
        root = served.root()
        reply = post(root + PATH, ASK | {"stream": stream}, key=CLIENT)
        assert reply.status == 200
        found = served.find(r"the event loop was blocked for (\d+) ms by request (\S+)", err=True)
        assert 450 <= int(found[1]) < 4000
        assert found[2] == reply.headers["x-request-id"]
        text = get(f"{root}/metrics", key=CLIENT).body.decode()
        measured = re.search(r'^moongate_loop_stall_seconds\{worker="0"\} (\S+)$', text, re.MULTILINE)
        assert measured is not None
        assert 0.45 <= float(measured[1]) < 4
        assert served.stop() == 0
