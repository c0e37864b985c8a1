"""The whole server in processes of its own: signals, drain, reload, workers."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moongate.gateway.server.listening import listen

TIMEOUT = 60.0
PROGRAM = '''
import asyncio, os, sys
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.run import serve

def say(text):
    os.write(1, f"{text}\\n".encode())  # one write: several processes share the pipe

class Service:
    """/pid gives the process id, /slow takes a while, /die ends the worker, /bad-start fails at once."""

    def __init__(self, index):
        self.index, self.word, self.draining, self.busy = index, "old", False, 0
        if os.environ.get("BAD_START"):
            raise SystemExit(3)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            if os.environ.get("EARLY_SIGNAL"):
                os.kill(os.getpid(), 15); await asyncio.sleep(0.2)
            await receive(); await send({"type": "lifespan.startup.complete"})
            await receive(); await send({"type": "lifespan.shutdown.complete"})
            return
        self.busy += 1
        try:
            if scope["path"] == "/die":
                os._exit(9)
            if scope["path"] == "/later":
                asyncio.get_running_loop().call_soon(int, "a secret")
                await asyncio.sleep(0)
            if scope["path"] == "/raise":
                raise ValueError("a secret")
            if scope["path"].startswith("/slow"):
                say("slow")
                await asyncio.sleep(float(scope["path"].removeprefix("/slow")))
            text = f"{os.getpid()} {self.index} {self.word} {'draining' if self.draining else 'serving'}".encode()
            headers = [(b"content-length", b"%d" % len(text))]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": text})
        finally:
            self.busy -= 1

    async def drain(self, seconds):
        self.draining = True
        say("draining")
        for _ in range(int(seconds * 50)):
            if not self.busy:
                return
            await asyncio.sleep(0.02)

    def reload(self):
        if os.path.exists("bad"):
            self.word = "kept"
            raise ValueError("the file is bad")
        self.word = "new"

    def close(self):
        say(f"closed {self.index}")

workers, drain = int(sys.argv[1]), float(sys.argv[2])
announce = lambda port: say(f"port {port}")
port = int(os.environ.get("PORT", "0"))
sys.exit(serve(Service, host="127.0.0.1", port=port, workers=workers, drain=drain, announce=announce))
'''


class Running:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def begin(self, path: str) -> socket.socket:
        """Send a request; the connection is kept alive."""
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        return sock

    def get(self, path: str) -> list[str]:
        with self.begin(path) as sock:
            return end(sock)

    def hear(self, *words: str) -> None:
        """Wait until the program has printed these texts, each in a line."""
        assert self.process.stdout is not None
        assert sorted(self.process.stdout.readline().strip() for _ in words) == sorted(words)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def finished(self) -> tuple[int, str, str]:
        """Exit code and output. `communicate` would leave out what came in one read with the line before."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        code = self.process.wait(timeout=TIMEOUT)
        return code, self.process.stdout.read(), self.process.stderr.read()


