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


COLLECTIONS = """
import gc
from moongate.gateway.server.resources import GC_THRESHOLD, collect_rarely, trim_memory

looked_at = []
gc.callbacks.append(lambda phase, info: looked_at.append(info["generation"]) if phase == "stop" else None)
collect_rarely()
looked_at.clear()
answer = [[] for _ in range(30 * GC_THRESHOLD)]
assert set(looked_at) == {0}, looked_at  # of a long answer only the newest objects are visited
trim_memory()
assert looked_at[-1] == 1
"""


def test_the_objects_of_a_long_answer_are_visited_once() -> None:
    done = subprocess.run([sys.executable, "-c", COLLECTIONS], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
