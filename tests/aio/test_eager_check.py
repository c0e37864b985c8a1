"""The check that runs at import, with the real asyncio and with ones that differ."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from moongate.aio.eager_check import eager_task_works

# Each is a way in which another version of asyncio may differ.
DIFFERENCES = {
    "no such function": "del tasks._enter_task",
    "it refuses": "tasks._enter_task = refuse",
    "it has no effect": "tasks._enter_task = tasks._leave_task = ignore",
}
PROGRAM = """
from asyncio import tasks

def refuse(loop, task):
    raise TypeError("a Task is required")

def ignore(loop, task):
    pass

{difference}
from moongate.aio.tasks import LOOP, TASKS
assert TASKS is LOOP
"""


def test_it_works_here() -> None:
    assert eager_task_works()


def test_it_can_be_asked_inside_a_running_loop() -> None:
    async def main() -> bool:
        return eager_task_works()

    assert asyncio.run(main())


@pytest.mark.interpreted("compiled modules are not loaded in another process")
@pytest.mark.parametrize("difference", DIFFERENCES)
def test_where_asyncio_differs_the_stand_in_is_used(difference: str) -> None:
    program = PROGRAM.format(difference=DIFFERENCES[difference])
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
