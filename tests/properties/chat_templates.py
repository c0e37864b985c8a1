"""Chat templates that print conversations the way Kimi's public ones do: what of a request the model sees.

K2 prints a call's id, and only the id, as its header, and the id again over the result. K3 prints names and positions:
ids serve to find the call that a result belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moongate.payload import JsonObject


def k2_prompt(messages: Sequence[JsonObject]) -> str:
    return "".join(map(_k2_message, messages))


def _k2_message(message: JsonObject) -> str:
    role = message["role"]
    text = _text(message.get("content"))
    if role == "tool":
        return f"<|im_system|>tool<|im_middle|>## Return of {message['tool_call_id']}\n{text}<|im_end|>"
    if role == "assistant" and message.get("tool_calls"):
        text = f"<think>{message.get('reasoning_content') or ''}</think>{text}<|tool_calls_section_begin|>"
        for call in message["tool_calls"]:
            text += f"<|tool_call_begin|>{call['id']}<|tool_call_argument_begin|>"
            text += f"{call['function']['arguments']}<|tool_call_end|>"
        text += "<|tool_calls_section_end|>"
    return f"<|im_{role}|>{role}<|im_middle|>{text}<|im_end|>"


def k3_prompt(messages: Sequence[JsonObject]) -> str:
    """Raises KeyError for a result that belongs to no call of the last assistant message with calls."""
    printed: list[str] = []
    calls: dict[str, tuple[int, str]] = {}
    results: list[tuple[int, str]] = []
    for message in messages:
        if message["role"] == "tool":
            position, name = calls[message["tool_call_id"]]
            head = f'<|open|>message role="tool" tool="{name}" index="{position}"<|sep|>'
            results.append((position, f"{head}{_text(message.get('content'))}<|close|>message<|sep|>"))
            continue
        printed += [text for _, text in sorted(results)]
        results = []
        if message.get("tool_calls"):
            # Of equal ids the last one stands, as in any look-up table.
            calls = {call["id"]: (at, call["function"]["name"]) for at, call in enumerate(message["tool_calls"], 1)}
        printed.append(_k3_message(message))
    return "".join([*printed, *(text for _, text in sorted(results))])


def _k3_message(message: JsonObject) -> str:
    text = f'<|open|>message role="{message["role"]}"<|sep|>'
    if message["role"] == "assistant" and message.get("tool_calls"):
        text += f"<|open|>think<|sep|>{message.get('reasoning_content') or ''}<|close|>think<|sep|>"
    text += _text(message.get("content"))
    for at, call in enumerate(message.get("tool_calls") or (), 1):
        text += f'<|open|>call tool="{call["function"]["name"]}" index="{at}"<|sep|>'
        text += f"{call['function']['arguments']}<|close|>call<|sep|>"
    return f"{text}<|close|>message<|sep|>"


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


PROMPTS = {"k2": k2_prompt, "k3": k3_prompt}
