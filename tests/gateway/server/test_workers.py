"""Workers that no longer answer, in processes of their own: ended and replaced by their parent."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

TIMEOUT = 30.0
PROGRAM = '''
import collections, itertools, os, sys
from moongate.gateway.server.run import serve

class Service:
    """/c holds the interpreter's lock in C code, /python the loop in Python, anything else gives the process id."""

    def __init__(self, index):
        self.word = "old"

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await receive(); await send({"type": "lifespan.startup.complete"})
            await receive(); await send({"type": "lifespan.shutdown.complete"})
            return
        if scope["path"] == "/c":
            collections.deque(itertools.repeat(1), maxlen=0)
        if scope["path"] == "/python":
            while True:
                pass
        text = f"{os.getpid()} {self.word}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]})
        await send({"type": "http.response.body", "body": text})

    async def drain(self, seconds):
        pass

    def reload(self):
        self.word = "new"

    def close(self):
        pass

announce = lambda port: os.write(1, b"%d\\n" % port)
silence, count = float(sys.argv[1]), int(sys.argv[2])
sys.exit(
    serve(Service, host="127.0.0.1", port=0, workers=count, supervised=True, announce=announce, silence=silence)
)
'''


class Workers:
    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def send(self, path: str) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        return sock

    def get(self) -> list[str]:
        """The answer's words: process id and configuration; none if the worker that had the connection was ended."""
        with self.send("/") as sock:
            data = b""
            with contextlib.suppress(ConnectionError):
                while more := sock.recv(65536):
                    data += more
        return data.partition(b"\r\n\r\n")[2].decode().split()

    def children(self) -> set[str]:
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return set(file.read().split())


@contextlib.contextmanager
def workers(silence: float, count: int = 2) -> Iterator[Workers]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(silence), str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Workers(process, int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate(timeout=TIMEOUT)


def wait_until(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(("path", "count"), [("/c", 2), ("/python", 2), ("/c", 1)])
def test_a_worker_that_answers_nobody_is_ended_and_replaced(path: str, count: int) -> None:
    with workers(1.0, count) as running:
        wait_until(running.get)
        before = running.children()
        with running.send(path):
            wait_until(lambda: len(before - running.children()) == 1)
        wait_until(lambda: len(running.children()) == count)
        assert all(running.get()[0] in running.children() for _ in range(20))
        running.process.send_signal(signal.SIGTERM)
        _, err = running.process.communicate(timeout=TIMEOUT)
    assert running.process.returncode == 0
    assert re.search(r"worker \d has answered nobody for [1-9]\d* s and is ended", err)
    assert "died and is replaced" in err


def test_a_replacement_has_the_configuration_of_the_last_reload() -> None:
    with workers(silence=60.0) as running:
        wait_until(running.get)
        running.process.send_signal(signal.SIGHUP)
        wait_until(lambda: all(running.get()[1] == "new" for _ in range(10)))
        for pid in running.children():
            os.kill(int(pid), signal.SIGKILL)
        wait_until(lambda: len(running.children()) == 2)
        assert {running.get()[1] for _ in range(10)} == {"new"}


def test_a_second_signal_ends_workers_that_are_stuck() -> None:
    with workers(silence=60.0) as running:
        wait_until(running.get)
        with running.send("/c"):
            time.sleep(0.3)
            running.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            running.process.send_signal(signal.SIGTERM)
            running.process.communicate(timeout=TIMEOUT)
    assert running.process.returncode == 1


def test_workers_that_were_stopped_with_their_parent_are_not_ended() -> None:
    """As `docker pause` and Ctrl-Z do, or a machine that was suspended."""
    with workers(silence=1.0) as running:
        wait_until(running.get)
        before = running.children()
        everybody = [running.process.pid, *map(int, before)]
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in everybody:
                os.kill(pid, number)
            time.sleep(3.0 if number == signal.SIGSTOP else 1.5)
        assert running.children() == before
        assert running.get()[0] in before
