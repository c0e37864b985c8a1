"""`moongate serve` as a process of its own: start, signals, reload, workers, secrets."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.scripted import DONE, Asked, Scripted, chunk, forever, whole
from tests.support.background import Background
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY, WATCH, search_folder
from tests.support.http import get, post

PATIENCE = 60.0
CLIENT, UPSTREAM = CLIENT_KEY, PROVIDER_KEY
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "a prompt that nobody may log"}]}
PATH = "/v1/chat/completions"


class Served:
    """A running `moongate serve`. Its output goes to files, so that it never waits for a reader."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._out, self._err = folder / "out.txt", folder / "err.txt"
        environment = {**os.environ, "MOONGATE_HOME": str(folder / "home"), "UPSTREAM_KEY": UPSTREAM}
        environment.pop("MOONGATE_CONFIG", None)
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "moongate", "serve", "--port", "0", *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
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
        return [json.loads(line) for line in self.out.split("\n") if line.startswith("{")]

    def root(self) -> str:
        return self.find(r"listens on (http://\S+)")[1]

    def find(self, pattern: str, *, err: bool = False) -> re.Match[str]:
        """Wait for a line."""
        end = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self.err if err else self.out)) is None:
            assert time.monotonic() < end, (pattern, self.out, self.err)
            assert self.process.poll() is None or re.search(pattern, self.err if err else self.out), self.err
            time.sleep(0.01)
        return found

    def end(self) -> int:
        return self.process.wait(PATIENCE)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    WATCH.know([CLIENT, UPSTREAM])
    served = Served(folder, *arguments)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.kill()
        served.process.wait(PATIENCE)
        search_folder(folder)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


def config(upstream: Scripted, **more: Any) -> dict[str, Any]:
    provider = {
        "name": "p",
        "api_base_url": upstream.url,
        "api_key": "$UPSTREAM_KEY",
        "models": ["m"],
        "transformer": {"use": ["Kimi"]},
    }
    return {"providers": [provider], "api_keys": [CLIENT], **more}


def write(folder: Path, value: Any) -> None:
    """In one piece, as an editor does it."""
    fresh = folder / "config.json.new"
    fresh.write_text(value if isinstance(value, str) else json.dumps(value))
    fresh.rename(folder / "config.json")


def test_without_a_configuration_the_simulator_answers(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        root = served.root()
        key = served.find(r"client key: (mg-\S+)")[1]
        served.find(r"-d '.*\n")
        served.find(rf"your agent: \S.* -m moongate connect claude-code --url {root} ")
        file = tmp_path / "home" / "client-key"
        assert file.read_text().strip() == key
        assert file.stat().st_mode & 0o777 == 0o600
        # The line that was printed works as it stands.
        curl, url, *words = shlex.split(served.out.partition("try it:\n")[2].partition("\n{")[0].replace("\\\n", " "))
        assert curl == "curl"
        options = list(zip(words[::2], words[1::2], strict=True))
        headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
        reply = post(url, dict(options)["-d"].encode(), headers=headers)
        assert reply.json()["choices"][0]["message"]["content"]
        assert get(f"{root}/ready").json() == {"status": "ready"}
        assert served.stop() == 0


def test_a_new_key_is_kept_from_what_is_no_terminal(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream, api_keys=[]))
    with serving(tmp_path) as served:
        root = served.root()
        file = tmp_path / "home" / "client-key"
        served.find(rf"client key: .*{file.name}")
        key = file.read_text().strip()
        assert post(root + PATH, ASK, key=key).status == 200
        assert served.stop() == 0
        assert key not in served.out


