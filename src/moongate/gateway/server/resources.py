"""File descriptors and memory: what the process takes from the system and returns to it."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from typing import Final

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_LIBRARY: Final = ctypes.CDLL(None) if os.name == "posix" else None
M_TRIM_THRESHOLD: Final = -1  # of <malloc.h>
M_MMAP_THRESHOLD: Final = -3
LARGE_BLOCK: Final = 2 * 1024 * 1024  # bytes: the body of an agent's turn is smaller
# New objects between two collections. Python's own 700 are reached several times in each turn of an agent, whose
# objects would all be visited: they live as long as the answer takes.
GC_THRESHOLD: Final = 100_000
GC_ROUNDS: Final = 1000  # collections of new objects before one of those that survived them, and so on
FREE_BLOCKS: Final = 16 * 1024 * 1024  # bytes of freed memory that stay with the process until it is idle


def raise_limits() -> None:
    """Allow as many descriptors as possible, and make the C library return large blocks to the system."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:  # each request needs two, and the usual soft limit is 1024
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # By default glibc raises the first threshold when large blocks are freed, and then keeps them for ever. But a block
    # that was returned costs a page fault for each 4 KB when the next one is taken: ordinary bodies stay below it.
    with contextlib.suppress(AttributeError):  # other C libraries have no such function
        _LIBRARY.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)  # type: ignore[union-attr]
        _LIBRARY.mallopt(M_TRIM_THRESHOLD, FREE_BLOCKS)  # type: ignore[union-attr]


def collect_rarely() -> None:
    """Let Python look for garbage that reference counts miss among new objects alone, and seldom: requests leave none.

    What exists now lives as long as the process. Collections of older objects visit all that live, those of a long
    answer too, and the event loop waits meanwhile: they are for `trim_memory`.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, GC_ROUNDS, GC_ROUNDS)


def trim_memory() -> None:
    """Return free memory to the system. Takes a millisecond: call it when idle.

    What failed requests leave may be in cycles (an error, its traceback, the frames with their buffers), and without
    further requests no collection begins by itself. Old objects are not visited.
    """
    gc.collect(1)
    with contextlib.suppress(AttributeError):  # there is none, or another one
        _LIBRARY.malloc_trim(0)  # type: ignore[union-attr]
