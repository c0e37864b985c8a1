from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from moongate.gateway.record.messages import MAX_REMEMBERED, WorkerMessages, can_write, print_message, write_stderr

PROGRAM = """
import sys
from moongate.gateway.record.messages import print_message
print_message("a message \\ud800")
print_message("another")
sys.exit(7)
"""


def test_a_message_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    print_message("it works")
    assert capfd.readouterr().err == "moongate: it works\n"


def test_an_object_that_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    write_stderr("x\n")
    assert capsys.readouterr().err == "x\n"


@pytest.mark.parametrize("stderr", ["full disk", "no reader", "closed", "full pipe"])
def test_a_message_that_cannot_be_written_is_dropped(stderr: str) -> None:
    """Nor does the exit code change, as it would if Python found the text in a buffer at the end."""
    reading, writing = os.pipe()
    if stderr == "full pipe":
        os.set_blocking(writing, False)
        while can_write(writing):
            os.write(writing, b"x" * 65536)
        os.set_blocking(writing, True)
    elif stderr == "no reader":
        os.close(reading)
    target = os.open("/dev/full", os.O_WRONLY) if stderr == "full disk" else writing
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh"] if stderr == "closed" else []
    done = subprocess.run([*command, sys.executable, "-c", PROGRAM], stderr=target, timeout=60, check=False)
    assert done.returncode == 7
    for each in {target, writing} | ({reading} if stderr != "no reader" else set()):
        os.close(each)


def test_the_first_worker_prints_what_all_have(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    workers = [WorkerMessages(tmp_path, index) for index in range(3)]
    for _ in range(2):  # two reloads
        for each in workers:
            each.print("reloaded")
    workers[1].print("refused")
    workers[0].print("refused")
    assert capfd.readouterr().err == "moongate: reloaded\n" * 2 + "moongate: refused\n"


def test_one_worker_prints_everything(capfd: pytest.CaptureFixture[str]) -> None:
    messages = WorkerMessages()
    messages.print("reloaded")
    messages.print("reloaded")
    assert capfd.readouterr().err == "moongate: reloaded\n" * 2


def test_few_messages_are_remembered(tmp_path: Path) -> None:
    messages = WorkerMessages(tmp_path)
    for number in range(MAX_REMEMBERED * 3):
        messages.print(f"message {number}")
    assert len((tmp_path / "messages").read_bytes()) < 200 * MAX_REMEMBERED


def test_a_message_is_printed_although_its_folder_is_gone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    WorkerMessages(tmp_path / "gone").print("reloaded")
    assert capfd.readouterr().err == "moongate: reloaded\n"
