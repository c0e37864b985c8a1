"""A loop over a whole request or answer lets other threads run, compiled too."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from moongate.dialects.fronts import MESSAGES as MESSAGES_FRONT
from moongate.dialects.fronts import RESPONSES
from moongate.kimi.markers.arguments import ArgumentsRepair
from moongate.kimi.markers.json_scan import JsonScanner
from moongate.kimi.request.history import read_history
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import JsonObject
from moongate.wire import threads

MESSAGES = [{"role": "user", "content": "x"}] * 1_000_000
MANY = 8  # more than the turns that are taken when the work is over


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_it_is_never_compiled() -> None:
    assert str(threads.__file__).endswith(".py")


CALLS = [{"id": f"x{at}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for at in range(20_000)]
MARKED = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|> " * 20_000


def answer(**message: Any) -> JsonObject:
    return {"id": "c", "choices": [{"index": 0, "message": {"content": None, **message}, "finish_reason": "stop"}]}


def kimi(reply: JsonObject) -> None:
    KimiTransformer.from_config({"preset": "agent"}, model="kimi-k2").begin({"messages": []}).reply(reply)


LONG: dict[str, Callable[[], object]] = {
    "history": lambda: read_history(MESSAGES, accept_role_tool=True),
    "JSON": lambda: JsonScanner().feed('"' + "\\n" * 500_000),
    "arguments": lambda: ArgumentsRepair().feed('"\\n' * 500_000),
    "calls": lambda: kimi(answer(tool_calls=CALLS)),
    "marked calls": lambda: kimi(answer(content=MARKED)),
    "calls for messages": lambda: MESSAGES_FRONT.encode(answer(tool_calls=CALLS), {"messages": []}),
    "calls for responses": lambda: RESPONSES.encode(answer(tool_calls=CALLS), {"input": "hi"}),
}


@pytest.mark.usefixtures("frequent_switches")
@pytest.mark.parametrize("name", LONG)
def test_another_thread_runs_while_much_is_read(name: str) -> None:
    reading, turns = True, 0

    def count() -> None:
        nonlocal turns
        while reading:
            turns += 1
            time.sleep(0)  # lets the others run, and waits for its turn

    other = threading.Thread(target=count)
    other.start()
    try:
        threads.let_threads_run()
        before = turns
        LONG[name]()
        assert turns > before + MANY
    finally:
        reading = False
        other.join()


class Freed:
    """A list that knows how much of it was freed at once."""

    def __init__(self, number: int) -> None:
        self.items = list(range(number))
        self.pieces: list[int] = []

    def __len__(self) -> int:
        return len(self.items)

    def __delitem__(self, at: slice) -> None:
        self.pieces.append(len(self.items[at]))
        del self.items[at]


@pytest.mark.parametrize("number", [0, 1, threads.EVERY, 3 * threads.EVERY + 1])
def test_a_list_is_freed_in_pieces(number: int) -> None:
    items = Freed(number)
    threads.free_in_pieces(items)  # type: ignore[arg-type]
    assert len(items) == 0
    assert sum(items.pieces) == number
    assert max(items.pieces, default=0) <= threads.EVERY
