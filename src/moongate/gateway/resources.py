"""What the process asks of the system before it serves."""

from __future__ import annotations

import contextlib
import ctypes
import resource
from typing import Final

M_MMAP_THRESHOLD: Final = -3  # of <malloc.h>
LARGE: Final = 256 * 1024  # bytes


def claim() -> None:
    """Every descriptor that may be had, and a C library that gives large blocks back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:  # each request needs two; the usual soft limit of 1024 is for programs that use select()
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # Left alone, glibc learns from large blocks to keep them: after twenty large requests, for ever.
    with contextlib.suppress(OSError, AttributeError):  # other libraries have no such function
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)
