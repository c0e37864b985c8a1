"""What `moongate serve` writes where: log lines to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, TIMEOUT, UPSTREAM, Served, config, serving, write
from tests.gateway.scripted import Scripted, whole
from tests.support.http import get, post

from moongate.cli.shared_folder import shared_folder


def wait_until(condition: Callable[[], bool], served: Served) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, served.err
        time.sleep(0.02)


def test_standard_output_holds_log_lines_alone(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--workers", "2") as served:
        root = served.root()
        assert served.out == ""
        assert get(f"{root}/health").status == 200
        assert get(f"{root}/ready").status == 200
        assert get(f"{root}/").status == 200
        assert get(f"{root}/api/hello").status == 401  # Claude Code asks it at every start, without a key
        assert post(root + PATH, ASK, key=CLIENT).status == 200
        assert get(f"{root}/v1/models", key=CLIENT).status == 200
        served.process.send_signal(signal.SIGHUP)
        served.find("was reloaded", err=True)
        assert served.stop() == 0
        assert sorted(line["path"] for line in served.lines) == [PATH, "/v1/models"]  # probes are not logged
        assert "try it:" in served.err


def test_probes_are_logged_if_requested(tmp_path: Path, upstream: Scripted) -> None:
    write(tmp_path, config(upstream, log={"probes": True}))
    with serving(tmp_path) as served:
        root = served.root()
        assert get(f"{root}/health").status == get(f"{root}/ready").status == 200
        assert served.stop() == 0
        assert [line["path"] for line in served.lines] == ["/health", "/ready"]


@pytest.mark.parametrize("watch", [False, True])
def test_a_reload_is_one_line_for_all_workers(tmp_path: Path, upstream: Scripted, watch: bool) -> None:
    write(tmp_path, config(upstream, watch=watch))
    with serving(tmp_path, "--workers", "4") as served:
        root = served.root()
        assert get(f"{root}/health").status == 200
        for reloads, (value, result) in enumerate(
            [(config(upstream, watch=watch, aliases={"new": "m"}), "ok"), ({"providers": 1}, "refused")], 1
        ):
            write(tmp_path, value)
            if not watch:
                served.process.send_signal(signal.SIGHUP)
            wait_until(lambda result=result: reloaded(root, result) == 4, served)  # type: ignore[misc]
            assert len(re.findall("was reloaded|was not reloaded", served.err)) == reloads, served.err
        assert served.stop() == 0


def reloaded(root: str, result: str) -> int:
    text = get(f"{root}/metrics", key=CLIENT).body.decode()
    found = re.search(rf'moongate_reloads_total{{result="{result}"}} (\d+)', text)
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    ("stdout", "problem"), [("full disk", "No space left on device"), ("no reader", "Broken pipe")]
)
def test_a_log_that_cannot_be_written_stops_nothing(
    tmp_path: Path, upstream: Scripted, stdout: str, problem: str
) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    reading, writing = os.pipe()
    os.close(reading)
    target = os.open("/dev/full", os.O_WRONLY) if stdout == "full disk" else writing
    with serving(tmp_path, stdout=target) as served:
        root = served.root()
        for _ in range(3):
            assert post(root + PATH, ASK, key=CLIENT).status == 200
        served.find(f"moongate: the access log cannot be written: {problem}; its lines are lost until it can", err=True)
        wait_until(lambda: lost_lines(root) > 0, served)
        assert served.stop() == 0
        assert served.err.count("cannot be written") == 1
        assert "cannot listen" not in served.err
    os.close(writing)


def lost_lines(root: str) -> int:
    text = get(f"{root}/metrics", key=CLIENT).body.decode()
    found = re.search(r"moongate_log_lines_dropped_total (\d+)", text)
    return int(found[1]) if found else 0


def test_a_reader_that_is_back_reads_how_many_lines_were_lost(tmp_path: Path, upstream: Scripted) -> None:
    """Standard output is a named pipe, as of a log collector that is restarted."""
    upstream.play = whole
    write(tmp_path, config(upstream))
    pipe = tmp_path / "log.fifo"
    os.mkfifo(pipe)
    first = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(pipe, os.O_WRONLY)
    with serving(tmp_path, stdout=writing) as served:
        os.close(writing)
        root = served.root()
        os.close(first)
        assert post(root + PATH, ASK, key=CLIENT).status == 200
        served.find("the access log cannot be written: Broken pipe", err=True)
        with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as second:
            assert post(root + PATH, ASK, key=CLIENT).status == 200
            assert served.stop() == 0
            lines = [json.loads(line) for line in second.read().splitlines()]
        pipe.unlink()
    assert lines[0]["lost_lines"] == 1
    assert [line["path"] for line in lines[1:]] == [PATH]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "2>/dev/full", ">/dev/full 2>&1"])
def test_closed_or_full_standard_streams(tmp_path: Path, upstream: Scripted, closed: str) -> None:
    """No file or socket of the gateway may get the number of a standard stream: log lines would be written to it."""
    upstream.play = whole
    with_port = config(upstream, port=free_port())
    write(tmp_path, with_port)
    environment = {**os.environ, "MOONGATE_HOME": str(tmp_path / "home"), "UPSTREAM_KEY": UPSTREAM}
    command = f'exec "{sys.executable}" -m moongate serve --config config.json {closed}'
    process = subprocess.Popen(["sh", "-c", command], cwd=tmp_path, env=environment)
    try:
        root = f"http://127.0.0.1:{with_port['port']}"
        end = time.monotonic() + TIMEOUT
        while not answers(root):
            assert time.monotonic() < end
            assert process.poll() is None
        for _ in range(3):
            assert post(root + PATH, ASK, key=CLIENT).status == 200
        time.sleep(0.7)  # lines are written every half second
        assert post(root + PATH, ASK, key=CLIENT).status == 200
        standard = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)]
        assert not [each for each in standard if each.startswith(("socket:", "anon_inode:")) or str(tmp_path) in each]
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 0
    finally:
        process.kill()
        process.wait(TIMEOUT)


def answers(root: str) -> bool:
    try:
        return get(f"{root}/health").status == 200
    except OSError:
        time.sleep(0.02)
        return False


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def test_without_a_place_for_shared_counters_one_worker_serves(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert shared_folder(str(tmp_path / "gone"), str(tmp_path / "missing")) is None
    assert "warning: one worker serves instead of several" in capfd.readouterr().err
    assert shared_folder("/proc/self", str(tmp_path)) is not None
