"""What a client's connection gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds per phase, bytes per part."""

    head: float = 10  # to send the head of a request
    body: float = 30  # to send its body
    unread: float = 60  # to read what was written
    idle: float = 75  # between two requests
    max_head: int = 64 * 1024
    max_headers: int = 128
    max_body: int = 64 * 1024 * 1024  # whatever the application would take
