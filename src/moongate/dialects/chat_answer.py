"""The content of a chat answer, read the same way from the delta of a chunk and from a whole message."""

from __future__ import annotations

import re
from typing import Any, Final

from moongate.payload import JsonObject, dumps_text

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_MOST: Final = 2**53


class AnswerHead:
    """Who answers: the provider's id of the answer, its model and when it was made."""

    __slots__ = ("created", "id", "model")

    def __init__(self, id: str, model: str, created: int) -> None:  # noqa: A002
        self.id = id
        self.model = model
        self.created = created


class Finish:
    """How the answer ended. `stop` is the stop text that ended it, if the provider sent it."""

    __slots__ = ("reason", "stop", "usage")

    def __init__(self, reason: str, stop: str | None, usage: JsonObject | None) -> None:
        self.reason = reason
        self.stop = stop
        self.usage = usage


class Usage:
    """The provider's token counts. `prompt` includes what was read from the cache (`cached`) and written to it
    (`cache_written`), `completion` includes the reasoning."""

    __slots__ = ("cache_written", "cached", "completion", "prompt", "reasoning")

    def __init__(self, prompt: int, cached: int, cache_written: int, completion: int, reasoning: int) -> None:
        self.prompt = prompt
        self.cached = cached
        self.cache_written = cache_written
        self.completion = completion
        self.reasoning = reasoning


def head_of(payload: JsonObject) -> AnswerHead:
    """Id, model and time of an answer, from its first chunk or from the whole."""
    given, model = payload.get("id"), payload.get("model")
    return AnswerHead(
        given if isinstance(given, str) else "",
        model if isinstance(model, str) else "",
        count_of(payload.get("created")),
    )


def answer_id(head: AnswerHead) -> str:
    """The provider's id of the answer without its prefix, safe everywhere: the root of all ids in the answer."""
    given = head.id.removeprefix("chatcmpl-")
    if given.isascii() and given.isalnum():  # nearly always
        return given
    return _UNSAFE.sub("_", given) or "0"


def usage_of(usage: JsonObject | None) -> Usage:
    """The counts of a chat `usage` object; what is missing counts as nothing."""
    usage = usage or {}
    prompt_details, completion_details = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    details = prompt_details if isinstance(prompt_details, dict) else usage
    reasoning = completion_details.get("reasoning_tokens") if isinstance(completion_details, dict) else 0
    prompt = count_of(usage.get("prompt_tokens"))
    cached = min(count_of(details.get("cached_tokens")), prompt)
    written = min(_cache_written(details) or _cache_written(usage), prompt - cached)
    return Usage(prompt, cached, written, count_of(usage.get("completion_tokens")), count_of(reasoning))


def _cache_written(counts: JsonObject) -> int:
    return count_of(counts.get("cache_write_tokens")) or count_of(counts.get("cache_creation_input_tokens"))


def count_of(value: Any) -> int:
    """A number that cannot be trusted to be one."""
    return int(min(value, _MOST)) if isinstance(value, (int, float)) and value > 0 else 0


def first_choice(payload: JsonObject) -> JsonObject | None:
    """The choice with index 0. The fronts that read this know no other."""
    choices = payload.get("choices")
    if not choices or not isinstance(choices, list):
        return None
    if isinstance(choices[0], dict) and choices[0].get("index") == 0:
        return choices[0]  # nearly always
    for choice in choices:
        if isinstance(choice, dict) and not choice.get("index"):
            return choice
    return None


def reasoning_of(delta: JsonObject) -> str:
    """The reasoning in a delta or message, whatever field the provider uses."""
    text = delta.get("reasoning_content") or delta.get("reasoning")
    if text and isinstance(text, str):
        return text
    details = delta.get("reasoning_details")
    return texts_of(details) if details else ""


def text_of(delta: JsonObject) -> str:
    """The visible text of a delta or message: a string or parts; a refusal counts as text."""
    content = delta.get("content") or delta.get("refusal")
    if isinstance(content, str):
        return content
    return texts_of(content) if content else ""


def texts_of(parts: Any) -> str:
    """The `text` members of a list of parts, joined."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def arguments_of(function: JsonObject) -> str:
    """A call's arguments as JSON text, also where the provider sent an object."""
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else dumps_text(arguments)


def custom_body(call: JsonObject) -> JsonObject:
    """What a call of a custom tool has instead of `function`, in its form: `arguments` is the input. Empty: neither."""
    custom = call.get("custom")
    return {"name": custom.get("name"), "arguments": custom.get("input")} if isinstance(custom, dict) else {}


def stop_of(choice: JsonObject) -> str | None:
    """The stop text that ended the choice: `stop_reason` (vLLM) or `matched_stop` (SGLang), if it is a text."""
    for name in ("stop_reason", "matched_stop"):
        text = choice.get(name)
        if text and isinstance(text, str):
            return text
    return None
