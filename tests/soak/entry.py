"""The gateway as the soak runs it: the real server in a process of its own, plus one page that counts its tasks."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, cast

from tests.support.canary import guard_process

from moongate.cli.serve import bounds
from moongate.gateway.config.load import Config, read_config
from moongate.gateway.cycle import Cycle
from moongate.gateway.request_reader import Head
from moongate.gateway.server import serve
from moongate.gateway.service import Recipe, Service

TASKS = "/soak/tasks"


class Counted:
    """A service, which may be compiled, so this is no class derived from it."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __call__(self, *asgi: Any) -> Any:
        return self._service(*asgi)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    def enter(self, head: Head, body: bytes | None, length: int | None, outlet: Cycle) -> Coroutine[Any, Any, None]:
        return self._count(outlet) if head.path == TASKS else self._service.enter(head, body, length, outlet)

    async def _count(self, outlet: Cycle) -> None:
        """Visits run as errands, which asyncio does not list."""
        count = b"%d" % (len(asyncio.all_tasks()) + len(self._service.gateway.visits))
        outlet.respond(200, [(b"connection", b"close")], count)


def main(path: Path) -> int:
    def read() -> Config:
        return read_config(path)

    config = read()
    settings = config.settings
    guard_process(config.secrets)
    recipe = Recipe(read, lambda each: each.client_keys, config)
    return serve(
        lambda worker: cast(Service, Counted(Service(recipe, worker))),
        host="127.0.0.1",
        port=0,
        workers=settings.workers,
        bounds=bounds(settings.timeouts, settings.limits),
        drain=settings.timeouts.drain,
        announce=lambda port: print(f"port {port}", flush=True),
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
