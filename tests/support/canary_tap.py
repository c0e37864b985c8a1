"""A gateway's protocol whose every sent byte is searched for secrets (see `canary`)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from tests.support.canary import MARK, Watch

from moongate.gateway.server.protocol import ClientProtocol


def tapped(watch: Watch) -> Callable[..., Any]:
    """Makes the gateway's protocol, with every byte that it writes searched."""
    return partial(_Tapped, watch)


class _Tapped:
    """A protocol, which may be compiled, so this is no class derived from it."""

    def __init__(self, watch: Watch, *args: Any, **named: Any) -> None:
        self._watch = watch
        self._protocol = ClientProtocol(*args, **named)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._protocol.connection_made(_Tap(transport, self._watch))  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)


class _Tap:
    """A transport. Two writes may split a secret, so the end of each is searched again with the next."""

    def __init__(self, transport: asyncio.BaseTransport, watch: Watch) -> None:
        self._transport: Any = transport
        self._watch = watch
        self._last = b""

    def write(self, data: bytes) -> None:
        seen = self._last + data
        self._watch.search(seen, "an answer")
        self._last = seen[-self._watch.longest :]
        self._transport.write(data)

    def writelines(self, parts: Iterable[bytes]) -> None:
        self.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def guard_process(secrets: Iterable[str]) -> None:
    """For a gateway in a process of its own: search what it sends from now on, and report on standard error."""
    from moongate.gateway.server import run as server

    watch = Watch(lambda _: print(f"{MARK}a secret is in an answer", file=sys.stderr, flush=True))
    watch.know(secrets)
    assert vars(server)["ClientProtocol"] is ClientProtocol  # the name that is replaced below is the one that is used
    setattr(server, "ClientProtocol", tapped(watch))  # noqa: B010 (a type checker knows that it is a class)
