"""Chat messages as the bodies of the other fronts, the way their clients write them."""

from __future__ import annotations

import json

from moongate.payload import JsonObject


def messages_body(messages: list[JsonObject]) -> JsonObject:
    """The body of a request on the messages front."""
    system = "\n".join(message["content"] for message in messages if message["role"] == "system")
    turns: list[JsonObject] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if turns and turns[-1]["role"] == role and message["role"] == "tool":
            turns[-1]["content"] += blocks  # results of one turn are in one message
        else:
            turns.append({"role": role, "content": blocks})
    return {"system": system, "messages": turns, "max_tokens": 9} if system else {"messages": turns, "max_tokens": 9}


def _blocks(message: JsonObject) -> list[JsonObject]:
    if message["role"] == "tool":
        call, content = message["tool_call_id"], message["content"]
        return [{"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": content}]}]
    blocks: list[JsonObject] = []
    if message.get("reasoning_content"):
        blocks.append({"type": "thinking", "thinking": message["reasoning_content"], "signature": ""})
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments})
    return blocks


def responses_body(messages: list[JsonObject]) -> JsonObject:
    """The body of a request on the responses front."""
    return {"input": [item for message in messages for item in _items(message)]}


def _items(message: JsonObject) -> list[JsonObject]:
    if message["role"] == "tool":
        output = {"call_id": message["tool_call_id"], "output": message["content"]}
        return [{"type": "function_call_output", **output}]
    items: list[JsonObject] = []
    if message.get("reasoning_content"):
        text = {"type": "reasoning_text", "text": message["reasoning_content"]}
        items.append({"type": "reasoning", "summary": [], "content": [text]})
    if message.get("content"):
        items.append({"type": "message", "role": message["role"], "content": message["content"]})
    for call in message.get("tool_calls", ()):
        items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
    return items
