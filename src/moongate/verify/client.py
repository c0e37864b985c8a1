"""Asks a vendor: one request at a time per slot, retries with limits, deadlines for everything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import Final

from moongate.chat.contracts import Exchange, Note
from moongate.errors import BadUpstream, ConfigError, GatewayError
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.http.upstream_errors import may_retry, upstream_error
from moongate.net.client import HttpClient
from moongate.net.contract import Response
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin
from moongate.payload import JsonObject, dumps
from moongate.pipeline.learned_rules import LearnedRules, RuleTrial
from moongate.verify.target import VerifyTarget

MAX_ANSWER: Final = 64 << 20  # bytes
RETRIES: Final = 3  # after the first try
MAX_WAIT: Final = 30.0  # seconds before a retry
_FIRST_WAIT: Final = 0.5
_REJECTED: Final = (401, 403, 404)


@dataclass(frozen=True, slots=True)
class VendorAnswer:
    """The bytes of one answer. `refusal` is the vendor's error, or what came instead of an answer."""

    status: int  # 0: nothing came
    content_type: str
    body: bytes
    first_byte: float  # seconds
    seconds: float
    tries: int = 1
    refusal: GatewayError | None = None

    @property
    def unreachable(self) -> bool:
        """No connection, or no complete answer."""
        return self.status == 0

    @property
    def is_rejected(self) -> bool:
        """The vendor rejects the key, the address or the model (401, 403, 404)."""
        return self.status in _REJECTED


@dataclass(frozen=True, slots=True)
class RepairedExchange:
    """A request as the chain sends it, the vendor's answer, and the rules that refusals have taught on the way."""

    exchange: Exchange
    answer: VendorAnswer
    learned: tuple[Note, ...] = ()


class VendorClient:
    """Of one target. Belongs to one event loop."""

    def __init__(self, target: VerifyTarget, *, timeout: float, retries: int = RETRIES) -> None:
        self.target = target
        self._http = HttpClient(target.origin or Origin.parse(target.endpoint.origin))
        self._retries = retries
        self._deadlines = Deadlines(10, timeout, timeout, timeout, timeout)
        headers = [("Content-Type", "application/json"), *target.headers]
        if target.key:
            headers.append(("Authorization", f"Bearer {target.key}"))
        if target.front == "messages":
            given = {name.lower() for name, _ in target.headers}
            own = [("anthropic-version", "2023-06-01"), ("x-api-key", target.key)]
            headers += [(name, value) for name, value in own if value and name not in given]
        if not target.key.isascii() or not target.key.isprintable():
            raise ConfigError("the key has characters that no key may have", path=target.name)
        self._headers = tuple((name.encode("ascii"), value.encode("ascii")) for name, value in headers)
        self.redact = Redactor(frozenset(filter(None, (target.key, *target.further_keys)))).redact

    def close(self) -> None:
        self._http.close()

    async def ask(self, request: JsonObject) -> VendorAnswer:
        """The answer to a request in the vendor's API. Never raises GatewayError: what went wrong is in the answer."""
        body = dumps(request)
        return await self._tried("POST", self.target.endpoint.path, body)

    async def models(self) -> VendorAnswer:
        """What `GET /models` says."""
        path = self.target.endpoint.path.partition("?")[0].removesuffix(self.target.endpoint.leaf) + "/models"
        return await self._tried("GET", path, b"")

    async def ask_repaired(self, learned: LearnedRules, request: JsonObject) -> RepairedExchange:
        """The same through the chain, with the rules that were learned. Raises BadRequest if the chain refuses it."""
        trial = RuleTrial(learned, monotonic())
        while True:
            exchange = trial.chain.begin(request)
            answer = await self.ask(exchange.request)
            if answer.status != 400 or answer.refusal is None or not trial.answer(answer.refusal.message):
                break
        notes = trial.accepted(monotonic()) if answer.status == 200 else []
        return RepairedExchange(exchange, answer, tuple(notes))

    async def _tried(self, method: str, path: str, body: bytes) -> VendorAnswer:
        tries = 0
        while True:
            tries += 1
            answer = await self._once(method, path, body, tries)
            if answer.refusal is None or tries > self._retries or not may_retry(answer.refusal):
                return answer
            wait = answer.refusal.retry_after
            await asyncio.sleep(min(MAX_WAIT, wait if wait is not None else _FIRST_WAIT * 2 ** (tries - 1)))

    async def _once(self, method: str, path: str, body: bytes, tries: int) -> VendorAnswer:
        started = monotonic()
        first = [0.0]
        status, kind = 0, ""
        try:
            response = await self._http.send(method, path, self._headers, body, deadlines=self._deadlines)
            status, kind = response.status, response.headers.get(b"content-type", b"").decode("latin-1")
            data = await _read(response, first)
        except BadUpstream as error:
            shown = type(error)(self.redact(error.message), status=error.status, code=error.code)
            return VendorAnswer(0, kind, b"", first[0], monotonic() - started, tries, shown)
        refusal = None if status == 200 else upstream_error(status, response.headers, data, self.redact)
        return VendorAnswer(status, kind, data, first[0] - started, monotonic() - started, tries, refusal)


async def _read(response: Response, first: list[float]) -> bytes:
    pieces: list[bytes] = []
    left = MAX_ANSWER

    def take(data: bytes) -> None:
        nonlocal left
        first[0] = first[0] or monotonic()
        left -= len(data)
        if left < 0:
            raise BadUpstream(f"the answer is larger than {MAX_ANSWER >> 20} MiB", code="too_large")
        pieces.append(data)

    await response.pipe(take)
    first[0] = first[0] or monotonic()
    return b"".join(pieces)
