"""How a transport waits: the flow in `call.py` is written once, for blocking and for asynchronous clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


def library_of(request: object) -> ModuleType:
    """httpx or httpx2, whichever made this request, or the class that its class derives from."""
    packages = (each.__module__.partition(".")[0] for each in type(request).__mro__)
    return import_module(next(name for name in packages if name in ("httpx", "httpx2")))


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits: `BlockingIO` blocks instead."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("a coroutine of a blocking transport has waited")


class TransportIO(Protocol):
    """What a call does outside itself. Requests and responses are those of httpx or of httpx2."""

    async def body_of(self, request: Any) -> bytes: ...

    async def send(self, request: Any) -> Any: ...

    def parts(self, response: Any) -> AsyncGenerator[bytes, None]:
        """The body, decoded, as it comes."""
        ...

    async def close(self, response: Any) -> None: ...

    async def compute(self, work: Callable[[], T]) -> T:
        """Work that takes long: in a thread where others wait."""
        ...

    def stream(self, library: Any, parts: AsyncGenerator[bytes, None], close: CloseBody) -> Any:
        """The body of a response."""
        ...


CloseBody = Callable[[], Coroutine[Any, Any, None]]


class BlockingIO:
    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def body_of(self, request: Any) -> bytes:
        body: bytes = request.read()
        return body

    async def send(self, request: Any) -> Any:
        return self._transport.handle_request(request)

    async def parts(self, response: Any) -> AsyncGenerator[bytes, None]:
        for data in response.iter_bytes():
            yield data

    async def close(self, response: Any) -> None:
        response.close()

    async def compute(self, work: Callable[[], T]) -> T:
        return work()

    def stream(self, library: Any, parts: AsyncGenerator[bytes, None], close: CloseBody) -> Any:
        return _blocking_stream(library)(parts, close)


class AsyncIO:
    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def body_of(self, request: Any) -> bytes:
        body: bytes = await request.aread()
        return body

    async def send(self, request: Any) -> Any:
        return await self._transport.handle_async_request(request)

    async def parts(self, response: Any) -> AsyncGenerator[bytes, None]:
        async for data in response.aiter_bytes():
            yield data

    async def close(self, response: Any) -> None:
        await response.aclose()

    async def compute(self, work: Callable[[], T]) -> T:
        from anyio.to_thread import run_sync  # httpx and httpx2 need it, too

        return await run_sync(work)

    def stream(self, library: Any, parts: AsyncGenerator[bytes, None], close: CloseBody) -> Any:
        return _async_stream(library)(parts, close)


# The clients of both libraries insist on streams that derive from a class of their own.


@cache
def _blocking_stream(library: Any) -> Any:
    class BlockingBody(library.SyncByteStream):  # type: ignore[misc]
        def __init__(self, parts: AsyncGenerator[bytes, None], close: CloseBody) -> None:
            self._parts = parts
            self._close = close

        def __iter__(self) -> Any:
            while (data := run_now(_next(self._parts))) is not None:
                yield data

        def close(self) -> None:
            run_now(self._close())

    return BlockingBody


@cache
def _async_stream(library: Any) -> Any:
    class AsyncBody(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, parts: AsyncGenerator[bytes, None], close: CloseBody) -> None:
            self._parts = parts
            self._close = close

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._parts

        async def aclose(self) -> None:
            await self._close()

    return AsyncBody


async def _next(parts: AsyncGenerator[bytes, None]) -> bytes | None:
    return await anext(parts, None)
