"""The provider of a gateway without a configuration: the simulator, running in its own thread."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from moongate.cli.providers import AGENT_NAMES
from moongate.gateway.config.load import Config, parse_config
from moongate.payload import dumps_text
from moongate.sim import SimServer, listed_models, start

START_SECONDS = 10.0


class BuiltInProvider:
    """Call `start`, then `config`, and `stop` at the end."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._runner = threading.Thread(target=self._loop.run_forever, name="simulator", daemon=True)
        self._server: SimServer | None = None

    def start(self) -> None:
        self._runner.start()
        self._server = asyncio.run_coroutine_threadsafe(start(), self._loop).result(START_SECONDS)

    def config(self) -> Config:
        assert self._server is not None
        return simulator_config(self._server.url)

    def stop(self) -> None:
        if self._server is not None:
            asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(START_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._runner.join(START_SECONDS)
        self._loop.close()


def simulator_config(url: str) -> Config:
    """A gateway in front of the simulator at `url`, with every repair on."""
    provider = {
        "name": "simulator",
        "api_base_url": url,
        "models": listed_models(),
        "transformer": {"use": [["Kimi", {"preset": "agent"}]]},
    }
    # No default: a name that combines rows must be refused, not answered by a model that plays none of them.
    aliases = dict.fromkeys(AGENT_NAMES, listed_models()[0])
    # Captured, so that the pages show what came and what left: in memory, and the answers are no secret.
    text = dumps_text({"providers": [provider], "aliases": aliases, "inspect": True})
    return parse_config(text, "(built-in simulator)", Path.cwd(), {})
