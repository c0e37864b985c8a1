"""An OpenAI-compatible upstream that misbehaves on request: 144 faults, raw sockets, loopback only, bounded."""

from __future__ import annotations

from tests.support.faulty_upstream import bodies, connections, framing, sane, statuses, streams
from tests.support.faulty_upstream.play import FAULTS
from tests.support.faulty_upstream.server import FaultyUpstream

FAMILIES = (sane, connections, framing, statuses, bodies, streams)

__all__ = ["FAMILIES", "FAULTS", "FaultyUpstream"]
