"""A prompt that is too long for the model, recognised in the error messages of many providers.

Agents compact their history only if the error is the one that their own vendor sends; each front has its own
(`map_error`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from moongate.errors import BadRequest, BadUpstream, GatewayError

CODE: Final = "context_length_exceeded"

# Too many requests, no money, no rights: these speak of limits and tokens as well, and mean something else.
_OTHER_STATUS: Final = frozenset({401, 402, 403, 404, 408, 429})

_WORDS: Final = re.compile(
    r"context[ _-]?(?:length|window|size|limit)"
    r"|prompt (?:is )?too (?:long|large)"
    r"|(?:max|maximum)[ _](?:model|input|prompt|sequence|seq|allowed)[ _](?:len|length|tokens?)"
    r"|exceed(?:s|ed|ing)? (?:the )?(?:model(?:'s)?|maximum) (?:maximum )?(?:input |prompt )?(?:token|length)"
    r"|longer than the (?:maximum )?(?:model|context|allowed)"
    r"|too many (?:input |prompt )?tokens"
    r"|(?:input|prompt)[ _]?(?:token)?s? (?:length |count )?(?:exceeds|is longer|is too long)"
    r"|reduce the length of the (?:messages|prompt|input)"
    r"|`?inputs`? tokens \+ `?max_new_tokens`? must be",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,_]{2,14}")
_LIMIT: Final = re.compile(
    r"(?:(?:context|model|input) (?:length|window|limit)|token limit|must be|tokens >)\D{0,20}(\d[\d,_]{2,14})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Overflow:
    """How long the prompt was and how long it may be, if the provider sent both."""

    message: str
    asked: int | None = None
    limit: int | None = None


def overflow_of(error: GatewayError) -> Overflow | None:
    """The overflow that a provider's error means, or None if it means anything else."""
    if not isinstance(error, BadUpstream):
        return None
    if error.code != CODE and (error.status in _OTHER_STATUS or not _WORDS.search(error.message)):
        return None
    found = _LIMIT.search(error.message)
    if found is None:
        return Overflow(error.message)
    limit = _whole_number(found[1])
    asked = max([limit, *map(_whole_number, _NUMBER.findall(error.message))])  # v128000 is a limit, but no number
    return Overflow(error.message, asked if asked > limit else None, limit)


def _whole_number(text: str) -> int:
    return int(re.sub(r"[,_]", "", text))


def as_bad_request(error: GatewayError, message: str) -> BadRequest:
    """The overflow in the form that the client's own vendor uses: a 400 with the code."""
    return BadRequest(message, code=CODE, retry_after=error.retry_after)
