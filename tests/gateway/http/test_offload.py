"""What takes long is read in a thread."""

from __future__ import annotations

import pytest

from moongate.gateway.http.offload import OFFLOAD_BYTES, OFFLOAD_OBJECTS, takes_long


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{}", False),
        (b" " * OFFLOAD_BYTES, False),
        (b" " * (OFFLOAD_BYTES + 1), True),
        (b"{}" * OFFLOAD_OBJECTS, False),
        (b"{}," * OFFLOAD_OBJECTS, False),
        (b"{}," * (OFFLOAD_OBJECTS + 1), True),
    ],
)
def test_many_bytes_and_many_objects_take_long(body: bytes, expected: bool) -> None:
    assert takes_long(body) is expected
