"""The turn of a coding agent: its whole history, with ids of another provider, and sixty real tools, on every front.

A history is made of steps (user, assistant with a call, tool result). The results are padded until the chat body has
the wanted size, so that a size names the same conversation on each front; the other fronts' bodies differ by their
framing alone. No two results are the same text, and no two requests of a run are: whatever a gateway remembers of a
history helps here only as far as it would help an agent.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any

from tests.schemas import real_tools

FRONTS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}
TOOLS = 60
HEADLINE = 326  # KB: 200 messages; the turn that the tables lead with
SIZES = (100, HEADLINE, 400, 1500)  # KB of the chat body
SOURCE = "def read(path: str) -> str:\n    with open(path) as file:\n        return file.read()\n\n"
REVISION = "revision 00000000"  # in every tool's schema; a driver that counts here makes all tools new
NEWEST = "step 00000000"  # in the last message, counted in every row: no two turns of an agent are the same
RULES = {"preset": "agent", "schemaRules": "always"}  # Kimi's options for every turn

Json = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """One way to ask for the same turn: how it is answered, with which tools, and which options are on.

    A further option that a turn should be measured with (`guard`, say) is one more row of VARIANTS.
    """

    name: str
    answer: str = "text-100-5"  # the fake provider's model
    cold: bool = False  # every request brings tools that were never seen before
    options: Json = field(default_factory=dict)  # of the Kimi transformer, beside RULES

    @property
    def provider(self) -> str:
        """The name in moongate's configuration of the provider that has these options."""
        return "turn-" + "-".join(self.options) if self.options else "turn"


PLAIN = Variant("streamed text")
VARIANTS = (
    PLAIN,
    Variant("new tools", cold=True),
    Variant("native call", answer="call-100-5"),
    Variant("marker call", answer="marked-100-5"),
    Variant("native call, guard", answer="call-100-5", options={"guard": "retry"}),
)


def called_tool() -> Json:
    """The one that histories and answers call: under the guard a call of another tool would be asked for again."""
    kinds = {"path": "string", "offset": "integer", "limit": "integer"}
    properties = {name: {"type": kind} for name, kind in kinds.items()}
    parameters = {"type": "object", "properties": properties, "required": ["path"]}
    return {"type": "function", "function": {"name": "read_file", "description": "Read.", "parameters": parameters}}


@functools.cache
def tools() -> tuple[Json, ...]:
    """Sixty tools, as chat has them: the one that is called, the others of published packages."""
    found: dict[str, Json] = {}
    for tool in (called_tool(), *real_tools()):
        found.setdefault(tool["function"]["name"], tool)
    taken = list(found.values())[:TOOLS]
    for tool in taken:
        tool["function"]["parameters"] = {**tool["function"]["parameters"], "description": REVISION}
    return tuple(taken)


def messages_of(size: int) -> int:
    """How many messages a turn of so many KB has: 200 at the headline's size, and always steps of three."""
    history_share = (size - 64) / (HEADLINE - 64)  # the tools take 64 KB
    return 2 + 3 * max(1, round(66 * history_share))


def history(count: int, result: str) -> list[Json]:
    """`count` messages with calls whose ids Kimi does not know; every tool result is its number and `result`."""
    messages_so_far: list[Json] = [{"role": "system", "content": "You are a careful engineer. " * 20}]
    for step in range((count - 2) // 3):
        function = {"name": "read_file", "arguments": written({"path": f"src/package/module_{step}.py"})}
        call = {"id": f"toolu_{step:024x}", "type": "function", "function": function}
        messages_so_far += [
            {"role": "user", "content": "And what does the next one do? " * 5},
            {"role": "assistant", "content": "I read it first.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"# module {step:06}\n{result}"},
        ]
    return [*messages_so_far, {"role": "user", "content": f"Now change it, please: {NEWEST}."}]


@functools.cache
def conversation(size: int) -> list[Json]:
    """The history of a turn whose chat body has `size` KB."""
    count = messages_of(size)
    empty = len(written(chat("turn/text-100-5", history(count, ""))))
    missing = max(0, size * 1000 - empty) // ((count - 2) // 3)
    line = len(json.dumps(SOURCE)) - 2  # as it is written, escapes included
    return history(count, SOURCE * (missing // line) + "x" * (missing % line))


def written(body: Json) -> str:
    return json.dumps(body, separators=(",", ":"))


def chat(model: str, history: list[Json]) -> Json:
    return {"model": model, "messages": history, "tools": list(tools()), "stream": True}


def messages(model: str, history: list[Json]) -> Json:
    """The same for Anthropic's front: calls and results are blocks, results stand in user messages."""

    def message(each: Json) -> Json:
        if each["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": each["tool_call_id"], "content": each["content"]}
            return {"role": "user", "content": [block]}
        if "tool_calls" not in each:
            return {"role": each["role"], "content": [{"type": "text", "text": each["content"]}]}
        blocks: list[Json] = [{"type": "text", "text": each["content"]}]
        for call in each["tool_calls"]:
            given = json.loads(call["function"]["arguments"])
            blocks.append({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": given})
        return {"role": "assistant", "content": blocks}

    offered = [
        {"name": f["name"], "description": f.get("description", ""), "input_schema": f["parameters"]}
        for f in (tool["function"] for tool in tools())
    ]
    system = [{"type": "text", "text": history[0]["content"]}]
    turns = [message(each) for each in history[1:]]
    return {"model": model, "max_tokens": 8192, "system": system, "messages": turns, "tools": offered, "stream": True}


def responses(model: str, history: list[Json]) -> Json:
    """The same for OpenAI's responses front: calls and results are items beside the messages."""
    items: list[Json] = []
    for each in history[1:]:
        if each["role"] == "tool":
            items.append({"type": "function_call_output", "call_id": each["tool_call_id"], "output": each["content"]})
            continue
        kind = "output_text" if each["role"] == "assistant" else "input_text"
        part = {"type": kind, "text": each["content"]}
        items.append({"type": "message", "role": each["role"], "content": [part]})
        items += [
            {"type": "function_call", "call_id": call["id"], **call["function"]} for call in each.get("tool_calls", [])
        ]
    offered = [{"type": "function", "strict": False, **tool["function"]} for tool in tools()]
    instructions = history[0]["content"]
    return {
        "model": model,
        "instructions": instructions,
        "input": items,
        "tools": offered,
        "store": False,
        "stream": True,
    }


def body(front: str, size: int, model: str) -> str:
    """The request of a turn of `size` KB, as a client of this front writes it."""
    made = {"chat": chat, "messages": messages, "responses": responses}[front]
    return written(made(model, conversation(size)))
