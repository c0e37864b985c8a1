"""How a worker gets its configuration and its places outside the gateway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from moongate.gateway.config.load import Config
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.trace.otel_environment import TraceSettings

Keys = tuple[ClientKey, ...] | None


@dataclass(frozen=True, slots=True)
class GatewayFactory:
    """How a worker gets its configuration, at the start and at every reload. `read` raises ConfigError."""

    read: Callable[[], Config]
    keys: Callable[[Config], Keys]
    first: Config
    shared_folder: Path | None = field(default=None)  # of several workers, for counters and limits
    home: Path | None = field(default=None)  # of the store; None: there is none
    describe: Callable[[Config], str] = field(default=lambda _: "")  # what `moongate check` says of it, for the pages
    traces: TraceSettings | None = field(default=None)  # None: there are none
