"""A PostgreSQL server of our own, in a folder that goes away with it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.system_packages import postgresql_binaries

PASSWORD = "canary-free-password"


class PostgresServer:
    """Runs as another user where we are root, because PostgreSQL refuses root. `host` is the address to listen on."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host = host
        found = postgresql_binaries()
        assert found is not None, 'call require("postgresql") first'
        self._bin = found
        self.folder = Path(tempfile.mkdtemp(prefix="moongate-pg-"))
        self._uid: int | None = None
        self._gid: int | None = None
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            self._uid, self._gid = user.pw_uid, user.pw_gid
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        with socket.create_server((host, 0)) as free:
            self.port = free.getsockname()[1]
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._call("initdb", "-D", self.data, "-U", "moongate", "--auth=scram-sha-256", f"--pwfile={secret}", "-N")
        with (self.folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet scram-sha-256\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def url(self, database: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://moongate:{password}@{self.host}:{self.port}/{database}"

    def start(self) -> None:
        settings = {
            "port": self.port, "listen_addresses": self.host, "unix_socket_directories": "", "fsync": "off",
            "max_connections": 40,
        }  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._bin / "postgres"), "-D", self.data, *options]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=self._uid, group=self._gid, cwd=self.folder
            )
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if self._ready():
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def kill(self) -> None:
        """As a crash: at once, with everything that is in flight."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(20)
        self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self, name: str) -> str:
        """The URL of an empty one."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def _ready(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _call(self, name: str, *arguments: str) -> None:
        command = [str(self._bin / name), *arguments]
        subprocess.run(command, check=True, capture_output=True, user=self._uid, group=self._gid, cwd=self.folder)
