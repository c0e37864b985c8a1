"""A loop over a whole request lets other threads run, compiled too."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from moongate.kimi.request.history import read_history
from moongate.wire import threads

MESSAGES = [{"role": "user", "content": "x"}] * 1_000_000


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_it_is_never_compiled() -> None:
    assert str(threads.__file__).endswith(".py")


@pytest.mark.usefixtures("frequent_switches")
def test_another_thread_runs_while_a_long_history_is_read() -> None:
    reading, turns = True, 0

    def count() -> None:
        nonlocal turns
        while reading:
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    try:
        threads.let_threads_run()
        before = turns
        read_history(MESSAGES, accept_role_tool=True)
        assert turns > before
    finally:
        reading = False
        other.join()
