"""What a client sees while the guard asks again: keep-alives, then the rest of the same stream."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from typing import Any

import pytest
from tests.gateway.guarded_plays import RIGHT, STRICT, TOOL, in_order, right, wrong
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, run_gateway

SCHEMA: Any = TOOL["function"]
USER = [{"role": "user", "content": "Read a."}]
FRONTS: dict[str, tuple[dict[str, Any], bytes, bytes]] = {  # path → the request, a keep-alive, the end
    "/v1/chat/completions": ({"messages": USER, "tools": [TOOL]}, b": keep-alive", b"[DONE]"),
    "/v1/messages": (
        {
            "messages": USER,
            "max_tokens": 99,
            "tools": [{"name": SCHEMA["name"], "input_schema": SCHEMA["parameters"]}],
        },
        b"event: ping",
        b"event: message_stop",
    ),
    "/v1/responses": (
        {"input": "Read a.", "tools": [{"type": "function", **SCHEMA}]},
        b": keep-alive",
        b"event: response.completed",
    ),
}


@pytest.mark.parametrize("path", FRONTS)
def test_keep_alives_are_sent_while_another_try_is_waited_for(path: str) -> None:
    body, keep_alive, end = FRONTS[path]
    opened = threading.Event()

    async def waits(asked: Asked) -> None:
        while not opened.is_set():
            await asyncio.sleep(0.005)
        await right(asked)

    with Background() as background:
        vendor = background.start(Scripted(in_order(wrong, waits)).start())
        provider = {"name": "p", "api_base_url": vendor.url, "models": ["m"], "transformer": STRICT}
        with run_gateway({"providers": [provider], "timeouts": {"keep_alive": 0.04}}) as gateway:
            gateway.app.ticker.seconds = 0.02
            connection = http.client.HTTPConnection(gateway.root.removeprefix("http://"), timeout=60)
            headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
            connection.request("POST", path, json.dumps({"model": "m", "stream": True, **body}), headers)
            response = connection.getresponse()
            lines = [b""]
            while len(vendor.seen) < 2 or keep_alive not in lines[-1]:
                lines.append(response.readline())
                assert lines[-1], lines
            opened.set()
            seen, rest = b"".join(lines), response.read()
            connection.close()
    assert b"I read." in seen
    assert b"tool_calls" not in seen.replace(b"parallel_tool_calls", b"")
    assert end not in seen
    assert rest.count(end) == 1
    assert RIGHT.replace('"', '\\"').encode() in rest
