"""The Kimi transformer: frozen, shared by all requests to one model at one host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from moongate.kimi.answer import Answer
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.family import ModelFacts, facts_of
from moongate.kimi.hosts import HostFacts, host_of
from moongate.kimi.ids import Ledger
from moongate.kimi.options import KimiOptions
from moongate.kimi.request import prepare
from moongate.kimi.schema_cache import SchemaCache
from moongate.kimi.watch import gate_of, watched_tokens


@dataclass(frozen=True, slots=True)
class KimiTransformer:
    """Everything Kimi needs, behind one name.

    >>> transformer = KimiTransformer.from_config({"preset": "agent"}, model="kimi-k2-0905")
    >>> exchange = transformer.begin({"model": "kimi-k2-0905", "messages": [{"role": "user", "content": "Hi"}]})
    >>> exchange.reply({"choices": []})
    {'choices': []}
    """

    options: KimiOptions = field(default_factory=KimiOptions)
    model: ModelFacts | None = None  # None: what the options say of a model without a name
    host: HostFacts | None = None
    _facts: tuple[ModelFacts, HostFacts] = field(init=False, repr=False, compare=False)
    _tokens: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _gate: bytes | None = field(init=False, repr=False, compare=False)
    _cache: SchemaCache = field(init=False, repr=False, compare=False)
    _blank: Ledger = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        model = self.model or facts_of("", self.options)
        host = self.host or host_of("", self.options)
        tokens = watched_tokens(model.family, self.options.tool_tokens)
        object.__setattr__(self, "_facts", (model, host))
        object.__setattr__(self, "_tokens", tokens)
        object.__setattr__(self, "_gate", gate_of(tokens))
        object.__setattr__(self, "_cache", SchemaCache())
        object.__setattr__(self, "_blank", Ledger(self.options, model.family))

    @classmethod
    def from_config(
        cls, options: Mapping[str, Any] | None = None, *, model: str, base_url: str = "", path: str = "options"
    ) -> Self:
        """The transformer for a model at a host; `options` are written as in a configuration, in camelCase.

        Raises ConfigError with the path of an unknown or wrong option.
        """
        parsed = KimiOptions.from_config(options, path)
        return cls(parsed, facts_of(model, parsed), host_of(base_url, parsed))

    def begin(self, request: Mapping[str, Any]) -> KimiExchange:
        """An exchange for one request. Raises BadRequest with the path of the culprit."""
        model, host = self._facts
        prepared = prepare(request, self.options, model, host, self._cache, self._blank)
        return KimiExchange(prepared.request, Answer(self.options, model, prepared, self._tokens, self._gate))