def end(sock: socket.socket) -> list[str]:
    """Read the answer: the words of its body, none if there is no answer."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while b"\r\n\r\n" not in data or not data.split(b"\r\n\r\n", 1)[1]:
            more = sock.recv(65536)
            if not more:
                break
            data += more
    return data.partition(b"\r\n\r\n")[2].decode().split()


@contextlib.contextmanager
def running(folder: Path, workers: int = 1, drain: float = 10, **environment: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(workers), str(drain)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        yield Running(process, int(process.stdout.readline().split()[1]))
    finally:
        process.kill()
        process.communicate(timeout=TIMEOUT)


def wait_for(what: str, check: object) -> None:
    """Poll until `check()` is true."""
    assert callable(check)
    end_at = time.monotonic() + TIMEOUT
    while not check():
        assert time.monotonic() < end_at, what
        time.sleep(0.02)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_ends_with_0(tmp_path: Path, workers: int, number: signal.Signals) -> None:
    with running(tmp_path, workers) as server:
        assert server.get("/pid")[2:] == ["old", "serving"]
        server.signal(number)
        code, out, err = server.finished()
        assert (code, err) == (0, "")
        assert sorted(out.split("\n")[:-1]) == [f"closed {index}" for index in range(workers)] + ["draining"] * workers


def test_a_signal_that_comes_during_the_start_closes_the_service_too(tmp_path: Path) -> None:
    """uvicorn before 0.41 leaves without a shutdown then: what the service had open stayed open."""
    with running(tmp_path, EARLY_SIGNAL="yes") as server:
        code, out, err = server.finished()
        assert (code, err) == (0, "")
        assert sorted(out.split("\n")[:-1]) == ["closed 0", "draining"]


@pytest.mark.parametrize("workers", [1, 2])
def test_requests_in_flight_are_answered_while_it_drains(tmp_path: Path, workers: int) -> None:
    with running(tmp_path, workers) as server:
        server.get("/pid")
        with server.begin("/slow2") as slow:
            server.hear("slow")
            server.signal(signal.SIGTERM)
            if workers == 1:
                wait_for("draining is reported at once", lambda: server.get("/pid")[3] == "draining")
            assert end(slow)[3] == "draining"
        assert server.finished()[0] == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_the_drain_has_an_end(tmp_path: Path, workers: int) -> None:
    with running(tmp_path, workers, drain=0.3) as server:
        server.get("/pid")
        with server.begin("/slow60") as slow:
            server.hear("slow")
            server.signal(signal.SIGTERM)
            assert "overloaded_error" in " ".join(end(slow))
        assert server.finished()[0] == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_signal_ends_at_once(tmp_path: Path, workers: int) -> None:
    with running(tmp_path, workers, drain=60) as server:
        server.get("/pid")
        with server.begin("/slow60") as slow:
            server.hear("slow")
            server.signal(signal.SIGTERM)
            server.hear(*["draining"] * workers)
            server.signal(signal.SIGTERM)
            assert "overloaded_error" in " ".join(end(slow))
        assert server.finished()[0] == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_reload(tmp_path: Path, workers: int) -> None:
    with running(tmp_path, workers) as server:
        assert server.get("/pid")[2] == "old"
        (tmp_path / "bad").touch()
        server.signal(signal.SIGHUP)
        seen: set[tuple[str, str]] = set()

        def both_kept() -> bool:
            seen.add(tuple(server.get("/pid")[1:3]))  # type: ignore[arg-type]
            return seen >= {(str(index), "kept") for index in range(workers)}

        wait_for("the old one is kept", both_kept)
        (tmp_path / "bad").unlink()
        server.signal(signal.SIGHUP)
        wait_for("reloaded", lambda: all(server.get("/pid")[2] == "new" for _ in range(10)))
        server.signal(signal.SIGTERM)
        code, _, err = server.finished()
        lines = err.splitlines()
        assert (code, len(lines)) == (0, workers)
        assert all(line.startswith("moongate: not reloaded: ValueError at ") for line in lines)


def test_an_error_outside_a_request_is_logged_in_one_line_without_its_text(tmp_path: Path) -> None:
    with running(tmp_path, 1) as server:
        server.get("/later")
        server.get("/raise")
        server.signal(signal.SIGTERM)
        code, _, err = server.finished()
    assert code == 0
    lines = err.splitlines()
    assert [line.partition(" at ")[0] for line in lines] == [
        "moongate: internal error in the event loop: ValueError",
        "the application failed: ValueError",
    ], err


def test_both_workers_serve(tmp_path: Path) -> None:
    with running(tmp_path, 2) as server:
        seen: set[str] = set()
        wait_for("both", lambda: seen.add(server.get("/pid")[1]) or seen == {"0", "1"})  # type: ignore[func-returns-value]


def test_a_dead_worker_is_replaced_and_loses_no_waiting_connection(tmp_path: Path) -> None:
    with running(tmp_path, 2) as server:
        assert server.get("/die") == []
        assert all(len(server.get("/pid")) == 4 for _ in range(20))
        server.signal(signal.SIGTERM)
        code, _, err = server.finished()
        assert code == 0
        assert "died and is replaced" in err


def test_workers_that_cannot_start_are_given_up(tmp_path: Path) -> None:
    with running(tmp_path, 2, BAD_START="1") as server:
        code, _, err = server.finished()
        assert code == 1
        assert "giving up" in err


def test_workers_do_not_outlive_their_parent(tmp_path: Path) -> None:
    with running(tmp_path, 2) as server:
        pid = int(server.get("/pid")[0])
        server.process.kill()
        server.process.wait(TIMEOUT)

        def gone() -> bool:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"

        wait_for("the worker ends too", gone)


def test_the_clients_of_a_successor_never_meet_an_orphaned_worker(tmp_path: Path) -> None:
    with running(tmp_path, 2, drain=30) as server:
        orphans: set[str] = set()
        with contextlib.ExitStack() as stack:
            slow = [stack.enter_context(server.begin("/slow4")) for _ in range(12)]  # both workers have some
            server.hear(*["slow"] * 12)
            server.process.kill()
            server.process.wait(TIMEOUT)
            with running(tmp_path, 2, PORT=str(server.port)) as successor:
                answers = [successor.get("/pid") for _ in range(40)]
                orphans = {end(each)[0] for each in slow}
    assert len(orphans) == 2  # requests in flight are still answered
    assert [each[3] for each in answers] == ["serving"] * 40
    assert orphans.isdisjoint(each[0] for each in answers)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_address_in_use_is_an_error(workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", taken.getsockname()[1], workers)


def test_two_gateways_with_several_workers_do_not_share_a_port() -> None:
    sockets = listen("127.0.0.1", 0, 2)
    port = sockets[0].getsockname()[1]
    with pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", port, 2)
    for sock in sockets:
        sock.close()
    for sock in listen("127.0.0.1", port, 2):
        sock.close()


def test_every_worker_has_a_socket_at_the_same_port() -> None:
    sockets = listen("127.0.0.1", 0, 3)
    assert len({sock.getsockname() for sock in sockets}) == 1
    for sock in sockets:
        sock.close()
