"""The models that one transport has talked to, each at its host, with what its refusals have taught."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import Any, Final

from moongate import KimiTransformer
from moongate.chat.contracts import Exchange, Note
from moongate.kimi.options import KimiOptions
from moongate.payload import JsonObject
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import LearnedRules, RuleTrial

MAX_TARGETS: Final = 256  # models × hosts that are remembered; then all are forgotten


class KimiTargets:
    """Shared by the requests of one transport, also in several threads."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        KimiOptions.from_config(options, "options")  # raises ConfigError now, not with the first request
        self._options = dict(options)
        self._lock = Lock()
        self._found: dict[tuple[str, str], LearnedRules] = {}

    def target(self, model: str, base_url: str) -> TargetRules:
        """The rules for a model at a host."""
        with self._lock:
            known = self._found.get((model, base_url))
            if known is None:
                if len(self._found) >= MAX_TARGETS:
                    self._found.clear()
                made = KimiTransformer.from_config(self._options, model=model, base_url=base_url)
                known = self._found[model, base_url] = LearnedRules(Chain([made]))
            return TargetRules(known, self._lock)


class TargetRules:
    """The rules of one request: those that are remembered, then those that its own refusals turn on."""

    __slots__ = ("_lock", "_memory", "_trial", "chain")

    def __init__(self, memory: LearnedRules, lock: Lock) -> None:
        self._memory = memory
        self._lock = lock
        self._trial: RuleTrial | None = None
        self.chain = memory.chain(monotonic())

    def answer(self, refusal: str, request: JsonObject, refused: Exchange) -> Exchange | None:
        """The exchange to send after a 400 with this message; None if no rule answers it or changes the request."""
        with self._lock:
            trial = self._trial or RuleTrial(self._memory, monotonic())
            if not trial.answer(refusal):
                return None
            self._trial = trial
        exchange = trial.chain.begin(request)
        return None if exchange.request == refused.request else exchange

    def accepted(self) -> list[Note]:
        """The provider has accepted the request: what was on trial is remembered."""
        with self._lock:
            return [] if self._trial is None else self._trial.accepted(monotonic())
