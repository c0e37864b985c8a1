"""Room on the disk for a file that will be mapped: writing to a mapping of a full disk would kill the process."""

from __future__ import annotations

import os


def allocate(descriptor: int, size: int) -> None:
    """Make an open file at least so large. Raises OSError if there is no room."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    missing = size - os.lseek(descriptor, 0, os.SEEK_END)  # macOS and Windows have no call for it: zeros are written
    if missing > 0:
        os.write(descriptor, bytes(missing))
