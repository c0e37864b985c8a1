from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import pytest

from moongate.gateway.server.resources import trim_memory

PROGRAM = """
import resource
from moongate.gateway.server.resources import raise_limits, trim_memory

_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
raise_limits()
raise_limits()
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


before = resident()
for _ in range(3):
    blocks = [bytearray(b"x") * (8 << 20) for _ in range(5)]
    keep = [bytes(1000) for _ in range(1000)]
    assert resident() - before >= 35
    del blocks
assert resident() - before <= 8
small = [bytes(9000) for _ in range(4000)]
kept = small[::40]
del small
trim_memory()
assert resident() - before <= 16
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another C library")
def test_descriptors_are_raised_and_large_blocks_returned() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_what_an_error_holds_in_a_cycle_is_returned_too() -> None:
    class Failed(Exception):
        pass

    def fail() -> weakref.ref[Failed]:
        try:
            raise Failed
        except Failed as error:
            kept = error  # the traceback has this frame, and the frame has the error
            return weakref.ref(kept)

    gc.disable()
    try:
        failed = fail()
        assert failed() is not None
        trim_memory()
        assert failed() is None
    finally:
        gc.enable()
