"""Words of the log in a sentence: kinds of repairs and of damage, and the reasons of a route's choice."""

from __future__ import annotations

from typing import Final

# Transformers of others have kinds of their own, which stand for themselves.
REPAIRS: Final = {
    "id": "a call had an id of a form that the model does not know",
    "finish_reason": "the answer said that it ends for another reason than it does",
    "markers_parsed": "the model's control tokens stood in the text; they became calls, or were taken out",
    "markers_seen": "the model's control tokens stand in the text; reading them is switched off",
    "history_id": "an earlier call had an id that the model would not recognise",
    "history_message": "the history was not in a form that the provider takes",
    "arguments": "the arguments of a call were not the JSON text that clients read",
    "reasoning": "the thinking stood where clients do not look for it",
    "parameter": "this model or provider does not take the parameter as it was sent",
    "schema": "the provider refuses this form of a tool's schema",
    "tool_name": "the provider does not take this name of a tool; the client gets its own back",
    "usage": "the count of tokens stood elsewhere, or not at all",
    "stream_shape": "the stream was not in the form that clients read",
    "empty_turn": "an empty answer was made one that clients can go on from",
    "call_dropped": "a call could not be used and was left out",
    "guard": "a call did not fit the client's schema: it was mended or asked for again",
    "refusal": "the provider refused the request: it was sent again in a form that it takes",
}

DAMAGE: Final = {
    "cut_call": "the answer broke off within a call",
    "empty_turn": "the answer has neither text nor calls",
    "invalid_json": "the arguments of a call are not JSON",
    "leaked": "the model's control tokens are still visible",
    "missing_call": "the client required a call, and none came",
    "nameless": "a call without a name was left out",
    "schema_mismatch": "the arguments of a call do not fit the tool's schema",
    "unknown_tool": "a call names a tool that the client did not offer",
}

REASONS: Final = {
    "sticky": "the session stays with the target that it had",
    "explore": "a new session that finds out how good a target is by now",
    "fallback": "a target before it had failed",
    "all resting": "all targets rest after failures",
    "order": "the first one that does not rest",
    "weight": "drawn in proportion to the weights",
    "in_flight": "it had the fewest requests in flight",
    "latency": "it is among the fastest",
    "price": "the cheapest of those that are equally good",
    "quality": "its answers are better than those of all others",
    "equal": "among equals the hash of the session decides",
}
