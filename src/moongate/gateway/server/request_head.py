"""What a request says before its body. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moongate.gateway.server.head_faults import Headers


@dataclass(frozen=True, slots=True)
class RequestHead:
    """Header names are lower-case.

    `fields` are the headers by name, without the Content-Length, in which requests with this head may differ.
    """

    method: str
    path: str
    raw_path: bytes
    query: bytes
    headers: Headers
    fields: Mapping[bytes, bytes]
    is_http_1_1: bool  # HTTP/1.1, else 1.0
    keep_alive: bool
    expects_continue: bool
