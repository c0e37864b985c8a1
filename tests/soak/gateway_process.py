"""The gateway under test as a process: its memory, its descriptors, its tasks, its output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from tests.soak.client import KEY, ask_once
from tests.soak.entry import TASKS
from tests.support.canary import MARK, Watch, search_folder

from moongate.gateway.config.load import parse_config

TIMEOUT = 60.0


class GatewayProcess:
    """One running gateway."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self.folder = folder
        self.port = 0

    async def wait_for_port(self) -> None:
        end = time.monotonic() + TIMEOUT
        while not (self.output_text.startswith("port ") and "\n" in self.output_text):
            assert self._process.returncode is None, self.errors
            assert time.monotonic() < end, self.errors
            await asyncio.sleep(0.02)
        self.port = int(self.output_text.split()[1])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output_text(self) -> str:
        """Its standard output."""
        return (self.folder / "out.txt").read_text()

    @property
    def errors(self) -> str:
        """Its standard error."""
        return (self.folder / "err.txt").read_text()

    def memory(self) -> float:
        """The resident memory in MiB."""
        return self._status("VmRSS")

    def peak(self) -> float:
        """The peak of the resident memory in MiB since `forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    async def tasks(self) -> int:
        return int((await ask_once(self.port, TASKS)).body)

    async def settled_tasks(self, limit: int) -> int:
        """The number of tasks once it is at or below the limit, or after twenty seconds."""
        for _ in range(200):
            if await self.tasks() <= limit:
                break
            await asyncio.sleep(0.1)
        return await self.tasks()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def configure(self, config: dict[str, Any]) -> None:
        """Replace the configuration file atomically. SIGHUP loads it."""
        fresh = self.folder / "config.json.new"
        fresh.write_text(json.dumps(filled(config)))
        fresh.rename(self.folder / "config.json")

    def _status(self, name: str) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
        raise LookupError(name)


def filled(config: dict[str, Any]) -> dict[str, Any]:
    return {"api_keys": [KEY], "log": {"format": "off"}, **config}


def _secrets_in(folder: Path, config: dict[str, Any]) -> list[str]:
    """The secrets that the gateway has written to its files."""
    watch = Watch()
    watch.know(parse_config(json.dumps(filled(config)), "config.json", folder, {}).secrets)
    search_folder(folder, watch)
    return watch.take()


@contextlib.asynccontextmanager
async def running(config: dict[str, Any]) -> AsyncIterator[GatewayProcess]:
    """A gateway in its own process until the block ends; then it must exit with code 0 and without errors."""
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        (folder / "config.json").write_text(json.dumps(filled(config)))
        with (folder / "err.txt").open("wb") as err, (folder / "out.txt").open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.soak.entry", str(folder / "config.json")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, "MOONGATE_HOME": name},
            )
        gateway = GatewayProcess(process, folder)
        try:
            await gateway.wait_for_port()
            for _ in range(2):
                await gateway.tasks()  # descriptors that the first requests open belong to the baseline
            yield gateway
            gateway.signal(signal.SIGTERM)
            code = await asyncio.wait_for(process.wait(), TIMEOUT)
            assert code == 0, f"it ended with {code}: {gateway.errors}"
            assert "Traceback" not in gateway.errors, gateway.errors[-3000:]
            assert MARK not in gateway.errors, gateway.errors[-3000:]
            assert not _secrets_in(folder, config)
            assert "internal error" not in gateway.errors, gateway.errors[-3000:]
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def settled(measure: Callable[[], float], limit: float, seconds: float = 20.0) -> float:
    """The measure once it is at or below the limit, or after `seconds`."""
    end = time.monotonic() + seconds
    while (found := measure()) > limit and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return found
