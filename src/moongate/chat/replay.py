"""One completion → the chunks of a stream with the same content: the reverse of `accumulate`."""

from __future__ import annotations

from typing import Any

from moongate.chat.call_grouping import arguments_text, body_of, function_of
from moongate.chat.items import STREAM_MEMBERS, Chunk
from moongate.chat.progress import choice_index
from moongate.payload import JsonObject


def chunks_of(completion: JsonObject, *, summaries: bool = False) -> list[Chunk]:
    """The completion as chunks. With `summaries` the last chunk of a choice with calls carries its message as well.

    Unknown members go into the first chunk, of the answer and of each choice. The usage goes with the last finish
    reason and not into a chunk of its own, since some clients fail on a chunk without choices.
    """
    top: JsonObject = {name: completion[name] for name in STREAM_MEMBERS if name in completion}
    top["object"] = "chat.completion.chunk"
    chunks: list[JsonObject] = []
    choices = completion.get("choices")
    for at, choice in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(choice, dict):
            chunks += [{**top, "choices": [each]} for each in _choice(choice, choice_index(choice, at), summaries)]
    if chunks:
        chunks[0] = {**{name: value for name, value in completion.items() if name != "usage"}, **chunks[0]}
        if completion.get("usage") is not None:
            chunks[-1]["usage"] = completion["usage"]
    return [Chunk.of(each) for each in chunks]


def _choice(choice: JsonObject, index: int, summaries: bool) -> list[JsonObject]:
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    calls = message.get("tool_calls")
    calls = [each for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []
    rest = {name: value for name, value in choice.items() if name not in ("index", "message", "finish_reason")}
    others = {name: value for name, value in message.items() if name != "tool_calls"}
    deltas: list[JsonObject] = [{"role": "assistant", **others}]
    for position, call in enumerate(calls):
        deltas += [{"tool_calls": [entry]} for entry in _call(call, position)]
    choices: list[JsonObject] = [{"index": index, "delta": delta, "finish_reason": None} for delta in deltas]
    choices[0].update(rest)
    last: JsonObject = {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}
    if summaries and calls:
        last["message"] = summary(message.get("content"), calls)
    return [*choices, last]


def _call(call: JsonObject, position: int) -> list[JsonObject]:
    if body_of(call)[0] == "custom":
        return [{"index": position, **call}]
    function = function_of(call)
    arguments = arguments_text(function.get("arguments"))
    first = {"index": position, **call, "function": {**function, "arguments": ""}}
    return [first, {"index": position, "function": {"arguments": arguments}}] if arguments else [first]


def summary(content: Any, calls: list[JsonObject]) -> JsonObject:
    """The message that a finishing chunk carries when calls are assembled (section 7)."""
    return {"role": "assistant", "content": content or None, "tool_calls": calls}
