"""The responses front over real sockets, asked by the official SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.dialects.chat_answers import events
from tests.gateway.scripted import Asked, Scripted
from tests.gateway.test_messages_front import MODEL, Stage, answers, breaks_off, event, refuses, streams
from tests.support.background import Background
from tests.support.gateway import run_gateway

RECORDED = Path(__file__).parents[1] / "dialects" / "recordings" / "codex.json"
TOOLS: list[Any] = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("ls", "cat")]
TOO_LONG = "This model's maximum context length is 1000 tokens. However, you requested 2000 tokens"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Background() as background:
        provider = background.start(Scripted().start())
        config = {
            "name": "p",
            "api_base_url": provider.url,
            "models": [MODEL],
            "transformer": {"use": [["Kimi", {"preset": "agent"}]]},
        }
        with run_gateway({"providers": [config], "retries": {"backoff": 0, "obey": 0}}) as gateway:
            yield Stage(gateway, provider)


def client(stage: Stage) -> openai.OpenAI:
    return openai.OpenAI(base_url=stage.gateway.root + "/v1", api_key=stage.gateway.key, max_retries=0)


def post(stage: Stage, body: dict[str, Any]) -> Any:
    headers = {"authorization": f"Bearer {stage.gateway.key}"}
    return stage.post({"model": MODEL, **body}, "/v1/responses", **headers)


def test_the_stream_builds_the_whole_answer(stage: Stage) -> None:
    include: list[Any] = ["reasoning.encrypted_content"]
    with client(stage) as sdk:
        stage.plays(answers)
        whole = sdk.responses.create(model=MODEL, input="hi", tools=TOOLS, include=include)
        stage.plays(streams)
        with sdk.responses.stream(model=MODEL, input="hi", tools=TOOLS, include=include) as stream:
            streamed = stream.get_final_response()
    assert streamed.output_text == whole.output_text == "I look."
    assert [item.type for item in whole.output] == ["reasoning", "message", "function_call", "function_call"]
    ignored = {"parsed_arguments", "parsed"}
    for one, other in zip(streamed.output, whole.output, strict=True):
        mine, theirs = one.to_dict(), other.to_dict()
        for part in mine.get("content") or ():  # type: ignore[attr-defined]
            part.pop("parsed", None)
        assert {key: value for key, value in mine.items() if key not in ignored} == theirs
    assert streamed.usage == whole.usage
    assert whole.usage is not None
    assert (whole.usage.input_tokens, whole.usage.input_tokens_details.cached_tokens) == (20, 5)


def test_the_provider_sees_its_own_ids_and_thoughts_again(stage: Stage) -> None:
    provider = stage.plays(answers)
    include: list[Any] = ["reasoning.encrypted_content"]
    with client(stage) as sdk:
        first = sdk.responses.create(model=MODEL, input="hi", tools=TOOLS, store=False, include=include)
        calls = [item for item in first.output if item.type == "function_call"]
        items: list[Any] = [{"role": "user", "content": "hi"}, *calls]
        items += [item for item in first.output if item.type != "function_call"]
        items += [{"type": "function_call_output", "call_id": call.call_id, "output": call.name} for call in calls]
        sdk.responses.create(model=MODEL, input=items, tools=TOOLS, store=False)
    sent = provider.seen[-1].json["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["functions.ls:0", "functions.cat:1"]
    assert (sent[1]["content"], sent[1]["reasoning_content"]) == ("I look.", "hm, well")


def test_images_reach_the_provider(stage: Stage) -> None:
    provider = stage.plays(answers)
    content: list[Any] = [
        {"type": "input_text", "text": "what?"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
    ]
    with client(stage) as sdk:
        sdk.responses.create(model=MODEL, input=[{"role": "user", "content": content}])
    assert provider.seen[-1].json["messages"][0]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,aGk="},
    }


def test_codex_own_request(stage: Stage) -> None:
    provider = stage.plays(streams)
    reply = post(stage, {**json.loads(RECORDED.read_text(encoding="utf-8"))["body"], "model": MODEL})
    assert reply.status_code == 200
    found = events(reply.content)
    assert [found[0]["type"], found[-1]["type"]] == ["response.created", "response.completed"]
    sent = provider.seen[-1].json
    assert [message["role"] for message in sent["messages"]] == ["system", "system", "user", "user"]
    assert "multi_agent_v1__close_agent" in [tool["function"]["name"] for tool in sent["tools"]]


def test_namespaces_and_custom_tools_come_back_as_the_client_knows_them(stage: Stage) -> None:
    def called(index: int, name: str, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        return {"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": function}]}

    async def play(asked: Asked) -> None:
        asked.begin_stream()
        asked.send(event(called(0, "agents__close", '{"target":"a"}')))
        asked.send(event(called(1, "apply_patch", '{"input":"*** Begin Patch"}')))
        asked.send(event({}, "stop"))
        asked.send(b"data: [DONE]\n\n")
        asked.end_stream()

    stage.plays(play)
    tools = [
        {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close", "parameters": {}}]},
        {"type": "custom", "name": "apply_patch"},
        {"type": "web_search"},
    ]
    found = events(post(stage, {"input": "hi", "tools": tools, "stream": True}).content)
    namespaced, custom = found[-1]["response"]["output"]
    assert (namespaced["type"], namespaced["namespace"], namespaced["name"]) == ("function_call", "agents", "close")
    assert (custom["type"], custom["name"], custom["input"]) == ("custom_tool_call", "apply_patch", "*** Begin Patch")


def test_errors_in_openais_shape(stage: Stage) -> None:
    stage.plays(answers)
    with client(stage) as sdk:
        with pytest.raises(openai.BadRequestError, match="stored here") as caught:
            sdk.responses.create(model=MODEL, input="hi", previous_response_id="resp_1")
        assert caught.value.param == "previous_response_id"
        with pytest.raises(openai.NotFoundError):
            sdk.responses.create(model="no-such-model", input="hi")
        stage.plays(refuses(429, "slow down", retry_after="7"))
        with pytest.raises(openai.RateLimitError, match="slow down"):
            sdk.responses.create(model=MODEL, input="hi")


def test_a_prompt_that_is_too_long_makes_agents_compact(stage: Stage) -> None:
    stage.plays(refuses(400, TOO_LONG))
    with client(stage) as sdk, pytest.raises(openai.BadRequestError) as caught:
        sdk.responses.create(model=MODEL, input="hi")
    assert caught.value.code == "context_length_exceeded"
    reply = post(stage, {"input": "hi", "stream": True})
    assert reply.status_code == 200
    last = events(reply.content)[-1]
    assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", "context_length_exceeded")


def test_a_stream_that_is_cut_fails_and_never_completes(stage: Stage) -> None:
    stage.plays(breaks_off)
    reply = post(stage, {"input": "hi", "stream": True})
    if reply.status_code == 200:  # it may have broken before anything was sent on
        kinds = [found["type"] for found in events(reply.content)]
        assert kinds[-1] == "response.failed"
        assert "response.completed" not in kinds
    else:
        assert reply.status_code == 502
    with (
        client(stage) as sdk,
        pytest.raises((RuntimeError, openai.APIStatusError)),
        sdk.responses.stream(model=MODEL, input="hi") as stream,
    ):
        stream.get_final_response()
