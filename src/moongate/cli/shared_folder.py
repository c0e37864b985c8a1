"""The folder in which the workers of one gateway share counters, limits and captures: in memory, where there is one.

A gateway that is killed cannot remove its folder, so the next one that starts does. Each folder has a file that its
gateway has locked. Workers inherit the lock, and the system gives it back when the last of them has ended.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from moongate.cli.terminal import warn
from moongate.gateway.file_lock import lock_file
from moongate.gateway.server.workers import CAN_SUPERVISE

MEMORY: Final = "/dev/shm"
PREFIX: Final = "moongate-"
LOCK: Final = "in-use.lock"
SHARED_BYTES: Final = 4 << 20  # free bytes that the workers' shared counters need


def shared_folder(memory: str = MEMORY, temporary: str | None = None) -> Path | None:
    """A new folder; None, with a warning, if there is no place for it.

    In memory, so that a full disk does not matter; else in `temporary` (default: the system's folder).
    """
    if not CAN_SUPERVISE:
        warn("one worker serves instead of several, which this system cannot supervise")
        return None
    problem = ""
    for place in (memory, temporary or tempfile.gettempdir()):
        remove_abandoned(place)
        try:
            folder = _locked_folder(place)
            room = os.statvfs(folder)
            if room.f_bavail * room.f_frsize >= SHARED_BYTES:
                return folder
            shutil.rmtree(folder)
            problem = f"{place}: less than {SHARED_BYTES >> 20} MiB are free"
        except OSError as error:
            problem = f"{place}: {error.strerror}"
    warn(f"one worker serves instead of several, which need a folder in memory to share counters in ({problem})")
    return None


def remove_abandoned(place: str) -> None:
    """Remove the folders of gateways that were killed. Only this user's: anybody may write into such a place."""
    for folder in Path(place).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # somebody uses it, or it has no such file
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                lock_file(descriptor)
                shutil.rmtree(folder)
            finally:
                os.close(descriptor)


def _locked_folder(place: str) -> Path:
    """A new folder whose file is locked as long as this process or one that it has forked lives."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    new = folder / "new.lock"
    try:
        lock_file(os.open(new, os.O_RDWR | os.O_CREAT, 0o600))
        new.rename(folder / LOCK)  # named when it is locked: else another gateway might take it for abandoned
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
