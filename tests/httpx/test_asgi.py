"""Messages and responses without a server: the gateway mounted in the SDK's own HTTP client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from tests.support.background import Background
from tests.support.loops import EXPECTED_CALLS, TOOLS

import moongate
from moongate import sim
from moongate.sim import SimServer, model_name

ROWS = ["clean", "foreign-ids", "markers", "markers-reasoning", "null-finish", "object-arguments", "ndjson", "stream"]
QUESTION: dict[str, Any] = {"role": "user", "content": "Use the tools."}


@pytest.fixture(scope="module")
def simulator() -> Iterator[SimServer]:
    with Background() as background:
        yield background.start(sim.start(play="strict"))


def config_of(simulator: SimServer) -> dict[str, Any]:
    models = [model_name("k2.5", row) for row in ROWS]
    use = [["Kimi", {"preset": "agent"}]]
    provider = {"name": "sim", "api_base_url": simulator.url, "api_key": "key", "models": models}
    return {"providers": [{**provider, "transformer": {"use": use}}]}


@pytest.mark.parametrize("row", ROWS)
def test_anthropic_finishes_the_three_calls(simulator: SimServer, row: str) -> None:
    asyncio.run(_messages_loop(moongate.asgi(config_of(simulator)), model_name("k2.5", row)))


async def _messages_loop(app: Any, model: str) -> None:
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), timeout=60)
    tools: list[Any] = [{"name": t.name, "input_schema": t.parameters} for t in TOOLS]
    messages: list[Any] = [QUESTION]
    seen: list[tuple[str, Any]] = []
    async with anthropic.AsyncAnthropic(base_url="http://localhost", api_key="none", http_client=http) as client:
        for _turn in range(3):
            async with client.messages.stream(model=model, messages=messages, tools=tools, max_tokens=999) as stream:
                answer = await stream.get_final_message()
            calls = [block for block in answer.content if block.type == "tool_use"]
            messages.append({"role": "assistant", "content": answer.content})
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": "ok"} for call in calls]
            messages.append({"role": "user", "content": results})
            seen += [(call.name, call.input) for call in calls]
    app.close()
    assert seen == list(EXPECTED_CALLS)
    assert answer.stop_reason == "end_turn"


@pytest.mark.parametrize("row", ROWS)
def test_openai_responses_finish_the_three_calls(simulator: SimServer, row: str) -> None:
    asyncio.run(_responses_loop(moongate.asgi(config_of(simulator)), model_name("k2.5", row)))


async def _responses_loop(app: Any, model: str) -> None:
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), timeout=60)
    tools: list[Any] = [
        {"type": "function", "name": t.name, "parameters": t.parameters, "strict": False} for t in TOOLS
    ]
    items: list[Any] = [QUESTION]
    seen: list[tuple[str, Any]] = []
    async with openai.AsyncOpenAI(base_url="http://localhost/v1", api_key="none", http_client=http) as client:
        for _turn in range(3):
            async with client.responses.stream(model=model, input=items, tools=tools, store=False) as stream:
                answer = await stream.get_final_response()
            calls = [item for item in answer.output if item.type == "function_call"]
            items += [item.model_dump(exclude_none=True) for item in answer.output]
            items += [{"type": "function_call_output", "call_id": call.call_id, "output": "ok"} for call in calls]
            seen += [(call.name, json.loads(call.arguments)) for call in calls]
    app.close()
    assert seen == list(EXPECTED_CALLS)
    assert answer.status == "completed"


def test_a_wrong_configuration_is_told_at_once() -> None:
    with pytest.raises(moongate.ConfigError, match="providers"):
        moongate.asgi({"providers": 1})


def test_a_configuration_can_be_a_file(simulator: SimServer, tmp_path: Any) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config_of(simulator)), encoding="utf-8")
    moongate.asgi(path).close()


CLOSED_LATE = """
import asyncio, sys
import httpx2, moongate

provider = {"name": "sim", "api_base_url": sys.argv[1], "api_key": "key", "models": [sys.argv[2]]}
app = moongate.asgi({"providers": [provider]})

async def ask():
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        body = {"model": sys.argv[2], "messages": [{"role": "user", "content": "Hello"}]}
        return await client.post("/v1/chat/completions", json=body)

print(asyncio.run(ask()).status_code)
app.close()
"""


def test_it_can_be_closed_when_its_event_loop_has_ended(simulator: SimServer) -> None:
    command = [sys.executable, "-c", CLOSED_LATE, simulator.url, model_name("k2.5", "clean")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("200\n", "", 0)
