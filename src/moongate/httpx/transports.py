"""The two transports: around any other transport of httpx or httpx2."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

from moongate.httpx.call import PATH, KimiCall, OnAnswer
from moongate.httpx.io import AsyncIO, BlockingIO, TransportIO, library_of, run_now
from moongate.httpx.targets import KimiTargets
from moongate.payload import JsonObject, object_of

if TYPE_CHECKING:
    Transport = Any  # so that it fits wherever httpx or httpx2 wants a transport of its own
else:
    Transport = object

AGENT: Final = MappingProxyType({"preset": "agent"})


class KimiTransport(Transport):  # type: ignore[misc]
    """For `httpx.Client` and `httpx2.Client`. `transport` sends; without one, a plain HTTPTransport does.

    `options` are Kimi's options, `on_answer` is called with an AnswerReport when an answer is over. Requests other than
    chat completions pass untouched. Raises ConfigError for a wrong option.
    """

    def __init__(
        self, transport: Any = None, options: Mapping[str, Any] = AGENT, *, on_answer: OnAnswer | None = None
    ) -> None:
        self._targets = KimiTargets(options)
        self._on_answer = on_answer
        self._transport = transport
        self._making = Lock()  # threads share a client

    def handle_request(self, request: Any) -> Any:
        if self._transport is None:
            with self._making:
                self._transport = self._transport or library_of(request).HTTPTransport()
        io = BlockingIO(self._transport)
        return run_now(_handle(io, self._targets, request, self._on_answer))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


class AsyncKimiTransport(Transport):  # type: ignore[misc]
    """The same for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    def __init__(
        self, transport: Any = None, options: Mapping[str, Any] = AGENT, *, on_answer: OnAnswer | None = None
    ) -> None:
        self._targets = KimiTargets(options)
        self._on_answer = on_answer
        self._transport = transport

    async def handle_async_request(self, request: Any) -> Any:
        if self._transport is None:
            self._transport = library_of(request).AsyncHTTPTransport()
        return await _handle(AsyncIO(self._transport), self._targets, request, self._on_answer)

    async def aclose(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.aclose()


async def _handle(io: TransportIO, targets: KimiTargets, request: Any, on_answer: OnAnswer | None) -> Any:
    body = await _chat_request(io, request)
    if body is None:
        return await io.send(request)
    return await KimiCall(io, targets, request, body, on_answer).run()


async def _chat_request(io: TransportIO, request: Any) -> JsonObject | None:
    """The body of a chat completion; None: this is something else, or too odd to be understood."""
    if request.method != "POST" or not request.url.path.endswith(PATH):
        return None
    return object_of(await io.body_of(request))
