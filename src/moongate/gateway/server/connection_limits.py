"""The limits of a client's connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Seconds per phase, bytes per part."""

    head: float = 10  # to send the head of a request
    body: float = 30  # to send its body
    unread: float = 60  # to read what was written
    idle: float = 75  # between two requests
    max_head: int = 64 * 1024
    max_url: int = 8 * 1024
    max_headers: int = 128
    per_address: int = 8192  # connections of one address, per worker
    is_exempt: Callable[[str], bool] = field(default=lambda _: False)  # addresses that may have any number
    max_body: int = 64 * 1024 * 1024  # whatever limit the application has
