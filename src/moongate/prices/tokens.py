"""The tokens of one answer by what they cost, out of the usage object that the provider sent."""

from __future__ import annotations

from typing import Final, NamedTuple

from moongate.payload import JsonObject

MAX_TOKENS: Final = 1 << 40  # a larger number is no count of tokens; sums stay far below 64 bits
BYTES_PER_TOKEN: Final = 3.5  # of a request's JSON: 3.9 was measured for English, 4.4 for code, 6.0 for Chinese
ANSWER_TOKENS: Final = 8192  # of an answer for which the client set no limit


_READ: Final = ("cached_tokens",)
_WRITTEN: Final = ("cache_write_tokens", "cache_creation_input_tokens")
_REASONING: Final = ("reasoning_tokens",)
_BESIDE: Final = frozenset((*_READ, *_WRITTEN))  # where they stand beside the sums


class TokenCounts(NamedTuple):
    """`input` is without what was read from and written to the cache; `reasoning` is a part of `output`."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.cache_read + self.cache_write + self.output

    def plus(self, prompt: int, output: int) -> TokenCounts:
        """With further tokens."""
        return self._replace(input=self.input + prompt, output=self.output + output)


def counts_of(usage: JsonObject | None) -> TokenCounts | None:
    """The counts in a chat completion's `usage`; None if it does not say how much was read and written."""
    if usage is None:
        return None
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(prompt) is not int or type(output) is not int:
        return None
    if not (0 <= prompt <= MAX_TOKENS and 0 <= output <= MAX_TOKENS):
        return None
    details = usage.get("prompt_tokens_details")
    spoken = usage.get("completion_tokens_details")
    if not details and not spoken and _BESIDE.isdisjoint(usage):
        return tuple.__new__(TokenCounts, (prompt, 0, 0, output, 0))  # as `TokenCounts(…)`, without its `__new__`
    read = _first(details, usage, _READ)
    written = _first(details, usage, _WRITTEN)
    reasoning = _first(spoken, usage, _REASONING) if spoken else 0
    read = min(read, prompt)
    written = min(written, prompt - read)
    return TokenCounts(prompt - read - written, read, written, output, min(reasoning, output))


def estimated_prompt(size: int) -> int:
    """The tokens of a prompt whose JSON has so many bytes."""
    return int(size / BYTES_PER_TOKEN) + 1


def answer_limit(request: JsonObject) -> int:
    """The most tokens that the answer to a chat request may have, else what is assumed of it; for all its choices."""
    limit = _count(request.get("max_completion_tokens")) or _count(request.get("max_tokens")) or ANSWER_TOKENS
    choices = _count(request.get("n")) or 1
    return min(limit * choices, MAX_TOKENS)


def _first(details: object, usage: JsonObject, names: tuple[str, ...]) -> int:
    """The first count under one of the names, in the details or beside them; 0 if there is none."""
    if isinstance(details, dict):
        for name in names:
            if found := _count(details.get(name)):
                return found
    for name in names:
        if found := _count(usage.get(name)):
            return found
    return 0


def _count(value: object) -> int | None:
    """A number of tokens; anything else is None. JSON's true is no number."""
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None
