"""A program in a process group of its own, with a time limit that holds for everything that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Ended(NamedTuple):
    """`code` is None if it was stopped, or could not be run at all."""

    code: int | None
    out: str
    err: str


def run(argv: list[str], folder: Path, seconds: float, env: dict[str, str] | None = None) -> Ended:
    """Run it to its end, or to the end of its time. Nothing of it is left afterwards."""
    # Files and not pipes: a grandchild that lives on would keep a pipe open for ever.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            return Ended(None, "", f"it cannot be run: {error}")
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
        complaints = err.read().decode("utf-8", "replace").strip()
        return Ended(code, out.read().decode("utf-8", "replace"), late or complaints[-400:])
