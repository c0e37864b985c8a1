"""A client's request as it goes to a target: changed by its chain, with the rules that its refusals have taught."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from moongate.chat.asked_usage import with_usage_asked
from moongate.chat.contracts import Exchange, Note, TakesLong
from moongate.chat.message_tools import with_tools_at_top
from moongate.errors import GatewayError
from moongate.gateway.routing.learned_rules import LearnedRules, RuleTrial
from moongate.gateway.server.activity import Activity
from moongate.gateway.target import Target
from moongate.payload import JsonObject, dumps
from moongate.pipeline.chain import Chain
from moongate.wire.json_values import has_no_duplicate_keys

# Bytes of a body from which on it is read and transformed in a thread: the loop serves others meanwhile, and waits for
# the GIL only as long as one call of the JSON parser takes.
OFFLOAD_BYTES: Final = 256 * 1024

GUARD_HEADER: Final = b"x-moongate-guard"  # `off`: no guard for this request
IDEMPOTENCY_KEY: Final = b"idempotency-key"


class TargetRequest:
    """`prepare` for each attempt. If it is refused, `answers` says whether another attempt makes sense."""

    __slots__ = (
        *("_activity", "_body", "_chat", "_client_request", "_guarded", "_is_translated", "_needs_usage", "_trial"),
        "learned",
    )

    def __init__(
        self,
        body: bytes,
        client_request: JsonObject,
        chat: JsonObject,
        activity: Activity,
        *,
        needs_usage: bool = False,
        guarded: bool = True,
    ) -> None:
        self._activity = activity
        self._body = body
        self._client_request = client_request
        self._chat = chat
        self._guarded = guarded  # False: the client wants no guard of calls
        self._is_translated = chat is not client_request  # else tools inside messages are the client's own
        self._needs_usage = needs_usage and with_usage_asked(chat) is not chat  # for the gateway's own books
        self._trial: RuleTrial | None = None
        self.learned: Sequence[Note] = ()  # the rules that this request has learned

    async def prepare(self, target: Target) -> tuple[Exchange, bytes]:
        """The exchange with a target, and the body to send."""
        exchange, body = await self._begun(self._chain(target.learned), target)
        if exchange.request is self._client_request and has_no_duplicate_keys(self._body, body):
            body = self._body  # nothing was changed
        return exchange, body

    def asks_usage(self, target: Target) -> bool:
        """Whether the target is asked for the usage of its stream although the client has not asked for it."""
        return self._needs_usage and not self._chain(target.learned).streams_usage

    def forwarded(
        self, target: Target, headers: Mapping[bytes, bytes], *, further: bool = False
    ) -> list[tuple[bytes, bytes]]:
        """The headers of the client that are sent to the target, or with a `further` try of the guard."""
        if target.forwarded.isdisjoint(headers):
            return []
        names = headers.keys() & target.forwarded
        if further or self._trial is not None:  # the key belongs to the body of the first try
            names.discard(IDEMPOTENCY_KEY)
        return [(name, headers[name]) for name in names]

    async def answers(self, target: Target, exchange: Exchange, refusal: GatewayError) -> bool:
        """Whether there is a rule against this refusal that was not on, and that changes the request."""
        if refusal.status != 400:
            return False
        trial = self._trial
        if trial is None or trial.memory is not target.learned:
            trial = RuleTrial(target.learned, monotonic())
        if not trial.answer(refusal.message):
            return False
        with suppress(GatewayError):  # the rule refuses the request: the provider's own words say more
            changed, _ = await self._begun(trial.chain, target)
            self._trial = trial
            return changed.request != exchange.request
        return False

    def accepted(self, target: Target) -> None:
        """The target has accepted the request: what was on trial is remembered."""
        if self._trial is None or self._trial.memory is not target.learned:
            return
        self.learned = self._trial.accepted(monotonic())
        for note in self.learned:
            labels = {"rule": str(note.after), "provider": target.provider, "model": target.model}
            target.metrics.count("moongate_learned_rules_total", **labels)
            target.signals.learned(target.name, str(note.after))

    def _chain(self, learned: LearnedRules) -> Chain:
        trial = self._trial
        return trial.chain if trial is not None and trial.memory is learned else learned.chain(monotonic())

    async def _begun(self, chain: Chain, target: Target) -> tuple[Exchange, bytes]:
        chain = chain if self._guarded else chain.unguarded
        chat = self._chat if self._chat.get("model") == target.model else {**self._chat, "model": target.model}
        if self._is_translated and not chain.takes_message_tools:
            chat = with_tools_at_top(chat)
        if self._needs_usage and not chain.streams_usage:
            chat = with_usage_asked(chat)
        if len(self._body) <= OFFLOAD_BYTES:
            with suppress(TakesLong):
                return _begin(chain.begin_quickly, chat)
        return await self._activity.in_thread(_begin, chain.begin, chat)


def _begin(begin: Callable[[JsonObject], Exchange], chat: JsonObject) -> tuple[Exchange, bytes]:
    exchange = begin(chat)
    return exchange, dumps(exchange.request)
