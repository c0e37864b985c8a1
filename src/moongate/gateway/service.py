"""A gateway out of a configuration, and its reload."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from moongate.errors import ConfigError
from moongate.gateway.access_log import AccessLog, standard_output, style_for
from moongate.gateway.app import Gateway
from moongate.gateway.config.load import Config
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.cycle import Cycle
from moongate.gateway.metrics import Metrics
from moongate.gateway.outlet import Receive, Scope, Send
from moongate.gateway.request_reader import Head
from moongate.gateway.slots import Slots
from moongate.gateway.state import State

WATCH_SECONDS: Final = 1.0
Keys = tuple[ClientKey, ...] | None


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a worker gets its configuration, at the start and at every reload. `read` raises ConfigError."""

    read: Callable[[], Config]
    keys: Callable[[Config], Keys]
    first: Config
    metrics_folder: Path | None = field(default=None)  # shared by several workers


class Service:
    """One worker: the application, plus reload and the end. What `gateway.server.serve` runs."""

    def __init__(self, recipe: Recipe, worker: int = 0) -> None:
        config = recipe.first
        descriptor = standard_output()
        metrics = Metrics(Slots(recipe.metrics_folder, worker))
        log = AccessLog(
            descriptor, style=style_for(config.settings.log.format, descriptor), dropped=metrics.lines_dropped
        )
        self.gateway = Gateway(State(config, recipe.keys(config), metrics, None), metrics, log)
        self._recipe = recipe
        self._seen = _look(config.file)
        self._watcher: asyncio.TimerHandle | None = None

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "lifespan" and self.gateway.state.config.settings.watch:
            self._watch()
        return self.gateway.answer(scope, receive, send)

    def enter(self, head: Head, body: bytes | None, length: int | None, outlet: Cycle) -> Coroutine[Any, Any, None]:
        """The way in for our own server."""
        return self.gateway.enter(head, body, length, outlet)

    async def drain(self, seconds: float) -> None:
        await self.gateway.drain(seconds)

    def reload(self) -> None:
        """All of the new configuration, or none of it."""
        gateway = self.gateway
        self._seen = _look(gateway.state.config.file)
        try:
            config = self._recipe.read()
            state = State(config, self._recipe.keys(config), gateway.metrics, gateway.state)
        except ConfigError as error:
            gateway.metrics.count("moongate_reloads_total", result="refused")
            _say(f"the configuration was not reloaded: {error}")
            return
        old = gateway.state.config.settings
        new = config.settings
        if (old.host, old.port, old.workers) != (new.host, new.port, new.workers):
            _say("host, port and workers change only with a restart")
        state.inherit(gateway.state)
        gateway.replace(state)
        gateway.metrics.count("moongate_reloads_total", result="ok")
        _say("the configuration was reloaded")

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
        self.gateway.close()

    def _watch(self) -> None:
        """Look at the file now and then; a look costs nothing, and works on every file system."""
        file = self.gateway.state.config.file
        if file is None:
            return
        # Armed first: a reload that fails must not end the watch.
        self._watcher = asyncio.get_running_loop().call_later(WATCH_SECONDS, self._watch)
        if _look(file) != self._seen:
            self.reload()


def _look(file: Path | None) -> tuple[int, int, int] | None:
    """What changes when a file does."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _say(text: str) -> None:
    print(f"moongate: {text}", file=sys.stderr, flush=True)
