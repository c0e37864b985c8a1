"""The gateway that the soak runs: the real server in its own process, plus a page that counts its tasks."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, cast

from tests.support.canary_tap import guard_process

from moongate.cli.serve import connection_limits
from moongate.gateway.config.load import Config, read_config
from moongate.gateway.gateway_factory import GatewayFactory
from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.run import serve
from moongate.gateway.service import Service

TASKS = "/soak/tasks"


class CountingService:
    """A wrapper of a service. Not a subclass, because a compiled service has none."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __call__(self, *asgi: Any) -> Any:
        return self._service(*asgi)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    def handle(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> Coroutine[Any, Any, None]:
        return self._count(writer) if head.path == TASKS else self._service.handle(head, body, length, writer)

    async def _count(self, writer: RequestResponseCycle) -> None:
        """Requests run as eager tasks, which asyncio does not list."""
        count = b"%d" % (len(asyncio.all_tasks()) + len(self._service.gateway.active_requests))
        writer.respond(200, [(b"connection", b"close")], count)


def main(path: Path) -> int:
    def read() -> Config:
        return read_config(path)

    config = read()
    settings = config.settings
    guard_process(config.secrets)
    factory = GatewayFactory(read, lambda each: each.client_keys, config)
    return serve(
        lambda worker: cast(Service, CountingService(Service(factory, worker))),
        host="127.0.0.1",
        port=0,
        workers=settings.workers,
        limits=connection_limits(settings),
        drain=settings.timeouts.drain,
        announce=lambda port: print(f"port {port}", flush=True),
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
