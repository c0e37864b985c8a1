"""One call of a client: the request as it is sent, its refusals, its answer, and the guard's further tries."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any, Final

from moongate import Session
from moongate.chat.contracts import Exchange, TakesLong
from moongate.chat.event_reader import refusal_of
from moongate.chat.items import Failure
from moongate.dialects.openai_chat import CHAT
from moongate.errors import BadUpstream, GatewayError, UpstreamRefused
from moongate.httpx.encoder import SdkEncoder
from moongate.httpx.io import TransportIO, library_of
from moongate.httpx.report import AnswerReport
from moongate.httpx.targets import KimiTargets, TargetRules
from moongate.payload import JsonObject, dumps, object_of
from moongate.pipeline.non_stream import EndWatch, reply_of
from moongate.wire.frames import DOCUMENT_LIMIT

PATH: Final = "/chat/completions"
MAX_ERROR_BODY: Final = 1024 * 1024  # bytes of a refusal that are looked at
# Of the provider's body; the repaired one has others. The idempotency key belongs to the body of the first try.
BODY_HEADERS: Final = frozenset({"content-length", "content-encoding", "transfer-encoding", "content-type"})
OF_FIRST_BODY: Final = frozenset({"content-length", "transfer-encoding", "idempotency-key"})
OnAnswer = Callable[[AnswerReport], None]


class KimiCall:
    """`await run()` gives the response for the client."""

    def __init__(
        self, io: TransportIO, targets: KimiTargets, request: Any, body: JsonObject, on_answer: OnAnswer | None
    ) -> None:
        self._io = io
        self._library: Any = library_of(request)
        self._request = request
        self._body = body
        model = body.get("model")
        self._model = model if isinstance(model, str) else ""
        self._rules: TargetRules = targets.target(self._model, str(request.url).partition(PATH)[0])
        self._on_answer = on_answer
        self._response: Any = None  # the one that is being read
        self._parts: AsyncGenerator[bytes, None] | None = None

    async def run(self) -> Any:
        try:
            self._exchange = await self._begin()
        except GatewayError as error:  # the client's fault: its SDK understands a status, but not our exceptions
            return self._library.Response(error.status, json=CHAT.error(error), request=self._request)
        self._report = AnswerReport(self._model, self._exchange, self._on_answer)
        try:
            response = await self._accepted()
            if response.has_redirect_location:
                return response  # no answer: the client may ask elsewhere
            if response.status_code != 200:
                return self._refused(response)
            if self._body.get("stream") is True:
                return self._streamed(response)
            return await self._whole(response)
        except BaseException:
            self._fail(BadUpstream("the request to the provider has failed"))
            await self._close_response()
            raise

    async def _begin(self) -> Exchange:
        try:
            return self._rules.chain.begin_quickly(self._body)
        except TakesLong:
            return await self._io.compute(lambda: self._rules.chain.begin(self._body))

    async def _accepted(self) -> Any:
        """The first response that is no refusal which a rule answers."""
        exchange: Exchange | None = self._exchange
        while True:
            assert exchange is not None
            response = await self._send(exchange.request)
            if response.status_code == 200:
                self._report.learned = self._rules.accepted()
            if response.status_code != 400:
                return response
            self._response = await self._with_content(response)
            refusal = _message(self._response.content)
            exchange = self._rules.answer(refusal, self._body, self._exchange)
            if exchange is None:
                return self._response
            self._exchange = exchange
            self._report.use(exchange)

    async def _send(self, body: JsonObject) -> Any:
        self._report.requests += 1
        request = self._request
        is_first = self._report.requests == 1
        if body is not self._body or not is_first:
            left_out = OF_FIRST_BODY - {"idempotency-key"} if is_first else OF_FIRST_BODY
            headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() not in left_out]
            request = self._library.Request(
                request.method, request.url, headers=headers, content=dumps(body), extensions=request.extensions
            )
        self._response = response = await self._io.send(request)
        return response

    async def _with_content(self, response: Any) -> Any:
        """The same response with its body read, as far as it is of interest."""
        data = await self._body_of(response, lambda data, _part: len(data) > MAX_ERROR_BODY)
        return self._new_response(response, content=data)

    async def _body_of(self, response: Any, is_enough: Callable[[bytearray, bytes], bool]) -> bytes:
        data = bytearray()
        async with aclosing(self._io.parts(response)) as parts:
            async for part in parts:
                data += part
                if is_enough(data, part):
                    break
        await self._close_response()
        return bytes(data)

    def _refused(self, response: Any) -> Any:
        """A status other than 200: the provider's own words, as they came."""
        response.extensions["moongate"] = self._report
        self._fail(UpstreamRefused("the provider has refused the request", status=response.status_code))
        return response

    def _fail(self, error: GatewayError) -> None:
        self._exchange.feed(Failure(error))
        self._report.finish()

    async def _close_response(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            await self._io.close(response)

    def _new_response(self, response: Any, **body: Any) -> Any:
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in BODY_HEADERS]
        kind = "text/event-stream; charset=utf-8" if "stream" in body else _content_type(response)
        return self._library.Response(
            body.pop("status", response.status_code),
            headers=[*headers, ("content-type", kind or "application/json")],
            extensions={**response.extensions, "moongate": self._report},
            **body,
        )

    # Whole answers.

    async def _whole(self, response: Any) -> Any:
        kind = [("content-type", "application/json")]
        try:
            content = await self._read(response)
        except GatewayError as error:
            self._report.finish()
            body = dumps(CHAT.error(error))
            answer = self._new_response(response, content=body, status=CHAT.map_error(error).status)
            answer.headers.update(kind)
            return answer
        while (further := await self._next_try()) is not None:
            try:
                content = await self._read(further)
            except (GatewayError, self._library.RequestError):
                await self._close_response()  # the best answer so far leaves
        self._report.finish()
        answer = self._new_response(response, content=content)
        answer.headers.update(kind)
        return answer

    async def _read(self, response: Any) -> bytes:
        """The best answer with this one. Raises GatewayError if it is broken."""
        kind = _content_type(response)
        watch = None if kind.startswith("application/json") else EndWatch(kind)
        data = await self._body_of(
            response, lambda data, part: len(data) > DOCUMENT_LIMIT or (watch is not None and watch.feed(part))
        )
        reply, unchanged = reply_of(self._exchange, data, kind)
        return data if unchanged else dumps(reply)

    async def _next_try(self) -> Any | None:
        """The answer to another try, if the guard wants one and it could be had."""
        wanted = self._exchange.next_request()
        if wanted is None:
            return None
        try:
            response = await self._send(wanted)
        except self._library.RequestError:
            return None
        if response.status_code == 200:
            return response
        await self._close_response()
        return None

    # Streamed answers.

    def _streamed(self, response: Any) -> Any:
        session = Session(self._exchange, _content_type(response), SdkEncoder())
        self._parts = self._repaired(response, session)
        return self._new_response(response, stream=self._io.stream(self._library, self._parts, self._close))

    async def _repaired(self, response: Any, session: Session) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self._fed(response, session)) as first:
                async for out in first:
                    yield out
        except self._library.RequestError:
            self._fail(BadUpstream("the connection to the provider has failed"))
            raise
        while session.waiting:
            further = await self._next_try()
            if further is None:
                yield session.settle()
                break
            session.resume(_content_type(further))
            try:
                async with aclosing(self._fed(further, session)) as more:
                    async for out in more:
                        yield out
            except self._library.RequestError:
                yield session.fail(BadUpstream("a further try has failed"))  # an earlier answer leaves
        self._report.finish()

    async def _fed(self, response: Any, session: Session) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._io.parts(response)) as parts:
            async for data in parts:
                out = session.feed(data)
                if out:
                    yield out
                if session.finished or session.waiting:
                    break
        await self._close_response()
        last = session.close()
        if last:
            yield last

    async def _close(self) -> None:
        """The client has read the stream, or leaves."""
        await self._close_response()
        if self._parts is not None:
            with suppress(RuntimeError):  # another task or thread reads still: it gets an error of the connection
                await self._parts.aclose()
        self._report.finish()


def _content_type(response: Any) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind


def _message(content: bytes) -> str:
    """What a provider says in the body of an error."""
    found = object_of(content)
    return "" if found is None else refusal_of(found).message
