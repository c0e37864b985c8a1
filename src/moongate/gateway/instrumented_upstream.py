"""The upstream of a target, with capture and tracing around it where a request needs them."""

from __future__ import annotations

from moongate.gateway.inspect.capture import Capture
from moongate.gateway.inspect.capturing import CapturingUpstream
from moongate.gateway.target import Target
from moongate.gateway.trace.request_trace import RequestTrace, TracingUpstream
from moongate.net.contract import Upstream


def instrumented_upstream(
    target: Target, capture: Capture | None, trace: RequestTrace | None, *, further: bool = False
) -> Upstream:
    """The target's own, unless the request is captured or traced. `further`: for a further try of the guard."""
    upstream: Upstream = target.upstream
    if capture is not None:
        upstream = CapturingUpstream(capture, target, further=further)
    return upstream if trace is None else TracingUpstream(trace, target, upstream, further=further)
