"""Answers the requests of operators.

Checks in order: Host and Origin, the admin key, the route, the body. Everything that works on the store runs in one
thread beside the event loop.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, TypeVar

from moongate.errors import BadRequest, GatewayError, TooLarge, Unauthorized
from moongate.gateway.admin.route import (
    JSON_TYPE,
    AdminContext,
    AdminRequest,
    AdminResponse,
    AdminRoute,
    Explain,
    RouteTable,
    ShowNodes,
    WrongMethod,
    read_query,
)
from moongate.gateway.admin.routes import ADMIN_ROUTES
from moongate.gateway.admin.store_thread import StoreThread
from moongate.gateway.admin.wrong_keys import DELAY_SECONDS, WrongKeys
from moongate.gateway.http.front_paths import DEFAULT_FRONT
from moongate.gateway.http.host_policy import HostPolicy
from moongate.gateway.http.internal_errors import describe
from moongate.gateway.http.json_body import read_object
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.http.upstream_errors import error_headers
from moongate.gateway.record.access_log import AccessLog
from moongate.gateway.record.log_lines import Entry
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.response_writer import HeaderList, ResponseWriter
from moongate.gateway.store.database import Database
from moongate.gateway.ui.app import UiApp, is_ui_path
from moongate.gateway.ui.request import UiContext, UiSources
from moongate.gateway.ui.sessions import Sessions
from moongate.payload import JsonObject, dumps

MAX_BODY: Final = 64 * 1024
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 10_000
NO_STORE: Final = (b"cache-control", b"no-store")
NO_SNIFF: Final = (b"x-content-type-options", b"nosniff")


Result = TypeVar("Result")
Stream = Callable[[ResponseWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """What a reload may replace."""

    key: str
    hosts: HostPolicy
    redactor: Redactor


class AdminApp:
    """`handle` is for our own server's protocol. `settings` may be replaced at any time."""

    def __init__(
        self,
        settings: AdminSettings,
        metrics: Metrics,
        log: AccessLog,
        store_url: str | None,
        *,
        routes: Sequence[AdminRoute] = ADMIN_ROUTES,
        wrong_key_delay: float = DELAY_SECONDS,
        explain: Explain = lambda _: [],
        ui: UiSources | None = None,
        nodes: ShowNodes = lambda: {"object": "list", "data": [], "shared": None, "has_more": False},
    ) -> None:
        """`store_url` None: there is no store. `ui` None: there are no pages."""
        self.settings = settings
        self._log = log
        self._store = StoreThread(store_url)
        self._context = AdminContext(metrics, self._store.database, explain, nodes)
        self._routes = RouteTable(routes)
        self._wrong_keys = WrongKeys(wrong_key_delay)
        self._count = 0
        self._ui = None if ui is None else self._pages(ui)

    def handle(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> Coroutine[Any, Any, None]:
        return self._run(head, body, length, writer)

    def _pages(self, sources: UiSources) -> UiApp:
        store = self._store

        async def in_store(work: Callable[[Database], Result]) -> Result:
            return await store.run(lambda: work(store.database()))

        path = None if sources.folder is None else sources.folder / "ui-sessions"
        return UiApp(UiContext(sources, in_store), Sessions(path), self._wrong_keys)

    def close(self) -> None:
        self._store.close()

    async def _run(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> None:
        began = time.perf_counter()
        self._count += 1
        request_id = b"admin_%08x" % self._count
        error_text = ""
        stream: Stream | None = None
        try:
            if self._ui is not None and is_ui_path(head.path):
                status, headers, data, stream = await self._page(self._ui, head, body, length, writer)
            else:
                status, headers, data = await self._answer(head, body, length, writer)
        except GatewayError as error:
            error_text = str(error)
            status, headers, data = self._error(error, head.method)
        except Exception as error:  # a bug must neither end the worker nor show its text
            text = describe(error, self.settings.redactor.redact)
            print(f"moongate: internal error in {request_id.decode()}: {text}", file=sys.stderr, flush=True)
            fault = GatewayError("Internal error of the gateway; its output has details", code="internal")
            error_text = str(fault)
            status, headers, data = self._error(fault, head.method)
        headers = [*headers, NO_STORE, NO_SNIFF, (b"x-request-id", request_id)]
        if stream is None or head.method == "HEAD":
            writer.respond(status, headers, data)
        else:
            writer.start(status, headers)
            await stream(writer)
            writer.finish()
        self._log.add(self._entry(head, request_id, status, time.perf_counter() - began, error_text))

    async def _answer(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> AdminResponse:
        self.settings.hosts.check(head.fields)
        address = _address(writer)
        await self._authenticate(head.fields, address)
        route, params = self._routes.find(head.method, head.path)
        query = read_query(head.query, route.query)
        if body is None:
            body = await _received(length, writer)
        request = AdminRequest(f"admin {address}", params, query, _json_body(route, body))
        if not route.uses_store:
            return route.answer(self._context, request)
        return await self._store.run(lambda: route.answer(self._context, request))

    async def _page(
        self, ui: UiApp, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> tuple[int, HeaderList, bytes, Stream | None]:
        self.settings.hosts.check(head.fields)
        if body is None:
            body = await _received(length, writer)
        if len(body) > MAX_BODY:
            raise TooLarge(f"The body is larger than {MAX_BODY} bytes", code="too_large")
        found = await ui.answer(head, body, _address(writer), self.settings.key)
        return found.status, found.headers, found.data, found.stream

    async def _authenticate(self, headers: Mapping[bytes, bytes], address: str) -> None:
        self._wrong_keys.require_turn(address)
        given = headers.get(b"authorization", b"")
        key = given[7:].strip() if given[:7].lower() == b"bearer " else headers.get(b"x-api-key", b"")
        # Digests have equal lengths, so the time of the comparison discloses nothing.
        if compare_digest(sha256(key).digest(), sha256(self.settings.key.encode()).digest()):
            return
        if not key:
            raise Unauthorized("No admin key: send 'Authorization: Bearer KEY'", code="invalid_api_key")
        await self._wrong_keys.delay(address)
        raise Unauthorized("This is not the admin key; client keys are not accepted here", code="invalid_api_key")

    def _error(self, error: GatewayError, method: str) -> AdminResponse:
        self.settings.redactor.redact_error(error)
        found: HeaderList = [JSON_TYPE, *(each for each in error_headers(error, method) if each[0] != b"allow")]
        if isinstance(error, WrongMethod):
            found.append((b"allow", error.allow))
        if isinstance(error, Unauthorized):
            found.append((b"www-authenticate", b"Bearer"))
        return error.status, found, dumps(DEFAULT_FRONT.dialect.error(error))

    def _entry(self, head: RequestHead, request_id: bytes, status: int, seconds: float, error: str) -> Entry:
        return Entry(
            when=time.time(),
            id=request_id,
            client="admin",
            front="",
            method=head.method,
            path=self.settings.redactor.redact(head.path)[:200],
            requested="",
            provider="",
            model="",
            status=status,
            streamed=False,
            first_byte=None,
            duration=seconds,
            usage=None,
            notes={},
            attempts=0,
            error=error,
        )


def _address(writer: RequestResponseCycle) -> str:
    """The client's address, without its port; "" if it has none."""
    peer = writer.protocol.transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else ""


async def _received(length: int | None, writer: RequestResponseCycle) -> bytes:
    """The body of a request. Raises TooLarge."""
    pieces, size, more = [], 0, True
    while more:
        if size > MAX_BODY or (length is not None and length > MAX_BODY):
            raise TooLarge(f"The body is larger than {MAX_BODY} bytes", code="too_large")
        message = await writer.receive()
        if message["type"] == "http.disconnect":
            raise asyncio.CancelledError
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        more = bool(message.get("more_body", False))
    return b"".join(pieces)


def _json_body(route: AdminRoute, body: bytes) -> JsonObject:
    if route.body is None:
        if body.strip():
            raise BadRequest("This path takes no body", code="unexpected_body")
        return {}
    if len(body) > MAX_BODY:
        raise TooLarge(f"The body is larger than {MAX_BODY} bytes", code="too_large")
    if not body and not route.body.get("required"):
        return {}
    return read_object(body, MAX_DEPTH, MAX_VALUES)
