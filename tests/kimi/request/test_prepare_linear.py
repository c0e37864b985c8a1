"""The cost of preparing a request grows linearly with its history."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from tests.kimi.request.test_prepare import assistant, call, prepared, tool_message

from moongate.payload import JsonObject


def one_turn(size: int, call_id: str, result_id: str) -> list[JsonObject]:
    return [assistant(*(call(call_id) for _ in range(size))), *(tool_message(result_id) for _ in range(size))]


def many_turns(size: int, call_id: str, result_id: str) -> list[JsonObject]:
    return [message for _ in range(size) for message in (assistant(call(call_id)), tool_message(result_id))]


def calls_first(size: int, call_id: str, result_id: str) -> list[JsonObject]:
    return [*(assistant(call(call_id)) for _ in range(size)), *(tool_message(result_id) for _ in range(size))]


@pytest.mark.parametrize("layout", [one_turn, many_turns, calls_first])
@pytest.mark.parametrize(
    ("call_id", "result_id"), [("c", "c"), ("c", "lost"), ("functions.bash:0", "functions.bash:0")]
)
@pytest.mark.parametrize("rules", ["auto", "off"])
def test_time_is_linear_in_the_history(
    layout: Callable[[int, str, str], list[JsonObject]], call_id: str, result_id: str, rules: str
) -> None:
    def cost(size: int) -> float:
        request = {"messages": layout(size, call_id, result_id)}
        begin = time.process_time()
        prepared(request, historyRules=rules)
        return time.process_time() - begin

    small = min(cost(500) for _ in range(3))
    large = min(cost(4_000) for _ in range(3))
    assert large < 8 * 4 * small  # quadratic would be 64 times
