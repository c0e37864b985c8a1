"""A finished span, as it is handed to the exporter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

SERVER: Final = 2
CLIENT: Final = 3

AttributeValue = str | bool | int | float | list[str]
Attributes = dict[str, AttributeValue]


@dataclass(slots=True)
class SpanEvent:
    """Something that happened at one time."""

    name: str
    at: int  # nanoseconds since 1970, as all times of spans
    attributes: Attributes


@dataclass(slots=True)
class Span:
    """One piece of work. `error` None: it did not fail."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes  # b"": it is the first of its trace
    trace_state: str
    name: str
    kind: int
    start: int
    end: int = 0
    attributes: Attributes = field(default_factory=dict)
    events: list[SpanEvent] = field(default_factory=list)
    lost_events: int = 0  # beyond the limit
    error: str | None = None
