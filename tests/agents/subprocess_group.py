"""A program in its own process group, with a time limit for everything that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Finished(NamedTuple):
    """`code` is None if the program was stopped or could not be started."""

    code: int | None
    out: str
    err: str


def run(argv: list[str], folder: Path, seconds: float, env: dict[str, str] | None = None) -> Finished:
    """Run the program until it ends or its time is over; then its whole process group is killed."""
    # Files instead of pipes: a surviving grandchild would keep a pipe open for ever.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            return Finished(None, "", f"it cannot be run: {error}")
        code: int | None = None
        late = f"stopped after {seconds:.0f} s"
        try:
            code = process.wait(seconds)
            late = ""
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        err.seek(0)
        errors = err.read().decode("utf-8", "replace").strip()
        return Finished(code, out.read().decode("utf-8", "replace"), late or errors[-400:])
