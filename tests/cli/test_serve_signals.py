"""`moongate serve` as a process of its own: signals, reload, workers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.cli.served import ASK, CLIENT, PATH, TIMEOUT, Streaming, config, serving, write
from tests.gateway.scripted import DONE, Asked, Scripted, chunk, forever, whole
from tests.support.http import get, post


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
            end = time.monotonic() + TIMEOUT
            while get(f"{root}/ready").status != 503:
                assert time.monotonic() < end
            assert post(root + PATH, ASK, key=CLIENT).status == 503
            gate.touch()
            assert stream.rest().endswith(DONE)
        assert served.end() == 0


def test_a_stream_that_outlasts_the_drain_ends_with_an_error(tmp_path: Path, upstream: Scripted) -> None:
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
        end = time.monotonic() + TIMEOUT
        while get(f"{served.root()}/ready").status != 503:
            assert time.monotonic() < end
        served.process.send_signal(signal.SIGTERM)
        assert served.end() == 1  # long before the 30 seconds of the drain: TIMEOUT is only for slow machines


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
        unknown = r"config.json:3: prot: unknown setting 'prot', did you mean 'port'\?"
        served.find(rf"was not reloaded: config.json:2: providers: .+; {unknown}", err=True)
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
            end = time.monotonic() + TIMEOUT
            while served.err.count("was reloaded") < number:
                assert time.monotonic() < end, served.err
                time.sleep(0.01)
        over.set()
        for thread in threads:
            thread.join()
        assert set(statuses) == {200}
        assert get(f"{root}/v1/models", key=CLIENT).json()["data"][-1]["id"] == "name-20"
        assert served.stop() == 0


def test_watch_reloads_when_the_file_changes(tmp_path: Path, upstream: Scripted) -> None:
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
        until(lambda: answered(root) == 20)  # a request is counted after its last byte was written
        workers = children(served.process.pid)
        assert len(workers) == 2
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        served.find("worker 0 died and is replaced", err=True)
        served.find("worker 1 died and is replaced", err=True)
        for _ in range(10):
            assert post(root + PATH, ASK, key=CLIENT).status == 200
        until(lambda: answered(root) == 30)
        assert served.stop() == 0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


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
