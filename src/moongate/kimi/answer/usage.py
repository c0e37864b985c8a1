"""Token usage at the position where OpenAI's clients read it, in whole answers and chunks (section 9)."""

from __future__ import annotations

from typing import Final

from moongate.kimi.notes import Notes
from moongate.payload import JsonObject

_WRITTEN: Final = "cache_creation_input_tokens"  # Anthropic's name of what OpenAI calls `cache_write_tokens`


def lift_usage(payload: JsonObject, notes: Notes) -> JsonObject:
    """The answer or chunk with its usage at the top level; the same object if nothing changes."""
    usage = payload.get("usage")
    if usage is None:
        choices = payload.get("choices")
        if not isinstance(choices, list):
            return payload
        position = None
        for at, choice in enumerate(choices):
            if isinstance(choice, dict) and choice.get("usage"):
                position = at
        if position is None:
            return payload
        usage = choices[position]["usage"]
        notes.add("usage", f"choices[{position}].usage", usage, "usage")
        payload = {**payload, "choices": [_without_usage(choice) for choice in choices], "usage": usage}
    if isinstance(usage, dict):
        payload = _with_cache_counts(payload, usage, notes)
    return payload


def _without_usage(choice: object) -> object:
    if not isinstance(choice, dict) or not choice.get("usage"):
        return choice
    return {name: value for name, value in choice.items() if name != "usage"}


def _with_cache_counts(payload: JsonObject, usage: JsonObject, notes: Notes) -> JsonObject:
    """The answer with what was read from the cache and written to it where OpenAI has both as well."""
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    copied: JsonObject = {}
    if details.get("cached_tokens") is None and usage.get("cached_tokens") is not None:
        copied["cached_tokens"] = usage["cached_tokens"]
    if details.get("cache_write_tokens") is None:
        for written in (details.get(_WRITTEN), usage.get("cache_write_tokens"), usage.get(_WRITTEN)):
            if written is not None:
                copied["cache_write_tokens"] = written
                break
    if not copied:
        return payload
    for name, count in copied.items():
        notes.add("usage", f"usage.prompt_tokens_details.{name}", None, count)
    return {**payload, "usage": {**usage, "prompt_tokens_details": {**details, **copied}}}
