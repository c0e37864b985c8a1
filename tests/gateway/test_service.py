"""One worker's gateway and the file that it was configured from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from moongate.gateway.config.load import read_config
from moongate.gateway.gateway_factory import GatewayFactory
from moongate.gateway.service import Service


def test_a_change_between_reading_and_starting_is_noticed(tmp_path: Path) -> None:
    """A worker may start long after its parent has read the file."""
    file = tmp_path / "config.json"

    def write(**settings: Any) -> None:
        provider = {"name": "p", "api_base_url": "http://127.0.0.1:9/v1/chat/completions", "models": ["m"]}
        file.write_text(json.dumps({"providers": [provider], "watch": True, "store": "off", **settings}))

    write()
    factory = GatewayFactory(lambda: read_config(file, {}), lambda _: None, read_config(file, {}))
    write(aliases={"new": "m"})
    service = Service(factory)
    assert not service.gateway.state.config.settings.aliases

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.shutdown"}

    async def send(_: Any) -> None:
        pass

    async def start() -> None:
        await service({"type": "lifespan"}, receive, send)
        service.close()

    asyncio.run(start())
    assert list(service.gateway.state.config.settings.aliases) == ["new"]
