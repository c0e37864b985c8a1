"""Two gateways on machines of their own behind nginx, over a real Redis and a real PostgreSQL."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fleet.network import Machine, Network
from tests.support.canary import CLIENT_KEY
from tests.support.postgres import PostgresServer
from tests.support.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
NGINX = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
ADMIN_KEY = "canary-admin-0123456789-0123456789"
PORT, ADMIN_PORT, REDIS_PORT = 3000, 3001, 6379
NODES = ("a", "b")
START_SECONDS = 60.0
LEASE = 5  # seconds; as short as a drill can wait for


class FleetNode:
    """One gateway: `start`, `kill` (everything at once), `stop` (SIGTERM, and it must end well)."""

    def __init__(self, machine: Machine, name: str, folder: Path, config: Mapping[str, object], python: str) -> None:
        self.machine, self.name, self.folder = machine, name, folder
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))

    @property
    def log(self) -> str:
        return (self.folder / "err.txt").read_text()

    def start(self) -> None:
        command = ["-m", "moongate", "serve", "--config", str(self.folder / "config.json")]
        before = len(self.log) if (self.folder / "err.txt").exists() else 0
        with (self.folder / "err.txt").open("ab") as err:
            self._process = subprocess.Popen(
                [*self.machine.prefix, self._python, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=err, env={**os.environ, "MOONGATE_HOME": str(self.folder)}, start_new_session=True, cwd=ROOT,
            )  # fmt: skip
        process = self._process
        until(lambda: "listens on" in self.log[before:] or process.poll() is not None, lambda: self.log)
        assert process.poll() is None, self.log

    def kill(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        # That was the parent: on a busy machine its worker may answer for a moment longer.
        until(lambda: not _listens(self.machine.address, PORT), lambda: self.log)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            code = self._process.wait(START_SECONDS)
            self._process = None
            assert code == 0, self.log
        assert "Traceback" not in self.log, self.log

    def admin(self, path: str) -> str:
        """A page of the admin listener."""
        request = urllib.request.Request(
            f"http://{self.machine.address}:{ADMIN_PORT}{path}", headers={"authorization": f"Bearer {ADMIN_KEY}"}
        )
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            return str(answer.read(), "utf-8")

    def nodes(self) -> dict[str, bool]:
        """Who is there, as this one knows."""
        return {each["name"]: each["alive"] for each in json.loads(self.admin("/admin/v1/nodes"))["data"]}

    def metric(self, name: str) -> float:
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", self.admin("/metrics"), re.M))


class Fleet:
    """A context manager. `provider` is the address of the simulator, which listens on `address`."""

    def __init__(
        self, settings: Mapping[str, object], *, state: Mapping[str, object] | None = None, python: str = sys.executable
    ) -> None:
        """`settings` go into the configuration of both."""
        self._settings, self._state, self._python = settings, {"lease": LEASE, **(state or {})}, python
        self._closing = contextlib.ExitStack()
        self.network = Network()
        self.nodes: list[FleetNode] = []

    def __enter__(self) -> Fleet:
        try:
            self._closing.enter_context(self.network)
            self.folder = Path(self._closing.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
            self.redis_machine = self.network.machine("r")
            self.redis = RedisServer(self.redis_machine.address, self.redis_machine.prefix, REDIS_PORT)
            self._closing.callback(self.redis.stop)
            self.postgres = PostgresServer(self.network.address)
            self._closing.callback(self.postgres.stop)
            self.store = self.postgres.new_database("fleet")
        except BaseException:
            self._closing.close()
            raise
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for node in self.nodes:
            with contextlib.suppress(AssertionError, ProcessLookupError):
                node.kill()
        self._closing.close()

    def start(self, providers: list[dict[str, Any]]) -> None:
        """Both gateways and nginx, until each knows of the other."""
        machines = [self.network.machine(name) for name in NODES]
        for name, machine in zip(NODES, machines, strict=True):
            config = {
                **self._settings,
                "providers": providers,
                "host": machine.address,
                "port": PORT,
                "api_keys": [CLIENT_KEY],
                "trusted_proxies": [self.network.address],
                "store": self.store,
                "state": {"url": self.redis.url, "node": name, **self._state},
                "admin": {"host": machine.address, "port": ADMIN_PORT, "key": ADMIN_KEY},
                "log": {"format": "off"},
            }
            self.nodes.append(FleetNode(machine, name, self.folder / name, config, self._python))
        for node in self.nodes:
            node.start()
        self._start_nginx()
        until(self.is_whole, lambda: "\n".join(node.log for node in self.nodes))

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()

    def is_whole(self) -> bool:
        return all(node.nodes() == dict.fromkeys(NODES, True) for node in self.nodes)

    def name_of(self, address: str) -> str:
        """Of the gateway that nginx says has answered: the last one, if it has asked two."""
        host = address.rpartition(",")[2].strip().partition(":")[0]
        return next((node.name for node in self.nodes if node.machine.address == host), "")

    def _start_nginx(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        text = NGINX.replace("listen 8080", f"listen 127.0.0.1:{self.port}").replace(
            "/tmp/moongate-", f"{self.folder}/"
        )
        for node in self.nodes:
            text = text.replace(f"gateway-{node.name}:", f"{node.machine.address}:")
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/nginx.pid;\nerror_log {self.folder}/nginx.log;\n{text}"
        )
        program = shutil.which("nginx")
        assert program is not None
        self.folder.chmod(0o755)
        process = subprocess.Popen([program, "-c", str(self.folder / "nginx.conf"), "-g", "daemon off;"])
        self._closing.callback(_end, process)
        until(lambda: _listens("127.0.0.1", self.port), lambda: (self.folder / "nginx.log").read_text())


def until(
    condition: Callable[[], bool], explain: Callable[[], str] = lambda: "", seconds: float = START_SECONDS
) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, explain()
        time.sleep(0.05)


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=2):
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(START_SECONDS)
