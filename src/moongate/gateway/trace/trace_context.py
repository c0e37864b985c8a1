"""The headers by which traces go on from one service to the next: `traceparent` and `tracestate` of the W3C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

MAX_STATE: Final = 512  # characters of a tracestate; a longer one is left out, as the W3C allows
SAMPLED: Final = 1
_HEX: Final = frozenset(b"0123456789abcdef")
_LENGTHS: Final = (2, 32, 16, 2)  # version, trace, parent, flags


class RemoteParent(NamedTuple):
    """The span of the client that a request belongs to."""

    trace_id: bytes
    span_id: bytes
    is_sampled: bool
    state: str


def remote_parent(headers: Mapping[bytes, bytes]) -> RemoteParent | None:
    """None: there is no `traceparent`, or it is malformed and a new trace begins."""
    parts = headers.get(b"traceparent", b"").strip().split(b"-")
    if len(parts) < 4 or any(len(part) != size or not _HEX.issuperset(part) for part, size in zip(parts, _LENGTHS)):  # noqa: B905
        return None
    version, trace_id, span_id = parts[0], bytes.fromhex(parts[1].decode()), bytes.fromhex(parts[2].decode())
    if version == b"ff" or (version == b"00" and len(parts) > 4) or not any(trace_id) or not any(span_id):
        return None
    state = headers.get(b"tracestate", b"").decode("latin-1").strip()
    state = state if len(state) <= MAX_STATE and state.isascii() and state.isprintable() else ""
    return RemoteParent(trace_id, span_id, bool(int(parts[3], 16) & SAMPLED), state)


def traceparent(trace_id: bytes, span_id: bytes) -> bytes:
    """Of a span that is sampled."""
    return b"00-%b-%b-01" % (trace_id.hex().encode(), span_id.hex().encode())
