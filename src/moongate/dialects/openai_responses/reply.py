"""The members of a response object beside its output: id, echo of the request, status, usage, error."""

from __future__ import annotations

from typing import Final

from moongate.dialects.chat_answer import AnswerHead, Finish, answer_id, usage_of
from moongate.dialects.overflow import as_bad_request, overflow_of
from moongate.errors import GatewayError
from moongate.payload import JsonObject

_INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}

# Error codes that clients act on: they compact, give up or wait.
_CODES: Final = frozenset({"context_length_exceeded", "insufficient_quota", "invalid_prompt", "rate_limit_exceeded"})


def echo(head: AnswerHead, client_request: JsonObject) -> JsonObject:
    """The members of a response object that are known at the start: id, time, and the fields of the request."""
    model, tools, reasoning = client_request.get("model"), client_request.get("tools"), client_request.get("reasoning")
    reasoning = reasoning if isinstance(reasoning, dict) else {}
    parallel = client_request.get("parallel_tool_calls")
    return {
        "id": f"resp_{answer_id(head)}",
        "object": "response",
        "created_at": head.created,
        "background": False,
        "instructions": client_request.get("instructions"),
        "max_output_tokens": client_request.get("max_output_tokens"),
        "metadata": client_request.get("metadata") or {},
        "model": model if isinstance(model, str) else head.model,
        "parallel_tool_calls": parallel if isinstance(parallel, bool) else True,
        "previous_response_id": None,
        "prompt_cache_key": client_request.get("prompt_cache_key"),
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
        "store": False,
        "temperature": client_request.get("temperature"),
        "text": client_request.get("text") or {"format": {"type": "text"}},
        "tool_choice": client_request.get("tool_choice") or "auto",
        "tools": tools if isinstance(tools, list) else [],
        "top_p": client_request.get("top_p"),
        "truncation": "disabled",
    }


def state(
    status: str, *, error: JsonObject | None = None, details: JsonObject | None = None, usage: JsonObject | None = None
) -> JsonObject:
    """The members of a response object that change as it is made."""
    return {"status": status, "error": error, "incomplete_details": details, "usage": usage}


def ending(finish: Finish) -> tuple[str, JsonObject | None]:
    """The final status and, if it is "incomplete", the details."""
    reason = _INCOMPLETE.get(finish.reason)
    return ("completed", None) if reason is None else ("incomplete", {"reason": reason})


def is_cut(reason: str | None) -> bool:
    """Whether this finish reason means that the last item is truncated."""
    return reason in _INCOMPLETE


def usage_body(usage: JsonObject | None) -> JsonObject | None:
    """The token counts in the format of Responses; None if the provider sent none."""
    if usage is None:
        return None
    counts = usage_of(usage)
    return {
        "input_tokens": counts.prompt,
        "input_tokens_details": {"cached_tokens": counts.cached, "cache_write_tokens": counts.cache_written},
        "output_tokens": counts.completion,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.prompt + counts.completion,
    }


def map_error(error: GatewayError) -> GatewayError:
    """The error for Codex, which compacts its history only if the code says that the prompt is too long."""
    overflow = overflow_of(error)
    return error if overflow is None else as_bad_request(error, overflow.message)


def failure_body(error: GatewayError) -> JsonObject:
    """`response.error` of a failed answer. The code tells clients whether a retry can help."""
    error = map_error(error)
    if error.code in _CODES:
        code = error.code
    elif error.status == 429:
        code = "rate_limit_exceeded"
    elif error.status < 500 and error.status not in (408, 409):
        code = "invalid_prompt"
    else:
        code = "server_error"
    return {"code": code, "message": str(error)}
