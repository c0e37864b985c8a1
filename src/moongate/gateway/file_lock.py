"""Locks on files. The system gives a lock back when its holder ends, however it ends.

POSIX locks the file (`flock`). Windows locks a byte far behind its end, so that the file can still be read and written.
"""

from __future__ import annotations

import os
import time
from typing import Any, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]

BYTE: Final = 1 << 40  # the one that is locked on Windows
RETRY_SECONDS: Final = 0.01


def lock_file(descriptor: int, *, wait: bool = False, shared: bool = False) -> None:
    """Lock an open file until it is closed. Raises BlockingIOError if another process holds it, unless `wait`."""
    if fcntl is not None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        return
    while msvcrt is not None:
        try:
            _lock_byte(msvcrt, descriptor)
            return
        except OSError:
            if not wait:
                raise BlockingIOError from None
        time.sleep(RETRY_SECONDS)


def unlock_file(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    elif msvcrt is not None:
        _lock_byte(msvcrt, descriptor, unlock=True)


def _lock_byte(windows: Any, descriptor: int, *, unlock: bool = False) -> None:
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, BYTE, os.SEEK_SET)
    try:
        windows.locking(descriptor, windows.LK_UNLCK if unlock else windows.LK_NBLCK, 1)
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
