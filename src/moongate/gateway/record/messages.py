"""Messages for the operator: one line each, on standard error.

A message must never stop the gateway: without a reader, on a full disk or with a full pipe it is dropped.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from moongate.gateway.file_lock import lock_file
from moongate.payload import dumps, object_of

MAX_MESSAGE: Final = 4000  # about PIPE_BUF: such a write neither blocks nor mixes with another process's
MAX_REMEMBERED: Final = 16  # messages of all workers that are recognised
REMEMBERED_SECONDS: Final = 60.0


def print_message(text: str) -> None:
    """Write one line to standard error."""
    write_stderr(f"moongate: {text[:MAX_MESSAGE]}\n")


def write_stderr(text: str) -> None:
    """Write without a buffer, which would fail once more when the process exits. Never raises, never blocks."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # replaced by an object that is no file
        stream.write(text)
        return
    with contextlib.suppress(OSError):
        if can_write(descriptor):
            os.write(descriptor, text.encode("utf-8", "backslashreplace"))


def can_write(descriptor: int, seconds: float = 0.0) -> bool:
    """Whether a short write would not block, after at most `seconds`."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(seconds * 1000))


class WorkerMessages:
    """Messages that every worker has, such as the result of a reload, are printed by the first of them alone.

    A worker that has the same message once more begins a new round. `folder` is shared by the workers; None: there is
    only one.
    """

    def __init__(self, folder: Path | None = None, worker: int = 0) -> None:
        self._file = folder / "messages" if folder is not None else None
        self._worker = worker

    def print(self, text: str) -> None:
        if self._file is None or self._is_first(text):
            print_message(text)

    def _is_first(self, text: str) -> bool:
        try:
            with self._file.open("a+b") as file:  # type: ignore[union-attr]
                lock_file(file.fileno(), wait=True)
                return self._join_round(file, sha256(text.encode("utf-8", "replace")).hexdigest())
        except OSError:  # rather too often than never
            return True

    def _join_round(self, file: BinaryIO, digest: str) -> bool:
        """Note that this worker has the message; True if no other worker has printed it in this round."""
        file.seek(0)
        now = time.monotonic()  # the same clock in all processes of a machine
        rounds = {key: each for key, each in (object_of(file.read()) or {}).items() if each[0] > now}
        until, workers = rounds.pop(digest, (0.0, []))
        is_first = not workers or self._worker in workers
        if is_first:
            until, workers = now + REMEMBERED_SECONDS, []
        rounds[digest] = [until, [*workers, self._worker]]
        file.truncate(0)
        file.write(dumps(dict(list(rounds.items())[-MAX_REMEMBERED:])))
        return is_first
