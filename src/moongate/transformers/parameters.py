"""Transformers of the request's parameters. The answer passes them as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Exchange
from moongate.chat.requested_usage import with_usage_requested
from moongate.errors import ConfigError
from moongate.payload import JsonObject
from moongate.transformers.options import Configured, is_count, is_number, option

_LIMITS: Final = ("max_tokens", "max_completion_tokens")
# What the client and its front decide: an operator's parameter in their place would break the answer.
_NOT_PARAMETERS: Final = frozenset({"messages", "model", "stream", "tools"})


def _capped(request: JsonObject, limit: int) -> JsonObject:
    """The request with no token limit above `limit`. One that states none is left alone."""
    lower = {name: limit for name in _LIMITS if type(request.get(name)) in (int, float) and request[name] > limit}
    return {**request, **lower} if lower else request


@dataclass(frozen=True, slots=True)
class StreamOptionsTransformer(Configured):
    """`streamoptions`: a stream is asked for its token usage, whether the client asks or not."""

    def begin(self, request: JsonObject) -> Exchange:
        return BaseExchange(with_usage_requested(request))


@dataclass(frozen=True, slots=True)
class MaxTokenTransformer(Configured):
    """`maxtoken`: no answer may be longer than this.

    >>> MaxTokenTransformer(100).begin({"messages": [], "max_tokens": 4096}).request
    {'messages': [], 'max_tokens': 100}
    """

    max_tokens: int = option(8192, is_count, "the highest limit that leaves; a lower one of the client's stays")

    def begin(self, request: JsonObject) -> Exchange:
        return BaseExchange(_capped(request, self.max_tokens))


@dataclass(frozen=True, slots=True)
class MaxCompletionTokensTransformer(Configured):
    """`maxcompletiontokens`: `max_tokens` leaves as `max_completion_tokens`, unless the client sent that too."""

    def begin(self, request: JsonObject) -> Exchange:
        if "max_tokens" not in request:
            return BaseExchange(request)
        limit = request["max_tokens"]
        rest = {name: value for name, value in request.items() if name != "max_tokens"}
        if limit is not None and rest.get("max_completion_tokens") is None:
            rest["max_completion_tokens"] = limit
        return BaseExchange(rest)


@dataclass(frozen=True, slots=True)
class SamplingTransformer(Configured):
    """`sampling`: what the configuration sets is sent in place of the client's own."""

    max_tokens: int | None = option(None, is_count, "the highest token limit that leaves, as in `maxtoken`")
    temperature: float | None = option(None, is_number, "sent instead of the client's")
    top_p: float | None = option(None, is_number, "sent instead of the client's")
    top_k: int | None = option(None, is_count, "sent instead of the client's")
    repetition_penalty: float | None = option(None, is_number, "sent instead of the client's")

    def begin(self, request: JsonObject) -> Exchange:
        if self.max_tokens is not None:
            request = _capped(request, self.max_tokens)
        given = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "repetition_penalty": self.repetition_penalty,
        }
        news = {name: value for name, value in given.items() if value is not None and request.get(name) != value}
        return BaseExchange({**request, **news} if news else request)


@dataclass(frozen=True, slots=True)
class CustomParamsTransformer:
    """`customparams`: its options are members of the request. What the client sent itself wins; objects are merged.

    >>> route = CustomParamsTransformer({"provider": {"sort": "price", "only": ["x"]}})
    >>> route.begin({"messages": [], "provider": {"sort": "latency"}}).request["provider"]
    {'sort': 'latency', 'only': ['x']}
    """

    parameters: Mapping[str, Any]

    @classmethod
    def from_config(cls, options: Mapping[str, Any] | None = None, path: str = "options") -> Self:
        """The transformer that adds these members. Raises ConfigError for those that only the client decides."""
        for name in options or {}:
            if name in _NOT_PARAMETERS:
                raise ConfigError(f"{name!r} is the client's to decide", path=f"{path}.{name}" if path else name)
        return cls(dict(options or {}))

    def begin(self, request: JsonObject) -> Exchange:
        return BaseExchange(_filled(request, self.parameters))


def _filled(own: JsonObject, more: Mapping[str, Any]) -> JsonObject:
    """`own` with the members of `more` that it lacks; the same object if it lacks none."""
    news: JsonObject = {}
    for name, value in more.items():
        if own.get(name) is None:
            news[name] = value
        elif isinstance(own[name], dict) and isinstance(value, dict):
            merged = _filled(own[name], value)
            if merged is not own[name]:
                news[name] = merged
    return {**own, **news} if news else own