def test_a_request_is_logged_without_prompt_and_secrets(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        reply = post(served.root() + PATH, ASK, key=CLIENT)
        assert reply.status == 200
        post(served.root() + PATH, ASK | {"model": CLIENT}, key=CLIENT)
        assert served.stop() == 0
        first, second = served.lines
    assert first["id"] == reply.headers["x-request-id"]
    assert (first["provider"], first["model"], first["status"], first["input_tokens"]) == ("p", "m", 200, 7)
    assert first["first_byte_ms"] <= first["duration_ms"]
    assert second["status"] == 404
    assert "nobody may log" not in served.out + served.err
    assert CLIENT not in served.out + served.err
    assert UPSTREAM not in served.out + served.err


def test_bodies_are_logged_only_if_asked_for(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--log-bodies") as served:
        post(served.root() + PATH, ASK, key=CLIENT)
        served.stop()
        assert "nobody may log" in served.lines[0]["request"]
        assert "Hello." in served.lines[0]["answer"]


def test_a_term_signal_drains(tmp_path: Path, upstream: Scripted) -> None:
    gate = tmp_path / "gate"

    async def slow(asked: Asked) -> None:
        asked.begin_stream()
        asked.send(chunk("Hel"))
        while not gate.exists():
            await asyncio.sleep(0.01)
        asked.send(chunk("lo.", "stop") + DONE)
        asked.end_stream()

    upstream.play = slow
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        root = served.root()
        with Streaming(root) as stream:
            stream.until(b"Hel")
            served.process.send_signal(signal.SIGTERM)
            end = time.monotonic() + PATIENCE
            while get(f"{root}/ready").status != 503:
                assert time.monotonic() < end
            assert post(root + PATH, ASK, key=CLIENT).status == 503
            gate.touch()
            assert stream.rest().endswith(DONE)
        assert served.end() == 0


def test_what_outlasts_the_drain_ends_with_an_error(tmp_path: Path, upstream: Scripted) -> None:
    async def endless(asked: Asked) -> None:
        asked.begin_stream()
        asked.send(chunk("Hel"))
        await forever(asked)

    upstream.play = endless
    write(tmp_path, config(upstream, timeouts={"drain": 0.2}))
    with serving(tmp_path) as served, Streaming(served.root()) as stream:
        stream.until(b"Hel")
        served.process.send_signal(signal.SIGTERM)
        rest = stream.rest()
        assert b"going down" in rest
        assert b"[DONE]" not in rest
        assert served.end() == 0


def test_a_second_signal_ends_at_once(tmp_path: Path, upstream: Scripted) -> None:
    async def endless(asked: Asked) -> None:
        asked.begin_stream()
        asked.send(chunk("Hel"))
        await forever(asked)

    upstream.play = endless
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served, Streaming(served.root()) as stream:
        stream.until(b"Hel")
        served.process.send_signal(signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while get(f"{served.root()}/ready").status != 503:
            assert time.monotonic() < end
        served.process.send_signal(signal.SIGTERM)
        assert served.end() == 1  # long before the 30 seconds of the drain: PATIENCE is only for slow machines


def test_a_hangup_reloads_and_a_bad_file_changes_nothing(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        root = served.root()
        assert get(f"{root}/health").status == 200  # it listens to signals as well
        write(tmp_path, config(upstream, aliases={"new-name": "m"}))
        served.process.send_signal(signal.SIGHUP)
        served.find("was reloaded", err=True)
        assert post(root + PATH, ASK | {"model": "new-name"}, key=CLIENT).status == 200
        write(tmp_path, '{\n  "providers": [],\n  "prot": 1\n}')
        served.process.send_signal(signal.SIGHUP)
        served.find(r"was not reloaded: config.json:3: prot: unknown setting 'prot', did you mean 'port'\?", err=True)
        assert post(root + PATH, ASK | {"model": "new-name"}, key=CLIENT).status == 200
        text = get(f"{root}/metrics", key=CLIENT).body.decode()
        assert 'moongate_reloads_total{result="ok"} 1\n' in text
        assert 'moongate_reloads_total{result="refused"} 1\n' in text
        assert served.stop() == 0


def test_no_connection_is_refused_while_it_reloads(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        root = served.root()
        assert get(f"{root}/health").status == 200
        statuses: list[int] = []
        over = threading.Event()

        def load() -> None:
            while not over.is_set():
                statuses.append(post(root + PATH, ASK, key=CLIENT).status)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(1, 21):
            write(tmp_path, config(upstream, aliases={f"name-{number}": "m"}))
            served.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + PATIENCE
            while served.err.count("was reloaded") < number:
                assert time.monotonic() < end, served.err
                time.sleep(0.01)
        over.set()
        for thread in threads:
            thread.join()
        assert set(statuses) == {200}
        assert get(f"{root}/v1/models", key=CLIENT).json()["data"][-1]["id"] == "name-20"
        assert served.stop() == 0


def test_a_change_of_the_file_reloads_if_asked_for(tmp_path: Path, upstream: Scripted) -> None:
    write(tmp_path, config(upstream, watch=True))
    with serving(tmp_path) as served:
        root = served.root()
        assert get(f"{root}/health").status == 200
        write(tmp_path, config(upstream, watch=True, aliases={"newer": "m"}))
        served.find("was reloaded", err=True)
        assert [each["id"] for each in get(f"{root}/v1/models", key=CLIENT).json()["data"]] == ["m", "newer"]


def test_workers_share_metrics_and_replace_each_other(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--workers", "2") as served:
        root = served.root()
        for _ in range(20):
            assert post(root + PATH, ASK, key=CLIENT).status == 200
        assert answered(root) == 20
        workers = children(served.process.pid)
        assert len(workers) == 2
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        served.find("worker 0 died and is replaced", err=True)
        served.find("worker 1 died and is replaced", err=True)
        for _ in range(10):
            assert post(root + PATH, ASK, key=CLIENT).status == 200
        assert answered(root) == 30
        assert served.stop() == 0


def children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if stat.read_text().rpartition(") ")[2].split()[1] == str(parent):
                found.append(int(stat.parent.name))
    return found


def answered(root: str) -> int:
    text = get(f"{root}/metrics", key=CLIENT).body.decode()
    found = re.search(r'moongate_requests_total\{model="m",provider="p",front="chat",status="200"\} (\d+)', text)
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("{", (), "config.json:1:2: the text ends, but the '{' of line 1 is not closed"),
        ('{"providers": []}', (), "config.json:1: providers: expected"),
        (None, ("--config", "gone.json"), "gone.json: cannot be read: No such file"),
        (None, ("--port", "70000"), "--port: expected 0 … 65535, found 70000"),
        (None, ("--host", "0.0.0.0"), "listening on 0.0.0.0 needs 'api_keys'"),
    ],
)
def test_mistakes_end_with_2_and_one_line(
    tmp_path: Path, content: str | None, arguments: tuple[str, ...], message: str
) -> None:
    if content is not None:
        write(tmp_path, content)
    with serving(tmp_path, *arguments) as served:
        assert served.end() == 2
        assert message in served.err
        assert "Traceback" not in served.err


def test_an_address_that_is_taken_is_told(tmp_path: Path, upstream: Scripted) -> None:
    port = upstream.url.rpartition(":")[2]
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--port", port) as served:
        assert served.end() == 1
        assert re.search(rf"cannot listen on 127.0.0.1:{port}: it is in use .*--port", served.err)
        assert "Traceback" not in served.err


class Streaming:
    """A streamed request that is read piece by piece."""

    def __init__(self, root: str) -> None:
        self._connection = http.client.HTTPConnection(root.removeprefix("http://"), timeout=PATIENCE)
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
