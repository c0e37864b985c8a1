"""Usage is where OpenAI's clients look for it, whole and streamed (section 9)."""

from __future__ import annotations

from typing import Any

from moongate.kimi.notes import Notes
from moongate.payload import JsonObject


def lift_usage(payload: JsonObject, notes: Notes) -> JsonObject:
    """The answer or chunk with its usage at the top; the same object if there is nothing to do."""
    usage = payload.get("usage")
    if usage is None:
        choices = payload.get("choices")
        if not isinstance(choices, list):
            return payload
        place = None
        for at, choice in enumerate(choices):
            if isinstance(choice, dict) and choice.get("usage"):
                place = at
        if place is None:
            return payload
        usage = choices[place]["usage"]
        notes.add("usage", f"choices[{place}].usage", usage, "usage")
        payload = {**payload, "choices": [_without_usage(choice) for choice in choices], "usage": usage}
    cached = with_cached_tokens(usage)
    if cached is not usage:
        notes.add("usage", "usage.prompt_tokens_details.cached_tokens", None, cached["cached_tokens"])
        payload = {**payload, "usage": cached}
    return payload


def _without_usage(choice: Any) -> Any:
    if not isinstance(choice, dict) or not choice.get("usage"):
        return choice
    return {name: value for name, value in choice.items() if name != "usage"}


def with_cached_tokens(usage: Any) -> Any:
    """The usage with `cached_tokens` at OpenAI's place as well; the same object if it is there, or there is none."""
    if not isinstance(usage, dict) or usage.get("cached_tokens") is None:
        return usage
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    if details.get("cached_tokens") is not None:
        return usage
    return {**usage, "prompt_tokens_details": {**details, "cached_tokens": usage["cached_tokens"]}}
