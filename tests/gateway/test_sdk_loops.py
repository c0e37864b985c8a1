"""The same tool loops with the official SDKs, through each of their ways to send a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.loops import EXPECTED_CALLS, TOOLS

from moongate import sim
from moongate.sim import model_name

ROWS = [
    ("k2", "clean"),
    ("k2", "foreign-ids"),
    ("k2.5", "empty-ids"),
    ("k2.5", "repeated-ids"),
    ("k2.5", "missing-ids"),
    ("k2.6", "markers"),
    ("k2.6", "markers-reasoning"),
    ("k2.7", "markers-cut"),
    ("k2-thinking", "think-open"),
    ("k2.5", "null-finish"),
    ("k2.5", "stop-finish"),
    ("k2.5", "no-index"),
    ("k2.5", "object-arguments"),
    ("k2.5", "id-every-delta"),
    ("k2.5", "ndjson"),
    ("k2.5", "document"),
    ("k2.5", "stream"),
    ("k2.5", "no-done"),
    ("k2.5", "usage-in-choices"),
    ("k2.5", "500-once"),
    ("k3", "clean"),
    ("k3", "repeated-ids"),
    ("k3", "markers"),
    ("k3", "json-block"),
    ("k3", "markers-cut"),
]

CallWriter = list[tuple[str, str, Any]]  # id, name, arguments


@pytest.fixture(scope="module")
def gateway() -> Iterator[RunningGateway]:
    with Background() as background:
        simulator = background.start(sim.start(play="strict"))
        provider = {
            "name": "sim",
            "api_base_url": simulator.url,
            "models": [model_name(generation, row) for generation, row in ROWS],
            "transformer": {"use": [["Kimi", {"preset": "agent"}]]},
        }
        with run_gateway({"providers": [provider], "retries": {"backoff": 0.01}}) as running:
            yield running


class OpenAIChat:
    """One conversation; `ask` gives the text and the calls of the next turn."""

    def __init__(self, gateway: RunningGateway, model: str, way: str) -> None:
        self.client = openai.OpenAI(base_url=f"{gateway.root}/v1", api_key=gateway.key, max_retries=0)
        self.model = model
        self.way = way
        self.messages: list[Any] = [{"role": "user", "content": "Use the tools."}]
        self.tools: list[Any] = [
            {"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in TOOLS
        ]

    def ask(self) -> tuple[str, CallWriter]:
        message = getattr(self, self.way)()
        self.messages.append(message.model_dump(exclude_none=True))
        calls = [
            (call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []
        ]
        return message.content or "", calls

    def whole(self) -> Any:
        answer = self.client.chat.completions.create(model=self.model, messages=self.messages, tools=self.tools)
        return self._checked(answer)

    def helper(self) -> Any:
        with self.client.chat.completions.stream(
            model=self.model, messages=self.messages, tools=self.tools, stream_options={"include_usage": True}
        ) as stream:
            for _ in stream:
                pass
            answer = stream.get_final_completion()
        assert answer.usage is not None
        return self._checked(answer)

    def _checked(self, answer: Any) -> Any:
        choice = answer.choices[0]
        assert choice.finish_reason == ("tool_calls" if choice.message.tool_calls else "stop")
        return choice.message

    def give(self, results: list[tuple[str, str]]) -> None:
        self.messages += [{"role": "tool", "tool_call_id": i, "content": text} for i, text in results]


class OpenAIResponses:
    def __init__(self, gateway: RunningGateway, model: str, way: str) -> None:
        self.client = openai.OpenAI(base_url=f"{gateway.root}/v1", api_key=gateway.key, max_retries=0)
        self.model = model
        self.way = way
        self.items: list[Any] = [{"role": "user", "content": "Use the tools."}]
        self.tools: list[Any] = [
            {"type": "function", "name": t.name, "parameters": t.parameters, "strict": False} for t in TOOLS
        ]

    def ask(self) -> tuple[str, CallWriter]:
        answer = getattr(self, self.way)()
        assert answer.status == "completed"
        self.items += [item.model_dump(exclude_none=True) for item in answer.output]
        calls = [
            (item.call_id, item.name, json.loads(item.arguments))
            for item in answer.output
            if item.type == "function_call"
        ]
        return answer.output_text, calls

    def whole(self) -> Any:
        return self.client.responses.create(model=self.model, input=self.items, tools=self.tools, store=False)

    def helper(self) -> Any:
        with self.client.responses.stream(model=self.model, input=self.items, tools=self.tools, store=False) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()

    def give(self, results: list[tuple[str, str]]) -> None:
        self.items += [{"type": "function_call_output", "call_id": i, "output": text} for i, text in results]


class Anthropic:
    def __init__(self, gateway: RunningGateway, model: str, way: str) -> None:
        self.client = anthropic.Anthropic(base_url=gateway.root, api_key=gateway.key, max_retries=0)
        self.model = model
        self.way = way
        self.messages: list[Any] = [{"role": "user", "content": "Use the tools."}]
        self.tools: list[Any] = [{"name": t.name, "input_schema": t.parameters} for t in TOOLS]

    def ask(self) -> tuple[str, CallWriter]:
        message = getattr(self, self.way)()
        self.messages.append(
            {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in message.content]}
        )
        calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
        assert message.stop_reason == ("tool_use" if calls else "end_turn")
        return "".join(block.text for block in message.content if block.type == "text"), calls

    def whole(self) -> Any:
        return self.client.messages.create(model=self.model, max_tokens=999, messages=self.messages, tools=self.tools)

    def helper(self) -> Any:
        with self.client.messages.stream(
            model=self.model, max_tokens=999, messages=self.messages, tools=self.tools
        ) as stream:
            for _ in stream:
                pass
            return stream.get_final_message()

    def give(self, results: list[tuple[str, str]]) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": text} for i, text in results]
        self.messages.append({"role": "user", "content": blocks})


Talk = Callable[[RunningGateway, str, str], OpenAIChat | OpenAIResponses | Anthropic]


@pytest.mark.parametrize("way", ["whole", "helper"])
@pytest.mark.parametrize("talk", [OpenAIChat, OpenAIResponses, Anthropic])
@pytest.mark.parametrize(("generation", "row"), ROWS)
def test_a_loop_with_the_official_sdk(gateway: RunningGateway, generation: str, row: str, talk: Talk, way: str) -> None:
    conversation = talk(gateway, model_name(generation, row), way)
    with conversation.client:
        text, seen = _played(conversation)
    assert [call[1:] for call in seen] == list(EXPECTED_CALLS)
    assert len({call[0] for call in seen}) == 3
    assert [text.count(f"result {n}") for n in range(3)] == [1, 1, 1]
    assert text.index("result 0") < text.index("result 1") < text.index("result 2")


def _played(conversation: OpenAIChat | OpenAIResponses | Anthropic) -> tuple[str, CallWriter]:
    """The final text and all calls before it."""
    seen: CallWriter = []
    for turn in (1, 2):
        _, calls = conversation.ask()
        assert len(calls) == turn
        conversation.give([(call[0], f"result {len(seen) + n}") for n, call in enumerate(calls)])
        seen += calls
    text, calls = conversation.ask()
    assert calls == []
    return text, seen


def test_plain_iteration_over_a_stream_adds_up(gateway: RunningGateway) -> None:
    client = openai.OpenAI(base_url=f"{gateway.root}/v1", api_key=gateway.key, max_retries=0)
    chat = OpenAIChat(gateway, model_name("k2.6", "markers"), "whole")
    stream = client.chat.completions.create(model=chat.model, messages=chat.messages, tools=chat.tools, stream=True)
    arguments, ids, finish = "", [], None
    for chunk in stream:
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                assert call.function is not None
                ids += [call.id] if call.id else []
                arguments += call.function.arguments or ""
    assert (json.loads(arguments), ids, finish) == ({"city": "city 0"}, ["functions.get_weather:0"], "tool_calls")
    client.close()
    chat.client.close()
