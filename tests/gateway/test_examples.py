"""The examples do what they say, through the whole gateway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.gateway.scripted import DONE, Asked, Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, run_gateway
from tests.support.http import post

from moongate.gateway.config.load import read_config

EXAMPLES = Path(__file__).parents[2] / "examples"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}


async def thinks(asked: Asked) -> None:
    thought = {"role": "assistant", "reasoning_content": "hm", "content": "Yes."}
    if not asked.json.get("stream"):
        asked.document({"choices": [{"index": 0, "message": thought, "finish_reason": "stop"}]})
        return
    asked.begin_stream()
    for delta, finish in ((thought, None), ({}, "stop")):
        event = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        asked.send(b"data: " + json.dumps(event).encode() + b"\n\n")
    asked.send(DONE)
    asked.end_stream()


def test_the_examples_run() -> None:
    config = read_config(EXAMPLES / "config.json", {"MOONSHOT_API_KEY": "sk-example"})
    transformers = [{"name": each.name, "path": str(EXAMPLES / each.path)} for each in config.settings.transformers]
    with Background() as background:
        upstream = background.start(Scripted(thinks).start())
        source = config.settings.providers[0]
        provider = {
            "name": source.name,
            "api_base_url": upstream.url,
            "models": [model.name for model in source.models],
            "transformer": source.transformer,
        }
        with run_gateway({"providers": [provider], "transformers": transformers}) as gateway:
            url = gateway.root + "/v1/chat/completions"
            whole = post(url, ASK | {"model": "kimi-k2.5"}, key=KEY)
            streamed = post(url, ASK | {"model": "kimi-k2.6", "stream": True}, key=KEY)
    assert whole.json()["choices"][0]["message"] == {"role": "assistant", "content": "Yes."}
    assert b"reasoning_content" not in streamed.body
    assert b"Yes." in streamed.body
    assert streamed.body.endswith(DONE)
    system = {"role": "system", "content": "Answer in one sentence."}
    assert upstream.seen[0].json["messages"] == [system, *ASK["messages"]]
    assert upstream.seen[1].json["messages"] == ASK["messages"]
