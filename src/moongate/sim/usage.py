"""What an answer costs: token counts that add up over a conversation, four characters to a token.

The prompt is counted part by part (each message, the tools, the format), so a prompt that has grown by some messages
has grown by just their tokens. The cache is one by prefix: what stood before the last answer was in the prompt of the
request before, and is read from the cache; the rest is written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.payload import JsonObject, dumps
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimAnswer
from moongate.sim.thinking import EFFORT_GENERATIONS, thinks

CHARS_PER_TOKEN: Final = 4
CACHE_BLOCK: Final = 16  # the cache holds whole blocks of tokens
EFFORT_TOKENS: Final = 12  # of the system text that tells the model its effort
OPENING_TOKENS: Final = 3  # of the answer's opened channel
CACHE_WRITE_FIELDS: Final = {
    # place → (inside prompt_tokens_details, name)
    "details": (True, "cache_write_tokens"),
    "top": (False, "cache_write_tokens"),
    "creation": (False, "cache_creation_input_tokens"),
    "creation-details": (True, "cache_creation_input_tokens"),
}


def usage_of(request: JsonObject, answers: Sequence[SimAnswer], behaviour: Behaviour) -> JsonObject:
    """The `usage` object of an answer."""
    prompt, known = prompt_tokens(request, behaviour)
    output = max(1, sum(_tokens_of_answer(answer) for answer in answers))
    cached = known - known % CACHE_BLOCK
    written = prompt - prompt % CACHE_BLOCK - cached
    usage: JsonObject = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    details: JsonObject = {}
    # Moonshot puts it directly into usage, the other hosts where OpenAI does.
    (usage if behaviour.host == "moonshot" else details)["cached_tokens"] = cached
    place = behaviour.cache_writes or ("top" if behaviour.host == "moonshot" and behaviour.generation == "k3.1" else "")
    if place:
        inside, name = CACHE_WRITE_FIELDS[place]
        (details if inside else usage)[name] = written
    if details:
        usage["prompt_tokens_details"] = details
    return usage


def prompt_tokens(request: JsonObject, behaviour: Behaviour) -> tuple[int, int]:
    """The tokens of the prompt, and how many of them were in the prompt of the request before."""
    start = OPENING_TOKENS + sum(_tokens(request[key]) for key in ("tools", "response_format") if request.get(key))
    if behaviour.generation in EFFORT_GENERATIONS and thinks(request, behaviour):
        start += EFFORT_TOKENS
    total, known = start, 0
    for message in request.get("messages") or []:
        if isinstance(message, dict) and message.get("role") == "assistant":
            known = total
        total += _tokens(message)
    return total, known


def _tokens_of_answer(answer: SimAnswer) -> int:
    chars = len(answer.text) + len(answer.reasoning) + sum(len(call.name + call.arguments) for call in answer.calls)
    return -(-chars // CHARS_PER_TOKEN)


def _tokens(value: object) -> int:
    return -(-len(dumps(value)) // CHARS_PER_TOKEN)
