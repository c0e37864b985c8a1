"""A request as the simulator sees it, and the description of the response to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from moongate.payload import JsonObject, dumps
from moongate.sim.ledger import LedgerEntry

Headers = tuple[tuple[str, str], ...]

# fault → (status, type, message)
ERRORS: Final[dict[str, tuple[int, str, str]]] = {
    "429": (429, "rate_limit_reached_error", "request reached max RPM: 3, please try again after 1 seconds"),
    "quota": (429, "exceeded_current_quota_error", "You exceeded your current token quota"),
    "overloaded": (429, "engine_overloaded_error", "The engine is currently overloaded, please try again later"),
    "500": (500, "server_error", "The server had an error while processing your request"),
}


@dataclass(frozen=True, slots=True)
class SimRequest:
    """A received request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""


@dataclass(frozen=True, slots=True)
class SimResponse:
    """A response to write, piece by piece. `ending` is how it ends: end, cut, chunk, stall (see server.py)."""

    status: int
    headers: Headers
    pieces: Sequence[bytes]
    chunked: bool = False
    pause: float = 0.0
    ending: str = "end"
    silences: Mapping[int, float] = field(default_factory=dict)  # number of a piece → seconds before it
    entry: LedgerEntry | None = None  # of the ledger, for the server to say whether the response was delivered


def json_response(
    status: int, body: JsonObject, headers: Headers = (), entry: LedgerEntry | None = None
) -> SimResponse:
    data = dumps(body)
    every = (("content-type", "application/json"), ("content-length", str(len(data))), *headers)
    return SimResponse(status, every, [data], entry=entry)


def error_response(
    status: int, message: str, kind: str = "invalid_request_error", entry: LedgerEntry | None = None
) -> SimResponse:
    """An error in Moonshot's shape; the header x-trace-id identifies the request."""
    headers: Headers = ()
    if entry is not None:
        entry.status = status
        headers = (("x-trace-id", entry.trace),)
    return json_response(status, {"error": {"message": message, "type": kind}}, headers, entry)
