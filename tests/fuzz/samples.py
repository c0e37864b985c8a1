"""Valid values for a fuzzer to mutate."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

SCHEMA: Row = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    "required": ["command"],
    "$defs": {"A": {"enum": ["a", 1]}},
    "additionalProperties": {"$ref": "#/$defs/A"},
}
TOOL: Row = {"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": SCHEMA}}
CALL: Row = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
REQUEST: Row = {
    "model": "kimi-k2",
    "messages": [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a"},
        {"role": "user", "content": "More."},
    ],
    "tools": [TOOL],
}
CHAT: Row = {
    "model": "kimi-k2",
    "messages": [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [CALL, {**CALL, "id": "b"}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "More."},
    ],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "bash"}},
    "stream": True,
    "stream_options": {"include_usage": True},
    "thinking": {"type": "enabled"},
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}},
    "temperature": 0.6,
    "n": 2,
    "max_tokens": 100,
    "stop": ["x"],
    "reasoning_effort": "high",
}
MESSAGES: Row = {
    "model": "kimi-k2",
    "max_tokens": 1000,
    "system": [{"type": "text", "text": "Be good.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "a"}]},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                {"type": "document", "source": {"type": "text", "data": "x"}, "title": "t"},
                {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "r"}]},
            ],
        },
    ],
    "tools": [
        {"name": "bash", "description": "Runs.", "input_schema": SCHEMA},
        {"type": "bash_20250124", "name": "sh"},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 1000},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    "stop_sequences": ["x"],
    "stream": True,
    "metadata": {"user_id": "u"},
}
RESPONSES: Row = {
    "model": "kimi-k2",
    "instructions": "Be good.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": "u"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "content": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "x"},
        {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "function_call_output", "call_id": "c1", "output": "a"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "b"}]},
        {"type": "local_shell_call_output", "call_id": "c3", "output": "c"},
        {"type": "tool_search_call", "call_id": "c4", "arguments": {}},
        {"type": "tool_search_output", "call_id": "c4", "tools": []},
        {"type": "additional_tools", "tools": [{"type": "function", "name": "late", "parameters": SCHEMA}]},
        {"type": "item_reference", "id": "x"},
    ],
    "tools": [
        {"type": "function", "name": "bash", "parameters": SCHEMA, "strict": True},
        {"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
        {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close"}]},
        {"type": "local_shell"},
        {"type": "tool_search", "execution": "client", "parameters": SCHEMA},
        {"type": "web_search"},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "bash"}]},
    "reasoning": {"effort": "high", "summary": "auto"},
    "text": {"format": {"type": "json_schema", "name": "x", "schema": SCHEMA}},
    "include": ["reasoning.encrypted_content"],
    "parallel_tool_calls": True,
    "max_output_tokens": 100,
    "stream": True,
    "store": False,
}
CHUNK: Row = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": "assistant",
                "content": "a<|tool_calls_section_begin|>",
                "reasoning_content": "Hm.",
                "tool_calls": [{"index": 0, **CALL}, {"index": 1, "id": "functions.bash:0", "function": {}}],
            },
            "finish_reason": "tool_calls",
            "logprobs": {"content": [{"token": "a"}]},
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
}
REPLY: Row = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "a<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
                "reasoning_content": "Hm.",
                "tool_calls": [CALL],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
}
CONFIG: Row = {
    "$schema": "./schema.json",
    "providers": [
        {
            "name": "moonshot",
            "api_base_url": "https://api.moonshot.ai/v1",
            "api_key": ["$KEY", {"key": "second-key", "concurrency": 3}],
            "models": ["kimi-k2", {"name": "kimi-k3", "alias": "k3", "fallback": ["vllm,kimi-k2"], "options": {}}],
            "transformer": {"use": [["Kimi", {"preset": "agent"}]], "kimi-k3": {"use": ["Kimi"]}},
            "headers": {"x-team": "a"},
            "forward_headers": ["x-trace"],
            "proxy": "http://proxy:3128",
        },
        {"name": "vllm", "api_base_url": "http://127.0.0.1:8000", "models": ["kimi-k2"]},
    ],
    "host": "127.0.0.1",
    "port": 3000,
    "workers": 2,
    "api_keys": [{"key": "client-key", "name": "laptop", "rate": 60, "concurrency": 4}],
    "allowed_hosts": ["gate.example"],
    "default": "moonshot,kimi-k2",
    "aliases": {"claude-*": "moonshot,kimi-k3"},
    "timeouts": {"connect": 1, "head": 2.5},
    "limits": {"request_body": 1048576, "in_flight": 10},
    "retries": {"retries": 1, "backoff": 0.1},
    "log": {"format": "json", "bodies": False},
    "watch": True,
}


def words_of(*samples: Any) -> list[str]:
    """Every key and every text of the samples."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value)
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)
        elif isinstance(value, str):
            found.add(value)

    walk(list(samples))
    return sorted(found)
