"""A client's request as it goes to a target: changed by its chain, with the rules that its refusals have taught."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from moongate.chat.contracts import Dialect, Exchange, Note, TakesLong
from moongate.chat.fast import unshare_tools
from moongate.chat.message_tools import with_tools_at_top
from moongate.chat.requested_usage import with_usage_requested
from moongate.errors import BadRequest, GatewayError, NeedsStore
from moongate.fast.requests import forget_request, takes_shared_tools
from moongate.gateway.http.offload import takes_long
from moongate.gateway.http.upstream_errors import WrongFront
from moongate.gateway.server.activity import Activity
from moongate.gateway.target import Target
from moongate.native.exchange import NativeExchange
from moongate.payload import JsonObject, dumps
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import LearnedRules, RuleTrial
from moongate.switches import FAST
from moongate.wire.json_values import has_no_duplicate_keys
from moongate.wire.threads import let_threads_run

CHAT: Final = "chat"
ANTHROPIC_VERSION: Final = (b"anthropic-version", b"2023-06-01")  # for clients that send none
GUARD_HEADER: Final = b"x-moongate-guard"  # `off`: no guard for this request
IDEMPOTENCY_KEY: Final = b"idempotency-key"


def decoded(dialect: Dialect, client_request: JsonObject) -> tuple[JsonObject, BadRequest | None]:
    """The chat request, and why it is not all of the client's. Raises BadRequest."""
    try:
        return dialect.decode(client_request), None
    except NeedsStore as error:
        return error.chat, error


class TargetRequest:
    """`prepare` for each attempt. If it is refused, `answers` says whether another attempt makes sense."""

    __slots__ = (
        *("_activity", "_body", "_chat", "_client_request", "_front", "_guarded", "_is_translated", "_left_out"),
        *("_needs_usage", "_refusal", "_trial", "is_long", "learned"),
    )

    def __init__(
        self,
        body: bytes,
        client_request: JsonObject,
        chat: JsonObject,
        activity: Activity,
        front: str = CHAT,
        refusal: BadRequest | None = None,
        *,
        left_out: Sequence[Note] = (),
        needs_usage: bool = False,
        guarded: bool = True,
    ) -> None:
        self._activity = activity
        self._front, self._left_out = front, left_out
        self._refusal = refusal  # why providers of chat completions cannot answer
        self._body = body
        self._client_request = client_request
        self._chat = chat
        self._guarded = guarded  # False: the client wants no guard of calls
        self._is_translated = chat is not client_request  # else tools inside messages are the client's own
        self._needs_usage = needs_usage and with_usage_requested(chat) is not chat  # for the gateway's own books
        self.is_long = takes_long(body)  # work on it is for a thread
        self._trial: RuleTrial | None = None
        self.learned: Sequence[Note] = ()  # the rules that this request has learned

    async def prepare(self, target: Target) -> tuple[Exchange, bytes]:
        """The exchange with a target, and the body to send."""
        if target.dialect != CHAT:
            if self.is_long or self._client_request.get("tools"):  # schemas may take long
                return await self._activity.in_thread(self._prepare_native, target)
            return self._prepare_native(target)
        if self._refusal is not None:
            raise self._refusal
        return await self._begun(self._chain(target.learned), target)

    def _prepare_native(self, target: Target) -> tuple[Exchange, bytes]:
        """For a provider that speaks the client's own dialect."""
        if target.dialect != self._front:
            raise WrongFront(target.name, target.dialect)
        given = self._client_request
        body = given if given.get("model") == target.model else {**given, "model": target.model}
        exchange = NativeExchange(target.dialect, body, self._chat, target.native_rules)
        return exchange, self._written(exchange.request)

    def _written(self, request: JsonObject) -> bytes:
        """The body for a request; the client's own bytes if nothing was changed."""
        let_threads_run()
        written = dumps(request)
        let_threads_run()
        if request is self._client_request and has_no_duplicate_keys(self._body, written):
            return self._body
        return written

    def left_out(self, target: Target) -> Sequence[Note]:
        """What of the client's request does not reach the target."""
        return self._left_out if target.dialect == CHAT else ()

    def adds_usage(self, target: Target) -> bool:
        """Whether the target is asked for the usage of its stream although the client has not asked for it."""
        if target.dialect != CHAT:
            return False
        return self._needs_usage and not self._chain(target.learned).streams_usage

    def forwarded(
        self, target: Target, headers: Mapping[bytes, bytes], *, further: bool = False
    ) -> list[tuple[bytes, bytes]]:
        """The headers of the client that are sent to the target, or with a `further` try of the guard."""
        default = [ANTHROPIC_VERSION] if target.dialect == "messages" and ANTHROPIC_VERSION[0] not in headers else []
        if target.forwarded.isdisjoint(headers):
            return default
        names = headers.keys() & target.forwarded
        if further or self._trial is not None:  # the key belongs to the body of the first try
            names.discard(IDEMPOTENCY_KEY)
        return [*default, *((name, headers[name]) for name in names)]

    async def answers(self, target: Target, exchange: Exchange, refusal: GatewayError) -> bool:
        """Whether there is a rule against this refusal that was not on, and that changes the request."""
        if refusal.status != 400 or target.dialect != CHAT:
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

    def forget(self, exchange: Exchange, *, captured: bool) -> None:
        """The answer has begun: the request, which is as large as many answers, is not sent again."""
        self._body, self._chat, self._client_request = b"", {}, {}
        if FAST and not captured:
            forget_request(exchange)

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
        if not takes_shared_tools(chain):
            unshare_tools(self._chat)
        chat = self._chat if self._chat.get("model") == target.model else {**self._chat, "model": target.model}
        if self._is_translated and not chain.takes_message_tools:
            chat = with_tools_at_top(chat)
        if self._needs_usage and not chain.streams_usage:
            chat = with_usage_requested(chat)
        if not self.is_long:
            with suppress(TakesLong):
                return self._begin(chain.begin_quickly, chat)
        return await self._activity.in_thread(self._begin, chain.begin, chat)

    def _begin(self, begin: Callable[[JsonObject], Exchange], chat: JsonObject) -> tuple[Exchange, bytes]:
        exchange = begin(chat)
        return exchange, self._written(exchange.request)
