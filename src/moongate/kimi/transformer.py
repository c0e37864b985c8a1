"""The Kimi transformer: frozen, shared by all requests to one model at one host."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Self

from moongate.chat.contracts import Exchange
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.marker_watch import marker_starts
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.generations import ModelFacts, recognise_model
from moongate.kimi.hosts import HostFacts, recognise_host
from moongate.kimi.ids import CallIds
from moongate.kimi.native_rules import NativeRules
from moongate.kimi.options import KimiOptions
from moongate.kimi.property_exchange import PropertyRestoringExchange
from moongate.kimi.refusals import recognise_refusal, with_learned
from moongate.kimi.request.prepare import prepare
from moongate.kimi.request.schema_cache import SchemaCache


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
    fast: bool = True  # whole runs of calls are read at once; the results are the same
    _facts: tuple[ModelFacts, HostFacts] = field(init=False, repr=False, compare=False)
    _tokens: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _marker_starts: str = field(init=False, repr=False, compare=False)
    _cache: SchemaCache = field(init=False, repr=False, compare=False)
    _blank: CallIds = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        model = self.model or recognise_model("", self.options.family)
        host = self.host or recognise_host("", self.options.host)
        tokens = model.family.markers(self.options.tool_tokens)
        object.__setattr__(self, "_facts", (model, host))
        object.__setattr__(self, "_tokens", tokens)
        object.__setattr__(self, "_marker_starts", marker_starts(tokens))
        object.__setattr__(self, "_cache", SchemaCache())
        object.__setattr__(self, "_blank", CallIds(self.options, model.family.id_rule))

    @classmethod
    def from_config(
        cls, options: Mapping[str, Any] | None = None, *, model: str, base_url: str = "", path: str = "options"
    ) -> Self:
        """The transformer for a model at a host; `options` are written as in a configuration, in camelCase.

        Raises ConfigError with the path of an unknown or wrong option.
        """
        parsed = KimiOptions.from_config(options, path)
        return cls(parsed, recognise_model(model, parsed.family), recognise_host(base_url, parsed.host))

    def begin(self, request: Mapping[str, Any]) -> Exchange:
        """An exchange for one request. Raises BadRequest with the path of the culprit."""
        exchange = self.begin_unguarded(request)
        return exchange if self.options.guard == "off" else self._guarded(request, exchange)

    def begin_quickly(self, request: Mapping[str, Any]) -> Exchange:
        """The same, for an event loop. Raises TakesLong if there are many schemas that were not seen before."""
        exchange = self._begin(request, quick=True)
        return exchange if self.options.guard == "off" else self._guarded(request, exchange)

    def begin_unguarded(self, request: Mapping[str, Any]) -> KimiExchange:
        """The same without the guard (section 14)."""
        return self._begin(request)

    @property
    def unguarded(self) -> Self:
        """This transformer with the guard off."""
        return self if self.options.guard == "off" else replace(self, options=replace(self.options, guard="off"))

    def _guarded(self, request: Mapping[str, Any], exchange: KimiExchange) -> Exchange:
        from moongate.kimi.guard.begin import guarded

        again = self.begin_unguarded if self.options.guard == "retry" else None
        return guarded(request, exchange, again, takes_seed=self._facts[1].takes_seed)

    @property
    def native_rules(self) -> NativeRules:
        """What it asks of requests in another API than chat completions."""
        return NativeRules(self.options, *self._facts, self._cache)

    @property
    def takes_message_tools(self) -> bool:
        """Whether the model sees tools that are declared inside messages."""
        return self._facts[0].tools_in_messages

    @property
    def streams_usage(self) -> bool:
        """Whether the host reports the usage of a stream unasked."""
        return self._facts[1].streams_usage

    def recognise_refusal(self, message: str) -> str | None:
        """The name of the rule that answers a provider's refusal (a 400 with this message), or None."""
        return recognise_refusal(message, self.options)

    def with_rules(self, rules: AbstractSet[str]) -> Self:
        """This transformer with rules that were learned from refusals."""
        model, host = with_learned(*self._facts, rules, self.options)
        return replace(self, model=model, host=host)

    def _begin(self, request: Mapping[str, Any], *, quick: bool = False) -> KimiExchange:
        model, host = self._facts
        prepared = prepare(request, self.options, model, host, self._cache, self._blank, quick=quick)
        answer = AnswerContext(self.options, model, prepared, self._tokens, self._marker_starts, self.fast)
        if prepared.names.properties:
            return PropertyRestoringExchange(prepared.request, answer)
        return KimiExchange(prepared.request, answer)


@dataclass(frozen=True, slots=True)
class PlainKimiTransformer(KimiTransformer):
    """The same without shortcuts: what `MOONGATE_FAST=0` chooses."""

    fast: bool = False
