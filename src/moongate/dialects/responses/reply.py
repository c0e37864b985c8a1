"""What a Responses answer says about itself: ids, the echo of the request, usage, errors."""

from __future__ import annotations

from typing import Final

from moongate.dialects.answer import Finish, Head, answer_id, usage_of
from moongate.dialects.overflow import as_bad_request, overflow_of
from moongate.errors import GatewayError
from moongate.payload import JsonObject

_INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}

# Codes that clients act on: compact, give up, wait.
_CODES: Final = frozenset({"context_length_exceeded", "insufficient_quota", "invalid_prompt", "rate_limit_exceeded"})


def echo(head: Head, asked: JsonObject) -> JsonObject:
    """The members of a response object that stand from the beginning: the request, as it was understood."""
    model, tools, reasoning = asked.get("model"), asked.get("tools"), asked.get("reasoning")
    reasoning = reasoning if isinstance(reasoning, dict) else {}
    parallel = asked.get("parallel_tool_calls")
    return {
        "id": f"resp_{answer_id(head)}",
        "object": "response",
        "created_at": head.created,
        "background": False,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "metadata": asked.get("metadata") or {},
        "model": model if isinstance(model, str) else head.model,
        "parallel_tool_calls": parallel if isinstance(parallel, bool) else True,
        "previous_response_id": None,
        "prompt_cache_key": asked.get("prompt_cache_key"),
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
        "store": False,
        "temperature": asked.get("temperature"),
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": tools if isinstance(tools, list) else [],
        "top_p": asked.get("top_p"),
        "truncation": "disabled",
    }


def state(
    status: str, *, error: JsonObject | None = None, details: JsonObject | None = None, usage: JsonObject | None = None
) -> JsonObject:
    """The members of a response object that tell how far it has come."""
    return {"status": status, "error": error, "incomplete_details": details, "usage": usage}


def ending(finish: Finish) -> tuple[str, JsonObject | None]:
    """The status of the answer and, if it is incomplete, why."""
    reason = _INCOMPLETE.get(finish.reason)
    return ("completed", None) if reason is None else ("incomplete", {"reason": reason})


def is_cut(reason: str | None) -> bool:
    """Was the last item of the answer cut short?"""
    return reason in _INCOMPLETE


def usage_body(usage: JsonObject | None) -> JsonObject | None:
    """The token counts in the shape of Responses; None if the provider told none."""
    if usage is None:
        return None
    counts = usage_of(usage)
    return {
        "input_tokens": counts.prompt,
        "input_tokens_details": {"cached_tokens": counts.cached, "cache_write_tokens": 0},
        "output_tokens": counts.completion,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.prompt + counts.completion,
    }


def told(error: GatewayError) -> GatewayError:
    """The error as Codex understands it best: a prompt that is too long under the code that makes it compact."""
    overflow = overflow_of(error)
    return error if overflow is None else as_bad_request(error, overflow.message)


def failure_body(error: GatewayError) -> JsonObject:
    """`response.error` of an answer that failed. The code says whether asking again can help."""
    error = told(error)
    if error.code in _CODES:
        code = error.code
    elif error.status == 429:
        code = "rate_limit_exceeded"
    elif error.status < 500 and error.status not in (408, 409):
        code = "invalid_prompt"
    else:
        code = "server_error"
    return {"code": code, "message": str(error)}
