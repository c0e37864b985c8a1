"""Any conversation through a front and back: the model sees its own ids, names, arguments and reasoning again.

A client stores only what it received; the gateway stores nothing.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.chat_answers import HEAD, events
from tests.support.length import examples

from moongate import KimiTransformer, Session
from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import MESSAGES, RESPONSES

Json = dict[str, Any]
NAMES = ["ls", "read_file", "mcp__git__log", "a-b"]


@dataclass(frozen=True)
class Call:
    """A call as the provider sends it. `number` is unique in the conversation."""

    given: str
    name: str
    number: int

    def chat(self) -> Json:
        function = {"name": self.name, "arguments": json.dumps({"number": self.number})}
        return {"id": self.given, "type": "function", "function": function}


@dataclass(frozen=True)
class Answer:
    """One answer of the provider, and in which order the client sends the results."""

    reasoning: str
    text: str
    calls: tuple[Call, ...]
    order: tuple[int, ...]
    streamed: bool


class Client(ABC):
    """Builds requests from the answers that it received."""

    front: Dialect

    def __init__(self) -> None:
        self.history: list[Json] = []

    @abstractmethod
    def request(self) -> Json: ...

    @abstractmethod
    def read(self, answer: Json) -> list[tuple[str, int]]:
        """Store the answer; returns the id and the number of each call in it."""

    @abstractmethod
    def send_result(self, call: str, number: int) -> None: ...

    @abstractmethod
    def final(self, data: bytes) -> Json:
        """The answer in a stream."""


class MessagesClient(Client):
    front = MESSAGES

    def request(self) -> Json:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in NAMES]
        return {"model": "m", "messages": [{"role": "user", "content": "go"}, *self.history], "tools": tools}

    def read(self, answer: Json) -> list[tuple[str, int]]:
        self.history.append({"role": "assistant", "content": answer["content"]})
        uses = [block for block in answer["content"] if block["type"] == "tool_use"]
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", use["id"], re.ASCII) for use in uses)
        return [(use["id"], use["input"]["number"]) for use in uses]

    def send_result(self, call: str, number: int) -> None:
        result = {"type": "tool_result", "tool_use_id": call, "content": f"result {number}"}
        if self.history[-1]["role"] != "user":
            self.history.append({"role": "user", "content": []})
        self.history[-1]["content"].append(result)

    def final(self, data: bytes) -> Json:
        blocks: list[Json] = []
        for event in events(data):
            if event["type"] == "content_block_start":
                blocks.append({**event["content_block"], "pieces": ""})
            elif event["type"] == "content_block_delta" and event["delta"]["type"] != "signature_delta":
                blocks[-1]["pieces"] += next(value for key, value in event["delta"].items() if key != "type")
        for block in blocks:
            pieces = block.pop("pieces")
            if block["type"] == "tool_use":
                block["input"] = json.loads(pieces)
            else:
                block[block["type"]] = pieces
        return {"content": blocks}


class ResponsesClient(Client):
    front = RESPONSES

    def request(self) -> Json:
        tools = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in NAMES]
        items = [{"role": "user", "content": "go"}, *self.history]
        return {"model": "m", "input": items, "tools": tools, "include": ["reasoning.encrypted_content"]}

    def read(self, answer: Json) -> list[tuple[str, int]]:
        calls = [item for item in answer["output"] if item["type"] == "function_call"]
        others = [item for item in answer["output"] if item["type"] != "function_call"]
        self.history += [*calls, *others]  # clients may reorder the items
        return [(call["call_id"], json.loads(call["arguments"])["number"]) for call in calls]

    def send_result(self, call: str, number: int) -> None:
        output = [{"type": "input_text", "text": f"result {number}"}]
        self.history.append({"type": "function_call_output", "call_id": call, "output": output})

    def final(self, data: bytes) -> Json:
        response: Json = events(data)[-1]["response"]
        return response


@st.composite
def conversations(draw: st.DrawFn) -> list[Answer]:
    answers, number = [], 0
    for _ in range(draw(st.integers(1, 4))):
        calls = []
        for _ in range(draw(st.integers(1, 3))):
            name = draw(st.sampled_from(NAMES))
            good = f"functions.{name}:{draw(st.integers(0, 9))}"
            given = draw(st.sampled_from([good, good, "", "call_1", f"{name}:0", "functions--ls--0", "é" * 70]))
            calls.append(Call(given, name, number))
            number += 1
        order = draw(st.permutations(range(len(calls))))
        reasoning, text = draw(st.sampled_from(["", "hm\n", "é"])), draw(st.sampled_from(["", "I look.", '"\\']))
        answers.append(Answer(reasoning, text, tuple(calls), tuple(order), draw(st.booleans())))
    return answers


def completion(answer: Answer) -> Json:
    message = {"role": "assistant", "content": answer.text, "tool_calls": [call.chat() for call in answer.calls]}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    return {**HEAD, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def stream(answer: Answer) -> bytes:
    deltas: list[Json] = [{"reasoning_content": answer.reasoning}] if answer.reasoning else []
    deltas += [{"content": answer.text}] if answer.text else []
    for index, call in enumerate(answer.calls):
        deltas.append({"tool_calls": [{"index": index, **call.chat()}]})
    choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    chunks = [b"data: " + json.dumps({**HEAD, "choices": [choice]}).encode() + b"\n\n" for choice in choices]
    return b"".join(chunks) + b"data: [DONE]\n\n"


def converse(client: Client, model: str, answers: list[Answer]) -> None:
    transformer = KimiTransformer.from_config(model=model)
    sent: list[Json] = []
    given: list[str] = []
    for answer in [*answers, None]:
        request = client.request()
        exchange = transformer.begin(client.front.decode(request))
        before, sent = sent, exchange.request["messages"]
        assert sent[: len(before)] == before  # old messages never change
        check_history(sent, answers, numbered=model == "kimi-k2")
        ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
        for seen, sent_id in zip(ids[len(ids) - len(given) :], given, strict=True):
            assert seen == sent_id or len(sent_id) > 60  # the ids that the client received, unless they are digests
        if answer is None:
            return
        if answer.streamed:
            session = Session(exchange, "text/event-stream", client.front.encoder(request))
            received, given = client.final(session.feed(stream(answer)) + session.close()), []
        else:
            reply = exchange.reply(completion(answer))
            received = client.front.encode(reply, request)
            given = [call["id"] for call in reply["choices"][0]["message"]["tool_calls"]]
        calls = client.read(received)
        assert [number for _, number in calls] == [call.number for call in answer.calls]
        for index in answer.order:
            client.send_result(*calls[index])


def check_history(messages: list[Json], answers: list[Answer], *, numbered: bool) -> None:
    """Every call has a valid id and its reasoning, and each result follows its call."""
    seen: set[str] = set()
    assistants = [message for message in messages if message["role"] == "assistant"]
    for answer, message in zip(answers, assistants, strict=False):
        assert message.get("reasoning_content", "") == answer.reasoning
        assert (message["content"] or "") == answer.text
        calls = message["tool_calls"]
        assert [call["function"]["name"] for call in calls] == [call.name for call in answer.calls]
        for call in calls:
            assert not numbered or re.fullmatch(rf"functions\.{re.escape(call['function']['name'])}:\d+", call["id"])
            assert call["id"] not in seen
            seen.add(call["id"])
        at = messages.index(message)
        results = messages[at + 1 : at + 1 + len(calls)]
        assert [result["tool_call_id"] for result in results] == [call["id"] for call in calls]
        assert [result["content"] for result in results] == [f"result {call.number}" for call in answer.calls]


@pytest.mark.parametrize("model", ["kimi-k2", "kimi-k3"])
@pytest.mark.parametrize("client", [MessagesClient, ResponsesClient])
@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(answers=conversations())
def test_any_conversation_round_trips(client: type[Client], model: str, answers: list[Answer]) -> None:
    converse(client(), model, answers)
