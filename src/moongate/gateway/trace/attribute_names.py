"""The names of attributes: those of OpenTelemetry for generative AI, and our own.

The conventions are still changing. `WIDELY_READ` is what today's tools understand; `NEWEST` is what the conventions
say now, for `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental`. An empty name: the set has none for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OPT_IN: Final = "gen_ai_latest_experimental"

# what it is: (widely read, newest)
GEN_AI: Final[Mapping[str, tuple[str, str]]] = {
    "operation": ("gen_ai.operation.name", "gen_ai.operation.name"),
    "provider": ("gen_ai.system", "gen_ai.provider.name"),
    "model": ("gen_ai.request.model", "gen_ai.request.model"),
    "max_tokens": ("gen_ai.request.max_tokens", "gen_ai.request.max_tokens"),
    "temperature": ("gen_ai.request.temperature", "gen_ai.request.temperature"),
    "top_p": ("gen_ai.request.top_p", "gen_ai.request.top_p"),
    "stream": ("gen_ai.request.stream", "gen_ai.request.stream"),
    "first_chunk": ("gen_ai.server.time_to_first_token", "gen_ai.response.time_to_first_chunk"),
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.input_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.output_tokens"),
    "cached_tokens": ("gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cache_read.input_tokens"),
    "cache_write_tokens": ("gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.cache_creation.input_tokens"),
    "reasoning_tokens": ("gen_ai.usage.reasoning_tokens", "gen_ai.usage.reasoning.output_tokens"),
    "cost": ("gen_ai.usage.cost", ""),
    "input": ("gen_ai.prompt", "gen_ai.input.messages"),
    "output": ("gen_ai.completion", "gen_ai.output.messages"),
}
WIDELY_READ: Final = {what: names[0] for what, names in GEN_AI.items() if names[0]}
NEWEST: Final = {what: names[1] for what, names in GEN_AI.items() if names[1]}

# Of our own, for what no convention has a name.
REQUEST_ID: Final = "moongate.request_id"
CLIENT_NAME: Final = "moongate.client"
FRONT: Final = "moongate.front"
ATTEMPTS: Final = "moongate.attempts"
COST: Final = "moongate.cost_usd"
ROUTE: Final = "moongate.route"
WORTH: Final = "moongate.worth"
DAMAGE: Final = "moongate.damage"
FURTHER: Final = "moongate.further_try"
REPAIR: Final = "moongate.repair"  # the name of an event
