"""`traceparent` and `tracestate`: what continues a trace, and what begins a new one."""

from __future__ import annotations

import pytest

from moongate.gateway.trace.trace_context import MAX_STATE, remote_parent, traceparent

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_a_parent_is_read_and_written() -> None:
    found = remote_parent({b"traceparent": f"00-{TRACE}-{PARENT}-01".encode(), b"tracestate": b"a=1,b=2"})
    assert found is not None
    assert (found.trace_id.hex(), found.span_id.hex(), found.is_sampled, found.state) == (
        TRACE,
        PARENT,
        True,
        "a=1,b=2",
    )
    assert traceparent(found.trace_id, found.span_id) == f"00-{TRACE}-{PARENT}-01".encode()


def test_flags_and_later_versions_are_understood() -> None:
    unsampled = remote_parent({b"traceparent": f"00-{TRACE}-{PARENT}-02".encode()})
    assert unsampled is not None
    assert unsampled.is_sampled is False
    assert remote_parent({b"traceparent": f"01-{TRACE}-{PARENT}-01-more".encode()}) is not None


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"00-{TRACE}-{PARENT}",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE[:-1]} -{PARENT}-01",
        f"00-{TRACE[:-1]}_-{PARENT}-01",
        f"0-{TRACE}-{PARENT}-01",
    ],
)
def test_what_is_malformed_begins_a_new_trace(header: str) -> None:
    assert remote_parent({b"traceparent": header.encode()}) is None


@pytest.mark.parametrize("state", [b"a" * (MAX_STATE + 1), b"a=\x07", b"a=\xff"])
def test_a_state_that_cannot_be_sent_on_is_left_out(state: bytes) -> None:
    found = remote_parent({b"traceparent": f"00-{TRACE}-{PARENT}-01".encode(), b"tracestate": state})
    assert found is not None
    assert found.state == ""
