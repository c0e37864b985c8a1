"""What the process takes from the system, and gives back."""

from __future__ import annotations

import contextlib
import ctypes
import resource
from typing import Final

_LIBRARY: Final = ctypes.CDLL(None)
M_MMAP_THRESHOLD: Final = -3  # of <malloc.h>
LARGE: Final = 256 * 1024  # bytes


def claim() -> None:
    """Every descriptor that may be had, and a C library that gives large blocks back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:  # each request needs two; the usual soft limit of 1024 is for programs that use select()
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # Left alone, glibc learns from large blocks to keep them: after twenty large requests, for ever.
    with contextlib.suppress(AttributeError):  # other libraries have no such function
        _LIBRARY.mallopt(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Return to the system what is free between blocks that are not. Takes a millisecond: for idle moments."""
    with contextlib.suppress(AttributeError):
        _LIBRARY.malloc_trim(0)
