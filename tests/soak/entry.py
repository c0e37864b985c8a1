"""The gateway as the soak runs it: the real server in a process of its own, plus one page that counts its tasks."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from tests.support.canary import guard_process

from moongate.cli.serve import bounds
from moongate.gateway.config.load import Config, read_config
from moongate.gateway.server import serve
from moongate.gateway.service import Recipe, Service

TASKS = "/soak/tasks"


class Counted(Service):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != TASKS:
            await super().__call__(scope, receive, send)
            return
        count = b"%d" % len(asyncio.all_tasks())
        head = [(b"content-length", b"%d" % len(count)), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": count})


def main(path: Path) -> int:
    def read() -> Config:
        return read_config(path)

    config = read()
    settings = config.settings
    guard_process(config.secrets)
    recipe = Recipe(read, lambda each: each.client_keys, config)
    return serve(
        lambda worker: Counted(recipe, worker),
        host="127.0.0.1",
        port=0,
        workers=settings.workers,
        bounds=bounds(settings.timeouts, settings.limits),
        drain=settings.timeouts.drain,
        announce=lambda port: print(f"port {port}", flush=True),
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
