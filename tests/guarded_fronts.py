"""Tool turns through the gateway with the official SDKs, on all fronts: what leaves under the guard?

    python -m tests.guarded_fronts                          2000 turns for each vendor, mode, front and way
    python -m tests.guarded_fronts --turns 50 --valid 72

Calls are judged by `jsonschema`, which is independent of the guard's own check.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import anthropic
import openai
from tests.kimi.guard.turns import TOOLS
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import get
from tests.support.json_schema import misfit

from moongate import sim
from moongate.sim import SimServer, model_name

MODES = ("off", "repair", "retry")
RECOVERIES = ("second-try", "after-error", "never-right")
VALIDITIES = (72, 90, 97)
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}

Call = tuple[str, str]  # name, arguments
Ask = Callable[[RunningGateway, str, str], tuple[list[Call], str]]  # gateway, model, prompt → calls, finish


@dataclass
class Outcome:
    """What some turns led to."""

    turns: int = 0
    invalid_turns: int = 0
    empty_turns: int = 0
    faults: list[str] = field(default_factory=list)
    upstream: int = 0  # requests to the vendor, by its own count
    damaged: int = 0  # answers of the vendor that the gateway judged damaged, those that were replaced among them
    finishes: Counter[str] = field(default_factory=Counter)

    @property
    def left_damaged(self) -> int:
        return self.invalid_turns + self.empty_turns

    @property
    def unexplained(self) -> int:
        """Requests added, less the damaged answers that another try could replace. 0, if tries are never refused."""
        return self.upstream - self.turns - (self.damaged - self.left_damaged)


@contextmanager
def guarded_gateway(models: list[str], mode: str) -> Iterator[tuple[RunningGateway, SimServer]]:
    with Background() as background:
        simulator = background.start(sim.start())
        options = {"preset": "agent", "guard": mode}
        use = {"use": [["Kimi", options]]}
        provider = {"name": "sim", "api_base_url": simulator.url, "models": models, "transformer": use}
        with run_gateway({"providers": [provider]}) as running:
            yield running, simulator


def chat_whole(gateway: RunningGateway, model: str, prompt: str) -> tuple[list[Call], str]:
    completion = _openai(gateway).chat.completions.create(**_chat_request(model, prompt))
    return _chat_calls(completion.choices[0])


def chat_stream(gateway: RunningGateway, model: str, prompt: str) -> tuple[list[Call], str]:
    with _openai(gateway).chat.completions.stream(**_chat_request(model, prompt)) as stream:
        return _chat_calls(stream.get_final_completion().choices[0])


def messages_whole(gateway: RunningGateway, model: str, prompt: str) -> tuple[list[Call], str]:
    return _message_calls(_anthropic(gateway).messages.create(**_messages_request(model, prompt)))


def messages_stream(gateway: RunningGateway, model: str, prompt: str) -> tuple[list[Call], str]:
    stops = 0
    with _anthropic(gateway).messages.stream(**_messages_request(model, prompt)) as stream:
        for event in stream:
            stops += event.type == "message_stop"
        assert stops == 1
        return _message_calls(stream.get_final_message())


def responses_whole(gateway: RunningGateway, model: str, prompt: str) -> tuple[list[Call], str]:
    return _response_calls(_openai(gateway).responses.create(**_responses_request(model, prompt)))


def responses_stream(gateway: RunningGateway, model: str, prompt: str) -> tuple[list[Call], str]:
    completed = []
    with _openai(gateway).responses.create(**_responses_request(model, prompt), stream=True) as stream:
        completed = [event.response for event in stream if event.type == "response.completed"]
    assert len(completed) == 1
    return _response_calls(completed[0])


WAYS: dict[str, Ask] = {
    "chat, whole": chat_whole,
    "chat, streamed": chat_stream,
    "messages, whole": messages_whole,
    "messages, streamed": messages_stream,
    "responses, whole": responses_whole,
    "responses, streamed": responses_stream,
}


def run(gateway: RunningGateway, simulator: SimServer, model: str, ask: Ask, turns: int) -> Outcome:
    outcome = Outcome()
    before, damaged = simulator.vendor.ledger.requests, _damaged(gateway)
    for number in range(turns):
        calls, finish = ask(gateway, model, f"turn {number}: use the tools")
        outcome.turns += 1
        outcome.finishes[finish] += 1
        faults = [fault for call in calls if (fault := fault_of(*call)) is not None]
        outcome.faults += faults
        outcome.invalid_turns += bool(faults)
        outcome.empty_turns += not calls
    outcome.upstream = simulator.vendor.ledger.requests - before
    outcome.damaged = _damaged(gateway) - damaged
    return outcome


def fault_of(name: str, arguments: str) -> str | None:
    """What is wrong with a call, None if nothing is."""
    if name not in SCHEMAS:
        return f"{name} is not offered"
    try:
        value = json.loads(arguments)
    except ValueError as error:
        return f"{name}: {error}"
    return misfit(SCHEMAS[name], value)


def _damaged(gateway: RunningGateway) -> int:
    """Answers judged damaged so far."""
    lines = get(f"{gateway.root}/metrics", key=gateway.key).body.decode().splitlines()
    counted = [line for line in lines if line.startswith("moongate_answers_total{") and 'worth="damaged"' in line]
    return sum(int(float(line.rpartition(" ")[2])) for line in counted)


@cache
def _openai(gateway: RunningGateway) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{gateway.root}/v1", api_key=gateway.key, max_retries=0)


@cache
def _anthropic(gateway: RunningGateway) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=gateway.root, api_key=gateway.key, max_retries=0)


def _chat_request(model: str, prompt: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": prompt}], "tools": TOOLS}


def _messages_request(model: str, prompt: str) -> dict[str, Any]:
    tools = [{"name": name, "input_schema": schema} for name, schema in SCHEMAS.items()]
    return {"model": model, "max_tokens": 4000, "messages": [{"role": "user", "content": prompt}], "tools": tools}


def _responses_request(model: str, prompt: str) -> dict[str, Any]:
    tools = [{"type": "function", "name": name, "parameters": schema} for name, schema in SCHEMAS.items()]
    return {"model": model, "input": prompt, "tools": tools}


def _chat_calls(choice: Any) -> tuple[list[Call], str]:
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    return calls, choice.finish_reason


def _message_calls(message: Any) -> tuple[list[Call], str]:
    blocks = [block for block in message.content if block.type == "tool_use"]
    return [(block.name, json.dumps(block.input)) for block in blocks], message.stop_reason


def _response_calls(response: Any) -> tuple[list[Call], str]:
    items = [item for item in response.output if item.type == "function_call"]
    return [(item.name, item.arguments) for item in items], response.status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--valid", type=int, nargs="*", default=list(VALIDITIES))
    parser.add_argument("--recovery", nargs="*", default=list(RECOVERIES))
    parser.add_argument("--mode", nargs="*", default=list(MODES))
    parser.add_argument("--way", nargs="*", default=list(WAYS))
    asked = parser.parse_args()
    print("| vendor | recovery | guard | front | turns | invalid | empty | upstream requests | unexplained |")
    print("|---|---|---|---|---|---|---|---|---|")
    for mode, valid, recovery, way in product(asked.mode, asked.valid, asked.recovery, asked.way):
        model = model_name("k2", f"valid-{valid}-{recovery}")
        with guarded_gateway([model], mode) as (gateway, simulator):
            found = run(gateway, simulator, model, WAYS[way], asked.turns)
        unexplained = found.unexplained if mode == "retry" else 0
        counts = (found.turns, found.invalid_turns, found.empty_turns, found.upstream, unexplained)
        print(f"| {valid} % | {recovery} | {mode} | {way} |", " | ".join(map(str, counts)), "|", flush=True)


if __name__ == "__main__":
    main()
