"""The gateway inside another program: `moongate.asgi(config)`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moongate.gateway.app import Gateway
from moongate.gateway.config.load import Config, parse_config, read_config
from moongate.gateway.record.access_log import AccessLog
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.state import GatewayState
from moongate.payload import dumps


def asgi_app(config: Mapping[str, Any] | str | Path, environment: Mapping[str, str] | None = None) -> Gateway:
    """The application for a configuration: a document, or the path of its file. Raises ConfigError.

    It writes no log, and has no store and no admin listener. Without `api_keys` no client needs a key.
    """
    known = os.environ if environment is None else environment
    read = _parsed(config, known) if isinstance(config, Mapping) else read_config(Path(config), known)
    metrics = Metrics(SharedCounters())
    return Gateway(GatewayState(read, read.client_keys or None, metrics, None), metrics, AccessLog(1, style="off"))


def _parsed(config: Mapping[str, Any], environment: Mapping[str, str]) -> Config:
    return parse_config(dumps(dict(config)).decode(), "config", Path.cwd(), environment)
