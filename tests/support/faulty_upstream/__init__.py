"""An OpenAI-compatible upstream that misbehaves on request: 144 faults, raw sockets, loopback only, with limits."""

from __future__ import annotations

from tests.support.faulty_upstream import bodies, connections, framing, other_apis, sane, statuses, streams
from tests.support.faulty_upstream.response import FAULTS
from tests.support.faulty_upstream.server import FaultyUpstream

FAMILIES = (sane, connections, framing, statuses, bodies, streams, other_apis)

__all__ = ["FAMILIES", "FAULTS", "FaultyUpstream"]
