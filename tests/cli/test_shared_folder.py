"""Folders in memory that workers share: one that nobody uses any more is removed by the next gateway."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moongate.cli.shared_folder import LOCK, remove_abandoned, shared_folder

KILLED = """
import os, sys, time
from moongate.cli.shared_folder import shared_folder
folder = shared_folder(sys.argv[1])
if os.fork() == 0:
    time.sleep(60)  # a worker, which drains
print(folder, flush=True)
time.sleep(60)
"""


def test_a_folder_is_removed_when_the_last_process_of_its_gateway_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as gateway:
        assert gateway.stdout is not None
        folder = Path(gateway.stdout.readline().strip())
        (folder / "captures").mkdir()
        remove_abandoned(str(tmp_path))
        assert folder.is_dir()
        gateway.kill()
        gateway.wait()
        remove_abandoned(str(tmp_path))
        assert folder.is_dir(), "its worker still uses it"
        os.killpg(gateway.pid, signal.SIGKILL)
        gateway.stdout.read()  # it ends when the worker has
    new = shared_folder(str(tmp_path))
    assert list(tmp_path.iterdir()) == [new]


def test_what_is_not_a_gateways_own_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    places = [tmp_path / "moongate-without-lock", elsewhere, tmp_path / "moongate-linked-lock", tmp_path / "other-a"]
    for place in places:
        place.mkdir()
    for place in (elsewhere, places[3]):
        (place / LOCK).touch()
    (tmp_path / "moongate-link").symlink_to(elsewhere)
    (places[2] / LOCK).symlink_to(elsewhere / LOCK)
    before = sorted(tmp_path.rglob("*"))
    remove_abandoned(str(tmp_path))
    remove_abandoned(str(tmp_path / "missing"))
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "moongate-foreign").mkdir()
    (tmp_path / "moongate-foreign" / LOCK).touch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 12345678)
        remove_abandoned(str(tmp_path))
    assert (tmp_path / "moongate-foreign").is_dir()
    remove_abandoned(str(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
