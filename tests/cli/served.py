"""`moongate serve` as a process of its own, for tests."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.gateway.scripted import Scripted
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY, WATCH, search_folder

TIMEOUT = 60.0
CLIENT, UPSTREAM = CLIENT_KEY, PROVIDER_KEY
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "a prompt that nobody may log"}]}
PATH = "/v1/chat/completions"


class Served:
    """A running `moongate serve`. Its output goes to files, so that it never waits for a reader."""

    def __init__(
        self, folder: Path, *arguments: str, stdout: int | None = None, module: str = "moongate", **variables: str
    ) -> None:
        self._out, self._err = folder / "out.txt", folder / "err.txt"
        environment = {**os.environ, "MOONGATE_HOME": str(folder / "home"), "UPSTREAM_KEY": UPSTREAM, **variables}
        environment.pop("MOONGATE_CONFIG", None)
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, "serve", "--port", "0", *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out if stdout is None else stdout,
                stderr=err,
            )

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def err(self) -> str:
        return self._err.read_text()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def root(self) -> str:
        return self.find(r"listens on (http://\S+)", err=True)[1]

    def find(self, pattern: str, *, err: bool = False) -> re.Match[str]:
        """Wait for a line."""
        end = time.monotonic() + TIMEOUT
        while (found := re.search(pattern, self.err if err else self.out)) is None:
            assert time.monotonic() < end, (pattern, self.out, self.err)
            assert self.process.poll() is None or re.search(pattern, self.err if err else self.out), self.err
            time.sleep(0.01)
        return found

    def end(self) -> int:
        return self.process.wait(TIMEOUT)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()


@contextlib.contextmanager
def serving(
    folder: Path, *arguments: str, stdout: int | None = None, module: str = "moongate", **variables: str
) -> Iterator[Served]:
    """With these arguments and environment variables. `module` is what `python -m` runs."""
    WATCH.know([CLIENT, UPSTREAM])
    served = Served(folder, *arguments, stdout=stdout, module=module, **variables)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.kill()
        served.process.wait(TIMEOUT)
        search_folder(folder)


def config(upstream: Scripted, **more: Any) -> dict[str, Any]:
    provider = {
        "name": "p",
        "api_base_url": upstream.url,
        "api_key": "$UPSTREAM_KEY",
        "models": ["m"],
        "transformer": {"use": ["Kimi"]},
    }
    return {"providers": [provider], "api_keys": [CLIENT], "metrics": "clients", **more}


def write(folder: Path, value: Any) -> None:
    """In one piece, as an editor does it."""
    fresh = folder / "config.json.new"
    fresh.write_text(value if isinstance(value, str) else json.dumps(value))
    fresh.rename(folder / "config.json")


class Streaming:
    """A streamed request that is read piece by piece."""

    def __init__(self, root: str) -> None:
        self._connection = http.client.HTTPConnection(root.removeprefix("http://"), timeout=TIMEOUT)
        self._connection.request(
            "POST", PATH, json.dumps(ASK | {"stream": True}), {"authorization": f"Bearer {CLIENT}"}
        )
        self._response = self._connection.getresponse()
        assert self._response.status == 200

    def until(self, mark: bytes) -> None:
        got = b""
        while mark not in got:
            piece = self._response.read1()
            assert piece, got
            got += piece

    def rest(self) -> bytes:
        return self._response.read()

    def __enter__(self) -> Streaming:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
