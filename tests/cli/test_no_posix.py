"""`moongate serve` without what Windows does not have: one worker on asyncio's own loop does everything else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.served import CLIENT, PATH, Streaming, config, serving, write
from tests.gateway.scripted import DONE, Asked, Scripted, chunk
from tests.support.background import Background
from tests.support.canary import WATCH
from tests.support.http import get, post

ROOT = Path(__file__).parents[2]
SOURCES = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
MODULE = "tests.support.no_posix"
ADMIN_KEY = "canary-admin-key-0123456789-0123456789"


async def play(asked: Asked) -> None:
    if not asked.json.get("stream"):
        asked.document({"choices": [{"index": 0, "message": {"content": "Hello."}, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}})  # fmt: skip
        return
    asked.begin_stream()
    for each in (chunk("Hello."), chunk("", "stop"), DONE):
        asked.send(each)
    asked.end_stream()


def test_the_gateway_serves_stores_and_stops(tmp_path: Path) -> None:
    WATCH.know([ADMIN_KEY])
    with Background() as background:
        upstream = background.start(Scripted(play).start())
        write(tmp_path, config(upstream, admin={"port": 0, "key": ADMIN_KEY}, store="usage.db"))
        with serving(tmp_path, "--workers", "2", module=MODULE, PYTHONPATH=SOURCES) as served:
            root = served.root()
            assert "one worker serves instead of several" in served.err
            body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
            assert post(root + PATH, body, key=CLIENT).json()["choices"][0]["message"]["content"] == "Hello."
            with Streaming(root) as streaming:
                assert b"data: [DONE]" in streaming.rest()
            admin = served.find(r"admin: (http://\S+)", err=True)[1]
            assert get(admin + "/ui/requests").status == 303  # to the login
            served.process.send_signal(signal.SIGTERM)
            assert served.end() == 0, served.err
            assert [line["status"] for line in served.lines if line["front"]] == [200, 200]
        shown = moongate(tmp_path, "usage", "--json", "--config", "config.json")
        assert sum(row["requests"] for row in json.loads(shown)) == 2


def moongate(folder: Path, *arguments: str) -> str:
    home = {"MOONGATE_HOME": str(folder / "home"), "UPSTREAM_KEY": "k", "PYTHONPATH": SOURCES}
    environment = {**os.environ, **home}
    command = [sys.executable, "-m", MODULE, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def test_a_file_that_is_locked_stays_locked_until_it_is_closed(tmp_path: Path) -> None:
    """Over the real locks of this system; in the process above there are none."""
    from moongate.gateway.file_lock import lock_file, unlock_file

    path = tmp_path / "lock"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    lock_file(first)
    for shared in (False, True):
        try:
            lock_file(second, shared=shared)
        except BlockingIOError:
            continue
        raise AssertionError("it was locked twice")
    unlock_file(first)
    lock_file(second, wait=True)
    os.close(first)
    os.close(second)
