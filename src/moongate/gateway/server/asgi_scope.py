"""A request as ASGI describes it, for an application that is not called directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.response_writer import EXTENSION, HeaderList, ResponseWriter, Scope

VERSIONS: Final = {"version": "3.0", "spec_version": "2.3"}


class Addresses:
    """The two ends of a client's connection; `info` is the transport's `get_extra_info`."""

    __slots__ = ("_info", "client")

    def __init__(self, client: Any, info: Callable[[str], Any]) -> None:
        self.client = client
        self._info = info

    @property
    def host(self) -> str:
        """The client's address; "" if it has none, as over a Unix socket."""
        return str(self.client[0]) if isinstance(self.client, tuple) else ""

    @property
    def server(self) -> Any:
        return self._info("sockname")

    @property
    def scheme(self) -> str:
        return "https" if self._info("sslcontext") else "http"


async def run_asgi(app: Any, scope: Scope, cycle: RequestResponseCycle) -> None:
    await app(scope, cycle.receive, cycle.send)


def asgi_scope(
    head: RequestHead, headers: HeaderList, addresses: Addresses, state: dict[str, Any], writer: ResponseWriter
) -> Scope:
    """The scope of one request. `state` is the application's own; `writer` is offered as an extension."""
    return {
        "type": "http",
        "asgi": VERSIONS,
        "http_version": "1.1" if head.is_http_1_1 else "1.0",
        "server": addresses.server,
        "client": addresses.client,
        "scheme": addresses.scheme,
        "method": head.method,
        "root_path": "",
        "path": head.path,
        "raw_path": head.raw_path,
        "query_string": head.query,
        "headers": headers,
        "state": state.copy(),
        "extensions": {EXTENSION: writer},
    }
