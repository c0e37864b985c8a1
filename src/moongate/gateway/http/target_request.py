"""A client's request as it goes to a target: changed by its chain, with the rules that its refusals have taught."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from moongate.chat.contracts import Dialect, Exchange, Note, TakesLong
from moongate.chat.fast import dumps_known
from moongate.chat.message_tools import with_tools_at_top
from moongate.chat.requested_usage import with_usage_requested
from moongate.errors import BadRequest, GatewayError, NeedsStore
from moongate.fast.requests import forget_request, unshare_tools_for
from moongate.gateway.http.upstream_errors import WrongFront
from moongate.gateway.server.activity import Activity
from moongate.gateway.target import Target
from moongate.native.exchange import NativeExchange
from moongate.payload import JsonObject
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import LearnedRules, RuleTrial
from moongate.switches import FAST
from moongate.wire.json_values import has_no_duplicate_keys
from moongate.wire.threads import let_threads_run

CHAT: Final = "chat"
ANTHROPIC_VERSION: Final = (b"anthropic-version", b"2023-06-01")  # for clients that send none
GUARD_HEADER: Final = b"x-moongate-guard"  # `off`: no guard for this request
IDEMPOTENCY_KEY: Final = b"idempotency-key"
Prepared = tuple[Exchange, bytes]


def decoded(dialect: Dialect, client_request: JsonObject) -> tuple[JsonObject, BadRequest | None]:
    """The chat request, and why it is not all of the client's. Raises BadRequest."""
    try:
        return dialect.decode(client_request), None
    except NeedsStore as error:
        return error.chat, error.without_frames()


class TargetRequest:
    """`prepare_at_once` or `prepare` for each attempt. If it is refused, `answers` says whether another makes sense."""

    __slots__ = (
        *("_activity", "_body", "_client_request", "_front", "_guarded", "_headers", "_is_translated", "_left_out"),
        *("_needs_usage", "_refusal", "_trial", "chat", "is_long", "learned"),
    )

    def __init__(
        self,
        body: bytes,
        client_request: JsonObject,
        dialect: Dialect,
        headers: Mapping[bytes, bytes],
        activity: Activity,
        *,
        is_long: bool,
        needs_usage: bool,
    ) -> None:
        """`headers`: the client's; `needs_usage`: that of a stream, for the gateway's own books."""
        self._activity = activity
        self._body = body
        self._client_request = client_request
        # `_refusal`: why providers of chat completions cannot answer.
        self.chat, self._refusal = decoded(dialect, client_request)
        self._front, self._left_out = dialect.name, dialect.left_out(client_request)
        self._headers = headers
        guard = headers.get(GUARD_HEADER)
        self._guarded = guard is None or guard.strip().lower() != b"off"  # False: the client wants no guard of calls
        self._is_translated = self.chat is not client_request  # else tools inside messages are the client's own
        self._needs_usage = needs_usage and with_usage_requested(self.chat) is not self.chat
        self.is_long = is_long  # work on it is for a thread
        self._trial: RuleTrial | None = None
        self.learned: Sequence[Note] = ()  # the rules that this request has learned

    def prepare_at_once(self, target: Target) -> Prepared | None:
        """The exchange with a target, and the body to send. None: it would block the event loop, so `prepare` it."""
        if target.dialect == CHAT:
            if self._refusal is not None:
                raise self._refusal
            return self._begun_at_once(self._chain(target.learned), target)
        if self.is_long or self._client_request.get("tools"):  # schemas may take long
            return None
        return self._prepare_native(target)

    async def prepare(self, target: Target) -> Prepared:
        """The same in a thread."""
        if target.dialect == CHAT:
            return await self._begun_in_thread(self._chain(target.learned), target)
        return await self._activity.in_thread(self._prepare_native, target)

    def _prepare_native(self, target: Target) -> Prepared:
        """For a provider that speaks the client's own dialect."""
        if target.dialect != self._front:
            raise WrongFront(target.name, target.dialect)
        given = self._client_request
        body = given if given.get("model") == target.model else {**given, "model": target.model}
        exchange = NativeExchange(target.dialect, body, self.chat, target.native_rules)
        return exchange, self._written(exchange.request)

    def _written(self, request: JsonObject) -> bytes:
        """The body for a request; the client's own bytes if nothing was changed."""
        if self.is_long:
            let_threads_run()
        written = dumps_known(request)
        if self.is_long:
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

    def forwarded(self, target: Target, *, further: bool = False) -> list[tuple[bytes, bytes]]:
        """The headers of the client that are sent to the target, or with a `further` try of the guard."""
        headers = self._headers
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
            begun = self._begun_at_once(trial.chain, target) or await self._begun_in_thread(trial.chain, target)
            self._trial = trial
            return begun[0].request != exchange.request
        return False

    def forget(self, exchange: Exchange, *, captured: bool) -> None:
        """The answer has begun: the request, which is as large as many answers, is not sent again."""
        self._body, self.chat, self._client_request, self._refusal = b"", {}, {}, None
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

    def _begun_at_once(self, chain: Chain, target: Target) -> Prepared | None:
        """None: it is for a thread."""
        if self.is_long:
            return None
        try:
            chain = chain if self._guarded else chain.unguarded
            return self._begin(chain.begin_quickly, self._chat_for(chain, target))
        except TakesLong:
            return None

    async def _begun_in_thread(self, chain: Chain, target: Target) -> Prepared:
        chain = chain if self._guarded else chain.unguarded
        return await self._activity.in_thread(self._begin, chain.begin, self._chat_for(chain, target))

    def _chat_for(self, chain: Chain, target: Target) -> JsonObject:
        """The chat request for a target, before its chain changes it."""
        chat = self.chat
        unshare_tools_for(chain, chat)
        if chat.get("model") != target.model:
            chat = {**chat, "model": target.model}
        if self._is_translated and not chain.takes_message_tools:
            chat = with_tools_at_top(chat)
        if self._needs_usage and not chain.streams_usage:
            chat = with_usage_requested(chat)
        return chat

    def _begin(self, begin: Callable[[JsonObject], Exchange], chat: JsonObject) -> Prepared:
        exchange = begin(chat)
        return exchange, self._written(exchange.request)
