"""The gateway under test, seen from outside: its memory, its descriptors, its tasks, its log."""

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

PATIENCE = 60.0


class Subject:
    """One running gateway."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self.folder = folder
        self.port = 0

    async def wait_for_port(self) -> None:
        end = time.monotonic() + PATIENCE
        while not (self.logged.startswith("port ") and "\n" in self.logged):
            assert self._process.returncode is None, self.said
            assert time.monotonic() < end, self.said
            await asyncio.sleep(0.02)
        self.port = int(self.logged.split()[1])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def logged(self) -> str:
        """What it wrote to standard output."""
        return (self.folder / "out.txt").read_text()

    @property
    def said(self) -> str:
        """What it wrote to standard error."""
        return (self.folder / "err.txt").read_text()

    def memory(self) -> float:
        """MiB that are resident now."""
        return self._status("VmRSS")

    def peak(self) -> float:
        """The most MiB that were, since `forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    async def tasks(self) -> int:
        return int((await ask_once(self.port, TASKS)).body)

    async def settled_tasks(self, limit: int) -> int:
        """Their number once it is at or below the limit, or what it is after twenty seconds."""
        for _ in range(200):
            if await self.tasks() <= limit:
                break
            await asyncio.sleep(0.1)
        return await self.tasks()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def configure(self, config: dict[str, Any]) -> None:
        """Write another configuration, in one piece. SIGHUP makes it count."""
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
    """What it has left in its files."""
    watch = Watch()
    watch.know(parse_config(json.dumps(filled(config)), "config.json", folder, {}).secrets)
    search_folder(folder, watch)
    return watch.take()


@contextlib.asynccontextmanager
async def running(config: dict[str, Any]) -> AsyncIterator[Subject]:
    """A gateway in a process of its own, until the block ends; then it must end well."""
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
        subject = Subject(process, folder)
        try:
            await subject.wait_for_port()
            for _ in range(2):
                await subject.tasks()  # what opens with the first requests belongs to the baseline
            yield subject
            subject.signal(signal.SIGTERM)
            code = await asyncio.wait_for(process.wait(), PATIENCE)
            assert code == 0, f"it ended with {code}: {subject.said}"
            assert "Traceback" not in subject.said, subject.said[-3000:]
            assert MARK not in subject.said, subject.said[-3000:]
            assert not _secrets_in(folder, config)
            assert "mistake" not in subject.said, subject.said[-3000:]
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def settled(measure: Callable[[], float], limit: float, seconds: float = 20.0) -> float:
    """The measure once it is at or below the limit, or what it is after so many seconds."""
    end = time.monotonic() + seconds
    while (found := measure()) > limit and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return found
